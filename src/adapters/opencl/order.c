#include "order.h"

#include <stdlib.h>

void ocl_waits_release(const ocl_functions *cl, ocl_waits *waits) {
  for (cl_uint i = 0; i < waits->count; i++) cl->ReleaseEvent(waits->events[i]);
  waits->count = 0;
}

static bool is_complete(const qn_adapter_queue *queue, uint64_t value) {
  return atomic_load_explicit(&queue->completed, memory_order_acquire) >= value;
}

/* ---- What a queue remembers --------------------------------------------------------------------- */

static ocl_kept *kept_at(const qn_adapter_queue *queue, uint32_t index) {
  return &queue->kept[(queue->kept_first + index) % queue->kept_capacity];
}

enum { FIRST_CAPACITY = 16 };

bool ocl_order_reserve(qn_adapter_queue *queue, uint32_t count) {
  uint32_t capacity = queue->kept_capacity ? queue->kept_capacity : FIRST_CAPACITY;
  while (capacity - queue->kept_count < count) capacity *= 2; /* in flight are OCL_IN_FLIGHT values at most */
  if (capacity == queue->kept_capacity) return true;
  ocl_kept *kept = calloc(capacity, sizeof *kept);
  if (!kept) return false;
  for (uint32_t i = 0; i < queue->kept_count; i++) kept[i] = *kept_at(queue, i);
  free(queue->kept);
  queue->kept = kept;
  queue->kept_capacity = capacity;
  queue->kept_first = 0;
  return true;
}

void ocl_order_note(qn_adapter_queue *queue, uint64_t value, qn_adapter_queue *source, uint64_t source_value) {
  if (is_complete(source, source_value)) return;
  *kept_at(queue, queue->kept_count++) = (ocl_kept){value, source, source_value};
}

void ocl_order_forget(qn_adapter_queue *queue, uint64_t value) {
  while (queue->kept_count > 0 && kept_at(queue, queue->kept_count - 1)->value >= value) queue->kept_count--;
}

static void pop(qn_adapter_queue *queue) {
  queue->kept_first = (queue->kept_first + 1) % queue->kept_capacity;
  queue->kept_count--;
}

/* The source is there as long as this queue's value isn't told as complete, which needs the lock that the caller holds. Its own lock
 * is only tried for: who has it looks for itself. */
static bool is_past(const ocl_kept *kept) {
  if (is_complete(kept->source, kept->source_value)) return true;
  ocl_queue_look(kept->source);
  return is_complete(kept->source, kept->source_value);
}

uint64_t ocl_order_limit(qn_adapter_queue *queue, uint64_t reached) {
  bool has_failed = atomic_load_explicit(&queue->failed_first, memory_order_relaxed) != 0;
  while (queue->kept_count > 0) {
    const ocl_kept *kept = kept_at(queue, 0);
    if (kept->value > reached) break;
    if (has_failed && !is_past(kept)) return kept->value - 1;
    pop(queue);
  }
  return reached;
}

/* ---- Events for a wait -------------------------------------------------------------------------- */

typedef struct gathering {
  qn_adapter_queue *queue;
  ocl_waits *waits;
  ocl_failure *failure;
} gathering;

/* The source's lock may be held: `queue` is no source. */
static qn_status make_room(const gathering *g) {
  qn_adapter_queue *queue = g->queue;
  const ocl_functions *cl = queue->device->cl;
  if (g->waits->count < OCL_MOST_WAITS) return QN_OK;
  pthread_mutex_lock(&queue->lock);
  cl_int code = cl->EnqueueBarrierWithWaitList(queue->native, g->waits->count, g->waits->events, NULL);
  pthread_mutex_unlock(&queue->lock);
  ocl_waits_release(cl, g->waits);
  return code == CL_SUCCESS ? QN_OK : ocl_fail(g->failure, ocl_status_of(code), code, "a wait of a queue");
}

/* Under the source's lock: what stands for its value by itself. A lost device gives nothing, and all of it is past. */
static qn_status gather_own(const gathering *g, qn_adapter_queue *source, uint64_t value) {
  ocl_mark mark;
  ocl_marks_look(source);
  if (source->reached >= value || is_complete(source, value)) return QN_OK;
  qn_status status = make_room(g);
  if (status < 0 || !ocl_marks_cover(source, value, false, &mark)) return status;
  source->device->cl->Flush(source->native); /* what waits for it would wait for ever else */
  g->waits->events[g->waits->count++] = mark.event;
  return QN_OK;
}

/* With all that the source itself waits for. Under the device's `order`. A queue that is being looked at already has what it
 * waits for gathered. */
static qn_status gather_whole(const gathering *g, qn_adapter_queue *source, uint64_t value) {
  if (source == g->queue || source->is_visited || is_complete(source, value)) return QN_OK;
  pthread_mutex_lock(&source->lock);
  qn_status status = gather_own(g, source, value);
  source->is_visited = true;
  for (uint32_t i = 0; i < source->kept_count && status >= 0; i++) {
    const ocl_kept *kept = kept_at(source, i);
    if (kept->value <= value) status = gather_whole(g, kept->source, kept->source_value);
  }
  source->is_visited = false;
  pthread_mutex_unlock(&source->lock);
  return status;
}

qn_status ocl_order_gather(qn_adapter_queue *queue, qn_adapter_queue *source, uint64_t value, ocl_waits *waits,
                           ocl_failure *failure) {
  const gathering g = {queue, waits, failure};
  qn_adapter_device *device = queue->device;
  pthread_mutex_lock(&source->lock);
  qn_status status = gather_own(&g, source, value);
  bool is_whole = atomic_load(&source->failed_first) == 0 || is_complete(source, value);
  pthread_mutex_unlock(&source->lock);
  if (status < 0 || is_whole) return status;
  pthread_mutex_lock(&device->order);
  status = gather_whole(&g, source, value);
  pthread_mutex_unlock(&device->order);
  return status;
}
