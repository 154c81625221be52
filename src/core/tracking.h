/* tracking.h - queues don't race (P6): a buffer knows its last writer and readers as points, and a command on another
 * queue waits for them on the device.
 *
 * The lock of the queue that used a buffer last guards its tracking (`owner`). A command whose buffers are all owned by
 * its own queue therefore needs a compare a buffer and no other lock. Else the locks of all owners are taken in the order
 * of their slots, the owners are checked again, and the locks are held over recording, never over a wait on the host.
 * When the command is recorded its queue becomes the owner.
 */
#ifndef QUERN_CORE_TRACKING_H
#define QUERN_CORE_TRACKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/timeline.h"
#include "quern/quern.h"

enum { CORE_READERS = 4 };

typedef struct core_tracking {
  _Atomic uint64_t owner;         /* id of the queue that used it last; 0: none yet, and nothing else is set */
  qn_point writer;                /* {0, 0}: none */
  qn_point readers[CORE_READERS]; /* since the writer; one a queue */
  uint32_t reader_count;
} core_tracking;

/* What a command needs of one buffer. */
typedef struct core_use {
  core_tracking *tracking; /* NULL: not tracked */
  uint32_t access;         /* QN_ACCESS_... bits */
} core_use;

/* Locks a queue and the owners of what it uses. A command has at most CORE_USES uses. */
enum { CORE_USES = 128 };
typedef struct core_locks {
  core_timeline *timelines[1 + CORE_USES];
  uint32_t count;
} core_locks;
void core_tracking_lock(core_locks *locks, core_timeline *own, uint64_t own_id, const core_use *uses, uint32_t count);
void core_tracking_unlock(core_locks *locks);

/* The points that must be complete before the uses: other queues', pending, each once. Calls `wait` for each; under the
 * locks. Stops at the first error. */
typedef qn_status (*core_wait_fn)(void *user, const qn_point *point);
QN_MUST_USE qn_status core_tracking_waits(uint64_t own_id, const core_use *uses, uint32_t count, core_wait_fn wait,
                                          void *user);

/* Notes the uses at `value` of the own queue; under the locks, after recording. */
void core_tracking_note(uint64_t own_id, uint64_t value, const core_use *uses, uint32_t count);

/* Copies the points that an access by the host must wait for: the writer, and for a write the readers too. Takes the
 * owner's lock. Returns how many; `points` has room for 1 + CORE_READERS. */
uint32_t core_tracking_points(core_tracking *tracking, uint32_t access, qn_point *points);

#endif
