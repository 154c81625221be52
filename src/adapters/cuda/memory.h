#ifndef QUERN_ADAPTERS_CUDA_MEMORY_H
#define QUERN_ADAPTERS_CUDA_MEMORY_H

#include "device.h"

struct qn_adapter_memory {
  qn_adapter_device *device;
  cu_pointer address;
  void *host;    /* the same for the host; NULL: it doesn't reach it */
  uint32_t kind; /* QN_MEMORY_... */
  uint64_t size;
};

/* Bytes from the offset on that the driver copies at once; all but wrapped memory in one. */
uint64_t cu_memory_extent(const qn_adapter_memory *memory, uint64_t offset);

qn_status cu_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                           qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info);
qn_status cu_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory);

/* map.c */
qn_status cu_memory_map(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                        uint64_t size_bytes, uint32_t access, void **out_pointer);
qn_status cu_memory_unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer);

#endif
