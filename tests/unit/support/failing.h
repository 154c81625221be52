/* failing.h - makes allocations of the tested code fail. The linker sends malloc, calloc, realloc, aligned_alloc and strdup of the
 * test program and of the archive through here; libraries outside (cmocka, libc) are not touched. Other threads may allocate
 * meanwhile, and one of theirs may be the one that fails.
 */
#ifndef QUERN_TESTS_UNIT_SUPPORT_FAILING_H
#define QUERN_TESTS_UNIT_SUPPORT_FAILING_H

#include <stdbool.h>
#include <stdint.h>

/* The allocation after `count` more ones fails, and every later one too when `all`. failing_stop ends it. */
void failing_start(uint64_t count, bool all);
/* How many were made to fail since the start. */
uint64_t failing_stop(void);

/* For wraps of other functions (tests/faults): one more call that may fail; whether it is the one. */
bool failing_now(void);

/* No more failures until the next start; what failed stays counted. For checks that allocate themselves. */
void failing_pause(void);

/* Runs the block once for each allocation that it makes, with that one failing, until a run has none that failed:
 *   FAILING_EACH(n) { call the code; failing_pause(); check and clean up }  */
#define FAILING_EACH(n) \
  for (uint64_t n = 0, more_ = 1; more_ && (failing_start((n), false), true); more_ = failing_stop(), (n)++)

#endif
