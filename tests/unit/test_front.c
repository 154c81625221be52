/* The front end as a whole: what it does when memory is out, what it leaves out, what it tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/files.h"
#include "base/status.h"
#include "compiler/compiler.h"

static const qn_model model64 = {.address_bits = 64, .has_double = true, .has_int64_atomics = true};

typedef struct compilation {
  qn_arena arena;
  ir_module *module;
  qn_bytes log;
  qn_status status;
} compilation;

static void compile(compilation *c, const char *source, const char *options, size_t memory_limit) {
  *c = (compilation){0};
  qn_compile_options parsed = {0};
  qn_arena_init(&c->arena, memory_limit);
  c->status = qn_compile_options_parse(&c->arena, options, &parsed);
  const qn_compile_request request = {
      .source = qn_sv_from(source), .file_name = "t.cl", .options = &parsed, .model = model64};
  if (c->status == QN_OK) c->status = qn_compile(&c->arena, &request, &c->module, &c->log);
}

static void done(compilation *c) {
  if (c->module) ir_module_free(c->module);
  qn_bytes_free(&c->log);
  qn_arena_free(&c->arena);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

/* Compiles with less and less memory: each time it is either enough, or said not to be. */
static void starve(const char *source, qn_status otherwise) {
  uint32_t refused = 0;
  size_t limit = (size_t)1 << 22;
  for (; limit > 512; limit -= limit / 40 + 1) {
    compilation c;
    compile(&c, source, "", limit);
    if (c.status == QN_ERROR_OUT_OF_HOST_MEMORY) {
      refused++;
    } else if (c.status != otherwise) {
      fail_msg("with %zu bytes: status %d, %s", limit, (int)c.status, qn_error_text());
    }
    done(&c);
  }
  assert_true(refused > 20);
}

static void a_program_that_runs_out_of_memory_is_refused(void **state) {
  (void)state;
  qn_bytes text = {0};
  assert_int_equal(qn_file_read(QUERN_SOURCE_DIR "/tests/fuzz/corpus/front/language", 1 << 20, &text), QN_OK);
  starve(text.data, QN_OK);
  qn_bytes_free(&text);
}

static void a_faulty_program_that_runs_out_of_memory_is_refused(void **state) {
  (void)state;
  starve(
      "struct s { int a; float b; };\n"
      "int f(struct s s) { return s.c + undeclared + widht; }\n"
      "kernel void k(global int *p, int width) { float4 v = p; p[0] = f(1) }\n",
      QN_ERROR_COMPILE);
}

/* ---- What is emitted ------------------------------------------------------------------------------------------------- */

static void assert_functions(const char *source, const char *wanted) {
  compilation c;
  compile(&c, source, "", 0);
  if (c.status < 0) fail_msg("%s", qn_error_text());
  char names[256] = "";
  for (const ir_function *f = c.module->functions; f; f = f->next) {
    strcat(names, f->name);
    strcat(names, " ");
  }
  assert_string_equal(names, wanted);
  done(&c);
}

static void only_what_kernels_reach_is_emitted(void **state) {
  (void)state;
  assert_functions(
      "int unused(int x) { return x; }\n"
      "int inner(int x) { return x; }\n"
      "int outer(int x) { return inner(x); }\n"
      "kernel void k(global int *p) { p[0] = outer(1); }\n",
      "inner outer k ");
}

static void without_kernels_all_functions_but_unused_static_ones_are_emitted(void **state) {
  (void)state;
  assert_functions(
      "static int unused(int x) { return x; }\n"
      "static int inner(int x) { return x; }\n"
      "int outer(int x) { return inner(x); }\n",
      "inner outer ");
}

static void constants_that_are_not_read_from_memory_are_left_out(void **state) {
  (void)state;
  compilation c;
  compile(&c,
          "constant int unused[100] = {1}; constant int value = 3; constant int table[2] = {4, 5};\n"
          "kernel void k(global int *p) { p[0] = table[p[1]] + value; }\n",
          "", 0);
  assert_int_equal(c.status, QN_OK);
  assert_non_null(c.module->constants);
  assert_string_equal(c.module->constants->name, "table");
  assert_null(c.module->constants->next);
  done(&c);
}

static void variables_that_keep_their_value_need_no_memory(void **state) {
  (void)state;
  compilation c;
  compile(&c,
          "kernel void k(global int *p, int n) { int i = get_global_id(0); const int j = i + n; int q = j * 2;\n"
          "  for (int m = 0; m < q; m++) { int t = m * j; p[m] = t; } }\n",
          "", 0);
  assert_int_equal(c.status, QN_OK);
  const ir_function *k = ir_function_find(c.module, QN_SV("k"));
  assert_string_equal(k->vars->name, "m");
  assert_null(k->vars->next);
  done(&c);
}

/* ---- Warnings ---------------------------------------------------------------------------------------------------------- */

static void assert_warning(const char *source, const char *text) {
  compilation c;
  compile(&c, source, "", 0);
  if (c.status < 0) fail_msg("%s", qn_error_text());
  if (!c.log.data || !strstr(c.log.data, text)) fail_msg("'%s' is not in:\n%s", text, c.log.data ? c.log.data : "");
  done(&c);
  compile(&c, source, "-w", 0);
  assert_int_equal(c.status, QN_OK);
  assert_int_equal(c.log.size, 0);
  done(&c);
  compile(&c, source, "-Werror", 0);
  assert_int_equal(c.status, QN_ERROR_COMPILE);
  done(&c);
}

static void warnings_are_told_silenced_and_made_errors(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"kernel void k(global int *p) { int a[2] = {1, 2}; p[0] = a[2]; }", "index 2 is outside of the array"},
      {"kernel void k(global int *p) { p[0] = p[1] / 0; }", "division by zero"},
      {"kernel void k(global int *p) { global float *f = p; f[0] = 1; }", "incompatible pointer types"},
      {"kernel void k(global int *p) { const int c = 1; int *q = &c; p[0] = *q; }", "discards qualifiers"},
      {"__attribute__((no_such_thing(1))) kernel void k(global int *p) { p[0] = 1; }", "unknown attribute"},
      {"#pragma OPENCL EXTENSION cl_no_such : enable\nkernel void k(global int *p) { p[0] = 1; }",
       "unknown OpenCL extension"},
      {"#pragma no_such thing\nkernel void k(global int *p) { p[0] = 1; }", "unknown pragma"},
      {"kernel void k(global int *p) { if (get_local_id(1) == 0) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
       "one item wide in dimension 1"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) assert_warning(pairs[i][0], pairs[i][1]);
}

#define ONE_ITEM "__attribute__((reqd_work_group_size(1, 1, 1))) "

static void barriers_that_all_items_come_to_are_not_told(void **state) {
  (void)state;
  static const char *const sources[] = {
      "kernel void k(global int *p, int n) { if (n == 0) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
      "kernel void k(global int *p, int n) { if (get_global_id(0) < n) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
      "kernel void k(global int *p) { if (get_group_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
      "__attribute__((reqd_work_group_size(1, 1, 1))) kernel void k(global int *p) {"
      " if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
      "kernel void k(global int *p) { int i = get_local_id(0); i = p[0];"
      " if (i == 0) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
      "kernel void k(global int *p) { if (get_local_id(0) == 64) barrier(CLK_LOCAL_MEM_FENCE); p[0] = 1; }",
      "kernel void k(global int *p) { if (get_local_id(0) == 0) p[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); p[1] = 1; }",
      "void g(void) { if (get_local_id(0) == 0) barrier(1); } void h(void) { g(); }" ONE_ITEM
      "kernel void k(global int *o) { h(); }",
      ONE_ITEM "kernel void k(global int *o){ get_local_id(0) == 0 ? barrier(1) : (void)0; }",
      ONE_ITEM "kernel void k(global int *o){ switch (get_local_id(0)) { case 0: barrier(1); } }",
      ONE_ITEM "kernel void k(global int *o){ get_local_id(0) == 0 && (barrier(1), 1); }",
      ONE_ITEM "kernel void k(global int *o){ do { barrier(1); } while (get_local_id(0) != 0); }",
      "__attribute__((reqd_work_group_size(2,1,1))) kernel void k(global int *o){ switch (get_local_id(0)) { case 0: "
      "case 1: barrier(1); } }",
      "kernel void k(global int *o){ switch (get_local_id(0)) { case 0: o[0] = 1; default: barrier(1); } }",
      "kernel void k(global int *o, int n){ switch (n) { case 0: if (get_local_id(0) == 0) return; break; case 1: "
      "barrier(1); } barrier(1); }",
      "kernel void k(global int *o, int n){ if (n || get_local_id(0) == 0) barrier(1); }",
      "kernel void k(global int *o, int n){ if (n && get_local_id(0) == 0) o[0] = 1; else barrier(1); }",
      "kernel void k(global int *o, int n){ int i = get_local_id(0); i = 0; switch (i) { case 0: barrier(1); } i == 0 "
      "? barrier(1) : (void)0; }",
      "kernel void k(global int *o, int n){ get_local_id(0) == 0 ? o[0] = 1 : 0; barrier(1); }",
      "kernel void k(global int *o, int n){ switch (get_local_id(0)) { case 0: o[0] = 1; break; default: o[1] = 1; } "
      "barrier(1); }",
      "kernel void k(global int *o, int n){ do { barrier(1); break; } while (get_local_id(0) == 0); }",
      "kernel void k(global int *o, int n){ for (int i = 0; i < n; i++) { if (get_local_id(0) == 0) continue; o[0] = "
      "1; } barrier(1); }",
      "kernel void k(global int *o, int n){ o[0] = get_local_id(0) == 0 ? sizeof((barrier(1), 1)) : 1; }",
      "__attribute__((reqd_work_group_size(4,1,1))) kernel void k(global int *o){ switch (get_local_id(0)) { case 4: "
      "barrier(1); break; case -1: barrier(1); } }",
      "__attribute__((reqd_work_group_size(4,1,1))) kernel void k(global int *o){ switch (get_local_id(0)) { case 4: "
      "o[0] = 1; break; default: barrier(1); } }",
      "kernel void k(global int *o, int n){ int i = 0; switch (get_local_id(0)) { case 0: while (i < n) { i++; break; "
      "} default: barrier(1); } }",
      "kernel void k(global int *o, int n){ do { barrier(1); } while (n > 0 || get_local_id(0) == 0); }",
      "kernel void k(global int *o){ if (get_local_id(0) < 2) barrier(1); }",
      "kernel void k(global int *o){ if (get_local_id(0) >= 0) barrier(1); }",
      "kernel void k(global int *o){ if ((int)get_local_id(0) > -1) barrier(1); }",
      "kernel void k(global int *o){ if (get_local_id(0) <= 0xffffffffffffffffUL) barrier(1); }",
      "kernel void k(global int *o){ if (get_local_id(0) < 1.0f) barrier(1); }",
      "__attribute__((reqd_work_group_size(8,1,1))) kernel void k(global int *o){ if (get_local_id(0) < 8) barrier(1); "
      "if (get_local_id(0) > 7) barrier(1); }",
      "__attribute__((reqd_work_group_size(512,1,1))) kernel void k(global int *o){ if ((uchar)get_local_id(0) < 300) "
      "barrier(1); if ((uchar)get_local_id(0) == 300) barrier(1); }",
      ONE_ITEM "kernel void k(global int *o){ if (get_local_id(0) < 1) barrier(1); }",
      ONE_ITEM "kernel void k(global int *o){ if (get_local_linear_id() == 0) barrier(1); }",
      "kernel void k(global int *o){ bool first = get_local_id(0) == 0; first = o[0]; if (first) barrier(1); }",
      "void h(int c) { if (c == 0) barrier(1); } kernel void k(global int *o, int n){ h(n); h(get_group_id(0)); }",
      "void h(int c, int d) { if (c == 0) barrier(1); } kernel void k(global int *o){ h(o[0], get_local_id(0)); }",
      "int lid(void) { return get_local_size(0); } kernel void k(global int *o){ if (lid() == 0) barrier(1); }",
  };
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    compilation c;
    compile(&c, sources[i], "", 0);
    if (c.status < 0 || c.log.size > 0) fail_msg("%s%s", sources[i], c.status < 0 ? qn_error_text() : c.log.data);
    done(&c);
  }
}

/* ---- Limits ------------------------------------------------------------------------------------------------------- */

/* `tail` on a pointer to which 1 is added so often that the tree comes to its limit at each of its steps. */
static void assert_limited(const char *tail) {
  uint32_t accepted = 0;
  for (int count = 1980; count < 2005; count++) {
    qn_bytes text = {0};
    qn_bytes_append_str(&text,
                        "struct s { struct { struct { int x; int y[2]; int4 v; }; }; };\n"
                        "kernel void k(global struct s *p, global int *o) { (p");
    for (int i = 0; i < count; i++) qn_bytes_append_str(&text, " + 1");
    qn_bytes_append_str(&text, tail);
    qn_bytes_append_str(&text, "; o[0] = 1; }");
    compilation c;
    compile(&c, text.data, "", 0);
    bool is_refused = c.status == QN_ERROR_COMPILE && strstr(qn_error_text(), "operators deep") != NULL;
    if (c.status < 0 && !is_refused) fail_msg("%d%s: %s", count, tail, qn_error_text());
    accepted += c.status >= 0;
    done(&c);
    qn_bytes_free(&text);
  }
  assert_in_range(accepted, 5, 20);
}

static void a_tree_at_the_limit_of_depth_is_refused_at_each_step(void **state) {
  (void)state;
  static const char *const tails[] = {")->x",         ")[0].x = 1",     ")->v.xy.x",     ")->y[1]",
                                      ")->y[1] += 1", ")->v.hi++",      ")->x ? p : p",  ")->x && o[0]",
                                      ")->v == 1",    ") == p ? 1 : 0", "), barrier(1)", ")->v.s3 = -(float)1"};
  for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) assert_limited(tails[i]);
}

/* ---- Reflection ----------------------------------------------------------------------------------------------------------- */

static void parameters_are_described_as_in_the_source(void **state) {
  (void)state;
  compilation c;
  compile(&c,
          "typedef unsigned int word; typedef struct { int x; } item;\n"
          "kernel void k(const global float4 *restrict a, volatile global word *b, item c, const short3 d, local item "
          "*e) {}\n",
          "", 0);
  assert_int_equal(c.status, QN_OK);
  const ir_param *p = ir_function_find(c.module, QN_SV("k"))->params;
  static const struct {
    const char *name, *type;
    bool is_const, is_restrict, is_volatile, byval;
    uint32_t element;
  } wanted[] = {{"a", "float4*", true, true, false, false, QN_TYPE_F32},
                {"b", "word*", false, false, true, false, QN_TYPE_U32},
                {"c", "item", false, false, false, true, QN_TYPE_NONE},
                {"d", "short3", false, false, false, false, QN_TYPE_I16},
                {"e", "item*", false, false, false, false, QN_TYPE_NONE}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    assert_string_equal(p[i].name, wanted[i].name);
    assert_string_equal(p[i].type_name, wanted[i].type);
    assert_int_equal(p[i].is_const, wanted[i].is_const);
    assert_int_equal(p[i].is_restrict, wanted[i].is_restrict);
    assert_int_equal(p[i].is_volatile, wanted[i].is_volatile);
    assert_int_equal(p[i].byval, wanted[i].byval);
    assert_int_equal(p[i].element_type, wanted[i].element);
  }
  done(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_that_runs_out_of_memory_is_refused),
      cmocka_unit_test(a_faulty_program_that_runs_out_of_memory_is_refused),
      cmocka_unit_test(only_what_kernels_reach_is_emitted),
      cmocka_unit_test(without_kernels_all_functions_but_unused_static_ones_are_emitted),
      cmocka_unit_test(constants_that_are_not_read_from_memory_are_left_out),
      cmocka_unit_test(variables_that_keep_their_value_need_no_memory),
      cmocka_unit_test(warnings_are_told_silenced_and_made_errors),
      cmocka_unit_test(barriers_that_all_items_come_to_are_not_told),
      cmocka_unit_test(a_tree_at_the_limit_of_depth_is_refused_at_each_step),
      cmocka_unit_test(parameters_are_described_as_in_the_source),
  };
  return cmocka_run_group_tests_name("front", tests, NULL, NULL);
}
