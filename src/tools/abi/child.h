/* child.h - reading in a process of its own, so that a damaged input can't take the program with it: what crashes, fills the
 * memory or doesn't end costs that one input. */
#ifndef QUERN_TOOLS_ABI_CHILD_H
#define QUERN_TOOLS_ABI_CHILD_H

#include "pool.h"

/* Runs in the child. True: `out` is the result; false: `out` says why there is none. */
typedef bool child_work(const void *argument, pool_text *out);

typedef struct child {
  int process, file; /* process: 0 when it could not be started */
  const char *error;
} child;

/* Starts one; it is ended after `seconds`. */
child child_start(child_work *work, const void *argument, unsigned seconds);
/* Waits for it. False: *out_text says why there is no result. */
bool child_finish(child *c, unsigned seconds, const char **out_text);

#endif
