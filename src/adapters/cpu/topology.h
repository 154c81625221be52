/* topology.h - how many threads may run, and how much memory there is, by what the system allows this process. */
#ifndef QUERN_ADAPTERS_CPU_TOPOLOGY_H
#define QUERN_ADAPTERS_CPU_TOPOLOGY_H

#include "cpu.h"

/* Processors that this process may use: its affinity, cut by the time that its control groups grant. At least 1. */
uint32_t cpu_available_cores(void);
/* Bytes of memory, cut by the control groups' limits. */
uint64_t cpu_available_memory(void);

/* Whole processors for a quota of time a period, rounded up; 0 when there is no limit. For cgroup v2's "cpu.max". */
uint32_t cpu_quota_cores(const char *cpu_max);

#endif
