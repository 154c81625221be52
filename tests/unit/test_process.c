/* Other programs: how they ended, what they said, and time limits. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "base/os/clock.h"
#include "base/os/process.h"
#include "base/status.h"
#include "support/process.h"

static const uint64_t SECOND = UINT64_C(1000000000);

static qn_process_end run_shell(const char *script, uint64_t timeout_ns) {
  const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
  qn_process_end end = {.word = 77};
  if (qn_process_run(arguments, timeout_ns, &end) != QN_OK) fail_msg("%s", qn_error_text());
  return end;
}

static void the_end_of_a_program_is_told(void **state) {
  (void)state;
  qn_process_end end = run_shell("exit 5", 60 * SECOND);
  assert_true(end.is_known);
  assert_int_equal(end.exit_status, 5);
  assert_int_equal(end.signal, 0);
  assert_int_equal(end.word, -1);
  end = run_shell("kill -11 $$", 60 * SECOND);
  assert_true(end.is_known);
  assert_int_equal(end.signal, SIGSEGV);
  assert_string_equal(end.signal_name, "Segmentation fault");
}

static void a_program_may_say_a_word(void **state) {
  (void)state;
  assert_int_equal(run_shell("printf y >&3", 60 * SECOND).word, 'y');
  assert_int_equal(run_shell("printf nonsense >&3; kill -9 $$", 60 * SECOND).word, 'n');
  assert_int_equal(run_shell("printf y", 60 * SECOND).word, -1); /* its output is closed to it */
}

static void a_program_that_does_not_end_is_killed(void **state) {
  (void)state;
  uint64_t start = qn_clock_ns();
  qn_process_end end = run_shell("sleep 100", SECOND / 20);
  assert_true(end.timed_out);
  assert_true(qn_clock_ns() - start < 20 * SECOND);
  /* One that leaves a child of its own with the descriptors: that isn't waited for. */
  end = run_shell("sleep 3 & exit 4", 60 * SECOND);
  assert_false(end.timed_out);
  assert_int_equal(end.exit_status, 4);
  assert_true(qn_clock_ns() - start < 20 * SECOND);
}

static void a_program_that_is_not_there_is_named(void **state) {
  (void)state;
  const char *const arguments[] = {"/nowhere/at/all", NULL};
  qn_process_end end;
  assert_int_equal(qn_process_run(arguments, SECOND, &end), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(qn_error_text(), "/nowhere/at/all"));
}

static void a_word_arrives_when_the_end_does_not(void **state) {
  (void)state;
  assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
  qn_process_end end = run_shell("printf y >&3", 60 * SECOND);
  assert_int_equal(end.word, 'y');
  end = run_shell("kill -11 $$", 60 * SECOND);
  assert_false(end.is_known);
  assert_int_equal(end.word, -1);
  assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

static void no_descriptor_is_left_open_here_or_handed_on(void **state) {
  (void)state;
  uint64_t before = count_descriptors();
  for (int i = 0; i < 20; i++) run_shell("exit 0", 60 * SECOND);
  assert_int_equal(count_descriptors(), before);
  /* 0, 1, 2 and 3, and the one that looks. */
  assert_int_equal(run_shell("test $(ls /proc/self/fd | wc -l) -le 5", 60 * SECOND).exit_status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_end_of_a_program_is_told),
      cmocka_unit_test(a_program_may_say_a_word),
      cmocka_unit_test(a_program_that_does_not_end_is_killed),
      cmocka_unit_test(a_program_that_is_not_there_is_named),
      cmocka_unit_test(a_word_arrives_when_the_end_does_not),
      cmocka_unit_test(no_descriptor_is_left_open_here_or_handed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
