/* suite_cross_queue.c - several queues: the runtime orders what touches one buffer, the caller orders the rest by points. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

enum { QUEUES = 6 };

static void make_queues(cts *c, qn_queue *queues) {
  for (int i = 0; i < QUEUES; i++) queues[i] = cts_queue(c);
}

static void finish_all(const qn_queue *queues) {
  for (int i = 0; i < QUEUES; i++) cts_finish(queues[i]);
}

static void consumers_see_the_producer(cts *c) {
  enum { SIZE = 200000 };
  qn_queue queues[QUEUES];
  unsigned char *out = cts_alloc(c, QUEUES * SIZE);
  make_queues(c, queues);
  qn_buffer buffer = cts_buffer(c, SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  for (int round = 0; round < 40; round++) {
    unsigned char byte = (unsigned char)(round + 1);
    cts_fill(queues[round % QUEUES], buffer, byte);
    for (int i = 0; i < QUEUES; i++) CTS_OK(qn_read(queues[i], &view, out + i * SIZE, NULL));
    cts_fill(queues[(round + 3) % QUEUES], buffer, 255); /* after all readers */
    finish_all(queues);
    CTS_FILLED("what readers on other queues see of a producer", out, byte, QUEUES * SIZE);
  }
}

static void writers_wait_for_slow_readers(cts *c) {
  enum { SIZE = 4 << 20 };
  qn_queue slow = cts_queue(c), fast = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE), copy = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  const qn_view from = cts_view(buffer, 0, QN_WHOLE), to = cts_view(copy, 0, QN_WHOLE);
  for (int round = 1; round <= 8; round++) {
    cts_fill(fast, buffer, (unsigned char)round);
    cts_busy(c, slow, 10 * CTS_MILLISECOND);
    CTS_OK(qn_copy(slow, &to, &from, NULL));
    cts_fill(fast, buffer, 0xff); /* must wait for the copy on the slow queue */
    cts_finish(fast);
    cts_get(slow, copy, out, SIZE);
    CTS_FILLED("a slow reader's copy", out, (unsigned char)round, SIZE);
  }
}

static void readers_wait_for_slow_writers(cts *c) {
  enum { SIZE = 1 << 20 };
  qn_queue slow = cts_queue(c), fast = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  for (int round = 1; round <= 8; round++) {
    cts_busy(c, slow, 10 * CTS_MILLISECOND);
    cts_fill(slow, buffer, (unsigned char)round);
    cts_get(fast, buffer, out, SIZE);
    CTS_FILLED("what a slow writer wrote, read on another queue", out, (unsigned char)round, SIZE);
  }
}

static void kernels_on_other_queues(cts *c) {
  enum { N = 2000, BYTES = N * sizeof(uint32_t), ROUNDS = 50 };
  qn_queue queues[QUEUES];
  uint32_t out[N];
  make_queues(c, queues);
  qn_kernel add = cts_kernel(c,
                             cts_program(c,
                                         "kernel void add(global uint *to, global const uint *from) { size_t i = "
                                         "get_global_id(0); to[i] += from[i]; }"),
                             "add");
  qn_buffer sums = cts_buffer(c, BYTES), ones = cts_buffer(c, BYTES);
  cts_fill(queues[0], sums, 0);
  for (uint32_t i = 0; i < N; i++) out[i] = i;
  cts_put(queues[1], ones, out, BYTES);
  for (int i = 0; i < ROUNDS; i++)
    CTS_OK(qn_launch(queues[i % QUEUES], add, QN_RANGE_1D(N), QN_ARGS(sums, ones), NULL));
  cts_get(queues[QUEUES - 1], sums, out, BYTES);
  for (uint32_t i = 0; i < N; i++) CTS_SAME("a sum that queues added to in turn", out[i], i * ROUNDS);
}

/* One makes two, two are joined. */
static void diamonds(cts *c) {
  enum { SIZE = 30000 };
  qn_queue queues[QUEUES];
  qn_buffer top = cts_buffer(c, SIZE), left = cts_buffer(c, SIZE), right = cts_buffer(c, SIZE),
            both = cts_buffer(c, 2 * SIZE);
  unsigned char *out = cts_alloc(c, 2 * SIZE);
  make_queues(c, queues);
  const qn_view t = cts_view(top, 0, QN_WHOLE), l = cts_view(left, 0, QN_WHOLE), r = cts_view(right, 0, QN_WHOLE);
  const qn_view low = cts_view(both, 0, SIZE), high = cts_view(both, SIZE, SIZE), all = cts_view(both, 0, QN_WHOLE);
  for (int round = 0; round < 60; round++) {
    cts_fill(queues[0], top, (unsigned char)round);
    CTS_OK(qn_copy(queues[1], &l, &t, NULL));
    CTS_OK(qn_copy(queues[2], &r, &t, NULL));
    CTS_OK(qn_copy(queues[3], &low, &l, NULL));
    CTS_OK(qn_copy(queues[4], &high, &r, NULL));
    cts_fill(queues[5], left, 0xee);
    CTS_OK(qn_read(queues[0], &all, out, NULL));
    cts_finish(queues[0]);
    CTS_FILLED("the end of a diamond over six queues", out, (unsigned char)round, 2 * SIZE);
  }
}

/* ---- Against a serial run -------------------------------------------------------------------------- */

enum { BUFFERS = 6, GRAPH_BYTES = 4096 };

typedef struct graph {
  qn_queue queues[QUEUES];
  qn_buffer buffers[BUFFERS];
  qn_kernel kernel; /* NULL: the device has none */
  unsigned char model[BUFFERS][GRAPH_BYTES];
} graph;

static void graph_step(cts *c, graph *g) {
  qn_queue queue = g->queues[cts_random(c, QUEUES)];
  uint64_t a = cts_random(c, BUFFERS), b = cts_random(c, BUFFERS), from = cts_random(c, GRAPH_BYTES),
           to = cts_random(c, GRAPH_BYTES);
  uint64_t size = cts_random(c, GRAPH_BYTES - (from > to ? from : to) + 1);
  unsigned char byte = (unsigned char)cts_random(c, 256);
  const qn_view va = cts_view(g->buffers[a], from, size), vb = cts_view(g->buffers[b], to, size);
  uint64_t what = cts_random(c, 3);
  if (what == 0 && g->kernel && a != b) {
    uint32_t count = (uint32_t)cts_random(c, GRAPH_BYTES);
    CTS_OK(qn_launch(queue, g->kernel, QN_RANGE_1D(count), QN_ARGS(g->buffers[b], g->buffers[a], byte), NULL));
    for (uint32_t i = 0; i < count; i++) g->model[b][i] = (unsigned char)(g->model[b][i] * 3 + g->model[a][i] + byte);
  } else if (what == 1 && a != b) {
    CTS_OK(qn_copy(queue, &vb, &va, NULL));
    memcpy(g->model[b] + to, g->model[a] + from, (size_t)size);
  } else {
    CTS_OK(qn_fill(queue, &va, &byte, 1, NULL));
    memset(g->model[a] + from, byte, (size_t)size);
  }
}

static void run_graph(cts *c, graph *g, uint64_t steps, bool queues_end) {
  unsigned char *out = cts_alloc(c, GRAPH_BYTES);
  make_queues(c, g->queues);
  memset(g->model, 0, sizeof g->model);
  for (int i = 0; i < BUFFERS; i++) {
    g->buffers[i] = cts_buffer(c, GRAPH_BYTES);
    cts_fill(g->queues[0], g->buffers[i], 0);
  }
  for (uint64_t step = 0; step < steps; step++) {
    graph_step(c, g);
    if (!queues_end || cts_random(c, 20) != 0) continue;
    qn_queue *queue = &g->queues[cts_random(c, QUEUES)]; /* it ends with its work in flight; another takes its place */
    cts_drop(c, *queue);
    *queue = cts_queue(c);
  }
  for (int i = 0; i < BUFFERS; i++) {
    cts_get(g->queues[i % QUEUES], g->buffers[i], out, GRAPH_BYTES);
    CTS_BYTES("a buffer after a random graph on six queues, beside a serial run", out, g->model[i], GRAPH_BYTES);
    cts_drop(c, g->buffers[i]);
  }
  for (int i = 0; i < QUEUES; i++) cts_drop(c, g->queues[i]);
}

static void random_graphs_of(cts *c, bool with_kernels, bool queues_end) {
  static const char source[] =
      "kernel void mix(global uchar *to, global const uchar *from, uchar n) {\n"
      "  size_t i = get_global_id(0);\n"
      "  to[i] = (uchar)(to[i] * 3 + from[i] + n);\n"
      "}\n";
  graph *g = cts_alloc(c, sizeof *g);
  if (with_kernels) g->kernel = cts_kernel(c, cts_program(c, source), "mix");
  uint64_t graphs = cts_count(c, c->info.type == QN_DEVICE_CHECK && with_kernels ? 2 : 8, 200);
  for (uint64_t i = 0; i < graphs; i++) run_graph(c, g, 300, queues_end);
}

static void random_graphs(cts *c) { random_graphs_of(c, false, false); }
static void random_graphs_with_kernels(cts *c) { random_graphs_of(c, true, false); }
static void random_graphs_with_ends(cts *c) { random_graphs_of(c, false, true); }

/* ---- Explicit waits -------------------------------------------------------------------------------- */

static void ping_pong(cts *c) {
  enum { SIZE = 100000 };
  uint64_t rounds = cts_count(c, 300, 20000);
  qn_queue one = cts_queue(c), two = cts_queue(c);
  qn_buffer buffer = cts_untracked(c, SIZE), copy = cts_untracked(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  const qn_view from = cts_view(buffer, 0, QN_WHOLE), to = cts_view(copy, 0, QN_WHOLE);
  qn_point copied = {0, 0};
  for (uint64_t i = 0; i < rounds; i++) {
    CTS_OK(qn_queue_wait(one, &copied, 1));
    qn_point filled = cts_fill(one, buffer, (unsigned char)i);
    CTS_OK(qn_queue_wait(two, &filled, 1));
    CTS_OK(qn_copy(two, &to, &from, &copied));
  }
  cts_get(two, copy, out, SIZE);
  CTS_FILLED("an untracked buffer that two queues used in turn", out, (unsigned char)(rounds - 1), SIZE);
}

static void waits_for_a_slow_queue(cts *c) {
  enum { SIZE = 1 << 20 };
  qn_queue slow = cts_queue(c), fast = cts_queue(c);
  qn_buffer buffer = cts_untracked(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  for (int round = 1; round <= 10; round++) {
    cts_busy(c, slow, 10 * CTS_MILLISECOND);
    qn_point written = cts_fill(slow, buffer, (unsigned char)round);
    CTS_OK(qn_queue_wait(fast, &written, 1));
    cts_get(fast, buffer, out, SIZE);
    CTS_FILLED("an untracked buffer, after a wait for its writer's point", out, (unsigned char)round, SIZE);
  }
}

static void many_points_at_once(cts *c) {
  enum { COUNT = 40, EACH = 4096 };
  qn_point points[COUNT];
  qn_queue last = cts_queue(c);
  qn_buffer buffer = cts_untracked(c, COUNT * EACH);
  unsigned char *out = cts_alloc(c, COUNT * EACH);
  for (uint64_t i = 0; i < COUNT; i++) {
    qn_queue queue = cts_queue(c);
    const qn_view part = cts_view(buffer, i * EACH, EACH);
    if (i % 10 == 0) cts_busy(c, queue, 5 * CTS_MILLISECOND);
    CTS_OK(qn_fill(queue, &part, "p", 1, &points[i]));
  }
  CTS_OK(qn_queue_wait(last, points, COUNT));
  cts_get(last, buffer, out, COUNT * EACH);
  CTS_FILLED("what forty queues wrote, after one wait for their points", out, 'p', COUNT * EACH);
}

static void waits_outlive_their_queue(cts *c) {
  enum { SIZE = 1 << 20 };
  qn_queue waiting = cts_queue(c);
  qn_buffer buffer = cts_untracked(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  for (int round = 1; round <= 20; round++) {
    qn_queue source = cts_queue(c);
    if (round % 2) cts_busy(c, source, 5 * CTS_MILLISECOND);
    qn_point written = cts_fill(source, buffer, (unsigned char)round);
    CTS_OK(qn_queue_wait(waiting, &written, 1));
    cts_drop(c, source); /* its work may still be in flight */
    cts_get(waiting, buffer, out, SIZE);
    CTS_FILLED("what a queue wrote that was released", out, (unsigned char)round, SIZE);
    CTS_OK(qn_queue_wait(waiting, &written, 1)); /* complete for ever */
  }
}

static void points_of_other_openings(cts *c) {
  qn_device other = cts_device(c);
  qn_queue here = cts_queue(c), there = cts_queue_on(c, other);
  qn_buffer buffer = cts_buffer_on(c, other, 4 << 20);
  for (int i = 0; i < 10; i++) {
    qn_point last = {0, 0};
    for (int n = 0; n < 4; n++) last = cts_fill(there, buffer, (unsigned char)n);
    CTS_OK(qn_queue_wait(here, &last, 1));
    CTS_OK(qn_point_wait(&last, QN_POLL)); /* the call waited on the host */
  }
  for (uint32_t i = 0; i < c->other_count; i++) {
    qn_point last = cts_fill(cts_queue_on(c, c->others[i]), cts_buffer_on(c, c->others[i], 4096), 1);
    CTS_OK(qn_queue_wait(here, &last, 1));
    CTS_OK(qn_point_wait(&last, QN_POLL));
  }
}

static void waits_in_a_ring(cts *c) {
  qn_queue queues[QUEUES];
  qn_buffer buffers[QUEUES];
  qn_point points[QUEUES];
  make_queues(c, queues);
  for (int i = 0; i < QUEUES; i++) buffers[i] = cts_buffer(c, 4096);
  for (uint64_t round = 0; round < cts_count(c, 200, 5000); round++) {
    for (int i = 0; i < QUEUES; i++) points[i] = cts_fill(queues[i], buffers[i], (unsigned char)round);
    for (int i = 0; i < QUEUES; i++) CTS_OK(qn_queue_wait(queues[i], &points[(i + 1) % QUEUES], 1));
  }
  finish_all(queues);
}

#define TRACKED                                                                                                       \
  "docs/runtime.md: 'a producer on one queue and consumers on others need no wait in the caller's code'; adapter.h: " \
  "QN_COMMAND_WAIT: 'for a value of another queue of this adapter's device'"
#define WAITS \
  "quern.h: 'Makes later work of `queue` wait, on the device, for other queues' points.'; adapter.h: QN_COMMAND_WAIT"

static const cts_test tests[] = {
    {"consumers_on_other_queues_see_the_producer", consumers_see_the_producer, 0, 0, TRACKED},
    {"writers_wait_for_slow_readers", writers_wait_for_slow_readers, 0, 0, TRACKED},
    {"readers_wait_for_slow_writers", readers_wait_for_slow_writers, 0, 0, TRACKED},
    {"kernels_on_other_queues_take_turns", kernels_on_other_queues, QN_FEATURE_KERNELS, 0, TRACKED},
    {"diamonds_over_six_queues", diamonds, 0, 0, TRACKED},
    {"random_graphs_run_as_in_a_serial_run", random_graphs, 0, 0, TRACKED},
    {"random_graphs_with_kernels_run_as_in_a_serial_run", random_graphs_with_kernels, QN_FEATURE_KERNELS, 0, TRACKED},
    {"random_graphs_whose_queues_end_run_as_in_a_serial_run", random_graphs_with_ends, 0, 0, TRACKED},
    {"two_queues_take_turns_by_points", ping_pong, 0, 0, WAITS},
    {"a_wait_for_a_slow_queue_holds_back_what_follows", waits_for_a_slow_queue, 0, 0, WAITS},
    {"many_points_are_waited_for_at_once", many_points_at_once, 0, 0, WAITS},
    {"a_wait_outlives_the_queue_that_it_is_for", waits_outlive_their_queue, 0, 0,
     "adapter.h: queue_destroy: 'Only when everything on it is complete, and every wait for it that another queue has "
     "recorded.'"},
    {"points_of_other_devices_are_waited_for_on_the_host", points_of_other_openings, 0, 0,
     "docs/runtime.md: 'For a point of another *device*, `qn_queue_wait` waits on the host'"},
    {"waits_in_a_ring_come_to_an_end", waits_in_a_ring, 0, 0, WAITS},
};

CTS_SUITE(cross_queue, "several queues: order by buffers and by points");
