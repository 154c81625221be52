/* reaper.h - frees released objects once their work is complete (L4).
 *
 * Each device has one, with a thread; one more, the keeper, serves runtimes and devices. A release pushes its object onto
 * a list without a lock, and rings. The reaper takes the list, asks each object whether its work is complete, destroys
 * those whose is, and keeps the others. Allocation, draining and closing do the same on their own threads: they needn't
 * wait for the reaper's.
 *
 * A reaper's memory is never returned, only used again: a release may still be ringing when the object it released,
 * the last of its device, has been destroyed.
 */
#ifndef QUERN_CORE_REAPER_H
#define QUERN_CORE_REAPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/object.h"
#include "quern/quern.h"

/* The first thing that a driver refused to destroy, since it was last told. */
typedef struct core_refusal {
  qn_status status; /* QN_OK: none */
  int64_t driver_code;
  char text[512];
} core_refusal;

/* Notes `status` and the thread's error text when it is the first. `what` names the object: "buffer". */
void core_refusal_note(core_refusal *refusal, qn_status status, const char *what);

typedef struct core_reaper core_reaper;

/* What the thread does besides, each time it looks (NULL: nothing). Whether it should look again soon. */
typedef bool (*core_tidy_fn)(void *user);

/* Starts a reaper and its thread. Errors: OUT_OF_HOST_MEMORY, LIMIT. */
QN_MUST_USE qn_status core_reaper_open(const char *thread_name, core_tidy_fn tidy, void *user,
                                       core_reaper **out_reaper);
/* Ends the thread and waits for it. Nothing is left on the lists. Not on the reaper's own thread. */
void core_reaper_close(core_reaper *reaper);

/* Gives an object over. From any thread, without lock, allocation or wait; wakes the thread, once until it looks again. A
 * buffer wakes it from its long sleep only. */
void core_reaper_push(core_reaper *reaper, core_object *object);

/* Wakes the thread from its long sleep, if it is in it, to tidy. From any thread, without lock, allocation or wait. */
void core_reaper_wake(core_reaper *reaper);

/* Destroys what can be destroyed now, on the calling thread. Looks at no more than `limit` of the objects whose work was
 * not complete before, so that a caller's cost is bounded. */
void core_reaper_collect(core_reaper *reaper, uint32_t limit);
/* Released objects that are not destroyed yet. */
uint32_t core_reaper_count(const core_reaper *reaper);
/* Collects until nothing is left. Errors: TIMEOUT. */
QN_MUST_USE qn_status core_reaper_drain(core_reaper *reaper, uint64_t timeout_ns);
/* Gives what was refused since the last call and forgets it: an error with the driver's code and words, or QN_OK. */
QN_MUST_USE qn_status core_reaper_refusal(core_reaper *reaper);

/* The keeper; made at the first call, kept to the process's end. Errors: as core_reaper_open. */
QN_MUST_USE qn_status core_keeper_get(core_reaper **out_keeper);

#endif
