/* The target ptx without a device: what is told beside the text, what it refuses and where, memory that runs out, time. What the
 * text says is in tests/kernels/ptx, what it computes in tests/ptx. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/target/ptx/ptx.h"
#include "quern/adapter.h"
#include "support/failing.h"
#include "support/thread_time.h"

typedef struct made {
  qn_arena arena;
  ir_module *module;
  qn_bytes text;
  qn_ptx_program program;
} made;

static const qn_model usual_model = {
    .address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};
static const qn_ptx_options usual = {.sm = 80};

static void open_source(made *t, const char *source, const char *options) {
  qn_compile_options parsed;
  *t = (made){0};
  qn_arena_init(&t->arena, 0);
  if (qn_compile_options_parse(&t->arena, options, &parsed) < 0) fail_msg("%s", qn_error_text());
  const qn_compile_request request = {
      .source = qn_sv_from(source), .file_name = "k.cl", .options = &parsed, .model = usual_model};
  if (qn_compile(&t->arena, &request, &t->module, NULL) < 0) fail_msg("%s\n%s", qn_error_text(), source);
}

static void done(made *t) {
  qn_bytes_free(&t->text);
  ir_module_free(t->module);
  qn_arena_free(&t->arena);
}

static void make_as(made *t, const char *source, const char *options, const qn_ptx_options *how) {
  open_source(t, source, options);
  if (qn_target_ptx(t->module, how, &t->text, &t->program) < 0) fail_msg("%s", qn_error_text());
}

static void make(made *t, const char *source) { make_as(t, source, "", &usual); }

static uint32_t count_of(const made *t, const char *words) {
  uint32_t count = 0;
  for (const char *at = strstr(t->text.data, words); at; at = strstr(at + 1, words)) count++;
  return count;
}

static void assert_text(const made *t, const char *words) {
  if (!count_of(t, words)) fail_msg("no '%s' in\n%s", words, t->text.data);
}

static void assert_no_text(const made *t, const char *words) {
  if (count_of(t, words)) fail_msg("'%s' is in\n%s", words, t->text.data);
}

/* ---- What is told ---- */

static void targets_are_capabilities_that_there_are(void **state) {
  (void)state;
  assert_int_equal(qn_ptx_target(QN_SV("cuda-sm_70")), 70);
  assert_int_equal(qn_ptx_target(QN_SV("cuda-sm_90")), 90);
  assert_int_equal(qn_ptx_target(QN_SV("cuda-sm_120")), 120);
  static const char *const none[] = {"",          "cuda-sm_",   "cuda-sm_60",   "cuda-sm_7",          "cuda-sm_70 ",
                                     "cuda-sm_a", "cuda-sm_-1", "cuda-sm_9000", "cuda-sm_4294967366", "sm_70"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_int_equal(qn_ptx_target(qn_sv_from(none[i])), 0);
}

static void each_target_has_its_version(void **state) {
  made t;
  (void)state;
  make_as(&t, "kernel void k() {}", "", &(qn_ptx_options){.sm = 70});
  assert_text(&t, ".version 6.4\n.target sm_70\n.address_size 64\n");
  done(&t);
  make_as(&t, "kernel void k() {}", "", &(qn_ptx_options){.sm = 90});
  assert_text(&t, ".version 7.8\n.target sm_90\n");
  done(&t);
}

static void kernels_have_entries_in_order_and_the_range_last(void **state) {
  made t;
  (void)state;
  make(&t,
       "kernel void first(global int *a, int n, local float *l, char3 v) { a[n] = l[0] + v.x; }\n"
       "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void WARP_SZ(global int *a) { a[0] = 1; }");
  assert_int_equal(t.program.kernel_count, 2);
  assert_string_equal(t.program.kernels[0].name, "first");
  assert_string_equal(t.program.kernels[0].symbol, "first");
  assert_string_equal(t.program.kernels[1].name, "WARP_SZ");
  assert_string_not_equal(t.program.kernels[1].symbol, "WARP_SZ");
  assert_text(&t,
              ".visible .entry first(\n"
              "  .param .u64 .ptr .global .align 4 $arg0,\n"
              "  .param .b32 $arg1,\n"
              "  .param .u32 $arg2,\n"
              "  .param .align 4 .b8 $arg3[4],\n"
              "  .param .align 8 .b8 $range[120]\n)");
  assert_int_equal(sizeof(qn_ptx_range), 120);
  assert_text(&t, ".reqntid 8, 2, 1");
  assert_int_equal(count_of(&t, "$uneven:"), 1); /* a launch of the second one has whole groups */
  done(&t);
}

/* ---- Choices ---- */

static void static_local_memory_beyond_the_limit_is_dynamic(void **state) {
  made t;
  (void)state;
  make(&t, "kernel void k(global int *a) { local int x[12288]; x[get_local_id(0)] = 1; a[0] = x[3]; }");
  assert_text(&t, ".shared .align 16 .b8 $local0[49152]");
  assert_no_text(&t, ".extern .shared");
  done(&t);
  make(&t, "kernel void k(global int *a) { local int x[12289]; x[get_local_id(0)] = 1; a[0] = x[3]; }");
  assert_text(&t, ".extern .shared .align 128 .b8 $shared[];");
  assert_no_text(&t, "$local0");
  done(&t);
}

static void only_what_nobody_writes_is_read_only(void **state) {
  made t;
  (void)state;
  make(&t,
       "kernel void k(global int *restrict a, global const int *restrict b, global const int *c, global int *restrict "
       "d) {\n"
       "  a[0] = b[0] + c[1] + d[2]; d[3] = 1; }");
  assert_int_equal(count_of(&t, "ld.global.nc"), 1);
  assert_int_equal(count_of(&t, "ld.global.b32"), 2);
  done(&t);
  make(&t, "kernel void k(global int *a, volatile global const int *restrict b) { a[0] = b[0]; }");
  assert_text(&t, "ld.volatile.global");
  done(&t);
}

static void counted_loops_unroll_unless_that_is_off(void **state) {
  static const char source[] =
      "kernel void k(global float *x) { float t[4]; for (int i = 0; i < 4; i++) t[i] = x[i];\n"
      "  for (int i = 0; i < 4; i++) x[i] = t[3 - i]; }";
  made t;
  (void)state;
  make(&t, source);
  assert_no_text(&t, ".local");
  assert_int_equal(count_of(&t, "bra $L"), 0);
  done(&t);
  make_as(&t, source, "", &(qn_ptx_options){.sm = 80, .opt_disable = true});
  assert_text(&t, ".local .align 16 .b8 $var0[16]");
  done(&t);
}

static void options_choose_division(void **state) {
  static const char source[] = "kernel void k(global float *x) { x[0] = x[1] / x[2] + sqrt(x[3]); }";
  static const struct {
    const char *options, *divide, *root;
    qn_ptx_options how;
  } cases[] = {
      {"", "div.full.f32", "sqrt.approx.f32", {.sm = 80}},
      {"", "div.rn.f32", "sqrt.rn.f32", {.sm = 80, .rounded_divide_sqrt = true}},
      {"-cl-denorms-are-zero", "div.full.ftz.f32", "sqrt.approx.ftz.f32", {.sm = 80, .denorms_are_zero = true}},
      {"-cl-fast-relaxed-math", "div.approx.f32", "sqrt.approx.f32", {.sm = 80}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made t;
    make_as(&t, source, cases[i].options, &cases[i].how);
    assert_text(&t, cases[i].divide);
    assert_text(&t, cases[i].root);
    done(&t);
  }
}

/* The library counts on IEEE's division, whatever the program's own may be. */
static void division_in_the_library_is_exact(void **state) {
  made t;
  (void)state;
  make(&t, "kernel void k(global float *x) { x[0] = tan(x[1]); }");
  assert_text(&t, "div.rn.f32");
  assert_no_text(&t, "div.full");
  done(&t);
}

static void the_same_module_gives_the_same_bytes(void **state) {
  static const char source[] =
      "constant int t[3] = {1, 2, 3}; kernel void k(global float4 *x, local int *l, int n) {\n"
      "  for (int i = 0; i < n; i++) x[i] = sin(x[i]) + t[i % 3] + l[i]; }";
  made a, b;
  (void)state;
  make(&a, source);
  make(&b, source);
  assert_int_equal(a.text.size, b.text.size);
  assert_memory_equal(a.text.data, b.text.data, a.text.size);
  done(&a);
  done(&b);
}

/* ---- What it refuses ---- */

static void what_ptx_lacks_is_told_with_its_line(void **state) {
  static const char ir[] =
      "quern 1 bits 64\nkernel @k(%a : ptr global i32) {\n  var %v : i32\n"
      "  %0 = atomic add relaxed device %v, i32 1 : i32\n  store %a, %0\n  return\n}\n";
  made t = {0};
  (void)state;
  qn_arena_init(&t.arena, 0);
  t.module = ir_module_new(&t.arena, &usual_model);
  assert_int_equal(ir_parse(t.module, QN_SV(ir), "k"), QN_OK);
  assert_int_equal(qn_target_ptx(t.module, &usual, &t.text, &t.program), QN_ERROR_COMPILE);
  if (!strstr(qn_error_text(), "target cuda") || !strstr(qn_error_text(), "private memory, in 'k'"))
    fail_msg("the error says: %s", qn_error_text());
  assert_int_equal(t.text.size, 0);
  done(&t);
}

/* ---- Memory and time ---- */

static void every_failing_allocation_is_told(void **state) {
  static const char source[] =
      "typedef struct { int a[3]; float3 v; } s; constant float c[2] = {1, 2};\n"
      "__attribute__((noinline)) float f(float x, bool y) { return y ? exp(x) / c[1] : x; }\n"
      "kernel void k(global s *p, s q, int n, local int *l) { local float w[4]; s own = p[0]; float t[3];\n"
      "  for (int i = 0; i < 3; i++) t[i] = p[i].v.x;\n"
      "  for (int i = 0; i < n; i++) own.v.y += f(p[i].a[i % n] / n, i > 2) + t[i % 3];\n"
      "  barrier(1); w[0] = own.v.y; atomic_add(&p[1].a[0], own.a[1] + l[0]); p[1] = q; p[2] = own; }";
  (void)state;
  FAILING_EACH(n) {
    failing_pause();
    made t;
    open_source(&t, source, "");
    failing_start(n, false);
    qn_status status = qn_target_ptx(t.module, &usual, &t.text, &t.program);
    uint64_t failed = failing_stop();
    done(&t);
    if (!failed) {
      assert_int_equal(status, QN_OK);
      break;
    }
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
  }
}

/* Of three: other work on the machine must not fail it. The larger one doesn't fit in caches: quadratic would be 100 times. */
static uint64_t best_time_for(uint32_t statements) {
  uint64_t best = UINT64_MAX;
  qn_bytes source = {0};
  qn_bytes_append_str(&source, "kernel void k(global float *x, local int *t, int n) {\n  float a = x[0]; int i = n;\n");
  for (uint32_t i = 0; i < statements; i++)
    qn_bytes_printf(
        &source,
        "  { int own[2] = {n, i}; for (int q = 0; q < 2; q++) a += x[i + %u] * own[q]; if (a > %u) i ^= %u; "
        "x[i] = a; if (t[0] > %u) barrier(1); }\n",
        i, i, i, i);
  qn_bytes_append_str(&source, "}\n");
  assert_false(source.failed);
  for (int turn = 0; turn < 3; turn++) {
    made t;
    open_source(&t, source.data, "");
    uint64_t begin = thread_ns();
    if (qn_target_ptx(t.module, &usual, &t.text, &t.program) < 0) fail_msg("%s", qn_error_text());
    uint64_t ns = thread_ns() - begin;
    if (ns < best) best = ns;
    done(&t);
  }
  qn_bytes_free(&source);
  return best;
}

static void time_is_linear_in_the_source(void **state) {
  (void)state;
  uint64_t one = best_time_for(200), ten = best_time_for(2000);
  print_message("measured: 200 statements %.2f ms, 2000 %.2f ms\n", (double)one / 1e6, (double)ten / 1e6);
  assert_true(ten < one * 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets_are_capabilities_that_there_are),
      cmocka_unit_test(each_target_has_its_version),
      cmocka_unit_test(kernels_have_entries_in_order_and_the_range_last),
      cmocka_unit_test(static_local_memory_beyond_the_limit_is_dynamic),
      cmocka_unit_test(only_what_nobody_writes_is_read_only),
      cmocka_unit_test(counted_loops_unroll_unless_that_is_off),
      cmocka_unit_test(options_choose_division),
      cmocka_unit_test(division_in_the_library_is_exact),
      cmocka_unit_test(the_same_module_gives_the_same_bytes),
      cmocka_unit_test(what_ptx_lacks_is_told_with_its_line),
      cmocka_unit_test(every_failing_allocation_is_told),
      cmocka_unit_test(time_is_linear_in_the_source),
  };
  return cmocka_run_group_tests_name("ptx", tests, NULL, NULL);
}
