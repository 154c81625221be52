#include "marks.h"

#include <string.h>

#include "staging.h"

/* ---- How far ------------------------------------------------------------------------------------ */

void cu_marks_reach(qn_adapter_queue *queue, uint64_t value) {
  if (value > atomic_load_explicit(&queue->completed, memory_order_relaxed))
    atomic_store_explicit(&queue->completed, value, memory_order_release);
}

static uint64_t completed_of(const qn_adapter_queue *queue) {
  return atomic_load_explicit(&queue->completed, memory_order_relaxed);
}
static uint64_t submitted_of(const qn_adapter_queue *queue) {
  return atomic_load_explicit(&queue->submitted, memory_order_relaxed);
}

void cu_queue_fail(qn_adapter_queue *queue, uint64_t value, const cu_failure *failure) {
  if (atomic_load(&queue->failed_first) != 0) return;
  queue->failure = *failure;
  atomic_store_explicit(&queue->failed_first, value, memory_order_release);
}

/* The context is gone, and with it all that was in flight, waits for other queues too. */
static void give_up(qn_adapter_queue *queue) {
  uint64_t completed = completed_of(queue), submitted = submitted_of(queue);
  cu_failure loss;
  if (completed == submitted) return;
  cu_stager_stop(queue->stager); /* from here on the host's memory is the caller's */
  cu_device_loss(queue->device, &loss);
  cu_queue_fail(queue, completed + 1, &loss);
  cu_marks_reach(queue, submitted);
}

/* A call that had no memory, or a stream that is being captured, says nothing of the work: it is asked again. What else is said, now or
 * by later drivers, is no better the next time. */
static bool is_passing(cu_result code) {
  return code == CU_NOT_READY || code == CU_OUT_OF_MEMORY || (code >= CU_FIRST_CAPTURE && code <= CU_LAST_CAPTURE);
}

/* What the driver says of a queue's work. A stream that can't be asked can't be waited for: its device counts as lost. */
static void judge(qn_adapter_queue *queue, cu_result code) {
  if (code != CU_SUCCESS && !is_passing(code)) cu_device_lose(queue->device, code, "a command failed");
}

static void ask_stream(qn_adapter_queue *queue) {
  cu_result code = queue->device->cu->StreamQuery(queue->stream);
  if (code == CU_SUCCESS) {
    (void)queue->kind->look(queue); /* for the times of timed ones */
    cu_marks_reach(queue, submitted_of(queue));
  }
  judge(queue, code);
}

void cu_marks_look(qn_adapter_queue *queue, bool thoroughly) {
  if (completed_of(queue) == submitted_of(queue)) return;
  if (!cu_device_is_lost(queue->device)) judge(queue, queue->kind->look(queue));
  /* A mark that is still ahead will tell. */
  bool has_mark_ahead = queue->marked > completed_of(queue);
  if (thoroughly && !has_mark_ahead && completed_of(queue) != submitted_of(queue) && !cu_device_is_lost(queue->device))
    ask_stream(queue);
  if (cu_device_is_lost(queue->device)) give_up(queue);
}

/* ---- Marks -------------------------------------------------------------------------------------- */

bool cu_marks_put(qn_adapter_queue *queue) {
  uint64_t submitted = submitted_of(queue);
  if (submitted == queue->marked || submitted == completed_of(queue)) return true;
  cu_result code = queue->kind->put(queue, submitted);
  if (code == CU_SUCCESS) queue->marked = submitted;
  judge(queue, code);
  return code == CU_SUCCESS;
}

qn_status cu_marks_wait(qn_adapter_queue *queue, uint64_t value, cu_stream stream, cu_failure *failure) {
  cu_result code = CU_SUCCESS;
  pthread_mutex_lock(&queue->lock);
  cu_marks_look(queue, false);
  if (completed_of(queue) < value) {
    if (queue->marked < value && !cu_marks_put(queue)) code = CU_NOT_READY;
    if (code == CU_SUCCESS) code = queue->kind->wait(queue, value, stream);
  }
  pthread_mutex_unlock(&queue->lock);
  if (code == CU_SUCCESS) return QN_OK;
  if (cu_device_is_lost(queue->device)) {
    cu_device_loss(queue->device, failure);
    return failure->status;
  }
  return cu_fail(failure, QN_ERROR_DEVICE, code == CU_NOT_READY ? CU_SUCCESS : code,
                 "a wait for value %llu of queue %llu", (unsigned long long)value, (unsigned long long)queue->id);
}

/* ---- Events ------------------------------------------------------------------------------------- */

static cu_mark *mark_at(const qn_adapter_queue *queue, uint32_t index) {
  return &queue->marks[(queue->first + index) % queue->capacity];
}

static cu_result make_event(const qn_adapter_queue *queue, cu_event *event) {
  if (*event) return CU_SUCCESS;
  return queue->device->cu->EventCreate(event, queue->is_timed ? CU_EVENT_TIMED : CU_EVENT_NO_TIMING);
}

cu_result cu_marks_next(qn_adapter_queue *queue, cu_mark **out_mark) {
  /* When the ring is full, the newest mark moves to the end: it covers what it covered, later. */
  cu_mark *mark = mark_at(queue, queue->count < queue->capacity ? queue->count : queue->capacity - 1);
  cu_result code = make_event(queue, &mark->end);
  if (code == CU_SUCCESS && queue->is_timed) code = make_event(queue, &mark->begin);
  *out_mark = mark;
  return code;
}

static cu_result put_event(qn_adapter_queue *queue, uint64_t value) {
  cu_mark *mark = NULL;
  cu_result code = cu_marks_next(queue, &mark);
  if (code == CU_SUCCESS) code = queue->device->cu->EventRecord(mark->end, queue->stream);
  if (code != CU_SUCCESS) return code;
  mark->value = value;
  if (queue->count < queue->capacity) queue->count++;
  return CU_SUCCESS;
}

static void keep_times(qn_adapter_queue *queue, cu_mark *mark) {
  cu_times *times = &queue->times[mark->value % CU_TIMES];
  uint64_t begin = 0, end = 0;
  cu_clock_read(queue->device, mark->begin, &mark->end, &begin, &end);
  atomic_store_explicit(&times->begin, begin, memory_order_relaxed);
  atomic_store_explicit(&times->end, end, memory_order_relaxed);
}

/* Those of a batch that is being submitted are not looked at: its values may be taken back. */
static cu_result look_at_events(qn_adapter_queue *queue) {
  while (queue->count > 0 && mark_at(queue, 0)->value <= submitted_of(queue)) {
    cu_mark *mark = mark_at(queue, 0);
    cu_result code = queue->device->cu->EventQuery(mark->end);
    if (code != CU_SUCCESS) return code;
    if (queue->is_timed) keep_times(queue, mark);
    cu_marks_reach(queue, mark->value);
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
  }
  return CU_SUCCESS;
}

void cu_marks_forget(qn_adapter_queue *queue) {
  uint64_t submitted = submitted_of(queue);
  while (queue->count > 0 && mark_at(queue, queue->count - 1)->value > submitted) queue->count--;
  if (queue->marked > submitted) queue->marked = submitted;
}

static cu_result wait_for_event(qn_adapter_queue *queue, uint64_t value, cu_stream stream) {
  for (uint32_t i = 0; i < queue->count; i++)
    if (mark_at(queue, i)->value >= value) return queue->device->cu->StreamWaitEvent(stream, mark_at(queue, i)->end, 0);
  return CU_INVALID_VALUE;
}

static const cu_marks_kind events = {"events", false, put_event, look_at_events, wait_for_event};

/* ---- Words -------------------------------------------------------------------------------------- */

enum { PATIENCE = 64 }; /* looks at a word before the stream is asked whether it is well */

static cu_result put_word(qn_adapter_queue *queue, uint64_t value) {
  queue->looks = 0;
  return queue->device->cu->StreamWriteValue64_v2(queue->stream, queue->word.address, value, 0);
}

static cu_result look_at_word(qn_adapter_queue *queue) {
  uint64_t value = atomic_load_explicit(queue->word.host, memory_order_acquire);
  if (value > completed_of(queue)) {
    cu_marks_reach(queue, value);
    queue->looks = 0;
  } else if (queue->marked > value && ++queue->looks >= PATIENCE) {
    queue->looks = 0;
    return queue->device->cu->StreamQuery(queue->stream);
  }
  return CU_SUCCESS;
}

static cu_result wait_for_word(qn_adapter_queue *queue, uint64_t value, cu_stream stream) {
  return queue->device->cu->StreamWaitValue64_v2(stream, queue->word.address, value, CU_WAIT_GEQ);
}

static const cu_marks_kind words = {"words", true, put_word, look_at_word, wait_for_word};

/* ---- Choice ------------------------------------------------------------------------------------- */

const cu_marks_kind *cu_marks_choose(const qn_adapter_device *device, bool is_timed) {
  const char *wanted = device->host->environment("QUERN_CUDA_MARKS");
  bool asks_words = wanted && strcmp(wanted, words.name) == 0;
  return asks_words && device->found->has_words && !is_timed ? &words : &events;
}
