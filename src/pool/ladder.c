/* ladder.c - where a buffer's memory comes from, in the order of P1. */
#include "base/log.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "pool/lane.h"
#include "pool/size_class.h"

typedef struct search {
  qn_pool *pool;
  const qn_pool_request *request;
  uint64_t size; /* of the class */
  uint32_t class_;
  bool is_ordered; /* the device orders what comes after: work that is still in flight doesn't matter */
  bool driver_is_full;
  bool has_waited;
} search;

static bool is_pooled(const search *s) { return s->class_ != QN_POOL_CLASSES; }

/* ---- 1: the queue's own --------------------------------------------------------------------------- */

static bool has_own(const search *s) { return s->request->lane && s->is_ordered && !s->request->has_failed; }

/* A lock and a list's end. */
static qn_pool_block *take_last(const search *s, qn_pool_lane *lane) {
  qn_pool_block *block = qn_pool_lane_take_last(lane, s->request->kind, s->class_);
  if (block) lane->taken++;
  return block;
}

static qn_pool_block *take_own(const search *s) {
  qn_pool_lane *lane = s->request->lane;
  qn_mutex_lock(&lane->lock);
  qn_pool_block *block = take_last(s, lane);
  qn_mutex_unlock(&lane->lock);
  return block;
}

/* ---- 2: known ------------------------------------------------------------------------------------- */

/* What the queue waits for. */
typedef struct knowledge {
  uint64_t queue;
  qn_point known[QN_POOL_KNOWN];
  uint32_t count;
} knowledge;

static bool covers(const knowledge *has, const qn_point *point) {
  if (point->queue == has->queue || point->value == 0) return true;
  for (uint32_t i = 0; i < has->count; i++)
    if (has->known[i].queue == point->queue) return has->known[i].value >= point->value;
  return false;
}

/* Each reader waited for the writer: whoever waits for a reader waits for the writer too. */
static bool covers_block(const knowledge *has, const qn_pool_block *block) {
  const qn_pool_uses *uses = &block->uses;
  bool needs_writer = uses->reader_count == 0 || uses->is_unordered;
  if (!covers(has, &block->filed) || (needs_writer && !covers(has, &uses->writer))) return false;
  for (uint32_t i = 0; i < uses->reader_count; i++)
    if (!covers(has, &uses->readers[i])) return false;
  return true;
}

/* The block may turn out to be one whose work failed: if_sound is told then. */
static void take_moving(const search *s, qn_pool_lane *lane, qn_pool_block *least) {
  qn_pool_lane_take(lane, least);
  qn_pool_move_begins(s->pool);
}

/* The block, or NULL: it is quarantined. */
static qn_pool_block *if_sound(const search *s, qn_pool_block *block) {
  bool is_sound = !qn_pool_has_failed(s->pool, block);
  if (!is_sound) qn_pool_give(s->pool, block);
  qn_pool_move_ends(s->pool);
  return is_sound ? block : NULL;
}

static qn_pool_block *take_covered(const search *s, const knowledge *has, uint64_t queue) {
  qn_pool_lane *lane = s->pool->ops->lane(queue);
  qn_pool_block *block = NULL;
  if (!lane || !qn_pool_lane_has(lane, s->request->kind, s->class_)) return NULL;
  qn_mutex_lock(&lane->lock);
  bool is_same = atomic_load_explicit(&lane->id, memory_order_relaxed) == queue;
  for (int shared = 0; shared < 2 && is_same && !block; shared++) {
    block = qn_pool_lane_least(lane, s->request->kind, s->class_, shared != 0);
    if (block && !covers_block(has, block)) block = NULL;
  }
  if (block) take_moving(s, lane, block);
  qn_mutex_unlock(&lane->lock);
  return block;
}

static qn_pool_block *take_known(const search *s) {
  knowledge has = {.queue = atomic_load_explicit(&s->request->lane->id, memory_order_relaxed)};
  has.count = s->pool->ops->known(has.queue, has.known);
  for (uint32_t i = 0; i <= has.count; i++) {
    uint64_t queue = i < has.count ? has.known[i].queue : has.queue; /* at last its own, shared ones */
    if (queue == has.queue && s->request->has_failed) continue;
    qn_pool_block *block = take_covered(s, &has, queue);
    if (block) block = if_sound(s, block);
    if (block) return block;
  }
  return NULL;
}

/* ---- 3: complete ---------------------------------------------------------------------------------- */

static qn_pool_block *take_everybodys(const search *s) {
  qn_pool_lane *lane = s->pool->complete;
  qn_mutex_lock(&lane->lock);
  qn_pool_block *block = qn_pool_lane_take_last(lane, s->request->kind, s->class_);
  qn_mutex_unlock(&lane->lock);
  return block;
}

static qn_pool_block *take_complete(const search *s) {
  qn_pool_block *block = take_everybodys(s);
  for (qn_pool_lane *lane = qn_pool_lanes(s->pool); lane && !block; lane = lane->next)
    if (!lane->is_complete && qn_pool_lane_has(lane, s->request->kind, s->class_))
      block = qn_pool_harvest(s->pool, lane, s->request->kind, s->class_);
  return block ? block : take_everybodys(s); /* harvesting may have put some there that had more than one point */
}

/* ---- 5: the device waits --------------------------------------------------------------------------- */

/* The pending block that is likely to be complete first: fewest values behind. */
typedef struct nearest {
  qn_pool_lane *lane; /* NULL: there is none */
  qn_point point;
  uint64_t distance;
} nearest;

static void look_at_shelf(const qn_pool_lane *lane, uint32_t kind, uint32_t class_, uint64_t completed, nearest *out) {
  for (int shared = 0; shared < 2; shared++) {
    const qn_pool_block *block = qn_pool_lane_least(lane, kind, class_, shared != 0);
    if (!block) continue;
    uint64_t distance = block->filed.value > completed ? block->filed.value - completed : 0;
    if (out->lane && out->distance <= distance) continue;
    *out = (nearest){(qn_pool_lane *)lane, block->filed, distance};
  }
}

/* On any shelf when class_ is QN_POOL_CLASSES. */
static nearest find_nearest(const search *s, uint32_t class_) {
  nearest out = {NULL, {0, 0}, 0};
  for (qn_pool_lane *lane = qn_pool_lanes(s->pool); lane; lane = lane->next) {
    uint64_t id = atomic_load_explicit(&lane->id, memory_order_relaxed);
    qn_pool_progress progress = {0, 0};
    if (id == 0 || (class_ != QN_POOL_CLASSES && !qn_pool_lane_has(lane, s->request->kind, class_))) continue;
    s->pool->ops->progress(id, &progress);
    qn_mutex_lock(&lane->lock);
    bool is_same = atomic_load_explicit(&lane->id, memory_order_relaxed) == id;
    if (is_same && class_ != QN_POOL_CLASSES) look_at_shelf(lane, s->request->kind, class_, progress.completed, &out);
    for (uint32_t kind = 0; kind < QN_POOL_KINDS && is_same && class_ == QN_POOL_CLASSES; kind++)
      for (uint32_t c = 0; c < QN_POOL_CLASSES; c++)
        if (qn_pool_lane_has(lane, kind, c)) look_at_shelf(lane, kind, c, progress.completed, &out);
    qn_mutex_unlock(&lane->lock);
  }
  return out;
}

static qn_pool_block *take_at(const search *s, const nearest *at) {
  qn_mutex_lock(&at->lane->lock);
  qn_pool_block *block = NULL;
  for (int shared = 0; shared < 2 && !block; shared++) {
    block = qn_pool_lane_least(at->lane, s->request->kind, s->class_, shared != 0);
    if (block && (block->filed.queue != at->point.queue || block->filed.value != at->point.value)) block = NULL;
  }
  if (block) take_moving(s, at->lane, block);
  qn_mutex_unlock(&at->lane->lock);
  return block;
}

static qn_pool_block *take_pending(const search *s) {
  if (!is_pooled(s) || !s->is_ordered) return NULL;
  for (;;) {
    nearest at = find_nearest(s, s->class_);
    if (!at.lane) return NULL;
    qn_pool_block *block = take_at(s, &at); /* NULL: another thread was faster */
    if (block) block = if_sound(s, block);
    if (block) return block;
  }
}

/* ---- 1 to 4 ---------------------------------------------------------------------------------------- */

static void obtained(search *s, uint32_t way) {
  if (s->has_waited && (way == QN_POOL_FROM_COMPLETE || way == QN_POOL_FROM_NEW)) way = QN_POOL_FROM_HOST_WAIT;
  atomic_fetch_add_explicit(&s->pool->from[way], 1, memory_order_relaxed);
}

static qn_pool_block *take_free(search *s) {
  qn_pool_drain_lanes(s->pool); /* what was released elsewhere may be this queue's */
  qn_pool_block *block = has_own(s) ? take_own(s) : NULL;
  if (block) return block;
  block = s->request->lane && s->is_ordered ? take_known(s) : NULL;
  if (block) {
    obtained(s, QN_POOL_FROM_KNOWN);
    return block;
  }
  block = take_complete(s);
  if (block) obtained(s, QN_POOL_FROM_COMPLETE);
  return block;
}

/* QN_NOT_READY: memory is short. */
static qn_status climb(search *s, qn_pool_block **out_block) {
  *out_block = is_pooled(s) ? take_free(s) : NULL;
  if (*out_block) return QN_OK;
  qn_status status = qn_pool_create(s->pool, s->request, s->size, s->class_, out_block);
  if (status == QN_OK) obtained(s, QN_POOL_FROM_NEW);
  s->driver_is_full = status == QN_ERROR_OUT_OF_MEMORY;
  return s->driver_is_full ? QN_NOT_READY : status;
}

/* 1 to 5, and what can be done without asking or waiting. */
static qn_status go_round(search *s, qn_pool_block **out_block) {
  qn_status status = climb(s, out_block);
  if (status != QN_NOT_READY) return status;
  *out_block = take_pending(s);
  if (*out_block) {
    obtained(s, QN_POOL_FROM_DEVICE_WAIT);
    return QN_OK;
  }
  s->pool->ops->collect(s->pool->user);
  qn_pool_make_room(s->pool, s->size, s->driver_is_full);
  return climb(s, out_block);
}

/* ---- 6: the host waits ----------------------------------------------------------------------------- */

/* Not longer for one point: another queue may be faster, or another thread release something. */
#define SLICE_NS UINT64_C(2000000)

/* Whether there was something to wait for. Errors: WOULD_BLOCK. */
static qn_status wait_a_little(search *s, uint64_t left_ns, bool *out_waited) {
  uint64_t slice = left_ns < SLICE_NS ? left_ns : SLICE_NS;
  nearest at = find_nearest(s, is_pooled(s) ? s->class_ : QN_POOL_CLASSES);
  if (!at.lane) at = find_nearest(s, QN_POOL_CLASSES);
  bool others_wait = s->pool->ops->collect(s->pool->user);
  *out_waited = left_ns > 0 && (at.lane || others_wait);
  if (!*out_waited) return QN_OK;
  QN_TRY(s->pool->ops->may_wait());
  s->has_waited = true;
  qn_error_saved saved;
  qn_error_save(&saved); /* that a point isn't complete yet, or that its queue failed, is no error of this call */
  if (at.lane)
    (void)!s->pool->ops->wait(&at.point, slice);
  else
    qn_clock_sleep(slice < 1000000 ? slice : 1000000);
  qn_error_restore(&saved);
  return QN_OK;
}

/* Memory is short for good. */
static qn_status out_of_memory(const search *s) {
  qn_pool_statistics now;
  atomic_fetch_add_explicit(&s->pool->out_of_memory, 1, memory_order_relaxed);
  unsigned long long size = s->size;
  if (s->driver_is_full) {
    qn_error_prefix("a buffer's %llu bytes: ", size);
    return QN_ERROR_OUT_OF_MEMORY;
  }
  qn_pool_query(s->pool, &now);
  QN_FAIL(
      QN_ERROR_OUT_OF_MEMORY,
      "no memory for a buffer's %llu bytes: the pool may take %llu bytes from the device and has %llu (%llu used, %llu "
      "in use by work in flight, %llu quarantined); release buffers, or raise limit_bytes with qn_memory_configure",
      size, (unsigned long long)now.limit, (unsigned long long)now.limited, (unsigned long long)now.used,
      (unsigned long long)now.pending, (unsigned long long)now.quarantined);
}

static uint64_t time_limit(const search *s) {
  if (s->request->timeout_ns != 0) return s->request->timeout_ns;
  qn_mutex_lock(&s->pool->lock);
  uint64_t limit = s->pool->options.wait_timeout_ns;
  qn_mutex_unlock(&s->pool->lock);
  return limit;
}

/* Another thread has blocks in its hands on their way to a list, for as long as a lock: that much is always waited for. */
enum { MOVES = 200 };
#define MOVE_NS UINT64_C(50000)

static qn_status wait_for_memory(search *s, qn_pool_block **out_block) {
  uint64_t deadline = qn_clock_deadline(time_limit(s));
  for (uint32_t moves = 0;;) {
    bool waited = false;
    QN_TRY(wait_a_little(s, qn_clock_left(deadline), &waited));
    /* Also when there is nothing to wait for: another thread may have released something since the last look. */
    uint64_t look = qn_pool_look_begins(s->pool);
    qn_status status = go_round(s, out_block);
    if (status != QN_NOT_READY) return status;
    if (waited) continue;
    if (!qn_pool_has_moved(s->pool, look) || moves++ == MOVES) return out_of_memory(s);
    qn_clock_sleep(MOVE_NS);
  }
}

static qn_status take_slowly(search *s, qn_pool_block **out_block) {
  qn_status status = go_round(s, out_block);
  if (status == QN_NOT_READY && !s->driver_is_full && s->size > qn_pool_limit(s->pool, s->request->kind))
    return out_of_memory(s);
  if (status == QN_NOT_READY && qn_pool_press(s->pool, s->size)) status = go_round(s, out_block);
  return status == QN_NOT_READY ? wait_for_memory(s, out_block) : status;
}

/* ---- All of it ------------------------------------------------------------------------------------- */

static void move_in(qn_pool_lane *lane, qn_pool_block *block) {
  block->home = lane;
  lane->living++;
}

/* Step 1, or step 3 of a request without a queue, under one lock. */
static qn_pool_block *take_quickly(const search *s, qn_pool_lane *home) {
  if (!is_pooled(s) || !(has_own(s) || home->is_complete)) return NULL;
  qn_mutex_lock(&home->lock);
  qn_pool_block *others = qn_pool_lane_drain(home);
  qn_pool_block *block = take_last(s, home);
  if (block) move_in(home, block);
  if (others) qn_pool_move_begins(s->pool);
  qn_mutex_unlock(&home->lock);
  if (others) {
    qn_pool_place(s->pool, others);
    qn_pool_move_ends(s->pool);
  }
  return block;
}

static search begin(qn_pool *pool, const qn_pool_request *request) {
  search s = {.pool = pool, .request = request, .size = request->size_bytes, .class_ = QN_POOL_CLASSES};
  if (request->kind < QN_POOL_KINDS && request->size_bytes <= pool->class_limit)
    s.class_ = qn_pool_class_of(request->size_bytes, &s.size);
  s.is_ordered = request->kind == QN_MEMORY_DEVICE;
  return s;
}

qn_status qn_pool_take(qn_pool *pool, const qn_pool_request *request, qn_pool_block **out_block) {
  search s = begin(pool, request);
  qn_pool_lane *home = request->lane ? request->lane : pool->complete;
  *out_block = take_quickly(&s, home);
  if (*out_block) return QN_OK;
  qn_status status = take_slowly(&s, out_block);
  if (status != QN_OK || !is_pooled(&s)) return status;
  qn_mutex_lock(&home->lock);
  move_in(home, *out_block);
  qn_mutex_unlock(&home->lock);
  return QN_OK;
}
