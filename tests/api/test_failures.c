/* labels: threads */
/* What goes wrong on a device, and what a hung one holds back: with an adapter that fails on command (tests/plugins). */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "fake_device.h"

static uint64_t id_of(qn_queue queue) {
  qn_point point = {0, 0};
  OK(qn_queue_last(queue, &point));
  return point.queue;
}

/* ---- Release ------------------------------------------------------------------------------------ */

static void test_L4_release_makes_no_call_into_an_adapter(void **state) {
  (void)state;
  fixture f = open_fake();
  enum { OBJECTS = 300 };
  const void *objects[OBJECTS];
  qn_queue queue = test_queue(f.t.device);
  f.control->allowed = 0;
  for (int i = 0; i < OBJECTS; i++) {
    if (i % 2) {
      objects[i] = test_queue(f.t.device);
    } else {
      qn_buffer buffer = test_buffer(f.t.device, 64);
      objects[i] = buffer;
      fill(queue, buffer, 1);
    }
  }
  f.control->watched = pthread_self();
  f.control->watch = 1;
  for (int i = 0; i < OBJECTS; i++) OK(qn_release(objects[i]));
  OK(qn_release(queue));
  OK(qn_release(f.t.device));
  assert_int_equal(f.control->watched_calls, 0);
  f.control->watch = 0;
  close_fake(&f);
}

static void test_L4_release_does_not_wait_for_the_reaper(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_buffer buffers[100];
  for (int i = 0; i < 100; i++) buffers[i] = test_buffer(f.t.device, 1 << 14); /* too large to be kept */
  qn_queue queue = test_queue(f.t.device);
  f.control->block_destroy = 1;
  OK(qn_release(buffers[0]));
  while (!f.control->blocked) continue; /* the reaper is in the driver, with all the locks that it holds there */
  for (int i = 1; i < 100; i++) OK(qn_release(buffers[i]));
  OK(qn_release(queue));
  OK(qn_release(f.t.device));
  OK(qn_release(f.t.runtime));
  f.control->block_destroy = 0;
  while (f.control->devices != 0) continue; /* everything ends by itself */
  assert_int_equal(f.control->memories, 0);
  assert_int_equal(f.control->queues, 0);
}

static void test_L4_nothing_is_freed_before_its_points_are_complete(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 1 << 14);
  f.control->allowed = 0;
  qn_point point = fill(queue, buffer, 1);
  OK(qn_release(buffer));
  OK(qn_release(queue));
  for (int i = 0; i < 20; i++) {
    FAILS(qn_device_drain(f.t.device, 1000000), QN_ERROR_TIMEOUT, "2 released objects");
    assert_int_equal(f.control->memories, 1);
    assert_int_equal(f.control->queues, 1);
  }
  assert_int_equal(qn_point_wait(&point, QN_POLL), QN_NOT_READY); /* the point outlives its queue's handle */
  f.control->allowed = 1;
  OK(qn_point_wait(&point, PATIENCE));
  OK(qn_device_drain(f.t.device, PATIENCE));
  assert_int_equal(f.control->memories, 0);
  assert_int_equal(f.control->queues, 0);
  close_fake(&f);
}

static void test_P4_a_hung_queue_holds_back_only_its_own(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue hung = test_queue(f.t.device), well = test_queue(f.t.device);
  f.control->allowed = 0;
  f.control->open_queue = id_of(well);
  qn_buffer stuck = test_buffer(f.t.device, 1 << 14), free_to_go = test_buffer(f.t.device, 1 << 14);
  fill(hung, stuck, 1);
  qn_point done = fill(well, free_to_go, 1);
  OK(qn_point_wait(&done, PATIENCE));
  OK(qn_release(stuck));
  OK(qn_release(free_to_go));
  OK(qn_release(well));
  FAILS(qn_device_drain(f.t.device, 20000000), QN_ERROR_TIMEOUT, "1 released objects");
  assert_int_equal(f.control->memories, 1);
  assert_int_equal(f.control->queues, 1);
  close_fake(&f);
}

static void test_L4_draining_and_closing_report_what_the_driver_refused(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_buffer buffer = test_buffer(f.t.device, 1 << 14);
  f.control->refuse_destroy = 1;
  OK(qn_release(buffer));
  FAILS(qn_device_drain(f.t.device, PATIENCE), QN_ERROR_DEVICE, "refused to destroy a buffer: the fake refuses");
  assert_int_equal(qn_error_driver_code(), 700);
  OK(qn_device_drain(f.t.device, PATIENCE)); /* told once */
  test_buffer(f.t.device, 1 << 14);
  FAILS(qn_runtime_close(f.t.runtime, PATIENCE), QN_ERROR_DEVICE, "the fake refuses");
  assert_int_equal(qn_error_driver_code(), 700);
}

static void a_refusal_in_passing_leaves_the_callers_text_alone(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_buffer buffer = test_buffer(f.t.device, 1 << 14);
  FAILS(qn_handle_kind(NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "out_kind");
  f.control->refuse_destroy = 1;
  OK(qn_release(buffer));
  for (int i = 0; i < 10; i++) test_buffer(f.t.device, 64); /* which collects */
  assert_non_null(strstr(qn_error_text(), "out_kind"));
  f.control->refuse_destroy = 0;
  qn_status status = qn_runtime_close(f.t.runtime, PATIENCE);
  assert_int_equal(status, QN_ERROR_DEVICE);
}

static void closing_over_a_hung_queue_keeps_its_time_limit(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 0;
  qn_point point = fill(queue, buffer, 1);
  FAILS(qn_runtime_close(f.t.runtime, 10000000), QN_ERROR_TIMEOUT, "still have work in flight");
  FAILS(qn_queue_finish(queue, 0), QN_ERROR_INVALID_HANDLE, "stale");
  FAILS(qn_runtime_close(f.t.runtime, 0), QN_ERROR_INVALID_HANDLE, "stale");
  f.control->allowed = UINT64_MAX;
  OK(qn_point_wait(&point, PATIENCE));
  while (f.control->devices != 0) continue; /* the rest goes when the work is done */
  assert_int_equal(f.control->queues, 0);
  OK(qn_point_wait(&point, QN_POLL));
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static void test_L7_a_failed_command_gives_its_cause_at_each_wait(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue bad = test_queue(f.t.device), good = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64), other = test_buffer(f.t.device, 64);
  f.control->fail_queue = id_of(bad);
  f.control->fail_at = 2;
  qn_point first = fill(bad, buffer, 1), second = fill(bad, buffer, 2), third = fill(bad, buffer, 3);
  char words[100]; /* the queue as points name it */
  snprintf(words, sizeof words, "queue %llu failed at value 2: the fake fell over", (unsigned long long)second.queue);
  for (int i = 0; i < 2; i++) {
    OK(qn_point_wait(&first, PATIENCE));
    FAILS(qn_point_wait(&second, PATIENCE), QN_ERROR_DEVICE_LOST, words);
    assert_int_equal(qn_error_driver_code(), 999);
    FAILS(qn_point_wait(&third, PATIENCE), QN_ERROR_DEVICE_LOST, "failed at value 2");
    FAILS(qn_queue_finish(bad, PATIENCE), QN_ERROR_DEVICE_LOST, "fell over");
  }
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  qn_point unchanged = {8, 9};
  FAILS(qn_fill(bad, &view, "x", 1, &unchanged), QN_ERROR_DEVICE_LOST, "fell over");
  assert_int_equal(unchanged.queue, 8);
  FAILS(qn_queue_wait(good, &second, 1), QN_ERROR_DEVICE_LOST, "fell over");
  qn_point fine = fill(good, other, 1); /* nothing outside the failure's domain is touched */
  OK(qn_point_wait(&fine, PATIENCE));
  fine = fill(good, buffer, 1);
  OK(qn_point_wait(&fine, PATIENCE));
  OK(qn_release(bad));
  OK(qn_device_drain(f.t.device, PATIENCE));
  assert_int_equal(f.control->queues, 1);
  for (int i = 0; i < 200; i++) OK(qn_release(test_queue(f.t.device))); /* slots of queues are used again */
  FAILS(qn_point_wait(&second, QN_POLL), QN_ERROR_DEVICE_LOST, "failed at value 2: the fake fell over");
  OK(qn_point_wait(&first, QN_POLL));
  close_fake(&f);
  FAILS(qn_point_wait(&third, QN_POLL), QN_ERROR_DEVICE_LOST, "fell over"); /* for ever */
}

static void test_L5_a_rejected_submission_leaves_no_hole(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device), other = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  qn_point point = {0, 0};
  for (uint64_t i = 1; i <= 20; i++) {
    f.control->reject_submits = 1;
    FAILS(qn_fill(queue, &view, "x", 1, &point), QN_ERROR_DEVICE, "the fake rejects this submission");
    assert_int_equal(qn_error_driver_code(), 5);
    OK(qn_fill(queue, &view, "x", 1, &point));
    assert_int_equal(point.value, i);
  }
  f.control->allowed = 0;
  point = fill(queue, buffer, 1);
  f.control->reject_submits = 1; /* a batch with a wait in it */
  FAILS(qn_fill(other, &view, "x", 1, NULL), QN_ERROR_DEVICE, "rejects");
  qn_point last = {0, 0};
  OK(qn_queue_last(other, &last));
  assert_int_equal(last.value, 0);
  OK(qn_fill(other, &view, "x", 1, &last)); /* the wait was not lost with the rejection */
  assert_int_equal(last.value, 2);
  assert_int_equal(f.control->waits, 1);
  f.control->allowed = UINT64_MAX;
  OK(qn_point_wait(&last, PATIENCE));
  close_fake(&f);
}

static void a_lack_of_device_memory_is_told_after_some_patience(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_buffer buffer = NULL;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 64;
  f.control->no_memory = 1;
  FAILS(qn_buffer_create(f.t.device, &o, &buffer), QN_ERROR_OUT_OF_MEMORY, "the fake has no memory");
  assert_null(buffer);
  f.control->no_memory = 0;
  OK(qn_buffer_create(f.t.device, &o, &buffer));
  /* What is released and in use may come back: the call waits for it. */
  qn_queue queue = test_queue(f.t.device);
  f.control->allowed = 0;
  fill(queue, buffer, 1);
  OK(qn_release(buffer));
  f.control->no_memory = 1;
  f.control->allowed = 1;
  OK(qn_buffer_create(f.t.device, &o, &buffer));
  close_fake(&f);
}

/* ---- Waits between queues ----------------------------------------------------------------------- */

static void test_P6_waits_are_not_doubled(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue one = test_queue(f.t.device), two = test_queue(f.t.device), three = test_queue(f.t.device);
  qn_buffer a = test_buffer(f.t.device, 64), b = test_buffer(f.t.device, 64), c = test_buffer(f.t.device, 64);
  qn_view va = test_view(a, 0, QN_WHOLE), vb = test_view(b, 0, QN_WHOLE), vc = test_view(c, 0, QN_WHOLE);
  f.control->allowed = 0;
  fill(one, a, 1);
  fill(one, b, 2);
  OK(qn_copy(two, &vc, &va, NULL)); /* waits for value 1 of `one` */
  assert_int_equal(f.control->waits, 1);
  OK(qn_copy(two, &vc, &va, NULL));
  assert_int_equal(f.control->waits, 1);
  OK(qn_copy(two, &vc, &vb, NULL)); /* for value 2 */
  assert_int_equal(f.control->waits, 2);
  OK(qn_copy(two, &vc, &va, NULL)); /* 1 is before 2 */
  assert_int_equal(f.control->waits, 2);
  fill(two, c, 3); /* its own queue */
  assert_int_equal(f.control->waits, 2);
  qn_point points[2] = {{id_of(one), 1}, {id_of(one), 2}};
  OK(qn_queue_wait(two, points, 2));
  assert_int_equal(f.control->waits, 2);
  OK(qn_queue_wait(three, points, 2)); /* one wait, for the later of the two */
  assert_int_equal(f.control->waits, 3);
  f.control->allowed = UINT64_MAX;
  OK(qn_queue_finish(two, PATIENCE));
  OK(qn_queue_finish(three, PATIENCE));
  fill(three, c, 4); /* complete: nothing to wait for */
  assert_int_equal(f.control->waits, 3);
  close_fake(&f);
}

static void test_P6_readers_do_not_wait_for_each_other_until_there_are_many(void **state) {
  (void)state;
  fixture f = open_fake();
  enum { QUEUES = 8 };
  qn_queue queues[QUEUES];
  char out[QUEUES][64];
  for (int i = 0; i < QUEUES; i++) queues[i] = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  OK(qn_fill(queues[0], &view, "a", 1, NULL));
  OK(qn_queue_finish(queues[0], PATIENCE));
  f.control->allowed = 0;
  for (int i = 0; i < 4; i++) OK(qn_read(queues[i], &view, out[i], NULL));
  assert_int_equal(f.control->waits, 0);
  for (int i = 4; i < QUEUES; i++) OK(qn_read(queues[i], &view, out[i], NULL)); /* each stands for one before it */
  assert_int_equal(f.control->waits, QUEUES - 4);
  OK(qn_fill(queues[0], &view, "b", 1, NULL));
  assert_int_equal(f.control->waits, QUEUES - 4 + 4);
  /* The writer may go only after each reader, also those that are merged. */
  f.control->open_queue = id_of(queues[0]);
  assert_int_equal(qn_queue_finish(queues[0], 5000000), QN_ERROR_TIMEOUT);
  f.control->allowed = UINT64_MAX;
  for (int i = 0; i < QUEUES; i++) OK(qn_queue_finish(queues[i], PATIENCE));
  for (int i = 0; i < QUEUES; i++) assert_int_equal(out[i][63], 'a');
  close_fake(&f);
}

static void test_L5_a_queue_outlives_the_waits_for_it(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue early = test_queue(f.t.device), late = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 0;
  qn_point point = fill(early, buffer, 1);
  fill(late, buffer, 2); /* waits for `early` */
  f.control->open_queue = id_of(early);
  OK(qn_point_wait(&point, PATIENCE)); /* `early` is complete, `late` has not looked yet */
  OK(qn_release(early));
  FAILS(qn_device_drain(f.t.device, 20000000), QN_ERROR_TIMEOUT, "1 released objects");
  assert_int_equal(f.control->queues, 2); /* its wait would look at freed memory */
  OK(qn_point_wait(&point, QN_POLL));
  f.control->allowed = UINT64_MAX;
  OK(qn_queue_finish(late, PATIENCE));
  OK(qn_device_drain(f.t.device, PATIENCE));
  assert_int_equal(f.control->queues, 1);
  close_fake(&f);
}

static void a_full_queue_takes_the_command_when_there_is_room(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue_options o = QN_INIT(qn_queue_options);
  o.submit_timeout_ns = 2000000;
  qn_queue queue = NULL;
  OK(qn_queue_create(f.t.device, &o, &queue));
  qn_buffer buffer = test_buffer(f.t.device, 64);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  f.control->capacity = 3;
  f.control->allowed = 0;
  for (int i = 0; i < 3; i++) fill(queue, buffer, 1);
  FAILS(qn_fill(queue, &view, "x", 1, NULL), QN_ERROR_TIMEOUT, "the queue is full: 3 commands are in flight");
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  assert_int_equal(last.value, 3);
  f.control->allowed = 1;
  qn_point fourth = fill(queue, buffer, 1);
  assert_int_equal(fourth.value, 4);
  close_fake(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L4_release_makes_no_call_into_an_adapter),
      cmocka_unit_test(test_L4_release_does_not_wait_for_the_reaper),
      cmocka_unit_test(test_L4_nothing_is_freed_before_its_points_are_complete),
      cmocka_unit_test(test_P4_a_hung_queue_holds_back_only_its_own),
      cmocka_unit_test(test_L4_draining_and_closing_report_what_the_driver_refused),
      cmocka_unit_test(a_refusal_in_passing_leaves_the_callers_text_alone),
      cmocka_unit_test(closing_over_a_hung_queue_keeps_its_time_limit),
      cmocka_unit_test(test_L7_a_failed_command_gives_its_cause_at_each_wait),
      cmocka_unit_test(test_L5_a_rejected_submission_leaves_no_hole),
      cmocka_unit_test(a_lack_of_device_memory_is_told_after_some_patience),
      cmocka_unit_test(test_P6_waits_are_not_doubled),
      cmocka_unit_test(test_P6_readers_do_not_wait_for_each_other_until_there_are_many),
      cmocka_unit_test(test_L5_a_queue_outlives_the_waits_for_it),
      cmocka_unit_test(a_full_queue_takes_the_command_when_there_is_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
