/* Source files, locations and positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compiler/source.h"

static qn_arena arena;
static qn_sources sources;

static int setup(void **state) {
  (void)state;
  qn_arena_init(&arena, 0);
  qn_sources_init(&sources, &arena);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  qn_arena_free(&arena);
  return 0;
}

static void assert_at(qn_loc loc, const char *file, uint32_t line, uint32_t column, const char *text) {
  qn_position position = qn_sources_position(&sources, loc);
  assert_string_equal(position.file, file);
  assert_int_equal(position.line, line);
  assert_int_equal(position.column, column);
  assert_int_equal(position.line_text.size, strlen(text));
  assert_memory_equal(position.line_text.data, text, strlen(text));
}

static void location_zero_is_nowhere(void **state) {
  (void)state;
  qn_sources_add(&sources, "a.cl", QN_SV("x"), 0);
  assert_null(qn_sources_position(&sources, 0).file);
  assert_null(qn_sources_position(&sources, 1000).file);
  assert_null(qn_sources_find(&sources, 0));
}

static void position_gives_line_column_and_text(void **state) {
  (void)state;
  qn_source_file *file = qn_sources_add(&sources, "a.cl", QN_SV("one\ntwo\r\n\nfour"), 0);
  assert_at(file->base, "a.cl", 1, 1, "one");
  assert_at(file->base + 3, "a.cl", 1, 4, "one");
  assert_at(file->base + 4, "a.cl", 2, 1, "two");
  assert_at(file->base + 9, "a.cl", 3, 1, "");
  assert_at(file->base + 13, "a.cl", 4, 4, "four");
}

static void end_of_file_is_a_position(void **state) {
  (void)state;
  qn_source_file *file = qn_sources_add(&sources, "a.cl", QN_SV("one\n"), 0);
  qn_source_file *empty = qn_sources_add(&sources, "b.cl", QN_SV(""), 0);
  assert_at(file->base + 4, "a.cl", 2, 1, "");
  assert_at(empty->base, "b.cl", 1, 1, "");
}

static void files_do_not_overlap(void **state) {
  (void)state;
  qn_source_file *files[100];
  char names[100][8];
  for (uint32_t i = 0; i < 100; i++) {
    snprintf(names[i], sizeof names[i], "f%u", i);
    files[i] = qn_sources_add(&sources, names[i], qn_sv_make("abcdefghij", i % 11), i ? files[i - 1]->base : 0);
  }
  for (uint32_t i = 0; i < 100; i++) {
    assert_ptr_equal(qn_sources_find(&sources, files[i]->base), files[i]);
    assert_ptr_equal(qn_sources_find(&sources, files[i]->base + (uint32_t)files[i]->text.size), files[i]);
    qn_position position = qn_sources_position(&sources, files[i]->base);
    assert_string_equal(position.file, names[i]);
    assert_int_equal(position.included_at, i ? files[i - 1]->base : 0);
  }
}

static void line_marks_renumber_what_follows(void **state) {
  (void)state;
  qn_source_file *file = qn_sources_add(&sources, "a.cl", QN_SV("1\n2\n#line\n100\n101\n#line\n7\n"), 0);
  assert_true(qn_sources_set_line(&sources, file->base + 10, "gen.y", 100));
  assert_true(qn_sources_set_line(&sources, file->base + 24, NULL, 7));
  assert_at(file->base + 2, "a.cl", 2, 1, "2");
  assert_at(file->base + 10, "gen.y", 100, 1, "100");
  assert_at(file->base + 14, "gen.y", 101, 1, "101");
  assert_at(file->base + 24, "gen.y", 7, 1, "7");
}

static void sources_over_a_gibibyte_are_refused(void **state) {
  (void)state;
  /* The text is never read, only its size. */
  qn_sv huge = qn_sv_make("", (size_t)1 << 29);
  assert_non_null(qn_sources_add(&sources, "a", huge, 0));
  assert_null(qn_sources_add(&sources, "b", huge, 0));
  assert_null(qn_sources_add(&sources, "c", qn_sv_make("", SIZE_MAX), 0));
  assert_non_null(qn_sources_add(&sources, "d", QN_SV("x"), 0));
}

static void without_memory_the_file_is_still_known(void **state) {
  (void)state;
  qn_arena small;
  qn_arena_init(&small, 400);
  qn_sources tight;
  qn_sources_init(&tight, &small);
  static char text[4000];
  memset(text, '\n', sizeof text);
  qn_source_file *file = qn_sources_add(&tight, "a.cl", qn_sv_make(text, sizeof text), 0);
  assert_non_null(file);
  qn_position position = qn_sources_position(&tight, file->base + 10);
  assert_string_equal(position.file, "a.cl");
  assert_int_equal(position.line, 0);
  qn_arena_free(&small);
}

static void tokens_of_macros_have_two_places(void **state) {
  (void)state;
  qn_source_file *file = qn_sources_add(&sources, "a.cl", QN_SV("#define B x + y\n#define A B z\n A;\n"), 0);
  const qn_loc b_locs[] = {file->base + 10, file->base + 12, file->base + 14},
               a_locs[] = {file->base + 26, file->base + 28};
  const uint32_t lengths[] = {1, 1, 1};
  const qn_macro_places b = {"B", b_locs, lengths, 3}, a = {"A", a_locs, lengths, 2};
  qn_loc in_a = qn_sources_expand(&sources, &a, file->base + 31, 1);
  qn_loc in_b = qn_sources_expand(&sources, &b, in_a, 1);
  for (uint32_t i = 0; i < 3; i++) {
    assert_at(in_b + i, "a.cl", 3, 2, " A;");
    assert_ptr_equal(qn_sources_find(&sources, in_b + i), file);
    assert_ptr_equal(qn_sources_expansion(&sources, in_b + i)->macro, &b);
    assert_int_equal(qn_sources_expansion(&sources, in_b + i)->at, in_a);
    assert_int_equal(qn_sources_behind(&sources, in_b + i, 5), file->base + 32);
  }
  assert_ptr_equal(qn_sources_expansion(&sources, in_a + 1)->macro, &a);
  assert_null(qn_sources_expansion(&sources, in_b + 3));
  assert_null(qn_sources_expansion(&sources, file->base));
  assert_null(qn_sources_find(&sources, in_b + 3));
  assert_int_equal(qn_sources_behind(&sources, file->base, 4), file->base + 4);
}

static void every_use_of_a_macro_is_found(void **state) {
  (void)state;
  static char text[10001];
  memset(text, 'm', sizeof text - 1);
  qn_source_file *file = qn_sources_add(&sources, "a.cl", qn_sv_from(text), 0);
  static const qn_loc locs[7];
  static const uint32_t lengths[7];
  qn_loc bases[3000];
  for (uint32_t i = 0; i < 3000; i++) {
    qn_macro_places *places = QN_ARENA_NEW(&arena, qn_macro_places);
    *places = (qn_macro_places){"M", locs, lengths, i % 7 + 1};
    bases[i] = qn_sources_expand(&sources, places, file->base + i, 1);
    assert_int_not_equal(bases[i], 0);
  }
  for (uint32_t i = 0; i < 3000; i++)
    for (uint32_t j = 0; j < i % 7 + 1; j++)
      assert_int_equal(qn_sources_expansion(&sources, bases[i] + j)->at, file->base + i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(location_zero_is_nowhere, setup, teardown),
      cmocka_unit_test_setup_teardown(position_gives_line_column_and_text, setup, teardown),
      cmocka_unit_test_setup_teardown(end_of_file_is_a_position, setup, teardown),
      cmocka_unit_test_setup_teardown(files_do_not_overlap, setup, teardown),
      cmocka_unit_test_setup_teardown(line_marks_renumber_what_follows, setup, teardown),
      cmocka_unit_test_setup_teardown(sources_over_a_gibibyte_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(tokens_of_macros_have_two_places, setup, teardown),
      cmocka_unit_test_setup_teardown(every_use_of_a_macro_is_found, setup, teardown),
      cmocka_unit_test_setup_teardown(without_memory_the_file_is_still_known, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
