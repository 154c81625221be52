/* submit.c - commands to the driver. */
#include "kernel.h"
#include "marks.h"
#include "transfer.h"

typedef struct batch {
  qn_adapter_queue *queue;
  uint64_t last; /* the value that was given to the driver last */
  bool is_begun; /* the driver has taken a part of it that does something */
  cu_failure failure;
} batch;

/* ---- One command -------------------------------------------------------------------------------- */

static qn_status put_kind(batch *b, const qn_adapter_command *c, uint32_t *out_taken) {
  switch (c->kind) {
    case QN_COMMAND_LAUNCH:
      return cu_kernel_launch(b->queue, c->launch, out_taken, &b->failure);
    case QN_COMMAND_COPY:
    case QN_COMMAND_FILL:
    case QN_COMMAND_WRITE:
    case QN_COMMAND_READ:
      return cu_transfer(b->queue, c, out_taken, &b->failure);
    case QN_COMMAND_WAIT: /* it was given before */
    case QN_COMMAND_MARK:
      return QN_OK;
    default:
      return cu_fail(&b->failure, QN_ERROR_UNSUPPORTED, CU_SUCCESS, "there is no command of kind %u", c->kind);
  }
}

static qn_status judge(batch *b, cu_result code, const char *what) {
  return code == CU_SUCCESS ? QN_OK : cu_fail(&b->failure, cu_status_of(code), code, "%s", what);
}

/* With an event before and one behind it. */
static qn_status put_timed(batch *b, const qn_adapter_command *c, uint32_t *out_taken) {
  qn_adapter_queue *queue = b->queue;
  const cu_functions *cu = queue->device->cu;
  cu_mark *mark = NULL;
  qn_status status = judge(b, cu_marks_next(queue, &mark), "no event for a timed queue");
  if (status >= 0) status = judge(b, cu->EventRecord(mark->begin, queue->stream), "a mark of a timed queue");
  if (status >= 0) status = put_kind(b, c, out_taken);
  if (status >= 0) status = judge(b, queue->kind->put(queue, c->value), "a mark of a timed queue");
  if (status >= 0) queue->marked = c->value;
  return status;
}

/* Values are given out with work behind them, or with the whole batch: until then they can be taken back. Under the queue's lock. */
static void give_out(batch *b) {
  qn_adapter_queue *queue = b->queue;
  atomic_store_explicit(&queue->submitted, b->last, memory_order_release);
  if (b->last - queue->marked >= CU_MARK_EVERY) (void)cu_marks_put(queue);
}

static qn_status put_locked(batch *b, const qn_adapter_command *c) {
  uint32_t taken = 0;
  qn_status status = b->queue->is_timed ? put_timed(b, c, &taken) : put_kind(b, c, &taken);
  if (taken > 0) b->is_begun = true;
  if (status < 0) return status;
  b->last = c->value;
  if (b->is_begun) give_out(b);
  return QN_OK;
}

/* ---- Waits -------------------------------------------------------------------------------------- */

static qn_status check_wait(batch *b, const qn_adapter_command *c) {
  const qn_adapter_queue *source = c->wait_queue;
  if (source->device->cu != b->queue->device->cu)
    return cu_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS, "a queue can't wait for one of another adapter");
  if (source == b->queue && c->wait_value >= c->value)
    return cu_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS, "a queue can't wait for its own later work");
  if (source != b->queue && c->wait_value > atomic_load(&source->submitted))
    return cu_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS,
                   "value %llu of queue %llu was not submitted; it can't be waited for",
                   (unsigned long long)c->wait_value, (unsigned long long)source->id);
  return QN_OK;
}

/* Under no lock: it takes the source's. What has failed is past as well: the wait is for order, and who needs the outcome asks for
 * it. A wait that the driver has does no harm when the command behind it is refused, so that it begins no batch. */
static qn_status put_wait(batch *b, const qn_adapter_command *c) {
  if (c->kind != QN_COMMAND_WAIT || c->wait_queue == b->queue) return QN_OK;
  return cu_marks_wait(c->wait_queue, c->wait_value, b->queue->stream, &b->failure);
}

/* ---- A batch ------------------------------------------------------------------------------------ */

/* What can be found wrong before the driver gets anything. */
static qn_status check(batch *b, const qn_adapter_command *commands, uint32_t count) {
  uint64_t before = b->last;
  qn_status status = QN_OK;
  for (uint32_t i = 0; i < count && status >= 0; i++) {
    const qn_adapter_command *c = &commands[i];
    if (c->value <= before)
      status = cu_fail(&b->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS, "value %llu comes after value %llu",
                       (unsigned long long)c->value, (unsigned long long)before);
    else if (c->kind == QN_COMMAND_WAIT)
      status = check_wait(b, c);
    before = c->value;
  }
  return status;
}

static qn_status put(batch *b, const qn_adapter_command *c) {
  qn_status status = put_wait(b, c);
  if (status < 0) return status;
  pthread_mutex_lock(&b->queue->lock);
  status = put_locked(b, c);
  pthread_mutex_unlock(&b->queue->lock);
  return status;
}

/* Behind a failure the driver must keep the waits of what it doesn't get: no value is complete before what it waits for. Where it
 * takes no wait either, the host waits. */
static void keep_wait(qn_adapter_queue *queue, const qn_adapter_command *c) {
  cu_failure ignored;
  if (c->kind != QN_COMMAND_WAIT || c->wait_queue == queue) return;
  if (cu_marks_wait(c->wait_queue, c->wait_value, queue->stream, &ignored) < 0)
    (void)!cu_queue_wait(c->wait_queue, c->wait_value, QN_FOREVER);
}

/* The driver has taken a part of a batch and refuses the rest: its values are there and have failed. */
static qn_status fail_rest(batch *b, const qn_adapter_command *rest, uint32_t count) {
  qn_adapter_queue *queue = b->queue;
  for (uint32_t i = 0; i < count; i++) keep_wait(queue, &rest[i]);
  pthread_mutex_lock(&queue->lock);
  cu_queue_fail(queue, b->last + 1, &b->failure);
  atomic_store_explicit(&queue->submitted, rest[count - 1].value, memory_order_release);
  (void)cu_marks_put(queue);
  pthread_mutex_unlock(&queue->lock);
  return QN_OK;
}

static qn_status end(batch *b, const qn_adapter_command *rest, uint32_t count) {
  qn_adapter_queue *queue = b->queue;
  qn_adapter_device *device = queue->device;
  cu_device_judge(device, b->failure.code, "a queue refuses commands");
  if (b->is_begun) return fail_rest(b, rest, count);
  pthread_mutex_lock(&queue->lock);
  cu_marks_forget(queue);
  pthread_mutex_unlock(&queue->lock);
  qn_status lost = cu_device_check(device); /* with the first cause */
  return lost < 0 ? lost : cu_tell(device->host, &b->failure);
}

/* A batch of waits and marks. */
static qn_status end_without_work(batch *b) {
  pthread_mutex_lock(&b->queue->lock);
  give_out(b);
  pthread_mutex_unlock(&b->queue->lock);
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
  cu_marks_look(queue, true);
  pthread_mutex_unlock(&queue->lock);
  return has_room(queue, last, count);
}

static qn_status check_queue(qn_adapter_queue *queue, uint32_t count) {
  const qn_adapter_host *host = queue->device->host;
  qn_status status = cu_device_check(queue->device);
  if (status < 0) return status;
  if (atomic_load_explicit(&queue->failed_first, memory_order_acquire)) return cu_tell(host, &queue->failure);
  if (count <= CU_IN_FLIGHT) return QN_OK;
  return cu_error(host, QN_ERROR_LIMIT, "a batch of %u commands is too large for a queue; submit it in parts", count);
}

/* Entered. */
static qn_status put_all(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  batch b;
  b.queue = queue;
  b.last = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
  b.is_begun = false;
  b.failure.code = CU_SUCCESS;
  uint32_t done = 0;
  qn_status status = check(&b, commands, count);
  while (done < count && status >= 0) {
    status = put(&b, &commands[done]);
    if (status >= 0) done++;
  }
  if (status < 0) return end(&b, commands + done, count - done);
  return b.is_begun ? QN_OK : end_without_work(&b);
}

qn_status cu_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  qn_status status = check_queue(queue, count);
  if (status < 0 || count == 0) return status;
  uint64_t last = commands[count - 1].value;
  bool entered = cu_enter(queue->device);
  if (!has_room(queue, last, count) && !make_room(queue, last, count))
    status = QN_NOT_READY;
  else
    status = put_all(queue, commands, count);
  cu_leave(queue->device, entered);
  return status;
}
