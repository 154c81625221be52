/* stream.c - in-order streams: a ring of packets, and what is told of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inside.h"

/* ---- Creation ----------------------------------------------------------------------------------- */

static void link_stream(sim_stream *stream) {
  sim_device *device = stream->device;
  stream->previous = device->last_stream;
  if (device->last_stream)
    device->last_stream->next = stream;
  else
    device->streams = stream;
  device->last_stream = stream;
  device->counts.queues++;
}

static void unlink_stream(sim_stream *stream) {
  sim_device *device = stream->device;
  if (stream->next)
    stream->next->previous = stream->previous;
  else
    device->last_stream = stream->previous;
  if (stream->previous)
    stream->previous->next = stream->next;
  else
    device->streams = stream->next;
  device->counts.queues--;
}

/* Under the lock. */
static sim_result start(sim_stream *stream) {
  sim_device *device = stream->device;
  if (device->is_lost) return SIM_LOST;
  if (device->is_checked && !sim_check_create_stream(stream)) return SIM_NO_HOST_MEMORY;
  sim_result result = sim_scheduler_start(device);
  if (result != SIM_OK && device->is_checked) device->slot_used[stream->slot] = false;
  if (result == SIM_OK) link_stream(stream);
  return result;
}

sim_result sim_stream_create(sim_device *device, uint64_t name, bool is_timed, sim_stream **out_stream) {
  sim_stream *stream = sim_new(device->driver, sizeof *stream);
  if (!stream) return SIM_NO_HOST_MEMORY;
  stream->device = device;
  stream->name = name;
  stream->hold_at = device->hold_at;
  stream->ring = device->capacity <= SIZE_MAX ? calloc((size_t)device->capacity, sizeof *stream->ring) : NULL;
  stream->times = is_timed ? calloc(SIM_TIMES, sizeof *stream->times) : NULL;
  pthread_mutex_lock(&device->lock);
  bool has_memory = stream->ring && (stream->times || !is_timed);
  sim_result result = has_memory ? start(stream) : SIM_NO_HOST_MEMORY;
  pthread_mutex_unlock(&device->lock);
  if (result != SIM_OK) {
    free(stream->times);
    free(stream->ring);
    sim_delete(device->driver, stream, sizeof *stream);
    return result;
  }
  *out_stream = stream;
  return SIM_OK;
}

void sim_stream_destroy(sim_stream *stream) {
  sim_device *device = stream->device;
  pthread_mutex_lock(&device->lock);
  if (device->is_checked) sim_check_destroy_stream(stream);
  sim_deactivate(stream);
  unlink_stream(stream);
  pthread_mutex_unlock(&device->lock);
  free(stream->times);
  free(stream->ring);
  sim_delete(device->driver, stream, sizeof *stream);
}

/* ---- Submission --------------------------------------------------------------------------------- */

/* Whether a batch may come in. Under the lock. */
static sim_result admit(sim_stream *stream, uint32_t count) {
  sim_device *device = stream->device;
  uint64_t in_flight = stream->submitted - atomic_load(&stream->seen);
  if (device->is_lost) return SIM_LOST;
  uint32_t *orders[] = {&stream->reject, &device->reject};
  for (int i = 0; i < 2; i++) {
    if (*orders[i] == 0) continue;
    --*orders[i];
    return SIM_REJECTED;
  }
  if (sim_chance(device, device->settings.reject)) return SIM_REJECTED;
  if (in_flight + count > device->capacity) return SIM_BUSY;
  return in_flight > 0 && sim_chance(device, device->settings.full) ? SIM_BUSY : SIM_OK;
}

static void take(sim_stream *stream, const sim_packet *packet) {
  sim_device *device = stream->device;
  uint64_t value = ++stream->submitted;
  sim_task *task = sim_task_at(stream, value);
  task->packet = *packet;
  task->arrival = device->arrivals++;
  task->arrival_ns = device->now_ns;
  if (packet->op == SIM_WAIT) packet->stream->waiters++;
  if (device->is_checked) sim_check_submit(stream, value);
  sim_activate(stream);
}

static void count_submission(sim_device *device, sim_result result) {
  device->counts.submissions += result == SIM_OK;
  device->counts.rejected += result == SIM_REJECTED;
  device->counts.full += result == SIM_BUSY;
}

sim_result sim_stream_submit(sim_stream *stream, const sim_packet *packets, uint32_t count) {
  sim_device *device = stream->device;
  pthread_mutex_lock(&device->lock);
  device->looks = 0;
  sim_result result = admit(stream, count);
  count_submission(device, result);
  for (uint32_t i = 0; result == SIM_OK && i < count; i++) {
    device->counts.commands[packets[i].op]++;
    take(stream, &packets[i]);
  }
  if (result == SIM_OK) sim_scheduler_kick(device);
  pthread_mutex_unlock(&device->lock);
  return result;
}

/* ---- Progress ----------------------------------------------------------------------------------- */

/* Host calls make steps when no thread does; somebody who only looks must see progress too, and the more the longer nobody
 * does anything else. */
enum { LOOKS_A_STEP = 32 };

static void step_for_a_look(sim_device *device) {
  uint64_t steps = ++device->looks / LOOKS_A_STEP;
  while (steps > 0 && sim_step(device)) steps--;
}

/* The value first, then whether something failed: a failure is stored before the value that covers it. */
static sim_result look(sim_stream *stream, uint64_t *out_value) {
  sim_device *device = stream->device;
  pthread_mutex_lock(&device->lock);
  if (!device->has_thread) step_for_a_look(device);
  *out_value = atomic_load(&stream->seen);
  sim_result result = atomic_load(&stream->failed);
  if (device->is_checked) sim_check_told(stream, *out_value);
  pthread_mutex_unlock(&device->lock);
  return result;
}

sim_result sim_stream_completed(sim_stream *stream, uint64_t *out_value) {
  const sim_device *device = stream->device;
  if (!device->has_thread || device->is_checked) return look(stream, out_value);
  *out_value = atomic_load(&stream->seen);
  return atomic_load(&stream->failed);
}

void sim_stream_failure(sim_stream *stream, sim_failure *out_failure) {
  pthread_mutex_lock(&stream->device->lock);
  *out_failure = stream->failure;
  pthread_mutex_unlock(&stream->device->lock);
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

static bool is_past(const struct timespec *deadline) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

sim_result sim_stream_wait(sim_stream *stream, uint64_t value, uint64_t timeout_ns) {
  sim_device *device = stream->device;
  const struct timespec deadline = deadline_after(timeout_ns);
  bool in_time = true;
  pthread_mutex_lock(&device->lock);
  device->looks = 0;
  while (atomic_load(&stream->seen) < value && in_time) {
    if (!device->has_thread && sim_step(device))
      in_time = !is_past(&deadline);
    else
      in_time = pthread_cond_timedwait(&device->changed, &device->lock, &deadline) != ETIMEDOUT;
  }
  uint64_t seen = atomic_load(&stream->seen);
  if (device->is_checked) sim_check_told(stream, seen);
  pthread_mutex_unlock(&device->lock);
  return seen >= value ? SIM_OK : SIM_TIMEOUT;
}

sim_result sim_stream_times(sim_stream *stream, uint64_t value, uint64_t *out_begin_ns, uint64_t *out_end_ns) {
  sim_device *device = stream->device;
  sim_result result = SIM_OK;
  if (!stream->times) return SIM_UNTIMED;
  pthread_mutex_lock(&device->lock);
  if (value > stream->done)
    result = SIM_BUSY;
  else if (value == 0 || value + SIM_TIMES <= stream->submitted)
    result = SIM_TOO_OLD;
  if (result == SIM_OK) {
    *out_begin_ns = stream->times[value % SIM_TIMES].begin_ns;
    *out_end_ns = stream->times[value % SIM_TIMES].end_ns;
  }
  pthread_mutex_unlock(&device->lock);
  return result;
}
