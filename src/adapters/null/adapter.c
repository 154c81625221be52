/* adapter.c - instance, devices, and the table of functions. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "null.h"

#ifndef NULL_NAME
#define NULL_NAME "null" /* as in libquern-adapter-null.so */
#endif

/* ---- Errors ------------------------------------------------------------------------------------- */

qn_status null_error(const qn_adapter_host *host, qn_status status, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return host->set_error(status, 0, text);
}

/* A driver's results, what they are for the core, and what they mean. */
static const struct {
  qn_status status;
  const char *text;
} results[] = {
    [SIM_OK] = {QN_OK, ""},
    [SIM_BUSY] = {QN_NOT_READY, ""},
    [SIM_TIMEOUT] = {QN_ERROR_TIMEOUT, "it is not complete yet"},
    [SIM_NO_HOST_MEMORY] = {QN_ERROR_OUT_OF_HOST_MEMORY, "the driver has no host memory left"},
    [SIM_NO_MEMORY] = {QN_ERROR_OUT_OF_MEMORY, "the device has no memory left"},
    [SIM_NO_THREAD] = {QN_ERROR_LIMIT, "the driver can't start a thread"},
    [SIM_REJECTED] = {QN_ERROR_DEVICE, "the driver rejects it"},
    [SIM_FAILED] = {QN_ERROR_DEVICE, "a command failed"},
    [SIM_LOST] = {QN_ERROR_DEVICE_LOST, "the device is lost"},
    [SIM_UNTIMED] = {QN_ERROR_UNSUPPORTED, "the queue isn't timed"},
    [SIM_TOO_OLD] = {QN_ERROR_NOT_FOUND, "that value is too long ago"},
    [SIM_BAD_SETTING] = {QN_ERROR_INVALID_ARGUMENT, "a setting isn't understood"},
};

qn_status null_status(sim_result result) { return results[result].status; }

qn_status null_result(const qn_adapter_host *host, sim_result result, const char *what) {
  char text[256];
  qn_status status = results[result].status;
  if (status >= 0) return status;
  snprintf(text, sizeof text, "%s: %s", what, results[result].text);
  return host->set_error(status, result, text);
}

/* ---- Instance: opens the vendor's driver -------------------------------------------------------- */

/* Where a real adapter loads its vendor's library with dlopen. No library: QN_ERROR_NOT_FOUND with the reason. */
static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  char wrong[64];
  sim_driver *driver = NULL;
  sim_result result = sim_driver_open(host->environment("QUERN_NULL"), wrong, &driver);
  if (result == SIM_BAD_SETTING)
    return null_error(host, QN_ERROR_INVALID_ARGUMENT, "QUERN_NULL: '%s' isn't understood", wrong);
  if (result != SIM_OK) return null_result(host, result, "opening the driver");
  qn_adapter_instance *instance = sim_new(driver, sizeof *instance);
  if (!instance) {
    sim_driver_close(driver);
    return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance");
  }
  instance->host = host;
  instance->driver = driver;
  *out_instance = instance;
  return QN_OK;
}

static qn_status instance_close(qn_adapter_instance *instance) {
  sim_driver *driver = instance->driver;
  sim_delete(driver, instance, sizeof *instance);
  sim_driver_close(driver);
  return QN_OK;
}

/* ---- Devices ------------------------------------------------------------------------------------ */

static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  (void)instance;
  *out_count = 1;
  return QN_OK;
}

/* Says what the device can do; the core refuses the rest before it gets here. Without kernels code_kind is QN_CODE_NONE and
 * QN_FEATURE_KERNELS isn't set. */
static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  const sim_settings *settings = sim_driver_settings(instance->driver);
  uint64_t memory = settings->memory ? settings->memory : UINT64_C(1) << 32;
  if (index != 0) return null_error(instance->host, QN_ERROR_NOT_FOUND, "there is one device");
  *out_info = (qn_adapter_device_info){
      .struct_size = sizeof *out_info,
      .type = QN_DEVICE_SIMULATED,
      .failure_domain = (uint32_t)settings->domain,
      .code_kind = settings->kernels ? QN_CODE_IR : QN_CODE_NONE,
      .features = QN_FEATURE_SHARED_MEMORY | QN_FEATURE_WRAP_HOST | QN_FEATURE_TIMED_QUEUES |
                  (settings->kernels ? QN_FEATURE_KERNELS : 0),
      .memory_bytes = memory,
      .max_allocation_bytes = memory,
      .local_memory_bytes = 32 << 10,
      .max_local_size = {1024, 1024, 1024},
      .max_group_items = 1024,
      .max_argument_bytes = 1024,
      .compute_units = 1,
      .address_bits = 64,
      .buffer_alignment = 1,
      .allocation_alignment = 128,
      .preferred_group_items = 64,
      .name = "no device at all",
      .driver = "null",
  };
  return QN_OK;
}

static qn_status device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  (void)index; /* the core asked device_count */
  qn_adapter_device *device = sim_new(instance->driver, sizeof *device);
  if (!device) return null_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
  device->instance = instance;
  sim_result result = sim_device_open(instance->driver, &device->device);
  if (result == SIM_OK)
    *out_device = device;
  else
    NULL_DELETE(device, device);
  return null_result(instance->host, result, "opening the device");
}

static qn_status device_close(qn_adapter_device *device) {
  sim_device_close(device->device);
  NULL_DELETE(device, device);
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

/* `which` 0 is the driver's object; the core knows that of memory already, from its info. */
static qn_status native(uint32_t kind, void *object, uint32_t which, uint64_t *out_native) {
  const qn_adapter_device *device = device_of(kind, object);
  const void *found = NULL;
  if (kind == QN_KIND_DEVICE && which == 0) found = device->device;
  if (kind == QN_KIND_DEVICE && which == NULL_CONTROL) found = sim_device_control(device->device);
  if (kind == QN_KIND_QUEUE && which == 0) found = ((const qn_adapter_queue *)object)->stream;
  if (!found)
    return null_error(device->instance->host, QN_ERROR_UNSUPPORTED, "the adapter null has no native handle %u here",
                      which);
  *out_native = (uint64_t)(uintptr_t)found;
  return QN_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const qn_adapter_table table = {.struct_size = sizeof table,
                                       .abi_version = QN_ADAPTER_ABI_VERSION,
                                       .name = NULL_NAME,
                                       .description = "a simulated device: copies and fills in host memory",
                                       .instance_open = instance_open,
                                       .instance_close = instance_close,
                                       .device_count = device_count,
                                       .device_describe = device_describe,
                                       .device_open = device_open,
                                       .device_close = device_close,
                                       .memory_create = null_memory_create,
                                       .memory_destroy = null_memory_destroy,
                                       .program_create = null_program_create,
                                       .program_destroy = null_program_destroy,
                                       .kernel_create = null_kernel_create,
                                       .kernel_destroy = null_kernel_destroy,
                                       .queue_create = null_queue_create,
                                       .queue_destroy = null_queue_destroy,
                                       .queue_submit = null_queue_submit,
                                       .queue_completed = null_queue_completed,
                                       .queue_progress = null_queue_progress,
                                       .queue_wait = null_queue_wait,
                                       .queue_time = null_queue_time,
                                       .queue_begin = null_queue_begin,
                                       .native = native};

/* The one exported symbol. Whatever version is asked for, the table says which one it is. */
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version;
  return getenv("QUERN_NULL") ? null_contract(&table) : &table; /* a test: the core is watched too */
}
