#include "pool/pool.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/status.h"
#include "pool/lane.h"

/* ---- Opening ------------------------------------------------------------------------------------- */

#define DEFAULT_WAIT_NS UINT64_C(10000000000)

/* What a driver needs for itself, for launches and code, is left to it. */
static uint64_t default_limit(const qn_adapter_device_info *info) {
  uint64_t all = info->memory_bytes > info->max_allocation_bytes ? info->memory_bytes : info->max_allocation_bytes;
  uint64_t headroom = all / 16 < (UINT64_C(1) << 29) ? all / 16 : UINT64_C(1) << 29;
  return all == 0 ? QN_WHOLE : all - headroom;
}

qn_status qn_pool_open(qn_pool *pool, const qn_adapter_table *table, qn_adapter_device *device,
                       const qn_adapter_device_info *info, const qn_pool_ops *ops, void *user) {
  *pool = (qn_pool){.table = table, .device = device, .ops = ops, .user = user};
  pool->complete = qn_pool_lane_new();
  if (!pool->complete) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device's pool");
  pool->complete->is_complete = true;
  atomic_init(&pool->lanes, pool->complete);
  pool->alignment = info->allocation_alignment ? info->allocation_alignment : 1;
  pool->class_limit = info->memory_bytes / 16;
  pool->defaults = (qn_pool_options){
      .limit_bytes = default_limit(info), .keep_bytes = info->memory_bytes / 8, .wait_timeout_ns = DEFAULT_WAIT_NS};
  pool->options = pool->defaults;
  atomic_init(&pool->keep, pool->options.keep_bytes);
  return QN_OK;
}

/* ---- Lanes of queues ----------------------------------------------------------------------------- */

qn_status qn_pool_lane_open(qn_pool *pool, uint64_t queue, qn_pool_lane **out_lane) {
  qn_mutex_lock(&pool->lock);
  qn_pool_lane *lane = pool->unused;
  if (lane) {
    pool->unused = lane->next_unused;
  } else {
    lane = qn_pool_lane_new();
    if (lane) {
      lane->next = atomic_load_explicit(&pool->lanes, memory_order_relaxed);
      atomic_store_explicit(&pool->lanes, lane, memory_order_release);
    }
  }
  qn_mutex_unlock(&pool->lock);
  if (!lane) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue's part of the pool");
  qn_mutex_lock(&lane->lock); /* it may have been another queue's, whose buffers still come home to it */
  atomic_store_explicit(&lane->id, queue, memory_order_relaxed);
  qn_mutex_unlock(&lane->lock);
  *out_lane = lane;
  return QN_OK;
}

void qn_pool_lane_close(qn_pool *pool, qn_pool_lane *lane) {
  qn_mutex_lock(&lane->lock);
  qn_pool_move_begins(pool);
  qn_pool_block *released = qn_pool_lane_drain(lane);
  qn_pool_block *free_ones = qn_pool_lane_clear(lane);
  atomic_store_explicit(&lane->id, 0, memory_order_relaxed);
  qn_mutex_unlock(&lane->lock);
  qn_pool_place(pool, released);
  for (qn_pool_block *block = free_ones, *next; block; block = next) {
    next = block->next;
    qn_pool_give(pool, block);
  }
  qn_pool_move_ends(pool);
  qn_mutex_lock(&pool->lock);
  lane->next_unused = pool->unused;
  pool->unused = lane;
  qn_mutex_unlock(&pool->lock);
}

/* ---- Quarantine ---------------------------------------------------------------------------------- */

static qn_pool_block *take_quarantined(qn_pool *pool) {
  qn_mutex_lock(&pool->lock);
  qn_pool_block *list = pool->quarantined;
  pool->quarantined = NULL;
  pool->quarantined_bytes = 0;
  for (qn_pool_block *block = list; block; block = block->next)
    atomic_store_explicit(&block->state, QN_POOL_USED, memory_order_relaxed);
  qn_mutex_unlock(&pool->lock);
  return list;
}

/* Under the lock. */
static bool is_leaving(const qn_pool_block *block) {
  return atomic_load_explicit(&block->state, memory_order_relaxed) == QN_POOL_LEAVING;
}

static void put_quarantined(qn_pool *pool, qn_pool_block *block) {
  qn_mutex_lock(&pool->lock);
  if (is_leaving(block)) pool->leaving_bytes -= block->size_bytes;
  atomic_store_explicit(&block->state, QN_POOL_QUARANTINED, memory_order_relaxed);
  block->next = pool->quarantined;
  pool->quarantined = block;
  pool->quarantined_bytes += block->size_bytes;
  qn_mutex_unlock(&pool->lock);
}

/* ---- Giving -------------------------------------------------------------------------------------- */

static void quarantine(qn_pool *pool, qn_pool_block *block, const qn_point *failed) {
  QN_LOG(MEMORY, "a block of %llu bytes is quarantined: value %llu of queue %llu, which used it, failed",
         (unsigned long long)block->size_bytes, (unsigned long long)failed->value, (unsigned long long)failed->queue);
  block->filed = *failed;
  put_quarantined(pool, block);
}

/* What a block waits for. */
typedef struct outlook {
  qn_point pending[QN_POOL_POINTS];
  uint32_t count;
  qn_point failed; /* value 0: none */
} outlook;

enum { DONE, PENDING, FAILED };

static int state_of(qn_pool *pool, const qn_point *point) {
  qn_pool_progress progress = {0, 0};
  pool->ops->progress(point->queue, &progress);
  if (qn_pool_is_failed(&progress, point->value)) return FAILED;
  return point->value > progress.completed ? PENDING : DONE;
}

/* A point of the block's that is in this state; value 0: there is none. */
static qn_point point_in(qn_pool *pool, const qn_pool_block *block, int state) {
  qn_point points[QN_POOL_POINTS];
  uint32_t count = qn_pool_uses_points(&block->uses, points);
  for (uint32_t i = 0; i < count; i++)
    if (state_of(pool, &points[i]) == state) return points[i];
  return (qn_point){0, 0};
}

bool qn_pool_has_failed(qn_pool *pool, const qn_pool_block *block) { return point_in(pool, block, FAILED).value != 0; }

static void look_at(qn_pool *pool, const qn_point *point, outlook *o) {
  int state = state_of(pool, point);
  if (state == FAILED) o->failed = *point;
  if (state == PENDING) o->pending[o->count++] = *point;
}

/* Forgets the points that are complete. */
static void look(qn_pool *pool, qn_pool_uses *uses, outlook *out) {
  *out = (outlook){.count = 0};
  if (uses->writer.value != 0) look_at(pool, &uses->writer, out);
  if (out->count == 0) uses->writer = (qn_point){0, 0};
  uint32_t readers = 0;
  for (uint32_t i = 0; i < uses->reader_count; i++) {
    uint32_t before = out->count;
    look_at(pool, &uses->readers[i], out);
    if (out->count != before) uses->readers[readers++] = uses->readers[i];
  }
  uses->reader_count = readers;
}

/* The point that a block waits for on a lane: of the queue that used it last if that is one of them, for others then are
 * likely to be known to it; the latest of that queue. */
static qn_point choose(const outlook *o, uint64_t owner) {
  qn_point chosen = o->pending[o->count - 1];
  for (uint32_t i = 0; i < o->count; i++)
    if (o->pending[i].queue == owner && chosen.queue != owner) chosen = o->pending[i];
  for (uint32_t i = 0; i < o->count; i++)
    if (o->pending[i].queue == chosen.queue && o->pending[i].value > chosen.value) chosen = o->pending[i];
  return chosen;
}

static void file(qn_pool_block *block, const outlook *o) {
  block->filed = choose(o, atomic_load_explicit(&block->uses.owner, memory_order_relaxed));
  block->is_sole = true;
  for (uint32_t i = 0; i < o->count; i++) block->is_sole = block->is_sole && o->pending[i].queue == block->filed.queue;
}

static bool put_on(qn_pool_lane *lane, uint64_t id, qn_pool_block *block) {
  qn_mutex_lock(&lane->lock);
  bool is_there = atomic_load_explicit(&lane->id, memory_order_relaxed) == id;
  if (is_there) qn_pool_lane_put(lane, block);
  qn_mutex_unlock(&lane->lock);
  return is_there;
}

static void give_complete(qn_pool *pool, qn_pool_block *block) {
  qn_pool_uses_clear(&block->uses);
  block->filed = (qn_point){0, 0};
  block->is_sole = true;
  put_on(pool->complete, 0, block);
}

void qn_pool_give(qn_pool *pool, qn_pool_block *block) {
  for (;;) {
    outlook o;
    look(pool, &block->uses, &o);
    if (o.failed.value != 0) {
      quarantine(pool, block, &o.failed);
      return;
    }
    if (o.count == 0) {
      give_complete(pool, block);
      return;
    }
    file(block, &o);
    qn_pool_lane *lane = pool->ops->lane(block->filed.queue);
    if (lane && put_on(lane, block->filed.queue, block)) return;
    /* The queue has retired meanwhile: the point is complete, or has failed. */
  }
}

void qn_pool_place(qn_pool *pool, qn_pool_block *list) {
  for (qn_pool_block *block = list, *next; block; block = next) {
    next = block->next;
    if (block->needs_settling && !pool->ops->settle(pool->user, block)) continue;
    qn_pool_give(pool, block);
  }
}

bool qn_pool_drain_lanes(qn_pool *pool) {
  bool any = false;
  for (qn_pool_lane *lane = qn_pool_lanes(pool); lane; lane = lane->next) {
    if (!qn_pool_lane_has_released(lane)) continue;
    qn_mutex_lock(&lane->lock);
    qn_pool_block *others = qn_pool_lane_drain(lane);
    if (others) qn_pool_move_begins(pool);
    qn_mutex_unlock(&lane->lock);
    qn_pool_place(pool, others);
    if (others) qn_pool_move_ends(pool);
    any = true;
  }
  return any;
}

/* ---- What isn't pooled --------------------------------------------------------------------------- */

void qn_pool_leave(qn_pool *pool, qn_pool_block *block) {
  if (block->kind == QN_MEMORY_WRAP) return;
  qn_point point = point_in(pool, block, PENDING);
  qn_mutex_lock(&pool->lock);
  if (!is_leaving(block)) pool->leaving_bytes += block->size_bytes;
  atomic_store_explicit(&block->state, QN_POOL_LEAVING, memory_order_relaxed);
  block->filed = point;
  qn_mutex_unlock(&pool->lock);
}

void qn_pool_end(qn_pool *pool, qn_pool_block *block) {
  qn_point failed = block->kind == QN_MEMORY_WRAP ? (qn_point){0, 0} : point_in(pool, block, FAILED);
  if (failed.value != 0)
    quarantine(pool, block, &failed);
  else
    qn_pool_destroy(pool, block);
}

/* What a command that failed does to its memory, and for how long, nobody knows. So a quarantined block goes only when its queue
 * is gone and no queue of the device has work in flight, or at the end. */
static void free_quarantined(qn_pool *pool, bool all) {
  bool is_idle = all || pool->ops->is_idle(pool->user);
  qn_pool_move_begins(pool);
  for (qn_pool_block *block = take_quarantined(pool), *next; block; block = next) {
    qn_pool_progress progress = {UINT64_MAX, 0};
    next = block->next;
    if (!all) pool->ops->progress(block->filed.queue, &progress);
    if (is_idle && progress.completed == UINT64_MAX)
      qn_pool_destroy(pool, block);
    else
      put_quarantined(pool, block);
  }
  qn_pool_move_ends(pool);
}

/* ---- Harvest: what is complete becomes everybody's ----------------------------------------------- */

enum { HARVEST = 32 };

/* Takes what is past off a shelf, up to `limit`; a list. Under the lane's lock. */
static qn_pool_block *take_past(qn_pool_lane *lane, uint32_t kind, uint32_t class_, const qn_pool_progress *progress,
                                uint32_t limit) {
  qn_pool_block *list = NULL;
  for (int shared = 0; shared < 2; shared++)
    while (limit > 0) {
      qn_pool_block *block = qn_pool_lane_least(lane, kind, class_, shared != 0);
      if (!block || (block->filed.value > progress->completed && !qn_pool_is_failed(progress, block->filed.value)))
        break;
      qn_pool_lane_take(lane, block);
      block->next = list;
      list = block;
      limit--;
    }
  return list;
}

/* Puts a list on the lane `complete`. */
static void put_complete(qn_pool *pool, qn_pool_block *list) {
  qn_mutex_lock(&pool->complete->lock);
  for (qn_pool_block *block = list, *next; block; block = next) {
    next = block->next;
    qn_pool_lane_put(pool->complete, block);
  }
  qn_mutex_unlock(&pool->complete->lock);
}

/* What is complete of up to `limit` blocks, a list; *out_moving: a move has begun that the caller ends. */
static qn_pool_block *harvest(qn_pool *pool, qn_pool_lane *lane, uint32_t kind, uint32_t class_, uint32_t limit,
                              bool *out_moving) {
  uint64_t id = atomic_load_explicit(&lane->id, memory_order_relaxed);
  qn_pool_progress progress = {0, 0};
  *out_moving = false;
  if (id == 0) return NULL;
  pool->ops->progress(id, &progress);
  qn_mutex_lock(&lane->lock);
  bool is_same = atomic_load_explicit(&lane->id, memory_order_relaxed) == id;
  qn_pool_block *list = is_same ? take_past(lane, kind, class_, &progress, limit) : NULL;
  if (list) qn_pool_move_begins(pool);
  qn_mutex_unlock(&lane->lock);
  *out_moving = list != NULL;
  qn_pool_block *done = NULL;
  for (qn_pool_block *block = list, *next; block; block = next) {
    next = block->next;
    if (!block->is_sole || !qn_pool_is_complete(&progress, block->filed.value)) {
      qn_pool_give(pool, block); /* other points are to be looked at, or it is to be quarantined */
      continue;
    }
    qn_pool_uses_clear(&block->uses);
    block->filed = (qn_point){0, 0};
    block->next = done;
    done = block;
  }
  return done;
}

qn_pool_block *qn_pool_harvest(qn_pool *pool, qn_pool_lane *lane, uint32_t kind, uint32_t class_) {
  bool moving = false;
  qn_pool_block *done = harvest(pool, lane, kind, class_, HARVEST, &moving);
  if (done && done->next) put_complete(pool, done->next);
  if (moving) qn_pool_move_ends(pool);
  return done;
}

static void harvest_shelf(qn_pool *pool, qn_pool_lane *lane, uint32_t kind, uint32_t class_) {
  bool moving = false;
  qn_pool_block *done = harvest(pool, lane, kind, class_, UINT32_MAX, &moving);
  if (done) put_complete(pool, done);
  if (moving) qn_pool_move_ends(pool);
}

void qn_pool_harvest_all(qn_pool *pool) {
  for (qn_pool_lane *lane = qn_pool_lanes(pool); lane; lane = lane->next)
    for (uint32_t kind = 0; kind < QN_POOL_KINDS; kind++)
      for (uint32_t class_ = 0; class_ < QN_POOL_CLASSES; class_++)
        if (!lane->is_complete && qn_pool_lane_has(lane, kind, class_)) harvest_shelf(pool, lane, kind, class_);
}

/* ---- Ends ---------------------------------------------------------------------------------------- */

void qn_pool_close(qn_pool *pool) {
  qn_pool_trim(pool, 0);
  free_quarantined(pool, true);
  for (qn_pool_lane *lane = qn_pool_lanes(pool), *next; lane; lane = next) {
    next = lane->next;
    free(lane);
  }
}

bool qn_pool_drain(qn_pool *pool, uint64_t *out_bytes) {
  qn_pool_trim(pool, 0);
  free_quarantined(pool, false);
  uint64_t look = qn_pool_look_begins(pool);
  bool any_released = false;
  *out_bytes = 0;
  for (qn_pool_lane *lane = qn_pool_lanes(pool); lane; lane = lane->next) {
    qn_mutex_lock(&lane->lock);
    *out_bytes += lane->free_bytes;
    any_released = any_released || qn_pool_lane_has_released(lane);
    qn_mutex_unlock(&lane->lock);
  }
  return *out_bytes == 0 && !any_released && !qn_pool_has_moved(pool, look);
}
