/* null.h - what the files of the adapter `null` share. It runs everything but kernels, in host memory, and is meant to be
 * read and copied by who writes an adapter: docs/writing-an-adapter.md goes through it. */
#ifndef QUERN_ADAPTERS_NULL_NULL_H
#define QUERN_ADAPTERS_NULL_NULL_H

#include "quern/adapter.h"

/* An adapter defines the types that adapter.h only names. */
struct qn_adapter_instance {
  const qn_adapter_host *host; /* valid until instance_close returns */
};

struct qn_adapter_device {
  qn_adapter_instance *instance;
};

struct qn_adapter_memory {
  char *bytes;
  uint32_t is_wrapped; /* the caller's memory: not ours to free */
};

/* Every error goes through the host once: the text is for the caller of Quern, who doesn't know this code. */
qn_status null_error(const qn_adapter_host *host, qn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* queue.c */
qn_status null_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                            qn_adapter_queue **out_queue);
qn_status null_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status null_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status null_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status null_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status null_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);

#endif
