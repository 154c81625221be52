/* queue.c - an in-order queue: a ring of commands and a thread that runs them one by one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "null.h"

enum { CAPACITY = 1024, MAX_PATTERN = 128 };

/* A command, and a copy of what it borrowed for the call. */
typedef struct task {
  qn_adapter_command command;
  unsigned char pattern[MAX_PATTERN];
} task;

struct qn_adapter_queue {
  qn_adapter_device *device;
  pthread_t thread;
  _Atomic uint64_t completed; /* read without the lock by null_queue_completed */
  _Atomic uint32_t has_failed;
  pthread_mutex_t lock; /* the rest */
  pthread_cond_t changed;
  task *ring;
  uint64_t head, tail; /* tasks taken and given so far; the ring is full when they differ by CAPACITY */
  uint32_t ends;
  uint64_t failed_first;
  char text[128];
};

/* ---- Running ------------------------------------------------------------------------------------ */

/* Another queue's value: done or failed, both let this one go on. The core keeps that queue until we have. */
static void wait_for_value(qn_adapter_queue *queue, uint64_t value) {
  pthread_mutex_lock(&queue->lock);
  while (atomic_load(&queue->completed) < value) pthread_cond_wait(&queue->changed, &queue->lock);
  pthread_mutex_unlock(&queue->lock);
}

static void fill(const task *t) {
  char *at = t->command.target->bytes + t->command.target_offset;
  uint64_t size = t->command.size_bytes, step = t->command.pattern_bytes;
  if (step == 1)
    memset(at, t->pattern[0], size);
  else
    for (uint64_t i = 0; i < size; i += step) memcpy(at + i, t->pattern, step);
}

/* NULL, or what is wrong. */
static const char *run(const task *t) {
  const qn_adapter_command *c = &t->command;
  switch (c->kind) {
    case QN_COMMAND_COPY:
      memcpy(c->target->bytes + c->target_offset, c->source->bytes + c->source_offset, c->size_bytes);
      return NULL;
    case QN_COMMAND_FILL:
      fill(t);
      return NULL;
    case QN_COMMAND_WRITE:
      memcpy(c->target->bytes + c->target_offset, c->host, c->size_bytes);
      return NULL;
    case QN_COMMAND_READ:
      memcpy(c->host, c->source->bytes + c->source_offset, c->size_bytes);
      return NULL;
    case QN_COMMAND_WAIT:
      wait_for_value(c->wait_queue, c->wait_value);
      return NULL;
    case QN_COMMAND_MARK:
      return NULL;
    default:
      return "the adapter null runs no kernels";
  }
}

/* The failure first, then the value that covers it: whoever sees the value sees the failure. */
static void complete(qn_adapter_queue *queue, uint64_t value, const char *wrong) {
  pthread_mutex_lock(&queue->lock);
  if (wrong && queue->failed_first == 0) {
    queue->failed_first = value;
    strncpy(queue->text, wrong, sizeof queue->text - 1);
    atomic_store(&queue->has_failed, 1);
  }
  queue->head++;
  atomic_store(&queue->completed, value);
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
}

/* A pointer into the ring stays good: the slot is given again only after `head` has passed it. */
static const task *next_task(qn_adapter_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  while (queue->head == queue->tail && !queue->ends) pthread_cond_wait(&queue->changed, &queue->lock);
  const task *t = queue->head == queue->tail ? NULL : &queue->ring[queue->head % CAPACITY];
  pthread_mutex_unlock(&queue->lock);
  return t;
}

static void *work(void *given) {
  qn_adapter_queue *queue = given;
  for (const task *t = next_task(queue); t; t = next_task(queue)) {
    /* What comes after a failure fails with it, without being run. */
    const char *wrong = atomic_load(&queue->has_failed) ? NULL : run(t);
    complete(queue, t->command.value, wrong);
  }
  return NULL;
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static int start(qn_adapter_queue *queue) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&queue->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&queue->lock, NULL);
  int error = pthread_create(&queue->thread, NULL, work, queue);
  if (error == 0) return 0;
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  return error;
}

qn_status null_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                            qn_adapter_queue **out_queue) {
  const qn_adapter_host *host = device->instance->host;
  (void)options; /* no timed queues: the device's features say so */
  qn_adapter_queue *queue = calloc(1, sizeof *queue);
  if (queue) queue->ring = calloc(CAPACITY, sizeof *queue->ring);
  if (!queue || !queue->ring) {
    free(queue);
    return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a queue");
  }
  queue->device = device;
  int error = start(queue);
  if (error != 0) {
    free(queue->ring);
    free(queue);
    return null_error(host, QN_ERROR_LIMIT, "a queue's thread can't be started: %s", strerror(error));
  }
  *out_queue = queue;
  return QN_OK;
}

/* Everything on it is complete. */
qn_status null_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  (void)device;
  pthread_mutex_lock(&queue->lock);
  queue->ends = 1;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  free(queue->ring);
  free(queue);
  return QN_OK;
}

/* ---- Submission --------------------------------------------------------------------------------- */

/* All of the batch or nothing. When there is no room now, the core waits for an earlier value and comes again. */
qn_status null_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  pthread_mutex_lock(&queue->lock);
  int fits = queue->tail - queue->head + count <= CAPACITY;
  for (uint32_t i = 0; fits && i < count; i++) {
    task *t = &queue->ring[queue->tail++ % CAPACITY];
    t->command = commands[i];
    if (commands[i].pattern) memcpy(t->pattern, commands[i].pattern, commands[i].pattern_bytes);
  }
  if (fits) pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  return fits ? QN_OK : QN_NOT_READY;
}

/* ---- Progress ----------------------------------------------------------------------------------- */

/* The value first, then whether something failed: see `complete`. */
qn_status null_queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  *out_value = atomic_load(&queue->completed);
  return atomic_load(&queue->has_failed) ? QN_ERROR_UNSUPPORTED : QN_OK;
}

qn_status null_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  pthread_mutex_lock(&queue->lock);
  out_progress->completed = atomic_load(&queue->completed);
  out_progress->failed_first = queue->failed_first;
  out_progress->cause = queue->failed_first ? QN_ERROR_UNSUPPORTED : QN_OK;
  memcpy(out_progress->text, queue->text, sizeof queue->text);
  pthread_mutex_unlock(&queue->lock);
  return QN_OK;
}

static struct timespec deadline_after(uint64_t timeout_ns) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t ns = (uint64_t)now.tv_nsec + timeout_ns % 1000000000u;
  uint64_t seconds = timeout_ns / 1000000000u;
  if (seconds > 1000000000u) seconds = 1000000000u; /* 30 years: for ever */
  now.tv_sec += (time_t)(seconds + ns / 1000000000u);
  now.tv_nsec = (long)(ns % 1000000000u);
  return now;
}

qn_status null_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  struct timespec deadline = deadline_after(timeout_ns);
  int error = 0;
  pthread_mutex_lock(&queue->lock);
  while (atomic_load(&queue->completed) < value && error == 0)
    error = pthread_cond_timedwait(&queue->changed, &queue->lock, &deadline);
  int is_complete = atomic_load(&queue->completed) >= value;
  pthread_mutex_unlock(&queue->lock);
  if (is_complete) return QN_OK;
  return null_error(queue->device->instance->host, QN_ERROR_TIMEOUT, "value %llu is not complete",
                    (unsigned long long)value);
}
