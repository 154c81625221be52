/* queue.c - life of a queue, questions, waits. */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- Life --------------------------------------------------------------------------------------- */

static bool allocate(qn_adapter_queue *queue) {
  queue->capacity = queue->is_timed ? OCL_IN_FLIGHT : OCL_MARKS;
  queue->marks = calloc(queue->capacity, sizeof *queue->marks);
  if (queue->is_timed) queue->times = calloc(OCL_TIMES, sizeof *queue->times);
  return queue->marks && (!queue->is_timed || queue->times);
}

static void free_queue(qn_adapter_queue *queue) {
  pthread_mutex_destroy(&queue->lock);
  free(queue->kept);
  free(queue->times);
  free(queue->marks);
  free(queue);
}

static qn_status fill_in(qn_adapter_queue *queue) {
  qn_adapter_device *device = queue->device;
  cl_int code = CL_SUCCESS;
  if (!allocate(queue)) return ocl_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  queue->native = device->cl->CreateCommandQueue(device->context, device->found->id,
                                                 queue->is_timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
  if (queue->native) return QN_OK;
  ocl_device_judge(device, code, "a queue can't be created");
  return ocl_refused(device->host, code, "no %scommand queue", queue->is_timed ? "timed " : "");
}

qn_status ocl_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                           qn_adapter_queue **out_queue) {
  qn_status status = ocl_device_check(device);
  if (status < 0) return status;
  qn_adapter_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return ocl_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  queue->device = device;
  queue->id = options->id;
  queue->is_timed = (options->flags & QN_QUEUE_TIMED) != 0;
  uint32_t driver_takes = device->found->quirks->in_flight;
  queue->in_flight = driver_takes ? driver_takes : OCL_IN_FLIGHT;
  queue->number = atomic_fetch_add_explicit(&device->last_queue, 1, memory_order_relaxed);
  pthread_mutex_init(&queue->lock, NULL);
  status = fill_in(queue);
  if (status < 0) {
    free_queue(queue);
    return status;
  }
  *out_queue = queue;
  return QN_OK;
}

qn_status ocl_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  ocl_marks_look(queue);
  pthread_mutex_unlock(&queue->lock);
  if (atomic_load(&queue->completed) < atomic_load(&queue->submitted))
    return ocl_error(device->host, QN_ERROR_INVALID_ARGUMENT, "queue %llu is destroyed with work in flight",
                     (unsigned long long)queue->id);
  cl_int code = device->cl->ReleaseCommandQueue(queue->native);
  free_queue(queue);
  if (code == CL_SUCCESS || atomic_load(&device->is_lost)) return QN_OK;
  return ocl_refused(device->host, code, "a command queue can't be released");
}

/* ---- Questions ---------------------------------------------------------------------------------- */

void ocl_queue_look(qn_adapter_queue *queue) {
  uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_acquire);
  if (atomic_load_explicit(&queue->completed, memory_order_acquire) == submitted) return;
  if (pthread_mutex_trylock(&queue->lock) != 0) return;
  ocl_marks_look(queue);
  if (queue->count == 0 && queue->reached < atomic_load(&queue->submitted)) {
    ocl_marks_set(queue);
    queue->device->cl->Flush(queue->native);
  }
  pthread_mutex_unlock(&queue->lock);
}

qn_status ocl_queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  ocl_queue_look(queue);
  /* The value first: a failure is stored before the value that covers it. */
  *out_value = atomic_load_explicit(&queue->completed, memory_order_acquire);
  return atomic_load_explicit(&queue->failed_first, memory_order_acquire) ? queue->failure.status : QN_OK;
}

qn_status ocl_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out) {
  out->completed = atomic_load_explicit(&queue->completed, memory_order_acquire);
  out->failed_first = atomic_load_explicit(&queue->failed_first, memory_order_acquire);
  out->cause = out->failed_first ? queue->failure.status : QN_OK;
  out->driver_code = out->failed_first ? queue->failure.code : 0;
  snprintf(out->text, sizeof out->text, "%s", out->failed_first ? queue->failure.text : "");
  return QN_OK;
}

/* Whether a value's times may be read, or were read in time: the completion that writes over them comes OCL_TIMES values
 * later, and before `completed` reaches that one. */
static qn_status check_times(qn_adapter_queue *queue, uint64_t value) {
  const qn_adapter_host *host = queue->device->host;
  uint64_t completed = atomic_load_explicit(&queue->completed, memory_order_acquire);
  if (value > completed) return QN_NOT_READY;
  if (completed - value < OCL_TIMES - OCL_IN_FLIGHT) return QN_OK;
  return ocl_error(host, QN_ERROR_NOT_FOUND, "the time of value %llu is forgotten; a queue remembers its last %d",
                   (unsigned long long)value, OCL_TIMES - OCL_IN_FLIGHT);
}

static qn_status read_time(qn_adapter_queue *queue, uint64_t value, bool begin, uint64_t *out_ns) {
  const qn_adapter_host *host = queue->device->host;
  if (!queue->times)
    return ocl_error(host, QN_ERROR_UNSUPPORTED, "queue %llu is not timed", (unsigned long long)queue->id);
  ocl_queue_look(queue);
  qn_status status = check_times(queue, value);
  if (status != QN_OK) return status;
  ocl_times *times = &queue->times[value % OCL_TIMES];
  uint64_t ns = atomic_load_explicit(begin ? &times->begin : &times->end, memory_order_relaxed);
  status = check_times(queue, value);
  if (status != QN_OK) return status;
  if (ns == 0)
    return ocl_error(host, QN_ERROR_UNSUPPORTED, "the driver gave no time for value %llu", (unsigned long long)value);
  *out_ns = ns;
  return QN_OK;
}

qn_status ocl_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  return read_time(queue, value, false, out_ns);
}

qn_status ocl_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  return read_time(queue, value, true, out_ns);
}

/* ---- Waits -------------------------------------------------------------------------------------- */

/* The lock is held while the driver takes a command, which may compile a kernel, or hang: no wait takes longer for that
 * than it may. */
static bool lock_before(qn_adapter_queue *queue, uint64_t deadline) {
  if (pthread_mutex_trylock(&queue->lock) == 0) return true;
  if (deadline == UINT64_MAX) return pthread_mutex_lock(&queue->lock) == 0;
  while (ocl_now() < deadline) {
    const struct timespec pause = {0, 20000};
    nanosleep(&pause, NULL);
    if (pthread_mutex_trylock(&queue->lock) == 0) return true;
  }
  return false;
}

/* QN_OK: the value is complete, or a mark for it is there. QN_NOT_READY: neither, so far. */
static qn_status find_mark(qn_adapter_queue *queue, uint64_t value, uint64_t deadline, bool rings, ocl_mark *out_mark) {
  *out_mark = (ocl_mark){0};
  if (!lock_before(queue, deadline)) return QN_NOT_READY;
  ocl_marks_look(queue);
  if (queue->reached < value && !ocl_marks_cover(queue, value, rings, out_mark)) ocl_marks_look(queue);
  pthread_mutex_unlock(&queue->lock);
  return QN_OK;
}

static qn_status out_of_time(const qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  return ocl_error(queue->device->host, QN_ERROR_TIMEOUT, "value %llu of queue %llu did not complete in %llu ns",
                   (unsigned long long)value, (unsigned long long)queue->id, (unsigned long long)timeout_ns);
}

static void pause_until(uint64_t deadline, uint64_t start) {
  uint64_t now = ocl_now(), ns = ocl_pause_after(now - start), left = now < deadline ? deadline - now : 0;
  if (ns > left) ns = left;
  const struct timespec pause = {0, (long)ns};
  nanosleep(&pause, NULL);
}

/* The driver has ended the value after a failure; now what it waited for must be past (order.h). */
static bool wait_for_kept(qn_adapter_queue *queue, uint64_t value, uint64_t deadline) {
  uint64_t start = ocl_now();
  while (atomic_load_explicit(&queue->completed, memory_order_acquire) < value) {
    if (!lock_before(queue, deadline)) return false;
    ocl_marks_look(queue);
    bool is_reached = queue->reached >= value;
    pthread_mutex_unlock(&queue->lock);
    if (!is_reached || atomic_load(&queue->completed) >= value) return true;
    if (ocl_now() >= deadline) return false;
    pause_until(deadline, start);
  }
  return true;
}

/* Waits for a mark; whether it was reached, or the device is lost. */
static bool wait_for_mark(qn_adapter_queue *queue, const ocl_mark *mark, uint64_t deadline) {
  qn_adapter_device *device = queue->device;
  cl_int state = CL_QUEUED;
  device->cl->Flush(queue->native);
  qn_status status = ocl_event_wait(device, mark->event, deadline, &state);
  device->cl->ReleaseEvent(mark->event);
  if (status != QN_OK && !atomic_load(&device->is_lost)) return false;
  pthread_mutex_lock(&queue->lock);
  if (status == QN_OK)
    ocl_marks_reached(queue, mark->value, state);
  else
    ocl_marks_look(queue);
  pthread_mutex_unlock(&queue->lock);
  return true;
}

/* Everything that was submitted. What has failed is told by the finish, or by the first mark that covers it. */
static void finish(qn_adapter_queue *queue) {
  uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_acquire);
  cl_int code = queue->device->cl->Finish(queue->native);
  pthread_mutex_lock(&queue->lock);
  ocl_marks_reached(queue, submitted, code);
  pthread_mutex_unlock(&queue->lock);
}

static bool should_finish(const qn_adapter_queue *queue, uint64_t value, uint64_t deadline) {
  return queue->device->found->quirks->starts_alone && deadline == UINT64_MAX && !queue->is_timed &&
         value == atomic_load_explicit(&queue->submitted, memory_order_relaxed);
}

/* Until the driver has ended it; false: the deadline passed. */
static bool wait_for_driver(qn_adapter_queue *queue, uint64_t value, uint64_t deadline, bool rings) {
  ocl_mark mark;
  if (find_mark(queue, value, deadline, rings, &mark) != QN_OK) return false;
  return !mark.event || wait_for_mark(queue, &mark, deadline);
}

/* A bell costs more than most waits with a limit last: it is hung up for the others. */
static bool wait_with_limit(qn_adapter_queue *queue, uint64_t value, uint64_t deadline) {
  uint64_t soon = ocl_deadline(OCL_SPIN_NS);
  if (wait_for_driver(queue, value, soon < deadline ? soon : deadline, false)) return true;
  return soon < deadline && wait_for_driver(queue, value, deadline, true);
}

static qn_status wait_until(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  uint64_t deadline = ocl_deadline(timeout_ns);
  if (should_finish(queue, value, deadline)) finish(queue);
  if (atomic_load(&queue->completed) >= value) return QN_OK;
  bool ended =
      deadline == UINT64_MAX ? wait_for_driver(queue, value, deadline, false) : wait_with_limit(queue, value, deadline);
  if (!ended) return out_of_time(queue, value, timeout_ns);
  if (!wait_for_kept(queue, value, deadline)) return out_of_time(queue, value, timeout_ns);
  if (atomic_load(&queue->completed) >= value) return QN_OK;
  return ocl_error(queue->device->host, QN_ERROR_INTERNAL, "value %llu of queue %llu is neither complete nor marked",
                   (unsigned long long)value, (unsigned long long)queue->id);
}

qn_status ocl_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  if (atomic_load_explicit(&queue->completed, memory_order_acquire) >= value) return QN_OK;
  if (value > atomic_load_explicit(&queue->submitted, memory_order_acquire))
    return ocl_error(queue->device->host, QN_ERROR_INVALID_ARGUMENT, "value %llu of queue %llu was not submitted",
                     (unsigned long long)value, (unsigned long long)queue->id);
  if (timeout_ns != QN_POLL) return wait_until(queue, value, timeout_ns);
  ocl_queue_look(queue);
  if (atomic_load_explicit(&queue->completed, memory_order_acquire) >= value) return QN_OK;
  return out_of_time(queue, value, timeout_ns);
}
