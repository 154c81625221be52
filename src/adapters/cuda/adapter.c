/* adapter.c - an instance, native handles, the table and its one exported function. */
#include <stdlib.h>

#include "kernel.h"
#include "memory.h"
#include "program.h"
#include "queue.h"

/* ---- Instance ----------------------------------------------------------------------------------- */

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  qn_adapter_instance *instance = calloc(1, sizeof *instance);
  if (!instance) return cu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance");
  instance->host = host;
  qn_status status = cu_load(instance);
  if (status >= 0) status = cu_find_devices(instance);
  if (status < 0) {
    free(instance);
    return status;
  }
  *out_instance = instance;
  return QN_OK;
}

static qn_status instance_close(qn_adapter_instance *instance) {
  free(instance->devices);
  free(instance);
  return QN_OK;
}

static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  *out_count = instance->device_count;
  return QN_OK;
}

static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  if (index >= instance->device_count)
    return cu_error(instance->host, QN_ERROR_NOT_FOUND, "there is no device %u; there are %u", index,
                    instance->device_count);
  *out_info = instance->devices[index].info;
  return QN_OK;
}

/* ---- Native handles ----------------------------------------------------------------------------- */

static const qn_adapter_device *device_of(uint32_t kind, const void *object) {
  switch (kind) {
    case QN_KIND_QUEUE:
      return ((const qn_adapter_queue *)object)->device;
    case QN_KIND_BUFFER:
      return ((const qn_adapter_memory *)object)->device;
    case QN_KIND_PROGRAM:
      return ((const qn_adapter_program *)object)->device;
    case QN_KIND_KERNEL:
      return ((const qn_adapter_kernel *)object)->device;
    default:
      return object;
  }
}

static uint64_t main_native(uint32_t kind, const void *object) {
  switch (kind) {
    case QN_KIND_DEVICE:
      return (uint64_t)(uintptr_t)((const qn_adapter_device *)object)->context;
    case QN_KIND_QUEUE:
      return (uint64_t)(uintptr_t)((const qn_adapter_queue *)object)->stream;
    case QN_KIND_BUFFER:
      return ((const qn_adapter_memory *)object)->address;
    case QN_KIND_PROGRAM:
      return (uint64_t)(uintptr_t)((const qn_adapter_program *)object)->module;
    case QN_KIND_KERNEL:
      return (uint64_t)(uintptr_t)((const qn_adapter_kernel *)object)->function;
    default:
      return 0;
  }
}

/* Of a device: 0 the CUcontext, its primary one; 1 the CUdevice, a number from 0 on. */
static qn_status native(uint32_t kind, void *object, uint32_t which, uint64_t *out_native) {
  const qn_adapter_device *device = device_of(kind, object);
  uint64_t found = which == 0 ? main_native(kind, object) : 0;
  bool is_ordinal = kind == QN_KIND_DEVICE && which == 1;
  if (is_ordinal) found = (uint64_t)device->found->id;
  if (found == 0 && !is_ordinal)
    return cu_error(device->host, QN_ERROR_UNSUPPORTED,
                    "there is no native handle %u; a device has 0 (CUcontext) and 1 (CUdevice), other objects have 0",
                    which);
  *out_native = found;
  return QN_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const qn_adapter_table table = {.struct_size = sizeof table,
                                       .abi_version = QN_ADAPTER_ABI_VERSION,
                                       .name = "cuda",
                                       .description = "NVIDIA GPUs by the CUDA driver",
                                       .instance_open = instance_open,
                                       .instance_close = instance_close,
                                       .device_count = device_count,
                                       .device_describe = device_describe,
                                       .device_open = cu_device_open,
                                       .device_close = cu_device_close,
                                       .memory_create = cu_memory_create,
                                       .memory_destroy = cu_memory_destroy,
                                       .memory_map = cu_memory_map,
                                       .memory_unmap = cu_memory_unmap,
                                       .program_create = cu_program_create,
                                       .program_destroy = cu_program_destroy,
                                       .kernel_create = cu_kernel_create,
                                       .kernel_destroy = cu_kernel_destroy,
                                       .queue_create = cu_queue_create,
                                       .queue_destroy = cu_queue_destroy,
                                       .queue_submit = cu_queue_submit,
                                       .queue_completed = cu_queue_completed,
                                       .queue_progress = cu_queue_progress,
                                       .queue_wait = cu_queue_wait,
                                       .queue_time = cu_queue_time,
                                       .native = native,
                                       .program_binary = cu_program_binary,
                                       .queue_begin = cu_queue_begin};

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version; /* the core checks what it gets */
  return &table;
}
