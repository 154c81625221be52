/* bench_webgpu - what a launch over the webgpu adapter costs, from qn_launch on, beside the same library called by hand in the same
 * process, on the same device. By hand is the best way that we know: launches of a batch are dispatches of one pass, their arguments are
 * written at once and given by dynamic offsets; a wait is wgpuInstanceWaitAny. The calls go through the adapter's shim, which
 * adds a call through a pointer. QUERN_WEBGPU_LIBRARY names the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "webgpu.h"

#define ROUNDS 512
enum { TURNS = 41, STRIDE = 256, BYTES = 4096 };
#define BUDGET 1.15
#define LIMIT_NS UINT64_C(10000000000)

/* Both do as good as nothing: a value that changes, and two buffers. */
static const char kernel_text[] =
    "kernel void k(global uint *a, global const uint *b, uint n) { if (n == 0xffffffffu) a[0] = b[0]; }\n";
static const char wgsl_text[] =
    "struct Arguments { a_at: u32, b_at: u32, n: u32, unused: u32 }\n"
    "@group(0) @binding(0) var<uniform> arguments: Arguments;\n"
    "@group(0) @binding(1) var<storage, read_write> a: array<u32>;\n"
    "@group(0) @binding(2) var<storage, read> b: array<u32>;\n"
    "@compute @workgroup_size(1) fn k() {\n"
    "  if (arguments.n == 0xffffffffu) { a[arguments.a_at / 4u] = b[arguments.b_at / 4u]; }\n"
    "}\n";

typedef struct hand {
  bench_webgpu webgpu;
  wgl_buffer *blocks, *a, *b;
  wgl_pipeline *pipeline;
  wgl_group *group;
  unsigned char *block_bytes;
} hand;

typedef struct both {
  hand hand;
  qn_queue queue;
  qn_kernel kernel;
  qn_buffer a, b;
  uint32_t n;
} both;

#define CALL(h, function, ...) BENCH_WEBGPU(&(h)->webgpu, function, __VA_ARGS__)

/* ---- By hand ------------------------------------------------------------------------------------ */

static void make_by_hand(hand *h) {
  static const wgl_slot slots[] = {{.binding = 0, .kind = WGL_BIND_UNIFORM, .least_bytes = 16, .has_offset = 1},
                                   {.binding = 1, .kind = WGL_BIND_WRITE, .least_bytes = 4},
                                   {.binding = 2, .kind = WGL_BIND_READ, .least_bytes = 4}};
  wgl_module *module = CALL(h, module_create, h->webgpu.device, wgsl_text, sizeof wgsl_text - 1);
  wgl_layout *layout = CALL(h, layout_create, h->webgpu.device, slots, 3);
  const wgl_pipeline_request request = {
      .struct_size = sizeof request, .module = module, .layout = layout, .entry = "k"};
  h->pipeline = CALL(h, pipeline_create, h->webgpu.device, &request);
  h->blocks = CALL(h, buffer_create, h->webgpu.device, WGL_UNIFORM | WGL_COPY_TARGET, ROUNDS * STRIDE);
  h->a = CALL(h, buffer_create, h->webgpu.device, WGL_STORAGE | WGL_COPY_TARGET, BYTES);
  h->b = CALL(h, buffer_create, h->webgpu.device, WGL_STORAGE | WGL_COPY_TARGET, BYTES);
  const wgl_binding bindings[] = {{.binding = 0, .buffer = h->blocks, .size_bytes = 16},
                                  {.binding = 1, .buffer = h->a, .size_bytes = BYTES},
                                  {.binding = 2, .buffer = h->b, .size_bytes = BYTES}};
  h->group = CALL(h, group_create, h->webgpu.device, layout, bindings, 3);
  h->block_bytes = calloc(ROUNDS, STRIDE);
  if (!h->block_bytes) bench_fail("no memory");
}

static void run_by_hand(both *t, uint32_t count) {
  hand *h = &t->hand;
  wgl_event done = {.struct_size = sizeof done};
  for (uint32_t i = 0; i < count; i++) memcpy(h->block_bytes + (size_t)i * STRIDE + 8, &(uint32_t){t->n++}, 4);
  CALL(h, queue_write, h->webgpu.queue, h->blocks, 0, h->block_bytes, (uint64_t)count * STRIDE);
  wgl_encoder *encoder = CALL(h, encoder_create, h->webgpu.device);
  wgl_pass *pass = CALL(h, pass_begin, encoder);
  CALL(h, pass_pipeline, pass, h->pipeline);
  for (uint32_t i = 0; i < count; i++) {
    CALL(h, pass_group, pass, h->group, 1, &(uint32_t){i * STRIDE});
    CALL(h, pass_dispatch, pass, 1, 1, 1);
  }
  CALL(h, pass_end, pass);
  CALL(h, queue_submit, h->webgpu.queue, CALL(h, encoder_finish, encoder));
  CALL(h, queue_done, h->webgpu.queue, &done);
  if (CALL(h, wait, h->webgpu.instance, h->webgpu.device, done.future, LIMIT_NS) != QN_OK)
    bench_fail("the wait by hand fails");
}

/* ---- Turns -------------------------------------------------------------------------------------- */

static void launch(both *t) {
  bench_check(qn_launch(t->queue, t->kernel, QN_RANGE_1D(1), QN_ARGS(t->a, t->b, t->n++), NULL), "qn_launch");
}

static double batch(void *context) {
  both *t = context;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) launch(t);
  bench_check(qn_queue_finish(t->queue, LIMIT_NS), "qn_queue_finish");
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static double batch_by_hand(void *context) {
  uint64_t start = bench_now_ns();
  run_by_hand(context, ROUNDS);
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static double waited(void *context) {
  both *t = context;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    launch(t);
    bench_check(qn_queue_finish(t->queue, LIMIT_NS), "qn_queue_finish");
  }
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static double waited_by_hand(void *context) {
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) run_by_hand(context, 1);
  return (double)(bench_now_ns() - start) / ROUNDS;
}

/* ---- Quern -------------------------------------------------------------------------------------- */

static qn_buffer buffer_of(qn_device device) {
  qn_buffer buffer = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = BYTES;
  bench_check(qn_buffer_create(device, &options, &buffer), "qn_buffer_create");
  return buffer;
}

static bool open_quern(both *t) {
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  qn_program program = NULL;
  qn_program_options options = QN_INIT(qn_program_options);
  bench_check(qn_runtime_open(NULL, &runtime), "qn_runtime_open");
  if (qn_device_open(runtime, "webgpu:0", &device) < 0) return false;
  options.source = kernel_text;
  bench_check(qn_program_build(device, &options, &program), "qn_program_build");
  bench_check(qn_kernel_get(program, "k", &t->kernel), "qn_kernel_get");
  bench_check(qn_queue_create(device, NULL, &t->queue), "qn_queue_create");
  t->a = buffer_of(device);
  t->b = buffer_of(device);
  return true;
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    bench_turn ours, by_hand;
  } sides[] = {{"webgpu/batch", batch, batch_by_hand}, {"webgpu/wait", waited, waited_by_hand}};
  bench_options options = bench_read_options(count, arguments, "what a launch costs over the webgpu adapter");
  static both t;
  if (!bench_webgpu_open(&t.hand.webgpu) || !open_quern(&t)) {
    printf("no WebGPU library, or no device of it: QUERN_WEBGPU_LIBRARY names one (ci/webgpu.sh brings it)\n");
    return BENCH_NO_PEER;
  }
  make_by_hand(&t.hand);
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
    double ours, theirs;
    if (!bench_wanted(&options, sides[i].name)) continue;
    bench_alternate(sides[i].ours, sides[i].by_hand, &t, options.turns ? options.turns : TURNS, &ours, &theirs);
    bench_report_cost(sides[i].name, ours, theirs, BUDGET);
  }
  return bench_exit_status();
}
