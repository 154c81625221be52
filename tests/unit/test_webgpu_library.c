/* labels: threads */
/* What the webgpu adapter does with a library that isn't there, or isn't what it looks like: the reason is told, nothing crashes,
 * and the other adapters go on. */
#include <stdlib.h>

#include "api/support.h"

#define BAD_LIBRARY(name) QUERN_BINARY_DIR "/tests/plugins/webgpu/libquern-webgpu-" name ".so"

static void expect_refused(const char *library, const char *words) {
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  if (library)
    setenv("QUERN_WEBGPU_LIBRARY", library, 1);
  else
    unsetenv("QUERN_WEBGPU_LIBRARY");
  OK(qn_runtime_open(NULL, &runtime));
  FAILS(qn_device_open(runtime, "webgpu:0", &device), QN_ERROR_NOT_FOUND, words);
  OK(qn_device_open(runtime, "check", &device));
  OK(qn_device_open(runtime, "null:0", &device));
  OK(qn_runtime_close(runtime, 60 * SECOND));
}

static void test_a_library_that_is_nowhere(void **state) {
  (void)state;
  expect_refused("/nowhere/libwebgpu.so", "/nowhere/libwebgpu.so");
  expect_refused("/nowhere/libwebgpu.so", "QUERN_WEBGPU_LIBRARY");
}

static void test_no_library(void **state) {
  (void)state;
  expect_refused(NULL, "webgpu");
}

static void test_a_library_of_another_kind(void **state) {
  (void)state;
  expect_refused("libm.so.6", "no generation of webgpu.h that the adapter knows");
}

static void test_an_unknown_generation(void **state) {
  (void)state;
  expect_refused(BAD_LIBRARY("stranger"), "no generation of webgpu.h that the adapter knows");
}

static void test_a_function_is_missing(void **state) {
  (void)state;
  expect_refused(BAD_LIBRARY("lacking"), "lacks wgpuInstanceRelease");
}

static void test_a_crash_stays_in_the_child(void **state) {
  (void)state;
  expect_refused(BAD_LIBRARY("crashing"), "crashed with signal 6");
}

static void test_wrong_answers_are_told(void **state) {
  (void)state;
  expect_refused(BAD_LIBRARY("lying"), "makes no instance");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_library_that_is_nowhere), cmocka_unit_test(test_no_library),
      cmocka_unit_test(test_a_library_of_another_kind), cmocka_unit_test(test_an_unknown_generation),
      cmocka_unit_test(test_a_function_is_missing),     cmocka_unit_test(test_a_crash_stays_in_the_child),
      cmocka_unit_test(test_wrong_answers_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
