/* test_string_view.c - views, numbers, distance, hash. */
#include "base/string_view.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/text.h"

static void test_comparisons_know_empty_views(void **state) {
  (void)state;
  qn_sv none = qn_sv_from(NULL), empty = QN_SV("");
  assert_true(qn_sv_equal(none, empty));
  assert_true(qn_sv_starts_with(none, empty));
  assert_true(qn_sv_ends_with(none, none));
  assert_false(qn_sv_starts_with(none, QN_SV("a")));
  assert_true(qn_sv_starts_with(QN_SV("abc"), QN_SV("ab")));
  assert_false(qn_sv_starts_with(QN_SV("ab"), QN_SV("abc")));
  assert_true(qn_sv_ends_with(QN_SV("abc"), QN_SV("bc")));
  assert_false(qn_sv_ends_with(QN_SV("abc"), QN_SV("ab")));
  assert_true(qn_sv_is(QN_SV("abc"), "abc"));
  assert_false(qn_sv_is(QN_SV("abc"), "abcd"));
}

static void test_signed_integers_are_exact_to_the_ends(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {{"0", 0},
              {"-0", 0},
              {"+7", 7},
              {"0x1F", 31},
              {"-0xa", -10},
              {"0007", 7},
              {"9223372036854775807", INT64_MAX},
              {"-9223372036854775808", INT64_MIN},
              {"0x7fffffffffffffff", INT64_MAX},
              {"-0x8000000000000000", INT64_MIN}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    int64_t value = 99;
    assert_true(qn_sv_to_i64(qn_sv_from(good[i].text), &value));
    assert_true(value == good[i].value);
  }
  static const char *const bad[] = {"",
                                    "-",
                                    "+",
                                    "0x",
                                    "--1",
                                    "1 ",
                                    " 1",
                                    "1.0",
                                    "1e3",
                                    "abc",
                                    "0xg",
                                    "1a",
                                    "0b1",
                                    "1_",
                                    "0X",
                                    "-0x",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t value = 99;
    assert_false(qn_sv_to_i64(qn_sv_from(bad[i]), &value));
    assert_int_equal(value, 99);
  }
}

static void test_unsigned_integers_take_no_minus(void **state) {
  (void)state;
  uint64_t value = 99;
  assert_true(qn_sv_to_u64(QN_SV("18446744073709551615"), &value));
  assert_true(value == UINT64_MAX);
  assert_true(qn_sv_to_u64(QN_SV("0xffffffffffffffff"), &value));
  assert_true(value == UINT64_MAX);
  value = 99;
  assert_false(qn_sv_to_u64(QN_SV("18446744073709551616"), &value));
  assert_false(qn_sv_to_u64(QN_SV("0x10000000000000000"), &value));
  assert_false(qn_sv_to_u64(QN_SV("-1"), &value));
  assert_false(qn_sv_to_u64(qn_sv_make("12\0", 3), &value));
  assert_int_equal(value, 99);
  assert_true(qn_sv_to_u64(qn_sv_make("123", 2), &value)); /* the view's end counts, not the NUL */
  assert_int_equal(value, 12);
}

static double to_f64(const char *text) {
  double value = -12345;
  assert_true(qn_sv_to_f64(qn_sv_from(text), &value));
  return value;
}

static void test_floating_numbers_take_all_of_cs_forms(void **state) {
  (void)state;
  assert_true(to_f64("1.5") == 1.5);
  assert_true(to_f64("-.5e1") == -5);
  assert_true(to_f64("0x1.8p3") == 12);
  assert_true(to_f64("4.9406564584124654e-324") > 0);
  assert_true(isinf(to_f64("inf")) && isinf(to_f64("-INFINITY")) && isinf(to_f64("1e999")));
  assert_true(isnan(to_f64("nan")));
  char digits[400];
  memset(digits, '3', sizeof digits - 1);
  digits[1] = '.';
  digits[sizeof digits - 1] = 0;
  assert_true(fabs(to_f64(digits) - 10.0 / 3) < 1e-15);
  double value;
  static const char *const bad[] = {"", " 1", "1 ", "\n1", "1,5", "abc", "1.5x", "--1", "0x", "1e"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(qn_sv_to_f64(qn_sv_from(bad[i]), &value));
  assert_false(qn_sv_to_f64(qn_sv_make("1\0", 2), &value));
}

static int format(char *buffer, size_t size, const char *text, ...) {
  va_list args;
  va_start(args, text);
  int length = qn_text_format(buffer, size, text, args);
  va_end(args);
  return length;
}

static char locales[] = "/tmp/quern-locales-XXXXXX";

/* A locale with a decimal comma, made for this test: few machines have one. */
static void use_decimal_comma(void) {
  char command[256];
  assert_non_null(mkdtemp(locales));
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", locales);
  assert_int_equal(system(command), 0);
  setenv("LOCPATH", locales, 1);
  assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
}

static void test_a_decimal_comma_of_the_locale_changes_nothing(void **state) {
  (void)state;
  use_decimal_comma();
  char buffer[64];
  snprintf(buffer, sizeof buffer, "%.2f", 1.5);
  assert_string_equal(buffer, "1,50"); /* the C library itself writes a comma now */
  assert_int_equal(format(buffer, sizeof buffer, "%.2f", 1.5), 4);
  assert_string_equal(buffer, "1.50");
  assert_true(to_f64("2.5") == 2.5);
  setlocale(LC_ALL, "C");
  snprintf(buffer, sizeof buffer, "rm -rf %s", locales);
  assert_int_equal(system(buffer), 0);
}

/* Distance by the definition, for short words. */
static size_t slow_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), d[10][10];
  for (size_t i = 0; i <= n; i++)
    for (size_t j = 0; j <= m; j++) {
      size_t best = i + j;
      if (i > 0 && j > 0) {
        size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
        best = d[i - 1][j] + 1 < d[i][j - 1] + 1 ? d[i - 1][j] + 1 : d[i][j - 1] + 1;
        if (change < best) best = change;
      }
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[n][m];
}

static void test_distance_counts_single_typing_mistakes(void **state) {
  (void)state;
  assert_int_equal(qn_sv_distance(QN_SV("sqrt"), QN_SV("sqrt")), 0);
  assert_int_equal(qn_sv_distance(QN_SV("sqrt"), QN_SV("sqr")), 1);
  assert_int_equal(qn_sv_distance(QN_SV("sqrt"), QN_SV("sqtr")), 1);
  assert_int_equal(qn_sv_distance(QN_SV("sqrt"), QN_SV("sqqrt")), 1);
  assert_int_equal(qn_sv_distance(QN_SV(""), QN_SV("abc")), 3);
  assert_int_equal(qn_sv_distance(qn_sv_from(NULL), qn_sv_from(NULL)), 0);
  uint32_t seed = 7;
  for (int i = 0; i < 5000; i++) {
    char words[2][10];
    for (int w = 0; w < 2; w++) {
      seed = seed * 1664525u + 1013904223u;
      size_t length = (seed >> 20) % 9;
      for (size_t j = 0; j < length; j++) {
        seed = seed * 1664525u + 1013904223u;
        words[w][j] = (char)('a' + (seed >> 28) % 3);
      }
      words[w][length] = 0;
    }
    assert_int_equal(qn_sv_distance(qn_sv_from(words[0]), qn_sv_from(words[1])), slow_distance(words[0], words[1]));
  }
}

static void test_distance_of_long_names_is_bounded_work(void **state) {
  (void)state;
  size_t size = 10000000;
  char *a = malloc(size), *b = malloc(size);
  memset(a, 'a', size);
  memset(b, 'b', size);
  assert_int_equal(qn_sv_distance(qn_sv_make(a, size), qn_sv_make(b, size)), size);
  assert_int_equal(qn_sv_distance(qn_sv_make(a, size), qn_sv_make(a, size)), 0);
  assert_int_equal(qn_sv_distance(qn_sv_make(a, 64), qn_sv_make(b, 64)), 64);
  free(a);
  free(b);
}

static void test_hashes_spread_similar_names(void **state) {
  (void)state;
  enum { BUCKETS = 4096, NAMES = 65536 };
  static unsigned taken[BUCKETS];
  for (unsigned i = 0; i < NAMES; i++) {
    char name[16];
    snprintf(name, sizeof name, "t%u", i);
    taken[qn_sv_hash(qn_sv_from(name)) % BUCKETS]++;
  }
  unsigned most = 0;
  for (unsigned i = 0; i < BUCKETS; i++) most = taken[i] > most ? taken[i] : most;
  assert_true(most < 48); /* 16 expected; a Poisson tail reaches 48 once in 10^10 */
  assert_true(qn_sv_hash(qn_sv_make("\0", 1)) != qn_sv_hash(qn_sv_make("\0\0", 2)));
  assert_true(qn_sv_hash(QN_SV("")) == qn_sv_hash(qn_sv_from(NULL)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_comparisons_know_empty_views),
      cmocka_unit_test(test_signed_integers_are_exact_to_the_ends),
      cmocka_unit_test(test_unsigned_integers_take_no_minus),
      cmocka_unit_test(test_floating_numbers_take_all_of_cs_forms),
      cmocka_unit_test(test_a_decimal_comma_of_the_locale_changes_nothing),
      cmocka_unit_test(test_distance_counts_single_typing_mistakes),
      cmocka_unit_test(test_distance_of_long_names_is_bounded_work),
      cmocka_unit_test(test_hashes_spread_similar_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
