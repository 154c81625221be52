/* interposer.h - counts what the calling thread does inside Quern: allocations, locks, calls of the system, calls of the
 * driver. This program's own malloc, open, ... stand before the C library's, and pass the call on.
 *
 *   allocations   malloc, calloc, realloc, aligned_alloc, also those that the C library makes for the caller (strdup, ...)
 *   locks         qn_mutex_lock, which tells quern_lock_hook with QUERN_CHECK=costs, and pthread_mutex_lock
 *   system calls  functions of the C library that enter the system; a list that test_costs.py compares with what libquern.so uses
 *   driver calls  calls of the adapter `counting` (adapter.c), which counts and passes on to `null`; inside of one nothing is
 *                 counted: that is the driver's own
 * Not in builds with sanitizers, which have interposers of their own. */
#ifndef QUERN_TEST_COSTS_INTERPOSER_H
#define QUERN_TEST_COSTS_INTERPOSER_H

#include <stdint.h>

typedef struct cost_counts {
  uint32_t allocations, locks, system_calls, driver_calls;
} cost_counts;

/* From here on the calling thread's are counted. */
void costs_begin(void);
cost_counts costs_end(void);

/* The lock that was taken last while counting. */
const void *costs_last_lock(void);

/* Prints the names of the functions that are counted as calls of the system, one a line. */
void costs_print_system(void);

#endif
