/* The choice of a work-group size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "base/status.h"
#include "core/local_size.h"

static core_local_limits limits(void) {
  return (core_local_limits){
      .max_local_size = {4096, 4096, 1024}, .max_group_items = 4096, .preferred_group_items = 256, .compute_units = 4};
}

static void choose(const core_local_limits *l, uint32_t dimensions, uint64_t x, uint64_t y, uint64_t z,
                   uint64_t local[3]) {
  const uint64_t global[3] = {x, y, z}, none[3] = {0, 0, 0};
  if (core_local_size(l, dimensions, global, none, local) != QN_OK) fail_msg("%s", qn_error_text());
}

static void every_choice_is_within_the_limits(void **state) {
  (void)state;
  srand(3);
  for (int i = 0; i < 20000; i++) {
    core_local_limits l = limits();
    l.preferred_group_items = (uint32_t)rand() % 2000;
    l.compute_units = (uint32_t)rand() % 64;
    l.max_group_items = 1 + (uint64_t)rand() % 4096;
    for (int d = 0; d < 3; d++) l.max_local_size[d] = 1 + (uint64_t)rand() % 5000;
    uint32_t dimensions = 1 + (uint32_t)rand() % 3;
    uint64_t global[3] = {1, 1, 1}, local[3] = {0, 0, 0}, items = 1;
    for (uint32_t d = 0; d < dimensions; d++) global[d] = 1 + (uint64_t)rand() % (rand() % 2 ? 100 : 1000000);
    choose(&l, dimensions, global[0], global[1], global[2], local);
    for (int d = 0; d < 3; d++) {
      assert_true(local[d] >= 1 && local[d] <= global[d]);
      assert_true(local[d] <= l.max_local_size[d]);
      items *= local[d];
    }
    assert_true(items <= l.max_group_items);
  }
}

static void rows_come_first_and_sizes_divide_where_they_can(void **state) {
  (void)state;
  core_local_limits l = limits();
  uint64_t local[3];
  choose(&l, 1, 1 << 20, 1, 1, local);
  assert_int_equal(local[0], 256);
  choose(&l, 1, 1000000, 1, 1, local);
  assert_int_equal(1000000 % local[0], 0);
  assert_true(local[0] > 128);
  choose(&l, 2, 1920, 1080, 1, local);
  assert_int_equal(1920 % local[0], 0);
  assert_true(local[0] > 128);
  choose(&l, 2, 5, 1000, 1, local);
  assert_int_equal(local[0], 5);
  assert_true(local[1] > 20);
  choose(&l, 1, 1021, 1, 1, local); /* a prime: the last group is smaller */
  assert_true(local[0] > 30 && local[0] <= 256);
}

static void small_ranges_still_reach_every_core(void **state) {
  (void)state;
  core_local_limits l = limits();
  uint64_t local[3];
  choose(&l, 1, 1024, 1, 1, local);
  assert_true(1024 / local[0] >= 4 * l.compute_units);
  choose(&l, 1, 10, 1, 1, local);
  assert_int_equal(local[0], 10);
  choose(&l, 1, 1, 1, 1, local);
  assert_int_equal(local[0], 1);
}

static void huge_ranges_overflow_nothing(void **state) {
  (void)state;
  core_local_limits l = limits();
  uint64_t local[3];
  choose(&l, 3, UINT64_MAX, UINT64_MAX, UINT64_MAX, local);
  assert_true(local[0] * local[1] * local[2] <= 256);
}

static qn_status give(const core_local_limits *l, uint64_t x, uint64_t y, uint64_t lx, uint64_t ly) {
  const uint64_t global[3] = {x, y, 1}, given[3] = {lx, ly, 0};
  uint64_t local[3];
  return core_local_size(l, 2, global, given, local);
}

static void a_given_size_is_checked(void **state) {
  (void)state;
  core_local_limits l = limits();
  assert_int_equal(give(&l, 64, 64, 8, 8), QN_OK);
  assert_int_equal(give(&l, 64, 64, 7, 8), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "local[0] is 7, which does not divide global[0], 64"));
  assert_int_equal(give(&l, 64, 64, 8, 0), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "local[1] is 0"));
  assert_int_equal(give(&l, 1 << 13, 64, 1 << 13, 1), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "at most 4096"));
  assert_int_equal(give(&l, 4096, 4096, 4096, 4096), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "the limit for this kernel is 4096"));
}

static void a_required_size_is_kept_and_a_hint_is_taken_where_it_fits(void **state) {
  (void)state;
  core_local_limits l = limits();
  uint64_t local[3];
  l.hinted[0] = 32, l.hinted[1] = l.hinted[2] = 1;
  choose(&l, 1, 320, 1, 1, local);
  assert_int_equal(local[0], 32);
  choose(&l, 1, 321, 1, 1, local);
  assert_true(local[0] != 32);
  l.required[0] = 8, l.required[1] = 4, l.required[2] = 1;
  choose(&l, 2, 64, 64, 1, local);
  assert_int_equal(local[0], 8);
  assert_int_equal(local[1], 4);
  assert_int_equal(give(&l, 64, 64, 8, 4), QN_OK);
  assert_int_equal(give(&l, 64, 64, 4, 8), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "reqd_work_group_size is (8, 4, 1), but local[0] is 4"));
  const uint64_t global[3] = {63, 64, 1}, none[3] = {0, 0, 0};
  assert_int_equal(core_local_size(&l, 2, global, none, local), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(
      strstr(qn_error_text(), "the kernel's reqd_work_group_size[0] is 8, which does not divide global[0]"));
  l.required[0] = 8192, l.required[1] = 1;
  assert_int_equal(core_local_size(&l, 1, (const uint64_t[]){8192, 1, 1}, none, local), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "the kernel's reqd_work_group_size[0] is 8192; the device has at most 4096"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_choice_is_within_the_limits),
      cmocka_unit_test(rows_come_first_and_sizes_divide_where_they_can),
      cmocka_unit_test(small_ranges_still_reach_every_core),
      cmocka_unit_test(huge_ranges_overflow_nothing),
      cmocka_unit_test(a_given_size_is_checked),
      cmocka_unit_test(a_required_size_is_kept_and_a_hint_is_taken_where_it_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
