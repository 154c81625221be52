/* queue.c - life of a queue, questions, waits. */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "device.h"

/* ---- Life --------------------------------------------------------------------------------------- */

void wg_queue_init(qn_adapter_queue *queue, qn_adapter_device *device, uint64_t id) {
  queue->device = device;
  queue->id = id;
}

qn_status wg_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                          qn_adapter_queue **out_queue) {
  qn_status status = wg_device_check(device);
  if (status < 0) return status;
  if (options->flags & QN_QUEUE_TIMED) return wg_error(device->host, QN_ERROR_UNSUPPORTED, "queues are not timed");
  qn_adapter_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  wg_queue_init(queue, device, options->id);
  *out_queue = queue;
  return QN_OK;
}

static uint64_t told(const qn_adapter_queue *queue) {
  return atomic_load_explicit(&queue->completed, memory_order_acquire);
}

static bool is_idle(const qn_adapter_queue *queue) {
  return told(queue) == atomic_load_explicit(&queue->submitted, memory_order_acquire);
}

qn_status wg_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  pthread_mutex_lock(&device->lock);
  if (!is_idle(queue)) wg_stream_look(device);
  bool has_work = !is_idle(queue);
  pthread_mutex_unlock(&device->lock);
  if (has_work)
    return wg_error(device->host, QN_ERROR_INVALID_ARGUMENT, "queue %llu is destroyed with work in flight",
                    (unsigned long long)queue->id);
  free(queue);
  return QN_OK;
}

void wg_queue_fail(qn_adapter_queue *queue) {
  if (atomic_load(&queue->failed_first) == 0)
    atomic_store_explicit(&queue->failed_first, told(queue) + 1, memory_order_release);
}

/* ---- Questions ---------------------------------------------------------------------------------- */

/* Unless another thread has the device just now: then that one looks. Never waits. */
static void look(qn_adapter_queue *queue) {
  qn_adapter_device *device = queue->device;
  if (is_idle(queue) || pthread_mutex_trylock(&device->lock) != 0) return;
  wg_stream_look(device);
  pthread_mutex_unlock(&device->lock);
}

qn_status wg_queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  look(queue);
  /* The value first: a failure is stored before the value that covers it. */
  *out_value = told(queue);
  return atomic_load_explicit(&queue->failed_first, memory_order_acquire) ? queue->device->failure.status : QN_OK;
}

qn_status wg_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out) {
  const wg_failure *failure = &queue->device->failure;
  out->completed = told(queue);
  out->failed_first = atomic_load_explicit(&queue->failed_first, memory_order_acquire);
  out->cause = out->failed_first ? failure->status : QN_OK;
  out->driver_code = out->failed_first ? failure->kind : 0;
  (void)snprintf(out->text, sizeof out->text, "%s", out->failed_first ? failure->text : "");
  return QN_OK;
}

/* ---- Waits -------------------------------------------------------------------------------------- */

static qn_status out_of_time(const qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  return wg_error(queue->device->host, QN_ERROR_TIMEOUT, "value %llu of queue %llu did not complete in %llu ns",
                  (unsigned long long)value, (unsigned long long)queue->id, (unsigned long long)timeout_ns);
}

/* The future to wait for; QN_NOT_READY: the deadline has passed under others' use of the device. */
static qn_status find_future(qn_adapter_queue *queue, uint64_t value, uint64_t deadline, uint64_t *out_future,
                             bool *out_found) {
  qn_adapter_device *device = queue->device;
  if (!wg_lock_before(&device->lock, deadline)) return QN_NOT_READY;
  *out_found = told(queue) < value && wg_stream_future(device, queue, value, out_future);
  pthread_mutex_unlock(&device->lock);
  return QN_OK;
}

static bool look_before(qn_adapter_device *device, uint64_t deadline) {
  if (!wg_lock_before(&device->lock, deadline)) return false;
  wg_stream_look(device);
  pthread_mutex_unlock(&device->lock);
  return true;
}

static qn_status wait_until(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  qn_adapter_device *device = queue->device;
  uint64_t deadline = wg_deadline(timeout_ns);
  while (told(queue) < value) {
    uint64_t future = 0;
    bool is_found = false;
    qn_status status = find_future(queue, value, deadline, &future, &is_found);
    if (told(queue) >= value) break;
    if (wg_stream_phase(device) == WG_OVER || (status == QN_OK && !is_found && wg_stream_phase(device) != WG_RUNNING))
      return wg_error(device->host, QN_ERROR_CLOSED, "the process is exiting");
    if (status == QN_OK && !is_found)
      return wg_error(device->host, QN_ERROR_INTERNAL, "value %llu of queue %llu is neither complete nor in flight",
                      (unsigned long long)value, (unsigned long long)queue->id);
    if (status == QN_OK) status = wg_stream_wait(device, future, deadline);
    if (status < 0) return wg_error(device->host, status, "work in flight can't be waited for");
    if (!look_before(device, status == QN_OK ? deadline : 0) || (status != QN_OK && told(queue) < value))
      return told(queue) >= value ? QN_OK : out_of_time(queue, value, timeout_ns);
  }
  return QN_OK;
}

qn_status wg_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  if (told(queue) >= value) return QN_OK;
  if (value > atomic_load_explicit(&queue->submitted, memory_order_acquire))
    return wg_error(queue->device->host, QN_ERROR_INVALID_ARGUMENT, "value %llu of queue %llu was not submitted",
                    (unsigned long long)value, (unsigned long long)queue->id);
  if (timeout_ns != QN_POLL) return wait_until(queue, value, timeout_ns);
  look(queue);
  return told(queue) >= value ? QN_OK : out_of_time(queue, value, timeout_ns);
}
