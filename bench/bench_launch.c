/* bench_launch - what a launch costs: alone with a wait behind it, in a batch, with arguments, in groups. */
#include <stdio.h>

#include "kernel.h"

#define ROUNDS 1000 /* launches a turn */
#define TURNS 21

static const char source[] =
    "kernel void nothing() {}\n"
    "kernel void eight(global int *a, global int *b, global int *c, global int *d, int e, int f, float g, float h) "
    "{}\n";

/* One kernel and range, on both sides. */
typedef struct launch {
  bench_quern *quern;
  opencl *cl;
  qn_kernel quern_kernel;
  cl_kernel cl_kernel;
  qn_range range;
  qn_argument arguments[8];
  uint32_t count;
  uint64_t wait_ns; /* Quern's time limit of a wait */
} launch;

static void launch_quern(launch *l, qn_point *done) {
  bench_check(qn_launch(l->quern->queue, l->quern_kernel, &l->range, l->arguments, l->count, done), "qn_launch");
}
static void launch_peer(launch *l) {
  size_t global = l->range.global[0], local = l->range.local[0];
  /* OpenCL's arguments stay with the kernel; a program that launches anew sets those that change. */
  for (uint32_t i = 4; i < l->count; i++)
    opencl_check(l->cl->SetKernelArg(l->cl_kernel, i, 4, &l->arguments[i].value), "clSetKernelArg");
  opencl_check(l->cl->EnqueueNDRangeKernel(l->cl->queue, l->cl_kernel, 1, NULL, &global, &local, 0, NULL, NULL),
               "clEnqueueNDRangeKernel");
}

/* The median of single launches, each with its wait. */
static double waited_quern(void *context) {
  static bench_samples samples;
  const launch *l = context;
  samples.count = 0;
  for (int i = 0; i < ROUNDS; i++) {
    qn_point done;
    uint64_t start = bench_now_ns();
    launch_quern(context, &done);
    bench_check(qn_point_wait(&done, l->wait_ns), "qn_point_wait");
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  return bench_median(&samples);
}
static double waited_peer(void *context) {
  static bench_samples samples;
  launch *l = context;
  samples.count = 0;
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t start = bench_now_ns();
    launch_peer(l);
    opencl_check(l->cl->Finish(l->cl->queue), "clFinish");
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  return bench_median(&samples);
}

/* Many launches, then one wait: time divided by launches. */
static double batch_quern(void *context) {
  qn_point done;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) launch_quern(context, &done);
  bench_check(qn_point_wait(&done, QN_FOREVER), "qn_point_wait");
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double batch_peer(void *context) {
  launch *l = context;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) launch_peer(l);
  opencl_check(l->cl->Finish(l->cl->queue), "clFinish");
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static void give_arguments(launch *l) {
  cl_int status;
  for (uint32_t i = 0; i < 4; i++) {
    qn_buffer_options options = QN_INIT(qn_buffer_options);
    qn_buffer buffer;
    options.size_bytes = 4096;
    bench_check(qn_buffer_create(l->quern->device, &options, &buffer), "qn_buffer_create");
    l->arguments[i] = qn_arg_buffer(buffer);
    cl_mem memory = l->cl->CreateBuffer(l->cl->context, CL_MEM_READ_WRITE, 4096, NULL, &status);
    opencl_check(status, "clCreateBuffer");
    opencl_check(l->cl->SetKernelArg(l->cl_kernel, i, sizeof memory, &memory), "clSetKernelArg");
  }
  l->arguments[4] = qn_arg_i32(1);
  l->arguments[5] = qn_arg_i32(2);
  l->arguments[6] = qn_arg_f32(3);
  l->arguments[7] = qn_arg_f32(4);
  l->count = 8;
}

static void measure_wait(launch *l, const bench_options *options, const char *name, uint64_t groups) {
  char line[64];
  double ours, theirs;
  l->range = (qn_range){.struct_size = sizeof l->range, .dimensions = 1, .global = {64 * groups}, .local = {64}};
  snprintf(line, sizeof line, "wait/%s", name);
  if (!bench_wanted(options, line)) return;
  bench_alternate(waited_quern, waited_peer, l, options->turns ? options->turns : TURNS, &ours, &theirs);
  bench_report_cost(line, ours, theirs, 0.25);
}

static void measure(launch *l, const bench_options *options, const char *name, uint64_t groups) {
  char line[64];
  double ours, theirs;
  uint32_t turns = options->turns ? options->turns : TURNS;
  measure_wait(l, options, name, groups);
  snprintf(line, sizeof line, "batch/%s", name);
  if (bench_wanted(options, line)) {
    bench_alternate(batch_quern, batch_peer, l, turns, &ours, &theirs);
    bench_report_cost(line, ours, theirs, 0.5);
  }
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "cost of launches beside OpenCL's");
  static bench_quern quern;
  static opencl cl;
  if (!opencl_open(&cl)) return BENCH_NO_PEER;
  bench_quern_open(&quern);
  printf("quern: %s\npeer:  %s\n", quern.name, cl.name);
  launch empty = {.quern = &quern, .cl = &cl, .wait_ns = QN_FOREVER}, eight = empty;
  empty.quern_kernel = bench_quern_build(&quern, source, "bench_launch", "", "nothing");
  empty.cl_kernel = opencl_build(&cl, source, "", "nothing");
  eight.quern_kernel = bench_quern_build(&quern, source, "bench_launch", "", "eight");
  eight.cl_kernel = opencl_build(&cl, source, "", "eight");
  give_arguments(&eight);
  measure(&empty, &options, "empty", 1);
  empty.wait_ns = 1000000000;
  measure_wait(&empty, &options, "empty-limit-1-s", 1);
  empty.wait_ns = QN_FOREVER;
  measure(&empty, &options, "empty-64-groups", 64);
  measure(&eight, &options, "8-arguments", 1);
  bench_quern_close(&quern);
  return bench_exit_status();
}
