#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static void show_code(qn_adapter_device *device, qn_adapter_program *p, const qn_adapter_code *code, bool for_perf) {
  p->debug = debug_show(&p->image, code->bytes, code->size_bytes);
  if (for_perf && !debug_write_perf_map(&p->image))
    cpu_log(device->host, "cpu: QUERN_PERF is set, but /tmp/perf-PID.map can't be written: %s", strerror(errno));
}

qn_status cpu_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program) {
  const qn_adapter_host *host = device->host;
  if (cpu_forked(device)) return cpu_forked_error(device);
  if (code->kind != QN_CODE_ELF_OBJECT)
    return cpu_error(host, QN_ERROR_UNSUPPORTED, 0, "cpu: code of kind %u; this device loads ELF objects (kind %u)",
                     code->kind, QN_CODE_ELF_OBJECT);
  uint64_t for_perf = 0;
  qn_status status = cpu_environment_number(host, "QUERN_PERF", 0, 1, &for_perf);
  if (status < 0) return status;
  qn_adapter_program *p = calloc(1, sizeof *p);
  if (!p) return cpu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  elf_error error;
  bool out_of_memory;
  if (!cpu_image_load(&p->image, code->bytes, code->size_bytes, &error, &out_of_memory)) {
    free(p);
    return cpu_error(host, out_of_memory ? QN_ERROR_OUT_OF_HOST_MEMORY : QN_ERROR_DATA, 0,
                     "cpu: the code can't be loaded: %s", error.text);
  }
  p->host = host;
  show_code(device, p, code, for_perf != 0);
  *out_program = p;
  return QN_OK;
}

qn_status cpu_program_destroy(qn_adapter_device *device, qn_adapter_program *p) {
  (void)device;
  debug_hide(p->debug);
  cpu_image_free(&p->image);
  free(p);
  return QN_OK;
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

static bool power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

/* A slot must lie inside of the block: what the compiler said of the kernel is checked once, here. */
static bool parameter_ok(const qn_adapter_parameter *p, uint64_t block) {
  uint64_t size = p->kind == QN_ARGUMENT_VALUE ? p->size_bytes : sizeof(void *);
  if (p->kind != QN_ARGUMENT_VALUE && p->kind != QN_ARGUMENT_BUFFER && p->kind != QN_ARGUMENT_LOCAL) return false;
  if (p->alignment && (!power_of_two(p->alignment) || p->alignment > CPU_ALIGNMENT)) return false;
  return p->slot_offset <= block && size <= block - p->slot_offset;
}

static qn_status check_description(qn_adapter_device *device, const qn_adapter_kernel_description *d) {
  const qn_adapter_host *host = device->host;
  if (d->argument_block_bytes > CPU_MAX_ARGUMENT_BYTES)
    return cpu_error(host, QN_ERROR_LIMIT, 0, "cpu: kernel %s takes %llu bytes of arguments; the limit is %u", d->name,
                     (unsigned long long)d->argument_block_bytes, CPU_MAX_ARGUMENT_BYTES);
  if (d->static_local_bytes > CPU_LOCAL_MEMORY_BYTES)
    return cpu_error(host, QN_ERROR_LIMIT, 0, "cpu: kernel %s has %llu bytes of local memory; the limit is %llu",
                     d->name, (unsigned long long)d->static_local_bytes, (unsigned long long)CPU_LOCAL_MEMORY_BYTES);
  for (uint32_t i = 0; i < d->parameter_count; i++)
    if (!parameter_ok(&d->parameters[i], d->argument_block_bytes))
      return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                       "cpu: kernel %s: the description of parameter %u is wrong (kind %u, %u bytes at %u)", d->name, i,
                       d->parameters[i].kind, d->parameters[i].size_bytes, d->parameters[i].slot_offset);
  return QN_OK;
}

qn_status cpu_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                            const qn_adapter_kernel_description *d, qn_adapter_kernel **out_kernel,
                            qn_adapter_kernel_info *out_info) {
  const qn_adapter_host *host = device->host;
  if (cpu_forked(device)) return cpu_forked_error(device);
  qn_status status = check_description(device, d);
  if (status < 0) return status;
  uint64_t entry = cpu_image_find(&program->image, d->symbol);
  if (!entry)
    return cpu_error(host, QN_ERROR_NOT_FOUND, 0, "cpu: the code has no function %s (kernel %s)", d->symbol, d->name);
  qn_adapter_kernel *k = calloc(1, sizeof *k + d->parameter_count * sizeof *k->parameters);
  char *name = strdup(d->name);
  if (!k || !name) {
    free(k);
    free(name);
    return cpu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  }
  k->host = host;
  k->entry = (qn_cpu_entry_fn)(uintptr_t)entry;
  k->name = name;
  k->parameter_count = d->parameter_count;
  k->argument_block_bytes = d->argument_block_bytes;
  k->static_local_bytes = d->static_local_bytes;
  k->scratch_bytes_per_item = d->scratch_bytes_per_item;
  k->scratch_bytes_per_group = d->scratch_bytes_per_group;
  for (uint32_t i = 0; i < d->parameter_count; i++) {
    k->parameters[i] = d->parameters[i];
    k->local_count += d->parameters[i].kind == QN_ARGUMENT_LOCAL;
  }
  out_info->native = entry;
  out_info->max_group_items = CPU_MAX_GROUP_ITEMS;
  *out_kernel = k;
  return QN_OK;
}

qn_status cpu_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *k) {
  (void)device;
  free(k->name);
  free(k);
  return QN_OK;
}
