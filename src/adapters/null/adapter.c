/* adapter.c - instance, device, memory, and the table of functions. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "null.h"

enum { ALIGNMENT = 128 };

qn_status null_error(const qn_adapter_host *host, qn_status status, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return host->set_error(status, 0, text);
}

/* ---- Instance: opens the vendor's library, if there is one -------------------------------------- */

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  qn_adapter_instance *instance = malloc(sizeof *instance);
  if (!instance) return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance");
  instance->host = host;
  *out_instance = instance;
  return QN_OK;
}

static qn_status instance_close(qn_adapter_instance *instance) {
  free(instance);
  return QN_OK;
}

/* ---- Devices ------------------------------------------------------------------------------------ */

static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  (void)instance;
  *out_count = 1;
  return QN_OK;
}

/* Says what the device can do; the core refuses the rest before it gets here. No kernels: code_kind is QN_CODE_NONE and
 * QN_FEATURE_KERNELS is not set. */
static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  if (index != 0) return null_error(instance->host, QN_ERROR_NOT_FOUND, "there is one device");
  *out_info = (qn_adapter_device_info){
      .struct_size = sizeof *out_info,
      .type = QN_DEVICE_SIMULATED,
      .failure_domain = QN_FAILURE_QUEUE,
      .code_kind = QN_CODE_NONE,
      .features = QN_FEATURE_SHARED_MEMORY | QN_FEATURE_WRAP_HOST,
      .memory_bytes = UINT64_C(1) << 32,
      .max_allocation_bytes = UINT64_C(1) << 32,
      .local_memory_bytes = 32 << 10,
      .max_local_size = {1024, 1024, 1024},
      .max_group_items = 1024,
      .max_argument_bytes = 1024,
      .compute_units = 1,
      .address_bits = 64,
      .buffer_alignment = 1,
      .allocation_alignment = ALIGNMENT,
      .preferred_group_items = 64,
      .name = "no device at all",
      .driver = "null",
  };
  return QN_OK;
}

static qn_status device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  (void)index; /* the core asked device_count */
  qn_adapter_device *device = malloc(sizeof *device);
  if (!device) return null_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
  device->instance = instance; /* outlives the device: the core closes children before parents */
  *out_device = device;
  return QN_OK;
}

static qn_status device_close(qn_adapter_device *device) {
  free(device);
  return QN_OK;
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static char *allocate(uint64_t size) {
  uint64_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (whole < size || whole > SIZE_MAX / 2) return NULL;
  return aligned_alloc(ALIGNMENT, (size_t)whole);
}

/* A block is the host's memory and always mapped: host_pointer says so, and memory_map can be NULL in the table. */
static qn_status memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                               qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  const qn_adapter_host *host = device->instance->host;
  qn_adapter_memory *memory = malloc(sizeof *memory);
  if (!memory) return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  memory->is_wrapped = request->memory == QN_MEMORY_WRAP;
  memory->bytes = memory->is_wrapped ? request->host_pointer : allocate(request->size_bytes);
  if (!memory->bytes) {
    free(memory);
    return null_error(host, QN_ERROR_OUT_OF_MEMORY, "no memory for %llu bytes",
                      (unsigned long long)request->size_bytes);
  }
  out_info->native = (uint64_t)(uintptr_t)memory->bytes;
  out_info->size_bytes = request->size_bytes;
  out_info->host_pointer = memory->bytes;
  *out_memory = memory;
  return QN_OK;
}

/* The core destroys memory when no command uses it any longer. Nothing is counted here. */
static qn_status memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  (void)device;
  if (!memory->is_wrapped) free(memory->bytes);
  free(memory);
  return QN_OK;
}

/* ---- Programs: there are none ------------------------------------------------------------------- */

static qn_status program_create(qn_adapter_device *device, const qn_adapter_code *code,
                                qn_adapter_program **out_program) {
  (void)code;
  (void)out_program;
  return null_error(device->instance->host, QN_ERROR_UNSUPPORTED, "the adapter null runs no kernels");
}

static qn_status program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  (void)program;
  return null_error(device->instance->host, QN_ERROR_INTERNAL, "there is no program to destroy");
}

static qn_status kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                               const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                               qn_adapter_kernel_info *out_info) {
  (void)program;
  (void)description;
  (void)out_kernel;
  (void)out_info;
  return null_error(device->instance->host, QN_ERROR_UNSUPPORTED, "the adapter null runs no kernels");
}

static qn_status kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  (void)kernel;
  return null_error(device->instance->host, QN_ERROR_INTERNAL, "there is no kernel to destroy");
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const qn_adapter_table table = {.struct_size = sizeof table,
                                       .abi_version = QN_ADAPTER_ABI_VERSION,
                                       .name = "null", /* as in libquern-adapter-null.so */
                                       .description = "copies and fills in host memory; no kernels",
                                       .instance_open = instance_open,
                                       .instance_close = instance_close,
                                       .device_count = device_count,
                                       .device_describe = device_describe,
                                       .device_open = device_open,
                                       .device_close = device_close,
                                       .memory_create = memory_create,
                                       .memory_destroy = memory_destroy,
                                       .program_create = program_create,
                                       .program_destroy = program_destroy,
                                       .kernel_create = kernel_create,
                                       .kernel_destroy = kernel_destroy,
                                       .queue_create = null_queue_create,
                                       .queue_destroy = null_queue_destroy,
                                       .queue_submit = null_queue_submit,
                                       .queue_completed = null_queue_completed,
                                       .queue_progress = null_queue_progress,
                                       .queue_wait = null_queue_wait};

/* The one exported symbol. Whatever version is asked for, the table says which one it is. */
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version;
  return &table;
}
