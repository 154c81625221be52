/* labels: threads */
/* L7: the text of a failure names the kernels that may be to blame: those at each queue's first incomplete point. */
#include "support.h"

enum { LATER = 300 };

static const char source[] =
    "kernel void alpha(global int *x) { x[0] = 1; }\n"
    "kernel void beta(global int *x) { x[0] = 2; }\n"
    "kernel void gamma(global int *x) { x[0] = 3; }\n";

typedef struct fixture {
  property_device d;
  qn_kernel alpha, beta, gamma;
  qn_queue queues[3];
  qn_buffer buffers[3];
} fixture;

static fixture set_up(const char *settings) {
  fixture f = {.d = property_open("null", "kernels=1,%s", settings)};
  qn_program program = NULL;
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  OK(qn_program_build(f.d.device, &o, &program));
  f.alpha = test_kernel(program, "alpha");
  f.beta = test_kernel(program, "beta");
  f.gamma = test_kernel(program, "gamma");
  for (int i = 0; i < 3; i++) {
    f.queues[i] = test_queue(f.d.device);
    f.buffers[i] = test_buffer(f.d.device, 64);
  }
  return f;
}

static qn_point launch(const fixture *f, int queue, qn_kernel kernel) {
  qn_point point = {0, 0};
  OK(qn_launch(f->queues[queue], kernel, QN_RANGE_1D(1), QN_ARGS(f->buffers[queue]), &point));
  return point;
}

static uint64_t id_of(qn_queue queue) {
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  return last.queue;
}

/* Far more launches after the one that fails than any fixed list of names would hold. */
static void test_L7_a_queues_failure_names_its_kernel_among_all_in_flight(void **state) {
  (void)state;
  fixture f = set_up("domain=1");
  f.d.control->hold(f.d.control->device, id_of(f.queues[0]), 1);
  launch(&f, 0, f.alpha);
  qn_point bad = launch(&f, 0, f.beta);
  for (int i = 0; i < LATER; i++) launch(&f, 0, f.gamma);
  f.d.control->fail_at(f.d.control->device, bad.queue, bad.value, 7, "smoke");
  f.d.control->go(f.d.control->device, bad.queue);
  FAILS(qn_point_wait(&bad, PATIENCE), QN_ERROR_DEVICE, "failed at value 2, kernel 'beta': ");
  assert_int_equal(qn_error_driver_code(), 7);
  property_close(&f.d);
}

static void test_L7_a_device_that_fails_names_the_kernels_that_each_queue_was_at(void **state) {
  (void)state;
  fixture f = set_up("domain=3");
  const null_control *control = f.d.control;
  launch(&f, 1, f.gamma); /* complete, then beta begins and hangs */
  OK(qn_queue_finish(f.queues[1], PATIENCE));
  control->hold(control->device, id_of(f.queues[1]), 2);
  launch(&f, 1, f.beta);
  for (int i = 0; i < LATER; i++) launch(&f, 1, f.gamma);
  control->fail_at(control->device, id_of(f.queues[0]), 1, 7, "smoke");
  qn_point bad = launch(&f, 0, f.alpha);
  FAILS(qn_point_wait(&bad, PATIENCE), QN_ERROR_DEVICE, "smoke");
  char text[2048];
  snprintf(text, sizeof text, "%s", qn_error_text());
  const char *list = strstr(text, "; candidate kernels: 'alpha' (queue ");
  assert_non_null(list);
  assert_non_null(strstr(list, ", 'beta' (queue "));
  assert_null(strstr(list, "gamma")); /* complete, behind beta, or not launched at all */
  FAILS(qn_queue_finish(f.queues[1], PATIENCE), QN_ERROR_DEVICE, "smoke");
  assert_string_equal(qn_error_text(), text); /* the first cause is that of all */
  property_close(&f.d);
}

int main(void) {
  property_watch();
  const struct CMUnitTest tests[] = {
      PROPERTY_TEST(test_L7_a_queues_failure_names_its_kernel_among_all_in_flight),
      PROPERTY_TEST(test_L7_a_device_that_fails_names_the_kernels_that_each_queue_was_at),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
