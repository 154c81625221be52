/* labels: threads */
/* What a queue already waits for: the bounded clock of P1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>
#include <pthread.h>

#include "core/known.h"
#include "support/timelines.h"

enum { QUEUES = 12 };
static tl_queue queues[QUEUES];

static int open_queues(void **state) {
  (void)state;
  for (int i = 0; i < QUEUES; i++) tl_open(&queues[i], 1000);
  return 0;
}
static int close_queues(void **state) {
  (void)state;
  for (int i = 0; i < QUEUES; i++) tl_close(&queues[i]);
  return 0;
}

static qn_point at(int queue, uint64_t value) { return (qn_point){queues[queue].id, value}; }

static void note(core_known *known, int queue, uint64_t value, uint64_t since, bool is_direct) {
  const qn_point point = at(queue, value);
  core_known_note(known, &point, since, is_direct);
}

static bool covers(const core_known *known, int queue, uint64_t value) {
  const qn_point point = at(queue, value);
  return core_known_covers(known, &point);
}

/* The value of a queue that commands from `since` on wait for; 0: none. */
static uint64_t value_at(const core_known *known, uint64_t since, int queue) {
  qn_point points[CORE_KNOWN_QUEUES];
  uint32_t count = core_known_at(known, since, points);
  for (uint32_t i = 0; i < count; i++)
    if (points[i].queue == queues[queue].id) return points[i].value;
  return 0;
}

static void a_later_value_covers_the_earlier_ones(void **state) {
  (void)state;
  core_known known = {0};
  assert_false(covers(&known, 1, 1));
  note(&known, 1, 5, 10, true);
  assert_true(covers(&known, 1, 5) && covers(&known, 1, 1));
  assert_false(covers(&known, 1, 6) || covers(&known, 2, 1));
  note(&known, 1, 3, 11, true); /* no news */
  assert_true(covers(&known, 1, 5));
  core_known_clear(&known);
  assert_false(covers(&known, 1, 1));
}

static void test_P1_what_was_known_at_a_value_is_not_what_came_later(void **state) {
  (void)state;
  core_known known = {0};
  note(&known, 1, 5, 10, true);
  note(&known, 1, 9, 20, true);
  assert_int_equal(value_at(&known, 9, 1), 0);
  assert_int_equal(value_at(&known, 10, 1), 5);
  assert_int_equal(value_at(&known, 19, 1), 5);
  assert_int_equal(value_at(&known, 20, 1), 9);
  assert_int_equal(value_at(&known, UINT64_MAX, 1), 9);
  note(&known, 1, 12, 30, true);
  assert_int_equal(value_at(&known, 15, 1), 0); /* two versions: the oldest is forgotten */
  assert_int_equal(value_at(&known, 25, 1), 9);
}

static void test_P1_an_overflow_forgets_what_is_complete_first(void **state) {
  (void)state;
  core_known known = {0};
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++) note(&known, i, 10, 1, true);
  tl_complete(&queues[3], 10);
  note(&known, 8, 10, 2, true);
  assert_true(covers(&known, 8, 10));
  assert_false(covers(&known, 3, 10));
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++) assert_true(i == 3 || covers(&known, i, 10));
  note(&known, 9, 10, 3, false); /* learned: drives nothing out that is pending */
  assert_false(covers(&known, 9, 10));
  note(&known, 9, 10, 3, true);
  assert_true(covers(&known, 9, 10));
  int left = 0;
  for (int i = 0; i < QUEUES; i++) left += covers(&known, i, 10);
  assert_int_equal(left, CORE_KNOWN_QUEUES);
  tl_complete(&queues[9], 10);
  note(&known, 10, 10, 4, false); /* in the place of what is complete it may stand */
  assert_true(covers(&known, 10, 10));
}

/* ---- Readers on other threads ---------------------------------------------------------------------- */

static core_known shared;
static _Atomic int ends;

/* The writer notes value 10 * n of two queues from n on: whoever reads must never see more than that. */
static void *read_on(void *given) {
  uint64_t *seen = given;
  while (!atomic_load(&ends)) {
    qn_point points[CORE_KNOWN_QUEUES];
    uint32_t count = core_known_at(&shared, 50, points);
    for (uint32_t i = 0; i < count; i++) {
      if (points[i].value > 500 || points[i].value % 10 != 0) *seen = points[i].value;
    }
  }
  return NULL;
}

static void readers_on_other_threads_see_what_was_true(void **state) {
  (void)state;
  pthread_t thread;
  uint64_t wrong = 0;
  assert_int_equal(pthread_create(&thread, NULL, read_on, &wrong), 0);
  for (int round = 0; round < 200; round++) {
    core_known_clear(&shared);
    for (uint64_t n = 1; n <= 100; n++)
      for (int q = 1; q <= 2; q++) note(&shared, q, 10 * n, n, true);
  }
  atomic_store(&ends, 1);
  pthread_join(thread, NULL);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_later_value_covers_the_earlier_ones, open_queues, close_queues),
      cmocka_unit_test_setup_teardown(test_P1_what_was_known_at_a_value_is_not_what_came_later, open_queues,
                                      close_queues),
      cmocka_unit_test_setup_teardown(test_P1_an_overflow_forgets_what_is_complete_first, open_queues, close_queues),
      cmocka_unit_test_setup_teardown(readers_on_other_threads_see_what_was_true, open_queues, close_queues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
