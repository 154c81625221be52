/* suite_pool.c - memory that is used again. The founding report: threads make queues, use blocks, and end; stream, list and
 * arrays die in one collection, in any order; the pool then brings the dead stream back as the owner of a free block. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

/* ---- Queues that end with their thread ------------------------------------------------------------- */

enum { BLOCKS = 6 };

typedef struct round_state {
  uint64_t round;
  uint64_t seeds[16];
} round_state;

/* What one thread does: a queue of its own, blocks that are written, copied and read, and all of it released in any order,
 * some before the work is complete. */
static void live_and_end(cts *c, uint32_t index, void *user) {
  static const uint64_t sizes[] = {256, 4096, 5000, 65536, 300000};
  round_state *s = user;
  uint64_t random = s->seeds[index];
  const void *handles[2 * BLOCKS + 1];
  uint32_t count = 0;
  qn_queue queue = cts_queue(c);
  handles[count++] = queue;
  for (int i = 0; i < BLOCKS; i++) {
    uint64_t size = sizes[cts_random_of(&random, 5)];
    unsigned char byte = (unsigned char)cts_random_of(&random, 256), out[256];
    qn_buffer a = cts_buffer(c, size), b = cts_buffer(c, size);
    const qn_view from = cts_view(a, 0, QN_WHOLE), to = cts_view(b, 0, QN_WHOLE);
    const qn_view end = cts_view(b, size - sizeof out, sizeof out);
    cts_fill(queue, a, byte);
    CTS_OK(qn_copy(queue, &to, &from, NULL));
    if (i % 2) { /* the others are still in flight when everything is released */
      CTS_OK(qn_read(queue, &end, out, NULL));
      cts_finish(queue);
      CTS_FILLED("a block that ended queues may have used before", out, byte, sizeof out);
    }
    handles[count++] = a;
    handles[count++] = b;
  }
  for (uint32_t i = count; i > 1; i--) {
    uint32_t j = (uint32_t)cts_random_of(&random, i);
    const void *handle = handles[j];
    handles[j] = handles[i - 1];
    handles[i - 1] = handle;
  }
  for (uint32_t i = 0; i < count; i++) cts_drop(c, handles[i]);
}

static void queues_end_with_their_thread(cts *c) {
  round_state s = {0};
  uint64_t rounds = cts_count(c, 40, 2500);
  for (s.round = 0; s.round < rounds; s.round++) {
    for (int i = 0; i < 16; i++) s.seeds[i] = cts_random(c, UINT64_MAX);
    cts_threads(c, 4, live_and_end, &s);
  }
}

/* ---- Reuse ----------------------------------------------------------------------------------------- */

/* A block released with work in flight must not be written by its next owner before that work is over: each read sees what
 * its own fill wrote. */
static void reuse_waits_for_work(cts *c) {
  enum { SIZE = 500000, QUEUES = 4 };
  qn_queue queues[QUEUES];
  unsigned char *out = cts_alloc(c, QUEUES * SIZE);
  for (int i = 0; i < QUEUES; i++) queues[i] = cts_queue(c);
  uint64_t rounds = cts_count(c, 100, 5000);
  for (uint64_t round = 0; round < rounds; round++) {
    for (int i = 0; i < QUEUES; i++) {
      qn_buffer buffer = cts_buffer(c, SIZE);
      const qn_view view = cts_view(buffer, 0, QN_WHOLE);
      cts_fill(queues[i], buffer, (unsigned char)(round + i));
      CTS_OK(qn_read(queues[i], &view, out + i * SIZE, NULL));
      cts_drop(c, buffer); /* the next one may get its block */
    }
    for (int i = 0; i < QUEUES; i++) {
      cts_finish(queues[i]);
      CTS_FILLED("a read of a block that was released in flight", out + i * SIZE, (unsigned char)(round + i), SIZE);
    }
  }
}

static void reuse_on_one_queue(cts *c) {
  enum { SIZE = 4096 };
  qn_queue queue = cts_queue(c);
  uint64_t rounds = cts_count(c, 2000, 200000);
  unsigned char *out = cts_alloc(c, 100 * SIZE);
  for (uint64_t i = 0; i < rounds; i++) {
    qn_buffer buffer = cts_buffer(c, SIZE);
    const qn_view view = cts_view(buffer, 0, QN_WHOLE);
    cts_fill(queue, buffer, (unsigned char)i);
    CTS_OK(qn_read(queue, &view, out + i % 100 * SIZE, NULL));
    cts_drop(c, buffer);
    if (i % 100 != 99) continue;
    cts_finish(queue);
    for (uint64_t n = 0; n < 100; n++)
      CTS_FILLED("a read of one of many short-lived buffers", out + n * SIZE, (unsigned char)(i - 99 + n), SIZE);
  }
}

static void idle_blocks_reach_others(cts *c) {
  const uint64_t size = UINT64_C(48) << 20;
  const qn_device_statistics before = cts_statistics(c->device);
  for (int i = 0; i < 40; i++) { /* each with a queue of its own, which then idles or ends */
    qn_queue queue = cts_queue(c);
    qn_buffer buffer = cts_buffer(c, size);
    const qn_view view = cts_view(buffer, 0, 1 << 20);
    CTS_OK(qn_fill(queue, &view, "x", 1, NULL));
    cts_finish(queue);
    cts_drop(c, buffer);
    if (i % 2) cts_drop(c, queue);
  }
  const qn_device_statistics after = cts_statistics(c->device);
  CTS_TRUE(after.memory_reserved <= before.memory_reserved + 8 * size,
           "blocks of idle and ended queues reach everybody: not %llu bytes are reserved for one block of %llu in use",
           (unsigned long long)(after.memory_reserved - before.memory_reserved), (unsigned long long)size);
}

static void statistics_add_up(cts *c) {
  enum { COUNT = 60 };
  qn_queue queue = cts_queue(c);
  const qn_device_statistics before = cts_statistics(c->device);
  qn_buffer buffers[COUNT];
  uint64_t sum = 0;
  for (int i = 0; i < COUNT; i++) {
    uint64_t size = 1 + cts_random(c, 100000);
    buffers[i] = cts_buffer(c, size);
    cts_fill(queue, buffers[i], 1);
    sum += size;
  }
  cts_finish(queue);
  qn_device_statistics s = cts_statistics(c->device);
  CTS_TRUE(s.memory_used >= before.memory_used + sum, "memory_used, %llu, counts %llu bytes of living buffers",
           (unsigned long long)s.memory_used, (unsigned long long)sum);
  CTS_TRUE(s.memory_reserved >= s.memory_used, "memory_reserved is no less than memory_used");
  for (int i = 0; i < COUNT; i++) cts_drop(c, buffers[i]);
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  s = cts_statistics(c->device);
  CTS_EQUAL(s.memory_used, before.memory_used);
}

static qn_memory_statistics memory_of(qn_device device) {
  qn_memory_statistics s = QN_INIT(qn_memory_statistics);
  CTS_OK(qn_memory_statistics_get(device, &s));
  return s;
}

static void check_sums(const qn_memory_statistics *s) {
  CTS_SAME("reserved_bytes beside the sum of used, cached, pending and quarantined", s->reserved_bytes,
           s->used_bytes + s->cached_bytes + s->pending_bytes + s->quarantined_bytes);
  CTS_TRUE(s->peak_reserved_bytes >= s->reserved_bytes, "peak_reserved_bytes is no less than reserved_bytes");
}

static uint64_t obtained(const qn_memory_statistics *s) {
  return s->from_own_queue + s->from_known + s->from_complete + s->from_new + s->from_device_wait;
}

static qn_buffer buffer_for(cts *c, qn_device device, qn_queue queue, uint64_t size) {
  qn_buffer buffer = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = size;
  options.queue = queue;
  CTS_OK(qn_buffer_create(device, &options, &buffer));
  cts_keep(c, buffer);
  return buffer;
}

static void sums_hold(cts *c) {
  enum { LIVING = 40 };
  qn_device device = cts_device(c);
  qn_queue queues[3] = {cts_queue_on(c, device), cts_queue_on(c, device), cts_queue_on(c, device)};
  qn_buffer buffers[LIVING] = {NULL};
  uint64_t made = 0;
  for (uint64_t step = 0; step < cts_count(c, 1000, 50000); step++) {
    qn_buffer *place = &buffers[cts_random(c, LIVING)];
    qn_queue queue = queues[cts_random(c, 3)];
    if (*place) cts_drop(c, *place);
    *place = buffer_for(c, device, step % 3 ? queue : NULL, 1 + cts_random(c, 200000));
    made++;
    cts_fill(queue, *place, (unsigned char)step);
    if (step % 50) continue;
    const qn_memory_statistics s = memory_of(device);
    check_sums(&s);
    CTS_SAME("buffers that were obtained in one of the ways, beside those that were made", obtained(&s), made);
  }
}

/* With a queue that is named, memory that it used last comes back at once, while its work is in flight. */
static void blocks_follow_their_queue(cts *c) {
  enum { SIZE = 100000, ROUNDS = 60 };
  qn_device device = cts_device(c);
  qn_queue queue = cts_queue_on(c, device);
  unsigned char *out = cts_alloc(c, ROUNDS * SIZE);
  const qn_memory_statistics before = memory_of(device);
  for (int i = 0; i < ROUNDS; i++) {
    qn_buffer buffer = buffer_for(c, device, queue, SIZE);
    const qn_view view = cts_view(buffer, 0, QN_WHOLE);
    cts_fill(queue, buffer, (unsigned char)(i + 1));
    CTS_OK(qn_read(queue, &view, out + i * SIZE, NULL));
    cts_drop(c, buffer);
  }
  cts_finish(queue);
  for (int i = 0; i < ROUNDS; i++)
    CTS_FILLED("a read of a block that its queue had again at once", out + i * SIZE, (unsigned char)(i + 1), SIZE);
  const qn_memory_statistics after = memory_of(device);
  CTS_SAME("new memory for sixty buffers of one queue, one after the other", after.from_new - before.from_new, 1);
}

static void limit_is_kept(cts *c) {
  enum { SIZE = 1 << 20, LIMIT = 9 * SIZE };
  qn_device device = cts_device(c);
  qn_queue queues[2] = {cts_queue_on(c, device), cts_queue_on(c, device)};
  qn_memory_options options = QN_INIT(qn_memory_options);
  options.limit_bytes = LIMIT;
  options.wait_timeout_ns = CTS_PATIENCE;
  CTS_OK(qn_memory_configure(device, &options));
  for (int i = 0; i < 100; i++) { /* more than there is, but never at a time */
    qn_buffer buffer = cts_buffer_on(c, device, SIZE);
    cts_fill(queues[i % 2], buffer, (unsigned char)i);
    cts_drop(c, buffer);
  }
  qn_memory_statistics s = memory_of(device);
  CTS_TRUE(s.limited_bytes <= LIMIT, "limited_bytes, %llu, is within the limit of %d",
           (unsigned long long)s.limited_bytes, LIMIT);
  options.wait_timeout_ns = 1;
  CTS_OK(qn_memory_configure(device, &options));
  for (int i = 0; i < 4; i++) cts_buffer_on(c, device, SIZE);
  qn_buffer buffer = NULL;
  qn_buffer_options large = QN_INIT(qn_buffer_options);
  large.size_bytes = 6 * SIZE; /* beside four that are used: more than the limit, whatever is free */
  CTS_GIVES(qn_buffer_create(device, &large, &buffer), QN_ERROR_OUT_OF_MEMORY);
  s = memory_of(device);
  check_sums(&s);
  CTS_SAME("out_of_memory", s.out_of_memory, 1);
}

/* ---- Kernels on memory that comes and goes ---------------------------------------------------------- */

static void kernels_on_short_lived_buffers(cts *c) {
  enum { N = 1000, BYTES = N * sizeof(uint32_t), EACH = 20 };
  qn_queue queues[2] = {cts_queue(c), cts_queue(c)};
  qn_program program =
      cts_program(c,
                  "kernel void set(global uint *a, uint n) { a[get_global_id(0)] = n + (uint)get_global_id(0); }\n"
                  "kernel void sum(global uint *to, global const uint *a, global const uint *b) {\n"
                  "  size_t i = get_global_id(0); to[i] = a[i] + b[i];\n"
                  "}\n");
  qn_kernel set = cts_kernel(c, program, "set"), sum = cts_kernel(c, program, "sum");
  uint32_t *out = cts_alloc(c, EACH * BYTES);
  for (uint32_t round = 0; round < cts_count(c, 5, 500); round++) {
    for (uint32_t i = 0; i < EACH; i++) {
      qn_buffer a = cts_buffer(c, BYTES), b = cts_buffer(c, BYTES), to = cts_buffer(c, BYTES);
      const qn_view view = cts_view(to, 0, QN_WHOLE);
      qn_queue queue = queues[i % 2];
      CTS_OK(qn_launch(queue, set, QN_RANGE_1D(N), QN_ARGS(a, i), NULL));
      CTS_OK(qn_launch(queue, set, QN_RANGE_1D(N), QN_ARGS(b, round), NULL));
      CTS_OK(qn_launch(queue, sum, QN_RANGE_1D(N), QN_ARGS(to, a, b), NULL));
      CTS_OK(qn_read(queue, &view, out + (size_t)i * N, NULL));
      cts_drop(c, b);
      cts_drop(c, to);
      cts_drop(c, a);
    }
    for (int i = 0; i < 2; i++) cts_finish(queues[i]);
    for (uint32_t i = 0; i < EACH * N; i++)
      CTS_SAME("a sum of buffers that were released in flight", out[i], i / N + round + 2 * (i % N));
  }
}

#define REUSE                                                                                                      \
  "quern.h: 'An object that work in flight uses lives on until that work is complete.'; adapter.h: completion is " \
  "'never early'"

static const cts_test tests[] = {
    {"queues_end_with_their_thread_and_their_blocks_are_used_again", queues_end_with_their_thread, 0, 0,
     "quern.h: 'every order of release is right'; adapter.h: 'keeps no pointer to a core object past the call', so "
     "that nothing can come back"},
    {"a_block_that_is_used_again_waits_for_its_work", reuse_waits_for_work, 0, 0, REUSE},
    {"short_lived_buffers_on_one_queue", reuse_on_one_queue, 0, 0, REUSE},
    {"blocks_of_idle_and_ended_queues_reach_everybody", idle_blocks_reach_others, 0, 0,
     "docs/runtime.md: 'Released memory is kept by size for the next buffer'"},
    {"statistics_add_up", statistics_add_up, 0, 0,
     "quern.h: qn_device_statistics; adapter.h: qn_adapter_memory_info.size_bytes: 'really taken'"},
    {"sums_hold_at_any_quiet_moment", sums_hold, 0, 0,
     "quern.h: 'At any moment without calls in flight: reserved = used + cached + pending + quarantined.'"},
    {"blocks_follow_their_queue", blocks_follow_their_queue, 0, 0,
     "quern.h: 'memory that this queue used last comes back at once, also while its work is in flight'"},
    {"the_limit_is_kept", limit_is_kept, 0, 0, "quern.h: limit_bytes of qn_memory_options"},
    {"kernels_on_short_lived_buffers", kernels_on_short_lived_buffers, QN_FEATURE_KERNELS, 0, REUSE},
};

CTS_SUITE(pool, "memory is used again, also that of queues and threads that have ended");
