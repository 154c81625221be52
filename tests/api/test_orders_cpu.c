/* labels: threads warm once */
/* L3, L4: the orders of release of test_orders.c, on the processor. */
#include "orders.h"
#include "support/warm.h"

static void test_L3_all_720_orders_of_release_are_right(void **state) {
  (void)state;
  for (orders o = orders_of(6); orders_next(&o);) release_in_order("cpu", &o, false);
}

static void test_L3_a_runtime_is_closed_at_each_place_of_an_order(void **state) {
  (void)state;
  for (orders o = orders_of(6); orders_next(&o);) release_in_order("cpu", &o, true);
}

static void test_L4_everything_that_was_released_ends_by_itself(void **state) {
  (void)state;
  assert_true(threads_fall_to(2 + SANITIZER_THREADS));
}

static void the_code_generator_was_not_needed(void **state) {
  (void)state;
  assert_false(has_code_generator());
}

int main(void) {
  const char *const sources[] = {orders_source};
  if (!warm_start(sources, 1)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L3_all_720_orders_of_release_are_right),
      cmocka_unit_test(test_L3_a_runtime_is_closed_at_each_place_of_an_order),
      cmocka_unit_test(test_L4_everything_that_was_released_ends_by_itself),
      cmocka_unit_test(the_code_generator_was_not_needed),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return failed;
}
