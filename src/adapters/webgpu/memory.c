#include "memory.h"

#include <stdlib.h>

#include "device.h"
#include "transfer.h"

static qn_status check_request(const qn_adapter_device *device, const qn_adapter_memory_request *request) {
  const qn_adapter_device_info *info = &device->found->info;
  const qn_adapter_host *host = device->host;
  unsigned long long size = request->size_bytes, most = info->max_allocation_bytes;
  if (size == 0) return wg_error(host, QN_ERROR_INVALID_ARGUMENT, "0 bytes are asked for");
  if (size > most)
    return wg_error(host, QN_ERROR_OUT_OF_MEMORY, "%llu bytes are asked for, a buffer has at most %llu", size, most);
  if (request->alignment > info->allocation_alignment)
    return wg_error(host, QN_ERROR_INVALID_ARGUMENT, "an alignment of %llu is asked for; it is %u",
                    (unsigned long long)request->alignment, info->allocation_alignment);
  if (request->memory == QN_MEMORY_WRAP)
    return wg_error(host, QN_ERROR_UNSUPPORTED, "WebGPU can't use the host's memory in place; make a buffer and copy");
  if (request->memory == QN_MEMORY_SHARED)
    return wg_error(host, QN_ERROR_UNSUPPORTED, "WebGPU has no memory that host and device see at a time");
  return QN_OK;
}

qn_status wg_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                           qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  wg_failure failure = {0};
  qn_status status = wg_device_check(device);
  if (status >= 0) status = check_request(device, request);
  if (status < 0) return status;
  qn_adapter_memory *memory = calloc(1, sizeof *memory);
  if (!memory) return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  memory->size = (request->size_bytes + 15) / 16 * 16; /* the largest unit that kernels see it in */
  pthread_mutex_lock(&device->lock);
  status = wg_buffer_create(device, WGL_STORAGE | WGL_COPY_SOURCE | WGL_COPY_TARGET, memory->size, &memory->buffer,
                            &failure);
  pthread_mutex_unlock(&device->lock);
  if (status < 0) {
    free(memory);
    return wg_tell(device->host, &failure);
  }
  memory->device = device;
  memory->number = atomic_fetch_add_explicit(&device->last_memory, 1, memory_order_relaxed) + 1;
  out_info->native = (uint64_t)(uintptr_t)memory->buffer;
  out_info->size_bytes = memory->size;
  *out_memory = memory;
  return QN_OK;
}

/* No command uses it; bind groups that name it are found no longer, and are dropped when their places are wanted. */
qn_status wg_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  pthread_mutex_lock(&device->lock);
  WGL(device, buffer_destroy, memory->buffer);
  pthread_mutex_unlock(&device->lock);
  free(memory);
  return QN_OK;
}

/* ---- Map ---------------------------------------------------------------------------------------- */

/* A map is a copy in the host's memory: read when it is made, written back when it ends. WebGPU can map no buffer that a kernel
 * may use. */
typedef struct mapping {
  uint64_t offset, size;
  uint32_t access, reserved[3];
  unsigned char bytes[]; /* aligned to 16 */
} mapping;

/* A map has no limit of its own, and a device may hang on another queue's work. */
#define PATIENCE_NS UINT64_C(60000000000)

/* Puts a command of our own behind all that was submitted. *out_value is its value on the device's own queue. */
static qn_status put(qn_adapter_device *device, qn_adapter_command *command, uint64_t *out_value) {
  wg_failure failure = {0};
  pthread_mutex_lock(&device->lock);
  qn_adapter_queue *queue = &device->service;
  qn_status status = wg_transfer(device, command, &failure);
  if (status >= 0) {
    *out_value = atomic_load(&queue->submitted) + 1;
    wg_stream_step(device, queue, *out_value);
    atomic_store(&queue->submitted, *out_value);
    wg_stream_flush(device);
  }
  pthread_mutex_unlock(&device->lock);
  return status < 0 ? wg_tell(device->host, &failure) : QN_OK;
}

static qn_status read_whole(qn_adapter_device *device, qn_adapter_memory *memory, mapping *m) {
  uint64_t value = 0;
  qn_adapter_command command = {
      .kind = QN_COMMAND_READ, .source = memory, .source_offset = m->offset, .size_bytes = m->size, .host = m->bytes};
  qn_status status = put(device, &command, &value);
  if (status >= 0) status = wg_queue_wait(&device->service, value, PATIENCE_NS);
  return status < 0 ? status : wg_device_check(device);
}

qn_status wg_memory_map(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                        uint64_t size_bytes, uint32_t access, void **out_pointer) {
  qn_status status = wg_device_check(device);
  if (status < 0) return status;
  mapping *m = size_bytes < SIZE_MAX - sizeof *m ? calloc(1, sizeof *m + (size_t)size_bytes) : NULL;
  if (!m)
    return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a map of %llu bytes",
                    (unsigned long long)size_bytes);
  m->offset = offset_bytes;
  m->size = size_bytes;
  m->access = access;
  /* What isn't written by the host must keep what it had. */
  status = size_bytes > 0 ? read_whole(device, memory, m) : QN_OK;
  if (status == QN_ERROR_TIMEOUT) return status; /* the read may yet come: the record is left to it */
  if (status < 0)
    free(m);
  else
    *out_pointer = m->bytes;
  return status;
}

qn_status wg_memory_unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer) {
  mapping *m = (mapping *)(void *)((unsigned char *)pointer - offsetof(mapping, bytes));
  uint64_t value = 0;
  qn_adapter_command command = {
      .kind = QN_COMMAND_WRITE, .target = memory, .target_offset = m->offset, .size_bytes = m->size, .host = m->bytes};
  qn_status status = wg_device_check(device);
  if (status >= 0 && m->access & QN_MAP_WRITE && m->size > 0) status = put(device, &command, &value);
  free(m); /* the write has copied it */
  return status;
}
