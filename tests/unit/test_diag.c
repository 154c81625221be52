/* What diagnostics look like, and that they are bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/diag.h"

static qn_arena arena;
static qn_sources sources;
static qn_diags diags;

static int setup(void **state) {
  (void)state;
  qn_arena_init(&arena, 0);
  qn_sources_init(&sources, &arena);
  qn_diags_init(&diags, &sources);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  qn_diags_free(&diags);
  qn_arena_free(&arena);
  return 0;
}

static void assert_text(const char *expected) {
  assert_false(diags.text.failed);
  assert_string_equal(diags.text.data ? diags.text.data : "", expected);
}

static size_t count_of(const char *needle) {
  size_t count = 0;
  for (const char *at = diags.text.data; (at = strstr(at, needle)) != NULL; at++) count++;
  return count;
}

static qn_loc add(const char *text) { return qn_sources_add(&sources, "a.cl", qn_sv_from(text), 0)->base; }

static void error_shows_line_caret_and_underline(void **state) {
  (void)state;
  qn_loc base = add("int x;\n  if (widht > 3)\n");
  qn_diag(&diags, QN_ERROR, base + 13, 5, "use of undeclared identifier '%s'", "widht");
  assert_text(
      "a.cl:2:7: error: use of undeclared identifier 'widht'\n"
      "  if (widht > 3)\n"
      "      ^~~~~\n");
  assert_int_equal(diags.errors, 1);
}

static void length_zero_and_one_give_a_caret_only(void **state) {
  (void)state;
  qn_loc base = add("abc");
  qn_diag(&diags, QN_WARNING, base + 1, 0, "w");
  qn_diag(&diags, QN_NOTE, base + 1, 1, "n");
  assert_text(
      "a.cl:1:2: warning: w\nabc\n ^\n"
      "a.cl:1:2: note: n\nabc\n ^\n");
  assert_int_equal(diags.warnings, 1);
  assert_int_equal(diags.errors, 0);
}

static void underline_ends_with_the_line(void **state) {
  (void)state;
  qn_loc base = add("ab cd\nef\n");
  qn_diag(&diags, QN_ERROR, base + 3, 100, "m");
  assert_text("a.cl:1:4: error: m\nab cd\n   ^~\n");
}

static void caret_at_the_end_of_a_line(void **state) {
  (void)state;
  qn_loc base = add("int x\n");
  qn_diag(&diags, QN_ERROR, base + 5, 1, "expected ';'");
  assert_text("a.cl:1:6: error: expected ';'\nint x\n     ^\n");
}

static void tabs_are_expanded(void **state) {
  (void)state;
  qn_loc base = add("\tx\ty;");
  qn_diag(&diags, QN_ERROR, base + 3, 1, "m");
  assert_text("a.cl:1:4: error: m\n        x       y;\n                ^\n");
}

static void multibyte_characters_take_one_column(void **state) {
  (void)state;
  qn_loc base = add("\xc3\xa4\xe2\x82\xac x");
  qn_diag(&diags, QN_ERROR, base + 6, 1, "m");
  assert_text("a.cl:1:7: error: m\n\xc3\xa4\xe2\x82\xac x\n   ^\n");
}

static void bytes_that_are_no_text_are_replaced(void **state) {
  (void)state;
  qn_loc base = add("a\x1b[31m\xff\xe2\x82 b");
  qn_diag(&diags, QN_ERROR, base + 10, 1, "bad %s", "\x1b[0m");
  assert_text("a.cl:1:11: error: bad ?[0m\na?[31m??? b\n          ^\n");
}

static void include_stack_is_told_once(void **state) {
  (void)state;
  qn_source_file *main_file = qn_sources_add(&sources, "main.cl", QN_SV("\n#include \"b.h\"\n"), 0);
  qn_source_file *b = qn_sources_add(&sources, "b.h", QN_SV("#include \"c.h\"\nbad\n"), main_file->base + 1);
  qn_source_file *c = qn_sources_add(&sources, "c.h", QN_SV("worse\n"), b->base);
  qn_diag(&diags, QN_ERROR, c->base, 5, "one");
  qn_diag(&diags, QN_ERROR, c->base, 5, "two");
  qn_diag(&diags, QN_ERROR, b->base + 15, 3, "three");
  qn_diag(&diags, QN_ERROR, main_file->base, 1, "four");
  assert_text(
      "In file included from b.h:1:\nIn file included from main.cl:2:\n"
      "c.h:1:1: error: one\nworse\n^~~~~\n"
      "c.h:1:1: error: two\nworse\n^~~~~\n"
      "In file included from main.cl:2:\n"
      "b.h:2:1: error: three\nbad\n^~~\n"
      "main.cl:1:1: error: four\n\n^\n");
}

static void deep_include_stacks_are_shortened(void **state) {
  (void)state;
  qn_loc at = 0;
  for (int i = 0; i < 64; i++) at = qn_sources_add(&sources, i ? "x.h" : "main.cl", QN_SV("y"), at)->base;
  qn_diag(&diags, QN_ERROR, at, 1, "deep");
  assert_int_equal(count_of("In file included from x.h:1:"), 6);
  assert_int_equal(count_of("In file included from ...\n"), 1);
  assert_int_equal(count_of("In file included from main.cl:1:\nx.h:1:1: error: deep"), 1);
}

static void macros_are_told_from_the_outside_in(void **state) {
  (void)state;
  qn_loc base = add("#define B x\n#define A B\nA;\n");
  const qn_loc b_loc = base + 10, a_loc = base + 22;
  const uint32_t length = 1;
  const qn_macro_places b = {"B", &b_loc, &length, 1}, a = {"A", &a_loc, &length, 1};
  qn_loc loc = qn_sources_expand(&sources, &b, qn_sources_expand(&sources, &a, base + 24, 1), 1);
  qn_diag(&diags, QN_ERROR, loc, 1, "m");
  qn_diag(&diags, QN_NOTE, loc, 1, "n");
  assert_text(
      "a.cl:3:1: error: m\nA;\n^\n"
      "a.cl:2:11: note: expanded from macro 'A'\n#define A B\n          ^\n"
      "a.cl:1:11: note: expanded from macro 'B'\n#define B x\n          ^\n"
      "a.cl:3:1: note: n\nA;\n^\n");
}

static void long_chains_of_macros_are_shortened(void **state) {
  (void)state;
  qn_loc base = add("M"), loc = base;
  const uint32_t length = 1;
  const qn_macro_places m = {"M", &base, &length, 1};
  for (int i = 0; i < 100; i++) loc = qn_sources_expand(&sources, &m, loc, 1);
  qn_diag(&diags, QN_ERROR, loc, 1, "m");
  assert_int_equal(count_of("expanded from macro 'M'"), 6);
  assert_int_equal(count_of("note: through 94 more macros"), 1);
}

static void message_without_a_place(void **state) {
  (void)state;
  qn_diag(&diags, QN_ERROR, 0, 0, "no kernel");
  assert_text("error: no kernel\n");
}

static void errors_stop_at_the_limit(void **state) {
  (void)state;
  qn_loc base = add("x");
  for (int i = 0; i < 30; i++) {
    assert_int_equal(diags.stopped, i > 20);
    qn_diag(&diags, QN_ERROR, base, 1, "no %d", i);
    qn_diag(&diags, QN_NOTE, base, 1, "why");
  }
  assert_int_equal(diags.errors, 20);
  assert_int_equal(count_of("error: no"), 20);
  assert_int_equal(count_of("note: why"), 20);
  assert_int_equal(count_of("too many errors"), 1);
}

static void warnings_are_bounded(void **state) {
  (void)state;
  qn_loc base = add("x");
  for (int i = 0; i < 1000; i++) {
    qn_diag(&diags, QN_WARNING, base, 1, "careful");
    qn_diag(&diags, QN_NOTE, base, 1, "why");
  }
  assert_int_equal(diags.warnings, 1000);
  assert_int_equal(count_of("warning: careful"), 100);
  assert_int_equal(count_of("note: why"), 100);
  assert_int_equal(count_of("too many warnings"), 1);
}

static void no_warnings_silences_them_and_their_notes(void **state) {
  (void)state;
  diags.no_warnings = true;
  qn_loc base = add("x");
  qn_diag(&diags, QN_WARNING, base, 1, "careful");
  qn_diag(&diags, QN_NOTE, base, 1, "why");
  assert_text("");
}

static void warnings_can_be_errors(void **state) {
  (void)state;
  diags.warnings_as_errors = true;
  qn_diag(&diags, QN_WARNING, add("x"), 1, "careful");
  assert_text("a.cl:1:1: error: careful [-Werror]\nx\n^\n");
  assert_int_equal(diags.errors, 1);
}

static void long_lines_show_the_part_around_the_caret(void **state) {
  (void)state;
  static char line[1000001];
  memset(line, 'a', sizeof line - 1);
  qn_loc base = add(line);
  qn_diag(&diags, QN_ERROR, base + 500000, 1000, "m");
  const char *shown = strchr(diags.text.data, '\n') + 1;
  const char *caret = strchr(shown, '\n') + 1;
  assert_int_equal(caret - shown, 3 + 200 + 3 + 1);
  assert_int_equal(strspn(caret, " "), 83);
  assert_int_equal(strlen(caret), 3 + 200 + 1);
  assert_true(diags.text.size < 600);
}

static void long_messages_are_cut(void **state) {
  (void)state;
  static char name[100001];
  memset(name, 'n', sizeof name - 1);
  qn_diag(&diags, QN_ERROR, 0, 0, "%s", name);
  assert_true(diags.text.size < 1100);
  assert_int_equal(count_of("n...\n"), 1);
}

static void stopping_silences_what_follows(void **state) {
  (void)state;
  qn_diag(&diags, QN_ERROR, 0, 0, "fatal");
  qn_diags_stop(&diags);
  qn_diag(&diags, QN_ERROR, 0, 0, "more");
  assert_text("error: fatal\n");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      T(error_shows_line_caret_and_underline),
      T(length_zero_and_one_give_a_caret_only),
      T(underline_ends_with_the_line),
      T(caret_at_the_end_of_a_line),
      T(tabs_are_expanded),
      T(multibyte_characters_take_one_column),
      T(bytes_that_are_no_text_are_replaced),
      T(include_stack_is_told_once),
      T(deep_include_stacks_are_shortened),
      T(macros_are_told_from_the_outside_in),
      T(long_chains_of_macros_are_shortened),
      T(message_without_a_place),
      T(errors_stop_at_the_limit),
      T(warnings_are_bounded),
      T(no_warnings_silences_them_and_their_notes),
      T(warnings_can_be_errors),
      T(long_lines_show_the_part_around_the_caret),
      T(long_messages_are_cut),
      T(stopping_silences_what_follows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
