/* timeline.h - the process-wide registry of queue ids and what is known of each queue's progress (L5).
 *
 * An id is {serial, slot}; a serial is given once in a process. Slots are type-stable: their memory is never returned, so
 * that any thread may look at any id at any time, and lock the mutex that belongs to it, without a registry lock. When a
 * queue retires its slot is used again, but for one that failed: that slot keeps the first cause for ever. So the
 * timeline of a retired queue reads as complete, or as failed from the value that failed on.
 *
 * docs/decisions/timelines.md tells why it is so.
 */
#ifndef QUERN_CORE_TIMELINE_H
#define QUERN_CORE_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/thread.h"
#include "core/failure.h"
#include "core/known.h"
#include "core/recent.h"
#include "core/uses.h"
#include "quern/adapter.h"

struct qn_pool_lane;

typedef struct core_timeline {
  /* Written at creation and retirement; a reader looks at it before and after what it reads. 0: free. */
  _Atomic uint64_t id;
  _Atomic uint32_t live;         /* 1 while the adapter's queue may be asked */
  _Atomic uint32_t users;        /* threads that ask it just now without a pin of the queue */
  _Atomic uint64_t submitted;    /* the last value given out */
  _Atomic uint64_t completed;    /* every value up to this one is known to be complete, done or failed */
  _Atomic uint64_t failed_first; /* the first value that failed; 0: none. Set before `completed` covers it */
  const qn_adapter_table *table;
  qn_adapter_queue *queue;
  const void *device;        /* queues of one device can wait for each other on it */
  struct qn_pool_lane *lane; /* the queue's part of its device's pool */
  core_failure_domain *domain;
  bool is_timed; /* as its maker asked */

  /* Guards recording on the queue and the tracking of the buffers that it used last (core/tracking.h). It belongs to the
   * slot: it may be taken for an id that has retired. Several are taken in the order of slots. */
  qn_mutex lock;
  uint32_t slot;
  core_known known; /* what it already waits for */
  core_uses
      waiters; /* who has recorded a wait for it, with the waits' values: the queue's driver object outlives those */
  core_recent recent;

  core_failure failure; /* the first cause; written once, before failed_first */

  struct core_timeline *next_free;
} core_timeline;

/* Takes a slot for a queue that is being made; core_timeline_start makes its id known. Errors: LIMIT,
 * OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_timeline_reserve(core_timeline **out_timeline, uint64_t *out_id);
/* What a timeline is of. */
typedef struct core_timeline_source {
  const void *device;
  core_failure_domain *domain; /* the device's */
  const qn_adapter_table *table;
  qn_adapter_queue *queue;
  struct qn_pool_lane *lane;
  bool is_timed;
} core_timeline_source;
void core_timeline_start(core_timeline *timeline, uint64_t id, const core_timeline_source *source);
/* Gives back a slot that was not started. */
void core_timeline_cancel(core_timeline *timeline);

/* Everything on it is complete: from now on nobody asks the adapter's queue anew. core_timeline_is_quiet says when
 * nobody does any longer; then the adapter's queue may be destroyed, and then core_timeline_free gives the slot back. */
void core_timeline_retire(core_timeline *timeline);
bool core_timeline_is_quiet(const core_timeline *timeline);
void core_timeline_free(core_timeline *timeline);

/* The slot that an id names, whether the id is live, retired or never was. NULL: no such slot. */
core_timeline *core_timeline_slot(uint64_t id);
/* Whether an id is live. Under the slot's lock it stays so. */
bool core_timeline_is_live(const core_timeline *timeline, uint64_t id);

/* For one who has no pin of the queue: keeps a live queue from being destroyed until core_timeline_end_use. NULL: the id
 * is not live (any longer). */
core_timeline *core_timeline_begin_use(uint64_t id);
void core_timeline_end_use(core_timeline *timeline);

/* Notes which kernel a value launched, for the text of a failure. Under the lock. */
void core_timeline_note(core_timeline *timeline, uint64_t value, const char *kernel);

/* The queue's number in texts and traces: that of its points. */
uint64_t core_timeline_number(const core_timeline *timeline);
/* Calls `visit` for each live queue of a device; it lives until that returns. Takes no lock. */
void core_timeline_visit(const void *device, void (*visit)(void *user, core_timeline *timeline), void *user);
/* `completed` is at least this much. */
void core_timeline_raise(core_timeline *timeline, uint64_t completed);

/* Asks the adapter how far a live queue is and remembers it. By one who pins the queue or counts as a user. */
void core_timeline_refresh(core_timeline *timeline);
/* The first cause of a failed queue, with its text; QN_OK when it has not failed. For one who pins the queue. */
QN_MUST_USE qn_status core_timeline_failure(core_timeline *timeline);

typedef enum core_point_state {
  CORE_POINT_PENDING,
  CORE_POINT_COMPLETE,
  CORE_POINT_FAILED,
  CORE_POINT_UNKNOWN /* never given out */
} core_point_state;

/* Never waits; asks the adapter at most once. Sets no error text. */
core_point_state core_point_look(const qn_point *point);
/* Whether the device may still be at it: not complete, also where it is known already that it fails. What is to be destroyed or
 * used by others waits for that. */
bool core_point_is_in_flight(const qn_point *point);
/* From memory, without asking: false is no news. */
bool core_point_is_known_complete(const qn_point *point);
/* Waits. Errors as qn_point_wait. */
QN_MUST_USE qn_status core_point_wait(const qn_point *point, uint64_t timeout_ns);

/* How far a queue is, for the pool: asks the adapter at most once. A queue that is gone has completed UINT64_MAX. */
void core_timeline_progress(uint64_t id, uint64_t *out_completed, uint64_t *out_failed_first);
/* The lane of a live queue; NULL when it is gone. */
struct qn_pool_lane *core_timeline_lane(uint64_t id);

#endif
