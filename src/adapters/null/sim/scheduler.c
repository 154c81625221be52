/* scheduler.c - which stream goes next. */
#include <string.h>
#include <time.h>

#include "inside.h"

/* ---- Chance ------------------------------------------------------------------------------------- */

uint64_t sim_random(sim_device *device, uint64_t below) {
  uint64_t z = device->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % below;
}

bool sim_chance(sim_device *device, uint64_t n) { return n != 0 && sim_random(device, n) == 0; }

/* ---- Streams with something in flight ----------------------------------------------------------- */

void sim_activate(sim_stream *stream) {
  sim_device *device = stream->device;
  if (stream->is_active) return;
  stream->is_active = true;
  stream->next_active = NULL;
  stream->previous_active = device->last_active;
  if (device->last_active)
    device->last_active->next_active = stream;
  else
    device->active = stream;
  device->last_active = stream;
}

void sim_deactivate(sim_stream *stream) {
  sim_device *device = stream->device;
  if (!stream->is_active) return;
  stream->is_active = false;
  if (stream->next_active)
    stream->next_active->previous_active = stream->previous_active;
  else
    device->last_active = stream->previous_active;
  if (stream->previous_active)
    stream->previous_active->next_active = stream->next_active;
  else
    device->active = stream->next_active;
}

/* Whoever sees the value sees the failure. */
static void show(sim_stream *stream, uint64_t value) {
  atomic_store(&stream->seen, value);
  if (value == stream->submitted) sim_deactivate(stream);
  pthread_cond_broadcast(&stream->device->changed);
}

static void note_times(sim_stream *stream, uint64_t value, uint64_t begin_ns, uint64_t end_ns) {
  sim_task_at(stream, value)->end_ns = end_ns;
  if (stream->times) stream->times[value % SIM_TIMES] = (sim_times){begin_ns, end_ns};
}

/* ---- Failures ----------------------------------------------------------------------------------- */

/* From its next value on. One that is being run now is that value. */
static void fail_one(sim_stream *stream, sim_result result, int32_t code, const char *text) {
  if (stream->failure.value != 0) return;
  stream->failure = (sim_failure){.value = stream->done + 1, .result = result, .code = code};
  strncpy(stream->failure.text, text, sizeof stream->failure.text - 1);
  atomic_store(&stream->failed, result);
}

enum { DOMAIN_DEVICE = 3 };

void sim_fail(sim_stream *stream, sim_result result, int32_t code, const char *text) {
  sim_device *device = stream->device;
  fail_one(stream, result, code, text);
  for (sim_stream *other = device->streams; other; other = other->next)
    if (device->settings.domain == DOMAIN_DEVICE || result == SIM_LOST) fail_one(other, result, code, text);
  pthread_cond_broadcast(&device->changed);
}

/* ---- Running ------------------------------------------------------------------------------------ */

static bool has_failed(const sim_stream *stream) { return stream->failure.value != 0; }

/* After a failure packets pass without being run, held or not; but no value passes a wait before its time, so that what is
 * complete means that all it waited for is. */
static bool can_run(const sim_stream *stream) {
  if (stream->is_busy || stream->done == stream->submitted) return false;
  if (stream->done + 1 >= stream->hold_at && !has_failed(stream)) return false;
  const sim_packet *p = &sim_task_at(stream, stream->done + 1)->packet;
  return p->op != SIM_WAIT || p->stream->done >= p->value;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* A microsecond, and one for each 16 KiB that are moved; with a seed up to twice that. */
static uint64_t duration(sim_device *device, const sim_packet *p) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < p->use_count; i++) bytes += p->uses[i].size;
  uint64_t ns = 1000 + bytes / 16;
  return device->settings.seed == 0 ? ns : ns + sim_random(device, ns);
}

/* Old values' ends are overwritten; they are earlier than any that is kept. */
static uint64_t end_of(const sim_stream *stream, uint64_t value) {
  bool is_kept = value + stream->device->capacity > stream->submitted;
  return is_kept && value != 0 ? sim_task_at(stream, value)->end_ns : 0;
}

/* A wait is over when the value that it is for is. */
static void advance(sim_stream *stream, uint64_t value) {
  sim_device *device = stream->device;
  const sim_task *task = sim_task_at(stream, value);
  const sim_packet *p = &task->packet;
  uint64_t begin = later(stream->now_ns, task->arrival_ns);
  stream->now_ns = p->op == SIM_WAIT ? later(begin, end_of(p->stream, p->value)) : begin + duration(device, p);
  note_times(stream, value, begin, stream->now_ns);
  device->now_ns = later(device->now_ns, stream->now_ns);
}

static bool must_fail(sim_stream *stream, uint64_t value) {
  sim_device *device = stream->device;
  if (stream->ordered.value == value) return true;
  if (!sim_chance(device, device->settings.fail)) return false;
  stream->ordered = (sim_failure){.value = value, .code = 13, .text = "the simulated device failed by chance"};
  return true;
}

static void run(sim_stream *stream) {
  sim_device *device = stream->device;
  uint64_t value = stream->done + 1;
  sim_task *task = sim_task_at(stream, value);
  bool passes = has_failed(stream), fails = !passes && must_fail(stream, value);
  stream->is_busy = true;
  pthread_mutex_unlock(&device->lock);
  if (fails)
    sim_scribble(&task->packet);
  else if (!passes)
    sim_run(&task->packet);
  pthread_mutex_lock(&device->lock);
  stream->is_busy = false;
  if (fails) sim_fail(stream, SIM_FAILED, stream->ordered.code, stream->ordered.text);
  if (task->packet.op == SIM_WAIT) task->packet.stream->waiters--;
  advance(stream, value);
  stream->done = value;
  if (device->settings.late == 0 || device->settings.seed == 0)
    show(stream, value);
  else
    pthread_cond_broadcast(&device->changed);
}

/* ---- Choice ------------------------------------------------------------------------------------- */

/* In the order of arrival. */
static sim_stream *first_to_arrive(sim_device *device) {
  sim_stream *first = NULL;
  uint64_t arrival = UINT64_MAX;
  for (sim_stream *s = device->active; s; s = s->next_active) {
    if (!can_run(s) || sim_task_at(s, s->done + 1)->arrival >= arrival) continue;
    arrival = sim_task_at(s, s->done + 1)->arrival;
    first = s;
  }
  return first;
}

static bool hides(const sim_stream *stream) { return atomic_load(&stream->seen) < stream->done && !stream->is_busy; }

/* What a step may do: run the next packet of a stream that is awake, or show what a stream has completed. */
static uint64_t count_choices(const sim_device *device) {
  uint64_t count = 0;
  for (const sim_stream *s = device->active; s; s = s->next_active)
    count += (uint64_t)(can_run(s) && s->asleep_until <= device->steps) + hides(s);
  return count;
}

/* Wakes the one that would wake first. False: there is none. */
static bool wake_one(sim_device *device) {
  sim_stream *first = NULL;
  for (sim_stream *s = device->active; s; s = s->next_active)
    if (can_run(s) && (!first || s->asleep_until < first->asleep_until)) first = s;
  if (first) first->asleep_until = 0;
  return first != NULL;
}

static void fall_asleep(sim_stream *stream) {
  sim_device *device = stream->device;
  if (device->settings.lag != 0 && sim_chance(device, 4))
    stream->asleep_until = device->steps + 1 + sim_random(device, device->settings.lag);
}

static void choose(sim_device *device, uint64_t choice) {
  for (sim_stream *s = device->active; s; s = s->next_active) {
    if (can_run(s) && s->asleep_until <= device->steps && choice-- == 0) {
      fall_asleep(s);
      run(s);
      return;
    }
    if (hides(s) && choice-- == 0) {
      show(s, atomic_load(&s->seen) + 1 + sim_random(device, s->done - atomic_load(&s->seen)));
      return;
    }
  }
}

static bool step_by_seed(sim_device *device) {
  uint64_t choices = count_choices(device);
  if (choices == 0 && wake_one(device)) choices = count_choices(device);
  if (choices == 0) return false;
  device->steps++;
  choose(device, sim_random(device, choices));
  return true;
}

static bool step_in_order(sim_device *device) {
  sim_stream *stream = first_to_arrive(device);
  if (!stream) return false;
  device->steps++;
  run(stream);
  return true;
}

bool sim_step(sim_device *device) { return device->settings.seed == 0 ? step_in_order(device) : step_by_seed(device); }

/* ---- Who makes the steps ------------------------------------------------------------------------ */

static void pause_a_while(sim_device *device) {
  uint64_t ns = device->settings.delay_ns == 0 ? 0 : sim_random(device, device->settings.delay_ns);
  if (ns == 0) return;
  pthread_mutex_unlock(&device->lock);
  const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  nanosleep(&pause, NULL);
  pthread_mutex_lock(&device->lock);
}

static void *work(void *given) {
  sim_device *device = given;
  pthread_mutex_lock(&device->lock);
  while (!device->ends) {
    if (sim_step(device))
      pause_a_while(device);
    else if (!device->ends)
      pthread_cond_wait(&device->changed, &device->lock);
  }
  pthread_mutex_unlock(&device->lock);
  return NULL;
}

sim_result sim_scheduler_start(sim_device *device) {
  if (device->has_thread || device->settings.host != 0) return SIM_OK;
  if (pthread_create(&device->thread, NULL, work, device) != 0) return SIM_NO_THREAD;
  device->has_thread = true;
  return SIM_OK;
}

void sim_scheduler_stop(sim_device *device) {
  if (!device->has_thread) return;
  pthread_mutex_lock(&device->lock);
  device->ends = true;
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  pthread_join(device->thread, NULL);
}

enum { STEPS_A_SUBMISSION = 4 };

void sim_scheduler_kick(sim_device *device) {
  pthread_cond_broadcast(&device->changed);
  if (device->has_thread) return;
  uint64_t steps = sim_random(device, STEPS_A_SUBMISSION);
  while (steps > 0 && sim_step(device)) steps--;
}
