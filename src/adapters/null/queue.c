/* queue.c - queues: the core's commands become the driver's packets. */
#include <string.h>

#include "null.h"
#include "sim/mix.h"

/* ---- Creation ----------------------------------------------------------------------------------- */

qn_status null_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                            qn_adapter_queue **out_queue) {
  const qn_adapter_host *host = device->instance->host;
  qn_adapter_queue *queue = NULL_NEW(device, qn_adapter_queue);
  if (!queue) return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  queue->device = device;
  bool is_timed = (options->flags & QN_QUEUE_TIMED) != 0;
  sim_result result = sim_stream_create(device->device, options->id, is_timed, &queue->stream);
  if (result == SIM_OK)
    *out_queue = queue;
  else
    NULL_DELETE(device, queue);
  return null_result(host, result, "making a queue");
}

/* Everything on it is complete. */
qn_status null_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  sim_stream_destroy(queue->stream);
  NULL_DELETE(device, queue);
  return QN_OK;
}

/* ---- Commands become packets -------------------------------------------------------------------- */

static const uint32_t ops[] = {
    [QN_COMMAND_LAUNCH] = SIM_LAUNCH, [QN_COMMAND_COPY] = SIM_COPY, [QN_COMMAND_FILL] = SIM_FILL,
    [QN_COMMAND_WRITE] = SIM_WRITE,   [QN_COMMAND_READ] = SIM_READ, [QN_COMMAND_WAIT] = SIM_WAIT,
    [QN_COMMAND_MARK] = SIM_NOTHING};

static void use(sim_packet *p, qn_adapter_memory *memory, uint64_t offset, uint64_t size, uint32_t access) {
  p->uses[p->use_count++] = (sim_use){.block = memory->block, .offset = offset, .size = size, .access = access};
}

/* Arguments come checked and converted, in the kernel's order (A6): values in OpenCL's layout, buffers with their range. */
static qn_status put_arguments(const qn_adapter_host *host, const qn_launch_record *launch, sim_packet *p) {
  p->key = launch->kernel->key;
  for (uint32_t i = 0; i < launch->argument_count; i++) {
    const qn_launch_argument *a = &launch->arguments[i];
    uint32_t access = (a->access & QN_ACCESS_READ ? SIM_READS : 0u) | (a->access & QN_ACCESS_WRITE ? SIM_WRITES : 0u);
    if (a->kind == QN_ARGUMENT_VALUE) p->key = sim_mix_bytes(p->key, a->bytes, a->size_bytes);
    if (a->kind != QN_ARGUMENT_BUFFER || !a->memory) continue;
    if (p->use_count == SIM_USES)
      return null_error(host, QN_ERROR_LIMIT, "the simulated device takes launches with %d buffers at most", SIM_USES);
    use(p, a->memory, a->offset_bytes, a->size_bytes, access);
  }
  return QN_OK;
}

static qn_status translate(const qn_adapter_host *host, const qn_adapter_command *c, sim_packet *p) {
  p->op = ops[c->kind];
  p->use_count = 0;
  p->host = c->host;
  if (c->target) use(p, c->target, c->target_offset, c->size_bytes, SIM_WRITES);
  if (c->source) use(p, c->source, c->source_offset, c->size_bytes, SIM_READS);
  if (c->kind == QN_COMMAND_FILL) {
    p->pattern_size = c->pattern_bytes;
    memcpy(p->pattern, c->pattern, (size_t)c->pattern_bytes);
  }
  if (c->kind == QN_COMMAND_WAIT) {
    p->stream = c->wait_queue->stream;
    p->value = c->wait_value;
  }
  return c->kind == QN_COMMAND_LAUNCH ? put_arguments(host, c->launch, p) : QN_OK;
}

/* All of the batch or nothing. When there is no room now, the core waits for an earlier value and comes again. What is
 * borrowed is copied. The driver's values rise by one from 1 on, as the core's do; where a driver has none, count. */
enum { BATCH = 32 };
qn_status null_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  const qn_adapter_host *host = queue->device->instance->host;
  sim_packet packets[BATCH];
  if (count > BATCH) return null_error(host, QN_ERROR_LIMIT, "a batch has %d commands at most", BATCH);
  for (uint32_t i = 0; i < count; i++) {
    qn_status status = translate(host, &commands[i], &packets[i]);
    if (status < 0) return status;
  }
  return null_result(host, sim_stream_submit(queue->stream, packets, count), "submitting commands");
}

/* ---- Progress ----------------------------------------------------------------------------------- */

qn_status null_queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  return null_status(sim_stream_completed(queue->stream, out_value));
}

qn_status null_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  sim_failure failure;
  (void)sim_stream_completed(queue->stream, &out_progress->completed);
  sim_stream_failure(queue->stream, &failure);
  out_progress->failed_first = failure.value;
  out_progress->driver_code = failure.code;
  out_progress->cause = null_status(failure.result);
  memcpy(out_progress->text, failure.text, sizeof failure.text);
  return QN_OK;
}

qn_status null_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  sim_result result = sim_stream_wait(queue->stream, value, timeout_ns);
  return null_result(queue->device->instance->host, result, "waiting for a value");
}

/* Times of the device's own clock, or an error; never a guess of the host. */
qn_status null_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  uint64_t begin = 0;
  sim_result result = sim_stream_times(queue->stream, value, &begin, out_ns);
  return null_result(queue->device->instance->host, result, "reading a time");
}

qn_status null_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  uint64_t end = 0;
  sim_result result = sim_stream_times(queue->stream, value, out_ns, &end);
  return null_result(queue->device->instance->host, result, "reading a time");
}
