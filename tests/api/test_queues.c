/* labels: threads */
/* Queues, points, waits, and the order between queues (L5, P6). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "support.h"

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void points_rise_by_one(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 8);
  qn_view view = test_view(buffer, 0, 8);
  qn_point last = {0, 0}, point = {0, 0};
  char byte = 0;
  OK(qn_queue_last(queue, &last));
  assert_int_equal(last.value, 0);
  assert_true(last.queue != 0);
  OK(qn_point_wait(&last, QN_POLL));
  OK(qn_queue_finish(queue, QN_POLL));
  for (uint64_t i = 1; i <= 100; i++) {
    OK(qn_fill(queue, &view, &byte, 1, &point));
    assert_int_equal(point.value, i);
    assert_int_equal(point.queue, last.queue);
  }
  OK(qn_queue_last(queue, &last));
  assert_int_equal(last.value, 100);
  OK(qn_queue_finish(queue, QN_FOREVER));
  OK(qn_point_wait(&last, QN_POLL));
  test_close(&t);
}

static void test_L5_queue_ids_never_come_back(void **state) {
  (void)state;
  test_device t = test_open("null");
  enum { QUEUES = 500 };
  uint64_t ids[QUEUES];
  for (int i = 0; i < QUEUES; i++) {
    qn_queue queue = test_queue(t.device);
    qn_point point = {0, 0};
    OK(qn_queue_last(queue, &point));
    ids[i] = point.queue;
    for (int j = 0; j < i; j++) assert_true(ids[j] != ids[i]);
    OK(qn_release(queue));
  }
  test_close(&t);
}

static void test_L5_a_retired_queues_points_read_as_complete_for_ever(void **state) {
  (void)state;
  test_device t = test_open("null");
  enum { QUEUES = 50 };
  qn_point points[QUEUES];
  qn_buffer buffer = test_buffer(t.device, 8);
  qn_view view = test_view(buffer, 0, 8);
  char byte = 0;
  for (int i = 0; i < QUEUES; i++) {
    qn_queue queue = test_queue(t.device);
    OK(qn_fill(queue, &view, &byte, 1, &points[i]));
    OK(qn_release(queue));
  }
  OK(qn_device_drain(t.device, PATIENCE));
  for (int i = 0; i < QUEUES; i++) OK(qn_point_wait(&points[i], QN_POLL));
  test_close(&t);
  for (int i = 0; i < QUEUES; i++) OK(qn_point_wait(&points[i], QN_POLL)); /* after the runtime too */
}

static void test_L5_a_value_that_was_not_given_out_is_an_error(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  qn_point bad[] = {
      {last.queue, 1}, {last.queue, UINT64_MAX}, {0, 1}, {UINT64_MAX, 1}, {last.queue + (UINT64_C(1) << 30), 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    FAILS(qn_point_wait(&bad[i], PATIENCE), QN_ERROR_INVALID_ARGUMENT, "not given out");
    FAILS(qn_queue_wait(queue, &bad[i], 1), QN_ERROR_INVALID_ARGUMENT, "not given out");
  }
  qn_point nothing = {0, 0};
  OK(qn_point_wait(&nothing, QN_POLL));
  OK(qn_queue_wait(queue, &nothing, 1));
  FAILS(qn_point_wait(NULL, 0), QN_ERROR_INVALID_ARGUMENT, "point is NULL");
  FAILS(qn_queue_wait(queue, NULL, 1), QN_ERROR_INVALID_ARGUMENT, "points is NULL");
  OK(qn_queue_wait(queue, NULL, 0));
  FAILS(qn_queue_last(queue, NULL), QN_ERROR_INVALID_ARGUMENT, "out_point is NULL");
  test_close(&t);
}

/* Gives a queue work for a while. */
static void keep_busy(qn_queue queue, qn_buffer buffer, int fills) {
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  unsigned char byte = 0;
  for (int i = 0; i < fills; i++) OK(qn_fill(queue, &view, &byte, 1, NULL));
}

static void waits_keep_their_time_limits(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 24);
  keep_busy(queue, buffer, 300);
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  assert_int_equal(qn_point_wait(&last, QN_POLL), QN_NOT_READY);
  assert_int_equal(qn_queue_finish(queue, QN_POLL), QN_NOT_READY);
  uint64_t start = now_ns();
  FAILS(qn_point_wait(&last, 3000000), QN_ERROR_TIMEOUT, "not complete after 3000000 ns");
  assert_true(now_ns() - start >= 2900000);
  FAILS(qn_queue_finish(queue, 1000000), QN_ERROR_TIMEOUT, "not complete");
  void *pointer = NULL;
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  FAILS(qn_buffer_map(&view, QN_MAP_READ, QN_POLL, &pointer), QN_ERROR_TIMEOUT, "in use");
  OK(qn_release(buffer));
  FAILS(qn_device_drain(t.device, 1000000), QN_ERROR_TIMEOUT, "still in use");
  OK(qn_queue_finish(queue, QN_FOREVER));
  OK(qn_device_drain(t.device, PATIENCE));
  test_close(&t);
}

static void a_full_queue_makes_its_caller_wait_or_says_so(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue patient = test_queue(t.device), hasty = NULL;
  qn_queue_options o = QN_INIT(qn_queue_options);
  o.submit_timeout_ns = 1000;
  OK(qn_queue_create(t.device, &o, &hasty));
  qn_buffer small = test_buffer(t.device, 8), large = test_buffer(t.device, 1 << 21);
  qn_view view = test_view(small, 0, 8);
  char byte = 0;
  qn_point point = {0, 0};
  for (int i = 1; i <= 10000; i++) {
    OK(qn_fill(patient, &view, &byte, 1, &point));
    assert_int_equal(point.value, i);
  }
  qn_view all = test_view(large, 0, QN_WHOLE);
  qn_status status = QN_OK;
  qn_point before = {0, 0}, after = {0, 0};
  for (int i = 0; i < 100000 && status == QN_OK; i++) {
    before = point;
    status = qn_fill(hasty, &all, &byte, 1, &point);
  }
  assert_int_equal(status, QN_ERROR_TIMEOUT);
  assert_non_null(strstr(qn_error_text(), "the queue is full"));
  OK(qn_queue_last(hasty, &after));
  assert_int_equal(after.value, before.value); /* a refused command leaves no hole */
  OK(qn_release(large));
  OK(qn_runtime_close(t.runtime, QN_FOREVER));
}

static void queue_options_are_checked(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = NULL;
  qn_queue_options o = QN_INIT(qn_queue_options);
  o.flags = UINT64_C(1) << 20;
  FAILS(qn_queue_create(t.device, &o, &queue), QN_ERROR_UNSUPPORTED, "unknown flags");
  FAILS(qn_queue_create(t.device, NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "out_queue is NULL");
  queue = test_queue(t.device);
  qn_point p = {0, 0};
  int64_t ns = 0;
  OK(qn_queue_last(queue, &p));
  FAILS(qn_point_elapsed(&p, &p, &ns), QN_ERROR_UNSUPPORTED, "isn't timed");
  FAILS(qn_point_elapsed(NULL, &p, &ns), QN_ERROR_INVALID_ARGUMENT, "a is NULL");
  qn_point nothing = {0, 0};
  FAILS(qn_point_elapsed(&p, &nothing, &ns), QN_ERROR_INVALID_ARGUMENT, "point b");
  test_close(&t);
}

/* ---- Order between queues ---- */

static void test_P6_consumers_on_other_queues_see_what_a_producer_wrote(void **state) {
  (void)state;
  test_device t = test_open("null");
  enum { QUEUES = 7, ROUNDS = 60, SIZE = 1 << 18 };
  qn_queue queues[QUEUES];
  static unsigned char out[QUEUES][SIZE];
  for (int i = 0; i < QUEUES; i++) queues[i] = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, SIZE);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  for (int round = 0; round < ROUNDS; round++) {
    unsigned char byte = (unsigned char)(round + 1);
    qn_queue producer = queues[round % QUEUES];
    OK(qn_fill(producer, &view, &byte, 1, NULL));
    /* More readers than a buffer keeps points of. */
    for (int i = 0; i < QUEUES; i++) OK(qn_read(queues[i], &view, out[i], NULL));
    /* The next writer must wait for all of them. */
    unsigned char other = 255;
    OK(qn_fill(queues[(round + 3) % QUEUES], &view, &other, 1, NULL));
    for (int i = 0; i < QUEUES; i++) OK(qn_queue_finish(queues[i], PATIENCE));
    for (int i = 0; i < QUEUES; i++)
      for (int at = 0; at < SIZE; at += 1023) assert_int_equal(out[i][at], byte);
  }
  test_close(&t);
}

static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

/* Random graphs of fills and copies on several queues give what a serial run gives. */
static void test_P6_random_graphs_run_as_if_in_order(void **state) {
  (void)state;
  enum { QUEUES = 5, BUFFERS = 6, SIZE = 4096, STEPS = 400, SEEDS = 12 };
  static unsigned char model[BUFFERS][SIZE], out[SIZE];
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    test_device t = test_open("null");
    uint64_t random = seed;
    qn_queue queues[QUEUES];
    qn_buffer buffers[BUFFERS];
    unsigned char zero = 0;
    for (int i = 0; i < QUEUES; i++) queues[i] = test_queue(t.device);
    memset(model, 0, sizeof model);
    for (int i = 0; i < BUFFERS; i++) {
      buffers[i] = test_buffer(t.device, SIZE);
      qn_view view = test_view(buffers[i], 0, QN_WHOLE);
      OK(qn_fill(queues[0], &view, &zero, 1, NULL));
    }
    for (int step = 0; step < STEPS; step++) {
      uint32_t q = next_random(&random) % QUEUES, a = next_random(&random) % BUFFERS,
               b = next_random(&random) % BUFFERS;
      uint64_t from = next_random(&random) % SIZE, to = next_random(&random) % SIZE;
      uint64_t room = SIZE - (from > to ? from : to), size = next_random(&random) % (room + 1);
      unsigned char byte = (unsigned char)next_random(&random);
      qn_view va = test_view(buffers[a], from, size), vb = test_view(buffers[b], to, size);
      if (a == b || next_random(&random) % 3 == 0) {
        OK(qn_fill(queues[q], &va, &byte, 1, NULL));
        memset(model[a] + from, byte, (size_t)size);
      } else {
        OK(qn_copy(queues[q], &vb, &va, NULL));
        memcpy(model[b] + to, model[a] + from, (size_t)size);
      }
      /* A queue ends in between, and another takes its place. */
      if (next_random(&random) % 40 == 0) {
        OK(qn_release(queues[q]));
        queues[q] = test_queue(t.device);
      }
    }
    for (int i = 0; i < BUFFERS; i++) {
      qn_view view = test_view(buffers[i], 0, QN_WHOLE);
      OK(qn_read(queues[i % QUEUES], &view, out, NULL));
      OK(qn_queue_finish(queues[i % QUEUES], PATIENCE));
      if (memcmp(out, model[i], SIZE) != 0) fail_msg("seed %llu: buffer %d differs", (unsigned long long)seed, i);
    }
    test_close(&t);
  }
}

static void an_untracked_buffer_is_ordered_by_explicit_waits(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue one = test_queue(t.device), two = test_queue(t.device);
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 1 << 20;
  o.flags = QN_BUFFER_UNTRACKED;
  qn_buffer buffer = NULL;
  OK(qn_buffer_create(t.device, &o, &buffer));
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  static unsigned char out[1 << 20];
  for (int round = 1; round < 50; round++) {
    unsigned char byte = (unsigned char)round;
    qn_point written = {0, 0}, read = {0, 0};
    OK(qn_fill(one, &view, &byte, 1, &written));
    OK(qn_queue_wait(two, &written, 1));
    OK(qn_read(two, &view, out, &read));
    OK(qn_queue_wait(one, &read, 1));
    OK(qn_point_wait(&read, PATIENCE));
    assert_int_equal(out[sizeof out - 1], round);
  }
  OK(qn_release(buffer));
  OK(qn_device_drain(t.device, PATIENCE));
  test_close(&t);
}

static void a_queue_waits_for_points_of_another_device(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_device other = NULL;
  OK(qn_device_open(t.runtime, "null", &other));
  qn_queue here = test_queue(t.device), there = test_queue(other);
  qn_buffer buffer = test_buffer(other, 1 << 24);
  keep_busy(there, buffer, 20);
  qn_point last = {0, 0};
  OK(qn_queue_last(there, &last));
  OK(qn_queue_wait(here, &last, 1));
  OK(qn_point_wait(&last, QN_POLL)); /* the call waited for it */
  test_close(&t);
}

static void many_points_are_waited_for_at_once(void **state) {
  (void)state;
  test_device t = test_open("null");
  enum { QUEUES = 60 };
  qn_point points[2 * QUEUES];
  qn_queue last = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 16);
  for (int i = 0; i < QUEUES; i++) {
    qn_queue queue = test_queue(t.device);
    qn_buffer own = test_buffer(t.device, 1 << 20);
    keep_busy(queue, own, 3);
    OK(qn_queue_last(queue, &points[2 * i]));
    points[2 * i + 1] = points[2 * i];
    points[2 * i + 1].value--;
    OK(qn_release(queue));
    OK(qn_release(own));
  }
  OK(qn_queue_wait(last, points, 2 * QUEUES));
  keep_busy(last, buffer, 1);
  OK(qn_queue_finish(last, PATIENCE));
  for (int i = 0; i < 2 * QUEUES; i++) OK(qn_point_wait(&points[i], QN_POLL));
  test_close(&t);
}

/* ---- Threads ---- */

enum { THREADS = 6 };
typedef struct shared {
  qn_device device;
  qn_queue queues[3];
  qn_buffer buffers[3];
  _Atomic uint32_t next;
} shared;

/* Copies in both directions between shared buffers on shared queues: locks are taken in one order or this hangs. */
static void *copy_to_and_fro(void *given) {
  shared *s = given;
  uint64_t random = atomic_fetch_add(&s->next, 1) + 1;
  for (int i = 0; i < 300; i++) {
    uint32_t a = next_random(&random) % 3, b = (a + 1 + next_random(&random) % 2) % 3;
    qn_view to = test_view(s->buffers[a], 0, QN_WHOLE), from = test_view(s->buffers[b], 0, QN_WHOLE);
    qn_point point = {0, 0};
    if (qn_copy(s->queues[next_random(&random) % 3], &to, &from, &point) != QN_OK) abort();
    if (i % 50 == 0 && qn_point_wait(&point, PATIENCE) != QN_OK) abort();
  }
  return NULL;
}

static void test_P6_many_threads_use_the_same_queues_and_buffers(void **state) {
  (void)state;
  test_device t = test_open("null");
  shared s = {.device = t.device};
  pthread_t threads[THREADS];
  for (int i = 0; i < 3; i++) {
    s.queues[i] = test_queue(t.device);
    s.buffers[i] = test_buffer(t.device, 1000);
    unsigned char byte = 1;
    qn_view view = test_view(s.buffers[i], 0, QN_WHOLE);
    OK(qn_fill(s.queues[i], &view, &byte, 1, NULL));
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, copy_to_and_fro, &s), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 3; i++) OK(qn_queue_finish(s.queues[i], PATIENCE));
  test_close(&t);
}

/* Each thread makes a queue and buffers, uses them, and releases all in some order with work in flight. */
static void *come_and_go(void *given) {
  shared *s = given;
  uint64_t random = atomic_fetch_add(&s->next, 1) + 77;
  for (int i = 0; i < 60; i++) {
    qn_queue queue = NULL;
    if (qn_queue_create(s->device, NULL, &queue) != QN_OK) abort();
    qn_buffer own = test_buffer(s->device, 1 + next_random(&random) % 100000);
    qn_view view = test_view(own, 0, QN_WHOLE), shared_view = test_view(s->buffers[0], 0, QN_WHOLE);
    unsigned char byte = 0;
    qn_point point = {0, 0};
    if (qn_fill(queue, &view, &byte, 1, NULL) != QN_OK) abort();
    if (qn_fill(queue, &shared_view, &byte, 1, &point) != QN_OK) abort();
    const void *first = next_random(&random) % 2 ? (const void *)queue : (const void *)own;
    const void *second = first == (const void *)queue ? (const void *)own : (const void *)queue;
    if (qn_release(first) != QN_OK || qn_release(second) != QN_OK) abort();
    if (next_random(&random) % 4 == 0 && qn_point_wait(&point, PATIENCE) != QN_OK) abort();
  }
  return NULL;
}

static void test_L4_threads_create_and_release_with_work_in_flight(void **state) {
  (void)state;
  test_device t = test_open("null");
  shared s = {.device = t.device};
  s.buffers[0] = test_buffer(t.device, 5000);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &s), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(qn_device_drain(t.device, PATIENCE));
  qn_device_statistics stats = test_statistics(t.device);
  assert_int_equal(stats.queues, 0);
  assert_int_equal(stats.buffers, 1);
  assert_int_equal(stats.awaiting_release, 0);
  assert_int_equal(stats.fills, THREADS * 60 * 2);
  test_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_rise_by_one),
      cmocka_unit_test(test_L5_queue_ids_never_come_back),
      cmocka_unit_test(test_L5_a_retired_queues_points_read_as_complete_for_ever),
      cmocka_unit_test(test_L5_a_value_that_was_not_given_out_is_an_error),
      cmocka_unit_test(waits_keep_their_time_limits),
      cmocka_unit_test(a_full_queue_makes_its_caller_wait_or_says_so),
      cmocka_unit_test(queue_options_are_checked),
      cmocka_unit_test(test_P6_consumers_on_other_queues_see_what_a_producer_wrote),
      cmocka_unit_test(test_P6_random_graphs_run_as_if_in_order),
      cmocka_unit_test(an_untracked_buffer_is_ordered_by_explicit_waits),
      cmocka_unit_test(a_queue_waits_for_points_of_another_device),
      cmocka_unit_test(many_points_are_waited_for_at_once),
      cmocka_unit_test(test_P6_many_threads_use_the_same_queues_and_buffers),
      cmocka_unit_test(test_L4_threads_create_and_release_with_work_in_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
