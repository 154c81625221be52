/* inside.c - a plug-in whose adapter is in the program that loads it. */
#include "quern/adapter.h"

/* The program's. */
QN_API const qn_adapter_table *faults_cpu_entry(uint32_t abi_version);

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) { return faults_cpu_entry(abi_version); }
