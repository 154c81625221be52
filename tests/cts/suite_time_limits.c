/* suite_time_limits.c - every wait keeps its time limit, and can be made again. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

/* A wait that gave QN_ERROR_TIMEOUT after this long. It may come late on a busy machine, but not early. */
static void check_time(const char *what, uint64_t start_ns, uint64_t limit_ns) {
  uint64_t took = cts_now_ns() - start_ns;
  CTS_TRUE(took + CTS_MILLISECOND >= limit_ns, "%s with a limit of %llu ns waits that long, not %llu ns", what,
           (unsigned long long)limit_ns, (unsigned long long)took);
  CTS_TRUE(took < limit_ns + 10 * CTS_SECOND, "%s with a limit of %llu ns ends soon after it, not after %llu ns", what,
           (unsigned long long)limit_ns, (unsigned long long)took);
}

/* True when the queue was busy for long enough to see the limit. */
static bool times_out(cts *c, const char *what,
                      qn_status (*wait)(cts *c, qn_queue queue, qn_buffer buffer, uint64_t limit_ns), uint64_t busy_ns,
                      uint64_t limit_ns) {
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 4096);
  cts_busy(c, queue, busy_ns);
  qn_point last = cts_fill(queue, buffer, 1);
  uint64_t start = cts_now_ns();
  qn_status status = wait(c, queue, buffer, limit_ns);
  bool seen = status == QN_ERROR_TIMEOUT;
  if (seen) check_time(what, start, limit_ns);
  if (!seen)
    CTS_TRUE(status == QN_OK, "%s gives QN_OK or QN_ERROR_TIMEOUT, not %s: %s", what, qn_status_name(status),
             qn_error_text());
  cts_wait(&last);
  CTS_TRUE(wait(c, queue, buffer, CTS_PATIENCE) == QN_OK, "%s gives QN_OK after it has timed out once: %s", what,
           qn_error_text());
  return seen;
}

static void keeps_its_limit(cts *c, const char *what,
                            qn_status (*wait)(cts *c, qn_queue queue, qn_buffer buffer, uint64_t limit_ns)) {
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4)
    if (times_out(c, what, wait, ns, ns / 10)) return;
  CTS_TRUE(false, "%s gives QN_ERROR_TIMEOUT while the queue is busy", what);
}

static qn_status wait_point(cts *c, qn_queue queue, qn_buffer buffer, uint64_t limit_ns) {
  qn_point last = {0, 0};
  (void)c;
  (void)buffer;
  CTS_OK(qn_queue_last(queue, &last));
  return qn_point_wait(&last, limit_ns);
}

static qn_status finish(cts *c, qn_queue queue, qn_buffer buffer, uint64_t limit_ns) {
  (void)c;
  (void)buffer;
  return qn_queue_finish(queue, limit_ns);
}

static qn_status map(cts *c, qn_queue queue, qn_buffer buffer, uint64_t limit_ns) {
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  void *pointer = NULL;
  (void)c;
  (void)queue;
  qn_status status = qn_buffer_map(&view, QN_MAP_READ, limit_ns, &pointer);
  if (status == QN_OK) CTS_OK(qn_buffer_unmap(buffer, pointer));
  return status;
}

static void points_keep_their_limit(cts *c) { keeps_its_limit(c, "qn_point_wait", wait_point); }
static void finish_keeps_its_limit(cts *c) { keeps_its_limit(c, "qn_queue_finish", finish); }
static void map_keeps_its_limit(cts *c) { keeps_its_limit(c, "qn_buffer_map", map); }

static void drain_keeps_its_limit(cts *c) {
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) {
    qn_device device = cts_device(c);
    qn_queue queue = cts_make_queue(CTS_HERE, c, device, 0);
    qn_buffer buffer = cts_buffer_on(c, device, 64 << 20);
    for (uint64_t i = 0; i < ns / CTS_MILLISECOND; i++) cts_fill(queue, buffer, 1);
    cts_drop(c, buffer);
    cts_drop(c, queue);
    uint64_t start = cts_now_ns();
    qn_status status = qn_device_drain(device, CTS_MILLISECOND);
    if (status == QN_ERROR_TIMEOUT) check_time("qn_device_drain", start, CTS_MILLISECOND);
    CTS_OK(qn_device_drain(device, CTS_PATIENCE));
    if (status == QN_ERROR_TIMEOUT) return;
    CTS_TRUE(status == QN_OK, "qn_device_drain gives QN_OK or QN_ERROR_TIMEOUT, not %s", qn_status_name(status));
  }
  CTS_TRUE(false, "qn_device_drain gives QN_ERROR_TIMEOUT while released objects are in use");
}

static void close_keeps_its_limit(cts *c) {
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) {
    qn_runtime runtime = cts_runtime(c);
    qn_device device = cts_device_in(c, runtime);
    qn_queue queue = cts_queue_on(c, device);
    qn_buffer buffer = cts_buffer_on(c, device, 64 << 20);
    qn_point last = {0, 0};
    for (uint64_t i = 0; i < ns / CTS_MILLISECOND; i++) last = cts_fill(queue, buffer, 1);
    uint64_t start = cts_now_ns();
    qn_status status = qn_runtime_close(runtime, CTS_MILLISECOND);
    if (status == QN_ERROR_TIMEOUT) check_time("qn_runtime_close", start, CTS_MILLISECOND);
    const void *gone[] = {runtime, device, queue, buffer};
    for (int i = 0; i < 4; i++) {
      CTS_GIVES(qn_release(gone[i]), QN_ERROR_INVALID_HANDLE); /* in any case */
      cts_forget(c, gone[i]);
    }
    cts_wait(&last);
    if (status == QN_ERROR_TIMEOUT) return;
    CTS_TRUE(status == QN_OK, "qn_runtime_close gives QN_OK or QN_ERROR_TIMEOUT, not %s", qn_status_name(status));
  }
  CTS_TRUE(false, "qn_runtime_close gives QN_ERROR_TIMEOUT while work is in flight");
}

/* Small fills behind a long command, until there is no room. */
static qn_status fill_up(qn_queue queue, qn_buffer buffer, uint64_t most, uint64_t *out_count) {
  const qn_view view = cts_view(buffer, 0, 1);
  for (*out_count = 0; *out_count < most; ++*out_count) {
    qn_status status = qn_fill(queue, &view, "x", 1, NULL);
    if (status != QN_OK) return status;
  }
  return QN_OK;
}

static void full_queue_keeps_its_limit(cts *c) {
  enum { MOST = 300000 };
  qn_queue_options options = QN_INIT(qn_queue_options);
  options.submit_timeout_ns = CTS_MILLISECOND / 2;
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) {
    qn_queue queue = NULL;
    qn_point last = {0, 0}, next = {0, 0};
    uint64_t count = 0;
    CTS_OK(qn_queue_create(c->device, &options, &queue));
    cts_keep(c, queue);
    qn_buffer buffer = cts_buffer(c, 64);
    cts_busy(c, queue, ns);
    CTS_OK(qn_queue_last(queue, &next));
    const qn_point busy = next;
    qn_status status = fill_up(queue, buffer, MOST, &count);
    bool was_busy = qn_point_wait(&busy, QN_POLL) == QN_NOT_READY;
    CTS_OK(qn_queue_last(queue, &last));
    CTS_SAME("the last value after a command that found no room", last.value, busy.value + count);
    CTS_OK(qn_queue_finish(queue, CTS_PATIENCE));
    next = cts_fill(queue, buffer, 1);
    CTS_SAME("the next value after a command that found no room", next.value, last.value + 1);
    if (status == QN_ERROR_TIMEOUT) return;
    CTS_TRUE(status == QN_OK, "a command on a full queue gives QN_ERROR_TIMEOUT, not %s: %s", qn_status_name(status),
             qn_error_text());
    CTS_TRUE(!was_busy, "what is in flight is bounded; a queue took %d commands behind a busy one", MOST);
  }
  CTS_TRUE(false, "a full queue gives QN_ERROR_TIMEOUT after submit_timeout_ns");
}

static void full_queue_makes_room(cts *c) {
  enum { COMMANDS = 20000 };
  qn_queue queue = cts_queue(c); /* no limit: it waits as long as it takes */
  qn_buffer buffer = cts_buffer(c, 64);
  uint64_t count = 0;
  cts_busy(c, queue, 20 * CTS_MILLISECOND);
  CTS_SAME("the status of twenty thousand fills", fill_up(queue, buffer, COMMANDS, &count), QN_OK);
  cts_finish(queue);
}

#define LIMITS "quern.h: 'Errors: TIMEOUT'; adapter.h: queue_wait: 'QN_ERROR_TIMEOUT after the limit.'"

static const cts_test tests[] = {
    {"a_wait_for_a_point_keeps_its_limit", points_keep_their_limit, 0, 0, LIMITS},
    {"finishing_a_queue_keeps_its_limit", finish_keeps_its_limit, 0, 0, LIMITS},
    {"a_map_keeps_its_limit", map_keeps_its_limit, 0, 0,
     "quern.h: qn_buffer_map: 'Errors: TIMEOUT, INVALID_ARGUMENT, UNSUPPORTED.'"},
    {"draining_a_device_keeps_its_limit", drain_keeps_its_limit, 0, 0,
     "quern.h: qn_device_drain: 'Errors: TIMEOUT, and the first thing that the driver refused.'"},
    {"closing_a_runtime_keeps_its_limit", close_keeps_its_limit, 0, 0,
     "quern.h: qn_runtime_close: 'waits for work in flight (up to `timeout_ns` each device)'"},
    {"a_full_queue_keeps_its_limit_and_leaves_no_hole", full_queue_keeps_its_limit, 0, 0,
     "quern.h: 'how long a launch may wait when the queue is full'; adapter.h: 'QN_NOT_READY: the queue is full, "
     "nothing was taken'"},
    {"a_full_queue_makes_room", full_queue_makes_room, 0, 0,
     "adapter.h: 'the core waits for an earlier value and tries again'"},
};

CTS_SUITE(time_limits, "every wait keeps its time limit");
