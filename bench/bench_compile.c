/* bench_compile - from a source to a first result: in a fresh process with empty caches, with full ones, and further
 * kernels in a process that is warm. This program runs itself for each fresh process. */
#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

#define FURTHER 15 /* new kernels in a warm process */
#define ROUNDS 7   /* fresh processes of each kind */

extern char **environ;

/* A kernel of ordinary size, and another one for each salt. */
static void make_source(char *out, size_t capacity, uint32_t salt) {
  snprintf(out, capacity,
           "#define SALT %u\n"
           "float shade(float x, float y) { float r = native_sqrt(x * x + y * y); return mix(x, y, r) + SALT; }\n"
           "kernel void work(global float *out, global const float *in, int width, int height, float k) {\n"
           "  int x = get_global_id(0), y = get_global_id(1);\n"
           "  if (x >= width || y >= height) return;\n"
           "  float sum = 0;\n"
           "  for (int j = -1; j <= 1; j++)\n"
           "    for (int i = -1; i <= 1; i++) {\n"
           "      int u = clamp(x + i, 0, width - 1), v = clamp(y + j, 0, height - 1);\n"
           "      sum += in[v * width + u] * (i == 0 && j == 0 ? 4.0f : -0.5f);\n"
           "    }\n"
           "  out[y * width + x] = fmin(fabs(sum * k), 1.0f) + shade((float)x, (float)y) - shade((float)x, (float)y);\n"
           "}\n",
           salt);
}

enum { SIDE = 64, CELLS = SIDE * SIDE };

/* What is wrong with a result, or NULL: the input is 1 everywhere, so the sum is 0. */
static void check_result(const float *out) {
  for (int i = 0; i < CELLS; i++)
    if (!(out[i] > -1e-3f && out[i] < 1e-3f)) bench_fail("a wrong result: %g at %d", (double)out[i], i);
}

/* ---- One kernel on either side, from source to a result ----------------------------------------- */

static void quern_once(bench_quern *q, uint32_t salt) {
  char text[2048];
  static float in[CELLS], out[CELLS];
  for (int i = 0; i < CELLS; i++) in[i] = 1;
  make_source(text, sizeof text, salt);
  qn_kernel kernel = bench_quern_build(q, text, "bench_compile", "", "work");
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  qn_buffer a, b;
  options.size_bytes = sizeof in;
  bench_check(qn_buffer_create(q->device, &options, &a), "qn_buffer_create");
  bench_check(qn_buffer_create(q->device, &options, &b), "qn_buffer_create");
  qn_view va = {a, 0, QN_WHOLE}, vb = {b, 0, QN_WHOLE};
  bench_check(qn_write(q->queue, &va, in, NULL), "qn_write");
  bench_check(qn_launch(q->queue, kernel, QN_RANGE_2D(SIDE, SIDE), QN_ARGS(b, a, SIDE, SIDE, 1.0f), NULL), "qn_launch");
  bench_check(qn_read(q->queue, &vb, out, NULL), "qn_read");
  bench_check(qn_queue_finish(q->queue, QN_FOREVER), "qn_queue_finish");
  check_result(out);
  qn_release(a);
  qn_release(b);
  qn_release(kernel);
}

static void peer_once(opencl *cl, uint32_t salt) {
  char text[2048];
  static float in[CELLS], out[CELLS];
  size_t global[2] = {SIDE, SIDE};
  int side = SIDE;
  float k = 1;
  cl_int status;
  for (int i = 0; i < CELLS; i++) in[i] = 1;
  make_source(text, sizeof text, salt);
  cl_kernel kernel = opencl_build(cl, text, "", "work");
  cl_mem a = cl->CreateBuffer(cl->context, CL_MEM_READ_WRITE, sizeof in, NULL, &status);
  cl_mem b = cl->CreateBuffer(cl->context, CL_MEM_READ_WRITE, sizeof in, NULL, &status);
  opencl_check(cl->EnqueueWriteBuffer(cl->queue, a, CL_FALSE, 0, sizeof in, in, 0, NULL, NULL), "write");
  opencl_check(cl->SetKernelArg(kernel, 0, sizeof b, &b), "clSetKernelArg");
  opencl_check(cl->SetKernelArg(kernel, 1, sizeof a, &a), "clSetKernelArg");
  opencl_check(cl->SetKernelArg(kernel, 2, 4, &side), "clSetKernelArg");
  opencl_check(cl->SetKernelArg(kernel, 3, 4, &side), "clSetKernelArg");
  opencl_check(cl->SetKernelArg(kernel, 4, 4, &k), "clSetKernelArg");
  opencl_check(cl->EnqueueNDRangeKernel(cl->queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL), "launch");
  opencl_check(cl->EnqueueReadBuffer(cl->queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL), "read");
  check_result(out);
  cl->ReleaseMemObject(a);
  cl->ReleaseMemObject(b);
  cl->ReleaseKernel(kernel);
}

/* ---- The fresh process -------------------------------------------------------------------------- */

/* Says on standard output how long it took from the start of main to the first result. Each side loads all that it needs
 * in that time; libquern itself is loaded before main, for both. */
static int child(bool is_quern, uint32_t salt) {
  uint64_t start = bench_now_ns();
  if (is_quern) {
    static bench_quern q;
    bench_quern_open(&q);
    quern_once(&q, salt);
  } else {
    static opencl cl;
    if (!opencl_open(&cl)) return 1;
    peer_once(&cl, salt);
  }
  printf("%llu\n", (unsigned long long)(bench_now_ns() - start));
  fflush(stdout);
  _exit(0); /* what a side does at exit is not measured here */
}

static double run_child(const char *program, bool is_quern, uint32_t salt) {
  char number[16], text[64] = "";
  char *arguments[] = {(char *)(uintptr_t)program, "--child", is_quern ? "quern" : "peer", number, NULL};
  int ends[2], status;
  pid_t pid;
  posix_spawn_file_actions_t actions;
  snprintf(number, sizeof number, "%u", salt);
  if (pipe(ends) != 0) bench_fail("pipe: %s", strerror(errno));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  int rc = posix_spawn(&pid, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) bench_fail("%s doesn't start: %s", program, strerror(rc));
  close(ends[1]);
  for (size_t n = 0; n < sizeof text - 1;) {
    ssize_t got = read(ends[0], text + n, sizeof text - 1 - n);
    if (got <= 0) break;
    n += (size_t)got;
  }
  close(ends[0]);
  if (waitpid(pid, &status, 0) != pid || status != 0) bench_fail("a fresh process failed");
  return strtod(text, NULL);
}

/* ---- Caches ------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw) {
  (void)s, (void)type, (void)ftw;
  return remove(path);
}
static void remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* Points every cache of both sides at a new, empty directory. */
static void new_caches(char *directory, size_t capacity) {
  char path[256];
  const char *base = getenv("TMPDIR");
  snprintf(directory, capacity, "%s/quern-bench-XXXXXX", base ? base : "/tmp");
  if (!mkdtemp(directory)) bench_fail("no temporary directory: %s", strerror(errno));
  setenv("XDG_CACHE_HOME", directory, 1);
  snprintf(path, sizeof path, "%s/quern", directory);
  setenv("QUERN_CACHE_DIR", path, 1);
  snprintf(path, sizeof path, "%s/pocl", directory);
  setenv("POCL_CACHE_DIR", path, 1);
}

typedef struct fresh {
  const char *program;
  char directory[256];
  uint32_t salt;
} fresh;

static double cold(fresh *f, bool is_quern) {
  new_caches(f->directory, sizeof f->directory);
  double ns = run_child(f->program, is_quern, ++f->salt);
  remove_tree(f->directory);
  return ns;
}
static double cold_quern(void *f) { return cold(f, true); }
static double cold_peer(void *f) { return cold(f, false); }
static double warm_quern(void *context) { return run_child(((fresh *)context)->program, true, 1); }
static double warm_peer(void *context) { return run_child(((fresh *)context)->program, false, 1); }

/* ---- Further kernels ---------------------------------------------------------------------------- */

typedef struct further {
  bench_quern quern;
  opencl cl;
  uint32_t salt;
} further;

static double further_quern(void *context) {
  further *f = context;
  uint64_t start = bench_now_ns();
  quern_once(&f->quern, ++f->salt);
  return (double)(bench_now_ns() - start);
}
static double further_peer(void *context) {
  further *f = context;
  uint64_t start = bench_now_ns();
  peer_once(&f->cl, ++f->salt);
  return (double)(bench_now_ns() - start);
}

static void measure_further(const bench_options *options) {
  static further f = {.salt = 1000};
  double ours, theirs;
  if (!opencl_open(&f.cl)) bench_fail("no peer");
  bench_quern_open(&f.quern);
  bench_alternate(further_quern, further_peer, &f, options->turns ? options->turns : FURTHER, &ours, &theirs);
  bench_report_cost("compile/further", ours, theirs, 0.5);
  bench_quern_close(&f.quern);
}

int main(int count, char **arguments) {
  if (count == 4 && strcmp(arguments[1], "--child") == 0)
    return child(strcmp(arguments[2], "quern") == 0, (uint32_t)atoi(arguments[3]));
  bench_options options = bench_read_options(count, arguments, "from a source to a first result, beside OpenCL's");
  fresh f = {.program = "/proc/self/exe"};
  char program[512];
  ssize_t length = readlink(f.program, program, sizeof program - 1);
  if (length <= 0) bench_fail("/proc/self/exe: %s", strerror(errno));
  program[length] = 0;
  f.program = program;
  double ours, theirs;
  uint32_t turns = options.turns ? options.turns : ROUNDS;
  if (bench_wanted(&options, "compile/cold")) {
    bench_alternate(cold_quern, cold_peer, &f, turns, &ours, &theirs);
    bench_report_cost("compile/cold", ours, theirs, 0.10);
  }
  if (bench_wanted(&options, "compile/warm")) {
    new_caches(f.directory, sizeof f.directory);
    bench_alternate(warm_quern, warm_peer, &f, turns, &ours, &theirs);
    bench_report_cost("compile/warm", ours, theirs, 0.15);
    remove_tree(f.directory);
  }
  if (bench_wanted(&options, "compile/further")) {
    new_caches(f.directory, sizeof f.directory);
    measure_further(&options);
    remove_tree(f.directory);
  }
  return bench_exit_status();
}
