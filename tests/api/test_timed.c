/* labels: threads */
/* Timed queues and qn_point_elapsed: device times or an error. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "fake_device.h"

static const char *const selectors[] = {
#ifndef QUERN_WITHOUT_CPU
    "cpu",
#endif
    "check", "null"};
enum { DEVICES = sizeof selectors / sizeof *selectors };

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static qn_queue timed_queue(qn_device device) {
  qn_queue queue = NULL;
  qn_queue_options o = QN_INIT(qn_queue_options);
  o.flags = QN_QUEUE_TIMED;
  OK(qn_queue_create(device, &o, &queue));
  return queue;
}

static int64_t elapsed(const qn_point *a, const qn_point *b) {
  int64_t ns = INT64_MIN;
  OK(qn_point_elapsed(a, b, &ns));
  return ns;
}

static void times_of_one_device_agree_with_each_other(void **state) {
  (void)state;
  for (int d = 0; d < DEVICES; d++) {
    test_device t = test_open(selectors[d]);
    qn_queue one = timed_queue(t.device), two = timed_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 1 << 22), other = test_buffer(t.device, 64);
    qn_point a = fill(one, buffer, 'x'), b = fill(one, buffer, 'x'), c = fill(one, buffer, 'x'),
             x = fill(two, other, 'x');
    qn_point after = fill(two, buffer, 'x'); /* waits for c on the device */
    OK(qn_point_wait(&c, PATIENCE));
    OK(qn_point_wait(&after, PATIENCE));
    assert_int_equal(elapsed(&a, &a), 0);
    assert_true(elapsed(&a, &b) > 0); /* 4 MiB take their time */
    assert_true(elapsed(&b, &c) > 0);
    assert_int_equal(elapsed(&a, &b) + elapsed(&b, &c), elapsed(&a, &c));
    assert_int_equal(elapsed(&b, &a), -elapsed(&a, &b));
    assert_int_equal(elapsed(&a, &x) + elapsed(&x, &c), elapsed(&a, &c)); /* one clock for all queues */
    assert_true(elapsed(&c, &after) > 0);
    test_close(&t);
  }
}

/* Where the device is this machine, its times fit into the host's (null's are simulated). */
static void times_are_those_of_the_work(void **state) {
  (void)state;
  for (int d = 0; d < DEVICES - 1; d++) {
    test_device t = test_open(selectors[d]);
    qn_queue queue = timed_queue(t.device);
    qn_buffer large = test_buffer(t.device, 1 << 25), small = test_buffer(t.device, 64);
    fill(queue, large, 'x'); /* pages are there */
    OK(qn_queue_finish(queue, PATIENCE));
    int64_t start = now_ns();
    qn_point first = fill(queue, small, 'x'), work = fill(queue, large, 'x'), last = fill(queue, small, 'x');
    OK(qn_point_wait(&last, PATIENCE));
    int64_t total = now_ns() - start;
    int64_t whole = elapsed(&first, &work);
    assert_true(whole > 100000); /* no memory has 320 GB/s here */
    assert_true(elapsed(&first, &last) <= total);
    assert_true(elapsed(&work, &last) >= 0);
    test_close(&t);
  }
}

/* The host may be late, and the work done before it asks: then once more. */
static void points_that_are_not_complete_are_not_ready(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = timed_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 24);
  qn_status status = QN_OK;
  for (int tries = 0; tries < 50 && status == QN_OK; tries++) {
    int64_t ns = 77;
    qn_point first = fill(queue, buffer, 'x'), last = first;
    for (int i = 0; i < 200; i++) last = fill(queue, buffer, 'x');
    status = qn_point_elapsed(&first, &last, &ns);
    assert_true(status == QN_OK ? ns > 0 : ns == 77);
    OK(qn_queue_finish(queue, PATIENCE));
    assert_true(elapsed(&first, &last) > 0);
  }
  assert_int_equal(status, QN_NOT_READY);
  test_close(&t);
}

static void what_has_no_time_is_an_error(void **state) {
  (void)state;
  for (int d = 0; d < DEVICES; d++) {
    test_device t = test_open(selectors[d]);
    qn_device twin = NULL;
    OK(qn_device_open(t.runtime, selectors[d], &twin));
    qn_queue timed = timed_queue(t.device), plain = test_queue(t.device), far = timed_queue(twin),
             gone = timed_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 64), theirs = test_buffer(twin, 64);
    qn_point good = fill(timed, buffer, 'x'), untimed = fill(plain, buffer, 'x'), foreign = fill(far, theirs, 'x'),
             past = fill(gone, buffer, 'x');
    qn_point zero = {good.queue, 0}, future = {good.queue, good.value + 1}, nothing = {0, 0};
    int64_t ns = 77;
    OK(qn_queue_finish(timed, PATIENCE));
    OK(qn_queue_finish(plain, PATIENCE));
    OK(qn_queue_finish(far, PATIENCE));
    OK(qn_queue_finish(gone, PATIENCE));
    OK(qn_release(gone));
    OK(qn_device_drain(t.device, PATIENCE));
    FAILS(qn_point_elapsed(&good, &untimed, &ns), QN_ERROR_UNSUPPORTED, "point b is of a queue that isn't timed");
    FAILS(qn_point_elapsed(&untimed, &good, &ns), QN_ERROR_UNSUPPORTED, "QN_QUEUE_TIMED");
    FAILS(qn_point_elapsed(&good, &foreign, &ns), QN_ERROR_INVALID_ARGUMENT, "two devices");
    FAILS(qn_point_elapsed(&zero, &good, &ns), QN_ERROR_INVALID_ARGUMENT, "point a has value 0");
    FAILS(qn_point_elapsed(&good, &future, &ns), QN_ERROR_INVALID_ARGUMENT, "not given out");
    FAILS(qn_point_elapsed(&good, &nothing, &ns), QN_ERROR_INVALID_ARGUMENT, "no living queue");
    FAILS(qn_point_elapsed(&past, &good, &ns), QN_ERROR_INVALID_ARGUMENT, "no living queue");
    FAILS(qn_point_elapsed(NULL, &good, &ns), QN_ERROR_INVALID_ARGUMENT, "a is NULL");
    FAILS(qn_point_elapsed(&good, NULL, &ns), QN_ERROR_INVALID_ARGUMENT, "b is NULL");
    FAILS(qn_point_elapsed(&good, &good, NULL), QN_ERROR_INVALID_ARGUMENT, "out_ns is NULL");
    assert_int_equal(ns, 77);
    test_close(&t);
  }
}

static void a_device_without_timed_queues_says_so(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = NULL;
  qn_queue_options o = QN_INIT(qn_queue_options);
  o.flags = QN_QUEUE_TIMED;
  FAILS(qn_queue_create(f.t.device, &o, &queue), QN_ERROR_UNSUPPORTED, "no timed queues");
  close_fake(&f);
}

static void old_times_are_forgotten_and_not_made_up(void **state) {
  (void)state;
  enum { REMEMBERED = 65535 };
  for (int d = 0; d < DEVICES - 1; d++) { /* null remembers what its options say */
    test_device t = test_open(selectors[d]);
    qn_queue queue = timed_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 64);
    qn_point first = fill(queue, buffer, 'x'), kept = {0, 0}, last = {0, 0};
    for (int i = 0; i < REMEMBERED + 3; i++) last = fill(queue, buffer, 'x');
    OK(qn_point_wait(&last, PATIENCE));
    kept = (qn_point){last.queue, last.value - REMEMBERED + 1};
    int64_t ns = 77;
    FAILS(qn_point_elapsed(&first, &last, &ns), QN_ERROR_NOT_FOUND, "remembers its last");
    assert_int_equal(ns, 77);
    assert_true(elapsed(&kept, &last) > 0);
    test_close(&t);
  }
}

/* ---- Threads ------------------------------------------------------------------------------------ */

typedef struct reader {
  qn_queue queue;
  _Atomic uint32_t done;
  _Atomic uint64_t asked;
} reader;

/* Asks for the last two complete points again and again: never backwards. */
static void *ask(void *given) {
  reader *r = given;
  while (!r->done) {
    qn_point last = {0, 0};
    int64_t ns = -1;
    OK(qn_queue_last(r->queue, &last));
    if (last.value < 2) continue;
    qn_point before = {last.queue, last.value - 1};
    qn_status status = qn_point_elapsed(&before, &last, &ns);
    if (status != QN_OK && status != QN_NOT_READY) return "an error";
    if (status == QN_OK && ns < 0) return "time ran backwards";
    r->asked++;
  }
  return NULL;
}

static void times_may_be_asked_for_while_the_queue_runs(void **state) {
  (void)state;
  for (int d = 0; d < DEVICES; d++) {
    test_device t = test_open(selectors[d]);
    reader r = {.queue = timed_queue(t.device)};
    qn_buffer buffer = test_buffer(t.device, 64);
    pthread_t thread;
    void *wrong = NULL;
    assert_int_equal(pthread_create(&thread, NULL, ask, &r), 0);
    for (int i = 0; i < 3000; i++) {
      fill(r.queue, buffer, 'x');
      if (i % 100 == 0) OK(qn_queue_finish(r.queue, PATIENCE));
      if (i % 100 == 0) sched_yield();
    }
    OK(qn_queue_finish(r.queue, PATIENCE));
    for (int i = 0; i < 10000 && r.asked == 0; i++) nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_true(r.asked > 0);
    r.done = 1;
    pthread_join(thread, &wrong);
    if (wrong) fail_msg("%s: %s: %s", selectors[d], (const char *)wrong, qn_error_text());
    test_close(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_of_one_device_agree_with_each_other),
      cmocka_unit_test(times_are_those_of_the_work),
      cmocka_unit_test(points_that_are_not_complete_are_not_ready),
      cmocka_unit_test(what_has_no_time_is_an_error),
      cmocka_unit_test(a_device_without_timed_queues_says_so),
      cmocka_unit_test(old_times_are_forgotten_and_not_made_up),
      cmocka_unit_test(times_may_be_asked_for_while_the_queue_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
