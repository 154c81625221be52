/* queue.c - life of a queue, questions, waits. */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "marks.h"
#include "staging.h"

/* ---- Life --------------------------------------------------------------------------------------- */

static bool allocate(qn_adapter_queue *queue) {
  queue->capacity = queue->is_timed ? queue->in_flight : CU_MARKS;
  queue->marks = calloc(queue->capacity, sizeof *queue->marks);
  if (queue->is_timed) queue->times = calloc(CU_TIMES, sizeof *queue->times);
  return queue->marks && (!queue->is_timed || queue->times);
}

static void keep_first(cu_result *first, cu_result code) {
  if (*first == CU_SUCCESS) *first = code;
}

/* Entered. */
static cu_result free_queue(qn_adapter_queue *queue) {
  qn_adapter_device *device = queue->device;
  cu_result code = CU_SUCCESS;
  keep_first(&code, cu_stager_free(device, queue->stager));
  for (uint32_t i = 0; queue->marks && i < queue->capacity; i++) {
    if (queue->marks[i].begin) keep_first(&code, device->cu->EventDestroy_v2(queue->marks[i].begin));
    if (queue->marks[i].end) keep_first(&code, device->cu->EventDestroy_v2(queue->marks[i].end));
  }
  if (queue->stream) keep_first(&code, device->cu->StreamDestroy_v2(queue->stream));
  if (queue->word.host) cu_word_drop(device, &queue->word);
  pthread_mutex_destroy(&queue->lock);
  cu_arguments_free(&queue->arguments);
  free(queue->times);
  free(queue->marks);
  free(queue);
  return code;
}

static qn_status fill_in(qn_adapter_queue *queue) {
  qn_adapter_device *device = queue->device;
  if (!allocate(queue)) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  /* Not ordered with the process' default stream. */
  cu_result code = device->cu->StreamCreate(&queue->stream, CU_STREAM_NON_BLOCKING_FLAG);
  if (code != CU_SUCCESS) queue->stream = NULL;
  queue->kind = cu_marks_choose(device, queue->is_timed);
  if (code == CU_SUCCESS && queue->kind->needs_word) code = cu_word_take(device, &queue->word);
  if (code == CU_SUCCESS && queue->is_timed) code = cu_clock_start(device);
  if (code == CU_SUCCESS) return QN_OK;
  cu_device_judge(device, code, "a queue can't be created");
  return cu_refused(device->host, code, "no %sstream", queue->is_timed ? "timed " : "");
}

qn_status cu_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                          qn_adapter_queue **out_queue) {
  qn_status status = cu_device_check(device);
  if (status < 0) return status;
  qn_adapter_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  queue->device = device;
  queue->id = options->id;
  queue->is_timed = (options->flags & QN_QUEUE_TIMED) != 0;
  queue->in_flight = CU_IN_FLIGHT;
  pthread_mutex_init(&queue->lock, NULL);
  bool entered = cu_enter(device);
  status = fill_in(queue);
  if (status < 0) (void)free_queue(queue);
  cu_leave(device, entered);
  if (status >= 0) *out_queue = queue;
  return status;
}

qn_status cu_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  uint64_t id = queue->id;
  bool entered = cu_enter(device);
  pthread_mutex_lock(&queue->lock);
  cu_marks_look(queue, true);
  bool is_busy = atomic_load(&queue->completed) < atomic_load(&queue->submitted);
  pthread_mutex_unlock(&queue->lock);
  cu_result code = is_busy ? CU_SUCCESS : free_queue(queue);
  cu_leave(device, entered);
  if (is_busy)
    return cu_error(device->host, QN_ERROR_INVALID_ARGUMENT, "queue %llu is destroyed with work in flight",
                    (unsigned long long)id);
  if (code == CU_SUCCESS || cu_device_is_lost(device)) return QN_OK;
  cu_device_judge(device, code, "a queue can't be destroyed");
  return cu_refused(device->host, code, "a stream can't be destroyed");
}

/* ---- Questions ---------------------------------------------------------------------------------- */

/* Sees how far the queue is, unless another thread has it just now: then that one does. Never waits. */
static void look(qn_adapter_queue *queue) {
  uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_acquire);
  if (atomic_load_explicit(&queue->completed, memory_order_acquire) == submitted) return;
  if (pthread_mutex_trylock(&queue->lock) != 0) return;
  bool entered = cu_enter(queue->device);
  cu_marks_look(queue, true);
  cu_leave(queue->device, entered);
  pthread_mutex_unlock(&queue->lock);
}

qn_status cu_queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  look(queue);
  /* The value first: a failure is stored before the value that covers it. */
  *out_value = atomic_load_explicit(&queue->completed, memory_order_acquire);
  return atomic_load_explicit(&queue->failed_first, memory_order_acquire) ? queue->failure.status : QN_OK;
}

qn_status cu_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out) {
  out->completed = atomic_load_explicit(&queue->completed, memory_order_acquire);
  out->failed_first = atomic_load_explicit(&queue->failed_first, memory_order_acquire);
  out->cause = out->failed_first ? queue->failure.status : QN_OK;
  out->driver_code = out->failed_first ? queue->failure.code : 0;
  snprintf(out->text, sizeof out->text, "%s", out->failed_first ? queue->failure.text : "");
  return QN_OK;
}

/* Whether a value's times may be read, or were read in time: the completion that writes over them comes CU_TIMES values
 * later, and before `completed` reaches that one. */
static qn_status check_times(qn_adapter_queue *queue, uint64_t value) {
  uint64_t completed = atomic_load_explicit(&queue->completed, memory_order_acquire);
  if (value > completed) return QN_NOT_READY;
  if (completed - value < CU_TIMES - CU_IN_FLIGHT) return QN_OK;
  return cu_error(queue->device->host, QN_ERROR_NOT_FOUND,
                  "the time of value %llu is forgotten; a queue remembers its last %d", (unsigned long long)value,
                  CU_TIMES - CU_IN_FLIGHT);
}

static qn_status read_time(qn_adapter_queue *queue, uint64_t value, bool begin, uint64_t *out_ns) {
  const qn_adapter_host *host = queue->device->host;
  if (!queue->times)
    return cu_error(host, QN_ERROR_UNSUPPORTED, "queue %llu is not timed", (unsigned long long)queue->id);
  look(queue);
  qn_status status = check_times(queue, value);
  if (status != QN_OK) return status;
  cu_times *times = &queue->times[value % CU_TIMES];
  uint64_t ns = atomic_load_explicit(begin ? &times->begin : &times->end, memory_order_relaxed);
  status = check_times(queue, value);
  if (status != QN_OK) return status;
  if (ns == 0)
    return cu_error(host, QN_ERROR_UNSUPPORTED, "the driver gave no time for value %llu", (unsigned long long)value);
  *out_ns = ns;
  return QN_OK;
}

qn_status cu_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  return read_time(queue, value, false, out_ns);
}

qn_status cu_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  return read_time(queue, value, true, out_ns);
}

/* ---- Waits -------------------------------------------------------------------------------------- */

#define SPIN_NS UINT64_C(50000) /* looking all the time; to sleep and wake takes about as long */
#define SHORTEST_PAUSE_NS UINT64_C(20000)
#define LONGEST_PAUSE_NS UINT64_C(1000000)
enum { PART = 16 }; /* a pause is this part of the time waited */

static void pause_a_while(uint64_t waited, uint64_t left) {
  uint64_t ns = waited / PART;
  if (ns < SHORTEST_PAUSE_NS) ns = SHORTEST_PAUSE_NS;
  if (ns > LONGEST_PAUSE_NS) ns = LONGEST_PAUSE_NS;
  if (ns > left) ns = left;
  const struct timespec pause = {0, (long)ns};
  nanosleep(&pause, NULL);
}

static bool is_complete(const qn_adapter_queue *queue, uint64_t value) {
  return atomic_load_explicit(&queue->completed, memory_order_acquire) >= value;
}

/* Everything that was submitted, as the driver waits. */
static void synchronise(qn_adapter_queue *queue, uint64_t submitted) {
  qn_adapter_device *device = queue->device;
  bool entered = cu_enter(device);
  cu_result code = device->cu->StreamSynchronize(queue->stream);
  pthread_mutex_lock(&queue->lock);
  cu_marks_look(queue, false);
  if (code == CU_SUCCESS) cu_marks_reach(queue, submitted);
  if (code != CU_SUCCESS) cu_device_judge(device, code, "a command failed");
  if (code != CU_SUCCESS) cu_marks_look(queue, true);
  pthread_mutex_unlock(&queue->lock);
  cu_leave(device, entered);
}

/* The lock is held while the driver takes a command, and may be for long: nobody who has a limit waits for that. */
static void look_for(qn_adapter_queue *queue, uint64_t value) {
  if (pthread_mutex_trylock(&queue->lock) != 0) return;
  cu_marks_look(queue, value == atomic_load_explicit(&queue->submitted, memory_order_relaxed));
  if (!is_complete(queue, value) && queue->marked < value &&
      value < atomic_load_explicit(&queue->submitted, memory_order_relaxed))
    (void)cu_marks_put(queue);
  pthread_mutex_unlock(&queue->lock);
}

/* False: the deadline has passed. */
static bool look_until(qn_adapter_queue *queue, uint64_t value, uint64_t deadline) {
  uint64_t start = cu_now();
  bool entered = cu_enter(queue->device), in_time = true;
  for (;;) {
    look_for(queue, value);
    if (is_complete(queue, value)) break;
    uint64_t now = cu_now();
    in_time = now < deadline;
    if (!in_time) break;
    if (now - start > SPIN_NS) pause_a_while(now - start, deadline - now);
  }
  cu_leave(queue->device, entered);
  return in_time;
}

static qn_status out_of_time(const qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  return cu_error(queue->device->host, QN_ERROR_TIMEOUT, "value %llu of queue %llu did not complete in %llu ns",
                  (unsigned long long)value, (unsigned long long)queue->id, (unsigned long long)timeout_ns);
}

qn_status cu_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  if (is_complete(queue, value)) return QN_OK;
  uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_acquire);
  if (value > submitted)
    return cu_error(queue->device->host, QN_ERROR_INVALID_ARGUMENT, "value %llu of queue %llu was not submitted",
                    (unsigned long long)value, (unsigned long long)queue->id);
  if (timeout_ns == QN_POLL) {
    look(queue);
    return is_complete(queue, value) ? QN_OK : out_of_time(queue, value, timeout_ns);
  }
  uint64_t deadline = cu_deadline(timeout_ns);
  if (deadline == UINT64_MAX && value == submitted && !cu_device_is_lost(queue->device)) synchronise(queue, submitted);
  if (is_complete(queue, value) || look_until(queue, value, deadline)) return QN_OK;
  return out_of_time(queue, value, timeout_ns);
}
