/* queue.h - a queue: a timeline over the device's stream. */
#ifndef QUERN_ADAPTERS_WEBGPU_QUEUE_H
#define QUERN_ADAPTERS_WEBGPU_QUEUE_H

#include <stdatomic.h>

#include "webgpu.h"

struct qn_adapter_queue {
  qn_adapter_device *device;
  uint64_t id;                   /* the core's, for texts */
  _Atomic uint64_t completed;    /* told; written under the device's lock */
  _Atomic uint64_t failed_first; /* 0: nothing failed. Set before `completed` covers it */
  _Atomic uint64_t submitted;
};

void wg_queue_init(qn_adapter_queue *queue, qn_adapter_device *device, uint64_t id);
/* Under the device's lock, whose failure is set: what isn't complete fails. */
void wg_queue_fail(qn_adapter_queue *queue);

/* The table's. */
qn_status wg_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                          qn_adapter_queue **out_queue);
qn_status wg_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status wg_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status wg_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status wg_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status wg_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);

#endif
