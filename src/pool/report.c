/* report.c - statistics, the snapshot, and the walk that compares everything. */
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/place.h"
#include "base/status.h"
#include "pool/lane.h"

/* ---- All locks ------------------------------------------------------------------------------------- */

static void unlock_all(qn_pool *pool, qn_pool_lane *first) {
  qn_mutex_unlock(&pool->lock);
  for (qn_pool_lane *lane = first; lane; lane = lane->next) qn_mutex_unlock(&lane->lock);
}

/* All lanes in their list's order, then the pool's lock, under which lanes are added. Returns the first lane. */
static qn_pool_lane *lock_all(qn_pool *pool) {
  for (;;) {
    qn_pool_lane *first = qn_pool_lanes(pool);
    for (qn_pool_lane *lane = first; lane; lane = lane->next) qn_mutex_lock(&lane->lock);
    qn_mutex_lock(&pool->lock);
    if (first == qn_pool_lanes(pool)) return first;
    unlock_all(pool, first);
  }
}

/* ---- Looking ---------------------------------------------------------------------------------------- */

/* Other threads have blocks on the way for as long as a lock: a little patience, and at a quiet moment all is where it belongs. */
enum { LOOKS = 50 };
#define MOVE_NS UINT64_C(50000)

static void gather(qn_pool *pool) {
  for (int i = 0; i < LOOKS; i++) {
    uint64_t look = qn_pool_look_begins(pool);
    qn_pool_drain_lanes(pool);
    qn_pool_harvest_all(pool);
    if (!qn_pool_has_moved(pool, look)) return;
    if (i > 0) qn_clock_sleep(MOVE_NS); /* the first time it was us, mostly */
  }
}

/* ---- Statistics ------------------------------------------------------------------------------------ */

static void add_lane(const qn_pool_lane *lane, qn_pool_statistics *s) {
  *(lane->is_complete ? &s->cached : &s->pending) += lane->free_bytes;
  *(lane->is_complete ? &s->from[QN_POOL_FROM_COMPLETE] : &s->from_own_queue) += lane->taken;
  s->living += lane->living;
  s->visits += lane->visits;
}

static void count(qn_pool *pool, const qn_pool_lane *first, qn_pool_statistics *s) {
  *s = (qn_pool_statistics){.quarantined = pool->quarantined_bytes,
                            .reserved = atomic_load_explicit(&pool->reserved, memory_order_relaxed),
                            .limit = pool->options.limit_bytes,
                            .limited = pool->limited,
                            .peak = pool->peak,
                            .wrapped = pool->wrapped,
                            .driver_allocations = pool->driver_allocations,
                            .driver_frees = pool->driver_frees,
                            .driver_refusals = pool->driver_refusals,
                            .pressure_calls = atomic_load_explicit(&pool->pressure_calls, memory_order_relaxed),
                            .out_of_memory = atomic_load_explicit(&pool->out_of_memory, memory_order_relaxed)};
  for (int way = 0; way < QN_POOL_WAYS; way++)
    s->from[way] = atomic_load_explicit(&pool->from[way], memory_order_relaxed);
  s->pending = pool->leaving_bytes;
  for (const qn_pool_lane *lane = first; lane; lane = lane->next) add_lane(lane, s);
  s->used = s->reserved - s->cached - s->pending - s->quarantined;
}

void qn_pool_query(qn_pool *pool, qn_pool_statistics *out_statistics) {
  gather(pool);
  qn_pool_lane *first = lock_all(pool);
  count(pool, first, out_statistics);
  unlock_all(pool, first);
}

uint64_t qn_pool_living(qn_pool *pool) {
  uint64_t sum = 0;
  qn_pool_drain_lanes(pool);
  for (qn_pool_lane *lane = qn_pool_lanes(pool); lane; lane = lane->next) {
    qn_mutex_lock(&lane->lock);
    sum += lane->living;
    qn_mutex_unlock(&lane->lock);
  }
  return sum;
}

/* ---- Snapshot -------------------------------------------------------------------------------------- */

/* A block as it was: text is made of it under no lock. */
typedef struct entry {
  uint64_t size, owner;
  qn_point point;
  uint64_t place_at, place_size; /* in the listing's places */
  uint32_t kind, state;
  bool is_pending;
} entry;

typedef struct listing {
  qn_pool_statistics sums;
  entry *entries;
  uint64_t count;
  qn_bytes places;
} listing;

static entry describe(const qn_pool_block *block, qn_bytes *places) {
  entry e = {.size = block->size_bytes,
             .owner = atomic_load_explicit(&block->uses.owner, memory_order_relaxed),
             .place_at = places->size,
             .kind = block->kind,
             .state = atomic_load_explicit(&block->state, memory_order_relaxed)};
  if (e.state != QN_POOL_USED) e.point = block->filed;
  if (e.state == QN_POOL_USED) qn_place_print(block->place, places);
  e.place_size = places->size - e.place_at;
  e.is_pending = e.state == QN_POOL_LEAVING || (e.state == QN_POOL_FREE && block->filed.value != 0);
  return e;
}

/* Under all locks. False: no memory. */
static bool list_blocks(qn_pool *pool, listing *out) {
  uint64_t capacity = 0;
  for (const qn_pool_block *block = pool->all; block; block = block->all_next) capacity++;
  out->entries = calloc((size_t)capacity + 1, sizeof *out->entries);
  if (!out->entries) return false;
  out->count = 0;
  for (const qn_pool_block *block = pool->all; block; block = block->all_next)
    if (block->kind != QN_MEMORY_WRAP) out->entries[out->count++] = describe(block, &out->places);
  return true;
}

static void print_string(qn_bytes *out, const char *text, uint64_t size) {
  qn_bytes_append_char(out, '"');
  for (uint64_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      qn_bytes_printf(out, "\\%c", c);
    else if (c < 0x20)
      qn_bytes_printf(out, "\\u%04x", c);
    else
      qn_bytes_append_char(out, (char)c);
  }
  qn_bytes_append_char(out, '"');
}

static void print_point(qn_bytes *out, const qn_point *point) {
  if (point->value == 0)
    qn_bytes_append_str(out, "null");
  else
    qn_bytes_printf(out, "{\"queue\": %llu, \"value\": %llu}", (unsigned long long)point->queue,
                    (unsigned long long)point->value);
}

static void print_entry(qn_bytes *out, const entry *e, const qn_bytes *places) {
  static const char *const kinds[] = {"device", "host", "shared"};
  static const char *const states[] = {"used", "cached", "quarantined"};
  qn_bytes_printf(out, "{\"size\": %llu, \"kind\": \"%s\", \"state\": \"%s\", \"queue\": %llu, \"point\": ",
                  (unsigned long long)e->size, kinds[e->kind], e->is_pending ? "pending" : states[e->state],
                  (unsigned long long)e->owner);
  print_point(out, &e->point);
  if (e->place_size > 0) {
    qn_bytes_append_str(out, ", \"place\": ");
    print_string(out, places->data + e->place_at, e->place_size);
  }
  qn_bytes_append_char(out, '}');
}

static void print_sums(qn_bytes *out, const qn_pool_statistics *s) {
  qn_bytes_printf(out,
                  "\"reserved\": %llu, \"used\": %llu, \"cached\": %llu, \"pending\": %llu, \"quarantined\": %llu, "
                  "\"limit\": ",
                  (unsigned long long)s->reserved, (unsigned long long)s->used, (unsigned long long)s->cached,
                  (unsigned long long)s->pending, (unsigned long long)s->quarantined);
  if (s->limit == QN_WHOLE)
    qn_bytes_append_str(out, "null");
  else
    qn_bytes_printf(out, "%llu", (unsigned long long)s->limit);
}

void qn_pool_snapshot(qn_pool *pool, qn_bytes *out) {
  listing all = {.entries = NULL};
  gather(pool);
  qn_pool_lane *first = lock_all(pool);
  count(pool, first, &all.sums);
  bool is_listed = list_blocks(pool, &all);
  unlock_all(pool, first);
  if (!is_listed || all.places.failed) {
    out->failed = true;
    all.count = 0;
  }
  print_sums(out, &all.sums);
  qn_bytes_append_str(out, ", \"blocks\": [");
  for (uint64_t i = 0; i < all.count; i++) {
    qn_bytes_append_str(out, i == 0 ? "\n  " : ",\n  ");
    print_entry(out, &all.entries[i], &all.places);
  }
  qn_bytes_append_str(out, "]");
  free(all.entries);
  qn_bytes_free(&all.places);
}

/* ---- The walk -------------------------------------------------------------------------------------- */

typedef struct walk {
  const qn_pool_lane *lane;
  uint32_t kind, class_;
  uint64_t blocks, bytes; /* on shelves */
  const char *wrong;
} walk;

static void check_block(void *user, qn_pool_block *block) {
  walk *w = user;
  w->blocks++;
  w->bytes += block->size_bytes;
  if (atomic_load_explicit(&block->state, memory_order_relaxed) != QN_POOL_FREE)
    w->wrong = "a block on a shelf is not free";
  else if (block->kind != w->kind || block->class_ != w->class_)
    w->wrong = "a block is on the shelf of another size or kind";
  else if (block->filed.value != 0 && block->filed.queue != atomic_load(&w->lane->id))
    w->wrong = "a block is on the lane of a queue that it does not wait for";
  else if (w->lane->is_complete &&
           (block->filed.value != 0 || block->uses.writer.value != 0 || block->uses.reader_count != 0))
    w->wrong = "a block that is everybody's has points";
}

static void check_order(const qn_pool_shelf *shelf, walk *w) {
  for (const qn_pool_block *block = shelf->first; block && block->next; block = block->next)
    if (block->next->filed.value < block->filed.value || block->next->previous != block)
      w->wrong = "a shelf is not sorted";
}

static void check_lane(const qn_pool_lane *lane, walk *w) {
  uint64_t before = w->bytes;
  w->lane = lane;
  for (w->kind = 0; w->kind < QN_POOL_KINDS; w->kind++)
    for (w->class_ = 0; w->class_ < QN_POOL_CLASSES; w->class_++) {
      const qn_pool_shelf *shelf = &lane->shelves[w->kind][w->class_];
      if (qn_pool_lane_has(lane, w->kind, w->class_) == qn_pool_shelf_is_empty(shelf))
        w->wrong = "a lane's bits do not say which shelves are filled";
      qn_pool_shelf_each(shelf, check_block, w);
      check_order(shelf, w);
    }
  if (w->bytes - before != lane->free_bytes) w->wrong = "a lane's free bytes are not those of its blocks";
}

/* Bytes and blocks by state, of the list of all. */
typedef struct totals {
  uint64_t bytes[QN_POOL_STATES], blocks[QN_POOL_STATES];
} totals;

static totals add_up(const qn_pool *pool) {
  totals t = {{0}, {0}};
  for (const qn_pool_block *block = pool->all; block; block = block->all_next) {
    uint32_t state = atomic_load_explicit(&block->state, memory_order_relaxed);
    if (block->kind == QN_MEMORY_WRAP) continue;
    t.bytes[state] += block->size_bytes;
    t.blocks[state]++;
  }
  return t;
}

static const char *find_fault(qn_pool *pool, qn_pool_lane *first) {
  walk w = {.wrong = NULL};
  qn_pool_statistics s;
  uint64_t quarantined = 0;
  count(pool, first, &s);
  totals t = add_up(pool);
  for (const qn_pool_lane *lane = first; lane; lane = lane->next) check_lane(lane, &w);
  for (const qn_pool_block *block = pool->quarantined; block; block = block->next) quarantined += block->size_bytes;
  if (w.wrong) return w.wrong;
  if (t.blocks[QN_POOL_FREE] != w.blocks) return "a free block is on no shelf";
  if (t.bytes[QN_POOL_LEAVING] != pool->leaving_bytes) return "blocks that leave are not what is counted";
  if (t.bytes[QN_POOL_FREE] + pool->leaving_bytes != s.cached + s.pending)
    return "free blocks and those that leave are not cached + pending";
  if (t.bytes[QN_POOL_QUARANTINED] != s.quarantined || quarantined != s.quarantined)
    return "quarantined blocks are not what is counted";
  if (t.bytes[QN_POOL_USED] + pool->being_made != s.used)
    return "used blocks are not reserved - cached - pending - quarantined";
  return NULL;
}

qn_status qn_pool_check(qn_pool *pool) {
  qn_pool_lane *first = lock_all(pool);
  const char *wrong = find_fault(pool, first);
  unlock_all(pool, first);
  if (wrong) QN_FAIL(QN_ERROR_INTERNAL, "the pool's invariants are broken: %s", wrong);
  return QN_OK;
}
