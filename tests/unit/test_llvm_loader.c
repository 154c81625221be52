/* libquern-llvm.so: loaded by the first call that needs it, and what is said when it can't be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

static int is_mapped(const char *name) {
  char line[1024];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps)) found |= strstr(line, name) != NULL;
  fclose(maps);
  return found;
}

static qn_status emit_empty(qn_bytes *out) {
  qn_model model = {.address_bits = 64};
  qn_target_options options = {.emit = QN_EMIT_LLVM_IR, .arch = "x86-64"};
  qn_arena arena;
  qn_arena_init(&arena, 0);
  ir_module *m = ir_module_new(&arena, &model);
  qn_status status = qn_target_llvm(m, &options, out);
  ir_module_free(m);
  qn_arena_free(&arena);
  return status;
}

static void expect_failure(const char *library, const char *text) {
  qn_bytes out = {0};
  assert_int_equal(setenv("QUERN_LLVM_LIBRARY", library, 1), 0);
  assert_int_equal(emit_empty(&out), QN_ERROR_NOT_FOUND);
  if (!strstr(qn_error_text(), text)) fail_msg("'%s' is not in: %s", text, qn_error_text());
  assert_non_null(strstr(qn_error_text(), "QUERN_LLVM_LIBRARY"));
  qn_bytes_free(&out);
}

static void nothing_of_llvm_is_loaded_before_the_first_call(void **state) {
  (void)state;
  assert_false(is_mapped("libquern-llvm"));
}

static void a_missing_library_is_named(void **state) {
  (void)state;
  expect_failure("/nowhere/libquern-llvm.so", "/nowhere/libquern-llvm.so");
}

static void a_library_of_another_kind_is_refused(void **state) {
  (void)state;
  expect_failure(QUERN_BINARY_DIR "/libquern-adapter-null.so", "qn_llvm_entry");
}

static void the_first_call_loads_it_and_the_failures_before_do_not_matter(void **state) {
  qn_bytes out = {0};
  (void)state;
  assert_false(is_mapped("libquern-llvm"));
  assert_int_equal(setenv("QUERN_LLVM_LIBRARY", QUERN_BINARY_DIR "/libquern-llvm.so", 1), 0);
  if (emit_empty(&out) < 0) fail_msg("%s", qn_error_text());
  assert_non_null(strstr(out.data, "target triple"));
  assert_true(is_mapped("libquern-llvm"));
  /* It stays what it is. */
  assert_int_equal(setenv("QUERN_LLVM_LIBRARY", "/nowhere", 1), 0);
  assert_int_equal(emit_empty(&out), QN_OK);
  qn_bytes_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_of_llvm_is_loaded_before_the_first_call),
      cmocka_unit_test(a_missing_library_is_named),
      cmocka_unit_test(a_library_of_another_kind_is_refused),
      cmocka_unit_test(the_first_call_loads_it_and_the_failures_before_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
