/* labels: threads */
/* test_status.c - error values and the text of the calling thread (L7). */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/thread.h"
#include "support/failing.h"

static qn_status fail_with(int n) { QN_FAIL(QN_ERROR_IO, "'file %d' can't be read", n); }
static qn_status pass_up(int n) {
  QN_TRY(fail_with(n));
  return QN_OK;
}

static void test_L7_a_failure_carries_its_text_up(void **state) {
  (void)state;
  assert_int_equal(pass_up(7), QN_ERROR_IO);
  assert_string_equal(qn_error_text(), "'file 7' can't be read");
  assert_int_equal(qn_error_driver_code(), 0);
}

static qn_status with_tail(int *undone) {
  qn_status status = QN_OK;
  QN_TRY_GOTO(status, fail_with(1), out);
  *undone = -1;
out:
  (*undone)++;
  return status;
}

static void test_a_failure_goes_through_the_tail(void **state) {
  (void)state;
  int undone = 0;
  assert_int_equal(with_tail(&undone), QN_ERROR_IO);
  assert_int_equal(undone, 1);
}

static void test_L7_the_drivers_own_code_is_kept(void **state) {
  (void)state;
  assert_int_equal(qn_error_set_driver(QN_ERROR_DEVICE, -9999, "launch: %s", "bad"), QN_ERROR_DEVICE);
  assert_string_equal(qn_error_text(), "launch: bad");
  assert_int_equal(qn_error_driver_code(), -9999);
  qn_error_prefix("queue %d: ", 3);
  assert_string_equal(qn_error_text(), "queue 3: launch: bad");
  assert_int_equal(qn_error_driver_code(), -9999);
}

static void test_a_text_may_be_made_from_the_present_one(void **state) {
  (void)state;
  assert_int_equal(fail_with(1), QN_ERROR_IO);
  for (int i = 0; i < 8; i++) assert_int_equal(qn_error_set(QN_ERROR_IO, "in: %s", qn_error_text()), QN_ERROR_IO);
  assert_string_equal(qn_error_text(), "in: in: in: in: in: in: in: in: 'file 1' can't be read");
  const char *tail = qn_error_text() + 28;
  assert_int_equal(qn_error_set_text(QN_ERROR_IO, tail, strlen(tail)), QN_ERROR_IO);
  assert_string_equal(qn_error_text(), "in: 'file 1' can't be read");
}

static char *long_text(size_t length) {
  char *text = malloc(length + 1);
  assert_non_null(text);
  for (size_t i = 0; i < length; i++) text[i] = (char)('a' + i % 26);
  text[length] = 0;
  return text;
}

static void test_texts_of_any_length_fit(void **state) {
  (void)state;
  for (size_t length = 1020; length < 1030; length++) {
    char *text = long_text(length);
    assert_int_equal(qn_error_set(QN_ERROR_COMPILE, "%s", text), QN_ERROR_COMPILE);
    assert_string_equal(qn_error_text(), text);
    assert_int_equal(qn_error_set_text(QN_ERROR_COMPILE, text, length), QN_ERROR_COMPILE);
    assert_string_equal(qn_error_text(), text);
    free(text);
  }
  char *large = long_text(300000);
  assert_int_equal(qn_error_set_text(QN_ERROR_COMPILE, large, 300000), QN_ERROR_COMPILE);
  assert_string_equal(qn_error_text(), large);
  qn_error_prefix("more: ");
  assert_memory_equal(qn_error_text(), "more: abc", 9);
  assert_int_equal(strlen(qn_error_text()), 300006);
  /* A part of the long text becomes the text. */
  const char *part = qn_error_text() + 299990;
  assert_int_equal(qn_error_set_text(QN_ERROR_IO, part, 16), QN_ERROR_IO);
  assert_string_equal(qn_error_text(), large + 299984);
  free(large);
}

static void test_without_memory_a_long_text_is_cut_at_a_character(void **state) {
  (void)state;
  char text[2048];
  memset(text, 'x', sizeof text);
  memcpy(text + 1022, "\xc3\xa9", 2); /* the limit of 1,023 bytes falls inside this letter */
  failing_start(0, true);
  qn_status status = qn_error_set_text(QN_ERROR_COMPILE, text, sizeof text);
  bool failed = failing_stop() > 0;
  assert_true(failed);
  assert_int_equal(status, QN_ERROR_COMPILE);
  assert_int_equal(strlen(qn_error_text()), 1022);
  text[2047] = 0;
  failing_start(0, true);
  status = qn_error_set(QN_ERROR_LIMIT, "%s", text);
  failing_stop();
  assert_int_equal(status, QN_ERROR_LIMIT);
  assert_true(strlen(qn_error_text()) >= 1022);
  failing_start(0, true);
  qn_error_prefix("context: ");
  failing_stop();
  assert_int_equal(qn_error_text()[0], 'x'); /* the cause is kept */
}

static void test_saving_and_restoring_brings_text_and_code_back(void **state) {
  (void)state;
  qn_error_saved saved;
  assert_int_equal(qn_error_set_driver(QN_ERROR_DEVICE, 42, "first"), QN_ERROR_DEVICE);
  qn_error_save(&saved);
  assert_int_equal(qn_error_set(QN_ERROR_IO, "clean-up"), QN_ERROR_IO);
  qn_error_restore(&saved);
  assert_string_equal(qn_error_text(), "first");
  assert_int_equal(qn_error_driver_code(), 42);
  assert_null(saved.heap);
}

static void test_errors_of_the_usual_length_allocate_nothing(void **state) {
  (void)state;
  qn_error_saved saved;
  failing_start(0, true);
  assert_int_equal(qn_error_set(QN_ERROR_IO, "the file is gone"), QN_ERROR_IO);
  qn_error_prefix("reading '%s': ", "a.cl");
  qn_error_save(&saved);
  assert_int_equal(qn_error_set(QN_ERROR_LIMIT, "another"), QN_ERROR_LIMIT);
  qn_error_restore(&saved);
  bool failed = failing_stop();
  assert_false(failed);
  assert_string_equal(qn_error_text(), "reading 'a.cl': the file is gone");
}

static void test_a_long_text_is_saved_whole_and_cut_without_memory(void **state) {
  (void)state;
  static char text[5000];
  qn_error_saved saved;
  memset(text, 'x', sizeof text - 1);
  for (int without = 0; without < 2; without++) {
    assert_int_equal(qn_error_set_text(QN_ERROR_COMPILE, text, sizeof text - 1), QN_ERROR_COMPILE);
    if (without) failing_start(0, true);
    qn_error_save(&saved);
    if (without) assert_true(failing_stop());
    assert_int_equal(qn_error_set(QN_ERROR_LIMIT, "another"), QN_ERROR_LIMIT);
    qn_error_restore(&saved);
    assert_int_equal(strlen(qn_error_text()), without ? 1023 : sizeof text - 1);
  }
}

static void test_every_status_has_its_name(void **state) {
  (void)state;
  assert_string_equal(qn_status_name(QN_OK), "QN_OK");
  assert_string_equal(qn_status_name(QN_ERROR_INTERNAL), "QN_ERROR_INTERNAL");
  assert_string_equal(qn_status_name(12345), "unknown status");
#define QN_X(name, value, text)                      \
  assert_string_equal(qn_status_name(value), #name); \
  assert_true((value) <= 1 && strlen(text) > 0);
  QN_STATUS_LIST(QN_X)
#undef QN_X
}

/* ---- Threads ---- */

typedef struct other {
  char first[64];
  int failed;
} other;

static void other_thread(void *given) {
  other *o = given;
  snprintf(o->first, sizeof o->first, "[%s]", qn_error_text());
  char *large = long_text(5000); /* a heap block that ends with this thread; the leak checker watches */
  for (int i = 0; i < 100; i++) {
    if (qn_error_set(QN_ERROR_IO, "%d %s", i, large) != QN_ERROR_IO) o->failed++;
    if (strtol(qn_error_text(), NULL, 10) != i) o->failed++;
  }
  free(large);
}

static void test_L7_each_thread_has_its_own_text(void **state) {
  (void)state;
  enum { COUNT = 4 };
  qn_thread threads[COUNT];
  other others[COUNT] = {0};
  assert_int_equal(qn_error_set(QN_ERROR_IO, "of the first thread"), QN_ERROR_IO);
  for (int i = 0; i < COUNT; i++)
    assert_int_equal(qn_thread_start(&threads[i], "other", other_thread, &others[i]), QN_OK);
  for (int i = 0; i < COUNT; i++) qn_thread_join(&threads[i]);
  assert_string_equal(qn_error_text(), "of the first thread");
  for (int i = 0; i < COUNT; i++) {
    assert_string_equal(others[i].first, "[]");
    assert_int_equal(others[i].failed, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L7_a_failure_carries_its_text_up),
      cmocka_unit_test(test_a_failure_goes_through_the_tail),
      cmocka_unit_test(test_L7_the_drivers_own_code_is_kept),
      cmocka_unit_test(test_a_text_may_be_made_from_the_present_one),
      cmocka_unit_test(test_texts_of_any_length_fit),
      cmocka_unit_test(test_without_memory_a_long_text_is_cut_at_a_character),
      cmocka_unit_test(test_saving_and_restoring_brings_text_and_code_back),
      cmocka_unit_test(test_errors_of_the_usual_length_allocate_nothing),
      cmocka_unit_test(test_a_long_text_is_saved_whole_and_cut_without_memory),
      cmocka_unit_test(test_every_status_has_its_name),
      cmocka_unit_test(test_L7_each_thread_has_its_own_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
