#include "queue.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "os.h"
#include "schedule.h"

/* ---- Life --------------------------------------------------------------------------------------- */

static qn_adapter_queue *make_queue(qn_adapter_device *device) {
  qn_adapter_queue *q = aligned_alloc(CPU_LINE, sizeof *q);
  uint8_t *ring = aligned_alloc(CPU_LINE, CPU_RING_BYTES);
  if (!q || !ring) {
    free(q);
    free(ring);
    return NULL;
  }
  memset(q, 0, sizeof *q);
  pthread_mutex_init(&q->lock, NULL);
  atomic_init(&q->turn, 1);
  q->device = device;
  q->ring = ring;
  q->index = device->queue_count;
  device->queues[device->queue_count++] = q; /* workers see it when its ready bit is set */
  atomic_store(&device->crew.ready_words, device->queue_count / 64 + (device->queue_count % 64 != 0));
  return q;
}

static qn_status take_queue(qn_adapter_device *device, qn_adapter_queue **out) {
  pthread_mutex_lock(&device->lock);
  qn_adapter_queue *q = device->free_queues;
  bool all_used = !q && device->queue_count == CPU_MAX_QUEUES;
  if (q)
    device->free_queues = q->next_free;
  else if (!all_used)
    q = make_queue(device);
  pthread_mutex_unlock(&device->lock);
  *out = q;
  if (all_used) return cpu_error(device->host, QN_ERROR_LIMIT, 0, "cpu: all %u queues are in use", CPU_MAX_QUEUES);
  return q ? QN_OK : cpu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
}

static void give_queue(qn_adapter_device *device, qn_adapter_queue *q) {
  pthread_mutex_lock(&device->lock);
  q->next_free = device->free_queues;
  device->free_queues = q;
  pthread_mutex_unlock(&device->lock);
}

qn_status cpu_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                           qn_adapter_queue **out_queue) {
  if (cpu_forked(device)) return cpu_forked_error(device);
  qn_adapter_queue *q;
  qn_status status = take_queue(device, &q);
  if (status < 0) return status;
  q->id = options->id;
  q->written = q->freed_seen = q->last_value = q->position = 0;
  q->cause = QN_OK;
  q->failure[0] = 0;
  atomic_store(&q->submitted, 0);
  atomic_store(&q->completed, 0);
  atomic_store(&q->freed, 0);
  atomic_store(&q->wake_at, UINT64_MAX);
  atomic_store(&q->failed_first, 0);
  atomic_store(&q->failing, 0);
  if (options->flags & QN_QUEUE_TIMED && !(q->times = calloc(CPU_TIME_COUNT, sizeof *q->times))) {
    give_queue(device, q);
    return cpu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  }
  atomic_store(&q->turn, 0);
  *out_queue = q;
  return QN_OK;
}

qn_status cpu_queue_destroy(qn_adapter_device *device, qn_adapter_queue *q) {
  if (cpu_forked(device)) return QN_OK;
  if (atomic_load(&q->completed) < q->last_value)
    return cpu_error(device->host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: queue %llu is destroyed with work in flight",
                     (unsigned long long)q->id);
  /* The thread that completed the last value may still be putting the turn down, and looks after that whether something came in
   * between: without a turn to take it leaves the queue alone, though it be another's by then. */
  while (!cpu_queue_take_turn(q)) sched_yield();
  pthread_mutex_lock(&q->lock);
  q->generation++;
  pthread_mutex_unlock(&q->lock);
  free(q->times);
  q->times = NULL;
  give_queue(device, q);
  return QN_OK;
}

void cpu_queue_free(qn_adapter_queue *q) {
  pthread_mutex_destroy(&q->lock);
  free(q->times);
  free(q->ring);
  free(q);
}

uint64_t cpu_queue_generation(qn_adapter_queue *q) {
  pthread_mutex_lock(&q->lock);
  uint64_t generation = q->generation;
  pthread_mutex_unlock(&q->lock);
  return generation;
}

/* ---- Submission --------------------------------------------------------------------------------- */

static bool room(qn_adapter_queue *q, uint64_t position, uint64_t bytes) {
  if (position + bytes - q->freed_seen <= CPU_RING_BYTES) return true;
  q->freed_seen = atomic_load_explicit(&q->freed, memory_order_acquire);
  return position + bytes - q->freed_seen <= CPU_RING_BYTES;
}

/* Room for a record in one piece; skips the ring's end when it is too short. NULL: the ring is full. */
static cpu_record *reserve(qn_adapter_queue *q, uint64_t *position, uint64_t bytes) {
  uint64_t to_end = CPU_RING_BYTES - *position % CPU_RING_BYTES;
  uint64_t skip = to_end < bytes ? to_end : 0;
  if (!room(q, *position, skip + bytes)) return NULL;
  if (skip) {
    cpu_record *filler = (cpu_record *)(void *)(q->ring + *position % CPU_RING_BYTES);
    filler->kind = RECORD_SKIP;
    filler->bytes = (uint32_t)skip;
    *position += skip;
  }
  cpu_record *record = (cpu_record *)(void *)(q->ring + *position % CPU_RING_BYTES);
  record->bytes = (uint32_t)bytes;
  *position += bytes;
  return record;
}

/* Full at this moment, or too much for a ring that is empty? */
static qn_status refuse_full(qn_adapter_queue *q, uint32_t count) {
  if (q->freed_seen < q->written) return QN_NOT_READY;
  return cpu_error(q->device->host, QN_ERROR_LIMIT, 0,
                   "cpu: a batch of %u commands is too large for a queue; submit it in parts", count);
}

static qn_status check_order(qn_adapter_queue *q, const qn_adapter_command *c, uint64_t after) {
  if (c->value <= after)
    return cpu_error(q->device->host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: value %llu comes after value %llu",
                     (unsigned long long)c->value, (unsigned long long)after);
  if (c->kind == QN_COMMAND_WAIT && c->wait_queue == q && c->wait_value >= c->value)
    return cpu_error(q->device->host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: a queue can't wait for its own later work");
  return QN_OK;
}

qn_status cpu_queue_submit(qn_adapter_queue *q, const qn_adapter_command *commands, uint32_t count) {
  const qn_adapter_host *host = q->device->host;
  if (cpu_forked(q->device)) return cpu_forked_error(q->device);
  uint64_t position = q->written, last = q->last_value;
  for (uint32_t i = 0; i < count; i++) {
    const qn_adapter_command *c = &commands[i];
    uint64_t bytes;
    qn_status status = check_order(q, c, last);
    if (status >= 0) status = cpu_record_size(host, c, &bytes);
    if (status < 0) return status;
    cpu_record *record = reserve(q, &position, bytes);
    if (!record) return refuse_full(q, count);
    status = cpu_record_write(host, c, record);
    if (status < 0) return status;
    last = c->value;
  }
  q->written = position;
  q->last_value = last;
  cpu_store_and_fence(&q->submitted, position);
  cpu_queue_start(q);
  return QN_OK;
}

/* ---- Questions ---------------------------------------------------------------------------------- */

qn_status cpu_queue_completed(qn_adapter_queue *q, uint64_t *out_value) {
  *out_value = atomic_load_explicit(&q->completed, memory_order_acquire);
  return QN_OK;
}

qn_status cpu_queue_progress(qn_adapter_queue *q, qn_adapter_progress *out) {
  out->completed = atomic_load(&q->completed);
  out->failed_first = atomic_load(&q->failed_first);
  out->driver_code = 0;
  out->cause = out->failed_first ? q->cause : QN_OK;
  snprintf(out->text, sizeof out->text, "%s", out->failed_first ? q->failure : "");
  return QN_OK;
}

/* When a value's work began, or ended. */
static qn_status read_time(qn_adapter_queue *q, uint64_t value, bool begin, uint64_t *out_ns) {
  const qn_adapter_host *host = q->device->host;
  uint64_t completed = atomic_load(&q->completed);
  if (!q->times)
    return cpu_error(host, QN_ERROR_UNSUPPORTED, 0, "cpu: queue %llu is not timed", (unsigned long long)q->id);
  if (value > completed) return QN_NOT_READY;
  cpu_span *span = &q->times[value % CPU_TIME_COUNT];
  uint64_t ns = atomic_load_explicit(begin ? &span->begin : &span->end, memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  /* Whoever writes over it has stored the completion of the value before: look again after reading. */
  if (atomic_load(&q->completed) - value >= CPU_TIME_COUNT - 1)
    return cpu_error(host, QN_ERROR_NOT_FOUND, 0,
                     "cpu: the time of value %llu is forgotten; a queue remembers its last %llu",
                     (unsigned long long)value, (unsigned long long)CPU_TIME_COUNT - 1);
  *out_ns = ns;
  return QN_OK;
}

qn_status cpu_queue_time(qn_adapter_queue *q, uint64_t value, uint64_t *out_ns) {
  return read_time(q, value, false, out_ns);
}

qn_status cpu_queue_begin(qn_adapter_queue *q, uint64_t value, uint64_t *out_ns) {
  return read_time(q, value, true, out_ns);
}
