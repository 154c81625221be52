/* suite_threads.c - everything from many threads at a time. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cts.h"

enum { THREADS = 6 };

static uint64_t seed_of(const cts *c, uint32_t index) { return c->seed * 1000003 + index; }

/* Each has its own queue and buffers. */
static void own_queue(cts *c, uint32_t index, void *user) {
  enum { SIZE = 20000 };
  (void)user;
  uint64_t random = seed_of(c, index), rounds = cts_count(c, 100, 5000);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  for (uint64_t i = 0; i < rounds; i++) {
    unsigned char byte = (unsigned char)cts_random_of(&random, 256);
    cts_fill(queue, buffer, byte);
    cts_get(queue, buffer, out, SIZE);
    CTS_FILLED("a buffer of one of several threads with queues of their own", out, byte, SIZE);
  }
}

static void own_queues(cts *c) { cts_threads(c, THREADS, own_queue, NULL); }

/* All use one queue, each a part of one buffer. */
typedef struct one_queue_state {
  qn_queue queue;
  qn_buffer buffer;
} one_queue_state;

static void use_one_queue(cts *c, uint32_t index, void *user) {
  enum { PART = 10000 };
  const one_queue_state *s = user;
  uint64_t rounds = cts_count(c, 200, 10000);
  unsigned char *out = cts_alloc(c, PART);
  const qn_view part = cts_view(s->buffer, (uint64_t)index * PART, PART);
  uint64_t last = 0;
  for (uint64_t i = 0; i < rounds; i++) {
    unsigned char byte = (unsigned char)(i * 7 + index);
    qn_point filled = {0, 0}, read = {0, 0};
    CTS_OK(qn_fill(s->queue, &part, &byte, 1, &filled));
    CTS_OK(qn_read(s->queue, &part, out, &read));
    CTS_TRUE(filled.value > last && read.value > filled.value, "a thread sees the values of one queue rise");
    last = read.value;
    cts_wait(&read);
    CTS_FILLED("a part of a buffer that several threads use by one queue", out, byte, PART);
  }
}

static void one_queue(cts *c) {
  one_queue_state s = {.queue = cts_queue(c), .buffer = cts_buffer(c, THREADS * 10000)};
  cts_threads(c, THREADS, use_one_queue, &s);
}

/* One kernel, one queue a thread, other arguments each time. */
typedef struct kernel_state {
  qn_kernel kernel;
} kernel_state;

static void launch_one_kernel(cts *c, uint32_t index, void *user) {
  enum { N = 200, BYTES = N * sizeof(uint32_t) };
  const kernel_state *s = user;
  uint64_t rounds = cts_count(c, 60, 3000);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, BYTES);
  uint32_t out[N], model = 0;
  cts_fill(queue, buffer, 0);
  for (uint32_t i = 0; i < rounds; i++) {
    CTS_OK(qn_launch(queue, s->kernel, QN_RANGE_1D(N), QN_ARGS(buffer, index * 1000 + i), NULL));
    model += index * 1000 + i;
  }
  cts_get(queue, buffer, out, BYTES);
  for (uint32_t i = 0; i < N; i++) CTS_SAME("a sum by a kernel that several threads launch", out[i], model * (i + 1));
}

static void one_kernel(cts *c) {
  kernel_state s = {cts_kernel(
      c,
      cts_program(
          c, "kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n * (uint)(get_global_id(0) + 1); }"),
      "add")};
  cts_threads(c, THREADS, launch_one_kernel, &s);
}

/* Programs are built at a time: all the same one, and each its own. */
static void build_programs(cts *c, uint32_t index, void *user) {
  (void)user;
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, sizeof(uint32_t));
  for (uint32_t i = 0; i < cts_count(c, 4, 60); i++) {
    char source[128];
    uint32_t out = 0, number = i % 2 ? i * 100 + index : i * 100;
    snprintf(source, sizeof source, "kernel void number(global uint *out) { out[0] = %uu; }", number);
    qn_program program = cts_program(c, source);
    CTS_OK(qn_launch(queue, cts_kernel(c, program, "number"), QN_RANGE_1D(1), QN_ARGS(buffer), NULL));
    cts_get(queue, buffer, &out, sizeof out);
    CTS_SAME("the number of a program that was built beside others", out, number);
    cts_drop(c, program);
  }
}

static void programs(cts *c) { cts_threads(c, THREADS, build_programs, NULL); }

/* Objects come and go. */
static void make_and_release(cts *c, uint32_t index, void *user) {
  (void)user;
  uint64_t random = seed_of(c, index), rounds = cts_count(c, 150, 5000);
  const void *kept = NULL;
  unsigned char out[512];
  for (uint64_t i = 0; i < rounds; i++) {
    qn_queue queue = cts_queue(c);
    qn_buffer buffer = cts_buffer(c, 512 + cts_random_of(&random, 50000));
    cts_fill(queue, buffer, (unsigned char)i);
    if (i % 3 == 0) {
      cts_get(queue, buffer, out, sizeof out);
      CTS_FILLED("a short-lived buffer of one of several threads", out, (unsigned char)i, sizeof out);
    }
    bool queue_first = cts_random_of(&random, 2) == 0;
    cts_drop(c, queue_first ? (const void *)queue : (const void *)buffer);
    if (kept) cts_drop(c, kept);
    kept = queue_first ? (const void *)buffer : (const void *)queue; /* it ends a round later */
  }
}

static void objects_come_and_go(cts *c) { cts_threads(c, THREADS, make_and_release, NULL); }

/* Devices and runtimes come and go. */
static void open_and_close(cts *c, uint32_t index, void *user) {
  (void)user;
  unsigned char out[300];
  for (uint64_t i = 0; i < cts_count(c, 8, 300); i++) {
    qn_runtime runtime = NULL;
    qn_device device = NULL;
    qn_queue queue = NULL;
    qn_buffer buffer = NULL;
    qn_buffer_options options = QN_INIT(qn_buffer_options);
    options.size_bytes = sizeof out;
    CTS_OK(qn_runtime_open(NULL, &runtime));
    CTS_OK(qn_device_open(runtime, c->selector, &device));
    CTS_OK(qn_queue_create(device, NULL, &queue));
    CTS_OK(qn_buffer_create(device, &options, &buffer));
    cts_fill(queue, buffer, (unsigned char)(index + i));
    cts_get(queue, buffer, out, sizeof out);
    CTS_FILLED("a buffer of a device of one of several threads", out, (unsigned char)(index + i), sizeof out);
    cts_fill(queue, buffer, 1);
    CTS_OK(qn_runtime_close(runtime, CTS_PATIENCE));
  }
}

static void devices_come_and_go(cts *c) { cts_threads(c, 4, open_and_close, NULL); }

/* Some write by maps, some by commands, each its own part. */
static void map_parts(cts *c, uint32_t index, void *user) {
  enum { PART = 4096 };
  const one_queue_state *s = user;
  qn_queue queue = cts_queue(c);
  unsigned char out[PART];
  const qn_view part = cts_view(s->buffer, (uint64_t)index * PART, PART);
  for (uint64_t i = 0; i < cts_count(c, 60, 3000); i++) {
    void *pointer = NULL;
    CTS_OK(qn_buffer_map(&part, QN_MAP_READ | QN_MAP_WRITE, CTS_PATIENCE, &pointer));
    memset(pointer, (int)(i + index), PART);
    CTS_OK(qn_buffer_unmap(s->buffer, pointer));
    CTS_OK(qn_read(queue, &part, out, NULL));
    cts_finish(queue);
    CTS_FILLED("a part that one of several threads wrote by a map", out, (unsigned char)(i + index), PART);
  }
}

static void maps(cts *c) {
  one_queue_state s = {.buffer = cts_buffer(c, THREADS * 4096)};
  cts_threads(c, THREADS, map_parts, &s);
}

/* Maps of one range, which drivers tell apart by nothing, and a map of a part in each. Each thread looks at its own bytes. */
static void map_the_same(cts *c, uint32_t index, void *user) {
  enum { PART = 64 };
  const one_queue_state *s = user;
  const qn_view whole = cts_view(s->buffer, 0, QN_WHOLE), part = cts_view(s->buffer, index * PART, PART);
  unsigned char model[PART] = {0};
  for (uint64_t i = 0; i < cts_count(c, 200, 10000); i++) {
    void *outer = NULL, *inner = NULL;
    CTS_OK(qn_buffer_map(&whole, QN_MAP_READ, CTS_PATIENCE, &outer));
    CTS_BYTES("a thread's part of a buffer that several map", (unsigned char *)outer + index * PART, model, PART);
    CTS_OK(qn_buffer_unmap(s->buffer, outer));
    CTS_OK(qn_buffer_map(&part, QN_MAP_READ | QN_MAP_WRITE, CTS_PATIENCE, &inner));
    CTS_BYTES("a mapped part of a buffer that several map", inner, model, PART);
    memset(inner, (int)(i * THREADS + index), PART);
    memset(model, (int)(i * THREADS + index), PART);
    CTS_OK(qn_buffer_unmap(s->buffer, inner));
  }
}

static void same_maps(cts *c) {
  unsigned char out[THREADS * 64];
  one_queue_state s = {.queue = cts_queue(c), .buffer = cts_buffer(c, sizeof out)};
  cts_fill(s.queue, s.buffer, 0);
  cts_threads(c, THREADS, map_the_same, &s);
  cts_get(s.queue, s.buffer, out, sizeof out);
  for (uint64_t i = 0, last = cts_count(c, 200, 10000) - 1; i < THREADS; i++)
    CTS_FILLED("a part that one of several threads wrote last", out + i * 64, (unsigned char)(last * THREADS + i), 64);
}

/* A buffer that all write whole, each on its own queue: every read sees one writer's bytes, not a mixture. */
static void write_whole(cts *c, uint32_t index, void *user) {
  enum { SIZE = 30000 };
  const one_queue_state *s = user;
  qn_queue queue = cts_queue(c);
  unsigned char *out = cts_alloc(c, SIZE);
  const qn_view view = cts_view(s->buffer, 0, QN_WHOLE);
  for (uint64_t i = 0; i < cts_count(c, 80, 4000); i++) {
    cts_fill(queue, s->buffer, (unsigned char)(i * THREADS + index));
    CTS_OK(qn_read(queue, &view, out, NULL));
    cts_finish(queue);
    CTS_FILLED("a buffer that several queues fill: one fill's bytes, whole", out, out[0], SIZE);
  }
}

static void writers_of_one_buffer(cts *c) {
  one_queue_state s = {.buffer = cts_buffer(c, 30000)};
  cts_fill(cts_queue(c), s.buffer, 0);
  cts_threads(c, THREADS, write_whole, &s);
}

/* Queues of all threads wait for each other's points. */
typedef struct board {
  pthread_mutex_t lock;
  qn_point points[THREADS];
} board;

static void wait_for_others(cts *c, uint32_t index, void *user) {
  board *b = user;
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 3000);
  for (uint64_t i = 0; i < cts_count(c, 150, 5000); i++) {
    qn_point points[THREADS], mine = cts_fill(queue, buffer, (unsigned char)i);
    pthread_mutex_lock(&b->lock);
    b->points[index] = mine;
    memcpy(points, b->points, sizeof points);
    pthread_mutex_unlock(&b->lock);
    CTS_OK(qn_queue_wait(queue, points, THREADS));
  }
  cts_finish(queue);
}

static void waits_across(cts *c) {
  board b = {.lock = PTHREAD_MUTEX_INITIALIZER};
  cts_threads(c, THREADS, wait_for_others, &b);
}

#define ANY "quern.h: 'Every function may be called from any thread at any time unless it says otherwise.'"
#define OBJECTS ANY "; adapter.h: 'calls on different objects may run at the same time'"
#define SERIAL ANY "; adapter.h: 'The core serialises queue_submit of one queue.'"

static const cts_test tests[] = {
    {"threads_with_queues_of_their_own", own_queues, 0, 0, OBJECTS},
    {"threads_share_a_queue", one_queue, 0, 0, SERIAL},
    {"threads_share_a_kernel", one_kernel, QN_FEATURE_KERNELS, 0, OBJECTS},
    {"threads_build_programs", programs, QN_FEATURE_KERNELS, 0, OBJECTS},
    {"threads_make_and_release_objects", objects_come_and_go, 0, 0, OBJECTS},
    {"threads_open_and_close_the_device", devices_come_and_go, 0, 0, OBJECTS},
    {"threads_map_parts_of_a_buffer", maps, 0, 0,
     ANY "; adapter.h: 'queue_completed, queue_wait and memory_* may be called from any thread at any time.'"},
    {"threads_map_one_buffer", same_maps, 0, 0,
     ANY "; adapter.h: 'queue_completed, queue_wait and memory_* may be called from any thread at any time.'"},
    {"threads_fill_one_buffer_by_turns", writers_of_one_buffer, 0, 0,
     ANY "; docs/runtime.md, Points: a buffer's uses on several queues are ordered"},
    {"queues_of_threads_wait_for_each_other", waits_across, 0, 0, ANY "; adapter.h: QN_COMMAND_WAIT"},
};

CTS_SUITE(threads, "everything from many threads at a time");
