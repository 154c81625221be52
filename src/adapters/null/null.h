/* null.h - what the files of the adapter `null` share. It stands in front of a device that does not exist, whose driver is
 * sim/sim.h, and is meant to be read and copied by who writes an adapter: docs/writing-an-adapter.md goes through it. */
#ifndef QUERN_ADAPTERS_NULL_NULL_H
#define QUERN_ADAPTERS_NULL_NULL_H

#include "quern/adapter.h"
#include "sim/sim.h"

/* An adapter defines the types that adapter.h only names: the driver's object, and what is needed beside it. */
struct qn_adapter_instance {
  const qn_adapter_host *host; /* valid until instance_close returns */
  sim_driver *driver;
};

struct qn_adapter_device {
  qn_adapter_instance *instance; /* outlives the device: the core closes children before parents */
  sim_device *device;
};

struct qn_adapter_memory {
  qn_adapter_device *device;
  sim_block *block;
};

struct qn_adapter_queue {
  qn_adapter_device *device;
  sim_stream *stream;
};

struct qn_adapter_program {
  qn_adapter_device *device; /* the driver has no object for it: it runs no code */
};

struct qn_adapter_kernel {
  qn_adapter_device *device;
  uint64_t key; /* of its name */
};

/* Every error goes through the host once: the text is for the caller of Quern, who doesn't know this code. */
qn_status null_error(const qn_adapter_host *host, qn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What a result of the driver is for the core. Sets the error unless it is QN_OK or QN_NOT_READY. `what` was tried. */
qn_status null_result(const qn_adapter_host *host, sim_result result, const char *what);
/* The same without the text. */
qn_status null_status(sim_result result);

/* Records of our own objects. They come from the driver's heap, so that tests can have it give the same address out again and
 * again; an adapter of yours calls malloc and free. */
#define NULL_NEW(device, type) ((type *)sim_new((device)->instance->driver, sizeof(type)))
#define NULL_DELETE(device, record) sim_delete((device)->instance->driver, record, sizeof *(record))

/* memory.c */
qn_status null_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                             qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info);
qn_status null_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory);

/* program.c */
qn_status null_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program);
qn_status null_program_destroy(qn_adapter_device *device, qn_adapter_program *program);
qn_status null_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                             const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                             qn_adapter_kernel_info *out_info);
qn_status null_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel);

/* queue.c */
qn_status null_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                            qn_adapter_queue **out_queue);
qn_status null_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status null_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status null_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status null_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status null_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);
qn_status null_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
qn_status null_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);

/* contract.c: not part of the template. A table that checks what the core promises, and forwards to `inner`. */
const qn_adapter_table *null_contract(const qn_adapter_table *inner);

#endif
