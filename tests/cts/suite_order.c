/* suite_order.c - one queue runs its commands one after the other, as given. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

/* Each read is given between two fills and must see the first of them. */
static void reads_between_fills(cts *c) {
  enum { SIZE = 3000 };
  uint64_t steps = cts_count(c, 400, 20000);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, steps * SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  for (uint64_t i = 0; i < steps; i++) {
    cts_fill(queue, buffer, (unsigned char)i);
    CTS_OK(qn_read(queue, &view, out + i * SIZE, NULL));
  }
  cts_finish(queue);
  for (uint64_t i = 0; i < steps; i++) {
    char what[96];
    snprintf(what, sizeof what, "read %llu, given between two fills", (unsigned long long)i);
    CTS_FILLED(what, out + i * SIZE, (unsigned char)i, SIZE);
  }
}

/* A short command behind long ones. */
static void short_after_long(cts *c) {
  enum { LARGE = 8 << 20, SMALL = 64 };
  qn_queue queue = cts_queue(c);
  qn_buffer large = cts_buffer(c, LARGE), small = cts_buffer(c, SMALL);
  const qn_view end = cts_view(large, LARGE - SMALL, SMALL), all = cts_view(small, 0, QN_WHOLE);
  unsigned char out[SMALL];
  for (int i = 1; i <= 20; i++) {
    cts_fill(queue, large, (unsigned char)i);
    CTS_OK(qn_copy(queue, &all, &end, NULL)); /* must not go before the fill's end */
    CTS_OK(qn_read(queue, &all, out, NULL));
    cts_finish(queue);
    CTS_FILLED("a small copy behind a large fill", out, (unsigned char)i, SMALL);
  }
}

static void mixed_commands(cts *c) {
  enum { N = 256, BYTES = N * sizeof(uint32_t) };
  static const char source[] =
      "kernel void step(global uint *data, uint n) { size_t i = get_global_id(0); data[i] = data[i] * 3u + n; }\n";
  uint32_t model[N], out[N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "step");
  qn_buffer a = cts_buffer(c, BYTES), b = cts_buffer(c, BYTES);
  const qn_view view_a = cts_view(a, 0, QN_WHOLE), view_b = cts_view(b, 0, QN_WHOLE);
  for (uint32_t i = 0; i < N; i++) model[i] = i;
  cts_put(queue, a, model, BYTES);
  for (uint32_t round = 0; round < 60; round++) {
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(a, round), NULL));
    CTS_OK(qn_copy(queue, &view_b, &view_a, NULL));
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(b, 7u), NULL));
    cts_fill(queue, a, 0x11);
    CTS_OK(qn_copy(queue, &view_a, &view_b, NULL));
    for (uint32_t i = 0; i < N; i++) model[i] = (model[i] * 3u + round) * 3u + 7u;
  }
  cts_get(queue, a, out, BYTES);
  CTS_BYTES("launches, copies and fills in turn", out, model, BYTES);
}

static void launches_in_order(cts *c) {
  enum { N = 64, BYTES = N * sizeof(uint32_t) };
  static const char source[] =
      "kernel void add(global uint *data, uint n) { data[get_global_id(0)] += n; }\n"
      "kernel void mul(global uint *data, uint n) { data[get_global_id(0)] *= n; }\n";
  uint32_t launches = (uint32_t)cts_count(c, 1000, 100000), out[N];
  qn_queue queue = cts_queue(c);
  qn_program program = cts_program(c, source);
  qn_kernel add = cts_kernel(c, program, "add"), mul = cts_kernel(c, program, "mul");
  qn_buffer buffer = cts_buffer(c, BYTES);
  uint32_t model = 0;
  cts_fill(queue, buffer, 0);
  for (uint32_t i = 0; i < launches; i++) {
    CTS_OK(qn_launch(queue, i % 2 ? mul : add, QN_RANGE_1D(N), QN_ARGS(buffer, i | 1), NULL));
    model = i % 2 ? model * (i | 1) : model + (i | 1);
  }
  cts_get(queue, buffer, out, BYTES);
  for (int i = 0; i < N; i++) CTS_SAME("a number after launches that add and multiply in turn", out[i], model);
}

static void untracked_in_order(cts *c) {
  enum { SIZE = 50000 };
  qn_queue queue = cts_queue(c);
  qn_buffer a = cts_untracked(c, SIZE), b = cts_untracked(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  const qn_view from = cts_view(a, 0, QN_WHOLE), to = cts_view(b, 0, QN_WHOLE);
  for (int i = 0; i < 100; i++) {
    cts_fill(queue, a, (unsigned char)i);
    CTS_OK(qn_copy(queue, &to, &from, NULL));
  }
  cts_fill(queue, a, 255);
  cts_get(queue, b, out, SIZE);
  CTS_FILLED("the target of the last copy", out, 99, SIZE);
}

/* ---- Against a serial run -------------------------------------------------------------------------- */

enum { BUFFERS = 4, SIZE = 2048 };

typedef struct model {
  unsigned char bytes[BUFFERS][SIZE];
} model;

/* One random fill, copy or write, to the device and to the model. `host` is fresh memory for a write. */
static void random_step(cts *c, qn_queue queue, qn_buffer *buffers, model *m, unsigned char *host) {
  uint64_t a = cts_random(c, BUFFERS), b = cts_random(c, BUFFERS), from = cts_random(c, SIZE), to = cts_random(c, SIZE);
  uint64_t size = cts_random(c, SIZE - (from > to ? from : to) + 1);
  const qn_view va = cts_view(buffers[a], from, size), vb = cts_view(buffers[b], to, size);
  unsigned char byte = (unsigned char)cts_random(c, 256);
  switch (a == b ? 0 : cts_random(c, 3)) {
    case 0:
      CTS_OK(qn_fill(queue, &va, &byte, 1, NULL));
      memset(m->bytes[a] + from, byte, (size_t)size);
      break;
    case 1:
      CTS_OK(qn_copy(queue, &vb, &va, NULL));
      memcpy(m->bytes[b] + to, m->bytes[a] + from, (size_t)size);
      break;
    default:
      cts_random_bytes(&c->random, host, size);
      CTS_OK(qn_write(queue, &vb, host, NULL));
      memcpy(m->bytes[b] + to, host, (size_t)size);
      break;
  }
}

static void random_commands(cts *c) {
  uint64_t steps = cts_count(c, 2000, 100000);
  qn_queue queue = cts_queue(c);
  qn_buffer buffers[BUFFERS];
  model *m = cts_alloc(c, sizeof *m);
  unsigned char *host = cts_alloc(c, 64 * SIZE), *out = cts_alloc(c, SIZE);
  for (int i = 0; i < BUFFERS; i++) {
    buffers[i] = cts_buffer(c, SIZE);
    cts_fill(queue, buffers[i], 0);
  }
  for (uint64_t i = 0; i < steps; i++) {
    random_step(c, queue, buffers, m, host + i % 64 * SIZE);
    if (i % 64 == 63) cts_finish(queue); /* the host memory is used again */
  }
  for (int i = 0; i < BUFFERS; i++) {
    cts_get(queue, buffers[i], out, SIZE);
    CTS_BYTES("a buffer after random commands, beside a serial run", out, m->bytes[i], SIZE);
  }
}

#define IN_ORDER \
  "quern.h: 'An in-order stream.'; adapter.h: queue_submit 'Records and starts commands, in order, asynchronously'"

static const cts_test tests[] = {
    {"reads_see_the_fill_before_them", reads_between_fills, 0, 0, IN_ORDER},
    {"a_short_command_waits_for_a_long_one", short_after_long, 0, 0, IN_ORDER},
    {"launches_copies_and_fills_take_turns", mixed_commands, QN_FEATURE_KERNELS, 0, IN_ORDER},
    {"launches_run_in_order", launches_in_order, QN_FEATURE_KERNELS, 0, IN_ORDER},
    {"untracked_buffers_are_in_order_on_one_queue", untracked_in_order, 0, 0,
     "quern.h: QN_BUFFER_UNTRACKED: 'the caller orders its uses between queues', not within one"},
    {"random_commands_run_as_in_a_serial_run", random_commands, 0, 0, IN_ORDER},
};

CTS_SUITE(order, "one queue runs its commands one after the other");
