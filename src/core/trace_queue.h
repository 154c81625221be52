/* trace_queue.h - the tracks of queues and devices. All under the trace's lock. */
#ifndef QUERN_CORE_TRACE_QUEUE_H
#define QUERN_CORE_TRACE_QUEUE_H

#include "core/queue.h"
#include "core/trace.h"

void core_trace_queue_begin(core_queue *queue);
void core_trace_queue_end(core_queue *queue);
void core_trace_queue_add(core_queue *queue, uint64_t begin_ns, const qn_adapter_command *command, const char *kernel);
void core_trace_queue_memory(core_device *device, const qn_pool_statistics *memory);

/* Tells what is complete by now. Which queues still have work: those whose times are the host's, those with the device's. */
typedef struct core_trace_pending {
  bool host, device;
} core_trace_pending;
core_trace_pending core_trace_queues_collect(void);
/* Tells what is left as unfinished, and asks no driver: the process exits. */
void core_trace_queues_give_up(void);

#endif
