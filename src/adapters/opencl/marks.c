/* marks.c - how far a queue is, by the events of some of its commands. */
#include <string.h>

#include "order.h"

/* ---- Failure ------------------------------------------------------------------------------------ */

void ocl_queue_fail(qn_adapter_queue *queue, uint64_t value, ocl_failure *failure) {
  ocl_device_note_failure(queue->device, failure);
  if (atomic_load(&queue->failed_first) != 0) return;
  queue->failure = *failure;
  atomic_store_explicit(&queue->failed_first, value, memory_order_release);
}

/* An event tells of everything since the mark before it: which of the commands it was, the driver doesn't say. */
static void fail_by_event(qn_adapter_queue *queue, uint64_t value, cl_int state) {
  unsigned long long first = queue->reached + 1, last = value;
  const char *name = queue->device->found->info.name;
  ocl_failure failure;
  if (first == last)
    (void)!ocl_fail(&failure, ocl_status_of(state), state, "device '%s' failed at command %llu", name, last);
  else
    (void)!ocl_fail(&failure, ocl_status_of(state), state, "device '%s' failed at one of the commands %llu to %llu",
                    name, first, last);
  ocl_device_judge(queue->device, state, "a command failed");
  if (ocl_code_is_loss(state)) ocl_device_loss(queue->device, &failure);
  ocl_queue_fail(queue, first, &failure);
}

/* ---- The ring ----------------------------------------------------------------------------------- */

static ocl_mark *mark_at(const qn_adapter_queue *queue, uint32_t index) {
  return &queue->marks[(queue->first + index) % queue->capacity];
}

static void pop(qn_adapter_queue *queue) {
  queue->device->cl->ReleaseEvent(mark_at(queue, 0)->event);
  queue->first = (queue->first + 1) % queue->capacity;
  queue->count--;
}

static uint64_t time_of(const qn_adapter_queue *queue, cl_event event, cl_profiling_info what) {
  cl_ulong ns = 0;
  cl_int code = queue->device->cl->GetEventProfilingInfo(event, what, sizeof ns, &ns, NULL);
  return code == CL_SUCCESS ? ns : 0;
}

static void keep_times(qn_adapter_queue *queue, const ocl_mark *mark) {
  ocl_times *times = &queue->times[mark->value % OCL_TIMES];
  uint64_t begin = time_of(queue, mark->event, CL_PROFILING_COMMAND_START);
  atomic_store_explicit(&times->begin, begin, memory_order_relaxed);
  atomic_store_explicit(&times->end, time_of(queue, mark->event, CL_PROFILING_COMMAND_END), memory_order_relaxed);
}

static void tell(qn_adapter_queue *queue, uint64_t value) {
  if (value > atomic_load(&queue->completed)) atomic_store_explicit(&queue->completed, value, memory_order_release);
}

static void reach(qn_adapter_queue *queue, uint64_t value) {
  if (value > queue->reached) queue->reached = value;
  tell(queue, ocl_order_limit(queue, queue->reached));
}

/* Nothing more is to be had from the driver; the events go with its context. All queues of the device are at their ends, so that
 * no wait is left. */
static void give_up(qn_adapter_queue *queue) {
  uint64_t completed = atomic_load(&queue->completed), submitted = atomic_load(&queue->submitted);
  ocl_failure failure;
  if (completed == submitted) return;
  ocl_device_loss(queue->device, &failure);
  ocl_queue_fail(queue, completed + 1, &failure);
  while (queue->count > 0) pop(queue);
  queue->kept_count = 0;
  queue->reached = submitted;
  tell(queue, submitted);
}

void ocl_marks_look(qn_adapter_queue *queue) {
  while (queue->count > 0) {
    const ocl_mark mark = *mark_at(queue, 0);
    cl_int state = ocl_event_state(queue->device, mark.event);
    if (state > 0) break;
    if (state < 0) fail_by_event(queue, mark.value, state);
    if (state == 0 && queue->times) keep_times(queue, &mark);
    reach(queue, mark.value);
    pop(queue);
  }
  if (atomic_load(&queue->completed) < queue->reached) reach(queue, queue->reached);
  if (atomic_load_explicit(&queue->device->is_lost, memory_order_acquire)) give_up(queue);
}

void ocl_marks_add(qn_adapter_queue *queue, cl_event event) {
  queue->marked = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
  *mark_at(queue, queue->count++) = (ocl_mark){queue->marked, event, false};
}

/* ---- New marks ---------------------------------------------------------------------------------- */

static bool make_event(qn_adapter_queue *queue, cl_event *out_event) {
  cl_int code = queue->device->cl->EnqueueMarkerWithWaitList(queue->native, 0, NULL, out_event);
  if (code == CL_SUCCESS) return true;
  /* A queue that takes no marker any longer can't be waited for: its device counts as lost. */
  if (code != CL_OUT_OF_HOST_MEMORY) ocl_device_lose(queue->device, code, "a queue takes no marker");
  return false;
}

void ocl_marks_set(qn_adapter_queue *queue) {
  cl_event event = NULL;
  uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
  if (submitted == queue->marked || submitted == queue->reached) return;
  if (queue->count < queue->capacity && make_event(queue, &event)) ocl_marks_add(queue, event);
}

/* The ring's first mark at `value` or after it, or NULL. */
static ocl_mark *find_mark(qn_adapter_queue *queue, uint64_t value) {
  for (uint32_t i = 0; i < queue->count; i++)
    if (mark_at(queue, i)->value >= value) return mark_at(queue, i);
  return NULL;
}

bool ocl_marks_cover(qn_adapter_queue *queue, uint64_t value, bool rings, ocl_mark *out_mark) {
  const qn_adapter_device *device = queue->device;
  ocl_mark *found = find_mark(queue, value), fresh = {0};
  if (!found && !make_event(queue, &fresh.event)) return false;
  if (!found && queue->count < queue->capacity) {
    ocl_marks_add(queue, fresh.event);
    found = mark_at(queue, queue->count - 1);
  }
  if (found) {
    device->cl->RetainEvent(found->event);
  } else { /* there is no room to remember it: the caller alone has it */
    fresh.value = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    found = &fresh;
  }
  if (rings && !found->rings) ocl_event_ring(device, found->event);
  found->rings = found->rings || rings;
  *out_mark = *found;
  return true;
}

void ocl_marks_reached(qn_adapter_queue *queue, uint64_t value, cl_int state) {
  ocl_marks_look(queue);
  if (queue->reached >= value) return;
  if (state < 0) fail_by_event(queue, value, state);
  reach(queue, value);
}
