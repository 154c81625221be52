/* adapter.c - an instance, native handles, the table and its one exported function. */
#include <stdlib.h>

#include "kernel.h"
#include "program.h"
#include "queue.h"

/* ---- Instance ----------------------------------------------------------------------------------- */

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  qn_adapter_instance *instance = calloc(1, sizeof *instance);
  if (!instance) return ocl_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance");
  instance->host = host;
  qn_status status = ocl_load(host, &instance->cl);
  if (status >= 0) status = ocl_find_devices(instance);
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
    return ocl_error(instance->host, QN_ERROR_NOT_FOUND, "there is no device %u; there are %u", index,
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

/* Of a device: 0 the cl_device_id, 1 the cl_context, 2 the cl_platform_id. */
static const void *native_of_device(const qn_adapter_device *device, uint32_t which) {
  const void *const natives[] = {device->found->id, device->context, device->found->platform};
  return which < 3 ? natives[which] : NULL;
}

static qn_status native(uint32_t kind, void *object, uint32_t which, uint64_t *out_native) {
  const void *found = NULL;
  if (kind == QN_KIND_DEVICE) found = native_of_device(object, which);
  if (kind == QN_KIND_QUEUE && which == 0) found = ((qn_adapter_queue *)object)->native;
  if (kind == QN_KIND_BUFFER && which == 0) found = ((qn_adapter_memory *)object)->buffer;
  if (kind == QN_KIND_PROGRAM && which == 0) found = ((qn_adapter_program *)object)->native;
  if (kind == QN_KIND_KERNEL && which == 0)
    found = ((qn_adapter_kernel *)object)->entries[OCL_FIRST_ENTRY].seats[0].native;
  if (!found)
    return ocl_error(device_of(kind, object)->host, QN_ERROR_UNSUPPORTED,
                     "there is no native handle %u; a device has 0 (cl_device_id), 1 (cl_context) and 2 "
                     "(cl_platform_id), other objects have 0",
                     which);
  *out_native = (uint64_t)(uintptr_t)found;
  return QN_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const qn_adapter_table table = {.struct_size = sizeof table,
                                       .abi_version = QN_ADAPTER_ABI_VERSION,
                                       .name = "opencl",
                                       .description = "devices of every OpenCL driver of version 1.2 or newer",
                                       .instance_open = instance_open,
                                       .instance_close = instance_close,
                                       .device_count = device_count,
                                       .device_describe = device_describe,
                                       .device_open = ocl_device_open,
                                       .device_close = ocl_device_close,
                                       .memory_create = ocl_memory_create,
                                       .memory_destroy = ocl_memory_destroy,
                                       .memory_map = ocl_memory_map,
                                       .memory_unmap = ocl_memory_unmap,
                                       .program_create = ocl_program_create,
                                       .program_destroy = ocl_program_destroy,
                                       .kernel_create = ocl_kernel_create,
                                       .kernel_destroy = ocl_kernel_destroy,
                                       .queue_create = ocl_queue_create,
                                       .queue_destroy = ocl_queue_destroy,
                                       .queue_submit = ocl_queue_submit,
                                       .queue_completed = ocl_queue_completed,
                                       .queue_progress = ocl_queue_progress,
                                       .queue_wait = ocl_queue_wait,
                                       .queue_time = ocl_queue_time,
                                       .native = native,
                                       .program_binary = ocl_program_binary,
                                       .queue_begin = ocl_queue_begin};

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version; /* the core checks what it gets */
  return &table;
}
