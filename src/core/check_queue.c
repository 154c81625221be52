#include "core/check_queue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "compiler/interp/interp.h"
#include "core/options.h"

/* Commands in flight, at most; more and the core waits. */
enum { CAPACITY = 1024 };

/* A command with all that it borrowed copied behind it. */
typedef struct task {
  struct task *next;
  qn_adapter_command command;
  const ir_function *kernel;
  interp_launch launch;
  unsigned char pattern[128];
  interp_argument arguments[]; /* then the bytes of the values */
} task;

/* When a value's work began and ended; a timed queue remembers so many. */
enum { TIMES = 1 << 16 };
typedef struct span {
  uint64_t begin, end;
} span;

struct qn_adapter_queue {
  qn_thread thread;
  span *times; /* NULL: not timed */
  _Atomic uint64_t completed;
  _Atomic uint32_t has_failed; /* set before `completed` covers the failed value */
  qn_mutex lock;               /* the rest */
  qn_cond changed;             /* something was submitted or completed, or it ends */
  task *first, **tail;
  uint32_t count;
  bool ends;
  uint64_t failed_first;
  qn_status cause;
  int64_t driver_code;
  char text[512];
};

/* ---- Copies of commands ------------------------------------------------------------------------- */

static uint64_t align8(uint64_t size) { return (size + 7) & ~UINT64_C(7); }

/* Values are copied; a vector's may be read with the alignment of 16 that the block has. */
static uint64_t value_bytes(const qn_launch_record *record) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < record->argument_count; i++)
    if (record->arguments[i].kind == QN_ARGUMENT_VALUE) total += align8(record->arguments[i].size_bytes);
  return total;
}

static void copy_launch(task *t, const qn_launch_record *record) {
  t->kernel = record->kernel->function;
  t->launch = (interp_launch){
      .dimensions = record->dimensions, .arguments = t->arguments, .argument_count = record->argument_count};
  memcpy(t->launch.global, record->global, sizeof t->launch.global);
  memcpy(t->launch.local, record->local, sizeof t->launch.local);
  memcpy(t->launch.offset, record->offset, sizeof t->launch.offset);
  char *values = (char *)(t->arguments + record->argument_count);
  for (uint32_t i = 0; i < record->argument_count; i++) {
    const qn_launch_argument *from = &record->arguments[i];
    interp_argument *to = &t->arguments[i];
    *to = (interp_argument){.kind = from->kind, .size_bytes = from->size_bytes};
    if (from->memory) to->memory = from->memory->bytes + from->offset_bytes;
    if (from->kind != QN_ARGUMENT_VALUE) continue;
    memcpy(values, from->bytes, (size_t)from->size_bytes);
    to->bytes = values;
    values += align8(from->size_bytes);
  }
}

static task *new_task(const qn_adapter_command *command) {
  const qn_launch_record *record = command->launch;
  uint64_t extra = record ? record->argument_count * sizeof(interp_argument) + value_bytes(record) : 0;
  if (extra > SIZE_MAX - sizeof(task)) return NULL;
  task *t = calloc(1, sizeof *t + (size_t)extra);
  if (!t) return NULL;
  t->command = *command;
  if (record) copy_launch(t, record);
  if (command->pattern) memcpy(t->pattern, command->pattern, (size_t)command->pattern_bytes);
  return t;
}

static void free_tasks(task *t) {
  while (t) {
    task *next = t->next;
    free(t);
    t = next;
  }
}

/* ---- Running ------------------------------------------------------------------------------------ */

static void fill(const task *t) {
  char *at = t->command.target->bytes + t->command.target_offset;
  uint64_t size = t->command.size_bytes, step = t->command.pattern_bytes;
  if (step == 1)
    memset(at, t->pattern[0], (size_t)size);
  else
    for (uint64_t i = 0; i < size; i += step) memcpy(at + i, t->pattern, (size_t)step);
}

/* Values of other queues: done or failed, both let this one go on. */
static void wait_for_other(qn_adapter_queue *other, uint64_t value) {
  qn_mutex_lock(&other->lock);
  while (atomic_load(&other->completed) < value) qn_cond_wait(&other->changed, &other->lock, QN_FOREVER);
  qn_mutex_unlock(&other->lock);
}

static qn_status run(const task *t) {
  const qn_adapter_command *c = &t->command;
  switch (c->kind) {
    case QN_COMMAND_LAUNCH:
      return interp_run(t->kernel, &t->launch, NULL);
    case QN_COMMAND_COPY:
      memcpy(c->target->bytes + c->target_offset, c->source->bytes + c->source_offset, (size_t)c->size_bytes);
      return QN_OK;
    case QN_COMMAND_FILL:
      fill(t);
      return QN_OK;
    case QN_COMMAND_WRITE:
      memcpy(c->target->bytes + c->target_offset, c->host, (size_t)c->size_bytes);
      return QN_OK;
    case QN_COMMAND_READ:
      memcpy(c->host, c->source->bytes + c->source_offset, (size_t)c->size_bytes);
      return QN_OK;
    case QN_COMMAND_WAIT:
      wait_for_other(c->wait_queue, c->wait_value);
      return QN_OK;
    case QN_COMMAND_MARK:
      return QN_OK;
    default:
      QN_FAIL(QN_ERROR_UNSUPPORTED, "device check has no command of kind %u", c->kind);
  }
}

/* Under the lock. */
static void note_failure(qn_adapter_queue *queue, uint64_t value, qn_status status) {
  queue->failed_first = value;
  queue->cause = status;
  queue->driver_code = qn_error_driver_code();
  CORE_TEXT_COPY(queue->text, qn_error_text());
  atomic_store(&queue->has_failed, 1);
}

static void complete(qn_adapter_queue *queue, task *t, uint64_t begin, qn_status status) {
  qn_mutex_lock(&queue->lock);
  if (queue->times) queue->times[t->command.value % TIMES] = (span){begin, qn_clock_ns()};
  if (status < 0) note_failure(queue, t->command.value, status);
  queue->first = t->next;
  if (!queue->first) queue->tail = &queue->first;
  queue->count--;
  atomic_store(&queue->completed, t->command.value);
  qn_cond_broadcast(&queue->changed);
  qn_mutex_unlock(&queue->lock);
  free(t);
}

static task *next_task(qn_adapter_queue *queue) {
  qn_mutex_lock(&queue->lock);
  while (!queue->first && !queue->ends) qn_cond_wait(&queue->changed, &queue->lock, QN_FOREVER);
  task *t = queue->first;
  qn_mutex_unlock(&queue->lock);
  return t;
}

static void work(void *given) {
  qn_adapter_queue *queue = given;
  for (task *t = next_task(queue); t; t = next_task(queue)) {
    /* What comes after a failure fails with it: it would work on what the failed command left. It still waits. */
    bool runs = t->command.kind == QN_COMMAND_WAIT || atomic_load(&queue->has_failed) == 0;
    uint64_t begin = queue->times ? qn_clock_ns() : 0;
    complete(queue, t, begin, runs ? run(t) : QN_OK);
  }
}

/* ---- The adapter's functions -------------------------------------------------------------------- */

static void free_queue(qn_adapter_queue *queue) {
  free(queue->times);
  free(queue);
}

qn_status check_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                             qn_adapter_queue **out_queue) {
  (void)device;
  bool is_timed = (options->flags & QN_QUEUE_TIMED) != 0;
  qn_adapter_queue *queue = calloc(1, sizeof *queue);
  if (queue && is_timed) queue->times = calloc(TIMES, sizeof *queue->times);
  if (!queue || (is_timed && !queue->times)) {
    free(queue);
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue of device check");
  }
  queue->tail = &queue->first;
  qn_status status = qn_thread_start(&queue->thread, "quern-check", work, queue);
  if (status < 0) {
    free_queue(queue);
    return status;
  }
  *out_queue = queue;
  return QN_OK;
}

qn_status check_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  (void)device;
  qn_mutex_lock(&queue->lock);
  queue->ends = true;
  qn_cond_broadcast(&queue->changed);
  qn_mutex_unlock(&queue->lock);
  qn_thread_join(&queue->thread);
  free_queue(queue);
  return QN_OK;
}

/* Copies the whole batch before any of it is taken. */
static task *copy_batch(const qn_adapter_command *commands, uint32_t count) {
  task *first = NULL, **tail = &first;
  for (uint32_t i = 0; i < count; i++) {
    *tail = new_task(&commands[i]);
    if (!*tail) {
      free_tasks(first);
      return NULL;
    }
    tail = &(*tail)->next;
  }
  return first;
}

qn_status check_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  task *first = copy_batch(commands, count);
  if (!first) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u commands of device check", count);
  task *last = first;
  while (last->next) last = last->next;
  qn_mutex_lock(&queue->lock);
  bool is_full = queue->count > 0 && queue->count + count > CAPACITY;
  if (!is_full) {
    *queue->tail = first;
    queue->tail = &last->next;
    queue->count += count;
    qn_cond_broadcast(&queue->changed);
  }
  qn_mutex_unlock(&queue->lock);
  if (is_full) free_tasks(first);
  return is_full ? QN_NOT_READY : QN_OK;
}

/* The value first: what it covers was noted as failed before it was stored. */
qn_status check_queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  *out_value = atomic_load(&queue->completed);
  return atomic_load(&queue->has_failed) ? QN_ERROR_DEVICE : QN_OK;
}

qn_status check_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  qn_mutex_lock(&queue->lock);
  out_progress->completed = atomic_load(&queue->completed);
  out_progress->failed_first = queue->failed_first;
  out_progress->cause = queue->cause;
  out_progress->driver_code = queue->driver_code;
  CORE_TEXT_COPY(out_progress->text, queue->text);
  qn_mutex_unlock(&queue->lock);
  return QN_OK;
}

qn_status check_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  uint64_t deadline = qn_clock_deadline(timeout_ns);
  qn_mutex_lock(&queue->lock);
  uint64_t left = timeout_ns;
  while (atomic_load(&queue->completed) < value && left > 0) {
    qn_cond_wait(&queue->changed, &queue->lock, left);
    left = qn_clock_left(deadline);
  }
  bool is_complete = atomic_load(&queue->completed) >= value;
  qn_mutex_unlock(&queue->lock);
  if (!is_complete) QN_FAIL(QN_ERROR_TIMEOUT, "device check has not completed value %llu", (unsigned long long)value);
  return QN_OK;
}

static qn_status read_span(qn_adapter_queue *queue, uint64_t value, span *out) {
  if (!queue->times) QN_FAIL(QN_ERROR_UNSUPPORTED, "this queue of device check is not timed");
  qn_mutex_lock(&queue->lock);
  uint64_t completed = atomic_load(&queue->completed);
  *out = queue->times[value % TIMES];
  qn_mutex_unlock(&queue->lock);
  if (value > completed) return QN_NOT_READY;
  if (completed - value >= TIMES)
    QN_FAIL(QN_ERROR_NOT_FOUND, "device check has forgotten the time of value %llu; a queue remembers its last %d",
            (unsigned long long)value, TIMES);
  return QN_OK;
}

qn_status check_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  span s = {0, 0};
  qn_status status = read_span(queue, value, &s);
  if (status == QN_OK) *out_ns = s.end;
  return status;
}

qn_status check_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  span s = {0, 0};
  qn_status status = read_span(queue, value, &s);
  if (status == QN_OK) *out_ns = s.begin;
  return status;
}
