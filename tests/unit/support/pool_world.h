/* pool_world.h - a world for the pool: queues that run as far as a test lets them, with waits between them, and an adapter that
 * counts. What the pool does is compared with what these queues really do. */
#ifndef QUERN_TEST_POOL_WORLD_H
#define QUERN_TEST_POOL_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pool/pool.h"
/* After the test's own includes of cmocka. */

struct qn_adapter_memory {
  uint64_t size, serial; /* addresses come back, serials don't */
  uint32_t kind;
};

/* ---- Queues ---- */

enum { WORLD_QUEUES = 12, WORLD_VALUES = 4096, WORLD_WAITS = 3 };

typedef struct world_command {
  qn_point waits[WORLD_WAITS];
  uint32_t wait_count;
} world_command;

typedef struct world_queue {
  uint64_t id;
  uint64_t submitted, completed, failed_first;
  bool is_live;
  qn_pool_lane *lane;
  uint64_t clock[WORLD_QUEUES]; /* by index: what its commands from now on run after, in truth */
  world_command commands[WORLD_VALUES];
  uint64_t clock_at[WORLD_VALUES][WORLD_QUEUES];
} world_queue;

/* Ids are never used again; what is gone is remembered by id alone. */
enum { WORLD_IDS = 4096 };

static struct {
  world_queue queues[WORLD_QUEUES];
  uint32_t index_of[WORLD_IDS];
  uint64_t failed_first_of[WORLD_IDS]; /* of queues that are gone */
  uint64_t next_id;
  qn_pool pool;
  uint64_t device_bytes, taken; /* of the driver */
  uint64_t creations, destructions, adapter_calls, progress_calls, records, collects, waits;
  bool refuses, collect_says_more;
  uint64_t known_limit; /* entries that `known` gives */
  void (*on_wait)(const qn_point *point);
  void (*on_settle)(void); /* a block is in a thread's hands meanwhile */
  qn_status may_wait;
} world;

static inline world_queue *queue_of(uint64_t id) {
  world_queue *q = id < WORLD_IDS ? &world.queues[world.index_of[id]] : NULL;
  return q && q->is_live && q->id == id ? q : NULL;
}

static inline bool is_pending(const qn_point *p) {
  const world_queue *q = queue_of(p->queue);
  return p->value != 0 && q && p->value > q->completed;
}
static inline bool has_failed(const qn_point *p) {
  const world_queue *q = queue_of(p->queue);
  uint64_t first = q ? q->failed_first : p->queue < WORLD_IDS ? world.failed_first_of[p->queue] : 0;
  return p->value != 0 && first != 0 && p->value >= first;
}

/* Records a command of a queue that waits for points. */
static inline qn_point world_submit(world_queue *q, const qn_point *waits, uint32_t count) {
  uint64_t value = ++q->submitted;
  assert_true(value < WORLD_VALUES && count <= WORLD_WAITS);
  q->commands[value].wait_count = count;
  for (uint32_t i = 0; i < count; i++) {
    q->commands[value].waits[i] = waits[i];
    world_queue *other = queue_of(waits[i].queue);
    if (!other) continue;
    uint32_t index = (uint32_t)(other - world.queues);
    if (q->clock[index] < waits[i].value) q->clock[index] = waits[i].value;
    for (int k = 0; k < WORLD_QUEUES; k++)
      if (q->clock[k] < other->clock_at[waits[i].value][k]) q->clock[k] = other->clock_at[waits[i].value][k];
  }
  memcpy(q->clock_at[value], q->clock, sizeof q->clock);
  return (qn_point){q->id, value};
}

/* Lets a queue run; it stops at a wait for what is pending. */
static inline void world_run(world_queue *q, uint64_t most) {
  while (most-- > 0 && q->completed < q->submitted) {
    const world_command *next = &q->commands[q->completed + 1];
    for (uint32_t i = 0; i < next->wait_count; i++)
      if (is_pending(&next->waits[i])) return;
    q->completed++;
  }
}

/* Whether all that `q` records from now on runs after the point. */
static inline bool is_after(const world_queue *q, const qn_point *p) {
  const world_queue *other = queue_of(p->queue);
  return !is_pending(p) || other == q || q->clock[other - world.queues] >= p->value;
}

/* ---- What the pool asks ---- */

static inline void world_progress(uint64_t id, qn_pool_progress *out) {
  const world_queue *q = queue_of(id);
  world.progress_calls++;
  out->completed = q ? q->completed : UINT64_MAX;
  out->failed_first = q ? q->failed_first : world.failed_first_of[id];
}

static inline uint32_t world_known(uint64_t id, qn_point *out) {
  const world_queue *q = queue_of(id);
  uint32_t count = 0;
  for (int k = 0; q && k < WORLD_QUEUES && count < world.known_limit && count < QN_POOL_KNOWN; k++)
    if (q->clock[k] != 0 && world.queues[k].is_live) out[count++] = (qn_point){world.queues[k].id, q->clock[k]};
  return count;
}

static inline qn_pool_lane *world_lane(uint64_t id) {
  const world_queue *q = queue_of(id);
  return q ? q->lane : NULL;
}

static inline qn_status world_wait(const qn_point *point, uint64_t timeout_ns) {
  (void)timeout_ns;
  world.waits++;
  if (world.on_wait) world.on_wait(point);
  return is_pending(point) ? qn_error_set(QN_ERROR_TIMEOUT, "the world's point is not complete") : QN_OK;
}

static inline qn_status world_may_wait(void) {
  return world.may_wait == QN_OK ? QN_OK : qn_error_set(world.may_wait, "not here");
}

static inline qn_pool_block *world_record_new(void *user) {
  (void)user;
  qn_pool_block *block = calloc(1, sizeof *block);
  world.records += block != NULL;
  return block;
}
static inline void world_record_free(void *user, qn_pool_block *block) {
  (void)user;
  world.records--;
  free(block);
}
static inline bool world_settle(void *user, qn_pool_block *block) {
  (void)user;
  block->needs_settling = false;
  if (world.on_settle) world.on_settle();
  return true;
}
static inline bool world_collect(void *user) {
  (void)user;
  world.collects++;
  return world.collect_says_more;
}
static inline bool world_is_idle(void *user) {
  (void)user;
  for (int k = 0; k < WORLD_QUEUES; k++)
    if (world.queues[k].is_live && world.queues[k].completed < world.queues[k].submitted) return false;
  return true;
}
static uint64_t world_refusals;
static inline void world_refused(void *user, qn_status status) {
  (void)user;
  assert_true(status < 0);
  world_refusals++;
}

static const qn_pool_ops world_ops = {.progress = world_progress,
                                      .known = world_known,
                                      .lane = world_lane,
                                      .wait = world_wait,
                                      .may_wait = world_may_wait,
                                      .record_new = world_record_new,
                                      .record_free = world_record_free,
                                      .settle = world_settle,
                                      .collect = world_collect,
                                      .is_idle = world_is_idle,
                                      .refused = world_refused};

/* ---- The adapter ---- */

static inline qn_status world_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                                     qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  (void)device;
  world.adapter_calls++;
  if (world.taken + request->size_bytes > world.device_bytes)
    QN_FAIL(QN_ERROR_OUT_OF_MEMORY, "the world's device is full");
  *out_memory = malloc(sizeof **out_memory);
  if (!*out_memory) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the world's memory");
  **out_memory = (qn_adapter_memory){request->size_bytes, ++world.creations, request->memory};
  out_info->size_bytes = request->size_bytes;
  world.taken += request->size_bytes;
  return QN_OK;
}

static inline qn_status world_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  (void)device;
  world.adapter_calls++;
  world.destructions++;
  world.taken -= memory->size;
  free(memory);
  return world.refuses ? qn_error_set(QN_ERROR_DEVICE, "refused") : QN_OK;
}

static const qn_adapter_table world_table = {
    .struct_size = sizeof world_table, .memory_create = world_create, .memory_destroy = world_destroy};

/* ---- The world's beginning and end ---- */

static inline void world_open_queue(int index) {
  world_queue *q = &world.queues[index];
  uint64_t id = ++world.next_id;
  assert_true(id < WORLD_IDS);
  q->id = id;
  q->submitted = q->completed = q->failed_first = 0;
  memset(q->clock, 0, sizeof q->clock);
  memset(q->clock_at[0], 0, sizeof q->clock_at[0]);
  for (int k = 0; k < WORLD_QUEUES; k++)
    world.queues[k].clock[index] = 0; /* what was known of the one before is past */
  world.index_of[id] = (uint32_t)index;
  q->is_live = true;
  assert_int_equal(qn_pool_lane_open(&world.pool, id, &q->lane), QN_OK);
}

/* The queue is complete; it goes. */
static inline void world_retire(int index) {
  world_queue *q = &world.queues[index];
  assert_int_equal(q->completed, q->submitted);
  world.failed_first_of[q->id] = q->failed_first;
  q->is_live = false;
  for (int k = 0; k < WORLD_QUEUES; k++)
    for (uint64_t v = 0; v <= world.queues[k].submitted; v++) world.queues[k].clock_at[v][index] = 0;
  qn_pool_lane_close(&world.pool, q->lane);
}

/* A device of so many bytes; the limit is below it. */
static inline void world_open(uint64_t device_bytes, int queues) {
  const qn_adapter_device_info info = {.memory_bytes = device_bytes, .allocation_alignment = 256};
  memset(&world, 0, sizeof world);
  world_refusals = 0;
  world.device_bytes = device_bytes;
  world.known_limit = QN_POOL_KNOWN;
  assert_int_equal(qn_pool_open(&world.pool, &world_table, NULL, &info, &world_ops, NULL), QN_OK);
  for (int i = 0; i < queues; i++) world_open_queue(i);
}

static inline void world_check(void) {
  if (qn_pool_check(&world.pool) != QN_OK) fail_msg("%s", qn_error_text());
  assert_int_equal(atomic_load(&world.pool.reserved), world.taken);
}

static inline qn_pool_statistics world_statistics(void) {
  qn_pool_statistics s;
  qn_pool_query(&world.pool, &s);
  assert_int_equal(s.reserved, s.used + s.cached + s.pending + s.quarantined);
  return s;
}

/* Nothing is used any longer. */
static inline void world_close(void) {
  world_check();
  for (int i = 0; i < WORLD_QUEUES; i++) {
    if (!world.queues[i].is_live) continue;
    world.queues[i].completed = world.queues[i].submitted;
    world_retire(i);
  }
  assert_int_equal(qn_pool_living(&world.pool), 0);
  world_check();
  qn_pool_close(&world.pool);
  assert_int_equal(world.taken, 0);
  assert_int_equal(world.records, 0);
}

/* ---- Buffers ---- */

static inline qn_status world_try_take(world_queue *q, uint32_t kind, uint64_t size, qn_pool_block **out_block) {
  const qn_pool_request request = {
      .kind = kind, .has_failed = q && q->failed_first != 0, .size_bytes = size, .lane = q ? q->lane : NULL};
  return qn_pool_take(&world.pool, &request, out_block);
}

static inline qn_pool_block *world_take(world_queue *q, uint64_t size) {
  qn_pool_block *block = NULL;
  if (world_try_take(q, QN_MEMORY_DEVICE, size, &block) != QN_OK) fail_msg("%s", qn_error_text());
  assert_true(block->memory->size >= size);
  return block;
}

/* The bytes that still wait for work when there is nothing more to drain. */
static inline uint64_t world_drain(void) {
  uint64_t left = 0;
  bool is_done = qn_pool_drain(&world.pool, &left);
  assert_int_equal(is_done, left == 0);
  return left;
}

/* A tracked buffer's use, as core/tracking.c does it. */
static inline qn_point world_write(world_queue *q, qn_pool_block *block) {
  qn_point waits[QN_POOL_POINTS], mine[WORLD_WAITS];
  uint32_t count = qn_pool_uses_points(&block->uses, waits), kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (is_after(q, &waits[i])) continue;
    if (kept == WORLD_WAITS) {
      world_submit(q, mine, kept);
      kept = 0;
    }
    mine[kept++] = waits[i];
  }
  qn_point point = world_submit(q, mine, kept);
  atomic_store(&block->uses.owner, q->id);
  block->uses.writer = point;
  block->uses.reader_count = 0;
  return point;
}

static inline qn_point world_read(world_queue *q, qn_pool_block *block) {
  qn_pool_uses *u = &block->uses;
  qn_point wait = u->writer;
  uint32_t at = 0;
  qn_point point = world_submit(q, &wait, wait.value != 0 && !is_after(q, &wait));
  while (at < u->reader_count && u->readers[at].queue != q->id) at++;
  if (at == QN_POOL_READERS) { /* too many: stands for the first, after a wait */
    wait = u->readers[at = 0];
    point = world_submit(q, &wait, !is_after(q, &wait));
  } else if (at == u->reader_count) {
    u->reader_count++;
  }
  u->readers[at] = point;
  atomic_store(&u->owner, q->id);
  return point;
}

#endif
