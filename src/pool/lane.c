#include "pool/lane.h"

#include <stdlib.h>

uint32_t qn_pool_uses_points(const qn_pool_uses *uses, qn_point *points) {
  uint32_t count = 0;
  if (uses->writer.value != 0) points[count++] = uses->writer;
  for (uint32_t i = 0; i < uses->reader_count; i++)
    if (uses->readers[i].value != 0) points[count++] = uses->readers[i];
  return count;
}

void qn_pool_uses_clear(qn_pool_uses *uses) {
  atomic_store_explicit(&uses->owner, 0, memory_order_relaxed);
  uses->writer = (qn_point){0, 0};
  uses->reader_count = 0;
  uses->is_unordered = false;
}

/* Whether all points are of one queue; then the last value, 0 for no point at all. */
static bool is_of(const qn_pool_uses *uses, uint64_t queue, uint64_t *out_value) {
  uint64_t value = uses->writer.value;
  if (value != 0 && uses->writer.queue != queue) return false;
  for (uint32_t i = 0; i < uses->reader_count; i++) {
    if (uses->readers[i].queue != queue) return false;
    if (uses->readers[i].value > value) value = uses->readers[i].value;
  }
  *out_value = value;
  return true;
}

/* ---- Shelves ------------------------------------------------------------------------------------- */

static void mark(qn_pool_lane *lane, uint32_t kind, uint32_t class_, bool filled) {
  _Atomic uint64_t *word = &lane->filled[kind][class_ / 64];
  uint64_t bits = atomic_load_explicit(word, memory_order_relaxed), bit = UINT64_C(1) << (class_ % 64);
  uint64_t wanted = filled ? bits | bit : bits & ~bit;
  if (wanted != bits) atomic_store_explicit(word, wanted, memory_order_relaxed);
}

void qn_pool_lane_put(qn_pool_lane *lane, qn_pool_block *block) {
  qn_pool_shelf_put(&lane->shelves[block->kind][block->class_], block, &lane->visits);
  mark(lane, block->kind, block->class_, true);
  lane->free_bytes += block->size_bytes;
  atomic_store_explicit(&block->state, QN_POOL_FREE, memory_order_relaxed);
}

static void is_taken(qn_pool_lane *lane, qn_pool_block *block) {
  if (qn_pool_shelf_is_empty(&lane->shelves[block->kind][block->class_])) mark(lane, block->kind, block->class_, false);
  lane->free_bytes -= block->size_bytes;
  atomic_store_explicit(&block->state, QN_POOL_USED, memory_order_relaxed);
}

qn_pool_block *qn_pool_lane_take_last(qn_pool_lane *lane, uint32_t kind, uint32_t class_) {
  qn_pool_block *block = qn_pool_shelf_take_last(&lane->shelves[kind][class_], &lane->visits);
  if (block) is_taken(lane, block);
  return block;
}

void qn_pool_lane_take(qn_pool_lane *lane, qn_pool_block *least) {
  qn_pool_shelf_take(&lane->shelves[least->kind][least->class_], least, &lane->visits);
  is_taken(lane, least);
}

static void clear_shelf(qn_pool_lane *lane, uint32_t kind, uint32_t class_, qn_pool_block **list) {
  for (;;) {
    qn_pool_block *block = qn_pool_lane_least(lane, kind, class_, false);
    if (!block) block = qn_pool_lane_least(lane, kind, class_, true);
    if (!block) return;
    qn_pool_lane_take(lane, block);
    block->next = *list;
    *list = block;
  }
}

qn_pool_block *qn_pool_lane_clear(qn_pool_lane *lane) {
  qn_pool_block *list = NULL;
  for (uint32_t kind = 0; kind < QN_POOL_KINDS; kind++)
    for (uint32_t class_ = 0; class_ < QN_POOL_CLASSES; class_++)
      if (qn_pool_lane_has(lane, kind, class_)) clear_shelf(lane, kind, class_, &list);
  return list;
}

/* ---- Releases ------------------------------------------------------------------------------------ */

static qn_pool_block *take_released(qn_pool_lane *lane) {
  qn_pool_block *taken = atomic_exchange_explicit(&lane->released, NULL, memory_order_acquire), *ordered = NULL;
  while (taken) {
    qn_pool_block *next = taken->next;
    taken->next = ordered;
    ordered = taken;
    taken = next;
  }
  return ordered;
}

/* Puts a block on the lane when that takes no question. */
static bool put_own(qn_pool_lane *lane, uint64_t id, bool is_open, qn_pool_block *block) {
  uint64_t value = 0;
  if (!is_open || block->needs_settling || !is_of(&block->uses, id, &value)) return false;
  block->filed = (qn_point){id, value};
  block->is_sole = true;
  qn_pool_lane_put(lane, block);
  return true;
}

qn_pool_block *qn_pool_lane_drain(qn_pool_lane *lane) {
  if (!qn_pool_lane_has_released(lane)) return NULL;
  uint64_t id = atomic_load_explicit(&lane->id, memory_order_relaxed);
  qn_pool_block *others = NULL;
  for (qn_pool_block *block = take_released(lane), *next; block; block = next) {
    next = block->next;
    lane->living--;
    if (put_own(lane, id, id != 0 || lane->is_complete, block)) continue;
    block->next = others;
    others = block;
  }
  return others;
}

qn_pool_lane *qn_pool_lane_new(void) {
  qn_pool_lane *lane = aligned_alloc(_Alignof(qn_pool_lane), sizeof *lane);
  if (lane) *lane = (qn_pool_lane){0};
  return lane;
}
