#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"
#include "target.h"
#include "topology.h"

#define SPIN_US 50 /* a worker's and a waiting thread's patience before they sleep */

qn_status cpu_device_probe(const qn_adapter_host *host, qn_adapter_device_info *info) {
  uint64_t threads = cpu_min(cpu_available_cores(), CPU_MAX_THREADS);
  qn_status status = cpu_environment_number(host, "QUERN_CPU_THREADS", 1, CPU_MAX_THREADS, &threads);
  if (status < 0) return status;
  *info =
      (qn_adapter_device_info){.struct_size = sizeof *info,
                               .type = QN_DEVICE_CPU,
                               .failure_domain = QN_FAILURE_QUEUE,
                               .code_kind = QN_CODE_ELF_OBJECT,
                               .features = QN_FEATURE_KERNELS | QN_FEATURE_DOUBLE | QN_FEATURE_INT64_ATOMICS |
                                           QN_FEATURE_SHARED_MEMORY | QN_FEATURE_WRAP_HOST | QN_FEATURE_TIMED_QUEUES,
                               .memory_bytes = cpu_available_memory(),
                               .local_memory_bytes = CPU_LOCAL_MEMORY_BYTES,
                               .max_local_size = {CPU_MAX_GROUP_ITEMS, CPU_MAX_GROUP_ITEMS, CPU_MAX_GROUP_ITEMS},
                               .max_group_items = CPU_MAX_GROUP_ITEMS,
                               .max_argument_bytes = CPU_MAX_ARGUMENT_BYTES,
                               .compute_units = (uint32_t)threads,
                               .address_bits = 64,
                               .buffer_alignment = 1,
                               .allocation_alignment = CPU_ALIGNMENT,
                               .sub_group_size = 0,
                               .preferred_group_items = 256};
  info->max_allocation_bytes = info->memory_bytes;
  cpu_target_describe(info);
  snprintf(info->driver, sizeof info->driver, "Quern cpu adapter %u.%u.%u, %u thread%s", QN_VERSION_MAJOR,
           QN_VERSION_MINOR, QN_VERSION_PATCH, info->compute_units, info->compute_units == 1 ? "" : "s");
  return QN_OK;
}

static qn_status no_device(const qn_adapter_host *host, uint32_t index) {
  return cpu_error(host, QN_ERROR_NOT_FOUND, 0, "cpu: there is no device %u; the only one is 0", index);
}

qn_status cpu_device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  if (index != 0) return no_device(instance->host, index);
  uint32_t size = out_info->struct_size;
  memcpy(out_info, &instance->info, cpu_min(size, sizeof instance->info));
  out_info->struct_size = size;
  return QN_OK;
}

qn_status cpu_forked_error(const qn_adapter_device *device) {
  return cpu_error(device->host, QN_ERROR_FORKED, 0,
                   "cpu: the device was opened before a fork and can't be used in the child");
}

qn_status cpu_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  const qn_adapter_host *host = instance->host;
  uint64_t spin_us = SPIN_US;
  if (index != 0) return no_device(host, index);
  qn_status status = cpu_environment_number(host, "QUERN_CPU_SPIN_US", 0, 1000000, &spin_us);
  if (status < 0) return status;
  qn_adapter_device *device = aligned_alloc(CPU_LINE, sizeof *device);
  if (!device) return cpu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  memset(device, 0, sizeof *device);
  pthread_mutex_init(&device->lock, NULL);
  device->host = host;
  device->info = &instance->info;
  device->alive = cpu_fork_page();
  if (!device->alive) {
    free(device);
    return cpu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, errno, "cpu: out of host memory");
  }
  status = cpu_crew_start(&device->crew, device, device->info->compute_units, cpu_available_cores(), spin_us);
  if (status < 0) {
    (void)cpu_device_close(device);
    return status;
  }
  cpu_log(host, "cpu: opened with %u threads", device->info->compute_units);
  *out_device = device;
  return QN_OK;
}

qn_status cpu_device_close(qn_adapter_device *device) {
  /* The child has no workers to join; what it inherited is left alone. */
  if (cpu_forked(device)) return QN_OK;
  cpu_crew_stop(&device->crew);
  for (uint32_t i = 0; i < device->queue_count; i++) cpu_queue_free(device->queues[i]);
  cpu_fork_page_free(device->alive);
  pthread_mutex_destroy(&device->lock);
  free(device);
  return QN_OK;
}
