/* memory.c - plain allocate and free. The core's pool keeps blocks and decides who gets them. */
#include <stddef.h>

#include "null.h"

/* A block is always mapped: host_pointer says so, and memory_map can be NULL in the table. */
qn_status null_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                             qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  const qn_adapter_host *host = device->instance->host;
  void *wrapped = request->memory == QN_MEMORY_WRAP ? request->host_pointer : NULL;
  qn_adapter_memory *memory = NULL_NEW(device, qn_adapter_memory);
  if (!memory) return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  memory->device = device;
  sim_result result = sim_block_create(device->device, request->size_bytes, wrapped, &memory->block);
  if (result != SIM_OK) {
    NULL_DELETE(device, memory);
    if (result != SIM_NO_MEMORY) return null_result(host, result, "making a block");
    return null_error(host, QN_ERROR_OUT_OF_MEMORY, "the device has no memory left for %llu bytes",
                      (unsigned long long)request->size_bytes);
  }
  void *bytes = sim_block_bytes(memory->block);
  out_info->native = (uint64_t)(uintptr_t)bytes;
  out_info->size_bytes = request->size_bytes;
  out_info->host_pointer = bytes;
  *out_memory = memory;
  return QN_OK;
}

/* The core destroys memory when no command uses it any longer. Nothing is counted here. */
qn_status null_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  sim_block_destroy(device->device, memory->block);
  NULL_DELETE(device, memory);
  return QN_OK;
}
