/* call.h - host callbacks at points (qn_queue_call), and what may not be done inside of them.
 *
 * Each queue has a caller: a list of calls in the order of their points, and a thread that waits for the first of them. A
 * thread of its own, because an adapter waits for one queue at a time, and because a callback that takes long then holds up
 * its own queue's only (docs/decisions/callbacks.md). The thread is started by the queue's first call and ends with the queue.
 * Each call holds the queue, so that the queue's end never waits for a callback.
 */
#ifndef QUERN_CORE_CALL_H
#define QUERN_CORE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/thread.h"
#include "quern/quern.h"

struct core_queue;
typedef struct core_call core_call;

/* Zero-initialised it has no thread and no calls. */
typedef struct core_caller {
  qn_mutex lock;
  qn_cond changed;          /* a call came, or it ends */
  core_call *first, *last;  /* `last` counts only when there is a first one */
  struct core_queue *queue; /* held once a call */
  bool ends;
  qn_thread thread;
} core_caller;

/* The queue is being destroyed, no call is left: ends the thread. */
void core_caller_close(core_caller *caller);

/* QN_OK, or on a thread that runs a callback QN_ERROR_WOULD_BLOCK, with a text that says `what` would wait. */
QN_MUST_USE qn_status core_may_wait(const char *what);

#endif
