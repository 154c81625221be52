#include "memory.h"

#include <stdlib.h>

#include "wrap.h"

/* ---- Kinds -------------------------------------------------------------------------------------- */

static cu_result take_device(const qn_adapter_memory *m, cu_pointer *out, void **out_host) {
  (void)out_host;
  return m->device->cu->MemAlloc_v2(out, (size_t)m->size);
}
static cu_result free_device(const qn_adapter_memory *m) { return m->device->cu->MemFree_v2(m->address); }

static cu_result take_host(const qn_adapter_memory *m, cu_pointer *out, void **out_host) {
  const cu_functions *cu = m->device->cu;
  cu_result code = cu->MemHostAlloc(out_host, (size_t)m->size, CU_HOST_PORTABLE | CU_HOST_DEVICE_MAP);
  if (code != CU_SUCCESS) return code;
  code = cu->MemHostGetDevicePointer_v2(out, *out_host, 0);
  if (code != CU_SUCCESS) (void)cu->MemFreeHost(*out_host);
  return code;
}
static cu_result free_host(const qn_adapter_memory *m) { return m->device->cu->MemFreeHost(m->host); }

static cu_result take_shared(const qn_adapter_memory *m, cu_pointer *out, void **out_host) {
  cu_result code = m->device->cu->MemAllocManaged(out, (size_t)m->size, CU_ATTACH_GLOBAL);
  if (code == CU_SUCCESS) *out_host = (void *)*out;
  return code;
}

static cu_result free_wrapped(const qn_adapter_memory *m) { return cu_unwrap(m->device, m->host, m->size); }

static const struct {
  const char *word;
  uint64_t feature; /* that the device must have; 0: none */
  cu_result (*take)(const qn_adapter_memory *m, cu_pointer *out, void **out_host);
  cu_result (*give_back)(const qn_adapter_memory *m);
} kinds[] = {
    [QN_MEMORY_DEVICE] = {"device", 0, take_device, free_device},
    [QN_MEMORY_HOST] = {"host", 0, take_host, free_host},
    [QN_MEMORY_SHARED] = {"shared", QN_FEATURE_SHARED_MEMORY, take_shared, free_device},
    [QN_MEMORY_WRAP] = {"wrapped", QN_FEATURE_WRAP_HOST, NULL, free_wrapped},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- Create ------------------------------------------------------------------------------------- */

static qn_status check_request(const qn_adapter_device *device, const qn_adapter_memory_request *request) {
  const qn_adapter_host *host = device->host;
  const qn_adapter_device_info *info = &device->found->info;
  unsigned long long size = request->size_bytes;
  if (request->memory >= KINDS)
    return cu_error(host, QN_ERROR_INVALID_ARGUMENT, "there is no kind of memory %u", request->memory);
  if (size == 0) return cu_error(host, QN_ERROR_INVALID_ARGUMENT, "a buffer has 1 byte or more");
  if (request->memory == QN_MEMORY_DEVICE && size > info->max_allocation_bytes)
    return cu_error(host, QN_ERROR_OUT_OF_MEMORY, "%llu bytes are asked for, the device has %llu", size,
                    (unsigned long long)info->max_allocation_bytes);
  if (size > SIZE_MAX) return cu_error(host, QN_ERROR_OUT_OF_MEMORY, "%llu bytes are asked for", size);
  if (request->memory != QN_MEMORY_WRAP && request->alignment > info->allocation_alignment)
    return cu_error(host, QN_ERROR_INVALID_ARGUMENT, "an alignment of %llu is asked for, the driver's is %u",
                    (unsigned long long)request->alignment, info->allocation_alignment);
  if (request->memory == QN_MEMORY_WRAP && !request->host_pointer)
    return cu_error(host, QN_ERROR_INVALID_ARGUMENT, "wrapped memory needs its address");
  if ((info->features & kinds[request->memory].feature) != kinds[request->memory].feature)
    return cu_error(host, QN_ERROR_UNSUPPORTED, "device '%s' has no %s memory", info->name,
                    kinds[request->memory].word);
  return QN_OK;
}

static qn_status take(qn_adapter_memory *m, void *wrapped) {
  qn_adapter_device *device = m->device;
  if (m->kind == QN_MEMORY_WRAP) {
    m->host = wrapped;
    m->address = (cu_pointer)wrapped; /* the same for both, as QN_FEATURE_WRAP_HOST says */
    return cu_wrap(device, wrapped, m->size);
  }
  cu_result code = kinds[m->kind].take(m, &m->address, &m->host);
  if (code == CU_SUCCESS) return QN_OK;
  cu_device_judge(device, code, "memory can't be allocated");
  return cu_refused(device->host, code, "no %s memory for %llu bytes", kinds[m->kind].word,
                    (unsigned long long)m->size);
}

qn_status cu_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                           qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  qn_status status = cu_device_check(device);
  if (status >= 0) status = check_request(device, request);
  if (status < 0) return status;
  qn_adapter_memory *memory = calloc(1, sizeof *memory);
  if (!memory) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  *memory = (qn_adapter_memory){.device = device, .kind = request->memory, .size = request->size_bytes};
  bool entered = cu_enter(device);
  status = take(memory, request->host_pointer);
  cu_leave(device, entered);
  if (status < 0) {
    free(memory);
    return status;
  }
  out_info->native = memory->address;
  out_info->size_bytes = memory->size;
  out_info->host_pointer = memory->host;
  *out_memory = memory;
  return QN_OK;
}

qn_status cu_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  bool entered = cu_enter(device);
  cu_result code = kinds[memory->kind].give_back(memory);
  cu_leave(device, entered);
  uint32_t kind = memory->kind;
  free(memory);
  if (code == CU_SUCCESS || cu_device_is_lost(device)) return QN_OK;
  cu_device_judge(device, code, "memory can't be freed");
  return cu_refused(device->host, code, "%s memory can't be freed", kinds[kind].word);
}

uint64_t cu_memory_extent(const qn_adapter_memory *memory, uint64_t offset) {
  if (memory->kind != QN_MEMORY_WRAP) return UINT64_MAX;
  return cu_wrap_extent(memory->device, memory->address + (cu_pointer)offset);
}
