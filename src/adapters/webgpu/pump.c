/* pump.c - see stream.h. */
#include <time.h>

#include "device.h"

/* Commands that come quickly one after the other go together; each flush takes the lock from who launches. */
#define MOMENT_NS 100000
/* A wait is cut, so that the thread sees when it should end. */
#define LIMIT_NS UINT64_C(50000000)

static bool has_gathered(const qn_adapter_device *device) {
  const wg_stream *s = &device->stream;
  return s->commands > 0 || s->flights[(s->first + s->count) % WG_FLIGHTS].step_count > 0;
}

/* Under the lock, which is let go meanwhile. */
static void wait_for_oldest(qn_adapter_device *device) {
  uint64_t future;
  if (!wg_stream_oldest(device, &future)) return;
  pthread_mutex_unlock(&device->lock);
  (void)!wg_stream_wait(device, future, wg_deadline(LIMIT_NS));
  pthread_mutex_lock(&device->lock);
  wg_stream_look(device);
}

/* Under the lock, which is let go meanwhile. */
static void wait_a_moment(qn_adapter_device *device) {
  const struct timespec moment = {0, MOMENT_NS};
  pthread_mutex_unlock(&device->lock);
  (void)nanosleep(&moment, NULL);
  pthread_mutex_lock(&device->lock);
}

static void *run(void *user) {
  qn_adapter_device *device = user;
  wg_pump *pump = &device->pump;
  pthread_mutex_lock(&device->lock);
  while (!pump->should_end) {
    if (has_gathered(device) && wg_stream_phase(device) == WG_RUNNING) {
      wait_a_moment(device);
      if (device->stream.count >= WG_AHEAD) wait_for_oldest(device);
      if (device->stream.count < WG_AHEAD) wg_stream_flush(device);
    } else {
      pump->is_awake = false;
      device->stream.run = 0;
      pthread_cond_wait(&pump->wake, &device->lock);
    }
  }
  pthread_mutex_unlock(&device->lock);
  return NULL;
}

void wg_pump_wake(qn_adapter_device *device) {
  wg_pump *pump = &device->pump;
  if (pump->is_awake) return;
  if (!pump->is_started) pump->is_started = pthread_create(&pump->thread, NULL, run, device) == 0;
  if (!pump->is_started) { /* without a thread nothing gathers */
    wg_stream_flush(device);
    return;
  }
  pump->is_awake = true;
  pthread_cond_signal(&pump->wake);
}

void wg_pump_end(qn_adapter_device *device) {
  wg_pump *pump = &device->pump;
  if (!pump->is_started) return;
  pthread_mutex_lock(&device->lock);
  pump->should_end = true;
  pthread_cond_signal(&pump->wake);
  pthread_mutex_unlock(&device->lock);
  (void)pthread_join(pump->thread, NULL);
}
