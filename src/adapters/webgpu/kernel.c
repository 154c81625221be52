/* kernel.c - life of a kernel. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"

static void free_kernel(qn_adapter_kernel *kernel) {
  free(kernel->parameters);
  free(kernel->holders);
  free(kernel->key);
  free(kernel->numbers);
  free(kernel->constants);
  free(kernel->bindings);
  free(kernel);
}

static const wg_entry *find_entry(const qn_adapter_program *program, const char *symbol) {
  for (uint32_t i = 0; i < program->record.entry_count; i++)
    if (strcmp(program->record.entries[i].entry, symbol) == 0) return &program->record.entries[i];
  return NULL;
}

/* The record and the compiler's description must tell the same: launches go by both. */
static qn_status check_parameters(const qn_adapter_device *device, const wg_entry *e,
                                  const qn_adapter_kernel_description *d) {
  static const uint32_t kinds[] = {
      [WG_VALUE] = QN_ARGUMENT_VALUE, [WG_BUFFER] = QN_ARGUMENT_BUFFER, [WG_LOCAL] = QN_ARGUMENT_LOCAL};
  bool fits = e->parameter_count == d->parameter_count;
  for (uint32_t i = 0; fits && i < e->parameter_count; i++)
    fits = kinds[e->parameters[i].kind] == d->parameters[i].kind &&
           (e->parameters[i].kind != WG_VALUE || d->parameters[i].size_bytes <= e->parameters[i].size);
  if (fits) return QN_OK;
  return wg_error(device->host, QN_ERROR_ABI, "kernel '%s' is described with other parameters than its code has",
                  d->name);
}

static qn_status check_limits(const qn_adapter_device *device, const wg_entry *e) {
  const wgl_description *has = &device->found->description;
  if (e->bindings > has->max_storage_buffers)
    return wg_error(device->host, QN_ERROR_LIMIT,
                    "kernel '%s' uses %u buffers, device '%s' takes %u a kernel; use fewer pointers", e->name,
                    e->bindings, device->found->info.name, has->max_storage_buffers);
  if (e->block_bytes > has->max_uniform_bytes || e->block_bytes > WG_BLOCKS / 4)
    return wg_error(device->host, QN_ERROR_LIMIT, "kernel '%s' has %u bytes of arguments, device '%s' takes %llu",
                    e->name, e->block_bytes, device->found->info.name, (unsigned long long)has->max_uniform_bytes);
  if (e->static_local_bytes > has->max_local_bytes)
    return wg_error(device->host, QN_ERROR_LIMIT, "kernel '%s' has %llu bytes of local memory, device '%s' has %u",
                    e->name, (unsigned long long)e->static_local_bytes, device->found->info.name, has->max_local_bytes);
  return QN_OK;
}

static bool make_room(qn_adapter_kernel *kernel) {
  uint32_t count = kernel->entry->parameter_count, locals = 0;
  for (uint32_t i = 0; i < count; i++) locals += kernel->entry->parameters[i].kind == WG_LOCAL;
  kernel->key_count = 3 + locals;
  kernel->parameters = calloc(count + 1, sizeof *kernel->parameters);
  kernel->holders = calloc(count + 1, sizeof *kernel->holders);
  kernel->key = calloc(kernel->key_count, sizeof *kernel->key);
  kernel->numbers = calloc(count + 1, sizeof *kernel->numbers);
  kernel->constants = calloc(kernel->key_count + 1, sizeof *kernel->constants);
  kernel->bindings = calloc(count + 1, sizeof *kernel->bindings);
  return kernel->parameters && kernel->holders && kernel->key && kernel->numbers && kernel->constants &&
         kernel->bindings;
}

qn_status wg_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                           const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                           qn_adapter_kernel_info *out_info) {
  qn_status status = wg_device_check(device);
  if (status < 0) return status;
  const wg_entry *entry = find_entry(program, description->symbol);
  if (!entry)
    return wg_error(device->host, QN_ERROR_NOT_FOUND, "the program has no entry '%s' for kernel '%s'",
                    description->symbol, description->name);
  status = check_parameters(device, entry, description);
  if (status >= 0) status = check_limits(device, entry);
  if (status < 0) return status;
  qn_adapter_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  kernel->device = device;
  kernel->program = program;
  kernel->entry = entry;
  if (!make_room(kernel)) {
    free_kernel(kernel);
    return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  }
  if (entry->parameter_count > 0)
    memcpy(kernel->parameters, description->parameters, entry->parameter_count * sizeof *kernel->parameters);
  out_info->native = 0;          /* pipelines are made at launches */
  out_info->max_group_items = 0; /* what the device has */
  *out_kernel = kernel;
  return QN_OK;
}

qn_status wg_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  pthread_mutex_lock(&device->lock);
  wg_variants_close(kernel);
  pthread_mutex_unlock(&device->lock);
  free_kernel(kernel);
  return QN_OK;
}
