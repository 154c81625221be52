/* suite_points.c - points: values that rise, complete and stay so. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cts.h"

static void values_rise_by_one(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer a = cts_buffer(c, 64), b = cts_buffer(c, 64);
  unsigned char host[64] = {0};
  const qn_view va = cts_view(a, 0, QN_WHOLE), vb = cts_view(b, 0, QN_WHOLE);
  qn_point last = {0, 0}, point = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  CTS_SAME("the value of a new queue", last.value, 0);
  CTS_TRUE(last.queue != 0, "the id of a queue is not 0");
  for (uint64_t i = 0; i < 200; i += 4) {
    CTS_OK(qn_fill(queue, &va, "f", 1, &point));
    CTS_SAME("the value of a fill", point.value, i + 1);
    CTS_OK(qn_copy(queue, &vb, &va, &point));
    CTS_SAME("the value of a copy", point.value, i + 2);
    CTS_OK(qn_read(queue, &vb, host, &point));
    CTS_SAME("the value of a read", point.value, i + 3);
    CTS_OK(qn_write(queue, &vb, host, NULL)); /* no point is asked for, but a value is taken */
    CTS_SAME("the id of the queue in a point", point.queue, last.queue);
  }
  CTS_OK(qn_queue_last(queue, &point));
  CTS_SAME("the last value", point.value, 200);
  cts_finish(queue);
}

static void launches_take_one_value(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, "kernel void nothing(void) {}"), "nothing");
  for (uint64_t i = 1; i <= 100; i++) {
    qn_point point = {0, 0};
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(100), NULL, 0, &point));
    CTS_SAME("the value of a launch", point.value, i);
  }
}

static void complete_never_early(cts *c) {
  enum { SIZE = 1 << 20 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  for (int round = 1; round <= 100; round++) {
    qn_point done = {0, 0};
    cts_fill(queue, buffer, (unsigned char)round);
    CTS_OK(qn_read(queue, &view, out, &done));
    qn_status status = QN_NOT_READY;
    uint64_t deadline = cts_now_ns() + CTS_PATIENCE;
    while (status == QN_NOT_READY && cts_now_ns() < deadline) status = qn_point_wait(&done, QN_POLL);
    CTS_SAME("the status of a point that was polled for a minute at most", status, QN_OK);
    CTS_FILLED("a read's target when its point is complete", out, (unsigned char)round, SIZE);
  }
}

static void polling_needs_no_wait(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_point done = cts_fill(queue, cts_buffer(c, 4096), 1);
  uint64_t deadline = cts_now_ns() + CTS_PATIENCE;
  while (qn_point_wait(&done, QN_POLL) == QN_NOT_READY && cts_now_ns() < deadline) cts_sleep_ns(CTS_MILLISECOND);
  CTS_OK(qn_point_wait(&done, QN_POLL)); /* by itself: nobody waited */
}

static void busy_is_not_ready(cts *c) {
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) {
    qn_queue queue = cts_queue(c);
    cts_busy(c, queue, ns);
    qn_point done = cts_fill(queue, cts_buffer(c, 64), 1);
    qn_status status = qn_point_wait(&done, QN_POLL), finish = qn_queue_finish(queue, QN_POLL);
    cts_wait(&done);
    if (status != QN_NOT_READY || finish != QN_NOT_READY) continue;
    CTS_OK(qn_point_wait(&done, QN_POLL));
    return;
  }
  CTS_TRUE(false, "a poll of a busy queue gives QN_NOT_READY: submission is asynchronous");
}

static void complete_for_ever(cts *c) {
  enum { COUNT = 20 };
  qn_point points[3 * COUNT];
  qn_runtime runtime = cts_runtime(c);
  qn_device device = cts_device_in(c, runtime);
  qn_buffer buffer = cts_buffer_on(c, device, 100000);
  qn_queue kept = cts_queue_on(c, device);
  for (int i = 0; i < COUNT; i++) {
    qn_queue queue = cts_queue_on(c, device);
    points[3 * i] = cts_fill(queue, buffer, 1);
    points[3 * i + 1] = cts_fill(queue, buffer, 2);
    points[3 * i + 2] = cts_fill(kept, buffer, 3);
    cts_drop(c, queue);
  }
  CTS_OK(qn_device_drain(device, CTS_PATIENCE));
  cts_finish(kept);
  for (int i = 0; i < 3 * COUNT; i++) CTS_OK(qn_point_wait(&points[i], QN_POLL));
  cts_close(c, runtime);
  for (int i = 0; i < 3 * COUNT; i++) CTS_OK(qn_point_wait(&points[i], QN_POLL));
  for (int i = 0; i < 3 * COUNT; i++) CTS_OK(qn_queue_wait(cts_queue(c), &points[i], 1));
}

static void ids_never_come_back(cts *c) {
  enum { QUEUES = 300 };
  uint64_t ids[QUEUES];
  for (int i = 0; i < QUEUES; i++) {
    qn_queue queue = cts_queue(c);
    ids[i] = cts_queue_id(queue);
    for (int j = 0; j < i; j++) CTS_TRUE(ids[i] != ids[j], "queue %d has another id than queue %d", i, j);
    if (i % 3) cts_drop(c, queue);
    if (i % 50 == 0) CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  }
}

static void values_not_given_out(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_point last = cts_fill(queue, cts_buffer(c, 64), 1);
  const qn_point wrong[] = {
      {last.queue, 2}, {last.queue, UINT64_MAX}, {0, 1}, {UINT64_MAX, 1}, {last.queue + 1000000, 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CTS_GIVES(qn_point_wait(&wrong[i], CTS_SECOND), QN_ERROR_INVALID_ARGUMENT);
    CTS_GIVES(qn_queue_wait(queue, &wrong[i], 1), QN_ERROR_INVALID_ARGUMENT);
  }
  const qn_point nothing = {0, 0}, start = {last.queue, 0};
  CTS_OK(qn_point_wait(&nothing, QN_POLL));
  CTS_OK(qn_point_wait(&start, QN_POLL));
}

static void earlier_points_first(cts *c) {
  enum { COUNT = 50, SIZE = 300000 };
  qn_queue queue = cts_queue(c);
  qn_point points[COUNT];
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, COUNT * SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  for (int i = 0; i < COUNT; i++) {
    cts_fill(queue, buffer, (unsigned char)i);
    CTS_OK(qn_read(queue, &view, out + i * SIZE, &points[i]));
  }
  for (int i = 0; i < COUNT; i++) {
    cts_wait(&points[i]);
    CTS_FILLED("a read's target, waited for by its point", out + i * SIZE, (unsigned char)i, SIZE);
    for (int j = 0; j <= i; j++) CTS_OK(qn_point_wait(&points[j], QN_POLL)); /* so are all before it */
  }
}

typedef struct shared {
  qn_point points[64];
  unsigned char *out;
} shared;

static void wait_for_all(cts *c, uint32_t index, void *user) {
  shared *s = user;
  (void)c;
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t at = (i * 7 + index * 5) % 64;
    cts_wait(&s->points[at]);
    CTS_FILLED("a read's target, seen by one of several threads that wait", s->out + at * 4096, (unsigned char)at,
               4096);
  }
}

static void many_threads_wait(cts *c) {
  qn_queue queue = cts_queue(c);
  shared s = {.out = cts_alloc(c, 64 * 4096)};
  qn_buffer buffer = cts_buffer(c, 4096);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  cts_busy(c, queue, 5 * CTS_MILLISECOND);
  for (uint32_t i = 0; i < 64; i++) {
    cts_fill(queue, buffer, (unsigned char)i);
    CTS_OK(qn_read(queue, &view, s.out + i * 4096, &s.points[i]));
  }
  cts_threads(c, 6, wait_for_all, &s);
}

#define RISES "adapter.h: 'this command's value on the queue's timeline; rising by one'"
#define NEVER_EARLY "adapter.h: completed: 'every value up to this one is complete (done or failed); never early'"

static const cts_test tests[] = {
    {"values_rise_by_one_a_command", values_rise_by_one, 0, 0, RISES},
    {"a_launch_takes_one_value", launches_take_one_value, QN_FEATURE_KERNELS, 0, RISES},
    {"a_point_is_never_complete_early", complete_never_early, 0, 0, NEVER_EARLY},
    {"a_point_becomes_complete_by_polling_alone", polling_needs_no_wait, 0, 0,
     "quern.h: 'QN_POLL gives QN_NOT_READY instead of waiting'; adapter.h: queue_submit starts what it records"},
    {"a_busy_queue_is_not_ready", busy_is_not_ready, 0, 0,
     "quern.h: 'QN_POLL gives QN_NOT_READY instead of waiting'; adapter.h: queue_submit: 'asynchronously; never runs a "
     "kernel itself'"},
    {"a_point_stays_complete_when_its_queue_device_and_runtime_are_gone", complete_for_ever, 0, 0,
     "quern.h: 'nothing to create, retain or release, and valid for ever'"},
    {"ids_of_queues_never_come_back", ids_never_come_back, 0, 0, "quern.h: 'queue ids are never reused in a process'"},
    {"values_that_were_not_given_out_are_refused", values_not_given_out, 0, 0,
     "quern.h: 'INVALID_ARGUMENT for a value not given out yet'"},
    {"points_are_complete_in_their_order", earlier_points_first, 0, 0, NEVER_EARLY},
    {"many_threads_wait_for_points", many_threads_wait, 0, 0,
     "adapter.h: 'queue_completed, queue_wait and memory_* may be called from any thread at any time.'"},
};

CTS_SUITE(points, "values rise, complete, and stay complete");
