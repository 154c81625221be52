#include "core/call.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/status.h"
#include "core/exit.h"
#include "core/queue.h"
#include "core/timeline.h"

struct core_call {
  uint64_t value;
  qn_call_fn function;
  void *user;
  core_call *next;
};

/* How long the thread stays in the adapter at a time: then it looks for an earlier call, and whether the process exits or
 * the runtime gives up. */
#define SLICE_NS UINT64_C(10000000)

static QN_THREAD_LOCAL bool is_in_callback;

qn_status core_may_wait(const char *what) {
  if (!is_in_callback) return QN_OK;
  QN_FAIL(QN_ERROR_WOULD_BLOCK, "%s would have to wait, and this is a callback; do it on another thread", what);
}

/* ---- The thread --------------------------------------------------------------------------------- */

static void sleep_for_ever(void) {
  for (;;) qn_clock_sleep(UINT64_C(3600000000000));
}

/* Whether the point is complete or has failed; then its status, with the thread's text. */
static bool is_settled(const qn_point *point, qn_status *out_status) {
  if (core_point_look(point) == CORE_POINT_PENDING) return false;
  *out_status = core_point_wait(point, QN_POLL);
  return true;
}

/* Waits for the point, a slice long. An error of the waiting itself is not the point's: it is tried again, later. */
static bool await(const qn_point *point, qn_status *out_status) {
  if (core_enter() < 0) sleep_for_ever(); /* the process exits: nothing is called any longer */
  qn_status status = core_point_wait(point, SLICE_NS);
  bool settled = is_settled(point, out_status);
  core_leave();
  if (!settled && status != QN_ERROR_TIMEOUT) qn_clock_sleep(SLICE_NS);
  return settled;
}

static qn_status closed(void) {
  QN_FAIL(QN_ERROR_CLOSED, "the runtime was closed, and the point was not complete within the time limit");
}

/* Takes the first call and runs it. Under the lock, which is given up meanwhile. */
static void run_first(core_caller *caller, qn_status status) {
  core_call *call = caller->first;
  caller->first = call->next;
  qn_mutex_unlock(&caller->lock);
  uint64_t begin = core_trace_begin();
  is_in_callback = true;
  call->function(call->user, status);
  is_in_callback = false;
  core_trace_end(begin, "callback", "callback", NULL);
  free(call);
  core_object_drop(&caller->queue->object); /* it lives until it has joined this thread */
  qn_mutex_lock(&caller->lock);
}

/* Waits for the first call's point and runs the call, if it is still the first one. Under the lock, which is given up
 * meanwhile. */
static void serve_first(core_caller *caller) {
  core_call *call = caller->first;
  const qn_point point = {caller->queue->id, call->value};
  qn_status status = QN_OK;
  qn_mutex_unlock(&caller->lock);
  bool settled = await(&point, &status);
  qn_mutex_lock(&caller->lock);
  if (!settled && atomic_load(&caller->queue->device->runtime->gave_up)) {
    settled = true;
    status = closed();
  }
  if (settled && caller->first == call) run_first(caller, status);
}

static void serve(void *given) {
  core_caller *caller = given;
  qn_mutex_lock(&caller->lock);
  for (;;) {
    if (caller->first)
      serve_first(caller);
    else if (caller->ends)
      break;
    else
      qn_cond_wait(&caller->changed, &caller->lock, QN_FOREVER);
  }
  qn_mutex_unlock(&caller->lock);
}

void core_caller_close(core_caller *caller) {
  if (caller->thread.native == 0) return;
  qn_mutex_lock(&caller->lock);
  caller->ends = true;
  qn_cond_signal(&caller->changed);
  qn_mutex_unlock(&caller->lock);
  qn_thread_join(&caller->thread);
}

/* ---- Calls -------------------------------------------------------------------------------------- */

/* Under the lock. */
static qn_status start(core_queue *queue) {
  core_caller *caller = &queue->caller;
  if (caller->thread.native != 0) return QN_OK;
  caller->queue = queue;
  return qn_thread_start(&caller->thread, "quern-call", serve, caller);
}

/* After those of the same point. Under the lock. */
static void insert(core_caller *caller, core_call *call) {
  bool is_last = caller->first && caller->last->value <= call->value;
  core_call **at = is_last ? &caller->last->next : &caller->first;
  while (*at && (*at)->value <= call->value) at = &(*at)->next;
  call->next = *at;
  *at = call;
  if (!call->next) caller->last = call;
}

static qn_status add(core_queue *queue, core_call *call) {
  qn_mutex_lock(&queue->caller.lock);
  qn_status status = start(queue);
  if (status == QN_OK) {
    core_object_hold(&queue->object);
    insert(&queue->caller, call);
  }
  qn_mutex_unlock(&queue->caller.lock);
  if (status == QN_OK) qn_cond_signal(&queue->caller.changed); /* not to be woken only to wait for the lock */
  return status;
}

static qn_status value_of(const core_queue *queue, const qn_point *point, uint64_t *out_value) {
  uint64_t submitted = atomic_load(&queue->timeline->submitted);
  *out_value = point ? point->value : submitted;
  bool is_nothing = point && point->queue == 0 && point->value == 0; /* complete for ever */
  if (point && !is_nothing && point->queue != queue->id)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "point is of another queue (id %llu) than queue (id %llu)",
            (unsigned long long)point->queue, (unsigned long long)queue->id);
  if (*out_value > submitted)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "the point's value %llu was not given out; the queue's last is %llu",
            (unsigned long long)*out_value, (unsigned long long)submitted);
  return QN_OK;
}

static qn_status call_at(core_queue *queue, uint64_t value, qn_call_fn function, void *user) {
  core_call *call = malloc(sizeof *call);
  if (!call) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a callback's record");
  *call = (core_call){.value = value, .function = function, .user = user};
  qn_status status = add(queue, call);
  if (status != QN_OK) free(call);
  return status;
}

static qn_status queue_call(qn_queue handle, const qn_point *point, qn_call_fn function, void *user) {
  core_queue *queue = NULL;
  uint64_t value = 0;
  if (!function) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "function is NULL");
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = value_of(queue, point, &value);
  if (status == QN_OK) status = call_at(queue, value, function, user);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_queue_call(qn_queue queue, const qn_point *point, qn_call_fn function, void *user) {
  CORE_CALL(queue_call(queue, point, function, user));
}

/* ---- Descriptors -------------------------------------------------------------------------------- */

static void signal_descriptor(void *user, qn_status status) {
  int32_t signaller = (int32_t)(intptr_t)user;
  (void)status;
  qn_event_signal(signaller);
  qn_event_close(signaller);
}

static qn_status descriptor_at(core_queue *queue, uint64_t value, int32_t *out_descriptor) {
  int32_t reader = -1, signaller = -1;
  QN_TRY(qn_event_open(&reader, &signaller));
  qn_status status = call_at(queue, value, signal_descriptor, (void *)(intptr_t)signaller);
  if (status < 0) {
    qn_event_close(reader);
    qn_event_close(signaller);
    return status;
  }
  *out_descriptor = reader;
  return QN_OK;
}

static qn_status queue_descriptor(qn_queue handle, const qn_point *point, int32_t *out_descriptor) {
  core_queue *queue = NULL;
  uint64_t value = 0;
  if (!out_descriptor) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_descriptor is NULL");
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = value_of(queue, point, &value);
  if (status == QN_OK) status = descriptor_at(queue, value, out_descriptor);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_queue_descriptor(qn_queue queue, const qn_point *point, int32_t *out_descriptor) {
  CORE_CALL(queue_descriptor(queue, point, out_descriptor));
}
