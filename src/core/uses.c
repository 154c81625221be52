#include "core/uses.h"

#include <stdlib.h>

#include "base/status.h"
#include "core/timeline.h"

static core_uses_part *next_of(const core_uses_part *part) {
  return atomic_load_explicit(&part->next, memory_order_acquire);
}

/* Only its own recording gives a queue a slot, so that this needs no lock. */
static _Atomic uint64_t *find(core_uses *uses, uint64_t queue) {
  for (core_uses_part *part = &uses->first; part; part = next_of(part))
    for (int i = 0; i < CORE_USES_SLOTS; i++)
      if (atomic_load_explicit(&part->slots[i].queue, memory_order_relaxed) == queue) return &part->slots[i].value;
  return NULL;
}

/* A queue that is gone records nothing any longer. When it failed, its point still matters. Under the lock. */
static bool is_free(const core_uses_part *part, int i) {
  const qn_point point = {atomic_load_explicit(&part->slots[i].queue, memory_order_relaxed),
                          atomic_load_explicit(&part->slots[i].value, memory_order_relaxed)};
  core_timeline *t = point.queue == 0 ? NULL : core_timeline_slot(point.queue);
  if (t && core_timeline_is_live(t, point.queue)) return false;
  return point.value == 0 || core_point_look(&point) != CORE_POINT_FAILED;
}

static _Atomic uint64_t *take(core_uses_part *part, uint64_t queue) {
  for (int i = 0; i < CORE_USES_SLOTS; i++) {
    if (!is_free(part, i)) continue;
    atomic_store_explicit(&part->slots[i].value, 0, memory_order_relaxed);
    atomic_store_explicit(&part->slots[i].queue, queue, memory_order_relaxed);
    return &part->slots[i].value;
  }
  return NULL;
}

static _Atomic uint64_t *take_or_grow(core_uses *uses, uint64_t queue) {
  core_uses_part *last = &uses->first;
  for (core_uses_part *part = last; part; part = next_of(part)) {
    _Atomic uint64_t *value = take(part, queue);
    if (value) return value;
    last = part;
  }
  core_uses_part *more = calloc(1, sizeof *more);
  if (!more) return NULL;
  _Atomic uint64_t *value = take(more, queue);
  atomic_store_explicit(&last->next, more, memory_order_release);
  return value;
}

qn_status core_uses_claim(core_uses *uses, uint64_t queue, _Atomic uint64_t **out_value) {
  *out_value = find(uses, queue);
  if (*out_value) return QN_OK;
  qn_mutex_lock(&uses->lock);
  *out_value = take_or_grow(uses, queue);
  qn_mutex_unlock(&uses->lock);
  if (!*out_value) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to note that one more queue uses an object");
  return QN_OK;
}

uint32_t core_uses_points(const core_uses *uses, qn_point *points, uint32_t capacity) {
  uint32_t count = 0;
  for (const core_uses_part *part = &uses->first; part; part = next_of(part))
    for (int i = 0; i < CORE_USES_SLOTS; i++) {
      const qn_point point = {atomic_load_explicit(&part->slots[i].queue, memory_order_relaxed),
                              atomic_load_explicit(&part->slots[i].value, memory_order_acquire)};
      core_point_state state = point.value == 0 ? CORE_POINT_COMPLETE : core_point_look(&point);
      if (state != CORE_POINT_PENDING && state != CORE_POINT_FAILED) continue;
      if (count < capacity) points[count] = point;
      count++;
    }
  return count;
}

bool core_uses_is_pending(const core_uses *uses) {
  for (const core_uses_part *part = &uses->first; part; part = next_of(part))
    for (int i = 0; i < CORE_USES_SLOTS; i++) {
      const qn_point point = {atomic_load_explicit(&part->slots[i].queue, memory_order_relaxed),
                              atomic_load_explicit(&part->slots[i].value, memory_order_acquire)};
      if (point.value != 0 && core_point_is_in_flight(&point)) return true;
    }
  return false;
}

void core_uses_clear(core_uses *uses) {
  core_uses_part *part = next_of(&uses->first);
  while (part) {
    core_uses_part *next = next_of(part);
    free(part);
    part = next;
  }
  for (int i = 0; i < CORE_USES_SLOTS; i++) {
    atomic_store_explicit(&uses->first.slots[i].queue, 0, memory_order_relaxed);
    atomic_store_explicit(&uses->first.slots[i].value, 0, memory_order_relaxed);
  }
  atomic_store_explicit(&uses->first.next, NULL, memory_order_relaxed);
}
