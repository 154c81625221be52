/* submit.c - commands of a queue go into the device's stream. */
#include "device.h"
#include "kernel.h"
#include "queue.h"
#include "transfer.h"

enum { MOST_COMMANDS = WG_FLIGHTS / 4, FLIGHTS_OF_A_COMMAND = 3 };

typedef struct batch {
  qn_adapter_queue *queue;
  const qn_adapter_command *commands;
  uint32_t count;
  wg_failure failure;
} batch;

/* ---- Checks ------------------------------------------------------------------------------------- */

static qn_status check_wait(batch *b, const qn_adapter_command *c) {
  const qn_adapter_queue *source = c->wait_queue;
  if (source->device != b->queue->device)
    return wg_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, 0, "a queue can't wait for one of another device");
  if (source == b->queue ? c->wait_value < c->value : c->wait_value <= atomic_load(&source->submitted)) return QN_OK;
  return wg_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, 0,
                 "value %llu of queue %llu was not submitted; it can't be waited for",
                 (unsigned long long)c->wait_value, (unsigned long long)source->id);
}

static qn_status check(batch *b) {
  uint64_t before = atomic_load_explicit(&b->queue->submitted, memory_order_relaxed);
  for (uint32_t i = 0; i < b->count; i++) {
    const qn_adapter_command *c = &b->commands[i];
    if (c->value <= before)
      return wg_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, 0, "value %llu comes after value %llu",
                     (unsigned long long)c->value, (unsigned long long)before);
    if (c->kind < QN_COMMAND_LAUNCH || c->kind > QN_COMMAND_MARK)
      return wg_fail(&b->failure, QN_ERROR_UNSUPPORTED, 0, "there is no command of kind %u", c->kind);
    qn_status status = c->kind == QN_COMMAND_WAIT ? check_wait(b, c) : QN_OK;
    if (status < 0) return status;
    before = c->value;
  }
  return QN_OK;
}

/* ---- Recording ---------------------------------------------------------------------------------- */

/* A wait is past when it is recorded: the stream is in order. */
static qn_status record(batch *b, const qn_adapter_command *c, bool dry) {
  qn_adapter_device *device = b->queue->device;
  switch (c->kind) {
    case QN_COMMAND_LAUNCH:
      return wg_launch(device, c->launch, dry, &b->failure);
    case QN_COMMAND_WAIT:
    case QN_COMMAND_MARK:
      return QN_OK;
    default:
      return dry ? QN_OK : wg_transfer(device, c, &b->failure);
  }
}

static bool is_work(const qn_adapter_command *c) { return c->kind != QN_COMMAND_WAIT && c->kind != QN_COMMAND_MARK; }

/* With one command of work nothing is recorded when it fails. With more, launches are tried first; should memory fail in the
 * middle, the batch counts as taken, and its device has failed. */
static qn_status record_all(batch *b) {
  uint32_t works = 0;
  qn_status status = QN_OK;
  for (uint32_t i = 0; i < b->count; i++) works += is_work(&b->commands[i]);
  for (uint32_t i = 0; i < b->count && works > 1 && status >= 0; i++) status = record(b, &b->commands[i], true);
  if (status < 0) return status;
  for (uint32_t i = 0, done = 0; i < b->count; i++) {
    const qn_adapter_command *c = &b->commands[i];
    status = record(b, c, false);
    if (status < 0 && done == 0) return status;
    if (status < 0) wg_device_fail(b->queue->device, &b->failure);
    done += is_work(c);
    wg_stream_step(b->queue->device, b->queue, c->value);
    atomic_store_explicit(&b->queue->submitted, c->value, memory_order_release);
  }
  return QN_OK;
}

/* ---- Room --------------------------------------------------------------------------------------- */

static bool is_idle(const qn_adapter_queue *queue) {
  return atomic_load(&queue->completed) == atomic_load(&queue->submitted);
}

/* QN_NOT_READY: the core waits for an earlier value of this queue. When it has none, others fill the device, and we wait. */
static qn_status make_room(qn_adapter_queue *queue, uint32_t count) {
  qn_adapter_device *device = queue->device;
  uint32_t flights = count * FLIGHTS_OF_A_COMMAND;
  if (wg_stream_has_room(device, flights)) return QN_OK;
  wg_stream_look(device);
  while (!wg_stream_has_room(device, flights) && wg_stream_phase(device) == WG_RUNNING) {
    uint64_t future;
    if (!is_idle(queue)) return QN_NOT_READY;
    if (!wg_stream_oldest(device, &future)) break;
    pthread_mutex_unlock(&device->lock);
    (void)!wg_stream_wait(device, future, wg_deadline(UINT64_C(10000000)));
    pthread_mutex_lock(&device->lock);
    wg_stream_look(device);
  }
  return QN_OK;
}

static qn_status submit(batch *b) {
  qn_adapter_device *device = b->queue->device;
  wg_device_listen(device);
  if (atomic_load_explicit(&device->has_failed, memory_order_relaxed)) {
    b->failure = device->failure;
    return b->failure.status;
  }
  qn_status status = make_room(b->queue, b->count);
  if (status != QN_OK) return status;
  if (wg_stream_phase(device) != WG_RUNNING) return wg_fail(&b->failure, QN_ERROR_CLOSED, 0, "the process is exiting");
  status = check(b);
  if (status >= 0) status = record_all(b);
  if (status >= 0) wg_stream_go(device);
  return status;
}

qn_status wg_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  qn_adapter_device *device = queue->device;
  batch b = {.queue = queue, .commands = commands, .count = count};
  if (count == 0) return QN_OK;
  if (count > MOST_COMMANDS)
    return wg_error(device->host, QN_ERROR_LIMIT, "a batch of %u commands is too large for a queue; submit it in parts",
                    count);
  pthread_mutex_lock(&device->lock);
  qn_status status = submit(&b);
  pthread_mutex_unlock(&device->lock);
  return status < 0 ? wg_tell(device->host, &b.failure) : status;
}
