/* adapter.c - an instance, native handles, the table and its one exported function. */
#include <stdlib.h>

#include "device.h"
#include "kernel.h"
#include "memory.h"
#include "program.h"
#include "queue.h"

/* ---- Instance ----------------------------------------------------------------------------------- */

static qn_status open_native(qn_adapter_instance *instance) {
  instance->native = instance->shim->instance_open(instance->f);
  if (!instance->native) return wg_error(instance->host, QN_ERROR_NOT_FOUND, "%s makes no instance", instance->library);
  qn_status status = wg_find_devices(instance);
  if (status < 0) WGL(instance, instance_release, instance->native);
  return status;
}

static void end_with_process(void *user) {
  qn_adapter_instance *instance = user;
  wg_exit_begin(&instance->closing);
}

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  qn_adapter_instance *instance = calloc(1, sizeof *instance);
  if (!instance) return wg_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance");
  instance->host = host;
  qn_status status = wg_library_open(instance);
  if (status >= 0) {
    status = open_native(instance);
    if (status < 0) wg_library_close(instance);
  }
  if (status < 0) {
    free(instance);
    return status;
  }
  wg_exit_tell(host, end_with_process, instance);
  *out_instance = instance;
  return QN_OK;
}

/* Left as it is when the process exits. */
static qn_status instance_close(qn_adapter_instance *instance) {
  if (!wg_exit_allows_closing(&instance->closing)) return QN_OK;
  WGL(instance, instance_release, instance->native);
  atomic_store(&instance->closing, WG_CLOSING_DONE);
  wg_exit_tell(instance->host, NULL, instance);
  wg_library_close(instance);
  free(instance);
  return QN_OK;
}

static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  *out_count = instance->device_count;
  return QN_OK;
}

static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  if (index >= instance->device_count)
    return wg_error(instance->host, QN_ERROR_NOT_FOUND, "there is no device %u; there are %u", index,
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

/* Of a device: 0 the WGPUDevice, 1 the WGPUQueue, 2 the WGPUInstance. */
static const void *native_of_device(const qn_adapter_device *device, uint32_t which) {
  const void *const natives[] = {device->native, device->queue, device->instance->native};
  return which < 3 ? natives[which] : NULL;
}

static qn_status native(uint32_t kind, void *object, uint32_t which, uint64_t *out_native) {
  const void *found = NULL;
  if (kind == QN_KIND_DEVICE) found = native_of_device(object, which);
  if (kind == QN_KIND_QUEUE && which == 0) found = ((qn_adapter_queue *)object)->device->queue;
  if (kind == QN_KIND_BUFFER && which == 0) found = ((qn_adapter_memory *)object)->buffer;
  if (kind == QN_KIND_PROGRAM && which == 0) found = ((qn_adapter_program *)object)->native;
  if (!found)
    return wg_error(device_of(kind, object)->host, QN_ERROR_UNSUPPORTED,
                    "there is no native handle %u; a device has 0 (WGPUDevice), 1 (WGPUQueue) and 2 (WGPUInstance), "
                    "queues, buffers and programs have 0, kernels none",
                    which);
  *out_native = (uint64_t)(uintptr_t)found;
  return QN_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const qn_adapter_table table = {.struct_size = sizeof table,
                                       .abi_version = QN_ADAPTER_ABI_VERSION,
                                       .name = "webgpu",
                                       .description = "GPUs by a library that implements webgpu.h",
                                       .instance_open = instance_open,
                                       .instance_close = instance_close,
                                       .device_count = device_count,
                                       .device_describe = device_describe,
                                       .device_open = wg_device_open,
                                       .device_close = wg_device_close,
                                       .memory_create = wg_memory_create,
                                       .memory_destroy = wg_memory_destroy,
                                       .memory_map = wg_memory_map,
                                       .memory_unmap = wg_memory_unmap,
                                       .program_create = wg_program_create,
                                       .program_destroy = wg_program_destroy,
                                       .kernel_create = wg_kernel_create,
                                       .kernel_destroy = wg_kernel_destroy,
                                       .queue_create = wg_queue_create,
                                       .queue_destroy = wg_queue_destroy,
                                       .queue_submit = wg_queue_submit,
                                       .queue_completed = wg_queue_completed,
                                       .queue_progress = wg_queue_progress,
                                       .queue_wait = wg_queue_wait,
                                       .native = native};

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version; /* the core checks what it gets */
  return &table;
}
