/* test_arena.c - memory that dies together. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing.h"

static bool all_zero(const void *memory, size_t size) {
  const unsigned char *at = memory;
  for (size_t i = 0; i < size; i++)
    if (at[i] != 0) return false;
  return true;
}

static void test_pieces_are_zeroed_aligned_and_apart(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  static struct {
    unsigned char *at;
    size_t size;
  } pieces[COUNT];
  qn_arena arena;
  qn_arena_init(&arena, 0);
  uint32_t seed = 1;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1664525u + 1013904223u;
    size_t size = seed >> 30 == 3 ? (seed >> 8) % 20000 : (seed >> 8) % 100; /* some larger than a block's rest */
    pieces[i].at = qn_arena_alloc(&arena, size);
    pieces[i].size = size;
    assert_non_null(pieces[i].at);
    assert_int_equal((uintptr_t)pieces[i].at % 8, 0);
    assert_true(all_zero(pieces[i].at, size));
    memset(pieces[i].at, i % 255 + 1, size);
  }
  for (int i = 0; i < COUNT; i++)
    for (size_t j = 0; j < pieces[i].size; j++) assert_int_equal(pieces[i].at[j], i % 255 + 1);
  qn_arena_free(&arena);
}

static void test_a_large_piece_leaves_the_present_block_in_use(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  char *before = qn_arena_alloc(&arena, 16);
  char *large = qn_arena_alloc(&arena, 5000000);
  char *after = qn_arena_alloc(&arena, 16);
  assert_true(all_zero(large, 5000000));
  assert_true(after > before && after - before < 4096);
  qn_arena_free(&arena);
}

static void test_an_arena_that_grows_large_is_still_zeroed_and_apart(void **state) {
  (void)state;
  enum { COUNT = 30000, SIZE = 700 }; /* 20 MB */
  static unsigned char *pieces[COUNT];
  qn_arena arena;
  qn_arena_init(&arena, 0);
  for (int round = 0; round < 2; round++) { /* what the first gave back the second gets dirty, if at all */
    for (int i = 0; i < COUNT; i++) {
      pieces[i] = qn_arena_alloc(&arena, SIZE);
      assert_true(all_zero(pieces[i], SIZE));
      memset(pieces[i], i % 255 + 1, SIZE);
    }
    for (int i = 0; i < COUNT; i++) assert_true(pieces[i][0] == i % 255 + 1 && pieces[i][SIZE - 1] == i % 255 + 1);
    qn_arena_free(&arena);
  }
}

static void test_empty_pieces_have_addresses_of_their_own(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  void *a = qn_arena_alloc(&arena, 0), *b = qn_arena_alloc(&arena, 0);
  assert_non_null(a);
  assert_ptr_not_equal(a, b);
  qn_arena_free(&arena);
}

static void test_the_limit_bounds_what_is_handed_out(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 10000);
  size_t got = 0;
  while (qn_arena_alloc(&arena, 100)) got += 100;
  assert_true(got > 5000 && got <= 10000);
  assert_null(qn_arena_alloc(&arena, 100));
  assert_null(qn_arena_alloc(&arena, SIZE_MAX));
  assert_null(qn_arena_alloc(&arena, SIZE_MAX - 8));
  qn_arena_free(&arena);
  assert_non_null(qn_arena_alloc(&arena, 100)); /* the limit stays, the room is back */
  assert_null(qn_arena_alloc(&arena, 10001));
  qn_arena_free(&arena);
}

static void test_products_that_overflow_are_refused(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  assert_null(qn_arena_alloc_array(&arena, SIZE_MAX / 2, 3));
  assert_null(qn_arena_alloc_array(&arena, 8, SIZE_MAX / 4));
  int *numbers = QN_ARENA_ARRAY(&arena, int, 10);
  assert_true(all_zero(numbers, 10 * sizeof(int)));
  qn_arena_free(&arena);
}

static void test_copies_and_formats_end_with_nul(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  assert_string_equal(qn_arena_copy(&arena, qn_sv_make("abcdef", 3)), "abc");
  assert_string_equal(qn_arena_copy(&arena, qn_sv_make(NULL, 0)), "");
  assert_string_equal(qn_arena_printf(&arena, "%d-%s", 42, "x"), "42-x");
  char *large = qn_arena_printf(&arena, "%9000d", 1);
  assert_int_equal(strlen(large), 9000);
  qn_arena_free(&arena);
}

static void test_a_failed_allocation_leaves_the_arena_usable(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  failing_start(0, true);
  void *none = qn_arena_alloc(&arena, 10), *no_text = qn_arena_printf(&arena, "%d", 1);
  uint64_t failed = failing_stop();
  assert_null(none);
  assert_null(no_text);
  assert_int_equal(failed, 2);
  char *first = qn_arena_copy(&arena, QN_SV("kept"));
  failing_start(0, true);
  none = qn_arena_alloc(&arena, 100000);
  failing_stop();
  assert_null(none);
  assert_non_null(qn_arena_alloc(&arena, 100000));
  assert_string_equal(first, "kept");
  qn_arena_free(&arena);
  qn_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces_are_zeroed_aligned_and_apart),
      cmocka_unit_test(test_a_large_piece_leaves_the_present_block_in_use),
      cmocka_unit_test(test_an_arena_that_grows_large_is_still_zeroed_and_apart),
      cmocka_unit_test(test_empty_pieces_have_addresses_of_their_own),
      cmocka_unit_test(test_the_limit_bounds_what_is_handed_out),
      cmocka_unit_test(test_products_that_overflow_are_refused),
      cmocka_unit_test(test_copies_and_formats_end_with_nul),
      cmocka_unit_test(test_a_failed_allocation_leaves_the_arena_usable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
