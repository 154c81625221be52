/* labels: threads once */
/* L3, L4: objects are released in every order while their work is in flight. On the interpreter and on the devices without
 * kernels; test_orders_cpu.c does the same on the processor. */
#include "orders.h"

static void test_L3_all_720_orders_of_release_are_right_on_the_interpreter(void **state) {
  (void)state;
  for (orders o = orders_of(6); orders_next(&o);) release_in_order("check", &o, false);
}

static void test_L3_a_runtime_is_closed_at_each_place_of_an_order_on_the_interpreter(void **state) {
  (void)state;
  for (orders o = orders_of(6); orders_next(&o);) release_in_order("check", &o, true);
}

static void test_L3_all_24_orders_of_release_are_right_without_kernels(void **state) {
  (void)state;
  for (int closes = 0; closes < 2; closes++)
    for (orders o = orders_of(4); orders_next(&o);) release_in_order("null", &o, closes != 0);
}

/* Two threads are left: this one and the library's keeper. */
static void test_L4_everything_that_was_released_ends_by_itself(void **state) {
  (void)state;
  assert_true(threads_fall_to(2 + SANITIZER_THREADS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L3_all_720_orders_of_release_are_right_on_the_interpreter),
      cmocka_unit_test(test_L3_a_runtime_is_closed_at_each_place_of_an_order_on_the_interpreter),
      cmocka_unit_test(test_L3_all_24_orders_of_release_are_right_without_kernels),
      cmocka_unit_test(test_L4_everything_that_was_released_ends_by_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
