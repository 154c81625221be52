#include "core/timeline.h"

#include <stdlib.h>

#include "base/os/clock.h"
#include "base/status.h"
#include "core/call.h"
#include "core/trace.h"

/* ---- The registry ------------------------------------------------------------------------------- */

/* An id: serial above, slot below. Slot 0 isn't used, so that {0, 0} names no queue. */
enum { SLOT_BITS = 20, SLOT_LIMIT = 1 << SLOT_BITS, CHUNK_LOG = 5, CHUNK = 1 << CHUNK_LOG };
#define SLOT_MASK ((UINT64_C(1) << SLOT_BITS) - 1)

/* Chunk c holds CHUNK << c slots. */
static _Atomic(core_timeline *) chunks[SLOT_BITS - CHUNK_LOG + 1];
static _Atomic uint32_t used = 1;
static _Atomic uint64_t serials; /* the last one given out */
static qn_mutex registry_lock;   /* taking and freeing slots */
static core_timeline *free_slots;

static uint32_t chunk_of(uint32_t slot) { return 31u - (uint32_t)__builtin_clz(slot + CHUNK) - CHUNK_LOG; }

static core_timeline *slot_at(uint32_t slot) {
  uint32_t chunk = chunk_of(slot);
  core_timeline *first = atomic_load_explicit(&chunks[chunk], memory_order_acquire);
  return first ? &first[slot + CHUNK - (CHUNK << chunk)] : NULL;
}

core_timeline *core_timeline_slot(uint64_t id) {
  uint32_t slot = (uint32_t)(id & SLOT_MASK);
  if (slot == 0 || slot >= atomic_load_explicit(&used, memory_order_acquire)) return NULL;
  return slot_at(slot);
}

static bool was_given_out(uint64_t id) {
  uint64_t serial = id >> SLOT_BITS;
  return serial != 0 && serial <= atomic_load_explicit(&serials, memory_order_acquire) && core_timeline_slot(id);
}

bool core_timeline_is_live(const core_timeline *timeline, uint64_t id) {
  return atomic_load(&timeline->id) == id && atomic_load(&timeline->live) != 0;
}

static qn_status take_slot(core_timeline **out_timeline) {
  if (free_slots) {
    *out_timeline = free_slots;
    free_slots = free_slots->next_free;
    return QN_OK;
  }
  uint32_t slot = atomic_load_explicit(&used, memory_order_relaxed);
  if (slot >= SLOT_LIMIT) QN_FAIL(QN_ERROR_LIMIT, "%u queues exist or have failed, which is the limit", slot - 1);
  uint32_t chunk = chunk_of(slot);
  if (!atomic_load_explicit(&chunks[chunk], memory_order_relaxed)) {
    core_timeline *made = calloc((size_t)CHUNK << chunk, sizeof *made);
    if (!made) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the timelines of queues");
    atomic_store_explicit(&chunks[chunk], made, memory_order_release);
  }
  core_timeline *t = slot_at(slot);
  t->slot = slot;
  atomic_store_explicit(&used, slot + 1, memory_order_release);
  *out_timeline = t;
  return QN_OK;
}

qn_status core_timeline_reserve(core_timeline **out_timeline, uint64_t *out_id) {
  qn_mutex_lock(&registry_lock);
  qn_status status = take_slot(out_timeline);
  qn_mutex_unlock(&registry_lock);
  if (status < 0) return status;
  uint64_t serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
  *out_id = serial << SLOT_BITS | (*out_timeline)->slot;
  return QN_OK;
}

static void give_slot(core_timeline *t) {
  qn_mutex_lock(&registry_lock);
  t->next_free = free_slots;
  free_slots = t;
  qn_mutex_unlock(&registry_lock);
}

void core_timeline_cancel(core_timeline *timeline) { give_slot(timeline); }

void core_timeline_start(core_timeline *timeline, uint64_t id, const core_timeline_source *source) {
  qn_mutex_lock(&timeline->lock); /* an older id's buffers may still be guarded by it */
  timeline->table = source->table;
  timeline->queue = source->queue;
  timeline->device = source->device;
  timeline->domain = source->domain;
  timeline->is_timed = source->is_timed;
  timeline->lane = source->lane;
  core_known_clear(&timeline->known);
  core_recent_clear(&timeline->recent);
  atomic_store(&timeline->submitted, 0);
  atomic_store(&timeline->completed, 0);
  atomic_store(&timeline->failed_first, 0);
  atomic_store(&timeline->live, 1);
  atomic_store(&timeline->id, id);
  qn_mutex_unlock(&timeline->lock);
}

void core_timeline_retire(core_timeline *timeline) {
  qn_mutex_lock(&timeline->lock);
  atomic_store(&timeline->live, 0);
  if (atomic_load(&timeline->failed_first) == 0) atomic_store(&timeline->id, 0);
  qn_mutex_unlock(&timeline->lock);
}

bool core_timeline_is_quiet(const core_timeline *timeline) { return atomic_load(&timeline->users) == 0; }

void core_timeline_free(core_timeline *timeline) {
  timeline->queue = NULL;
  core_recent_free(&timeline->recent);
  core_uses_clear(&timeline->waiters);
  if (atomic_load(&timeline->failed_first) == 0) give_slot(timeline); /* else it keeps the cause */
}

/* ---- Asking the adapter ------------------------------------------------------------------------- */

static bool begin_use(core_timeline *t, uint64_t id) {
  atomic_fetch_add(&t->users, 1);
  /* Retiring clears `live` and then looks at `users`; all four are in the one total order. */
  if (core_timeline_is_live(t, id)) return true;
  atomic_fetch_sub(&t->users, 1);
  return false;
}

core_timeline *core_timeline_begin_use(uint64_t id) {
  core_timeline *t = core_timeline_slot(id);
  return t && begin_use(t, id) ? t : NULL;
}

void core_timeline_end_use(core_timeline *timeline) { atomic_fetch_sub(&timeline->users, 1); }

void core_timeline_raise(core_timeline *timeline, uint64_t completed) {
  uint64_t old = atomic_load_explicit(&timeline->completed, memory_order_relaxed);
  while (old < completed && !atomic_compare_exchange_weak_explicit(&timeline->completed, &old, completed,
                                                                   memory_order_release, memory_order_relaxed))
    continue;
}

uint64_t core_timeline_number(const core_timeline *timeline) { return atomic_load(&timeline->id); }

void core_timeline_visit(const void *device, void (*visit)(void *user, core_timeline *timeline), void *user) {
  uint32_t count = atomic_load_explicit(&used, memory_order_acquire);
  for (uint32_t slot = 1; slot < count; slot++) {
    core_timeline *t = slot_at(slot);
    uint64_t id = atomic_load(&t->id);
    if (id == 0 || !begin_use(t, id)) continue;
    if (t->device == device) visit(user, t);
    core_timeline_end_use(t);
  }
}

void core_timeline_refresh(core_timeline *timeline) {
  uint64_t value = 0;
  qn_status status = timeline->table->queue_completed(timeline->queue, &value);
  if (status < 0 && atomic_load_explicit(&timeline->failed_first, memory_order_acquire) == 0)
    core_failure_record(timeline, status);
  core_timeline_raise(timeline, value);
}

void core_timeline_note(core_timeline *timeline, uint64_t value, const char *kernel) {
  core_recent *recent = &timeline->recent;
  if (core_recent_is_full(recent, value, atomic_load_explicit(&timeline->completed, memory_order_relaxed))) {
    core_timeline_refresh(timeline);
    if (core_recent_is_full(recent, value, atomic_load(&timeline->completed))) core_recent_grow(recent);
  }
  core_recent_note(recent, value, kernel);
}

qn_status core_timeline_failure(core_timeline *timeline) {
  if (atomic_load_explicit(&timeline->failed_first, memory_order_acquire) == 0) return QN_OK;
  return core_failure_status(&timeline->failure);
}

/* ---- Points ------------------------------------------------------------------------------------- */

/* What is known without asking the adapter. Each word is read between two looks at the id, and an id never comes back:
 * what was read is this queue's. */
static core_point_state look_at_memory(core_timeline *t, const qn_point *point) {
  uint64_t completed = atomic_load_explicit(&t->completed, memory_order_acquire);
  uint64_t failed_first = atomic_load_explicit(&t->failed_first, memory_order_acquire);
  uint64_t submitted = atomic_load_explicit(&t->submitted, memory_order_acquire);
  bool is_live = atomic_load_explicit(&t->live, memory_order_acquire) != 0;
  if (atomic_load_explicit(&t->id, memory_order_acquire) != point->queue) return CORE_POINT_COMPLETE; /* retired */
  if (failed_first != 0 && point->value >= failed_first)
    return point->value <= submitted ? CORE_POINT_FAILED : CORE_POINT_UNKNOWN;
  if (point->value <= completed) return CORE_POINT_COMPLETE;
  if (point->value > submitted) return CORE_POINT_UNKNOWN;
  return is_live ? CORE_POINT_PENDING : CORE_POINT_COMPLETE;
}

static core_point_state look(core_timeline *t, const qn_point *point, bool ask) {
  if (point->value == 0) return CORE_POINT_COMPLETE;
  core_point_state state = look_at_memory(t, point);
  if (state != CORE_POINT_PENDING || !ask || !begin_use(t, point->queue)) return state;
  core_timeline_refresh(t);
  core_timeline_end_use(t);
  return look_at_memory(t, point);
}

core_point_state core_point_look(const qn_point *point) {
  if (point->queue == 0 && point->value == 0) return CORE_POINT_COMPLETE;
  if (!was_given_out(point->queue)) return CORE_POINT_UNKNOWN;
  return look(core_timeline_slot(point->queue), point, true);
}

bool core_point_is_in_flight(const qn_point *point) {
  core_point_state state = core_point_look(point);
  uint64_t completed = 0, failed_first = 0;
  if (state != CORE_POINT_FAILED) return state == CORE_POINT_PENDING;
  core_timeline_progress(point->queue, &completed, &failed_first);
  return point->value > completed;
}

bool core_point_is_known_complete(const qn_point *point) {
  core_timeline *t = core_timeline_slot(point->queue);
  return !t || look(t, point, false) != CORE_POINT_PENDING;
}

static qn_status unknown_point(const qn_point *point) {
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
          "the point {queue %llu, value %llu} was not given out; waiting for it would not end",
          (unsigned long long)point->queue, (unsigned long long)point->value);
}

/* Sleeps in the adapter until the value is complete, or its own limit. QN_OK: look again. */
static qn_status wait_in_adapter(core_timeline *t, const qn_point *point, uint64_t timeout_ns) {
  if (!begin_use(t, point->queue)) return QN_OK; /* retired meanwhile */
  uint64_t begin = core_trace_begin();
  qn_status status = t->table->queue_wait(t->queue, point->value, timeout_ns);
  core_trace_end(begin, "wait", "wait", NULL);
  if (status >= 0) core_timeline_refresh(t);
  core_timeline_end_use(t);
  return status;
}

qn_status core_point_wait(const qn_point *point, uint64_t timeout_ns) {
  if (point->queue == 0 && point->value == 0) return QN_OK;
  if (!was_given_out(point->queue)) return unknown_point(point);
  core_timeline *t = core_timeline_slot(point->queue);
  uint64_t deadline = timeout_ns == QN_POLL || timeout_ns == QN_FOREVER ? timeout_ns : qn_clock_deadline(timeout_ns);
  for (;;) {
    switch (look(t, point, true)) {
      case CORE_POINT_COMPLETE:
        return QN_OK;
      case CORE_POINT_FAILED:
        return core_failure_status(&t->failure); /* a failed slot is never used again */
      case CORE_POINT_UNKNOWN:
        return unknown_point(point);
      case CORE_POINT_PENDING:
        break;
    }
    if (timeout_ns == QN_POLL) return QN_NOT_READY;
    QN_TRY(core_may_wait("the point is not complete: the call"));
    uint64_t left = qn_clock_left(deadline);
    qn_status status = left == 0 ? QN_ERROR_TIMEOUT : wait_in_adapter(t, point, left);
    if (status == QN_ERROR_TIMEOUT)
      QN_FAIL(QN_ERROR_TIMEOUT, "value %llu of queue %llu is not complete after %llu ns",
              (unsigned long long)point->value, (unsigned long long)point->queue, (unsigned long long)timeout_ns);
    /* A failure of the queue is found by looking again; one of the waiting itself is the caller's. */
    if (status < 0 && look(t, point, true) == CORE_POINT_PENDING) return status;
  }
}

/* ---- For the pool -------------------------------------------------------------------------------- */

void core_timeline_progress(uint64_t id, uint64_t *out_completed, uint64_t *out_failed_first) {
  core_timeline *t = core_timeline_slot(id);
  *out_completed = UINT64_MAX;
  *out_failed_first = 0;
  if (!t) return;
  bool is_used = begin_use(t, id);
  if (is_used) core_timeline_refresh(t);
  uint64_t completed = atomic_load_explicit(&t->completed, memory_order_acquire);
  uint64_t failed_first = atomic_load_explicit(&t->failed_first, memory_order_acquire);
  if (is_used) core_timeline_end_use(t);
  if (is_used) *out_completed = completed;
  if (atomic_load_explicit(&t->id, memory_order_acquire) == id) *out_failed_first = failed_first;
}

struct qn_pool_lane *core_timeline_lane(uint64_t id) {
  core_timeline *t = core_timeline_begin_use(id);
  struct qn_pool_lane *lane = t ? t->lane : NULL;
  if (t) core_timeline_end_use(t);
  return lane;
}
