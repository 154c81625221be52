/* control.c - the functions of the control table. */
#include <string.h>

#include "inside.h"

/* Those that are taken when a device or the driver is opened keep their value. */
static void keep_fixed(sim_settings *settings, const sim_settings *old) {
  settings->host = old->host;
  settings->capacity = old->capacity;
  settings->reuse = old->reuse;
  settings->check = old->check;
  settings->kernels = old->kernels;
}

static int32_t set(void *given, const char *text) {
  sim_device *device = given;
  char wrong[64];
  pthread_mutex_lock(&device->lock);
  sim_settings settings = device->settings;
  bool is_good = sim_settings_read(&settings, text, wrong);
  if (is_good) {
    if (settings.seed != device->settings.seed) device->random = settings.seed;
    keep_fixed(&settings, &device->settings);
    device->settings = settings;
    pthread_cond_broadcast(&device->changed);
  }
  pthread_mutex_unlock(&device->lock);
  return is_good ? 0 : -1;
}

static void set_hold(void *given, uint64_t queue, uint64_t value) {
  sim_device *device = given;
  pthread_mutex_lock(&device->lock);
  if (queue == 0) device->hold_at = value;
  for (sim_stream *s = device->streams; s; s = s->next)
    if (queue == 0 || s->name == queue) s->hold_at = value;
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
}

static void go(void *given, uint64_t queue) { set_hold(given, queue, UINT64_MAX); }

static void fail_at(void *given, uint64_t queue, uint64_t value, int32_t code, const char *text) {
  sim_device *device = given;
  pthread_mutex_lock(&device->lock);
  for (sim_stream *s = device->streams; s; s = s->next) {
    if (queue != 0 && s->name != queue) continue;
    s->ordered = (sim_failure){.value = value, .code = code};
    strncpy(s->ordered.text, text, sizeof s->ordered.text - 1);
  }
  pthread_mutex_unlock(&device->lock);
}

static void lose(void *given, const char *text) {
  sim_device *device = given;
  pthread_mutex_lock(&device->lock);
  device->is_lost = true;
  strncpy(device->lost_text, text, sizeof device->lost_text - 1);
  if (device->streams) sim_fail(device->streams, SIM_LOST, 0, device->lost_text);
  pthread_mutex_unlock(&device->lock);
}

static void reject(void *given, uint64_t queue, uint32_t count) {
  sim_device *device = given;
  pthread_mutex_lock(&device->lock);
  if (queue == 0) device->reject = count;
  for (sim_stream *s = device->streams; s; s = s->next)
    if (s->name == queue) s->reject = count;
  pthread_mutex_unlock(&device->lock);
}

static uint64_t step(void *given, uint64_t count) {
  sim_device *device = given;
  uint64_t made = 0;
  pthread_mutex_lock(&device->lock);
  while (made < count && sim_step(device)) made++;
  pthread_mutex_unlock(&device->lock);
  return made;
}

static void count(void *given, null_counts *out_counts) {
  sim_device *device = given;
  pthread_mutex_lock(&device->lock);
  *out_counts = device->counts;
  out_counts->steps = device->steps;
  out_counts->memory_bytes = device->memory_used;
  out_counts->ring_bytes = device->counts.queues * device->capacity * sizeof(sim_task);
  pthread_mutex_unlock(&device->lock);
  out_counts->violations = sim_violation_count();
}

void sim_control_init(sim_device *device) {
  device->control = (null_control){.struct_size = sizeof device->control,
                                   .device = device,
                                   .set = set,
                                   .hold = set_hold,
                                   .go = go,
                                   .fail_at = fail_at,
                                   .lose = lose,
                                   .reject = reject,
                                   .step = step,
                                   .count = count,
                                   .violation = sim_violation_text,
                                   .forget_violations = sim_violations_forget};
}
