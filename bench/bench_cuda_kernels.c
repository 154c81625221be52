/* bench_cuda_kernels - kernels of our compiler beside those of NVIDIA's for CUDA C (nvcc's, as a library: ci/nvrtc.sh), of the same
 * text, on the same GPU, in the same context. Results are compared. The peer's PTX is what QUERN_BENCH_CUDA_PTX names, else
 * gpu.ptx in the build's directory nvrtc. Rates stand beside that of the driver's own copy from and to the GPU's memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cuda.h"

#define TURNS 11
#define MI (UINT64_C(1) << 20)
enum { LAUNCHES = 10, ARGUMENTS = 5 }; /* LAUNCHES: a turn */

/* ---- Kernels ------------------------------------------------------------------------------------ */

enum { NONE, OUT_FLOATS, OUT_WORDS, FLOATS, WORDS, INT, FLOAT };

typedef struct argument {
  uint32_t kind;
  double value; /* of a value; elements of a buffer */
} argument;

typedef struct gpu_kernel {
  const char *name;
  uint64_t global[2], local[2];
  argument arguments[ARGUMENTS];
  double moved_bytes; /* 0: not memory-bound */
  double tolerance;
} gpu_kernel;

#define SIDE 8192
#define PADDED 8200
static const gpu_kernel kernels[] = {
    {"saxpy", {64 * MI, 1}, {256, 1}, {{OUT_FLOATS, 64 * MI}, {FLOATS, 64 * MI}, {FLOAT, 0.5}}, 768.0 * MI, 1e-5},
    {"copy", {32 * MI, 1}, {256, 1}, {{OUT_FLOATS, 128 * MI}, {FLOATS, 128 * MI}}, 1024.0 * MI, 0},
    {"stencil",
     {SIDE, SIDE},
     {64, 4},
     {{OUT_FLOATS, (double)PADDED *PADDED}, {FLOATS, (double)PADDED *PADDED}, {INT, PADDED}},
     8.0 * SIDE *SIDE,
     1e-5},
    {"transpose",
     {SIDE, SIDE / 4},
     {32, 8},
     {{OUT_FLOATS, (double)SIDE *SIDE}, {FLOATS, (double)SIDE *SIDE}, {INT, SIDE}, {INT, SIDE}},
     8.0 * SIDE *SIDE,
     0},
    {"reduction",
     {4096 * 256, 1},
     {256, 1},
     {{OUT_FLOATS, 4096}, {FLOATS, 4096.0 * 256 * 32 * 4}, {INT, 32}},
     4.0 * 4096 * 256 * 32 * 4,
     1e-3},
    {"scan", {64 * MI, 1}, {256, 1}, {{OUT_WORDS, 64 * MI}, {WORDS, 64 * MI}}, 512.0 * MI, 0},
    {"histogram",
     {2048 * 256, 1},
     {256, 1},
     {{OUT_WORDS, 256}, {WORDS, 2048.0 * 256 * 64}, {INT, 64}},
     4.0 * 2048 * 256 * 64,
     0},
    {"nbody",
     {32768, 1},
     {256, 1},
     {{OUT_FLOATS, 4 * 32768}, {FLOATS, 4 * 32768}, {INT, 32768}, {FLOAT, 0.01}},
     0,
     1e-2},
    {"black_scholes",
     {64 * MI, 1},
     {256, 1},
     {{OUT_FLOATS, 64 * MI}, {FLOATS, 64 * MI}, {FLOATS, 64 * MI}, {FLOAT, 2}},
     768.0 * MI,
     1e-3},
    {"sgemm",
     {1024, 1024},
     {16, 16},
     {{OUT_FLOATS, 4096.0 * 4096}, {FLOATS, 4096.0 * 4096}, {FLOATS, 4096.0 * 4096}, {INT, 4096}},
     0,
     1e-2},
    {"convolution",
     {SIDE, SIDE},
     {64, 4},
     {{OUT_FLOATS, (double)PADDED *PADDED}, {FLOATS, (double)PADDED *PADDED}, {FLOATS, 25}, {INT, PADDED}},
     0,
     1e-4},
    {"hash", {16 * MI, 1}, {256, 1}, {{OUT_WORDS, 16 * MI}, {WORDS, 16 * MI}, {INT, 100}}, 0, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- Both sides --------------------------------------------------------------------------------- */

typedef struct world {
  cuda c;
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_program program;
  cu_module module;
} world;

typedef struct run {
  world *w;
  const gpu_kernel *k;
  qn_kernel kernel;
  qn_argument arguments[ARGUMENTS];
  qn_buffer buffers[ARGUMENTS], theirs; /* the peer has an output of its own */
  uint32_t count;
  cu_function function;
  uint64_t words[ARGUMENTS];
  void *pointers[ARGUMENTS];
} run;

static uint64_t bytes_of(const argument *a) { return (uint64_t)a->value * 4; }

static void fill_in(world *w, qn_buffer buffer, const argument *a) {
  qn_view view = {buffer, 0, QN_WHOLE};
  uint64_t count = (uint64_t)a->value, seed = 12345;
  uint32_t *host = malloc(bytes_of(a));
  if (!host) bench_fail("no memory for %llu bytes", (unsigned long long)bytes_of(a));
  for (uint64_t i = 0; i < count; i++) {
    float value;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    host[i] = (uint32_t)(seed >> 32);
    value = (float)(host[i] >> 8) / (float)(1 << 24);
    if (a->kind == FLOATS) memcpy(&host[i], &value, 4);
  }
  bench_check(qn_write(w->queue, &view, host, NULL), "qn_write");
  bench_check(qn_queue_finish(w->queue, QN_FOREVER), "qn_queue_finish");
  free(host);
}

static void clear(world *w, qn_buffer buffer) {
  qn_view view = {buffer, 0, QN_WHOLE};
  const uint32_t zero = 0;
  bench_check(qn_fill(w->queue, &view, &zero, 4, NULL), "qn_fill");
  bench_check(qn_queue_finish(w->queue, QN_FOREVER), "qn_queue_finish");
}

static qn_buffer make_buffer(world *w, const argument *a) {
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  qn_buffer buffer;
  options.size_bytes = bytes_of(a);
  bench_check(qn_buffer_create(w->device, &options, &buffer), "qn_buffer_create");
  if (a->kind == FLOATS || a->kind == WORDS) fill_in(w, buffer, a);
  return buffer;
}

static uint64_t native_of(const void *handle) {
  uint64_t value = 0;
  bench_check(qn_native_handle(handle, 0, &value), "qn_native_handle");
  return value;
}

static void set_value(run *r, uint32_t i, const argument *a) {
  float real = (float)a->value;
  int32_t whole = (int32_t)a->value;
  r->arguments[i] = a->kind == FLOAT ? qn_arg_f32(real) : qn_arg_i32(whole);
  memcpy(&r->words[i], a->kind == FLOAT ? (const void *)&real : (const void *)&whole, 4);
}

static void set_buffer(run *r, uint32_t i, const argument *a) {
  r->buffers[i] = make_buffer(r->w, a);
  r->arguments[i] = qn_arg_buffer(r->buffers[i]);
  r->words[i] = native_of(r->buffers[i]);
  if (i > 0) return;
  r->theirs = make_buffer(r->w, a);
  r->words[i] = native_of(r->theirs);
}

static void open_run(run *r, world *w, const gpu_kernel *k) {
  *r = (run){.w = w, .k = k};
  bench_check(qn_kernel_get(w->program, k->name, &r->kernel), k->name);
  cuda_enter(&w->c);
  cuda_check(w->c.cu.ModuleGetFunction(&r->function, w->module, k->name), k->name);
  cuda_leave(&w->c);
  for (uint32_t i = 0; i < ARGUMENTS && k->arguments[i].kind != NONE; i++, r->count++) {
    r->pointers[i] = &r->words[i];
    if (k->arguments[i].kind == INT || k->arguments[i].kind == FLOAT)
      set_value(r, i, &k->arguments[i]);
    else
      set_buffer(r, i, &k->arguments[i]);
  }
}
static void close_run(run *r) {
  for (uint32_t i = 0; i < r->count; i++) qn_release(r->buffers[i]);
  qn_release(r->theirs);
  qn_release(r->kernel);
  bench_check(qn_device_drain(r->w->device, QN_FOREVER), "qn_device_drain");
  bench_check(qn_memory_trim(r->w->device, 0, NULL), "qn_memory_trim");
}

/* ---- Launches ----------------------------------------------------------------------------------- */

static double launch_quern(run *r, int launches) {
  const gpu_kernel *k = r->k;
  const qn_range range = {.struct_size = sizeof range,
                          .dimensions = 2,
                          .global = {k->global[0], k->global[1]},
                          .local = {k->local[0], k->local[1]}};
  uint64_t start = bench_now_ns();
  for (int i = 0; i < launches; i++)
    bench_check(qn_launch(r->w->queue, r->kernel, &range, r->arguments, r->count, NULL), k->name);
  bench_check(qn_queue_finish(r->w->queue, QN_FOREVER), k->name);
  return (double)(bench_now_ns() - start) / launches;
}
static double launch_peer(run *r, int launches) {
  const gpu_kernel *k = r->k;
  const cuda *c = &r->w->c;
  cuda_enter(c);
  uint64_t start = bench_now_ns();
  for (int i = 0; i < launches; i++)
    cuda_check(
        c->cu.LaunchKernel(r->function, (unsigned)(k->global[0] / k->local[0]), (unsigned)(k->global[1] / k->local[1]),
                           1, (unsigned)k->local[0], (unsigned)k->local[1], 1, 0, c->stream, r->pointers, NULL),
        k->name);
  cuda_check(c->cu.StreamSynchronize(c->stream), k->name);
  double ns = (double)(bench_now_ns() - start) / launches;
  cuda_leave(c);
  return ns;
}
static double turn_quern(void *given) { return launch_quern(given, LAUNCHES); }
static double turn_peer(void *given) { return launch_peer(given, LAUNCHES); }

static bool near(const gpu_kernel *k, const uint32_t *ours, const uint32_t *theirs) {
  float a, b;
  if (*ours == *theirs) return true;
  if (k->arguments[0].kind == OUT_WORDS) return false;
  memcpy(&a, ours, 4);
  memcpy(&b, theirs, 4);
  return fabsf(a - b) <= (float)k->tolerance * fmaxf(fmaxf(fabsf(a), fabsf(b)), 1);
}

/* One launch of each side on cleared outputs. Ends the program where they differ. */
static void compare(run *r) {
  uint64_t bytes = bytes_of(&r->k->arguments[0]);
  uint32_t *ours = malloc(bytes), *theirs = malloc(bytes);
  if (!ours || !theirs) bench_fail("no memory for %llu bytes", (unsigned long long)bytes);
  const qn_view a = {r->buffers[0], 0, QN_WHOLE}, b = {r->theirs, 0, QN_WHOLE};
  clear(r->w, r->buffers[0]);
  clear(r->w, r->theirs);
  launch_quern(r, 1);
  launch_peer(r, 1);
  bench_check(qn_read(r->w->queue, &a, ours, NULL), "qn_read");
  bench_check(qn_read(r->w->queue, &b, theirs, NULL), "qn_read");
  bench_check(qn_queue_finish(r->w->queue, QN_FOREVER), "qn_queue_finish");
  for (uint64_t i = 0; i < bytes / 4; i++)
    if (!near(r->k, &ours[i], &theirs[i]))
      bench_fail("%s differs at %llu: quern %08x, peer %08x", r->k->name, (unsigned long long)i, ours[i], theirs[i]);
  free(ours);
  free(theirs);
}

/* ---- The bench ---------------------------------------------------------------------------------- */

/* Bytes read and written a nanosecond by the driver's own copy. */
static double copy_rate(world *w, uint32_t turns) {
  static bench_samples samples;
  const uint64_t bytes = 512 * MI;
  const argument a = {OUT_WORDS, (double)bytes / 4};
  qn_buffer one = make_buffer(w, &a), two = make_buffer(w, &a);
  const cu_pointer from = native_of(one), to = native_of(two);
  samples.count = 0;
  clear(w, one);
  cuda_enter(&w->c);
  for (uint32_t i = 0; i < turns; i++) {
    uint64_t start = bench_now_ns();
    for (int k = 0; k < LAUNCHES; k++) cuda_check(w->c.cu.MemcpyAsync(to, from, bytes, w->c.stream), "cuMemcpyAsync");
    cuda_check(w->c.cu.StreamSynchronize(w->c.stream), "cuStreamSynchronize");
    bench_add(&samples, (double)(bench_now_ns() - start) / (double)LAUNCHES);
  }
  cuda_leave(&w->c);
  qn_release(one);
  qn_release(two);
  return 2 * (double)bytes / bench_median(&samples);
}

static const char *ptx_path(void) {
  const char *path = getenv("QUERN_BENCH_CUDA_PTX");
  return path && *path ? path : QUERN_BENCH_BUILD "/nvrtc/gpu.ptx";
}

static bool open_world(world *w) {
  qn_device_info info = QN_INIT(qn_device_info);
  qn_program_options options = QN_INIT(qn_program_options);
  FILE *ptx = fopen(ptx_path(), "re");
  if (!ptx) {
    fprintf(stderr, "there is no peer: %s (ci/nvrtc.sh makes it)\n", ptx_path());
    return false;
  }
  (void)fclose(ptx);
  bench_check(qn_runtime_open(NULL, &w->runtime), "qn_runtime_open");
  if (qn_device_open(w->runtime, "cuda:0", &w->device) < 0 || !cuda_open(&w->c, w->device)) {
    fprintf(stderr, "%s\n", qn_error_text());
    return false;
  }
  bench_check(qn_device_query(w->device, &info), "qn_device_query");
  bench_check(qn_queue_create(w->device, NULL, &w->queue), "qn_queue_create");
  char *text = bench_read_text(QUERN_BENCH_KERNELS "/gpu.cl"), *theirs = bench_read_text(ptx_path());
  options.source = text;
  options.file_name = "gpu.cl";
  bench_check(qn_program_build(w->device, &options, &w->program), "qn_program_build");
  cuda_enter(&w->c);
  cuda_check(w->c.cu.ModuleLoadData(&w->module, theirs), ptx_path());
  cuda_leave(&w->c);
  free(text);
  free(theirs);
  printf("quern: cuda:0 %s\npeer:  NVRTC's code, %s\n", info.name, info.driver);
  return true;
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "kernels beside NVIDIA's compiler for CUDA C");
  static world w;
  double logarithms = 0;
  uint32_t measured = 0, turns = options.turns ? options.turns : TURNS;
  if (!open_world(&w)) return BENCH_NO_PEER;
  double rate = copy_rate(&w, turns);
  printf("the driver's copy moves %.0f GB/s\n", rate);
  for (int i = 0; i < KERNELS; i++) {
    static run r;
    double ours, theirs;
    const gpu_kernel *k = &kernels[i];
    if (!bench_wanted(&options, k->name)) continue;
    open_run(&r, &w, k);
    compare(&r);
    bench_alternate(turn_quern, turn_peer, &r, turns, &ours, &theirs);
    bench_report_speed(k->name, ours, theirs, 0.9);
    if (k->moved_bytes > 0)
      printf("%-26s       %8.0f GB/s, %.2f of the copy's\n", "", k->moved_bytes / ours, k->moved_bytes / ours / rate);
    logarithms += log(theirs / ours);
    measured++;
    close_run(&r);
  }
  if (measured > 0) bench_report_mean("all", "geometric mean", exp(logarithms / measured), 1.0);
  return bench_exit_status();
}
