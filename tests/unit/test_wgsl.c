/* The target wgsl without a device: what is told beside the text, what it refuses and where, memory that runs out, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/target/wgsl/wgsl.h"
#include "quern/adapter.h"
#include "support/failing.h"
#include "support/thread_time.h"

typedef struct made {
  qn_arena arena;
  ir_module *module;
  qn_bytes text;
  qn_wgsl_program program;
} made;

static const qn_model small_model = {.address_bits = 32};

static void open_source(made *t, const char *source, const qn_model *model) {
  static const qn_compile_options none;
  *t = (made){0};
  qn_arena_init(&t->arena, 0);
  const qn_compile_request request = {
      .source = qn_sv_from(source), .file_name = "k.cl", .options = &none, .model = *model};
  if (qn_compile(&t->arena, &request, &t->module, NULL) < 0) fail_msg("%s\n%s", qn_error_text(), source);
}

static void done(made *t) {
  qn_bytes_free(&t->text);
  ir_module_free(t->module);
  qn_arena_free(&t->arena);
}

static void make(made *t, const char *source, bool merged) {
  open_source(t, source, &small_model);
  if (qn_target_wgsl(t->module, &(qn_wgsl_options){.merged = merged}, &t->text, &t->program) < 0)
    fail_msg("%s", qn_error_text());
}

static void assert_text(const made *t, const char *words) {
  if (!strstr(t->text.data, words)) fail_msg("no '%s' in\n%s", words, t->text.data);
}

/* ---- What is told ---- */

static const char several[] =
    "kernel void first(global float *a, global const float *b, int n, local float *t, float4 v) {\n"
    "  t[get_local_id(0)] = b[n]; a[get_global_id(0)] = t[0] + v.x; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void second(global int *unused, global uchar *c) { c[3] = "
    "1; }\n";

static void a_kernel_tells_what_to_bind(void **state) {
  made t;
  (void)state;
  make(&t, several, false);
  assert_int_equal(t.program.kernel_count, 2);
  const qn_wgsl_kernel *k = &t.program.kernels[0];
  const qn_wgsl_argument *a = k->arguments;
  assert_string_equal(k->name, "first");
  assert_string_equal(k->entry, "first");
  assert_true(k->takes_range);
  assert_int_equal(k->argument_count, 5);
  assert_int_equal(k->bindings, 2);
  assert_int_equal(a[0].kind, QN_WGSL_BUFFER);
  assert_int_equal(a[0].binding, 1);
  assert_int_equal(a[0].access, QN_ACCESS_READ | QN_ACCESS_WRITE);
  assert_int_equal(a[0].offset, sizeof(qn_wgsl_launch_range));
  assert_int_equal(a[0].align, 4);
  assert_int_equal(a[0].base_offset, 0);
  assert_int_equal(a[1].binding, 2);
  assert_int_equal(a[1].access, QN_ACCESS_READ);
  assert_int_equal(a[2].kind, QN_WGSL_VALUE);
  assert_int_equal(a[2].size, 4);
  assert_int_equal(a[3].kind, QN_WGSL_LOCAL);
  assert_int_equal(a[3].unit, 4);
  assert_int_equal(a[4].size, 16);
  assert_int_equal(a[4].offset, a[2].offset + 4);
  assert_int_equal(k->block_bytes, (a[4].offset + 16 + 15) / 16 * 16);
  assert_text(&t, "@group(0) @binding(2) var<storage, read> first_b: array<f32>;");
  assert_text(&t, "override first_t_length: u32 = 1u;");
  for (int d = 0; d < 3; d++) assert_text(&t, k->group[d]);
  done(&t);
}

static void a_fixed_group_needs_no_override_and_an_unused_buffer_no_binding(void **state) {
  made t;
  (void)state;
  make(&t, several, false);
  const qn_wgsl_kernel *k = &t.program.kernels[1];
  assert_int_equal(k->fixed_group[0], 8);
  assert_int_equal(k->fixed_group[1], 2);
  assert_null(k->group[0]);
  assert_false(k->takes_range);
  assert_int_equal(k->arguments[0].binding, 0);
  assert_int_equal(k->arguments[1].binding, 1);
  assert_int_equal(k->arguments[1].align, 1);
  assert_text(&t, "@workgroup_size(8, 2, 1)");
  assert_text(&t, "second_c: array<atomic<u32>>;"); /* a byte of a word is written */
  done(&t);
}

static void mixed_pointers_ask_for_addresses(void **state) {
  made t;
  (void)state;
  make(&t, "kernel void k(global int *a, global int *b, int n) { global int *p = n ? a : b; *p = 1; }", false);
  const qn_wgsl_argument *a = t.program.kernels[0].arguments;
  assert_int_equal(a[0].base_offset, a[0].offset + 4);
  assert_int_equal(a[1].base_offset, a[1].offset + 4);
  done(&t);
}

static void a_merged_text_declares_buffers_alike(void **state) {
  made t;
  (void)state;
  make(&t, "kernel void k(global float4 *a, global const int *b, global uchar *c) { a[0] = b[1]; c[2] = 3; }", true);
  assert_text(&t, "@group(0) @binding(1) var<storage, read_write> k_a: array<atomic<u32>>;");
  assert_text(&t, "@group(0) @binding(2) var<storage, read_write> k_b: array<atomic<u32>>;");
  assert_text(&t, "@group(0) @binding(3) var<storage, read_write> k_c: array<atomic<u32>>;");
  done(&t);
}

static void assert_same_record(const qn_wgsl_program *a, const qn_wgsl_program *b) {
  qn_bytes x = {0}, y = {0};
  qn_wgsl_pack(a, &x);
  qn_wgsl_pack(b, &y);
  assert_false(x.failed || y.failed);
  assert_int_equal(x.size, y.size);
  assert_memory_equal(x.data, y.data, x.size);
  qn_bytes_free(&x);
  qn_bytes_free(&y);
}

static void a_record_comes_back_and_every_shorter_one_is_refused(void **state) {
  made t;
  qn_bytes record = {0};
  qn_wgsl_program back;
  (void)state;
  make(&t, several, false);
  qn_wgsl_pack(&t.program, &record);
  assert_int_equal(qn_wgsl_unpack(qn_bytes_view(&record), &t.arena, &back), QN_OK);
  assert_string_equal(back.kernels[0].arguments[1].name, "first_b");
  assert_same_record(&t.program, &back);
  for (size_t size = 0; size < record.size; size++)
    assert_int_equal(qn_wgsl_unpack(qn_sv_make(record.data, size), &t.arena, &back), QN_ERROR_DATA);
  qn_bytes_free(&record);
  done(&t);
}

static void the_smallest_record_comes_back(void **state) {
  made t;
  qn_bytes record = {0};
  qn_wgsl_program back;
  (void)state;
  make(&t, "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k() {}", false);
  qn_wgsl_pack(&t.program, &record);
  assert_int_equal(qn_wgsl_unpack(qn_bytes_view(&record), &t.arena, &back), QN_OK);
  assert_same_record(&t.program, &back);
  qn_bytes_free(&record);
  done(&t);
}

static void the_same_module_gives_the_same_bytes(void **state) {
  made a, b;
  (void)state;
  make(&a, several, false);
  make(&b, several, false);
  assert_int_equal(a.text.size, b.text.size);
  assert_memory_equal(a.text.data, b.text.data, a.text.size);
  assert_same_record(&a.program, &b.program);
  done(&a);
  done(&b);
}

/* ---- What it refuses ---- */

static void assert_refused(const char *source, const qn_model *model, const char *where, const char *what) {
  made t;
  qn_wgsl_options options = {0};
  open_source(&t, source, model);
  assert_int_equal(qn_target_wgsl(t.module, &options, &t.text, &t.program), QN_ERROR_COMPILE);
  if (!strstr(qn_error_text(), where) || !strstr(qn_error_text(), what) || !strstr(qn_error_text(), "target wgsl"))
    fail_msg("the error says: %s", qn_error_text());
  assert_int_equal(t.text.size, 0);
  done(&t);
}

static void what_wgsl_lacks_is_told_with_its_line(void **state) {
  const qn_model with_double = {.address_bits = 32, .has_double = true, .has_int64_atomics = true};
  (void)state;
  assert_refused("kernel void k(global float *f) {\n  f[0] = f[1] * 2.5;\n}", &with_double, "k.cl:2:", "double");
  assert_refused("kernel void k(global double *f) {\n  f[0] = 1;\n}", &with_double, "k.cl:1:", "parameter 'f'");
  assert_refused("kernel void k(global long *l) {\n  *l = 5;\n  atom_add(l, 7L);\n}", &with_double,
                 "k.cl:3:", "64 bits");
  assert_refused("kernel void k(global int *p, uint n) {\n  *(global int *)n = 1;\n}", &small_model,
                 "k.cl:2:", "made of a number");
  assert_refused(
      "kernel void k(global int *p, local int *t) {\n"
      "  for (int i = 0; i < 9; i++) {\n    barrier(CLK_LOCAL_MEM_FENCE);\n    t[get_local_id(0)] = i;\n"
      "    if (get_local_id(0) == i) break;\n  }\n  p[0] = t[0];\n}",
      &small_model, "k.cl:5:", "one by one");
}

/* ---- Memory and time ---- */

static void every_failing_allocation_is_told(void **state) {
  static const char source[] =
      "typedef struct { int a[3]; float3 v; } s; constant float c[2] = {1, 2};\n"
      "float f(float x, local const float *w) { return exp(x) / c[1] + w[0]; }\n"
      "kernel void k(global s *p, global s *q, int n, int m) { local float w[4]; s own = p[0]; global s *r = n ? p : "
      "q;\n"
      "  for (int i = 0; i < n; i++) { barrier(1); if (i == m) continue; own.v.y += f(p[i].a[i % m] / n, w); own.a[1] "
      "^= i; }\n"
      "  atomic_add(&r[1].a[0], own.a[1]); p[1] = own; }";
  (void)state;
  FAILING_EACH(n) {
    failing_pause();
    made t;
    open_source(&t, source, &small_model);
    failing_start(n, false);
    qn_status status = qn_target_wgsl(t.module, &(qn_wgsl_options){0}, &t.text, &t.program);
    uint64_t failed = failing_stop();
    done(&t);
    if (!failed) {
      assert_int_equal(status, QN_OK);
      break;
    }
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
  }
}

/* Of three: other work on the machine must not fail it. */
static uint64_t best_time_for(uint32_t statements) {
  uint64_t best = UINT64_MAX;
  qn_bytes source = {0};
  qn_bytes_append_str(&source, "kernel void k(global float *x, local int *t, int n) {\n  float a = x[0]; int i = n;\n");
  for (uint32_t i = 0; i < statements; i++)
    qn_bytes_printf(
        &source,
        "  { int own = n; a += x[i + %u] * a; if (a > %u) i ^= own + %u; x[i] = a; if (t[0] > %u) barrier(1); }\n", i,
        i, i, i);
  qn_bytes_append_str(&source, "}\n");
  assert_false(source.failed);
  for (int turn = 0; turn < 3; turn++) {
    made t;
    open_source(&t, source.data, &small_model);
    uint64_t begin = thread_ns();
    if (qn_target_wgsl(t.module, &(qn_wgsl_options){0}, &t.text, &t.program) < 0) fail_msg("%s", qn_error_text());
    uint64_t ns = thread_ns() - begin;
    if (ns < best) best = ns;
    done(&t);
  }
  qn_bytes_free(&source);
  return best;
}

static void time_is_linear(void **state) {
  (void)state;
  uint64_t one = best_time_for(200), ten = best_time_for(2000);
  print_message("measured: 200 statements %.2f ms, 2000 %.2f ms\n", (double)one / 1e6, (double)ten / 1e6);
  assert_true(ten < one * 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kernel_tells_what_to_bind),
      cmocka_unit_test(a_fixed_group_needs_no_override_and_an_unused_buffer_no_binding),
      cmocka_unit_test(mixed_pointers_ask_for_addresses),
      cmocka_unit_test(a_merged_text_declares_buffers_alike),
      cmocka_unit_test(a_record_comes_back_and_every_shorter_one_is_refused),
      cmocka_unit_test(the_smallest_record_comes_back),
      cmocka_unit_test(the_same_module_gives_the_same_bytes),
      cmocka_unit_test(what_wgsl_lacks_is_told_with_its_line),
      cmocka_unit_test(every_failing_allocation_is_told),
      cmocka_unit_test(time_is_linear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
