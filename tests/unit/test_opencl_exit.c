/* labels: threads opencl */
/* The end of a process while the driver compiles (compiles.h): over the tests' own driver, which calls itself PoCL. */
#include "support/opencl_fake.h"

static qn_adapter_program *program;
static qn_adapter_kernel *kernel;
static stream s;

static void begin_with(const char *platform) {
  fake_reset();
  fake->platforms[0].name = platform;
  fixture_told = NULL;
  fixture_tellings = 0;
  open_device(0);
  program = make_program("nothing");
  kernel = make_kernel(program, "nothing", "");
  s = make_stream(0);
}
static int begin(void **state) {
  (void)state;
  begin_with("Portable Computing Language");
  return 0;
}
static int end(void **state) {
  finish(&s);
  drop_stream(&s);
  expect_ok(ocl->kernel_destroy(device, kernel));
  expect_ok(ocl->program_destroy(device, program));
  fake_end(state);
  assert_null(fixture_told);
  return 0;
}

static qn_launch_record groups_of(uint64_t local) { return launch_1d(kernel, 64, local, NULL, 0); }
static void launch(uint64_t local) {
  const qn_launch_record record = groups_of(local);
  submit_launch(&s, &record);
}
static qn_status try_launch(uint64_t local) {
  const qn_launch_record record = groups_of(local);
  return try_submit(&s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &record});
}
static void exit_begins(void) { fixture_told(fixture_told_user); }

/* Lets the driver have compiled, some time from now. */
enum { COMPILING_MS = 60 };
static void *have_compiled(void *given) {
  (void)given;
  sleep_ms(COMPILING_MS);
  fake->compiles = 0;
  return NULL;
}
static pthread_t start_compiling(void) {
  pthread_t thread;
  fake->compiles = 1;
  assert_int_equal(pthread_create(&thread, NULL, have_compiled, NULL), 0);
  return thread;
}

static void test_L6_the_first_launch_returns_when_its_kernel_is_compiled(void **state) {
  (void)state;
  uint32_t before = fixture_tellings;
  pthread_t thread = start_compiling();
  launch(8);
  assert_int_equal(fake->compiles, 0);
  assert_true(fixture_tellings > before); /* what the compiler registered is behind us */
  pthread_join(thread, NULL);
}

static void test_L6_exit_waits_for_what_compiles(void **state) {
  (void)state;
  launch(8);
  finish(&s);
  pthread_t thread = start_compiling();
  launch(16); /* returns at once */
  assert_int_equal(fake->compiles, 1);
  exit_begins();
  assert_int_equal(fake->compiles, 0);
  pthread_join(thread, NULL);
}

static void test_L6_exit_does_not_wait_for_work(void **state) {
  (void)state;
  launch(8);
  finish(&s);
  fake->holds = 1;
  launch(8);
  uint64_t start = now_ns();
  exit_begins();
  assert_true(now_ns() - start < UINT64_C(200000000)); /* less than it has for what may compile in a moment */
  fake->holds = 0;
}

static void test_L6_exit_waits_a_moment_for_a_launch_behind_long_work(void **state) {
  (void)state;
  launch(8);
  finish(&s);
  fake->holds = 1;
  launch(16);
  uint64_t start = now_ns();
  exit_begins();
  assert_in_range(now_ns() - start, UINT64_C(200000000), UINT64_C(5000000000));
  fake->holds = 0;
}

static void test_L6_nothing_compiles_any_more(void **state) {
  (void)state;
  qn_adapter_program *other = NULL;
  uint64_t builds = fake->calls[FAKE_BuildProgram];
  launch(8);
  finish(&s);
  exit_begins();
  assert_int_equal(try_launch(16), QN_ERROR_CLOSED);
  assert_non_null(strstr(error_text, "the process is about to end"));
  assert_int_equal(try_program(QN_CODE_OPENCL_C, "nothing", 7, &other), QN_ERROR_CLOSED);
  assert_int_equal(fake->calls[FAKE_BuildProgram], builds);
  launch(8);
}

/* Each group size, offset or wider range may be compiled for; the others have no event of their own for it. */
static void test_launches_for_which_nothing_new_is_compiled(void **state) {
  (void)state;
  const qn_launch_record wide = launch_1d(kernel, 4096, 8, NULL, 0), narrow = launch_1d(kernel, 8, 8, NULL, 0);
  launch(8);
  finish(&s);
  fake->compiles = 1;
  submit_launch(&s, &narrow);
  launch(8);
  uint64_t start = now_ns();
  exit_begins();
  assert_true(now_ns() - start < UINT64_C(200000000));
  assert_int_equal(try_submit(&s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &wide}), QN_ERROR_CLOSED);
  fake->compiles = 0;
}

static void test_the_call_is_renewed_ever_more_seldom(void **state) {
  (void)state;
  uint32_t before = fixture_tellings;
  for (uint64_t local = 1; local <= 64; local++) {
    const qn_launch_record record = launch_1d(kernel, local, local, NULL, 0);
    submit_launch(&s, &record);
    finish(&s);
  }
  assert_in_range(fixture_tellings - before, 5, 9);
}

static void test_other_drivers_are_left_alone(void **state) {
  (void)state;
  begin_with("Fake");
  assert_int_equal(fixture_tellings, 0);
  pthread_t thread = start_compiling();
  launch(8);
  assert_int_equal(fake->compiles, 1);
  pthread_join(thread, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {TEST(test_L6_the_first_launch_returns_when_its_kernel_is_compiled),
                                     TEST(test_L6_exit_waits_for_what_compiles),
                                     TEST(test_L6_exit_does_not_wait_for_work),
                                     TEST(test_L6_exit_waits_a_moment_for_a_launch_behind_long_work),
                                     TEST(test_L6_nothing_compiles_any_more),
                                     TEST(test_launches_for_which_nothing_new_is_compiled),
                                     TEST(test_the_call_is_renewed_ever_more_seldom),
                                     cmocka_unit_test_teardown(test_other_drivers_are_left_alone, end)};
  return cmocka_run_group_tests(tests, fake_load, NULL);
}
