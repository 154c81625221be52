/* steps.c - what many tests do: time, random numbers, transfers, and work that takes a while. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "cts.h"

uint64_t cts_patience_ns = 60 * CTS_SECOND;

uint64_t cts_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * CTS_SECOND + (uint64_t)t.tv_nsec;
}

void cts_sleep_ns(uint64_t ns) {
  struct timespec t = {.tv_sec = (time_t)(ns / CTS_SECOND), .tv_nsec = (long)(ns % CTS_SECOND)};
  while (nanosleep(&t, &t) != 0) continue;
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

uint64_t cts_random_of(uint64_t *state, uint64_t below) { return below ? next(state) % below : 0; }

void cts_random_bytes(uint64_t *state, void *out, uint64_t size) {
  unsigned char *bytes = out;
  for (uint64_t i = 0; i < size; i += 8) {
    uint64_t word = next(state);
    memcpy(bytes + i, &word, (size_t)(size - i < 8 ? size - i : 8));
  }
}

/* ---- Transfers ------------------------------------------------------------------------------------ */

qn_point cts_do_fill(const char *file, int line, qn_queue queue, qn_buffer buffer, unsigned char byte) {
  qn_point point = {0, 0};
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  cts_at(line);
  cts_expect_status(file, line, "qn_fill", qn_fill(queue, &view, &byte, 1, &point), QN_OK, NULL);
  return point;
}

static void wait(const char *file, int line, const qn_point *point) {
  cts_expect_status(file, line, "qn_point_wait", qn_point_wait(point, CTS_PATIENCE), QN_OK, NULL);
}

void cts_do_put(const char *file, int line, qn_queue queue, qn_buffer buffer, const void *data, uint64_t size) {
  qn_point point = {0, 0};
  const qn_view view = cts_view(buffer, 0, size);
  cts_at(line);
  cts_expect_status(file, line, "qn_write", qn_write(queue, &view, data, &point), QN_OK, NULL);
  wait(file, line, &point);
}

void cts_do_get(const char *file, int line, qn_queue queue, qn_buffer buffer, void *data, uint64_t size) {
  qn_point point = {0, 0};
  const qn_view view = cts_view(buffer, 0, size);
  cts_at(line);
  cts_expect_status(file, line, "qn_read", qn_read(queue, &view, data, &point), QN_OK, NULL);
  wait(file, line, &point);
}

qn_device_statistics cts_statistics(qn_device device) {
  qn_device_statistics s = QN_INIT(qn_device_statistics);
  CTS_OK(qn_device_statistics_get(device, &s));
  return s;
}

uint64_t cts_queue_id(qn_queue queue) {
  qn_point last = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  return last.queue;
}

/* ---- Work that takes a while ----------------------------------------------------------------------- */

static const char spin_source[] =
    "kernel void spin(global uint *out, uint turns) {\n"
    "  uint x = turns;\n"
    "  for (uint i = 0; i < turns; i++) x = x * 1664525u + 1013904223u;\n"
    "  out[0] = x;\n"
    "}\n";

/* Launches a loop of one work-item. */
static void spin(qn_queue queue, qn_kernel kernel, qn_buffer out, uint32_t turns) {
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(out, turns), NULL));
}

/* No more launches than any queue takes at once. */
enum { LAUNCHES = 32 };

/* The shortest of some tries: a longer one was interrupted. */
static uint64_t time_of(qn_queue trial, qn_kernel kernel, qn_buffer out, uint32_t turns) {
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    uint64_t start = cts_now_ns();
    spin(trial, kernel, out, turns);
    cts_finish(trial);
    uint64_t took = cts_now_ns() - start;
    if (took < shortest) shortest = took;
  }
  return shortest;
}

/* How many turns take so long: tried with more and more until the time can be told. */
static uint32_t turns_of(qn_queue trial, qn_kernel kernel, qn_buffer out, uint64_t ns) {
  uint64_t turns = 1000, took = 0;
  spin(trial, kernel, out, (uint32_t)turns);
  cts_finish(trial);
  for (;; turns *= 4) {
    took = time_of(trial, kernel, out, (uint32_t)turns);
    if (took >= 3 * CTS_MILLISECOND || turns >= UINT32_MAX / 4) break;
  }
  double wanted = (double)turns * (double)ns / (double)(took ? took : 1);
  return wanted<1 ? 1 : wanted>(double)(UINT32_MAX - 1) ? UINT32_MAX - 1 : (uint32_t)wanted;
}

static void busy_with_kernels(cts *c, qn_queue queue, uint64_t ns) {
  qn_kernel kernel = cts_kernel(c, cts_program(c, spin_source), "spin");
  qn_buffer trial_out = cts_buffer(c, sizeof(uint32_t)), out = cts_buffer(c, sizeof(uint32_t));
  uint32_t turns = turns_of(cts_queue(c), kernel, trial_out, ns / LAUNCHES);
  for (int i = 0; i < LAUNCHES; i++) spin(queue, kernel, out, turns);
}

/* For a device without kernels: fills. */
static void busy_with_fills(cts *c, qn_queue queue, uint64_t ns) {
  qn_buffer buffer = cts_buffer(c, 16 << 20);
  qn_queue trial = cts_queue(c);
  cts_fill(trial, buffer, 0);
  cts_finish(trial);
  uint64_t start = cts_now_ns();
  cts_fill(trial, buffer, 1);
  cts_finish(trial);
  uint64_t took = cts_now_ns() - start;
  uint64_t fills = ns / (took ? took : 1) + 1;
  for (uint64_t i = 0; i < fills; i++) cts_fill(queue, buffer, 2);
}

/* The simulated device only has to be told. */
static void busy_by_control(cts *c, const null_control *control, qn_queue queue, uint64_t ns) {
  qn_point last = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  control->hold(control->device, last.queue, last.value + 1);
  cts_go_later(c, control, last.queue, ns);
  cts_fill(queue, cts_buffer(c, 64), 1);
}

void cts_busy(cts *c, qn_queue queue, uint64_t ns) {
  const null_control *control = cts_control_of(c->device, &c->info);
  if (control)
    busy_by_control(c, control, queue, ns);
  else if (cts_has(c, QN_FEATURE_KERNELS))
    busy_with_kernels(c, queue, ns);
  else
    busy_with_fills(c, queue, ns);
}
