/* suite_timed.c - timed queues: device times of points. */
#include <string.h>

#include "cts.h"

static qn_queue timed_queue(cts *c) { return cts_make_queue(CTS_HERE, c, c->device, QN_QUEUE_TIMED); }

static int64_t elapsed(const qn_point *a, const qn_point *b) {
  int64_t ns = 0;
  CTS_OK(qn_point_elapsed(a, b, &ns));
  return ns;
}

static void time_goes_on(cts *c) {
  uint64_t count = cts_count(c, 2000, 65000); /* a queue remembers as many */
  qn_queue queue = timed_queue(c);
  qn_buffer buffer = cts_buffer(c, 5000);
  qn_point *points = cts_alloc(c, count * sizeof *points);
  for (uint64_t i = 0; i < count; i++) points[i] = cts_fill(queue, buffer, (unsigned char)i);
  cts_finish(queue);
  int64_t sum = 0;
  for (uint64_t i = 1; i < count; i++) {
    int64_t ns = elapsed(&points[i - 1], &points[i]);
    CTS_TRUE(ns >= 0, "time on a queue doesn't go back: %lld ns from point %llu to the next", (long long)ns,
             (unsigned long long)i - 1);
    CTS_SAME("the time from b to a and from a to b", elapsed(&points[i], &points[i - 1]), -ns);
    sum += ns;
  }
  CTS_SAME("the sum of the times between points, and the time from the first to the last", sum,
           elapsed(&points[0], &points[count - 1]));
  CTS_SAME("the time from a point to itself", elapsed(&points[5], &points[5]), 0);
}

/* Between the host's time around it and a part of it: device times, not guesses. */
static void time_of_long_work(cts *c) {
  qn_queue queue = timed_queue(c);
  qn_buffer buffer = cts_buffer(c, 64);
  qn_point before = cts_fill(queue, buffer, 1);
  cts_wait(&before);
  uint64_t start = cts_now_ns();
  cts_busy(c, queue, 100 * CTS_MILLISECOND);
  qn_point after = cts_fill(queue, buffer, 2);
  cts_wait(&after);
  int64_t host = (int64_t)(cts_now_ns() - start), device = elapsed(&before, &after);
  CTS_TRUE(device >= 0, "long work takes time");
  if (c->info.type == QN_DEVICE_SIMULATED) return; /* it has a time of its own */
  CTS_TRUE(device <= host + host / 10 + (int64_t)CTS_MILLISECOND,
           "the device's time, %lld ns, is within the host's around it, %lld ns", (long long)device, (long long)host);
  CTS_TRUE(device >= host / 20, "the device's time, %lld ns, is a fair part of the host's around it, %lld ns",
           (long long)device, (long long)host);
}

static void times_across_queues(cts *c) {
  qn_queue one = timed_queue(c), two = timed_queue(c);
  qn_buffer buffer = cts_buffer(c, 100000);
  for (int i = 0; i < 30; i++) {
    qn_point a = cts_fill(one, buffer, 1), b = cts_fill(two, buffer, 2); /* after it: they share a buffer */
    cts_wait(&b);
    cts_wait(&a);
    CTS_TRUE(elapsed(&a, &b) >= 0, "work on another queue that had to wait is complete later");
  }
}

static void times_of_kernels(cts *c) {
  enum { COUNT = 32 };
  qn_queue queue = timed_queue(c);
  qn_kernel kernel =
      cts_kernel(c, cts_program(c, "kernel void add(global int *x) { x[get_global_id(0)] += 1; }"), "add");
  qn_buffer buffer = cts_buffer(c, 4000);
  qn_point points[COUNT];
  cts_fill(queue, buffer, 0);
  for (int i = 0; i < COUNT; i++) CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1000), QN_ARGS(buffer), &points[i]));
  cts_finish(queue);
  for (int i = 1; i < COUNT; i++) CTS_TRUE(elapsed(&points[i - 1], &points[i]) >= 0, "time on a queue doesn't go back");
}

static void not_yet(cts *c) {
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) {
    qn_queue queue = timed_queue(c);
    qn_buffer buffer = cts_buffer(c, 64);
    int64_t between = 0;
    qn_point first = cts_fill(queue, buffer, 1);
    cts_wait(&first);
    cts_busy(c, queue, ns);
    qn_point last = cts_fill(queue, buffer, 2);
    qn_status status = qn_point_elapsed(&first, &last, &between);
    cts_wait(&last);
    if (status == QN_OK) continue;
    CTS_SAME("the status of qn_point_elapsed before its points are complete", status, QN_NOT_READY);
    return;
  }
  CTS_TRUE(false, "qn_point_elapsed gives QN_NOT_READY before its points are complete");
}

static void queues_without_times(cts *c) {
  qn_queue timed = timed_queue(c), plain = cts_queue(c);
  qn_point a = cts_fill(timed, cts_buffer(c, 64), 1), b = cts_fill(plain, cts_buffer(c, 64), 1);
  int64_t ns = 12345;
  cts_wait(&a);
  cts_wait(&b);
  CTS_GIVES(qn_point_elapsed(&a, &b, &ns), QN_ERROR_UNSUPPORTED);
  CTS_SAME("the result of a call that failed", ns, 12345);
  cts_drop(c, timed);
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  CTS_GIVES(qn_point_elapsed(&a, &a, &ns), QN_ERROR_INVALID_ARGUMENT);
}

#define TIMES                                                                                                   \
  "quern.h: 'Device nanoseconds from the completion of a to that of b, negative when b was first'; adapter.h: " \
  "'Device time at a value's completion, nanoseconds of the device's clock, which all its queues share.'"

static const cts_test tests[] = {
    {"time_goes_on_from_point_to_point", time_goes_on, QN_FEATURE_TIMED_QUEUES, 0, TIMES},
    {"long_work_takes_long", time_of_long_work, QN_FEATURE_TIMED_QUEUES, 0, TIMES},
    {"queues_of_a_device_have_one_clock", times_across_queues, QN_FEATURE_TIMED_QUEUES, 0, TIMES},
    {"launches_have_times", times_of_kernels, QN_FEATURE_TIMED_QUEUES | QN_FEATURE_KERNELS, 0, TIMES},
    {"a_point_that_is_not_complete_has_no_time", not_yet, QN_FEATURE_TIMED_QUEUES, 0, TIMES},
    {"queues_without_times_are_refused", queues_without_times, QN_FEATURE_TIMED_QUEUES, 0, TIMES},
};

CTS_SUITE(timed, "timed queues: device times of points");
