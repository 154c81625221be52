/* test_log.c - QUERN_LOG. Topics are read once a process, so each case runs in a child of its own. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What two log lines write to standard error with QUERN_LOG=setting. */
static const char *output_with(const char *setting) {
  static char output[8192];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    if (setting) {
      setenv("QUERN_LOG", setting, 1);
    } else {
      unsetenv("QUERN_LOG");
    }
    QN_LOG(CACHE, "hit %d", 1);
    QN_LOG(LAUNCH, "%s", "kernel");
    QN_LOG(CACHE, "hit %d", 2);
    _exit(0);
  }
  close(ends[1]);
  size_t size = 0;
  for (ssize_t got; (got = read(ends[0], output + size, sizeof output - 1 - size)) > 0;) size += (size_t)got;
  output[size] = 0;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  return output;
}

static void test_nothing_is_logged_unless_asked_for(void **state) {
  (void)state;
  assert_string_equal(output_with(NULL), "");
  assert_string_equal(output_with(""), "");
  assert_string_equal(output_with("memory"), "");
}

static void test_topics_choose_lines(void **state) {
  (void)state;
  assert_string_equal(output_with("cache"), "quern: cache: hit 1\nquern: cache: hit 2\n");
  assert_string_equal(output_with("launch,compile"), "quern: launch: kernel\n");
  assert_string_equal(output_with("cache,launch"), output_with("all"));
  assert_string_equal(output_with(",cache,,"), "quern: cache: hit 1\nquern: cache: hit 2\n");
}

static void test_an_unknown_topic_is_told_once_with_those_that_exist(void **state) {
  (void)state;
  const char *output = output_with("cash,launch");
  const char *line = "quern: QUERN_LOG has no topic 'cash'; there are: runtime, adapter, compile, cache,";
  assert_memory_equal(output, line, strlen(line));
  assert_string_equal(strchr(output, '\n'), "\nquern: launch: kernel\n");
}

static void test_a_long_unknown_topic_is_cut(void **state) {
  (void)state;
  char setting[5000];
  memset(setting, 'x', sizeof setting - 1);
  setting[sizeof setting - 1] = 0;
  assert_true(strlen(output_with(setting)) < 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_logged_unless_asked_for),
      cmocka_unit_test(test_topics_choose_lines),
      cmocka_unit_test(test_an_unknown_topic_is_told_once_with_those_that_exist),
      cmocka_unit_test(test_a_long_unknown_topic_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
