/* test_os_system.c - pages, libraries, cores, environment. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/cpu.h"
#include "base/os/dl.h"
#include "base/os/environment.h"
#include "base/os/memory.h"
#include "base/status.h"

/* ---- Pages ---- */

static void test_pages_are_zeroed_and_take_the_access_asked_for(void **state) {
  (void)state;
  void *at;
  size_t size = 3 * qn_pages_size() - 5;
  assert_int_equal(qn_pages_map(size, QN_PAGES_READ | QN_PAGES_WRITE, &at), QN_OK);
  char *bytes = at;
  for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], 0);
  memset(bytes, 7, 3 * qn_pages_size()); /* whole pages are ours */
  assert_int_equal(qn_pages_protect(at, size, QN_PAGES_READ), QN_OK);
  assert_int_equal(bytes[size], 7);
  qn_pages_unmap(at, size);
  qn_pages_unmap(NULL, 0);
}

static void test_large_pages_are_aligned_and_zeroed(void **state) {
  (void)state;
  size_t size = 2 * QN_LARGE_PAGE;
  for (int i = 0; i < 3; i++) {
    char *at = qn_large_pages_map(size);
    assert_non_null(at);
    assert_int_equal((uintptr_t)at % QN_LARGE_PAGE, 0);
    for (size_t j = 0; j < size; j += 64) assert_int_equal(at[j], 0);
    memset(at, 7, size);
    qn_pages_unmap(at, size);
  }
  assert_null(qn_large_pages_map(0));
  assert_null(qn_large_pages_map(4096)); /* no multiple */
  assert_null(qn_large_pages_map(SIZE_MAX & ~(QN_LARGE_PAGE - 1)));
}

static int exit_of_child_that_writes(char *at) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); /* not the test runner's handler */
    *(volatile char *)at = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static void test_protected_pages_trap(void **state) {
  (void)state;
  void *at;
  assert_int_equal(qn_pages_map(1, QN_PAGES_READ | QN_PAGES_WRITE, &at), QN_OK);
  assert_int_equal(exit_of_child_that_writes(at), 0);
  assert_int_equal(qn_pages_protect(at, 1, QN_PAGES_NONE), QN_OK);
  assert_true(exit_of_child_that_writes(at) != 0);
  qn_pages_unmap(at, 1);
}

#ifdef __x86_64__
/* The sanitizer of undefined behaviour reads in front of a function that is called by pointer: the page before these. */
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
static void
test_code_in_pages_runs(void **state) {
  (void)state;
  static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov eax, 42; ret */
  void *at;
  assert_int_equal(qn_pages_map(sizeof code, QN_PAGES_READ | QN_PAGES_WRITE, &at), QN_OK);
  memcpy(at, code, sizeof code);
  assert_int_equal(qn_pages_protect(at, sizeof code, QN_PAGES_READ | QN_PAGES_EXECUTE), QN_OK);
  int (*function)(void);
  memcpy(&function, &at, sizeof function);
  assert_int_equal(function(), 42);
  qn_pages_unmap(at, sizeof code);
}
#endif

static void test_impossible_pages_are_an_error(void **state) {
  (void)state;
  void *at = &at;
  assert_int_equal(qn_pages_map(SIZE_MAX, QN_PAGES_READ, &at), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(qn_pages_map(0, QN_PAGES_READ, &at), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(qn_pages_map(SIZE_MAX - (1 << 20), QN_PAGES_READ, &at), QN_ERROR_OUT_OF_HOST_MEMORY);
  assert_ptr_equal(at, &at);
  assert_int_equal(qn_pages_protect((void *)(uintptr_t)qn_pages_size(), 1, QN_PAGES_READ), QN_ERROR_INTERNAL);
  assert_non_null(strstr(qn_error_text(), "r--"));
}

static void test_L6_a_forked_child_finds_zeros(void **state) {
  (void)state;
  void *at;
  assert_int_equal(qn_pages_map(1, QN_PAGES_READ | QN_PAGES_WRITE, &at), QN_OK);
  assert_int_equal(qn_pages_wipe_on_fork(at, 1), QN_OK);
  *(char *)at = 5;
  pid_t child = fork();
  if (child == 0) _exit(*(char *)at);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(*(char *)at, 5);
  qn_pages_unmap(at, 1);
}

/* ---- Libraries ---- */

static void test_a_library_gives_its_functions(void **state) {
  (void)state;
  qn_library *library;
  unsigned (*version)(void) = NULL;
  assert_int_equal(qn_library_open("libzstd.so.1", &library), QN_OK);
  assert_int_equal(QN_LIBRARY_FUNCTION(library, "libzstd.so.1", "ZSTD_versionNumber", &version), QN_OK);
  assert_true(version() >= 10000);
  assert_int_equal(QN_LIBRARY_FUNCTION(library, "libzstd.so.1", "ZSTD_noSuch", &version), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(qn_error_text(), "'libzstd.so.1' has no symbol 'ZSTD_noSuch'"));
  assert_true(version() >= 10000); /* unchanged by the failure */
  qn_library_close(library);
  qn_library_close(NULL);
}

static void test_L7_a_library_that_does_not_load_says_why(void **state) {
  (void)state;
  qn_library *library = NULL;
  assert_int_equal(qn_library_open("/nonexistent/libx.so", &library), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(qn_error_text(), "/nonexistent/libx.so"));
  assert_non_null(strstr(qn_error_text(), "No such file"));
  assert_int_equal(qn_library_open("/proc/self/status", &library), QN_ERROR_NOT_FOUND);
  assert_null(library);
}

/* ---- Cores ---- */

static void test_affinity_bounds_the_core_count(void **state) {
  (void)state;
  cpu_set_t before, single;
  uint32_t all = qn_cpu_count();
  assert_true(all >= 1);
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  assert_true(all <= (uint32_t)CPU_COUNT(&before));
  CPU_ZERO(&single);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &single);
      break;
    }
  assert_int_equal(sched_setaffinity(0, sizeof single, &single), 0);
  uint32_t bound = qn_cpu_count();
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(bound, 1);
}

static void test_control_group_quotas_round_up(void **state) {
  (void)state;
  assert_int_equal(qn_cpu_quota_parse("max 100000\n"), 0);
  assert_int_equal(qn_cpu_quota_parse("-1 100000"), 0);
  assert_int_equal(qn_cpu_quota_parse("100000 100000\n"), 1);
  assert_int_equal(qn_cpu_quota_parse("150000 100000\n"), 2);
  assert_int_equal(qn_cpu_quota_parse("1000 100000\n"), 1);
  assert_int_equal(qn_cpu_quota_parse("400000 100000\n"), 4);
  assert_int_equal(qn_cpu_quota_parse("99999999999999999999 1"), 65536);
  static const char *const nonsense[] = {"", "100000", "100000 ", "100000 0", "0 100000", "x 1", "1x 1"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) assert_int_equal(qn_cpu_quota_parse(nonsense[i]), 0);
}

/* ---- Environment ---- */

static void test_an_empty_variable_is_not_set(void **state) {
  (void)state;
  setenv("QUERN_TEST_VARIABLE", "x", 1);
  assert_string_equal(qn_environment("QUERN_TEST_VARIABLE"), "x");
  setenv("QUERN_TEST_VARIABLE", "", 1);
  assert_null(qn_environment("QUERN_TEST_VARIABLE"));
  unsetenv("QUERN_TEST_VARIABLE");
  assert_null(qn_environment("QUERN_TEST_VARIABLE"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pages_are_zeroed_and_take_the_access_asked_for),
      cmocka_unit_test(test_large_pages_are_aligned_and_zeroed),
      cmocka_unit_test(test_protected_pages_trap),
#ifdef __x86_64__
      cmocka_unit_test(test_code_in_pages_runs),
#endif
      cmocka_unit_test(test_impossible_pages_are_an_error),
      cmocka_unit_test(test_L6_a_forked_child_finds_zeros),
      cmocka_unit_test(test_a_library_gives_its_functions),
      cmocka_unit_test(test_L7_a_library_that_does_not_load_says_why),
      cmocka_unit_test(test_affinity_bounds_the_core_count),
      cmocka_unit_test(test_control_group_quotas_round_up),
      cmocka_unit_test(test_an_empty_variable_is_not_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
