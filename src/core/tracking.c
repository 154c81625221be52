#include "core/tracking.h"

#include <stddef.h>

/* ---- Locks -------------------------------------------------------------------------------------- */

/* The timeline whose lock guards a tracking, or NULL when no lock is needed but the own queue's: the own queue is the
 * owner, or becomes it now because nobody has used the buffer. */
static core_timeline *foreign_owner(core_tracking *tracking, uint64_t own_id) {
  uint64_t owner = atomic_load_explicit(&tracking->owner, memory_order_acquire);
  if (owner == own_id) return NULL;
  if (owner == 0 && atomic_compare_exchange_strong(&tracking->owner, &owner, own_id)) return NULL;
  return owner == own_id ? NULL : core_timeline_slot(owner);
}

static void add_sorted(core_locks *locks, core_timeline *timeline) {
  uint32_t at = locks->count;
  while (at > 0 && locks->timelines[at - 1]->slot > timeline->slot) at--;
  if (at > 0 && locks->timelines[at - 1] == timeline) return;
  for (uint32_t i = locks->count; i > at; i--) locks->timelines[i] = locks->timelines[i - 1];
  locks->timelines[at] = timeline;
  locks->count++;
}

static bool holds(const core_locks *locks, const core_timeline *timeline) {
  for (uint32_t i = 0; i < locks->count; i++)
    if (locks->timelines[i] == timeline) return true;
  return false;
}

/* Whether every owner's lock is held. While it is, the owner stays: to become it one needs that lock. */
static bool all_owners_are_locked(const core_locks *locks, uint64_t own_id, const core_use *uses, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!uses[i].tracking) continue;
    core_timeline *owner = foreign_owner(uses[i].tracking, own_id);
    if (owner && !holds(locks, owner)) return false;
  }
  return true;
}

static void lock_all(core_locks *locks) {
  for (uint32_t i = 0; i < locks->count; i++) qn_mutex_lock(&locks->timelines[i]->lock);
}

void core_tracking_lock(core_locks *locks, core_timeline *own, uint64_t own_id, const core_use *uses, uint32_t count) {
  locks->timelines[0] = own;
  locks->count = 1;
  lock_all(locks);
  while (!all_owners_are_locked(locks, own_id, uses, count)) {
    core_tracking_unlock(locks);
    locks->count = 1;
    locks->timelines[0] = own;
    for (uint32_t i = 0; i < count; i++) {
      core_timeline *owner = uses[i].tracking ? foreign_owner(uses[i].tracking, own_id) : NULL;
      if (owner) add_sorted(locks, owner);
    }
    lock_all(locks);
  }
}

void core_tracking_unlock(core_locks *locks) {
  for (uint32_t i = locks->count; i > 0; i--) qn_mutex_unlock(&locks->timelines[i - 1]->lock);
}

/* ---- Waits -------------------------------------------------------------------------------------- */

/* What of a buffer's points others must wait for: a bit for the writer, and one for each reader. In a register: this is asked for every
 * buffer of every launch. */
enum { WRITER = 1, FIRST_READER = 2 };
_Static_assert(CORE_READERS < 32, "a bit each");

/* Whether a point of another queue is worth keeping. What failed is, though nobody waits for it any longer: a block whose
 * last use failed is quarantined (P3). */
static bool matters(const qn_point *point, bool *out_pending) {
  core_point_state state = point->value == 0 ? CORE_POINT_COMPLETE : core_point_look(point);
  *out_pending = state == CORE_POINT_PENDING || (state == CORE_POINT_FAILED && core_point_is_in_flight(point));
  return state == CORE_POINT_PENDING || state == CORE_POINT_FAILED;
}

/* Forgets what other queues have completed, so that later looks are compares. */
static uint32_t forget_complete(core_tracking *t, uint64_t own_id) {
  uint32_t pending = 0, kept = 0;
  bool is_pending = false;
  if (t->writer.queue != own_id) {
    if (!matters(&t->writer, &is_pending)) t->writer = (qn_point){0, 0};
    if (is_pending) pending |= WRITER;
  }
  for (uint32_t i = 0; i < t->reader_count; i++) {
    is_pending = false;
    if (t->readers[i].queue != own_id && !matters(&t->readers[i], &is_pending)) continue;
    if (is_pending) pending |= (uint32_t)FIRST_READER << kept;
    t->readers[kept++] = t->readers[i];
  }
  t->reader_count = kept;
  return pending;
}

static bool has_reader(const core_tracking *t, uint64_t id) {
  for (uint32_t i = 0; i < t->reader_count; i++)
    if (t->readers[i].queue == id) return true;
  return false;
}

static qn_status wait_for_use(core_tracking *t, uint64_t own_id, uint32_t access, core_wait_fn wait, void *user) {
  uint32_t pending = forget_complete(t, own_id);
  if (pending & WRITER) {
    qn_status status = wait(user, &t->writer);
    if (status != QN_OK) return status;
  }
  /* A reader too many waits for the first one and stands for both (core_tracking_note). */
  bool all = (access & QN_ACCESS_WRITE) != 0 || t->is_unordered;
  bool merges = !all && t->reader_count == CORE_READERS && !has_reader(t, own_id);
  uint32_t count = all ? t->reader_count : merges ? 1 : 0;
  for (uint32_t i = 0; i < count; i++) {
    qn_status status = pending & (uint32_t)FIRST_READER << i ? wait(user, &t->readers[i]) : QN_OK;
    if (status != QN_OK) return status;
  }
  return QN_OK;
}

/* The queue's own points need no wait of it, but others may still have to wait for them. */
static qn_status wait_for_birth(core_birth *birth, uint64_t own_id, core_wait_fn wait, void *user) {
  if (atomic_load_explicit(&birth->is_over, memory_order_acquire) != 0) return QN_OK;
  bool is_over = true;
  for (uint32_t i = 0; i < birth->count; i++) {
    const qn_point *point = &birth->points[i];
    if (!core_point_is_in_flight(point)) continue;
    is_over = false;
    qn_status status = point->queue == own_id ? QN_OK : wait(user, point);
    if (status != QN_OK) return status;
  }
  if (is_over) atomic_store_explicit(&birth->is_over, 1, memory_order_release);
  return QN_OK;
}

qn_status core_tracking_waits(uint64_t own_id, const core_use *uses, uint32_t count, core_wait_fn wait, void *user) {
  for (uint32_t i = 0; i < count; i++) {
    qn_status status = QN_OK;
    if (uses[i].tracking)
      status = wait_for_use(uses[i].tracking, own_id, uses[i].access, wait, user);
    else if (uses[i].birth)
      status = wait_for_birth(uses[i].birth, own_id, wait, user);
    if (status != QN_OK) return status;
  }
  return QN_OK;
}

qn_status core_tracking_claim(uint64_t own_id, core_use *uses, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    qn_status status = uses[i].uses ? core_uses_claim(uses[i].uses, own_id, &uses[i].last_value) : QN_OK;
    if (status < 0) return status;
  }
  return QN_OK;
}

/* ---- Notes -------------------------------------------------------------------------------------- */

static void note_read(core_tracking *t, const qn_point *point) {
  for (uint32_t i = 0; i < t->reader_count; i++) {
    if (t->readers[i].queue != point->queue) continue;
    t->readers[i] = *point;
    return;
  }
  uint32_t at = t->reader_count < CORE_READERS ? t->reader_count++ : 0;
  t->readers[at] = *point;
}

static void note_use(core_tracking *t, uint32_t access, const qn_point *point) {
  if (access & QN_ACCESS_WRITE) {
    t->writer = *point;
    t->reader_count = 0;
    t->is_unordered = false;
  } else {
    note_read(t, point);
  }
  atomic_store_explicit(&t->owner, point->queue, memory_order_release);
}

void core_tracking_note(uint64_t own_id, uint64_t value, const core_use *uses, uint32_t count) {
  const qn_point point = {own_id, value};
  for (uint32_t i = 0; i < count; i++) {
    if (uses[i].tracking) note_use(uses[i].tracking, uses[i].access, &point);
    if (uses[i].uses) atomic_store_explicit(uses[i].last_value, value, memory_order_release);
  }
}

uint32_t core_tracking_points(core_tracking *tracking, uint32_t access, qn_point *points) {
  for (;;) {
    uint64_t owner = atomic_load_explicit(&tracking->owner, memory_order_acquire);
    if (owner == 0) return 0;
    core_timeline *timeline = core_timeline_slot(owner);
    qn_mutex_lock(&timeline->lock);
    uint32_t count = 0;
    bool is_owner = atomic_load_explicit(&tracking->owner, memory_order_relaxed) == owner;
    if (is_owner) {
      if (tracking->writer.value != 0) points[count++] = tracking->writer;
      uint32_t readers = access & QN_ACCESS_WRITE ? tracking->reader_count : 0;
      for (uint32_t i = 0; i < readers; i++) points[count++] = tracking->readers[i];
    }
    qn_mutex_unlock(&timeline->lock);
    if (is_owner) return count;
  }
}
