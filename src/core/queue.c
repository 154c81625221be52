#include "core/queue.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/reaper.h"

/* ---- Recording ---------------------------------------------------------------------------------- */

/* Waits are recorded in one batch with their command; should there be more, some go ahead of it. */
enum { WAITS = 15 };

typedef struct recording {
  core_queue *queue;
  uint32_t count; /* waits gathered */
  core_timeline *sources[WAITS];
  qn_point points[WAITS];
} recording;

/* What the source knew when the point was submitted is known now too. */
static void learn(core_timeline *t, core_timeline *source, uint64_t own_id, const qn_point *point, uint64_t since) {
  qn_point learned[CORE_KNOWN_QUEUES];
  uint32_t count = core_known_at(&source->known, point->value, learned);
  core_known_note(&t->known, point, since, true);
  for (uint32_t i = 0; i < count; i++)
    if (learned[i].queue != own_id) core_known_note(&t->known, &learned[i], since, false);
}

static void end_waits(recording *r) {
  for (uint32_t i = 0; i < r->count; i++) core_timeline_end_use(r->sources[i]);
  r->count = 0;
}

/* Hands the gathered waits and `command` (or NULL) to the adapter as one batch. Nothing of it counts when it fails, so
 * that a rejection leaves no hole in the timeline. Under the queue's lock. */
static qn_status submit(recording *r, qn_adapter_command *command) {
  core_timeline *t = r->queue->timeline;
  qn_adapter_command batch[WAITS + 1];
  _Atomic uint64_t *waiters[WAITS];
  uint64_t before = atomic_load_explicit(&t->submitted, memory_order_relaxed), value = before;
  uint32_t count = 0;
  for (; count < r->count; count++) {
    QN_TRY(core_uses_claim(&r->sources[count]->waiters, r->queue->id, &waiters[count]));
    batch[count] = (qn_adapter_command){.struct_size = sizeof *batch,
                                        .kind = QN_COMMAND_WAIT,
                                        .value = ++value,
                                        .wait_queue = r->sources[count]->queue,
                                        .wait_value = r->points[count].value};
  }
  if (command) {
    command->value = ++value;
    if (count > 0) batch[count] = *command;
    count++;
  }
  if (count == 0) return QN_OK;
  const qn_adapter_command *commands = r->count > 0 ? batch : command;
  qn_status status = t->table->queue_submit(t->queue, commands, count);
  if (status == QN_OK) {
    for (uint32_t i = 0; i < r->count; i++) {
      atomic_store_explicit(waiters[i], before + 1 + i, memory_order_release);
      learn(t, r->sources[i], r->queue->id, &r->points[i], before + 1 + i);
    }
    atomic_store_explicit(&t->submitted, value, memory_order_release);
  }
  end_waits(r);
  return status;
}

/* Gathers a wait: once a queue, for the later value; none for what the queue already waits for. */
static qn_status gather(void *user, const qn_point *point) {
  recording *r = user;
  if (core_known_covers(&r->queue->timeline->known, point)) return QN_OK;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->points[i].queue != point->queue) continue;
    if (r->points[i].value < point->value) r->points[i].value = point->value;
    return QN_OK;
  }
  if (r->count == WAITS) {
    qn_status status = submit(r, NULL);
    if (status != QN_OK) return status;
  }
  core_timeline *source = core_timeline_begin_use(point->queue);
  if (!source) return QN_OK; /* retired meanwhile: complete */
  r->sources[r->count] = source;
  r->points[r->count++] = *point;
  return QN_OK;
}

static void count_command(core_queue *queue, uint32_t kind) {
  queue->launches += kind == QN_COMMAND_LAUNCH;
  queue->fills += kind == QN_COMMAND_FILL;
  queue->copies += kind == QN_COMMAND_COPY || kind == QN_COMMAND_READ || kind == QN_COMMAND_WRITE;
}

/* QN_NOT_READY: the queue is full, nothing but waits was recorded. */
static qn_status record_once(core_queue *queue, core_use *uses, uint32_t use_count, qn_adapter_command *command,
                             const char *kernel) {
  recording r = {.queue = queue};
  uint64_t begin = core_trace_begin();
  core_locks locks;
  core_timeline *t = queue->timeline;
  core_tracking_lock(&locks, t, queue->id, uses, use_count);
  qn_status status = core_timeline_failure(t);
  if (status == QN_OK) status = core_tracking_claim(queue->id, uses, use_count);
  if (status == QN_OK) status = core_tracking_waits(queue->id, uses, use_count, gather, &r);
  if (status == QN_OK) status = submit(&r, command);
  if (status == QN_OK) {
    core_tracking_note(queue->id, command->value, uses, use_count);
    if (kernel) core_timeline_note(t, command->value, kernel);
    count_command(queue, command->kind);
    if (begin) core_trace_recorded(queue, begin, command, kernel);
  }
  end_waits(&r);
  core_tracking_unlock(&locks);
  return status;
}

/* What is known to be complete, without asking. Looked at before a command is tried: should the queue be full then, any
 * value past it makes room. */
static uint64_t known_complete(const core_queue *queue) {
  return atomic_load_explicit(&queue->timeline->completed, memory_order_relaxed);
}

/* The queue was full when no more than `seen` was complete: waits for an eighth of what is in flight, so that a program
 * that is faster than the device does not sleep and wake once a command. Under no lock. */
static qn_status wait_for_room(core_queue *queue, uint64_t seen, uint64_t deadline) {
  core_timeline *t = queue->timeline;
  uint64_t submitted = atomic_load(&t->submitted);
  QN_TRY(core_may_wait("the queue is full, and the call"));
  if (seen >= submitted) QN_FAIL(QN_ERROR_LIMIT, "the queue takes no command although nothing on it is in flight");
  uint64_t left = qn_clock_left(deadline);
  uint64_t wanted = seen + 1 + (submitted - seen) / 8, begin = core_trace_begin();
  qn_status status = left == 0 ? QN_ERROR_TIMEOUT : t->table->queue_wait(t->queue, wanted, left);
  core_trace_end(begin, "wait", "wait", "the queue was full");
  core_timeline_refresh(t);
  if (status == QN_ERROR_TIMEOUT && atomic_load(&t->completed) > seen) status = QN_OK; /* some room at least */
  if (status == QN_ERROR_TIMEOUT)
    QN_FAIL(QN_ERROR_TIMEOUT, "the queue is full: %llu commands are in flight, and none was completed in %llu ns",
            (unsigned long long)(submitted - seen), (unsigned long long)queue->submit_timeout_ns);
  QN_TRY(core_timeline_failure(t));
  return status;
}

qn_status core_queue_record(core_queue *queue, core_use *uses, uint32_t use_count, qn_adapter_command *command,
                            const char *kernel, qn_point *out_point) {
  uint64_t seen = known_complete(queue), deadline = 0, begin = core_trace_begin();
  qn_status status = record_once(queue, uses, use_count, command, kernel);
  while (status == QN_NOT_READY) {
    if (deadline == 0) deadline = qn_clock_deadline(queue->submit_timeout_ns);
    QN_TRY(wait_for_room(queue, seen, deadline));
    seen = known_complete(queue);
    status = record_once(queue, uses, use_count, command, kernel);
  }
  core_trace_end(begin, "submit", "submit", kernel);
  if (status < 0) return status;
  if (out_point) *out_point = (qn_point){queue->id, command->value};
  return QN_OK;
}

qn_status core_queue_mark(core_queue *queue, qn_point *out_point) {
  qn_adapter_command command = {.struct_size = sizeof command, .kind = QN_COMMAND_MARK};
  return core_queue_record(queue, NULL, 0, &command, NULL, out_point);
}

/* ---- Explicit waits ----------------------------------------------------------------------------- */

static qn_status gather_points(recording *r, const qn_point *points, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    bool is_pending = points[i].queue != r->queue->id && core_point_look(&points[i]) == CORE_POINT_PENDING;
    qn_status status = is_pending ? gather(r, &points[i]) : QN_OK;
    if (status != QN_OK) return status;
  }
  return submit(r, NULL);
}

static qn_status record_waits_once(core_queue *queue, const qn_point *points, uint32_t count) {
  recording r = {.queue = queue};
  qn_mutex_lock(&queue->timeline->lock);
  qn_status status = core_timeline_failure(queue->timeline);
  if (status == QN_OK) status = gather_points(&r, points, count);
  end_waits(&r);
  qn_mutex_unlock(&queue->timeline->lock);
  return status;
}

/* Points of another device can't be waited for on this one: the host waits for them, here and now. */
static qn_status settle_point(core_queue *queue, const qn_point *point, uint64_t deadline) {
  core_timeline *source = core_timeline_begin_use(point->queue);
  bool is_foreign = source && source->device != queue->device;
  if (source) core_timeline_end_use(source);
  qn_status status = core_point_wait(point, is_foreign ? qn_clock_left(deadline) : QN_POLL);
  return is_foreign || status < 0 ? status : QN_OK;
}

static qn_status wait_for_points(core_queue *queue, const qn_point *points, uint32_t count) {
  if (count == 0) return QN_OK;
  if (!points) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "points is NULL; %u were announced", count);
  uint64_t deadline = qn_clock_deadline(queue->submit_timeout_ns);
  for (uint32_t i = 0; i < count; i++) QN_TRY(settle_point(queue, &points[i], deadline));
  uint64_t seen = known_complete(queue);
  qn_status status = record_waits_once(queue, points, count);
  while (status == QN_NOT_READY) {
    QN_TRY(wait_for_room(queue, seen, deadline));
    seen = known_complete(queue);
    status = record_waits_once(queue, points, count);
  }
  return status;
}

/* ---- The object --------------------------------------------------------------------------------- */

static void link_queue(core_device *device, core_queue *queue) {
  qn_mutex_lock(&device->lock);
  queue->next = device->queues;
  if (queue->next) queue->next->previous = queue;
  device->queues = queue;
  qn_mutex_unlock(&device->lock);
}

static void unlink_queue(core_device *device, core_queue *queue) {
  qn_mutex_lock(&device->lock);
  if (queue->next) queue->next->previous = queue->previous;
  if (queue->previous) queue->previous->next = queue->next;
  if (device->queues == queue) device->queues = queue->next;
  device->launches += queue->launches;
  device->copies += queue->copies;
  device->fills += queue->fills;
  qn_mutex_unlock(&device->lock);
}

static bool is_complete(core_queue *queue) {
  core_timeline_refresh(queue->timeline);
  return atomic_load(&queue->timeline->completed) >= atomic_load(&queue->timeline->submitted);
}

/* Works until its last value is complete; retires; then waits until nobody asks the adapter's queue any longer and every
 * wait for it that others have recorded is past. */
static bool queue_ready(core_object *object) {
  core_queue *queue = (core_queue *)object;
  if (queue->stage == CORE_QUEUE_WORKS) {
    if (!is_complete(queue)) return false;
    unlink_queue(queue->device, queue);
    core_timeline_retire(queue->timeline);
    qn_pool_lane_close(&queue->device->pool, queue->lane); /* its blocks are everybody's now (P4) */
    queue->stage = CORE_QUEUE_RETIRED;
  }
  return core_timeline_is_quiet(queue->timeline) && !core_uses_is_pending(&queue->timeline->waiters);
}

static void queue_destroy(core_object *object, core_refusal *refusal) {
  core_queue *queue = (core_queue *)object;
  core_device *device = queue->device;
  core_caller_close(&queue->caller);
  core_trace_queue_stop(queue);
  core_refusal_note(refusal, device->table->queue_destroy(device->native, queue->native), "queue");
  core_timeline_free(queue->timeline);
  core_image_list_free(&queue->images);
  free(queue);
  core_object_drop(&device->object);
}

static const core_object_class queue_class = {QN_KIND_QUEUE, queue_ready, queue_destroy};

qn_status core_queue_pin(qn_queue handle, core_queue **out_queue) {
  void *object = NULL;
  QN_TRY(qn_handle_pin(handle, QN_KIND_QUEUE, "queue", &object));
  *out_queue = object;
  return QN_OK;
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static qn_status check_options(const core_device *device, const qn_queue_options *options) {
  if (options->flags & ~QN_QUEUE_TIMED)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "queue options have unknown flags 0x%llx",
            (unsigned long long)(options->flags & ~QN_QUEUE_TIMED));
  bool can_time = (device->info.features & QN_FEATURE_TIMED_QUEUES) && device->table->queue_time;
  if ((options->flags & QN_QUEUE_TIMED) && !can_time)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s has no timed queues", device->selector);
  return QN_OK;
}

/* The error that led here is what the caller gets. */
static void destroy_quietly(core_device *device, qn_adapter_queue *native) {
  qn_error_saved saved;
  qn_error_save(&saved);
  (void)!device->table->queue_destroy(device->native, native);
  qn_error_restore(&saved);
}

/* Makes adapter's queue and timeline; the queue's id is known to others from here on. */
static qn_status start_queue(core_queue *queue, uint64_t flags) {
  core_device *device = queue->device;
  QN_TRY(core_timeline_reserve(&queue->timeline, &queue->id));
  qn_adapter_queue_options options = {
      .struct_size = sizeof options, .flags = core_trace_queue_flags(device, flags), .id = queue->id};
  qn_status status = device->table->queue_create(device->native, &options, &queue->native);
  if (status == QN_OK) {
    status = qn_pool_lane_open(&device->pool, queue->id, &queue->lane);
    if (status < 0) destroy_quietly(device, queue->native);
  }
  if (status < 0) {
    core_timeline_cancel(queue->timeline);
    return status;
  }
  const core_timeline_source source = {.device = device,
                                       .domain = &device->failures,
                                       .table = device->table,
                                       .queue = queue->native,
                                       .lane = queue->lane,
                                       .is_timed = (flags & QN_QUEUE_TIMED) != 0};
  core_timeline_start(queue->timeline, queue->id, &source);
  core_trace_queue_start(queue);
  return QN_OK;
}

static qn_status make_queue(core_device *device, const qn_queue_options *given, qn_queue *out_queue) {
  qn_queue_options options;
  QN_TRY(CORE_OPTIONS_READ(&options, given, "qn_queue_options"));
  QN_TRY(core_reserved_check(options.reserved, "qn_queue_options"));
  QN_TRY(check_options(device, &options));
  if (!out_queue) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_queue is NULL");
  QN_TRY(core_failure_of_domain(&device->failures));
  core_device_collect(device);
  core_queue *queue = calloc(1, sizeof *queue);
  if (!queue) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  queue->device = device;
  queue->submit_timeout_ns = options.submit_timeout_ns ? options.submit_timeout_ns : QN_FOREVER;
  qn_status status = start_queue(queue, options.flags);
  if (status < 0) {
    free(queue);
    return status;
  }
  core_object_hold(&device->object);
  core_object_init(&queue->object, &queue_class, device, device->reaper);
  link_queue(device, queue);
  const void *handle = NULL;
  QN_TRY(core_object_publish(&queue->object, device->runtime->owner, &device->runtime->closing, &handle));
  *out_queue = (qn_queue)handle;
  return QN_OK;
}

static qn_status create(qn_device handle, const qn_queue_options *options, qn_queue *out_queue) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = make_queue(device, options, out_queue);
  qn_handle_unpin(handle);
  return status;
}

/* ---- Public ------------------------------------------------------------------------------------- */

qn_status qn_queue_create(qn_device device, const qn_queue_options *options, qn_queue *out_queue) {
  CORE_CALL_MAKING(create(device, options, out_queue));
}

static qn_status last(qn_queue handle, qn_point *out_point) {
  core_queue *queue = NULL;
  if (!out_point) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_point is NULL");
  QN_TRY(core_queue_pin(handle, &queue));
  *out_point = (qn_point){queue->id, atomic_load(&queue->timeline->submitted)};
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_queue_last(qn_queue queue, qn_point *out_point) { CORE_CALL(last(queue, out_point)); }

static qn_status wait_on_device(qn_queue handle, const qn_point *points, uint32_t count) {
  core_queue *queue = NULL;
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = wait_for_points(queue, points, count);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_queue_wait(qn_queue queue, const qn_point *points, uint32_t count) {
  CORE_CALL(wait_on_device(queue, points, count));
}

static qn_status finish(qn_queue handle, uint64_t timeout_ns) {
  core_queue *queue = NULL;
  QN_TRY(core_queue_pin(handle, &queue));
  qn_point point = {queue->id, atomic_load(&queue->timeline->submitted)};
  qn_status status = core_point_wait(&point, timeout_ns);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_queue_finish(qn_queue queue, uint64_t timeout_ns) { CORE_CALL(finish(queue, timeout_ns)); }

static qn_status wait_for_point(const qn_point *point, uint64_t timeout_ns) {
  if (!point) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "point is NULL");
  return core_point_wait(point, timeout_ns);
}

qn_status qn_point_wait(const qn_point *point, uint64_t timeout_ns) { CORE_CALL(wait_for_point(point, timeout_ns)); }
