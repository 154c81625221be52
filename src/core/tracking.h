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
#include "core/uses.h"
#include "pool/block.h"
#include "quern/quern.h"

enum { CORE_READERS = QN_POOL_READERS };

/* It stands in the buffer's block (pool/block.h) and goes with it from buffer to buffer: a new buffer's first use waits for
 * what used its memory before. */
typedef qn_pool_uses core_tracking;

/* What the memory of an untracked buffer did before the buffer was made: each queue that uses it waits for that. */
typedef struct core_birth {
  _Atomic uint32_t is_over; /* all of it is complete */
  uint32_t count;           /* these two are written before the buffer's handle is made */
  qn_point points[QN_POOL_POINTS];
} core_birth;

/* What a command needs of one object: a tracked buffer, an untracked one, or its kernel. */
typedef struct core_use {
  core_tracking *tracking;      /* NULL: not tracked */
  uint32_t access;              /* QN_ACCESS_... bits; of a tracked buffer */
  core_uses *uses;              /* where one that isn't tracked notes its use */
  core_birth *birth;            /* of an untracked buffer */
  _Atomic uint64_t *last_value; /* in `uses`, claimed for this command */
} core_use;

/* Locks a queue and the owners of what it uses. A command has at most CORE_USES uses. */
enum { CORE_USES = 128 };
typedef struct core_locks {
  core_timeline *timelines[1 + CORE_USES];
  uint32_t count;
} core_locks;
void core_tracking_lock(core_locks *locks, core_timeline *own, uint64_t own_id, const core_use *uses, uint32_t count);
void core_tracking_unlock(core_locks *locks);

/* Under the locks, before recording: makes room to note the uses of what isn't tracked. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_tracking_claim(uint64_t own_id, core_use *uses, uint32_t count);

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
