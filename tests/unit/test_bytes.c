/* test_bytes.c - the growing buffer. */
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing.h"

static void test_appends_of_every_kind_end_with_nul(void **state) {
  (void)state;
  qn_bytes b = {0};
  qn_bytes_append_str(&b, "");
  assert_string_equal(b.data, ""); /* data is there after an append of nothing */
  qn_bytes_append(&b, "abc", 2);
  qn_bytes_append_sv(&b, QN_SV("cd"));
  qn_bytes_append_sv(&b, qn_sv_make(NULL, 0));
  qn_bytes_append_char(&b, 'e');
  qn_bytes_printf(&b, "%d%s", 12, "f");
  assert_string_equal(b.data, "abcde12f");
  assert_int_equal(b.size, 8);
  assert_true(qn_sv_is(qn_bytes_view(&b), "abcde12f"));
  qn_bytes_free(&b);
  assert_null(b.data);
  assert_true(qn_sv_is(qn_bytes_view(&b), ""));
}

static void test_numbers_are_decimal(void **state) {
  (void)state;
  static const uint64_t numbers[] = {0, 9, 10, 99, 100, 4294967296, UINT64_MAX};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    char expected[32];
    qn_bytes b = {0};
    qn_bytes_append_u64(&b, numbers[i]);
    (void)snprintf(expected, sizeof expected, "%llu", (unsigned long long)numbers[i]);
    assert_string_equal(b.data, expected);
    qn_bytes_free(&b);
  }
}

static void test_text_is_put_between(void **state) {
  (void)state;
  qn_bytes b = {0};
  qn_bytes_insert(&b, 0, QN_SV("ef"));
  qn_bytes_insert(&b, 0, QN_SV("ab"));
  qn_bytes_insert(&b, 2, QN_SV("cd"));
  qn_bytes_insert(&b, 6, QN_SV("gh"));
  qn_bytes_insert(&b, 3, QN_SV(""));
  assert_string_equal(b.data, "abcdefgh");
  assert_int_equal(b.size, 8);
  failing_start(0, true);
  for (int i = 0; i < 100; i++) qn_bytes_insert(&b, 1, QN_SV("xyz"));
  failing_stop();
  assert_true(b.failed);
  assert_int_equal(strlen(b.data), b.size);
  qn_bytes_free(&b);
}

static void test_formats_fit_at_every_fill(void **state) {
  (void)state;
  for (size_t fill = 0; fill < 200; fill++) {
    qn_bytes b = {0};
    for (size_t i = 0; i < fill; i++) qn_bytes_append_char(&b, 'x');
    qn_bytes_printf(&b, "%s", "0123456789");
    assert_int_equal(b.size, fill + 10);
    assert_string_equal(b.data + fill, "0123456789");
    qn_bytes_printf(&b, "%*d", 5000, 7);
    assert_int_equal(b.size, fill + 5010);
    assert_int_equal(strlen(b.data), b.size);
    qn_bytes_free(&b);
  }
}

static void test_growth_is_linear_work(void **state) {
  (void)state;
  qn_bytes b = {0};
  failing_start(UINT64_MAX, false);
  for (int i = 0; i < 1000000; i++) qn_bytes_append_char(&b, (char)i);
  failing_stop();
  assert_int_equal(b.size, 1000000);
  assert_true(b.capacity < 3000000);
  for (int i = 0; i < 1000000; i += 997) assert_int_equal(b.data[i], (char)i);
  qn_bytes_free(&b);
}

static void test_a_failed_growth_is_remembered_and_harmless(void **state) {
  (void)state;
  qn_bytes b = {0};
  failing_start(1, true); /* the first growth works */
  for (int i = 0; i < 100; i++) qn_bytes_printf(&b, "%d,", 1000 + i);
  qn_bytes_append_str(&b, "more");
  bool reserved = qn_bytes_reserve(&b, 1);
  failing_stop();
  assert_true(b.failed);
  assert_false(reserved);
  assert_int_equal(strlen(b.data), b.size);
  assert_memory_equal(b.data, "1000,1001,", 10);
  qn_bytes_free(&b);
  assert_false(b.failed);
}

static void test_reserved_room_begins_with_nul(void **state) {
  (void)state;
  qn_bytes b = {0};
  char *dirty = malloc(200);
  memset(dirty, 'x', 200); /* so that a block of this size isn't zero by luck */
  free(dirty);
  assert_true(qn_bytes_reserve(&b, 150));
  assert_string_equal(b.data, "");
  assert_int_equal(b.size, 0);
  qn_bytes_free(&b);
}

static void test_sizes_that_overflow_fail(void **state) {
  (void)state;
  qn_bytes b = {0};
  qn_bytes_append_str(&b, "abc");
  assert_false(qn_bytes_reserve(&b, SIZE_MAX - 1));
  assert_true(b.failed);
  assert_string_equal(b.data, "abc");
  qn_bytes_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_appends_of_every_kind_end_with_nul),
      cmocka_unit_test(test_numbers_are_decimal),
      cmocka_unit_test(test_text_is_put_between),
      cmocka_unit_test(test_formats_fit_at_every_fill),
      cmocka_unit_test(test_growth_is_linear_work),
      cmocka_unit_test(test_a_failed_growth_is_remembered_and_harmless),
      cmocka_unit_test(test_reserved_room_begins_with_nul),
      cmocka_unit_test(test_sizes_that_overflow_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
