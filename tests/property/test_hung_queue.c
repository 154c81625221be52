/* labels: threads */
/* What a hung queue holds back, on the simulated device with kernels (P4). */
#include "support.h"

static void test_P4_a_hung_queue_does_not_hold_back_kernels(void **state) {
  (void)state;
  property_device d = property_open("null", "kernels=1");
  const null_control *control = d.control;
  qn_queue hung = test_queue(d.device), well = test_queue(d.device);
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program = NULL;
  qn_kernel kernel = NULL, busy = NULL;
  qn_buffer buffer = test_buffer(d.device, 64), other = test_buffer(d.device, 64);
  o.source = "kernel void one(global int *a) { a[0] = 1; } kernel void two(global int *a) { a[0] = 2; }";
  OK(qn_program_build(d.device, &o, &program));
  OK(qn_kernel_get(program, "one", &kernel));
  OK(qn_kernel_get(program, "two", &busy));
  qn_point point = {0, 0};
  OK(qn_queue_last(hung, &point));
  control->hold(control->device, point.queue, 1);
  OK(qn_launch(hung, busy, QN_RANGE_1D(1), QN_ARGS(other), NULL));
  OK(qn_launch(well, kernel, QN_RANGE_1D(1), QN_ARGS(buffer), NULL));
  OK(qn_queue_finish(well, PATIENCE));
  OK(qn_release(kernel));
  OK(qn_device_drain(d.device, PATIENCE)); /* with a fence over all queues it would take for ever */
  OK(qn_release(busy));
  assert_int_equal(qn_device_drain(d.device, 5000000), QN_ERROR_TIMEOUT);
  control->go(control->device, 0);
  OK(qn_device_drain(d.device, PATIENCE));
  property_close(&d);
}

int main(void) {
  property_watch();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_P4_a_hung_queue_does_not_hold_back_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
