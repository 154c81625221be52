/* lane.h - what the files of the pool share: lanes under their lock, and blocks on their way between them. */
#ifndef QUERN_POOL_LANE_H
#define QUERN_POOL_LANE_H

#include "pool/pool.h"

/* ---- Under the lane's lock ------------------------------------------------------------------------- */

/* `filed` and `is_sole` are set. */
void qn_pool_lane_put(qn_pool_lane *lane, qn_pool_block *block);
/* The one that the queue gave last; NULL: none. */
qn_pool_block *qn_pool_lane_take_last(qn_pool_lane *lane, uint32_t kind, uint32_t class_);
/* The one that waits for the least value, the queue's own or a shared one; NULL: none. */
static inline qn_pool_block *qn_pool_lane_least(const qn_pool_lane *lane, uint32_t kind, uint32_t class_, bool shared) {
  return qn_pool_shelf_least(&lane->shelves[kind][class_], shared);
}
/* Takes what qn_pool_lane_least gave. */
void qn_pool_lane_take(qn_pool_lane *lane, qn_pool_block *least);
/* Takes up what was released: puts those whose points are the lane's on its shelves, oldest first. Returns the others, for
 * qn_pool_place. */
QN_MUST_USE qn_pool_block *qn_pool_lane_drain(qn_pool_lane *lane);

/* Takes everything off the shelves; a list. */
QN_MUST_USE qn_pool_block *qn_pool_lane_clear(qn_pool_lane *lane);

/* ---- Blocks on their way ---------------------------------------------------------------------------- */

/* A thread that takes blocks off a list, to put them on another or to give them back to the driver, has them on no list for a moment:
 * whoever looks at all lists then misses them, and would think that there is no memory, or that all of it went back. So a
 * move begins under the lock under which the blocks are taken, and ends when they are where they belong. */
static inline void qn_pool_move_begins(qn_pool *pool) {
  atomic_fetch_add_explicit(&pool->moves_begun, 1, memory_order_relaxed);
}
static inline void qn_pool_move_ends(qn_pool *pool) {
  atomic_fetch_add_explicit(&pool->moves_ended, 1, memory_order_release);
}
/* Before a look at all lists; what it returns is for qn_pool_has_moved. */
static inline uint64_t qn_pool_look_begins(qn_pool *pool) {
  return atomic_load_explicit(&pool->moves_ended, memory_order_acquire);
}
/* After a look under each list's lock: whether one may have been missed. Moves of the thread's own count too. */
static inline bool qn_pool_has_moved(qn_pool *pool, uint64_t look) {
  return atomic_load_explicit(&pool->moves_begun, memory_order_relaxed) != look;
}

/* ---- Under no lock --------------------------------------------------------------------------------- */

static inline bool qn_pool_lane_has_released(const qn_pool_lane *lane) {
  return atomic_load_explicit(&lane->released, memory_order_relaxed) != NULL;
}
/* A hint. */
static inline bool qn_pool_lane_has(const qn_pool_lane *lane, uint32_t kind, uint32_t class_) {
  uint64_t word = atomic_load_explicit(&lane->filled[kind][class_ / 64], memory_order_relaxed);
  return (word >> (class_ % 64) & 1) != 0;
}
static inline qn_pool_lane *qn_pool_lanes(qn_pool *pool) {
  return atomic_load_explicit(&pool->lanes, memory_order_acquire);
}
static inline bool qn_pool_is_complete(const qn_pool_progress *progress, uint64_t value) {
  return value <= progress->completed && (progress->failed_first == 0 || value < progress->failed_first);
}
static inline bool qn_pool_is_failed(const qn_pool_progress *progress, uint64_t value) {
  return progress->failed_first != 0 && value >= progress->failed_first;
}

qn_pool_lane *qn_pool_lane_new(void);
/* Whether one of a block's last points has failed. */
bool qn_pool_has_failed(qn_pool *pool, const qn_pool_block *block);
/* Settles and gives what qn_pool_lane_drain returned. */
void qn_pool_place(qn_pool *pool, qn_pool_block *list);
/* Takes up what was released on any lane. Whether there was something. */
bool qn_pool_drain_lanes(qn_pool *pool);
/* Takes complete blocks off one shelf, a bounded number: one of them is returned, no longer free, the others become
 * everybody's. NULL: there is none. */
qn_pool_block *qn_pool_harvest(qn_pool *pool, qn_pool_lane *lane, uint32_t kind, uint32_t class_);
/* Makes all that is complete, of any size, everybody's. */
void qn_pool_harvest_all(qn_pool *pool);

/* ---- The driver's side ------------------------------------------------------------------------------ */

/* New memory, used. QN_NOT_READY: it would pass the limit. Errors: the adapter's, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_pool_create(qn_pool *pool, const qn_pool_request *request, uint64_t size, uint32_t class_,
                                     qn_pool_block **out_block);
/* Gives complete blocks back to the driver until `size` more fits below the limit; all of them when `all`. */
void qn_pool_make_room(qn_pool *pool, uint64_t size, bool all);
uint64_t qn_pool_free_bytes(qn_pool *pool);
/* What may be reserved of a kind. */
uint64_t qn_pool_limit(qn_pool *pool, uint32_t kind);

/* ---- The caller's help ------------------------------------------------------------------------------ */

/* Asks the pressure callback, if there is one and this thread isn't inside of it. Whether it says that something was released. */
bool qn_pool_press(qn_pool *pool, uint64_t wanted_bytes);

#endif
