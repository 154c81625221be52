/* exit.h - the gate that every call passes: exit and fork are inert (L6).
 *
 * Exit begins when our handler runs, from exit or quick_exit. It shuts the gate, waits at most 100 ms for the threads inside, and unloads nothing.
 * A call that comes later gets QN_ERROR_CLOSED; a thread other than the exiting one is parked for a second first, once,
 * so that a worker which repeats its calls neither runs into errors at once nor holds up an exit that joins it.
 * In a forked child every call gets QN_ERROR_FORKED; releases do nothing.
 */
#ifndef QUERN_CORE_EXIT_H
#define QUERN_CORE_EXIT_H

#include <stdbool.h>

#include "base/place.h"
#include "quern/quern.h"

/* Passes the gate. On QN_OK a core_leave must follow. Errors: FORKED, CLOSED. Not for nested use. Cost: one atomic
 * addition to a counter that few threads share. */
QN_MUST_USE qn_status core_enter(void);
void core_leave(void);

/* For qn_release and the like, which have nothing to wait for: whether the process is forked or exiting. */
bool core_is_inert(void);

/* What an adapter's threads have to be told when exit begins, after the gate is shut (adapter.h: at_exit). `call` NULL: forgets what was
 * given with `user`. Errors: LIMIT. */
QN_MUST_USE qn_status core_exit_tell(void (*call)(void *user), void *user);

/* Registers the exit handler (again): after each driver or LLVM has initialised, so that ours runs before theirs. Once a
 * library, for the system keeps each registration. */
void core_exit_register(void);

/* After each call of the code generator: registers the handler once more when LLVM has come with it, whether the call
 * succeeded or not. */
void core_exit_after_llvm(void);

/* Writes a public function that passes the gate:  CORE_CALL(launch(queue, ...)); */
#define CORE_CALL(expression)                  \
  do {                                         \
    qn_status core_status_ = core_enter();     \
    if (core_status_ < 0) return core_status_; \
    core_status_ = (expression);               \
    core_leave();                              \
    return core_status_;                       \
  } while (0)

/* The same for a function that makes an object: its place is the caller's (base/place.h). */
#define CORE_CALL_MAKING(expression)               \
  do {                                             \
    qn_status core_making_ = core_enter();         \
    if (core_making_ >= 0) {                       \
      qn_place_begin(__builtin_return_address(0)); \
      core_making_ = (expression);                 \
      core_leave();                                \
    }                                              \
    qn_place_end();                                \
    return core_making_;                           \
  } while (0)

#endif
