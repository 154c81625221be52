#include "control.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "objects.h"

const null_control *cts_control_of(qn_device device, const qn_device_info *info) {
  uint64_t address = 0;
  if (info->type != QN_DEVICE_SIMULATED || strncmp(info->adapter, "null", 4) != 0) return NULL;
  if (qn_native_handle(device, NULL_CONTROL, &address) != QN_OK) return NULL;
  const null_control *control = (const null_control *)(uintptr_t)address;
  return control && control->struct_size == sizeof *control ? control : NULL;
}

uint64_t cts_control_features(qn_device device, const qn_device_info *info) {
  if (cts_control_of(device, info)) return CTS_NEEDS_CONTROL | CTS_NEEDS_FAULTS;
  return info->type == QN_DEVICE_CHECK ? CTS_NEEDS_FAULTS : 0;
}

const null_control *cts_control(cts *c, qn_device device) {
  const null_control *control = cts_control_of(device, &c->info);
  if (!control)
    cts_fail(CTS_HERE, QN_ERROR_UNSUPPORTED, "a device that can be told to hold, fail and lose work", "it can't");
  return control;
}

qn_device cts_fragile_device(cts *c, qn_runtime *out_runtime) {
  qn_runtime runtime = cts_runtime(c);
  if (out_runtime) *out_runtime = runtime;
  return cts_device_in(c, runtime);
}

/* ---- Faults -------------------------------------------------------------------------------------- */

static uint64_t next_value(qn_queue queue, uint64_t *out_id) {
  qn_point last = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  *out_id = last.queue;
  return last.value + 1;
}

static qn_point fault_by_control(cts *c, const null_control *control, qn_device device, qn_queue queue) {
  uint64_t id = 0, value = next_value(queue, &id);
  control->fail_at(control->device, id, value, 42, "smoke");
  return cts_fill(queue, cts_buffer_on(c, device, 64), 1);
}

/* The interpreter sees the store past the buffer's end. */
static qn_point fault_by_kernel(cts *c, qn_device device, qn_queue queue) {
  static const char source[] = "kernel void wild(global int *x, int at) { x[at] = 1; }";
  qn_point point = {0, 0};
  qn_kernel wild = cts_kernel(c, cts_make_program(CTS_HERE, c, device, source), "wild");
  CTS_OK(qn_launch(queue, wild, QN_RANGE_1D(1), QN_ARGS(cts_buffer_on(c, device, 400), 100), &point));
  return point;
}

qn_point cts_fault(cts *c, qn_device device, qn_queue queue) {
  const null_control *control = cts_control_of(device, &c->info);
  if (control) return fault_by_control(c, control, device, queue);
  if (c->info.type == QN_DEVICE_CHECK) return fault_by_kernel(c, device, queue);
  cts_fail(CTS_HERE, QN_ERROR_UNSUPPORTED, "a device that can be told to fail", "it can't");
}

/* ---- Holds --------------------------------------------------------------------------------------- */

typedef struct timer {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool ends;
  struct timespec until;
  const null_control *control;
  uint64_t queue;
} timer;

static void *run_timer(void *user) {
  timer *t = user;
  int failed = 0;
  pthread_mutex_lock(&t->lock);
  while (!t->ends && failed == 0) failed = pthread_cond_clockwait(&t->changed, &t->lock, CLOCK_MONOTONIC, &t->until);
  pthread_mutex_unlock(&t->lock);
  t->control->go(t->control->device, t->queue);
  return NULL;
}

static void end_timer(void *user) {
  timer *t = user;
  pthread_mutex_lock(&t->lock);
  t->ends = true;
  pthread_cond_signal(&t->changed);
  pthread_mutex_unlock(&t->lock);
  pthread_join(t->thread, NULL);
  pthread_cond_destroy(&t->changed);
  pthread_mutex_destroy(&t->lock);
  free(t);
}

void cts_go_later(cts *c, const null_control *control, uint64_t queue, uint64_t ns) {
  timer *t = calloc(1, sizeof *t);
  if (!t) cts_fail_format(CTS_HERE, "there is none", "host memory for a timer");
  uint64_t until = cts_now_ns() + ns;
  t->control = control;
  t->queue = queue;
  t->until = (struct timespec){.tv_sec = (time_t)(until / CTS_SECOND), .tv_nsec = (long)(until % CTS_SECOND)};
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->changed, NULL);
  if (pthread_create(&t->thread, NULL, run_timer, t) != 0) {
    free(t);
    cts_fail_format(CTS_HERE, "pthread_create failed", "a thread for a timer");
  }
  cts_at_end(c, end_timer, t);
}
