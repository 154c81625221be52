#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Quern -------------------------------------------------------------------------------------- */

void bench_quern_open(bench_quern *q) { bench_quern_open_on(q, "cpu"); }

void bench_quern_open_on(bench_quern *q, const char *selector) {
  qn_device_info info = QN_INIT(qn_device_info);
  bench_check(qn_runtime_open(NULL, &q->runtime), "qn_runtime_open");
  bench_check(qn_device_open(q->runtime, selector, &q->device), "qn_device_open");
  bench_check(qn_queue_create(q->device, NULL, &q->queue), "qn_queue_create");
  bench_check(qn_device_query(q->device, &info), "qn_device_query");
  snprintf(q->name, sizeof q->name, "%s, %u threads", info.name, info.compute_units);
}

void bench_quern_close(bench_quern *q) { bench_check(qn_runtime_close(q->runtime, QN_FOREVER), "qn_runtime_close"); }

qn_kernel bench_quern_build(bench_quern *q, const char *source, const char *file, const char *options,
                            const char *name) {
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program;
  qn_kernel kernel;
  o.source = source;
  o.file_name = file;
  o.options = options;
  bench_check(qn_program_build(q->device, &o, &program), name);
  bench_check(qn_kernel_get(program, name, &kernel), name);
  qn_release(program);
  return kernel;
}

/* ---- Input -------------------------------------------------------------------------------------- */

static uint64_t random_state;
static uint32_t next_random(void) { /* xorshift64* */
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (uint32_t)((random_state * UINT64_C(0x2545F4914F6CDD1D)) >> 32);
}

bool bench_is_buffer(const bench_argument *a) { return a->fill >= BENCH_ZEROS && a->fill <= BENCH_ROWS; }

static void fill(const bench_argument *a, void *bytes) {
  float *f = bytes;
  int32_t *n = bytes;
  uint64_t words = a->bytes / 4;
  memset(bytes, 0, a->bytes);
  switch (a->fill) {
    case BENCH_RANDOM:
      for (uint64_t i = 0; i < words; i++) f[i] = (float)(next_random() >> 8) * 0x1p-24f;
      break;
    case BENCH_SIGNED:
      for (uint64_t i = 0; i < words; i++) f[i] = (float)(next_random() >> 8) * 0x1p-23f - 1;
      break;
    case BENCH_BYTES:
      for (uint64_t i = 0; i < words; i++) n[i] = (int32_t)next_random();
      break;
    case BENCH_INDICES:
      for (uint64_t i = 0; i < words; i++) n[i] = (int32_t)(next_random() % (uint32_t)a->value);
      break;
    case BENCH_ROWS:
      for (uint64_t i = 0; i < words; i++) n[i] = (int32_t)(i * (uint64_t)a->value);
      break;
    default:
      break;
  }
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

static void add_buffer(bench_run *run, uint32_t i, const bench_argument *a) {
  void *bytes = malloc(a->bytes);
  if (!bytes) bench_fail("no memory for %llu bytes", (unsigned long long)a->bytes);
  fill(a, bytes);
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = a->bytes;
  bench_check(qn_buffer_create(run->quern->device, &options, &run->quern_buffers[i]), "qn_buffer_create");
  qn_view view = {run->quern_buffers[i], 0, QN_WHOLE};
  bench_check(qn_write(run->quern->queue, &view, bytes, NULL), "qn_write");
  bench_check(qn_queue_finish(run->quern->queue, QN_FOREVER), "qn_queue_finish");
  run->arguments[i] = qn_arg_buffer(run->quern_buffers[i]);
  if (run->cl) {
    cl_int status;
    run->cl_buffers[i] = run->cl->CreateBuffer(run->cl->context, CL_MEM_READ_WRITE, a->bytes, NULL, &status);
    opencl_check(status, "clCreateBuffer");
    opencl_check(
        run->cl->EnqueueWriteBuffer(run->cl->queue, run->cl_buffers[i], CL_TRUE, 0, a->bytes, bytes, 0, NULL, NULL),
        "clEnqueueWriteBuffer");
    opencl_check(run->cl->SetKernelArg(run->cl_kernel, i, sizeof(cl_mem), &run->cl_buffers[i]), "clSetKernelArg");
  }
  free(bytes);
}

static void add_value(bench_run *run, uint32_t i, const bench_argument *a) {
  int32_t n = (int32_t)a->value;
  float f = (float)a->value;
  bool is_int = a->fill == BENCH_INT;
  run->arguments[i] = is_int ? qn_arg_i32(n) : qn_arg_f32(f);
  if (run->cl)
    opencl_check(run->cl->SetKernelArg(run->cl_kernel, i, 4, is_int ? (void *)&n : (void *)&f), "clSetKernelArg");
}

static void add_local(bench_run *run, uint32_t i, const bench_argument *a) {
  run->arguments[i] = qn_arg_local(a->bytes);
  if (run->cl) opencl_check(run->cl->SetKernelArg(run->cl_kernel, i, a->bytes, NULL), "clSetKernelArg");
}

static void add_arguments(bench_run *run) {
  random_state = 0x9e3779b97f4a7c15;
  for (uint32_t i = 0; i < BENCH_MAX_ARGUMENTS && run->k->arguments[i].fill != BENCH_NONE; i++) {
    const bench_argument *a = &run->k->arguments[i];
    run->argument_count++;
    if (bench_is_buffer(a))
      add_buffer(run, i, a);
    else if (a->fill == BENCH_LOCAL)
      add_local(run, i, a);
    else
      add_value(run, i, a);
  }
}

/* ---- Runs --------------------------------------------------------------------------------------- */

void bench_run_open(bench_run *run, const bench_kernel *k, bench_quern *quern, opencl *cl) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", QUERN_BENCH_KERNELS, k->file);
  char *source = bench_read_text(path);
  memset(run, 0, sizeof *run);
  run->k = k;
  run->quern = quern;
  run->cl = cl;
  run->quern_kernel = bench_quern_build(quern, source, path, k->options, k->kernel);
  if (cl) run->cl_kernel = opencl_build(cl, source, k->options, k->kernel);
  free(source);
  run->range = (qn_range){.struct_size = sizeof run->range, .dimensions = k->dimensions};
  memcpy(run->range.global, k->global, sizeof k->global);
  memcpy(run->range.local, k->local, sizeof k->local);
  add_arguments(run);
}

void bench_run_close(bench_run *run) {
  for (uint32_t i = 0; i < run->argument_count; i++) {
    if (run->quern_buffers[i]) qn_release(run->quern_buffers[i]);
    if (run->cl_buffers[i]) run->cl->ReleaseMemObject(run->cl_buffers[i]);
  }
  qn_release(run->quern_kernel);
  if (run->cl) run->cl->ReleaseKernel(run->cl_kernel);
  bench_check(qn_device_drain(run->quern->device, QN_FOREVER), "qn_device_drain");
}

double bench_run_quern(void *context) {
  bench_run *run = context;
  qn_point done;
  uint64_t start = bench_now_ns();
  bench_check(qn_launch(run->quern->queue, run->quern_kernel, &run->range, run->arguments, run->argument_count, &done),
              run->k->name);
  bench_check(qn_point_wait(&done, QN_FOREVER), run->k->name);
  return (double)(bench_now_ns() - start);
}

double bench_run_peer(void *context) {
  bench_run *run = context;
  const bench_kernel *k = run->k;
  size_t global[3], local[3];
  for (int i = 0; i < 3; i++) global[i] = k->global[i], local[i] = k->local[i];
  uint64_t start = bench_now_ns();
  opencl_check(run->cl->EnqueueNDRangeKernel(run->cl->queue, run->cl_kernel, k->dimensions, NULL, global,
                                             k->local[0] ? local : NULL, 0, NULL, NULL),
               k->name);
  opencl_check(run->cl->Finish(run->cl->queue), "clFinish");
  return (double)(bench_now_ns() - start);
}

/* ---- Comparison --------------------------------------------------------------------------------- */

static bool near(float a, float b, double tolerance) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  double scale = fmax(fmax(fabs((double)a), fabs((double)b)), 1);
  return fabs((double)a - (double)b) <= tolerance * scale;
}

/* What differs at `i`: a byte, an int or a float. */
static bool differs(const bench_kernel *k, bench_compare how, const void *ours, const void *theirs, uint64_t i) {
  if (how == BENCH_FLOATS) return !near(((const float *)ours)[i], ((const float *)theirs)[i], k->tolerance);
  return ((const int32_t *)ours)[i] != ((const int32_t *)theirs)[i];
}

void bench_compare_words(const bench_kernel *k, uint32_t argument, const void *ours, const void *theirs) {
  bench_compare how = k->arguments[argument].compare;
  uint64_t count = k->arguments[argument].bytes / 4, allowed = how == BENCH_MOSTLY ? count / 50 : 0, different = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (!differs(k, how, ours, theirs, i) || ++different <= allowed) continue;
    bench_fail("%s: argument %u differs at %llu: quern %08x (%.9g), peer %08x (%.9g)", k->name, argument,
               (unsigned long long)i, ((const uint32_t *)ours)[i], (double)((const float *)ours)[i],
               ((const uint32_t *)theirs)[i], (double)((const float *)theirs)[i]);
  }
}

void bench_run_read(bench_run *run, uint32_t argument, void *bytes) {
  qn_view view = {run->quern_buffers[argument], 0, QN_WHOLE};
  bench_check(qn_read(run->quern->queue, &view, bytes, NULL), "qn_read");
  bench_check(qn_queue_finish(run->quern->queue, QN_FOREVER), "qn_queue_finish");
}

static void compare_argument(bench_run *run, uint32_t i, const bench_argument *a) {
  void *ours = malloc(a->bytes), *theirs = malloc(a->bytes);
  if (!ours || !theirs) bench_fail("no memory for %llu bytes", (unsigned long long)a->bytes);
  bench_run_read(run, i, ours);
  opencl_check(
      run->cl->EnqueueReadBuffer(run->cl->queue, run->cl_buffers[i], CL_TRUE, 0, a->bytes, theirs, 0, NULL, NULL),
      "clEnqueueReadBuffer");
  bench_compare_words(run->k, i, ours, theirs);
  free(ours);
  free(theirs);
}

void bench_run_compare(bench_run *run) {
  for (uint32_t i = 0; i < run->argument_count; i++)
    if (run->k->arguments[i].compare != BENCH_INPUT) compare_argument(run, i, &run->k->arguments[i]);
}
