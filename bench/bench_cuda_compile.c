/* bench_cuda_compile - from source to a loaded module beside NVRTC and cuModuleLoadData (ci/nvrtc.sh brings NVRTC): cold, with the driver's
 * own cache switched off, and warm, from the store by a runtime that is new. QUERN_BENCH_NVRTC names the library, else it is
 * the one in the build's directory nvrtc. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cuda.h"

#define TURNS 15

/* ---- NVRTC -------------------------------------------------------------------------------------- */

typedef struct nvrtc_program *nvrtc_handle;
typedef struct nvrtc {
  int (*CreateProgram)(nvrtc_handle *out, const char *source, const char *name, int headers, const char *const *texts,
                       const char *const *names);
  int (*CompileProgram)(nvrtc_handle program, int count, const char *const *options);
  int (*GetCUBINSize)(nvrtc_handle program, size_t *out);
  int (*GetCUBIN)(nvrtc_handle program, char *out);
  int (*DestroyProgram)(nvrtc_handle *program);
} nvrtc;

static bool open_nvrtc(nvrtc *n) {
  const char *path = getenv("QUERN_BENCH_NVRTC");
  void *library = dlopen(path && *path ? path : QUERN_BENCH_BUILD "/nvrtc/libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "there is no peer: %s (ci/nvrtc.sh brings it)\n", dlerror());
    return false;
  }
  *(void **)&n->CreateProgram = dlsym(library, "nvrtcCreateProgram");
  *(void **)&n->CompileProgram = dlsym(library, "nvrtcCompileProgram");
  *(void **)&n->GetCUBINSize = dlsym(library, "nvrtcGetCUBINSize");
  *(void **)&n->GetCUBIN = dlsym(library, "nvrtcGetCUBIN");
  *(void **)&n->DestroyProgram = dlsym(library, "nvrtcDestroyProgram");
  return n->CreateProgram && n->CompileProgram && n->GetCUBINSize && n->GetCUBIN && n->DestroyProgram;
}

static void check_nvrtc(int code, const char *what) {
  if (code != 0) bench_fail("%s: NVRTC's code %d", what, code);
}

/* ---- Both sides --------------------------------------------------------------------------------- */

typedef struct world {
  nvrtc n;
  cuda c;
  qn_runtime runtime;
  qn_device device;
  char architecture[64];
  const char *ours, *theirs; /* the source, for each */
  uint32_t turn;             /* makes each source another one */
} world;

static void open_device(world *w) {
  bench_check(qn_runtime_open(NULL, &w->runtime), "qn_runtime_open");
  bench_check(qn_device_open(w->runtime, "cuda:0", &w->device), "cuda:0");
}
static void close_device(world *w) { bench_check(qn_runtime_close(w->runtime, QN_FOREVER), "qn_runtime_close"); }

/* A program and a kernel of it. */
static double build(world *w, uint32_t turn, const char *kernel) {
  char options[64];
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program;
  qn_kernel made;
  snprintf(options, sizeof options, "-D TURN=%u", turn);
  o.source = w->ours;
  o.options = options;
  uint64_t start = bench_now_ns();
  bench_check(qn_program_build(w->device, &o, &program), "qn_program_build");
  bench_check(qn_kernel_get(program, kernel, &made), kernel);
  double ns = (double)(bench_now_ns() - start);
  qn_release(made);
  qn_release(program);
  return ns;
}

static double cold_quern(void *given) {
  world *w = given;
  return build(w, ++w->turn, "saxpy");
}

/* The store has it; the runtime's memory hasn't. */
static double warm_quern(void *given) {
  world *w = given;
  close_device(w);
  open_device(w);
  return build(w, 0, "saxpy");
}

static double cold_peer(void *given) {
  world *w = given;
  char turn[64];
  const char *const options[] = {w->architecture, turn, "--std=c++17"};
  nvrtc_handle program;
  cu_module module;
  cu_function function;
  size_t size = 0;
  snprintf(turn, sizeof turn, "-DTURN=%u", ++w->turn);
  cuda_enter(&w->c);
  uint64_t start = bench_now_ns();
  check_nvrtc(w->n.CreateProgram(&program, w->theirs, "gpu.cu", 0, NULL, NULL), "nvrtcCreateProgram");
  check_nvrtc(w->n.CompileProgram(program, 3, options), "nvrtcCompileProgram");
  check_nvrtc(w->n.GetCUBINSize(program, &size), "nvrtcGetCUBINSize");
  char *binary = malloc(size);
  if (!binary) bench_fail("no memory");
  check_nvrtc(w->n.GetCUBIN(program, binary), "nvrtcGetCUBIN");
  cuda_check(w->c.cu.ModuleLoadData(&module, binary), "cuModuleLoadData");
  cuda_check(w->c.cu.ModuleGetFunction(&function, module, "saxpy"), "cuModuleGetFunction");
  double ns = (double)(bench_now_ns() - start);
  cuda_check(w->c.cu.ModuleUnload(module), "cuModuleUnload");
  check_nvrtc(w->n.DestroyProgram(&program), "nvrtcDestroyProgram");
  free(binary);
  cuda_leave(&w->c);
  return ns;
}

/* ---- The bench ---------------------------------------------------------------------------------- */

/* The first kernel alone: up to the blank line behind it. */
static char *first_kernel(const char *text) {
  const char *at = strstr(text, "__kernel"), *end = at ? strstr(at, "\n\n") : NULL;
  if (!end) bench_fail("gpu.cl has no first kernel");
  return strndup(text, (size_t)(end - text) + 1);
}

static char *join(const char *a, const char *b) {
  size_t size = strlen(a) + strlen(b) + 1;
  char *both = malloc(size);
  if (!both) bench_fail("no memory");
  snprintf(both, size, "%s%s", a, b);
  return both;
}

static void measure(world *w, const char *what, const bench_options *options) {
  char line[64];
  double ours, theirs, warm, again;
  uint32_t turns = options->turns ? options->turns : TURNS;
  snprintf(line, sizeof line, "cold/%s", what);
  bench_alternate(cold_quern, cold_peer, w, turns, &ours, &theirs);
  bench_report_cost(line, ours, theirs, 0.2);
  snprintf(line, sizeof line, "warm/%s", what);
  (void)build(w, 0, "saxpy"); /* into the store */
  bench_alternate(warm_quern, cold_peer, w, turns, &warm, &again);
  bench_report_cost(line, warm, again, 0.02);
}

static bool open_world(world *w, char *directory) {
  qn_device_info info = QN_INIT(qn_device_info);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  unsetenv("QUERN_CACHE");
  setenv("QUERN_CACHE_DIR", directory, 1);
  if (!open_nvrtc(&w->n)) return false;
  bench_check(qn_runtime_open(NULL, &w->runtime), "qn_runtime_open");
  if (qn_device_open(w->runtime, "cuda:0", &w->device) < 0 || !cuda_open(&w->c, w->device)) {
    fprintf(stderr, "%s\n", qn_error_text());
    return false;
  }
  bench_check(qn_device_query(w->device, &info), "qn_device_query");
  /* The context outlives the runtimes: the peer's modules are in it. */
  cu_context kept;
  cu_id id = 0;
  cuda_check(w->c.cu.DeviceGet(&id, 0), "cuDeviceGet");
  cuda_check(w->c.cu.DevicePrimaryCtxRetain(&kept, id), "cuDevicePrimaryCtxRetain");
  int major = 0, minor = 0;
  cuda_check(w->c.cu.DeviceGetAttribute(&major, CU_CAPABILITY_MAJOR, id), "cuDeviceGetAttribute");
  cuda_check(w->c.cu.DeviceGetAttribute(&minor, CU_CAPABILITY_MINOR, id), "cuDeviceGetAttribute");
  snprintf(w->architecture, sizeof w->architecture, "--gpu-architecture=sm_%d%d", major, minor);
  printf("quern: cuda:0 %s\npeer:  NVRTC, %s\n", info.name, info.driver);
  return true;
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "from source to a loaded module beside NVRTC");
  static world w;
  char directory[] = "/tmp/quern-bench-XXXXXX", command[64];
  if (!mkdtemp(directory)) bench_fail("no directory for the store");
  bool is_open = open_world(&w, directory);
  if (is_open) {
    char *text = bench_read_text(QUERN_BENCH_KERNELS "/gpu.cl"), *first = first_kernel(text);
    char *prelude = bench_read_text(QUERN_BENCH_KERNELS "/gpu_cuda.h");
    w.ours = first;
    w.theirs = join(prelude, first);
    measure(&w, "one-kernel", &options);
    w.ours = text;
    w.theirs = join(prelude, text);
    measure(&w, "twelve-kernels", &options);
    close_device(&w);
  }
  snprintf(command, sizeof command, "rm -rf %s", directory);
  if (system(command) != 0) fprintf(stderr, "%s is left\n", directory);
  return is_open ? bench_exit_status() : BENCH_NO_PEER;
}
