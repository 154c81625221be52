/* device.h - the one device: this machine's processors. */
#ifndef QUERN_ADAPTERS_CPU_DEVICE_H
#define QUERN_ADAPTERS_CPU_DEVICE_H

#include <pthread.h>

#include "cpu.h"
#include "crew.h"
#include "queue.h"

struct qn_adapter_device {
  const qn_adapter_host *host;
  const qn_adapter_device_info *info;
  uint32_t *alive; /* a page that is wiped in a forked child */
  cpu_crew crew;
  pthread_mutex_t lock; /* guards making, taking and giving back queues */
  uint32_t queue_count;
  qn_adapter_queue *free_queues;
  qn_adapter_queue *queues[CPU_MAX_QUEUES];
};

/* In a forked child there are no workers, and locks may be held for ever: nothing is touched then. */
static inline bool cpu_forked(const qn_adapter_device *device) {
  return *(volatile const uint32_t *)device->alive == 0;
}
QN_MUST_USE qn_status cpu_forked_error(const qn_adapter_device *device);

/* Fills an instance's description of the device. */
QN_MUST_USE qn_status cpu_device_probe(const qn_adapter_host *host, qn_adapter_device_info *info);

/* The table's functions. */
qn_status cpu_device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info);
qn_status cpu_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device);
qn_status cpu_device_close(qn_adapter_device *device);

#endif
