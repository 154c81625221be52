/* memory.h - a block is a cl_mem. Shared memory is one as well: a cl_mem over the address that clSVMAlloc gave, so that
 * transfers and maps are the same for all kinds; only kernels get the address. */
#ifndef QUERN_ADAPTERS_OPENCL_MEMORY_H
#define QUERN_ADAPTERS_OPENCL_MEMORY_H

#include "device.h"

struct qn_adapter_memory {
  qn_adapter_device *device;
  cl_mem buffer;
  void *shared;    /* the address of shared memory; NULL for the other kinds */
  uint64_t number; /* never given again in this device's life */
};

qn_status ocl_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                            qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info);
qn_status ocl_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory);
qn_status ocl_memory_map(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                         uint64_t size_bytes, uint32_t access, void **out_pointer);
qn_status ocl_memory_unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer);

#endif
