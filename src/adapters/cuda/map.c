/* map.c - host access to device memory: a map is a copy in the host's memory, read when it is made, written back when it ends. */
#include <stdlib.h>

#include "memory.h"

typedef struct mapping {
  uint64_t offset, size;
  uint32_t access, reserved[11];
  unsigned char bytes[]; /* aligned to 16, as what malloc gives is */
} mapping;

static mapping *mapping_of(void *pointer) {
  return (mapping *)(void *)((unsigned char *)pointer - offsetof(mapping, bytes));
}

/* No command uses the range, so that a stream without other work does it at once. */
static qn_status copy(qn_adapter_device *device, cu_pointer target, cu_pointer source, uint64_t size,
                      const char *what) {
  bool entered = cu_enter(device);
  cu_result code = device->cu->MemcpyAsync(target, source, (size_t)size, device->service);
  if (code == CU_SUCCESS) code = device->cu->StreamSynchronize(device->service);
  cu_leave(device, entered);
  if (code == CU_SUCCESS) return QN_OK;
  cu_device_judge(device, code, what);
  return cu_refused(device->host, code, "%s", what);
}

static qn_status make(qn_adapter_device *device, const qn_adapter_memory *memory, mapping *m) {
  if (m->size == 0) return QN_OK;
  /* Also for writing alone: what the host doesn't write must keep what it had. */
  return copy(device, (cu_pointer)m->bytes, memory->address + (cu_pointer)m->offset, m->size,
              "a buffer can't be mapped");
}

qn_status cu_memory_map(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                        uint64_t size_bytes, uint32_t access, void **out_pointer) {
  qn_status status = cu_device_check(device);
  if (status < 0) return status;
  if (memory->host) {
    *out_pointer = (unsigned char *)memory->host + offset_bytes;
    return QN_OK;
  }
  mapping *m = size_bytes < SIZE_MAX - sizeof *m ? malloc(sizeof *m + (size_t)size_bytes) : NULL;
  if (!m)
    return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a map of %llu bytes",
                    (unsigned long long)size_bytes);
  *m = (mapping){.offset = offset_bytes, .size = size_bytes, .access = access};
  status = make(device, memory, m);
  if (status < 0)
    free(m);
  else
    *out_pointer = m->bytes;
  return status;
}

qn_status cu_memory_unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer) {
  if (memory->host) return QN_OK;
  mapping *m = mapping_of(pointer);
  qn_status status = cu_device_check(device);
  if (status >= 0 && m->access & QN_MAP_WRITE && m->size > 0)
    status = copy(device, memory->address + (cu_pointer)m->offset, (cu_pointer)m->bytes, m->size,
                  "a buffer can't be unmapped");
  free(m);
  return status;
}
