/* Random histories of the pool against a plain list. The model knows of each block all that ever used it and what each queue
 * truly runs after; at each step it says which rungs of P1's ladder could serve, and whether what was given is safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "support/pool_world.h"
#include "support/rounds.h"

/* ---- Chance -------------------------------------------------------------------------------------- */

static uint64_t seed, chance;

static uint32_t roll(uint32_t below) {
  chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(chance >> 33) % below;
}

#define CLAIM(condition, text) \
  if (!(condition)) fail_msg("seed %llu, step %d: %s", (unsigned long long)seed, step, (text))

/* ---- The model ----------------------------------------------------------------------------------- */

enum { QUEUES = 6, MOST = 64, STEPS = 1500, SIZES = 3 };
static const uint64_t sizes[SIZES] = {256, 4096, 6000}; /* the last in a class of 6144 */
static const uint64_t class_sizes[SIZES] = {256, 4096, 6144};

typedef struct entry {
  qn_pool_block *block; /* NULL: unused */
  uint64_t serial;      /* of its memory */
  int size;
  uint32_t kind;
  bool is_free, is_failed;
  uint64_t last[WORLD_QUEUES]; /* by index of a queue that lives: the last value that used it */
  uint64_t ids[WORLD_QUEUES];
} entry;

static entry entries[MOST];
static int step;

static bool is_point_pending(const entry *e, int k) {
  const qn_point p = {e->ids[k], e->last[k]};
  return is_pending(&p);
}

static bool is_complete(const entry *e) {
  for (int k = 0; k < QUEUES; k++)
    if (is_point_pending(e, k)) return false;
  return true;
}

/* Whether `q` may use it from now on without a further wait. */
static bool is_ordered(const entry *e, const world_queue *q) {
  for (int k = 0; k < QUEUES; k++) {
    const qn_point p = {e->ids[k], e->last[k]};
    if (is_pending(&p) && !is_after(q, &p)) return false;
  }
  return true;
}

/* Whether all points that a block remembers are the queue's. */
static bool is_all_on(const entry *e, const world_queue *q) {
  qn_point points[QN_POOL_POINTS];
  uint32_t count = qn_pool_uses_points(&e->block->uses, points);
  for (uint32_t i = 0; i < count; i++)
    if (points[i].queue != q->id) return false;
  return true;
}

/* With points of one queue alone nothing is withheld for want of knowledge of others. */
static bool is_of_one(const entry *e) {
  qn_point points[QN_POOL_POINTS];
  uint32_t count = qn_pool_uses_points(&e->block->uses, points);
  for (uint32_t i = 1; i < count; i++)
    if (points[i].queue != points[0].queue) return false;
  return count > 0;
}

/* Whether one of the points that a free block remembers has failed. */
static bool note_failure(entry *e) {
  qn_point points[QN_POOL_POINTS];
  uint32_t count = e->block && e->is_free ? qn_pool_uses_points(&e->block->uses, points) : 0;
  for (uint32_t i = 0; i < count; i++) e->is_failed |= has_failed(&points[i]);
  return e->is_failed;
}

/* Which rungs could serve. */
typedef struct rungs {
  bool own, known, complete, pending;
} rungs;

static rungs rungs_for(const world_queue *q, uint32_t kind, int size) {
  rungs r = {false, false, false, false};
  bool is_device = kind == QN_MEMORY_DEVICE;
  for (int i = 0; i < MOST; i++) {
    entry *e = &entries[i];
    if (!e->block || !e->is_free || e->kind != kind || e->size != size || note_failure(e)) continue;
    r.complete |= is_complete(e);
    r.pending |= is_device && !is_complete(e);
    r.own |= q && is_device && q->failed_first == 0 && !is_complete(e) && is_all_on(e, q);
    r.known |= q && world.known_limit == QN_POOL_KNOWN && is_device && is_of_one(e) && !is_complete(e) &&
               !is_all_on(e, q) && is_ordered(e, q);
  }
  return r;
}

/* ---- Steps --------------------------------------------------------------------------------------- */

static entry *unused_entry(void) {
  for (int i = 0; i < MOST; i++)
    if (!entries[i].block) return &entries[i];
  return NULL;
}

static entry *entry_of(const qn_pool_block *block) {
  for (int i = 0; i < MOST; i++)
    if (entries[i].block == block && entries[i].serial == block->memory->serial) return &entries[i];
  return NULL;
}

/* What left the pool with the driver's memory is known by the block's record being gone: the pool keeps the list. */
static void forget_what_is_gone(void) {
  for (int i = 0; i < MOST; i++) {
    const qn_pool_block *block = world.pool.all;
    while (block && block->memory->serial != entries[i].serial) block = block->all_next;
    if (!block && entries[i].block) {
      CLAIM(entries[i].is_free, "memory in use went back to the driver");
      CLAIM(is_complete(&entries[i]), "memory with work in flight went back to the driver");
      entries[i] = (entry){.block = NULL};
    }
  }
}

/* What the pool says must be waited for is waited for; with that, it must be safe. */
static void check_safety(const entry *e, const world_queue *q, uint32_t kind) {
  qn_point told[QN_POOL_POINTS];
  uint32_t count = qn_pool_uses_points(&e->block->uses, told);
  CLAIM(!e->is_failed, "a block whose work failed was given out");
  CLAIM(kind == QN_MEMORY_DEVICE || is_complete(e), "memory that the host reaches was given out while it is in use");
  for (int k = 0; k < QUEUES; k++) {
    const qn_point p = {e->ids[k], e->last[k]};
    bool is_told = false;
    for (uint32_t i = 0; i < count; i++) is_told |= told[i].queue == p.queue && told[i].value >= p.value;
    /* What a told point's command itself waited for is past with it. */
    for (uint32_t i = 0; i < count; i++) {
      const world_queue *t = queue_of(told[i].queue);
      is_told |= t && t->clock_at[told[i].value][k] >= p.value;
    }
    CLAIM(!is_pending(&p) || is_told || (q && is_after(q, &p)), "a point that matters was lost");
  }
}

static void check_rung(const rungs *r, const qn_pool_statistics *before, const qn_pool_statistics *after) {
  bool is_new = after->from[QN_POOL_FROM_NEW] != before->from[QN_POOL_FROM_NEW];
  bool is_known = after->from[QN_POOL_FROM_KNOWN] != before->from[QN_POOL_FROM_KNOWN];
  bool is_complete_one = after->from[QN_POOL_FROM_COMPLETE] != before->from[QN_POOL_FROM_COMPLETE];
  bool waits = after->from[QN_POOL_FROM_DEVICE_WAIT] != before->from[QN_POOL_FROM_DEVICE_WAIT];
  CLAIM(!r->own || !(is_known || is_complete_one || is_new || waits), "the queue's own was passed over");
  CLAIM(!r->known || !(is_complete_one || is_new || waits), "what is known was passed over");
  CLAIM(!r->complete || !(is_new || waits), "what is complete was passed over");
  CLAIM(!is_new || after->limited <= after->limit, "new memory is past the limit");
  uint64_t more = (is_new ? 1u : 0u) + is_known + is_complete_one + waits;
  CLAIM(more + (after->from_own_queue - before->from_own_queue) == 1, "a block came from nowhere, or twice");
}

static void take_one(void) {
  world_queue *q = roll(4) == 0 ? NULL : &world.queues[roll(QUEUES)];
  uint32_t kind = roll(5) == 0 ? QN_MEMORY_SHARED : QN_MEMORY_DEVICE;
  int size = (int)roll(SIZES);
  entry *free_entry = unused_entry();
  if (!free_entry) return;
  qn_pool_statistics before = {0}, after = {0};
  if (roll(2)) qn_pool_query(&world.pool, &before); /* else it has not looked lately */
  const rungs r = rungs_for(q, kind, size);
  bool is_measured = before.reserved != 0;
  qn_pool_block *block = NULL;
  qn_status status = world_try_take(q, kind, sizes[size], &block);
  if (status != QN_OK) {
    CLAIM(status == QN_ERROR_OUT_OF_MEMORY, qn_error_text());
    CLAIM(!r.own && !r.known && !r.complete && !r.pending, "there was a block, and none was given");
    return;
  }
  CLAIM(block->size_bytes == class_sizes[size] && block->kind == kind, "size or kind is wrong");
  forget_what_is_gone();
  entry *e = entry_of(block);
  if (e) {
    CLAIM(e->is_free, "a block is used twice at a time");
    note_failure(e);
    check_safety(e, q, kind);
  } else {
    e = free_entry;
    *e = (entry){.block = block, .serial = block->memory->serial, .size = size, .kind = kind};
  }
  e->is_free = false;
  if (!is_measured) return;
  qn_pool_query(&world.pool, &after);
  check_rung(&r, &before, &after);
}

static entry *random_used(void) {
  for (int tries = 0; tries < 20; tries++) {
    entry *e = &entries[roll(MOST)];
    if (e->block && !e->is_free) return e;
  }
  return NULL;
}

static world_queue *random_sound(void) {
  world_queue *q = &world.queues[roll(QUEUES)];
  return q->failed_first == 0 && q->submitted < WORLD_VALUES - 10 ? q : NULL;
}

static void use_one(void) {
  entry *e = random_used();
  world_queue *q = random_sound();
  if (!e || !q) return;
  const qn_point p = roll(2) ? world_write(q, e->block) : world_read(q, e->block);
  int k = (int)(q - world.queues);
  e->ids[k] = p.queue;
  e->last[k] = p.value;
}

/* As an untracked buffer ends: used by several queues in no order. */
static void use_without_order(void) {
  entry *e = random_used();
  if (!e) return;
  qn_pool_uses *u = &e->block->uses;
  qn_point before[QN_POOL_POINTS];
  uint32_t old = qn_pool_uses_points(u, before), count = 0;
  qn_point points[QN_POOL_READERS];
  for (int k = 0; k < QUEUES && count < QN_POOL_READERS; k++) {
    world_queue *q = &world.queues[k];
    if (roll(2) || q->failed_first != 0 || q->submitted >= WORLD_VALUES - 10) continue;
    for (uint32_t i = 0; i < old; i++)
      if (!is_after(q, &before[i])) world_submit(q, &before[i], 1);
    points[count] = world_submit(q, NULL, 0);
    e->ids[k] = q->id;
    e->last[k] = points[count++].value;
  }
  if (count == 0) return;
  u->writer = (qn_point){0, 0};
  for (uint32_t i = 0; i < count; i++) u->readers[i] = points[i];
  u->reader_count = count;
  atomic_store(&u->owner, points[count - 1].queue);
}

static void release_one(void) {
  entry *e = random_used();
  if (!e) return;
  e->is_free = true;
  note_failure(e);
  e->block->needs_settling = roll(8) == 0;
  qn_pool_release(e->block);
}

static void wait_between(void) {
  world_queue *q = random_sound(), *other = random_sound();
  if (!q || !other || q == other || other->submitted == 0) return;
  const qn_point p = {other->id, 1 + roll((uint32_t)other->submitted)};
  world_submit(q, &p, 1);
}

static void run_one(void) { world_run(&world.queues[roll(QUEUES)], roll(12)); }

static void run_all(void) {
  for (int round = 0; round < QUEUES; round++)
    for (int k = 0; k < QUEUES; k++) world_run(&world.queues[k], UINT64_MAX);
}

static void fail_one(void) {
  world_queue *q = random_sound();
  if (!q || q->completed == q->submitted) return;
  q->failed_first = q->completed + 1; /* what comes after it fails too, and still waits for what it had to wait for */
  for (int i = 0; i < MOST; i++) note_failure(&entries[i]);
}

static void retire_one(void) {
  int k = (int)roll(QUEUES);
  world_queue *q = &world.queues[k];
  run_all();
  if (q->completed != q->submitted) return;
  for (int i = 0; i < MOST; i++) note_failure(&entries[i]);
  world_retire(k);
  world_open_queue(k);
  for (int i = 0; i < MOST; i++) entries[i].last[k] = entries[i].ids[k] = 0;
}

static void give_back(void) {
  switch (roll(3)) {
    case 0:
      qn_pool_trim(&world.pool, roll(4) * UINT64_C(10000));
      break;
    case 1:
      (void)world_drain();
      break;
    default:
      qn_pool_tidy(&world.pool, step * UINT64_C(300000000) + 1);
  }
}

static void set_limit(void) {
  const qn_pool_options options = {.limit_bytes = roll(3) == 0 ? QN_WHOLE : 20000 + roll(150000),
                                   .keep_bytes = roll(2) ? 10000 : 100000,
                                   .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
}

static void play(uint64_t with_seed) {
  typedef void (*move)(void);
  /* How often, of 100. */
  static const struct {
    move make;
    uint32_t weight;
  } moves[] = {{take_one, 32}, {use_one, 25},   {use_without_order, 2}, {release_one, 22}, {wait_between, 6},
               {run_one, 8},   {retire_one, 1}, {fail_one, 1},          {give_back, 2},    {set_limit, 1}};
  seed = with_seed;
  chance = seed * 977 + 13;
  memset(entries, 0, sizeof entries);
  world_open(UINT64_C(1) << 20, QUEUES);
  world.known_limit = roll(3) == 0 ? 1 : QN_POOL_KNOWN; /* a clock that forgets */
  for (step = 0; step < STEPS; step++) {
    uint32_t at = roll(100), i = 0;
    while (i + 1 < sizeof moves / sizeof *moves && at >= moves[i].weight) at -= moves[i++].weight;
    moves[i].make();
    forget_what_is_gone();
    if (step % 16 == 0) world_check();
  }
  for (int i = 0; i < MOST; i++)
    if (entries[i].block && !entries[i].is_free) qn_pool_release(entries[i].block);
  run_all();
  world_close();
}

static void test_P1_to_P4_hold_over_random_histories(void **state) {
  (void)state;
  const char *one = getenv("QUERN_SEED");
  if (one) {
    play(strtoull(one, NULL, 10));
    return;
  }
  uint64_t rounds = test_rounds("random histories of the pool, of 1500 steps", 60, 3000);
  for (uint64_t i = 1; i <= rounds; i++) play(i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_P1_to_P4_hold_over_random_histories)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
