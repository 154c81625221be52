/* labels: threads */
/* A device's pool through the public interface: P1 to P5 and L5, with an adapter that runs what it is allowed to run. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_device.h"

static qn_memory_statistics memory(qn_device device) {
  qn_memory_statistics s = QN_INIT(qn_memory_statistics);
  OK(qn_memory_statistics_get(device, &s));
  assert_int_equal(s.reserved_bytes, s.used_bytes + s.cached_bytes + s.pending_bytes + s.quarantined_bytes);
  return s;
}

static qn_status try_buffer(qn_device device, qn_queue queue, uint64_t size, uint64_t flags, qn_buffer *out_buffer) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = size;
  o.queue = queue;
  o.flags = flags;
  return qn_buffer_create(device, &o, out_buffer);
}

static qn_buffer buffer_for(qn_device device, qn_queue queue, uint64_t flags) {
  qn_buffer buffer = NULL;
  OK(try_buffer(device, queue, 64, flags, &buffer));
  return buffer;
}

static void limit_to(qn_device device, uint64_t bytes, uint64_t timeout_ns) {
  qn_memory_options o = QN_INIT(qn_memory_options);
  o.limit_bytes = bytes;
  o.wait_timeout_ns = timeout_ns;
  OK(qn_memory_configure(device, &o));
}

/* ---- P1 ------------------------------------------------------------------------------------------ */

static void test_P1_memory_comes_back_to_its_queue_while_work_is_in_flight(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device), other = test_queue(f.t.device);
  f.control->allowed = 0;
  for (int i = 0; i < 100; i++) {
    qn_buffer buffer = buffer_for(f.t.device, queue, 0);
    fill(queue, buffer, 'a');
    OK(qn_release(buffer));
  }
  assert_int_equal(f.control->memories, 1);
  assert_int_equal(memory(f.t.device).from_own_queue, 99);
  assert_int_equal(f.control->waits, 0);
  /* Another queue than the one that was named uses it first: that costs a wait and is never a race. */
  qn_buffer buffer = buffer_for(f.t.device, queue, 0);
  fill(other, buffer, 'b');
  assert_int_equal(f.control->memories, 1);
  assert_int_equal(f.control->waits, 1);
  f.control->allowed = UINT64_MAX;
  OK(qn_queue_finish(other, PATIENCE));
  void *bytes = NULL;
  qn_view all = test_view(buffer, 0, QN_WHOLE);
  OK(qn_buffer_map(&all, QN_MAP_READ, SECOND, &bytes));
  assert_int_equal(*(char *)bytes, 'b');
  close_fake(&f);
}

static void test_P1_what_is_known_goes_through_other_queues(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue a = test_queue(f.t.device), b = test_queue(f.t.device), c = test_queue(f.t.device);
  f.control->allowed = 0;
  qn_buffer mine = buffer_for(f.t.device, a, 0), theirs = buffer_for(f.t.device, b, 0);
  const qn_point first = fill(a, mine, 1);
  fill(a, mine, 2); /* after the point that b waits for */
  OK(qn_queue_wait(b, &first, 1));
  const qn_point second = fill(b, theirs, 1);
  OK(qn_queue_wait(c, &second, 1));
  OK(qn_release(mine));
  qn_buffer got = buffer_for(f.t.device, c, 0);
  assert_int_equal(memory(f.t.device).from_known, 0); /* c waits for the first of the two fills alone */
  assert_int_equal(f.control->memories, 3);
  OK(qn_release(got));
  qn_buffer again = buffer_for(f.t.device, a, 0); /* a's own: after both */
  const qn_point last = fill(a, again, 3);
  OK(qn_release(again));
  OK(qn_queue_wait(b, &last, 1));
  const qn_point third = fill(b, theirs, 2);
  OK(qn_queue_wait(c, &third, 1));
  qn_queue d = test_queue(f.t.device);
  OK(qn_queue_wait(d, &second, 1)); /* b has learned more since, but not by then */
  OK(qn_release(buffer_for(f.t.device, d, 0)));
  assert_int_equal(memory(f.t.device).from_known, 0);
  got = buffer_for(f.t.device, c, 0); /* c's own, which it never used */
  qn_buffer known = buffer_for(f.t.device, c, 0);
  qn_memory_statistics s = memory(f.t.device);
  assert_int_equal(s.from_known, 1);
  assert_int_equal(s.from_new, 3);
  uint32_t waits = f.control->waits;
  fill(c, known, 9); /* nothing new to wait for */
  assert_int_equal(f.control->waits, waits);
  close_fake(&f);
}

static void test_P1_the_device_waits_where_the_limit_is_reached(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device), other = test_queue(f.t.device);
  limit_to(f.t.device, 256, 1);
  f.control->allowed = 0;
  qn_buffer buffer = buffer_for(f.t.device, queue, 0);
  const qn_point before = fill(queue, buffer, 1);
  OK(qn_release(buffer));
  buffer = buffer_for(f.t.device, other, 0);
  assert_int_equal(memory(f.t.device).from_device_wait, 1);
  const qn_point after = fill(other, buffer, 2);
  assert_int_equal(f.control->waits, 1);
  f.control->open_queue = after.queue;
  assert_int_equal(qn_point_wait(&after, 5000000), QN_ERROR_TIMEOUT); /* behind the other queue */
  f.control->allowed = 1;
  OK(qn_point_wait(&after, PATIENCE));
  OK(qn_point_wait(&before, QN_POLL));
  close_fake(&f);
}

static void test_P1_memory_that_the_host_writes_is_never_in_use(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  qn_buffer buffer = NULL;
  o.size_bytes = 64;
  o.memory = QN_MEMORY_HOST;
  o.queue = queue;
  f.control->allowed = 0;
  for (int i = 0; i < 3; i++) {
    OK(qn_buffer_create(f.t.device, &o, &buffer));
    fill(queue, buffer, 1);
    OK(qn_release(buffer));
  }
  assert_int_equal(f.control->memories, 3);
  f.control->allowed = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    OK(qn_buffer_create(f.t.device, &o, &buffer));
    OK(qn_release(buffer));
  }
  assert_int_equal(f.control->memories, 3);
  assert_int_equal(memory(f.t.device).from_complete, 3);
  close_fake(&f);
}

static void test_P1_an_untracked_buffer_waits_for_what_its_memory_did_before(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device), other = test_queue(f.t.device);
  f.control->allowed = 0;
  qn_buffer tracked = buffer_for(f.t.device, queue, 0);
  fill(queue, tracked, 1);
  OK(qn_release(tracked));
  qn_buffer buffer = buffer_for(f.t.device, queue, QN_BUFFER_UNTRACKED);
  assert_int_equal(f.control->memories, 1);
  fill(queue, buffer, 2);
  assert_int_equal(f.control->waits, 0);
  fill(other, buffer,
       3); /* not for the fill before it, which the caller orders; but for the one of the tracked buffer */
  assert_int_equal(f.control->waits, 1);
  fill(other, buffer, 3);
  assert_int_equal(f.control->waits, 1);
  f.control->allowed = UINT64_MAX;
  OK(qn_queue_finish(other, PATIENCE));
  OK(qn_release(buffer));
  /* Made and released without a use, it still passes on what was before. */
  f.control->allowed = 0;
  tracked = buffer_for(f.t.device, queue, 0);
  fill(queue, tracked, 1);
  OK(qn_release(tracked));
  buffer = buffer_for(f.t.device, queue, QN_BUFFER_UNTRACKED);
  OK(qn_release(buffer));
  uint32_t waits = f.control->waits;
  tracked = buffer_for(f.t.device, queue, 0);
  assert_int_equal(f.control->memories, 1);
  fill(other, tracked, 4);
  assert_int_equal(f.control->waits, waits + 1);
  close_fake(&f);
}

static void test_P1_a_map_waits_for_what_the_memory_did_before(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  const uint64_t flags[] = {0, QN_BUFFER_UNTRACKED};
  for (int i = 0; i < 2; i++) {
    qn_buffer buffer = buffer_for(f.t.device, queue, 0);
    void *bytes = NULL;
    f.control->allowed = 0;
    fill(queue, buffer, 'x');
    OK(qn_release(buffer));
    buffer = buffer_for(f.t.device, queue, flags[i]);
    assert_int_equal(f.control->memories, 1);
    qn_view all = test_view(buffer, 0, QN_WHOLE);
    FAILS(qn_buffer_map(&all, QN_MAP_WRITE, QN_POLL, &bytes), QN_ERROR_TIMEOUT, "in use by work in flight");
    f.control->allowed = UINT64_MAX;
    OK(qn_buffer_map(&all, QN_MAP_WRITE, SECOND, &bytes));
    OK(qn_buffer_unmap(buffer, bytes));
    OK(qn_release(buffer));
  }
  close_fake(&f);
}

/* ---- L5 ------------------------------------------------------------------------------------------ */

/* oneAPI.jl's report: stream, list and arrays die together, in any order, and the pool's free block brings the dead stream
 * back as its owner. */
static void test_L5_memory_of_a_queue_that_is_gone_is_anyones(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue own = test_queue(f.t.device);
  for (int order = 0; order < 6; order++) {
    f.control->allowed = 0;
    qn_queue queue = test_queue(f.t.device);
    const void *objects[3] = {queue, buffer_for(f.t.device, queue, 0), buffer_for(f.t.device, queue, 0)};
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    fill(queue, (qn_buffer)objects[1], 1);
    fill(queue, (qn_buffer)objects[2], 2);
    if (order % 2) f.control->allowed = UINT64_MAX;
    for (int i = 0; i < 3; i++) OK(qn_release(objects[orders[order][i]]));
    f.control->allowed = UINT64_MAX;
    while (f.control->queues != 1) continue; /* the reaper sees to it */
    for (int i = 0; i < 2; i++) OK(qn_release(buffer_for(f.t.device, own, 0)));
    assert_in_range(f.control->memories, 2, 3);
  }
  close_fake(&f);
}

/* ---- P3 ------------------------------------------------------------------------------------------ */

static void test_P3_memory_whose_work_failed_is_not_used_again(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue bad = test_queue(f.t.device), good = test_queue(f.t.device);
  qn_buffer buffer = buffer_for(f.t.device, bad, 0);
  f.control->allowed = 0;
  qn_point point = fill(bad, buffer, 1);
  f.control->fail_queue = point.queue;
  f.control->fail_at = 1;
  OK(qn_release(buffer));
  f.control->allowed = UINT64_MAX;
  assert_int_equal(qn_point_wait(&point, PATIENCE), QN_ERROR_DEVICE_LOST);
  for (int i = 0; i < 3; i++) OK(qn_release(buffer_for(f.t.device, i % 2 ? bad : good, 0)));
  qn_memory_statistics s = memory(f.t.device);
  assert_int_equal(s.quarantined_bytes, 256);
  OK(qn_memory_trim(f.t.device, 0, NULL));
  OK(qn_device_drain(f.t.device, PATIENCE)); /* the failed queue lives, and what it may touch with it */
  assert_int_equal(f.control->memories, 1);
  OK(qn_release(bad));
  OK(qn_device_drain(f.t.device, PATIENCE));
  assert_int_equal(f.control->memories, 0);
  close_fake(&f);
}

/* More than a sixteenth of the device's memory: not pooled. */
enum { LARGE = 8192 };

static qn_memory_statistics wait_until(qn_device device, bool (*is_so)(const qn_memory_statistics *s)) {
  for (;;) {
    qn_memory_statistics s = memory(device); /* the reaper sees to it */
    if (is_so(&s)) return s;
    usleep(100);
  }
}
static bool all_is_pending(const qn_memory_statistics *s) { return s->pending_bytes == s->reserved_bytes; }
static bool all_is_quarantined(const qn_memory_statistics *s) { return s->quarantined_bytes == s->reserved_bytes; }
static bool nothing_is_reserved(const qn_memory_statistics *s) { return s->reserved_bytes == 0; }

static void test_P3_released_memory_that_is_not_pooled_is_pending_until_its_work_is_complete(void **state) {
  (void)state;
  for (int untracked = 0; untracked < 2; untracked++) {
    char text[4096];
    uint64_t needed = 0;
    fixture f = open_fake();
    qn_queue queue = test_queue(f.t.device);
    qn_buffer buffer = NULL;
    OK(try_buffer(f.t.device, queue, LARGE, untracked ? QN_BUFFER_UNTRACKED : 0, &buffer));
    assert_int_equal(memory(f.t.device).used_bytes, LARGE);
    f.control->allowed = 0;
    fill(queue, buffer, 1);
    OK(qn_release(buffer));
    qn_memory_statistics s = wait_until(f.t.device, all_is_pending);
    assert_int_equal(s.reserved_bytes, LARGE);
    assert_int_equal(s.used_bytes, 0);
    OK(qn_memory_snapshot(f.t.device, text, sizeof text, &needed));
    assert_non_null(strstr(text, "\"size\": 8192, \"kind\": \"device\", \"state\": \"pending\""));
    OK(qn_memory_trim(f.t.device, 0, NULL));
    assert_int_equal(memory(f.t.device).pending_bytes, LARGE);
    f.control->allowed = UINT64_MAX;
    wait_until(f.t.device, nothing_is_reserved);
    assert_int_equal(f.control->memories, 0);
    close_fake(&f);
  }
}

static void test_P3_memory_that_is_not_pooled_and_whose_work_failed_is_quarantined(void **state) {
  (void)state;
  for (int untracked = 0; untracked < 2; untracked++) {
    fixture f = open_fake();
    qn_queue bad = test_queue(f.t.device);
    qn_buffer buffer = NULL;
    OK(try_buffer(f.t.device, bad, LARGE, untracked ? QN_BUFFER_UNTRACKED : 0, &buffer));
    f.control->allowed = 0;
    qn_point point = fill(bad, buffer, 1);
    f.control->fail_queue = point.queue;
    f.control->fail_at = 1;
    OK(qn_release(buffer));
    f.control->allowed = UINT64_MAX;
    assert_int_equal(qn_point_wait(&point, PATIENCE), QN_ERROR_DEVICE_LOST);
    assert_int_equal(wait_until(f.t.device, all_is_quarantined).quarantined_bytes, LARGE);
    OK(qn_memory_trim(f.t.device, 0, NULL));
    OK(qn_device_drain(f.t.device, PATIENCE)); /* the failed queue lives */
    assert_int_equal(memory(f.t.device).quarantined_bytes, LARGE);
    assert_int_equal(f.control->memories, 1);
    OK(qn_release(bad));
    OK(qn_device_drain(f.t.device, PATIENCE));
    assert_int_equal(memory(f.t.device).reserved_bytes, 0);
    assert_int_equal(f.control->memories, 0);
    close_fake(&f);
  }
}

/* ---- P4 ------------------------------------------------------------------------------------------ */

static void test_P4_a_hung_queue_does_not_hold_back_untracked_buffers_and_queues(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue hung = test_queue(f.t.device), well = test_queue(f.t.device), late = test_queue(f.t.device);
  qn_buffer stuck = buffer_for(f.t.device, hung, 0), buffer = NULL, order = buffer_for(f.t.device, well, 0);
  OK(try_buffer(f.t.device, well, 1 << 14, QN_BUFFER_UNTRACKED, &buffer)); /* not pooled: goes to the driver */
  f.control->allowed = 0;
  fill(hung, stuck, 1);
  fill(well, order, 1);
  fill(late, order, 1); /* waits for `well` */
  fill(well, buffer, 1);
  OK(qn_release(buffer));
  OK(qn_release(well));
  f.control->allowed = 2; /* `late` has a wait and a fill, `well` has two fills */
  qn_point point = {0, 0};
  OK(qn_queue_last(hung, &point));
  f.control->fail_queue = 0;
  OK(qn_queue_finish(late, PATIENCE));
  OK(qn_queue_finish(hung, PATIENCE));
  /* Again, and now the hung queue hangs at its third value. */
  well = test_queue(f.t.device);
  OK(try_buffer(f.t.device, well, 1 << 14, QN_BUFFER_UNTRACKED, &buffer));
  for (int i = 0; i < 4; i++) fill(hung, stuck, 1);
  fill(well, buffer, 1);
  OK(qn_release(buffer));
  OK(qn_release(well));
  OK(qn_device_drain(f.t.device, PATIENCE));
  assert_int_equal(f.control->queues, 2);
  assert_int_equal(qn_queue_finish(hung, QN_POLL), QN_NOT_READY);
  close_fake(&f);
}

/* ---- P5 ------------------------------------------------------------------------------------------ */

typedef struct pressure {
  qn_device device;
  qn_buffer ballast;
  uint32_t calls;
  qn_status configured, nested;
} pressure;

static uint32_t release_ballast(void *user, uint64_t wanted_bytes) {
  pressure *p = user;
  qn_buffer none = NULL;
  assert_true(wanted_bytes >= 64);
  p->calls++;
  p->configured = qn_memory_configure(p->device, NULL);
  p->nested = try_buffer(p->device, NULL, 64, 0, &none);
  if (!p->ballast) return 0;
  OK(qn_release(p->ballast));
  p->ballast = NULL;
  return 1;
}

static void test_P5_the_pressure_callback_makes_room(void **state) {
  (void)state;
  fixture f = open_fake();
  pressure p = {.device = f.t.device, .ballast = test_buffer(f.t.device, 64)};
  qn_memory_options o = QN_INIT(qn_memory_options);
  o.limit_bytes = 256;
  o.wait_timeout_ns = 1;
  o.pressure = release_ballast;
  o.user = &p;
  OK(qn_memory_configure(f.t.device, &o));
  qn_buffer buffer = test_buffer(f.t.device, 64), none = NULL;
  assert_int_equal(p.calls, 1);
  assert_int_equal(p.configured, QN_ERROR_WOULD_BLOCK);
  assert_int_equal(p.nested, QN_ERROR_OUT_OF_MEMORY);
  FAILS(try_buffer(f.t.device, NULL, 64, 0, &none), QN_ERROR_OUT_OF_MEMORY,
        "raise limit_bytes with qn_memory_configure");
  assert_int_equal(p.calls, 2);
  assert_int_equal(memory(f.t.device).pressure_calls, 2);
  OK(qn_memory_configure(f.t.device, NULL));
  OK(try_buffer(f.t.device, NULL, 64, 0, &none));
  assert_int_equal(p.calls, 2);
  OK(qn_release(buffer));
  close_fake(&f);
}

static void test_P5_the_host_waits_as_long_as_it_is_told_to(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  limit_to(f.t.device, 512, 1);
  f.control->allowed = 0;
  qn_buffer buffer = buffer_for(f.t.device, queue, 0), large = NULL;
  fill(queue, buffer, 1);
  OK(qn_release(buffer));
  FAILS(try_buffer(f.t.device, queue, 512, 0, &large), QN_ERROR_OUT_OF_MEMORY, "256 in use by work in flight");
  f.control->allowed = 1;
  OK(try_buffer(f.t.device, queue, 512, 0, &large)); /* the smaller one was complete, and made room */
  assert_int_equal(f.control->memories, 1);
  OK(qn_release(large));
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 512;
  o.wait_timeout_ns = 20000000;
  buffer = buffer_for(f.t.device, queue, 0);
  f.control->allowed = 1;
  fill(queue, buffer, 1);
  OK(qn_release(buffer));
  FAILS(qn_buffer_create(f.t.device, &o, &large), QN_ERROR_OUT_OF_MEMORY, "512 bytes");
  OK(qn_memory_configure(f.t.device, NULL));
  close_fake(&f);
}

static void test_P5_the_snapshot_fits_or_says_what_it_needs(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  uint64_t needed = 0;
  char small[8] = "as was", *text = NULL;
  f.control->allowed = 0;
  qn_buffer buffer = buffer_for(f.t.device, queue, 0);
  const qn_point point = fill(queue, buffer, 1);
  OK(qn_release(buffer));
  OK(qn_memory_snapshot(f.t.device, NULL, 0, &needed));
  assert_true(needed > 100);
  OK(qn_memory_snapshot(f.t.device, small, sizeof small, &needed));
  assert_string_equal(small, "as was");
  text = malloc((size_t)needed);
  assert_non_null(text);
  OK(qn_memory_snapshot(f.t.device, text, needed, &needed));
  assert_int_equal(strlen(text) + 1, needed);
  char wanted[200];
  snprintf(
      wanted, sizeof wanted,
      "{\"size\": 256, \"kind\": \"device\", \"state\": \"pending\", \"queue\": %llu, \"point\": {\"queue\": %llu, "
      "\"value\": 1}}",
      (unsigned long long)point.queue, (unsigned long long)point.queue);
  assert_non_null(strstr(text, wanted));
  assert_non_null(
      strstr(text, "{\"device\": \"fake:0\", \"reserved\": 256, \"used\": 0, \"cached\": 0, \"pending\": 256, "));
  free(text);
  FAILS(qn_memory_snapshot(f.t.device, NULL, 10, &needed), QN_ERROR_INVALID_ARGUMENT, "buffer is NULL");
  FAILS(qn_memory_snapshot(f.t.device, small, 8, NULL), QN_ERROR_INVALID_ARGUMENT, "out_needed is NULL");
  close_fake(&f);
}

static void test_P5_trimming_gives_back_and_tells_what_was_refused(void **state) {
  (void)state;
  fixture f = open_fake();
  uint64_t freed = 7;
  for (int i = 0; i < 3; i++) OK(qn_release(test_buffer(f.t.device, 64 << i)));
  assert_int_equal(f.control->memories, 1); /* all of one class: 256 bytes */
  OK(qn_memory_trim(f.t.device, 256, &freed));
  assert_int_equal(freed, 0);
  f.control->refuse_destroy = 1;
  FAILS(qn_memory_trim(f.t.device, 0, &freed), QN_ERROR_DEVICE, "refused to destroy a buffer: the fake refuses");
  assert_int_equal(freed, 0);
  f.control->refuse_destroy = 0;
  OK(qn_memory_trim(f.t.device, 0, &freed));
  assert_int_equal(memory(f.t.device).driver_refusals, 1);
  close_fake(&f);
}

static void options_that_make_no_sense_are_refused(void **state) {
  (void)state;
  fixture f = open_fake();
  test_device other = test_open("null");
  qn_buffer buffer = NULL;
  qn_queue theirs = test_queue(other.device), queue = test_queue(f.t.device);
  FAILS(try_buffer(f.t.device, theirs, 64, 0, &buffer), QN_ERROR_INVALID_HANDLE, "queue is one of device null:0");
  FAILS(try_buffer(f.t.device, (qn_queue)f.t.device, 64, 0, &buffer), QN_ERROR_INVALID_HANDLE,
        "is a device, not a queue");
  OK(qn_release(queue));
  FAILS(try_buffer(f.t.device, queue, 64, 0, &buffer), QN_ERROR_INVALID_HANDLE, "queue");
  queue = test_queue(f.t.device);
  FAILS(try_buffer(NULL, queue, 64, 0, &buffer), QN_ERROR_INVALID_HANDLE, "device is NULL");
  FAILS(try_buffer((qn_device)queue, queue, 64, 0, &buffer), QN_ERROR_INVALID_HANDLE, "is a queue, not a device");
  assert_null(buffer);
  struct {
    qn_memory_options o;
    uint64_t newer;
  } future = {.o = {.struct_size = sizeof future}, .newer = 1};
  FAILS(qn_memory_configure(f.t.device, &future.o), QN_ERROR_UNSUPPORTED, "doesn't know");
  future.newer = 0;
  future.o.reserved = 1;
  FAILS(qn_memory_configure(f.t.device, &future.o), QN_ERROR_INVALID_ARGUMENT, "reserved");
  FAILS(qn_memory_statistics_get(f.t.device, NULL), QN_ERROR_INVALID_ARGUMENT, "out_statistics");
  test_close(&other);
  close_fake(&f);
}

/* ---- Handles of records that are used again ------------------------------------------------------- */

static void test_L2_a_handle_never_means_the_next_buffer_of_its_memory(void **state) {
  (void)state;
  enum { ROUNDS = 2000 };
  static qn_buffer old[ROUNDS];
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer_info info = QN_INIT(qn_buffer_info);
  for (int i = 0; i < ROUNDS; i++) {
    old[i] = buffer_for(f.t.device, queue, 0);
    if (i > 0) assert_ptr_not_equal(old[i], old[i - 1]);
    OK(qn_buffer_query(old[i], &info));
    OK(qn_release(old[i]));
    FAILS(qn_buffer_query(old[i], &info), QN_ERROR_INVALID_HANDLE, "stale");
    FAILS(qn_release(old[i]), QN_ERROR_INVALID_HANDLE, "stale");
  }
  qn_buffer last = buffer_for(f.t.device, queue, 0);
  for (int i = 0; i < ROUNDS; i++) FAILS(qn_buffer_query(old[i], &info), QN_ERROR_INVALID_HANDLE, "stale");
  OK(qn_buffer_query(last, &info));
  assert_int_equal(f.control->memories, 1);
  assert_int_equal(test_statistics(f.t.device).buffers, 1);
  close_fake(&f);
}

/* ---- The device's end ------------------------------------------------------------------------------ */

static void test_L3_a_buffer_keeps_its_device_though_it_holds_no_count_of_it(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = buffer_for(f.t.device, queue, 0), idle = buffer_for(f.t.device, queue, 0);
  OK(qn_release(idle));
  OK(qn_release(queue));
  OK(qn_release(f.t.device));
  OK(qn_release(f.t.runtime));
  for (int i = 0; i < 20; i++) {
    qn_buffer_info info = QN_INIT(qn_buffer_info);
    OK(qn_buffer_query(buffer, &info));
    assert_int_equal(f.control->devices, 1);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  OK(qn_release(buffer));
  while (f.control->devices != 0) continue; /* now it ends, by itself */
  assert_int_equal(f.control->memories, 0);
}

/* ---- Threads --------------------------------------------------------------------------------------- */

enum { THREADS = 4, SHARED = 64 };
typedef struct crowd {
  qn_device device;
  _Atomic(const void *) shared[SHARED]; /* anyone puts a buffer, anyone releases it */
} crowd;

static void *live_in_crowd(void *given) {
  crowd *c = given;
  unsigned random = (unsigned)(uintptr_t)pthread_self();
  for (int round = 0; round < 20; round++) {
    qn_queue queue = test_queue(c->device);
    for (int i = 0; i < 100; i++) {
      qn_buffer buffer = NULL;
      uint64_t flags = rand_r(&random) % 4 == 0 ? QN_BUFFER_UNTRACKED : 0;
      OK(try_buffer(c->device, rand_r(&random) % 4 ? queue : NULL, 1u + (unsigned)rand_r(&random) % 1000u, flags,
                    &buffer));
      if (rand_r(&random) % 3) fill(queue, buffer, 'c');
      OK(qn_release(atomic_exchange(&c->shared[rand_r(&random) % SHARED], buffer)));
    }
    if (round % 5 == 0) OK(qn_memory_trim(c->device, 0, NULL));
    memory(c->device);
    OK(qn_release(queue));
  }
  return NULL;
}

static void test_P4_threads_with_their_own_queues_share_a_pool(void **state) {
  (void)state;
  const char *const selectors[] = {"null", "check"};
  for (int s = 0; s < 2; s++) {
    test_device t = test_open(selectors[s]);
    crowd c = {.device = t.device};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, live_in_crowd, &c), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SHARED; i++) OK(qn_release(c.shared[i]));
    OK(qn_device_drain(t.device, PATIENCE));
    assert_int_equal(memory(t.device).reserved_bytes, 0);
    test_close(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_P1_memory_comes_back_to_its_queue_while_work_is_in_flight),
      cmocka_unit_test(test_P1_what_is_known_goes_through_other_queues),
      cmocka_unit_test(test_P1_the_device_waits_where_the_limit_is_reached),
      cmocka_unit_test(test_P1_memory_that_the_host_writes_is_never_in_use),
      cmocka_unit_test(test_P1_an_untracked_buffer_waits_for_what_its_memory_did_before),
      cmocka_unit_test(test_P1_a_map_waits_for_what_the_memory_did_before),
      cmocka_unit_test(test_L5_memory_of_a_queue_that_is_gone_is_anyones),
      cmocka_unit_test(test_P3_memory_whose_work_failed_is_not_used_again),
      cmocka_unit_test(test_P3_released_memory_that_is_not_pooled_is_pending_until_its_work_is_complete),
      cmocka_unit_test(test_P3_memory_that_is_not_pooled_and_whose_work_failed_is_quarantined),
      cmocka_unit_test(test_P4_a_hung_queue_does_not_hold_back_untracked_buffers_and_queues),
      cmocka_unit_test(test_P5_the_pressure_callback_makes_room),
      cmocka_unit_test(test_P5_the_host_waits_as_long_as_it_is_told_to),
      cmocka_unit_test(test_P5_the_snapshot_fits_or_says_what_it_needs),
      cmocka_unit_test(test_P5_trimming_gives_back_and_tells_what_was_refused),
      cmocka_unit_test(options_that_make_no_sense_are_refused),
      cmocka_unit_test(test_L2_a_handle_never_means_the_next_buffer_of_its_memory),
      cmocka_unit_test(test_L3_a_buffer_keeps_its_device_though_it_holds_no_count_of_it),
      cmocka_unit_test(test_P4_threads_with_their_own_queues_share_a_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
