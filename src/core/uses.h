/* uses.h - the last point of each queue that used an object whose uses nobody orders: a kernel, an untracked buffer, a
 * queue that others wait for. So it ends when its own work is complete, and no other queue holds it back (P4).
 *
 * Four queues stand in the object. For each further queue that lives and used it there is a slot on the heap, made at the
 * first use; slots of queues that are gone are used again. A use is a look at a few ids and a store.
 */
#ifndef QUERN_CORE_USES_H
#define QUERN_CORE_USES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/thread.h"
#include "quern/quern.h"

enum { CORE_USES_SLOTS = 4 };

typedef struct core_uses_part {
  struct {
    _Atomic uint64_t queue; /* 0: unused. Changed under the lock */
    _Atomic uint64_t value; /* by the queue's recording alone */
  } slots[CORE_USES_SLOTS];
  _Atomic(struct core_uses_part *) next;
} core_uses_part;

/* Zero-initialised there are none. */
typedef struct core_uses {
  core_uses_part first;
  qn_mutex lock;
} core_uses;

/* Where `queue` notes its value, under its timeline's lock, before it submits. Errors: OUT_OF_HOST_MEMORY, on the first use
 * by one queue more. */
QN_MUST_USE qn_status core_uses_claim(core_uses *uses, uint64_t queue, _Atomic uint64_t **out_value);

/* The rest is for the object's end, when nobody uses it anew. */

/* Whether one of the points is not complete. */
bool core_uses_is_pending(const core_uses *uses);
/* Copies those that are not complete or have failed, up to `capacity`; returns how many there are. */
uint32_t core_uses_points(const core_uses *uses, qn_point *points, uint32_t capacity);
void core_uses_clear(core_uses *uses);

#endif
