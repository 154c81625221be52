/* bench_webgpu_kernels - the speed of our WGSL of a kernel, beside WGSL of the same algorithm written by hand (kernels/wgsl), on the same
 * device of Dawn in the same process, with the same work-groups and the same data. Results are compared first. A turn is so many
 * launches in a row as take some milliseconds, and a wait. QUERN_WEBGPU_LIBRARY names the library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "webgpu.h"

enum { TURNS = 11, MOST_LAUNCHES = 64 };
#define BUDGET 0.95
#define TURN_NS 20e6
#define LIMIT_NS UINT64_C(60000000000)
#define KI UINT64_C(1024)
#define MI (KI * KI)

/* R: sides grow with it, and what has one dimension by its square. Group counts stay within what a dimension takes. */
#define BUFFER(what, ...) {BENCH_##what, __VA_ARGS__}
#define INT(value) {BENCH_INT, 4, value}
#define FLOAT(value) {BENCH_FLOAT, 4, value}
#define KERNELS(R)                                                                                                   \
  {                                                                                                                  \
      {"copy",                                                                                                       \
       "linear.cl",                                                                                                  \
       "copy",                                                                                                       \
       "",                                                                                                           \
       1,                                                                                                            \
       {64 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(ZEROS, MI * R * R, 0, BENCH_EXACT), BUFFER(BYTES, MI * R * R)},                                       \
       0,                                                                                                            \
       2.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"saxpy",                                                                                                      \
       "linear.cl",                                                                                                  \
       "saxpy",                                                                                                      \
       "",                                                                                                           \
       1,                                                                                                            \
       {256 * KI * R * R},                                                                                           \
       {256},                                                                                                        \
       {BUFFER(SIGNED, MI * R * R, 0, BENCH_FLOATS), BUFFER(SIGNED, MI * R * R), FLOAT(0.5)},                        \
       1e-3,                                                                                                         \
       3.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"triad-float4",                                                                                               \
       "linear.cl",                                                                                                  \
       "triad",                                                                                                      \
       "",                                                                                                           \
       1,                                                                                                            \
       {64 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(ZEROS, MI * R * R, 0, BENCH_FLOATS), BUFFER(SIGNED, MI * R * R), BUFFER(SIGNED, MI * R * R),          \
        FLOAT(0.5)},                                                                                                 \
       1e-5,                                                                                                         \
       3.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"stencil5",                                                                                                   \
       "stencil.cl",                                                                                                 \
       "stencil5",                                                                                                   \
       "",                                                                                                           \
       2,                                                                                                            \
       {512 * R, 512 * R},                                                                                           \
       {64, 2},                                                                                                      \
       {BUFFER(ZEROS, 4 * (512 * R + 4) * (512 * R + 4), 0, BENCH_FLOATS),                                           \
        BUFFER(RANDOM, 4 * (512 * R + 4) * (512 * R + 4)), INT(512 * R + 4)},                                        \
       1e-5,                                                                                                         \
       2.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"stencil7",                                                                                                   \
       "stencil.cl",                                                                                                 \
       "stencil7",                                                                                                   \
       "",                                                                                                           \
       3,                                                                                                            \
       {64 * R, 64, 64},                                                                                             \
       {64, 2, 1},                                                                                                   \
       {BUFFER(ZEROS, 4 * (64 * R + 4) * (64 * R + 4) * 68, 0, BENCH_FLOATS),                                        \
        BUFFER(RANDOM, 4 * (64 * R + 4) * (64 * R + 4) * 68), INT(64 * R + 4)},                                      \
       1e-5,                                                                                                         \
       0,                                                                                                            \
       0},                                                                                                           \
      {"transpose",                                                                                                  \
       "linear.cl",                                                                                                  \
       "transpose",                                                                                                  \
       "",                                                                                                           \
       2,                                                                                                            \
       {512 * R, 512 * R},                                                                                           \
       {16, 16},                                                                                                     \
       {BUFFER(ZEROS, MI * R * R, 0, BENCH_EXACT), BUFFER(BYTES, MI * R * R), INT(512 * R), INT(512 * R)},           \
       0,                                                                                                            \
       2.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"sgemm-tiled",                                                                                                \
       "linear.cl",                                                                                                  \
       "sgemm_tiled",                                                                                                \
       "",                                                                                                           \
       2,                                                                                                            \
       {128 * R, 128 * R},                                                                                           \
       {16, 16},                                                                                                     \
       {BUFFER(ZEROS, 64 * KI * R * R, 0, BENCH_FLOATS), BUFFER(SIGNED, 64 * KI * R * R),                            \
        BUFFER(SIGNED, 64 * KI * R * R), INT(128 * R)},                                                              \
       1e-2,                                                                                                         \
       0,                                                                                                            \
       4.0 * MI * R * R * R},                                                                                        \
      {"matvec",                                                                                                     \
       "linear.cl",                                                                                                  \
       "matvec",                                                                                                     \
       "",                                                                                                           \
       1,                                                                                                            \
       {512 * R},                                                                                                    \
       {64},                                                                                                         \
       {BUFFER(ZEROS, 2 * KI * R, 0, BENCH_FLOATS), BUFFER(SIGNED, MI * R * R), BUFFER(SIGNED, 2 * KI * R),          \
        INT(512 * R)},                                                                                               \
       1e-2,                                                                                                         \
       1.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"spmv",                                                                                                       \
       "linear.cl",                                                                                                  \
       "spmv",                                                                                                       \
       "",                                                                                                           \
       1,                                                                                                            \
       {16 * KI * R * R},                                                                                            \
       {64},                                                                                                         \
       {BUFFER(ZEROS, 64 * KI * R * R, 0, BENCH_FLOATS), BUFFER(SIGNED, MI * R * R),                                 \
        BUFFER(INDICES, MI * R * R, 16 * 1024 * R * R), BUFFER(ROWS, 4 * (16 * KI * R * R + 1), 16),                 \
        BUFFER(SIGNED, 64 * KI * R * R)},                                                                            \
       1e-3,                                                                                                         \
       0,                                                                                                            \
       0},                                                                                                           \
      {"blur-uchar4",                                                                                                \
       "stencil.cl",                                                                                                 \
       "blur",                                                                                                       \
       "",                                                                                                           \
       2,                                                                                                            \
       {256 * R, 256 * R},                                                                                           \
       {64, 2},                                                                                                      \
       {BUFFER(ZEROS, 256 * KI * R * R, 0, BENCH_MOSTLY), BUFFER(BYTES, 256 * KI * R * R), INT(256 * R)},            \
       0,                                                                                                            \
       0,                                                                                                            \
       0},                                                                                                           \
      {"mandelbrot",                                                                                                 \
       "stencil.cl",                                                                                                 \
       "mandelbrot",                                                                                                 \
       "",                                                                                                           \
       2,                                                                                                            \
       {256 * R, 256 * R},                                                                                           \
       {64, 1},                                                                                                      \
       {BUFFER(ZEROS, 256 * KI * R * R, 0, BENCH_MOSTLY), INT(256 * R), FLOAT(2.5 / 256 / R), INT(64 * R)},          \
       0,                                                                                                            \
       0,                                                                                                            \
       0},                                                                                                           \
      {"nbody",                                                                                                      \
       "compute.cl",                                                                                                 \
       "nbody",                                                                                                      \
       "",                                                                                                           \
       1,                                                                                                            \
       {1024 * R},                                                                                                   \
       {64},                                                                                                         \
       {BUFFER(ZEROS, 16 * KI * R, 0, BENCH_FLOATS), BUFFER(RANDOM, 16 * KI * R), INT(1024 * R), FLOAT(0.01)},       \
       1e-3,                                                                                                         \
       0,                                                                                                            \
       20.0 * MI * R * R},                                                                                           \
      {"black-scholes",                                                                                              \
       "compute.cl",                                                                                                 \
       "black_scholes",                                                                                              \
       "",                                                                                                           \
       1,                                                                                                            \
       {64 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(ZEROS, 256 * KI * R * R, 0, BENCH_FLOATS), BUFFER(ZEROS, 256 * KI * R * R, 0, BENCH_FLOATS),          \
        BUFFER(RANDOM, 256 * KI * R * R), BUFFER(RANDOM, 256 * KI * R * R), BUFFER(RANDOM, 256 * KI * R * R),        \
        FLOAT(0.02), FLOAT(0.3)},                                                                                    \
       1e-3,                                                                                                         \
       0,                                                                                                            \
       0},                                                                                                           \
      {"hash",                                                                                                       \
       "compute.cl",                                                                                                 \
       "hash",                                                                                                       \
       "",                                                                                                           \
       1,                                                                                                            \
       {64 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(ZEROS, 256 * KI * R * R, 0, BENCH_EXACT), BUFFER(BYTES, 256 * KI * R * R), INT(64)},                  \
       0,                                                                                                            \
       0,                                                                                                            \
       0},                                                                                                           \
      {"nearest",                                                                                                    \
       "compute.cl",                                                                                                 \
       "nearest",                                                                                                    \
       "",                                                                                                           \
       1,                                                                                                            \
       {16 * KI * R * R},                                                                                            \
       {64},                                                                                                         \
       {BUFFER(ZEROS, 64 * KI * R * R, 0, BENCH_MOSTLY), BUFFER(RANDOM, 256 * KI * R * R), BUFFER(RANDOM, 16 * 128), \
        INT(128)},                                                                                                   \
       0,                                                                                                            \
       0,                                                                                                            \
       0},                                                                                                           \
      {"reduction",                                                                                                  \
       "group.cl",                                                                                                   \
       "reduction",                                                                                                  \
       "",                                                                                                           \
       1,                                                                                                            \
       {256 * KI * R * R},                                                                                           \
       {256},                                                                                                        \
       {BUFFER(ZEROS, 4 * KI * R * R, 0, BENCH_FLOATS), BUFFER(RANDOM, MI * R * R), {BENCH_LOCAL, 4 * 256}},         \
       1e-4,                                                                                                         \
       1.0 * MI * R * R,                                                                                             \
       0},                                                                                                           \
      {"histogram",                                                                                                  \
       "group.cl",                                                                                                   \
       "histogram",                                                                                                  \
       "",                                                                                                           \
       1,                                                                                                            \
       {16 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(ZEROS, 4 * 256, 0, BENCH_EXACT), BUFFER(BYTES, MI * R * R), INT(64)},                                 \
       0,                                                                                                            \
       0,                                                                                                            \
       0},                                                                                                           \
      {"scan",                                                                                                       \
       "group.cl",                                                                                                   \
       "scan",                                                                                                       \
       "",                                                                                                           \
       1,                                                                                                            \
       {64 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(ZEROS, 256 * KI * R * R, 0, BENCH_FLOATS),                                                            \
        BUFFER(RANDOM, 256 * KI * R * R),                                                                            \
        {BENCH_LOCAL, 4 * 256},                                                                                      \
        {BENCH_LOCAL, 4 * 256}},                                                                                     \
       1e-4,                                                                                                         \
       0,                                                                                                            \
       0},                                                                                                           \
      {"sort-groups",                                                                                                \
       "group.cl",                                                                                                   \
       "sort_groups",                                                                                                \
       "",                                                                                                           \
       1,                                                                                                            \
       {64 * KI * R * R},                                                                                            \
       {256},                                                                                                        \
       {BUFFER(BYTES, 256 * KI * R * R, 0, BENCH_EXACT), {BENCH_LOCAL, 4 * 256}},                                    \
       0,                                                                                                            \
       0,                                                                                                            \
       0},                                                                                                           \
  }
static const bench_kernel for_software[] = KERNELS(1), for_a_gpu[] = KERNELS(7);
enum { KERNEL_COUNT = sizeof for_software / sizeof *for_software };

/* ---- By hand ------------------------------------------------------------------------------------ */

/* Arguments of a kernel: values stand in one block, buffers are bound from 1 on. */
typedef struct hand {
  bench_webgpu *webgpu;
  wgl_module *module;
  wgl_layout *layout;
  wgl_pipeline *pipeline;
  wgl_group *group;
  wgl_buffer *block, *buffers[BENCH_MAX_ARGUMENTS];
  uint32_t groups[3];
} hand;

typedef struct both {
  bench_run ours;
  hand hand;
  uint32_t launches; /* a turn */
} both;

#define CALL(h, function, ...) BENCH_WEBGPU((h)->webgpu, function, __VA_ARGS__)

static uint32_t fill_block(const bench_kernel *k, unsigned char block[64]) {
  uint32_t size = 0;
  for (uint32_t i = 0; i < BENCH_MAX_ARGUMENTS && k->arguments[i].fill != BENCH_NONE; i++) {
    const bench_argument *a = &k->arguments[i];
    if (a->fill != BENCH_INT && a->fill != BENCH_FLOAT) continue;
    memcpy(block + size,
           a->fill == BENCH_INT ? (void *)&(int32_t){(int32_t)a->value} : (void *)&(float){(float)a->value}, 4);
    size += 4;
  }
  return size;
}

static void make_buffers(hand *h, bench_run *ours) {
  wgl_slot slots[BENCH_MAX_ARGUMENTS + 1];
  wgl_binding bindings[BENCH_MAX_ARGUMENTS + 1];
  unsigned char block[64] = {0};
  uint32_t count = 0, size = fill_block(ours->k, block);
  if (size) {
    h->block = CALL(h, buffer_create, h->webgpu->device, WGL_UNIFORM | WGL_COPY_TARGET, sizeof block);
    CALL(h, queue_write, h->webgpu->queue, h->block, 0, block, sizeof block);
    slots[count] = (wgl_slot){.binding = 0, .kind = WGL_BIND_UNIFORM, .least_bytes = size};
    bindings[count++] = (wgl_binding){.binding = 0, .buffer = h->block, .size_bytes = sizeof block};
  }
  for (uint32_t i = 0, binding = 1; i < ours->argument_count; i++) {
    const bench_argument *a = &ours->k->arguments[i];
    if (!bench_is_buffer(a)) continue;
    void *bytes = malloc(a->bytes);
    if (!bytes) bench_fail("no memory for %llu bytes", (unsigned long long)a->bytes);
    bench_run_read(ours, i, bytes);
    h->buffers[i] =
        CALL(h, buffer_create, h->webgpu->device, WGL_STORAGE | WGL_COPY_TARGET | WGL_COPY_SOURCE, a->bytes);
    CALL(h, queue_write, h->webgpu->queue, h->buffers[i], 0, bytes, a->bytes);
    free(bytes);
    slots[count] = (wgl_slot){
        .binding = binding, .kind = a->compare == BENCH_INPUT ? WGL_BIND_READ : WGL_BIND_WRITE, .least_bytes = 16};
    bindings[count++] = (wgl_binding){.binding = binding++, .buffer = h->buffers[i], .size_bytes = a->bytes};
  }
  h->layout = CALL(h, layout_create, h->webgpu->device, slots, count);
  h->group = CALL(h, group_create, h->webgpu->device, h->layout, bindings, count);
}

static void open_by_hand(hand *h, bench_webgpu *webgpu, bench_run *ours) {
  const bench_kernel *k = ours->k;
  char path[512];
  *h = (hand){.webgpu = webgpu};
  (void)snprintf(path, sizeof path, "%s/wgsl/%s.wgsl", QUERN_BENCH_KERNELS, k->kernel);
  char *text = bench_read_text(path);
  h->module = CALL(h, module_create, webgpu->device, text, strlen(text));
  free(text);
  make_buffers(h, ours);
  const wgl_pipeline_request request = {
      .struct_size = sizeof request, .module = h->module, .layout = h->layout, .entry = k->kernel};
  h->pipeline = CALL(h, pipeline_create, webgpu->device, &request);
  for (uint32_t i = 0; i < 3; i++)
    h->groups[i] = i < k->dimensions ? (uint32_t)(k->global[i] / (k->local[i] ? k->local[i] : 1)) : 1;
}

static void close_by_hand(hand *h) {
  for (uint32_t i = 0; i < BENCH_MAX_ARGUMENTS; i++)
    if (h->buffers[i]) CALL(h, buffer_destroy, h->buffers[i]);
  if (h->block) CALL(h, buffer_destroy, h->block);
  CALL(h, group_release, h->group);
  CALL(h, pipeline_release, h->pipeline);
  CALL(h, layout_release, h->layout);
  CALL(h, module_release, h->module);
}

/* Until the library's work is done. */
static void finish(hand *h, wgl_event *event) {
  qn_status status = CALL(h, wait, h->webgpu->instance, h->webgpu->device, event->future, LIMIT_NS);
  if (status != QN_OK || event->state != WGL_DONE) bench_fail("the wait by hand fails");
}

static void run_by_hand(hand *h, uint32_t launches) {
  wgl_event done = {.struct_size = sizeof done};
  wgl_encoder *encoder = CALL(h, encoder_create, h->webgpu->device);
  wgl_pass *pass = CALL(h, pass_begin, encoder);
  CALL(h, pass_pipeline, pass, h->pipeline);
  CALL(h, pass_group, pass, h->group, 0, NULL);
  for (uint32_t i = 0; i < launches; i++) CALL(h, pass_dispatch, pass, h->groups[0], h->groups[1], h->groups[2]);
  CALL(h, pass_end, pass);
  CALL(h, queue_submit, h->webgpu->queue, CALL(h, encoder_finish, encoder));
  CALL(h, queue_done, h->webgpu->queue, &done);
  finish(h, &done);
}

static void read_by_hand(hand *h, uint32_t argument, void *bytes, uint64_t size) {
  wgl_event mapped = {.struct_size = sizeof mapped};
  wgl_buffer *back = CALL(h, buffer_create, h->webgpu->device, WGL_MAP_READ | WGL_COPY_TARGET, size);
  wgl_encoder *encoder = CALL(h, encoder_create, h->webgpu->device);
  CALL(h, copy, encoder, h->buffers[argument], 0, back, 0, size);
  CALL(h, queue_submit, h->webgpu->queue, CALL(h, encoder_finish, encoder));
  CALL(h, buffer_map, back, size, &mapped);
  finish(h, &mapped);
  memcpy(bytes, CALL(h, buffer_mapped, back, size), size);
  CALL(h, buffer_unmap, back);
  CALL(h, buffer_destroy, back);
}

/* ---- Turns -------------------------------------------------------------------------------------- */

static double turn(void *context) {
  both *b = context;
  uint64_t start = bench_now_ns();
  for (uint32_t i = 0; i < b->launches; i++)
    bench_check(qn_launch(b->ours.quern->queue, b->ours.quern_kernel, &b->ours.range, b->ours.arguments,
                          b->ours.argument_count, NULL),
                b->ours.k->name);
  bench_check(qn_queue_finish(b->ours.quern->queue, LIMIT_NS), "qn_queue_finish");
  return (double)(bench_now_ns() - start) / b->launches;
}

static double turn_by_hand(void *context) {
  both *b = context;
  uint64_t start = bench_now_ns();
  run_by_hand(&b->hand, b->launches);
  return (double)(bench_now_ns() - start) / b->launches;
}

static void compare(both *b) {
  for (uint32_t i = 0; i < b->ours.argument_count; i++) {
    const bench_argument *a = &b->ours.k->arguments[i];
    if (a->compare == BENCH_INPUT) continue;
    void *ours = malloc(a->bytes), *theirs = malloc(a->bytes);
    if (!ours || !theirs) bench_fail("no memory for %llu bytes", (unsigned long long)a->bytes);
    bench_run_read(&b->ours, i, ours);
    read_by_hand(&b->hand, i, theirs, a->bytes);
    bench_compare_words(b->ours.k, i, ours, theirs);
    free(ours);
    free(theirs);
  }
}

/* The speed beside the peer's. */
static double measure(const bench_kernel *k, const bench_options *options, bench_quern *quern, bench_webgpu *webgpu) {
  static both b;
  double ours, theirs;
  bench_run_open(&b.ours, k, quern, NULL);
  open_by_hand(&b.hand, webgpu, &b.ours);
  b.launches = 1;
  (void)turn(&b);
  (void)turn_by_hand(&b);
  compare(&b);
  double fits = TURN_NS / turn_by_hand(&b);
  const double most = (double)MOST_LAUNCHES;
  b.launches = fits > most ? (uint32_t)MOST_LAUNCHES : fits < 1 ? 1 : (uint32_t)fits;
  bench_alternate(turn, turn_by_hand, &b, options->turns ? options->turns : TURNS, &ours, &theirs);
  bench_report_speed(k->name, ours, theirs, 0);
  if (k->moved_bytes > 0) printf("%-26s       %8.1f GB/s\n", "", k->moved_bytes / ours);
  if (k->operations > 0) printf("%-26s       %8.1f GFLOP/s\n", "", k->operations / ours);
  close_by_hand(&b.hand);
  bench_run_close(&b.ours);
  return theirs / ours;
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "our WGSL of kernels beside WGSL written by hand");
  static bench_quern quern;
  static bench_webgpu webgpu;
  double logs = 0, worst = 0;
  uint32_t measured = 0;
  const char *worst_name = "";
  if (!bench_webgpu_open(&webgpu)) {
    printf("no WebGPU library, or no device of it: QUERN_WEBGPU_LIBRARY names one (ci/webgpu.sh brings it)\n");
    return BENCH_NO_PEER;
  }
  bench_quern_open_on(&quern, "webgpu:0");
  printf("quern: %s\npeer:  by hand on %s\n", quern.name, webgpu.name);
  for (size_t i = 0; i < KERNEL_COUNT; i++) {
    const bench_kernel *k = webgpu.is_software ? &for_software[i] : &for_a_gpu[i];
    if (!bench_wanted(&options, k->name)) continue;
    double speed = measure(k, &options, &quern, &webgpu);
    logs += log(speed);
    if (measured++ == 0 || speed < worst) worst = speed, worst_name = k->name;
  }
  if (measured > 0) {
    double mean = exp(logs / measured);
    printf("worst: %s, %.2f\n", worst_name, worst);
    bench_report_mean("webgpu/kernels", "geometric mean of speeds beside WGSL by hand:", mean, BUDGET);
  }
  bench_quern_close(&quern);
  return bench_exit_status();
}
