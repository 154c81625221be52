/* cpu.h - what every file of this adapter shares: the instance, errors, forks.
 *
 * The adapter runs kernels on the machine's own cores. It includes adapter.h and libc alone. Words used here:
 *   seat     the right to run kernels, with a workspace; there are as many seats as threads may run kernels at once.
 *   turn     the right to move a queue forward; at most one thread has a queue's turn.
 *   cell     the smallest piece of a command that runs by itself: a work-group, or a block of a copy or fill.
 */
#ifndef QUERN_ADAPTERS_CPU_CPU_H
#define QUERN_ADAPTERS_CPU_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "quern/adapter.h"

#define CPU_LINE 128      /* keeps fields of different writers apart: two lines, because lines are fetched in pairs */
#define CPU_ALIGNMENT 128 /* of memory, local memory and scratch: the largest vector type, double16 */

/* Limits that device_describe reports. */
#define CPU_MAX_GROUP_ITEMS 4096
#define CPU_MAX_ARGUMENT_BYTES 8192
#define CPU_LOCAL_MEMORY_BYTES (UINT64_C(1) << 20)
#define CPU_MAX_THREADS 1024

struct qn_adapter_instance {
  const qn_adapter_host *host;
  qn_adapter_device_info info; /* filled when the instance opens: asking the processor is slow in a virtual machine */
};

/* Sets the calling thread's error text, printf style, and returns `status`. `code` is an errno, or 0. */
QN_MUST_USE qn_status cpu_error(const qn_adapter_host *host, qn_status status, int64_t code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cpu_log(const qn_adapter_host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An unsigned number in the environment. `*out` keeps its value when the variable is not set. Errors: INVALID_ARGUMENT
 * names the variable, its value and the range. */
QN_MUST_USE qn_status cpu_environment_number(const qn_adapter_host *host, const char *name, uint64_t low, uint64_t high,
                                             uint64_t *out);

static inline uint64_t cpu_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t cpu_max(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* `alignment` is a power of two; the caller knows that the sum does not overflow. */
static inline uint64_t cpu_align(uint64_t n, uint64_t alignment) { return (n + alignment - 1) & ~(alignment - 1); }

#endif
