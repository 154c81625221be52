/* bench_kernels - the speed of kernels, beside OpenCL's, from the same sources with the same work-group sizes. The results
 * of both sides are compared first. With --scalar, Quern without vectorisation takes the peer's place; with
 * --chosen-groups each runtime chooses the work-group size where the kernel lets it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define TURNS 7
#define MI (UINT64_C(1) << 20)

static const bench_kernel kernels[] = {
    {"saxpy",
     "linear.cl",
     "saxpy",
     "",
     1,
     {16 * MI},
     {256},
     {{BENCH_SIGNED, 64 * MI, 0, BENCH_FLOATS}, {BENCH_SIGNED, 64 * MI}, {BENCH_FLOAT, 4, 0.5}},
     1e-6,
     192.0 * MI,
     32.0 * MI},
    {"saxpy-cached", /* the arrays stay in the caches: what the code does, not what the memory does */
     "linear.cl",
     "saxpy",
     "",
     1,
     {MI / 8},
     {256},
     {{BENCH_SIGNED, MI / 2, 0, BENCH_FLOATS}, {BENCH_SIGNED, MI / 2}, {BENCH_FLOAT, 4, 0.5}},
     1e-6,
     1.5 * MI,
     0.25 * MI},
    {"triad-float4",
     "linear.cl",
     "triad",
     "",
     1,
     {4 * MI},
     {256},
     {{BENCH_ZEROS, 64 * MI, 0, BENCH_FLOATS}, {BENCH_SIGNED, 64 * MI}, {BENCH_SIGNED, 64 * MI}, {BENCH_FLOAT, 4, 0.5}},
     1e-6,
     192.0 * MI,
     32.0 * MI},
    {"stencil5",
     "stencil.cl",
     "stencil5",
     "",
     2,
     {4096, 4094},
     {64, 2},
     {{BENCH_ZEROS, 4 * 4100 * 4100, 0, BENCH_FLOATS}, {BENCH_RANDOM, 4 * 4100 * 4100}, {BENCH_INT, 4, 4100}},
     1e-5,
     8.0 * 4096 * 4094,
     6.0 * 4096 * 4094},
    {"stencil7",
     "stencil.cl",
     "stencil7",
     "",
     3,
     {256, 254, 254},
     {64, 2, 1},
     {{BENCH_ZEROS, 4 * 260 * 260 * 260, 0, BENCH_FLOATS}, {BENCH_RANDOM, 4 * 260 * 260 * 260}, {BENCH_INT, 4, 260}},
     1e-5,
     8.0 * 256 * 254 * 254,
     8.0 * 256 * 254 * 254},
    {"sgemm-naive",
     "linear.cl",
     "sgemm_naive",
     "",
     2,
     {1024, 1024},
     {16, 16},
     {{BENCH_ZEROS, 4 * MI, 0, BENCH_FLOATS}, {BENCH_SIGNED, 4 * MI}, {BENCH_SIGNED, 4 * MI}, {BENCH_INT, 4, 1024}},
     1e-2,
     0,
     2048.0 * MI},
    {"sgemm-tiled",
     "linear.cl",
     "sgemm_tiled",
     "",
     2,
     {1024, 1024},
     {16, 16},
     {{BENCH_ZEROS, 4 * MI, 0, BENCH_FLOATS}, {BENCH_SIGNED, 4 * MI}, {BENCH_SIGNED, 4 * MI}, {BENCH_INT, 4, 1024}},
     1e-2,
     0,
     2048.0 * MI},
    {"matvec",
     "linear.cl",
     "matvec",
     "",
     1,
     {4096},
     {64},
     {{BENCH_ZEROS, 4 * 4096, 0, BENCH_FLOATS},
      {BENCH_SIGNED, 64 * MI},
      {BENCH_SIGNED, 4 * 4096},
      {BENCH_INT, 4, 4096}},
     1e-2,
     64.0 * MI,
     32.0 * MI},
    {"spmv",
     "linear.cl",
     "spmv",
     "",
     1,
     {262144},
     {64},
     {{BENCH_ZEROS, 4 * 262144, 0, BENCH_FLOATS},
      {BENCH_SIGNED, 4 * 16 * 262144},
      {BENCH_INDICES, 4 * 16 * 262144, 262144},
      {BENCH_ROWS, 4 * 262145, 16},
      {BENCH_SIGNED, 4 * 262144}},
     1e-3,
     0,
     32.0 * 262144},
    {"transpose",
     "linear.cl",
     "transpose",
     "",
     2,
     {4096, 4096},
     {16, 16},
     {{BENCH_ZEROS, 64 * MI, 0, BENCH_EXACT}, {BENCH_BYTES, 64 * MI}, {BENCH_INT, 4, 4096}, {BENCH_INT, 4, 4096}},
     0,
     128.0 * MI,
     0},
    {"blur-uchar4",
     "stencil.cl",
     "blur",
     "",
     2,
     {2048, 2048},
     {64, 2},
     {{BENCH_ZEROS, 16 * MI, 0, BENCH_EXACT}, {BENCH_BYTES, 16 * MI}, {BENCH_INT, 4, 2048}},
     0,
     0,
     72.0 * 4 * MI},
    {"sobel",
     "stencil.cl",
     "sobel",
     "",
     2,
     {2048, 2046},
     {64, 2},
     {{BENCH_ZEROS, 4 * 2052 * 2052, 0, BENCH_FLOATS}, {BENCH_RANDOM, 4 * 2052 * 2052}, {BENCH_INT, 4, 2052}},
     1e-3,
     0,
     0},
    {"mandelbrot",
     "stencil.cl",
     "mandelbrot",
     "",
     2,
     {1024, 1024},
     {64, 1},
     {{BENCH_ZEROS, 4 * MI, 0, BENCH_MOSTLY},
      {BENCH_INT, 4, 1024},
      {BENCH_FLOAT, 4, 0.00244140625},
      {BENCH_INT, 4, 256}},
     0,
     0,
     0},
    {"nbody",
     "compute.cl",
     "nbody",
     "",
     1,
     {8192},
     {64},
     {{BENCH_ZEROS, 16 * 8192, 0, BENCH_FLOATS},
      {BENCH_RANDOM, 16 * 8192},
      {BENCH_INT, 4, 8192},
      {BENCH_FLOAT, 4, 0.01}},
     1e-3,
     0,
     20.0 * 8192 * 8192},
    {"black-scholes",
     "compute.cl",
     "black_scholes",
     "",
     1,
     {4 * MI},
     {256},
     {{BENCH_ZEROS, 16 * MI, 0, BENCH_FLOATS},
      {BENCH_ZEROS, 16 * MI, 0, BENCH_FLOATS},
      {BENCH_RANDOM, 16 * MI},
      {BENCH_RANDOM, 16 * MI},
      {BENCH_RANDOM, 16 * MI},
      {BENCH_FLOAT, 4, 0.02},
      {BENCH_FLOAT, 4, 0.3}},
     1e-3,
     0,
     0},
    {"sines",
     "compute.cl",
     "sines",
     "",
     1,
     {4 * MI},
     {256},
     {{BENCH_ZEROS, 16 * MI, 0, BENCH_FLOATS}, {BENCH_SIGNED, 16 * MI}},
     1e-3,
     0,
     0},
    {"hash",
     "compute.cl",
     "hash",
     "",
     1,
     {1 * MI},
     {256},
     {{BENCH_ZEROS, 4 * MI, 0, BENCH_EXACT}, {BENCH_BYTES, 4 * MI}, {BENCH_INT, 4, 256}},
     0,
     0,
     0},
    {"nearest",
     "compute.cl",
     "nearest",
     "",
     1,
     {262144},
     {64},
     {{BENCH_ZEROS, 4 * 262144, 0, BENCH_MOSTLY},
      {BENCH_RANDOM, 16 * 262144},
      {BENCH_RANDOM, 16 * 256},
      {BENCH_INT, 4, 256}},
     0,
     0,
     8.0 * 256 * 262144},
    {"reduction",
     "group.cl",
     "reduction",
     "",
     1,
     {16 * MI},
     {256},
     {{BENCH_ZEROS, 4 * 65536, 0, BENCH_FLOATS}, {BENCH_RANDOM, 64 * MI}, {BENCH_LOCAL, 4 * 256}},
     1e-4,
     64.0 * MI,
     0},
    {"dot-product",
     "group.cl",
     "dot_product",
     "",
     1,
     {262144},
     {128},
     {{BENCH_ZEROS, 4 * 2048, 0, BENCH_FLOATS},
      {BENCH_RANDOM, 64 * MI},
      {BENCH_RANDOM, 64 * MI},
      {BENCH_LOCAL, 4 * 128},
      {BENCH_INT, 4, 16}},
     1e-4,
     128.0 * MI,
     0},
    {"histogram",
     "group.cl",
     "histogram",
     "",
     1,
     {262144},
     {256},
     {{BENCH_ZEROS, 4 * 256, 0, BENCH_EXACT}, {BENCH_BYTES, 16 * MI}, {BENCH_INT, 4, 64}},
     0,
     0,
     0},
    {"scan",
     "group.cl",
     "scan",
     "",
     1,
     {4 * MI},
     {256},
     {{BENCH_ZEROS, 16 * MI, 0, BENCH_FLOATS}, {BENCH_RANDOM, 16 * MI}, {BENCH_LOCAL, 4 * 256}, {BENCH_LOCAL, 4 * 256}},
     1e-4,
     0,
     0},
    {"sort-groups",
     "group.cl",
     "sort_groups",
     "",
     1,
     {1 * MI},
     {256},
     {{BENCH_BYTES, 4 * MI, 0, BENCH_EXACT}, {BENCH_LOCAL, 4 * 256}},
     0,
     0,
     0},
};
#define KERNEL_COUNT (sizeof kernels / sizeof *kernels)

/* The geometric mean and the worst of the speeds so far. */
typedef struct summary {
  double log_sum, worst;
  uint32_t count;
  const char *worst_name;
} summary;

static void add(summary *s, const char *name, double speed) {
  s->log_sum += log(speed);
  if (s->count++ == 0 || speed < s->worst) s->worst = speed, s->worst_name = name;
}

static void print_summary(const summary *s, const char *peer) {
  if (s->count == 0) return;
  printf("geometric mean of %u kernels: %.2f times the speed of %s; worst: %s, %.2f\n", s->count,
         exp(s->log_sum / s->count), peer, s->worst_name, s->worst);
}

static void tell_rates(const bench_kernel *k, double ns) {
  if (k->moved_bytes > 0) printf("%-26s       %8.1f GB/s\n", "", k->moved_bytes / ns);
  if (k->operations > 0) printf("%-26s       %8.1f GFLOP/s\n", "", k->operations / ns);
}

/* ---- Beside the peer ---------------------------------------------------------------------------- */

static void beside_peer(const bench_kernel *k, const bench_options *options, bench_quern *quern, opencl *cl,
                        summary *s) {
  bench_run run;
  double ours, theirs;
  bench_run_open(&run, k, quern, cl);
  bench_run_quern(&run);
  bench_run_peer(&run);
  bench_run_compare(&run);
  bench_alternate(bench_run_quern, bench_run_peer, &run, options->turns ? options->turns : TURNS, &ours, &theirs);
  bench_report_speed(k->name, ours, theirs, 0.8);
  tell_rates(k, ours);
  add(s, k->name, theirs / ours);
  bench_run_close(&run);
}

/* ---- Beside ourselves without vectors ----------------------------------------------------------- */

typedef struct pair {
  bench_run vector, scalar;
} pair;
static double run_vector(void *context) { return bench_run_quern(&((pair *)context)->vector); }
static double run_scalar(void *context) { return bench_run_quern(&((pair *)context)->scalar); }

static void beside_scalar(const bench_kernel *k, const bench_options *options, bench_quern *quern, summary *s) {
  static pair p;
  double ours, theirs;
  bench_run_open(&p.vector, k, quern, NULL);
  setenv("QUERN_CPU_SCALAR", "1", 1);
  bench_run_open(&p.scalar, k, quern, NULL);
  unsetenv("QUERN_CPU_SCALAR");
  bench_alternate(run_vector, run_scalar, &p, options->turns ? options->turns : TURNS, &ours, &theirs);
  bench_report_speed(k->name, ours, theirs, 0);
  add(s, k->name, theirs / ours);
  bench_run_close(&p.vector);
  bench_run_close(&p.scalar);
}

/* Takes --scalar out of the arguments. */
static bool take_flag(int *count, char **arguments, const char *flag) {
  int kept = 1;
  for (int i = 1; i < *count; i++)
    if (strcmp(arguments[i], flag) != 0) arguments[kept++] = arguments[i];
  bool found = kept < *count;
  *count = kept;
  return found;
}

/* A kernel whose work-groups don't work together may have any size: each runtime then takes its own. */
static bool needs_groups(const bench_kernel *k) {
  return strcmp(k->file, "group.cl") == 0 || strcmp(k->name, "sgemm-tiled") == 0 || strcmp(k->name, "transpose") == 0;
}

/* A CPU device, or the one that Quern's is. */
static bool open_peer(opencl *cl, const bench_quern *same) {
  uint64_t id = 0;
  if (!same) return opencl_open(cl);
  bench_check(qn_native_handle(same->device, 0, &id), "qn_native_handle");
  return opencl_open_device(cl, (cl_device_id)(uintptr_t)id);
}

/* The GPU as OpenCL has it: the peer of Quern on CUDA. False: there is none. */
static bool open_gpu_peer(opencl *cl, const bench_quern *quern) {
  for (int i = 0; i < 8; i++) {
    char selector[16];
    qn_device_info info = QN_INIT(qn_device_info);
    bench_quern peer = {0};
    snprintf(selector, sizeof selector, "opencl:%d", i);
    if (qn_device_open(quern->runtime, selector, &peer.device) < 0) return false;
    bench_check(qn_device_query(peer.device, &info), "qn_device_query");
    if (info.type == QN_DEVICE_GPU) return open_peer(cl, &peer);
    qn_release(peer.device);
  }
  return false;
}

int main(int count, char **arguments) {
  bool scalar = take_flag(&count, arguments, "--scalar"), chosen = take_flag(&count, arguments, "--chosen-groups");
  bool on_opencl = take_flag(&count, arguments, "--opencl"), on_cuda = take_flag(&count, arguments, "--cuda");
  bench_options options =
      bench_read_options(count, arguments,
                         "speed of kernels beside OpenCL's; with --scalar beside our own scalar "
                         "code; with --opencl of our OpenCL C on the same driver; with --cuda of our PTX "
                         "beside the GPU's OpenCL");
  static bench_quern quern;
  static opencl cl;
  summary s = {0};
  bench_quern_open_on(&quern, on_cuda ? "cuda:0" : on_opencl ? "opencl:0" : "cpu");
  bool has_peer = scalar || (on_cuda ? open_gpu_peer(&cl, &quern) : open_peer(&cl, on_opencl ? &quern : NULL));
  if (!has_peer) return BENCH_NO_PEER;
  printf("quern: %s\npeer:  %s\n", quern.name, scalar ? "quern without vectors" : cl.name);
  for (size_t i = 0; i < KERNEL_COUNT; i++) {
    bench_kernel k = kernels[i];
    if (!bench_wanted(&options, k.name)) continue;
    if (chosen && !needs_groups(&k)) memset(k.local, 0, sizeof k.local);
    if (scalar)
      beside_scalar(&k, &options, &quern, &s);
    else
      beside_peer(&k, &options, &quern, &cl, &s);
  }
  print_summary(&s, scalar ? "scalar code" : "the peer");
  bench_quern_close(&quern);
  return bench_exit_status();
}
