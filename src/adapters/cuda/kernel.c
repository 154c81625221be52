#include "kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- Life --------------------------------------------------------------------------------------- */

static void free_kernel(qn_adapter_kernel *kernel) {
  free(kernel->parameters);
  free(kernel->name);
  free(kernel);
}

static qn_status check_description(const qn_adapter_device *device, const qn_adapter_kernel_description *d) {
  static const uint32_t known = (1u << QN_ARGUMENT_VALUE) | (1u << QN_ARGUMENT_BUFFER) | (1u << QN_ARGUMENT_LOCAL);
  for (uint32_t i = 0; i < d->parameter_count; i++)
    if (d->parameters[i].kind > 31 || !(known >> d->parameters[i].kind & 1))
      return cu_error(device->host, QN_ERROR_UNSUPPORTED,
                      "parameter %u of kernel '%s' is of kind %u, which the adapter doesn't take", i, d->name,
                      d->parameters[i].kind);
  if (d->static_local_bytes <= device->found->info.local_memory_bytes) return QN_OK;
  return cu_error(device->host, QN_ERROR_LIMIT, "kernel '%s' has %llu bytes of local memory; device '%s' has %llu",
                  d->name, (unsigned long long)d->static_local_bytes, device->found->info.name,
                  (unsigned long long)device->found->info.local_memory_bytes);
}

static qn_adapter_kernel *new_kernel(qn_adapter_device *device, const qn_adapter_kernel_description *d) {
  qn_adapter_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) return NULL;
  kernel->device = device;
  kernel->parameter_count = d->parameter_count;
  kernel->name = strdup(d->name);
  kernel->parameters = calloc(kernel->parameter_count + 1, sizeof *kernel->parameters);
  if (!kernel->name || !kernel->parameters) {
    free_kernel(kernel);
    return NULL;
  }
  if (kernel->parameter_count > 0)
    memcpy(kernel->parameters, d->parameters, kernel->parameter_count * sizeof *kernel->parameters);
  if (d->static_local_bytes > QN_PTX_STATIC_LOCAL) kernel->front_bytes = (uint32_t)d->static_local_bytes;
  return kernel;
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static cu_result ask(const qn_adapter_kernel *kernel, unsigned what, uint32_t *out) {
  int value = 0;
  cu_result code = kernel->device->cu->FuncGetAttribute(&value, what, kernel->function);
  *out = value > 0 ? (uint32_t)value : 0;
  return code;
}

static qn_status find(qn_adapter_kernel *kernel, const qn_adapter_program *program, const char *symbol,
                      uint32_t *out_items) {
  const qn_adapter_device *device = kernel->device;
  cu_result code = device->cu->ModuleGetFunction(&kernel->function, program->module, symbol);
  if (code != CU_SUCCESS)
    return cu_refused(device->host, code, "the program has no kernel '%s' (entry '%s')", kernel->name, symbol);
  code = ask(kernel, CU_FUNCTION_MAX_THREADS, out_items);
  if (code == CU_SUCCESS) code = ask(kernel, CU_FUNCTION_SHARED, &kernel->static_bytes);
  if (code != CU_SUCCESS) return cu_refused(device->host, code, "kernel '%s' can't be asked", kernel->name);
  uint64_t most = device->found->info.local_memory_bytes;
  kernel->most_dynamic = kernel->static_bytes < most ? (uint32_t)(most - kernel->static_bytes) : 0;
  return QN_OK;
}

qn_status cu_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                           const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                           qn_adapter_kernel_info *out_info) {
  uint32_t items = 0;
  qn_status status = cu_device_check(device);
  if (status >= 0) status = check_description(device, description);
  if (status < 0) return status;
  qn_adapter_kernel *kernel = new_kernel(device, description);
  if (!kernel) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  bool entered = cu_enter(device);
  status = find(kernel, program, description->symbol, &items);
  cu_leave(device, entered);
  if (status < 0) {
    free_kernel(kernel);
    return status;
  }
  out_info->native = (uint64_t)(uintptr_t)kernel->function;
  out_info->max_group_items = items;
  *out_kernel = kernel;
  return QN_OK;
}

qn_status cu_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  (void)device; /* the function goes with its module */
  free_kernel(kernel);
  return QN_OK;
}
