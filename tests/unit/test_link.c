/* The embedded library and pass link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* after these */
#include <cmocka.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/lib/lib.h"
#include "compiler/pass/pass.h"

static ir_module *compiled(qn_arena *arena, const char *source, uint32_t address_bits) {
  qn_arena_init(arena, 0);
  qn_compile_request request = {
      .source = qn_sv_from(source),
      .model = {.address_bits = address_bits, .has_double = true, .has_int64_atomics = true},
  };
  ir_module *m = NULL;
  qn_bytes log = {0};
  qn_status status = qn_compile(arena, &request, &m, &log);
  qn_bytes_free(&log);
  if (status != QN_OK) fail_msg("%s", qn_error_text());
  return m;
}

static void close_module(ir_module *m, qn_arena *arena) {
  ir_module_free(m);
  qn_arena_free(arena);
}

static void test_the_table_is_sorted(void **state) {
  (void)state;
  assert_true(qn_library_count > 200);
  for (uint32_t i = 1; i < qn_library_count; i++)
    assert_true(strcmp(qn_library_entries[i - 1].name, qn_library_entries[i].name) < 0);
}

static void test_entries_are_found_by_whole_name(void **state) {
  (void)state;
  for (uint32_t i = 0; i < qn_library_count; i++)
    assert_int_equal(qn_library_find(qn_sv_from(qn_library_entries[i].name)), (int32_t)i);
  assert_int_equal(qn_library_find(QN_SV("sin")), -1);
  assert_int_equal(qn_library_find(QN_SV("sin.f3")), -1);
  assert_int_equal(qn_library_find(QN_SV("sin.f32x")), -1);
  assert_int_equal(qn_library_find(QN_SV("")), -1);
}

/* Every entry's text parses with what it needs, for both models, and the whole verifies. */
static void test_every_function_links_alone(void **state) {
  (void)state;
  for (uint32_t bits = 32; bits <= 64; bits += 32) {
    for (uint32_t i = 0; i < qn_library_count; i++) {
      const qn_library_entry *entry = &qn_library_entries[i];
      if (entry->is_constant) continue;
      qn_arena arena;
      qn_arena_init(&arena, 0);
      qn_model model = {.address_bits = bits, .has_double = true};
      ir_module *m = ir_module_new(&arena, &model);
      assert_non_null(m);
      /* A declaration is the text's first line without the body. */
      qn_sv text = qn_library_text(entry, bits);
      size_t end = (size_t)((const char *)memchr(text.data, '\n', text.size) - text.data);
      while (end > 0 && (text.data[end - 1] == '{' || text.data[end - 1] == ' ')) end--;
      char declaration[1024];
      snprintf(declaration, sizeof declaration, "quern 1 bits %u\n%.*s\n", bits, (int)end, text.data);
      if (ir_parse(m, qn_sv_from(declaration), "declaration") != QN_OK)
        fail_msg("%s: %s", entry->name, qn_error_text());
      if (pass_link(m) != QN_OK) fail_msg("%s: %s", entry->name, qn_error_text());
      if (ir_verify(m) != QN_OK) fail_msg("%s: %s", entry->name, qn_error_text());
      for (ir_function *f = m->functions; f; f = f->next) assert_non_null(f->body);
      close_module(m, &arena);
    }
  }
}

static void test_a_kernel_gets_what_it_calls_and_no_more(void **state) {
  (void)state;
  qn_arena arena;
  ir_module *m = compiled(&arena, "kernel void f(global float *x) { x[0] = sin(x[0]) + cos(x[1]); }", 64);
  assert_int_equal(pass_link(m), QN_OK);
  assert_int_equal(ir_verify(m), QN_OK);
  assert_non_null(ir_function_find(m, QN_SV("sin.f32"))->body);
  assert_non_null(ir_function_find(m, QN_SV("cos.f32"))->body);
  assert_null(ir_function_find(m, QN_SV("pow.f32")));
  assert_null(ir_function_find(m, QN_SV("sin.f64")));
  close_module(m, &arena);
}

static void test_linking_twice_changes_nothing(void **state) {
  (void)state;
  qn_arena arena;
  ir_module *m = compiled(&arena, "kernel void f(global double *x) { x[0] = tan(pow(x[0], x[1])); }", 64);
  qn_bytes first = {0}, second = {0};
  assert_int_equal(pass_link(m), QN_OK);
  ir_print(m, &first);
  assert_int_equal(pass_link(m), QN_OK);
  ir_print(m, &second);
  assert_string_equal(first.data, second.data);
  qn_bytes_free(&first);
  qn_bytes_free(&second);
  close_module(m, &arena);
}

static void test_an_undefined_function_is_named(void **state) {
  (void)state;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_model model = {.address_bits = 64};
  ir_module *m = ir_module_new(&arena, &model);
  assert_int_equal(ir_parse(m, QN_SV("quern 1 bits 64\nfunc @nowhere() : i32\n"), "text"), QN_OK);
  assert_int_equal(pass_link(m), QN_ERROR_COMPILE);
  assert_non_null(strstr(qn_error_text(), "'nowhere'"));
  close_module(m, &arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_table_is_sorted),
      cmocka_unit_test(test_entries_are_found_by_whole_name),
      cmocka_unit_test(test_every_function_links_alone),
      cmocka_unit_test(test_a_kernel_gets_what_it_calls_and_no_more),
      cmocka_unit_test(test_linking_twice_changes_nothing),
      cmocka_unit_test(test_an_undefined_function_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
