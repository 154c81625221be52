/* submit.c - commands to the driver.
 *
 * A wait for another queue costs no command of its own: its event goes into the wait list of the command behind it
 * (order.h). */
#include "kernel.h"
#include "order.h"
#include "transfer.h"

typedef struct batch {
  qn_adapter_queue *queue;
  ocl_waits waits; /* gathered for the next command */
  uint64_t last;   /* the value that was looked at last */
  bool is_begun;   /* the driver has taken something of it */
  ocl_failure failure;
} batch;

static void release_waits(batch *b) { ocl_waits_release(b->queue->device->cl, &b->waits); }

/* ---- One command -------------------------------------------------------------------------------- */

/* A value of its own that does nothing, but waits for what was gathered. */
static qn_status enqueue_barrier(ocl_place *place) {
  if (place->wait_count == 0 && !place->event) return QN_OK;
  cl_int code = place->wait_count > 0
                    ? place->cl->EnqueueBarrierWithWaitList(place->queue, place->wait_count, place->waits, place->event)
                    : place->cl->EnqueueMarkerWithWaitList(place->queue, 0, NULL, place->event);
  if (code != CL_SUCCESS) return ocl_fail(place->failure, ocl_status_of(code), code, "a wait of a queue");
  place->taken++;
  return QN_OK;
}

static qn_status enqueue_kind(ocl_place *place, const qn_adapter_command *c) {
  switch (c ? c->kind : QN_COMMAND_MARK) {
    case QN_COMMAND_LAUNCH:
      return ocl_kernel_launch(place, c->launch);
    case QN_COMMAND_COPY:
    case QN_COMMAND_FILL:
    case QN_COMMAND_WRITE:
    case QN_COMMAND_READ:
      return ocl_transfer(place, c);
    case QN_COMMAND_WAIT:
    case QN_COMMAND_MARK:
      return enqueue_barrier(place);
    default:
      return ocl_fail(place->failure, QN_ERROR_UNSUPPORTED, CL_SUCCESS, "there is no command of kind %u", c->kind);
  }
}

/* A launch without work still has a value, and waits to wait for. */
static qn_status enqueue_whole(ocl_place *place, const qn_adapter_command *c) {
  qn_status status = enqueue_kind(place, c);
  return status >= 0 && place->taken == 0 ? enqueue_barrier(place) : status;
}

/* Who gives an idle queue a few commands will wait for them: an event of such a command costs less than a marker behind
 * it. In a long batch they are few among many. */
static bool wants_event(const qn_adapter_queue *queue, const qn_adapter_command *c) {
  bool works =
      c && c->kind != QN_COMMAND_WAIT && c->kind != QN_COMMAND_MARK && !queue->device->found->quirks->starts_alone;
  uint64_t ahead = atomic_load_explicit(&queue->submitted, memory_order_relaxed) -
                   atomic_load_explicit(&queue->completed, memory_order_relaxed);
  return queue->is_timed || (works && ahead < OCL_EAGER && queue->count < queue->capacity);
}

/* `c` may be NULL: what was gathered, up to `value`. */
static qn_status enqueue(batch *b, const qn_adapter_command *c, uint64_t value) {
  qn_adapter_queue *queue = b->queue;
  cl_event event = NULL;
  ocl_place place = {.cl = queue->device->cl,
                     .queue = queue->native,
                     .number = queue->number,
                     .waits = b->waits.events,
                     .wait_count = b->waits.count,
                     .failure = &b->failure};
  pthread_mutex_lock(&queue->lock);
  place.event = wants_event(queue, c) ? &event : NULL;
  qn_status status = enqueue_whole(&place, c);
  if (place.taken > 0) b->is_begun = true;
  if (status >= 0) {
    atomic_store_explicit(&queue->submitted, value, memory_order_release);
    if (event) ocl_marks_add(queue, event);
    if (value - queue->marked >= queue->in_flight / OCL_MARKS_IN_FLIGHT) ocl_marks_set(queue);
  }
  pthread_mutex_unlock(&queue->lock);
  release_waits(b);
  return status;
}

/* ---- Waits -------------------------------------------------------------------------------------- */

static qn_status check_wait(batch *b, const qn_adapter_command *c) {
  const qn_adapter_queue *source = c->wait_queue;
  if (source->device != b->queue->device)
    return ocl_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS, "a queue can't wait for one of another device");
  if (source == b->queue && c->wait_value >= c->value)
    return ocl_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS, "a queue can't wait for its own later work");
  if (source != b->queue && c->wait_value > atomic_load(&source->submitted))
    return ocl_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS,
                    "value %llu of queue %llu was not submitted; it can't be waited for",
                    (unsigned long long)c->wait_value, (unsigned long long)source->id);
  return QN_OK;
}

static bool is_for_another(const batch *b, const qn_adapter_command *c) {
  return c->kind == QN_COMMAND_WAIT && c->wait_queue != b->queue;
}

/* All waits of a batch are remembered before any of it goes to the driver, for its rest may be refused (order.h). */
static qn_status note_waits(batch *b, const qn_adapter_command *commands, uint32_t count, uint32_t waits) {
  qn_adapter_queue *queue = b->queue;
  pthread_mutex_lock(&queue->lock);
  bool has_room = ocl_order_reserve(queue, waits);
  for (uint32_t i = 0; i < count && has_room; i++)
    if (is_for_another(b, &commands[i]))
      ocl_order_note(queue, commands[i].value, commands[i].wait_queue, commands[i].wait_value);
  pthread_mutex_unlock(&queue->lock);
  if (has_room) return QN_OK;
  return ocl_fail(&b->failure, QN_ERROR_OUT_OF_HOST_MEMORY, CL_SUCCESS, "no memory for %u waits of a queue", waits);
}

static qn_status put_wait(batch *b, const qn_adapter_command *c) {
  qn_status status = QN_OK;
  /* What has failed is past as well: the wait is for order, and who needs the outcome asks for it. */
  if (is_for_another(b, c)) status = ocl_order_gather(b->queue, c->wait_queue, c->wait_value, &b->waits, &b->failure);
  /* Each value of a timed queue has a time of its own. */
  return status >= 0 && b->queue->is_timed ? enqueue(b, c, c->value) : status;
}

/* ---- A batch ------------------------------------------------------------------------------------ */

static qn_status check_value(batch *b, uint64_t value, uint64_t before) {
  if (value > before) return QN_OK;
  return ocl_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS, "value %llu comes after value %llu",
                  (unsigned long long)value, (unsigned long long)before);
}

/* What can be found wrong before the driver gets anything. */
static qn_status prepare(batch *b, const qn_adapter_command *commands, uint32_t count) {
  uint64_t before = b->last;
  uint32_t waits = 0;
  qn_status status = QN_OK;
  for (uint32_t i = 0; i < count && status >= 0; i++) {
    const qn_adapter_command *c = &commands[i];
    status = check_value(b, c->value, before);
    if (status >= 0 && c->kind == QN_COMMAND_WAIT) status = check_wait(b, c);
    waits += is_for_another(b, c);
    before = c->value;
  }
  return status >= 0 && waits > 0 ? note_waits(b, commands, count, waits) : status;
}

static qn_status put(batch *b, const qn_adapter_command *c) {
  qn_status status = c->kind == QN_COMMAND_WAIT ? put_wait(b, c) : enqueue(b, c, c->value);
  if (status >= 0) b->last = c->value;
  return status;
}

/* The driver has taken a part of a batch and refuses the rest: its values are there and have failed. */
static qn_status fail_rest(batch *b, uint64_t last) {
  qn_adapter_queue *queue = b->queue;
  pthread_mutex_lock(&queue->lock);
  ocl_queue_fail(queue, b->last + 1, &b->failure);
  atomic_store_explicit(&queue->submitted, last, memory_order_release);
  ocl_marks_set(queue);
  pthread_mutex_unlock(&queue->lock);
  return QN_OK;
}

/* Nothing was taken, and its values are given out again. */
static void forget_waits(batch *b) {
  pthread_mutex_lock(&b->queue->lock);
  ocl_order_forget(b->queue, atomic_load(&b->queue->submitted) + 1);
  pthread_mutex_unlock(&b->queue->lock);
}

static qn_status end(batch *b, qn_status status, uint64_t last) {
  qn_adapter_device *device = b->queue->device;
  release_waits(b);
  if (status < 0) ocl_device_judge(device, b->failure.code, "a queue refuses commands");
  if (status < 0 && b->is_begun)
    status = fail_rest(b, last);
  else if (status < 0)
    forget_waits(b);
  if (status < 0 && ocl_device_check(device) == QN_OK) return ocl_tell(device->host, &b->failure);
  if (status < 0) return QN_ERROR_DEVICE_LOST; /* with the first cause */
  if (device->found->quirks->starts_alone) return QN_OK;
  cl_int code = device->cl->Flush(b->queue->native);
  if (code != CL_SUCCESS) ocl_device_judge(device, code, "a queue can't be flushed"); /* it is told at the next wait */
  ocl_compiles_settle(device);
  return QN_OK;
}

/* ---- Room --------------------------------------------------------------------------------------- */

/* For `count` commands up to `last`; an empty queue takes any batch. */
static bool has_room(const qn_adapter_queue *queue, uint64_t last, uint32_t count) {
  uint64_t ahead = last - atomic_load_explicit(&queue->completed, memory_order_relaxed);
  return ahead <= queue->in_flight || ahead <= count;
}

static bool make_room(qn_adapter_queue *queue, uint64_t last, uint32_t count) {
  pthread_mutex_lock(&queue->lock);
  ocl_marks_look(queue);
  pthread_mutex_unlock(&queue->lock);
  return has_room(queue, last, count);
}

static qn_status check_queue(qn_adapter_queue *queue, uint32_t count) {
  const qn_adapter_host *host = queue->device->host;
  qn_status status = ocl_device_check(queue->device);
  if (status < 0) return status;
  if (atomic_load_explicit(&queue->failed_first, memory_order_acquire)) return ocl_tell(host, &queue->failure);
  if (count <= OCL_IN_FLIGHT) return QN_OK;
  return ocl_error(host, QN_ERROR_LIMIT, "a batch of %u commands is too large for a queue; submit it in parts", count);
}

qn_status ocl_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  qn_status status = check_queue(queue, count);
  if (status < 0 || count == 0) return status;
  uint64_t last = commands[count - 1].value;
  if (!has_room(queue, last, count) && !make_room(queue, last, count)) return QN_NOT_READY;
  batch b;
  b.queue = queue;
  b.waits.count = 0;
  b.last = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
  b.is_begun = false;
  status = prepare(&b, commands, count);
  for (uint32_t i = 0; i < count && status >= 0; i++) status = put(&b, &commands[i]);
  if (status >= 0 && atomic_load(&queue->submitted) < last) status = enqueue(&b, NULL, last);
  return end(&b, status, last);
}
