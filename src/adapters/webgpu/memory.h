/* memory.h - a block is one buffer, which kernels have bound whole. */
#ifndef QUERN_ADAPTERS_WEBGPU_MEMORY_H
#define QUERN_ADAPTERS_WEBGPU_MEMORY_H

#include "webgpu.h"

struct qn_adapter_memory {
  qn_adapter_device *device;
  uint64_t number; /* never comes back */
  wgl_buffer *buffer;
  uint64_t size; /* a multiple of 16 */
};

/* The table's. */
qn_status wg_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                           qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info);
qn_status wg_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory);
qn_status wg_memory_map(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                        uint64_t size_bytes, uint32_t access, void **out_pointer);
qn_status wg_memory_unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer);

#endif
