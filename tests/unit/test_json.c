/* Text in JSON: what is escaped, what is UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "base/json.h"
#include "support/failing.h"

static void gives(const char *text, const char *wanted) {
  qn_bytes out = {0};
  qn_json_append_text(&out, text);
  assert_false(out.failed);
  assert_string_equal(out.data, wanted);
  qn_bytes_free(&out);
}

static void test_plain_text_stays(void **state) {
  (void)state;
  gives("", "\"\"");
  gives("saxpy(float4*)", "\"saxpy(float4*)\"");
  gives("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8d\x9e", "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8d\x9e\"");
}

static void test_what_would_end_or_break_a_string_is_escaped(void **state) {
  (void)state;
  gives("a\"b\\c", "\"a\\\"b\\\\c\"");
  gives("\x01\t\n\x1f\x7f", "\"\\u0001\\u0009\\u000a\\u001f\\u007f\"");
}

static void test_what_is_not_utf8_becomes_question_marks(void **state) {
  (void)state;
  gives(
      "a\xff"
      "b",
      "\"a?b\"");
  gives("\x80\xbf", "\"??\"");           /* no lead */
  gives("\xc3", "\"?\"");                /* cut off */
  gives("\xe2\x82", "\"??\"");           /* cut off */
  gives("\xc3(", "\"?(\"");              /* no continuation */
  gives("\xc0\xaf", "\"??\"");           /* longer than needed */
  gives("\xe0\x80\xaf", "\"???\"");      /* longer than needed */
  gives("\xed\xa0\x80", "\"???\"");      /* a surrogate */
  gives("\xf4\x90\x80\x80", "\"????\""); /* past U+10FFFF */
  gives("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"");
}

static void test_a_lack_of_memory_is_told_by_the_buffer(void **state) {
  (void)state;
  uint64_t failures = 0;
  FAILING_EACH(n) {
    qn_bytes out = {0};
    qn_json_append_text(&out, "0123456789012345678901234567890123456789012345678901234567890123456789\n");
    failures += out.failed;
    qn_bytes_free(&out);
  }
  assert_true(failures > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_text_stays),
      cmocka_unit_test(test_what_would_end_or_break_a_string_is_escaped),
      cmocka_unit_test(test_what_is_not_utf8_becomes_question_marks),
      cmocka_unit_test(test_a_lack_of_memory_is_told_by_the_buffer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
