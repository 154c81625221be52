/* check_queue.h - the queues of the device `check`: each runs its commands in order on a thread of its own. */
#ifndef QUERN_CORE_CHECK_QUEUE_H
#define QUERN_CORE_CHECK_QUEUE_H

#include "compiler/ir/ir.h"
#include "quern/adapter.h"

struct qn_adapter_memory {
  char *bytes;
  uint64_t size_bytes;
  bool is_wrapped; /* the caller's */
};

struct qn_adapter_kernel {
  const ir_function *function;
};

qn_status check_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                             qn_adapter_queue **out_queue);
qn_status check_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status check_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status check_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status check_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status check_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);
qn_status check_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
qn_status check_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);

#endif
