/* The last points of what nobody orders: kernels, untracked buffers, queues that are waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "core/uses.h"
#include "support/failing.h"
#include "support/timelines.h"

enum { QUEUES = 11 };
static tl_queue queues[QUEUES];

static void open_all(void) {
  for (int i = 0; i < QUEUES; i++) tl_open(&queues[i], 1000);
}
static void close_all(void) {
  for (int i = 0; i < QUEUES; i++) tl_close(&queues[i]);
}

static void use(core_uses *uses, const tl_queue *q, uint64_t value) {
  _Atomic uint64_t *slot = NULL;
  assert_int_equal(core_uses_claim(uses, q->id, &slot), QN_OK);
  atomic_store(slot, value);
}

static uint32_t count_of(const core_uses *uses) {
  qn_point points[2 * QUEUES];
  return core_uses_points(uses, points, 2 * QUEUES);
}

static void test_P4_an_object_waits_for_its_own_queues_alone(void **state) {
  (void)state;
  core_uses uses = {0};
  open_all();
  assert_false(core_uses_is_pending(&uses));
  use(&uses, &queues[0], 3);
  use(&uses, &queues[1], 1);
  use(&uses, &queues[0], 4); /* the last one counts */
  assert_int_equal(count_of(&uses), 2);
  tl_complete(&queues[0], 3);
  tl_complete(&queues[1], 1);
  assert_int_equal(count_of(&uses), 1);
  assert_true(core_uses_is_pending(&uses));
  tl_complete(&queues[0], 4);
  assert_false(core_uses_is_pending(&uses));
  core_uses_clear(&uses);
  close_all();
}

static void every_queue_that_used_it_is_remembered(void **state) {
  (void)state;
  core_uses uses = {0};
  open_all();
  for (int i = 0; i < QUEUES; i++) use(&uses, &queues[i], 7);
  assert_int_equal(count_of(&uses), QUEUES);
  for (int i = QUEUES - 1; i >= 0; i--) {
    assert_true(core_uses_is_pending(&uses));
    tl_complete(&queues[i], 7);
    assert_int_equal(count_of(&uses), i);
  }
  core_uses_clear(&uses);
  close_all();
}

static void slots_of_queues_that_are_gone_are_used_again(void **state) {
  (void)state;
  core_uses uses = {0};
  for (int i = 0; i < 1000; i++) {
    tl_queue q;
    tl_open(&q, 10);
    use(&uses, &q, 5);
    assert_int_equal(count_of(&uses), 1);
    tl_close(&q);
  }
  assert_null(atomic_load(&uses.first.next)); /* no slot on the heap for a thousand queues */
  core_uses_clear(&uses);
}

static void test_P3_a_failure_is_remembered_when_its_queue_is_gone(void **state) {
  (void)state;
  core_uses uses = {0};
  tl_queue bad, good;
  qn_point point = {0, 0};
  tl_open(&bad, 10);
  use(&uses, &bad, 5);
  bad.queue.failed_first = 4;
  tl_close(&bad);
  for (int i = 0; i < 10; i++) {
    tl_open(&good, 10);
    use(&uses, &good, 1);
    tl_close(&good);
  }
  assert_false(core_uses_is_pending(&uses));
  assert_int_equal(core_uses_points(&uses, &point, 1), 1);
  assert_int_equal(point.queue, bad.id);
  core_uses_clear(&uses);
}

static void a_lack_of_memory_is_told_before_anything_is_noted(void **state) {
  (void)state;
  open_all();
  core_uses uses = {0};
  for (int i = 0; i < CORE_USES_SLOTS; i++) use(&uses, &queues[i], 1);
  _Atomic uint64_t *slot = NULL;
  failing_start(0, true);
  assert_int_equal(core_uses_claim(&uses, queues[9].id, &slot), QN_ERROR_OUT_OF_HOST_MEMORY);
  assert_int_equal(failing_stop(), 1);
  assert_int_equal(count_of(&uses), CORE_USES_SLOTS);
  use(&uses, &queues[9], 1);
  assert_int_equal(count_of(&uses), CORE_USES_SLOTS + 1);
  core_uses_clear(&uses);
  close_all();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_P4_an_object_waits_for_its_own_queues_alone),
      cmocka_unit_test(every_queue_that_used_it_is_remembered),
      cmocka_unit_test(slots_of_queues_that_are_gone_are_used_again),
      cmocka_unit_test(test_P3_a_failure_is_remembered_when_its_queue_is_gone),
      cmocka_unit_test(a_lack_of_memory_is_told_before_anything_is_noted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
