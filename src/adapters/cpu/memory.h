/* memory.h - device memory is host memory. */
#ifndef QUERN_ADAPTERS_CPU_MEMORY_H
#define QUERN_ADAPTERS_CPU_MEMORY_H

#include "cpu.h"

struct qn_adapter_memory {
  const qn_adapter_host *host;
  uint8_t *bytes;
  uint64_t size_bytes;  /* as asked for */
  uint64_t taken_bytes; /* from the system; 0: the caller's own (QN_MEMORY_WRAP) */
  bool mapped;          /* by mmap, else by the heap */
};

/* The table's functions. */
qn_status cpu_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                            qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info);
qn_status cpu_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory);

#endif
