/* cpu.h - how much of the machine this process may use. */
#ifndef QUERN_BASE_OS_CPU_H
#define QUERN_BASE_OS_CPU_H

#include <stdint.h>

/* Cores that this process may keep busy: the calling thread's affinity, cut by the CPU quota of its control group
 * (rounded up). At least 1. A few system calls: ask once. */
uint32_t qn_cpu_count(void);

/* The quota, in cores rounded up, that a cpu.max file's text ("max 100000", "150000 100000") grants; 0: no limit. */
uint32_t qn_cpu_quota_parse(const char *text);

#endif
