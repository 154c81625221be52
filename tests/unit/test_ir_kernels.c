/* The five kernels of docs/decisions/ir.md: they parse, the verifier takes them, they print as they stand, and the passes
 * for CPUs take them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs those before it. */
#include <cmocka.h>
#include <stdio.h>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/pass/pass.h"

static void read_without_comments(const char *name, qn_bytes *out) {
  char path[512], line[512];
  snprintf(path, sizeof path, QUERN_SOURCE_DIR "/tests/kernels/ir/%s.ir", name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    if (line[0] != ';') qn_bytes_append_str(out, line);
  fclose(file);
}

static void check(const char *name, qn_status status) {
  if (status != QN_OK) fail_msg("%s: %s", name, qn_error_text());
}

static void check_kernel(const char *name) {
  qn_bytes text = {0}, printed = {0};
  read_without_comments(name, &text);
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_model model = {64, true, true, true};
  ir_module *m = ir_module_new(&arena, &model);
  assert_non_null(m);
  check(name, ir_parse(m, qn_bytes_view(&text), name));
  check(name, ir_verify(m));
  ir_print(m, &printed);
  assert_string_equal(printed.data, text.data);
  check(name, qn_prepare_cpu(m));
  check(name, ir_verify(m));
  assert_true(ir_function_find(m, qn_sv_from(name))->has_regions);
  ir_module_free(m);
  qn_arena_free(&arena);
  qn_bytes_free(&text);
  qn_bytes_free(&printed);
}

static void test_pointer_arithmetic_and_casts(void **state) {
  (void)state;
  check_kernel("pointers");
}
static void test_a_barrier_in_a_loop(void **state) {
  (void)state;
  check_kernel("barrier_loop");
}
static void test_arrays_of_structs(void **state) {
  (void)state;
  check_kernel("structs");
}
static void test_a_helper_with_pointers_of_two_spaces(void **state) {
  (void)state;
  check_kernel("two_spaces");
}
static void test_vectors_of_three_and_swizzles(void **state) {
  (void)state;
  check_kernel("three");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pointer_arithmetic_and_casts),
      cmocka_unit_test(test_a_barrier_in_a_loop),
      cmocka_unit_test(test_arrays_of_structs),
      cmocka_unit_test(test_a_helper_with_pointers_of_two_spaces),
      cmocka_unit_test(test_vectors_of_three_and_swizzles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
