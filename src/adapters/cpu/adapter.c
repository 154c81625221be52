/* The adapter's table and its one exported function. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"
#include "device.h"
#include "memory.h"
#include "program.h"
#include "queue.h"

qn_status cpu_error(const qn_adapter_host *host, qn_status status, int64_t code, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return host->set_error(status, code, text);
}

void cpu_log(const qn_adapter_host *host, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  host->log(text);
}

qn_status cpu_environment_number(const qn_adapter_host *host, const char *name, uint64_t low, uint64_t high,
                                 uint64_t *out) {
  const char *text = host->environment(name);
  if (!text || !*text) return QN_OK;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*end || errno || *text < '0' || *text > '9' || value < low || value > high)
    return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "%s is '%s'; give a number from %llu to %llu", name, text,
                     (unsigned long long)low, (unsigned long long)high);
  *out = value;
  return QN_OK;
}

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  qn_adapter_instance *instance = calloc(1, sizeof *instance);
  if (!instance) return cpu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  instance->host = host;
  qn_status status = cpu_device_probe(host, &instance->info);
  if (status < 0) {
    free(instance);
    return status;
  }
  *out_instance = instance;
  return QN_OK;
}

static qn_status instance_close(qn_adapter_instance *instance) {
  free(instance);
  return QN_OK;
}

static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  (void)instance;
  *out_count = 1;
  return QN_OK;
}

/* Memory, programs and kernels have an address; the others have nothing that a program could use. */
static qn_status native(uint32_t kind, void *object, uint32_t which, uint64_t *out_native) {
  const qn_adapter_host *host = NULL;
  const void *address = NULL;
  switch (kind) {
    case QN_KIND_DEVICE:
      host = ((qn_adapter_device *)object)->host;
      break;
    case QN_KIND_QUEUE:
      host = ((qn_adapter_queue *)object)->device->host;
      break;
    case QN_KIND_BUFFER:
      host = ((qn_adapter_memory *)object)->host;
      address = ((qn_adapter_memory *)object)->bytes;
      break;
    case QN_KIND_PROGRAM:
      host = ((qn_adapter_program *)object)->host;
      address = ((qn_adapter_program *)object)->image.base;
      break;
    case QN_KIND_KERNEL:
      host = ((qn_adapter_kernel *)object)->host;
      address = (const void *)(uintptr_t)((qn_adapter_kernel *)object)->entry;
      break;
    default:
      return QN_ERROR_UNSUPPORTED; /* no such kind of object: nothing to ask for the host */
  }
  if (!address || which != 0)
    return cpu_error(
        host, QN_ERROR_UNSUPPORTED, 0,
        "cpu: there is no native handle %u here; buffers, programs and kernels have their address as number 0", which);
  *out_native = (uint64_t)(uintptr_t)address;
  return QN_OK;
}

static const qn_adapter_table table = {
    .struct_size = sizeof table,
    .abi_version = QN_ADAPTER_ABI_VERSION,
    .name = "cpu",
    .description = "This machine's processors",
    .instance_open = instance_open,
    .instance_close = instance_close,
    .device_count = device_count,
    .device_describe = cpu_device_describe,
    .device_open = cpu_device_open,
    .device_close = cpu_device_close,
    .memory_create = cpu_memory_create,
    .memory_destroy = cpu_memory_destroy,
    .memory_map = NULL, /* host_pointer serves always */
    .memory_unmap = NULL,
    .program_create = cpu_program_create,
    .program_destroy = cpu_program_destroy,
    .kernel_create = cpu_kernel_create,
    .kernel_destroy = cpu_kernel_destroy,
    .queue_create = cpu_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .queue_submit = cpu_queue_submit,
    .queue_completed = cpu_queue_completed,
    .queue_progress = cpu_queue_progress,
    .queue_wait = cpu_queue_wait,
    .queue_time = cpu_queue_time,
    .queue_begin = cpu_queue_begin,
    .native = native,
};

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version; /* the core checks what it gets */
  return &table;
}
