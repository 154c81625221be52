/* The target opencl_c: what is told beside the text, entries with hidden parameters, what it refuses, operations that no
 * source has. */
/* labels: lp64 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/interp/interp.h"
#include "compiler/pass/pass.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "quern/adapter.h"
#include "support/failing.h"
#include "support/thread_time.h"

static const qn_model whole_model = {
    .address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};
static const qn_opencl_c_options plain = {.rounded_divide_sqrt = true};
static const qn_opencl_c_options for_adapter = {.adapter_entries = true, .rounded_divide_sqrt = true};

typedef struct made {
  qn_arena arena;
  ir_module *module;
  qn_bytes text;
  qn_opencl_c_program program;
} made;

static void open_source(made *t, const char *source, const char *option_text, const qn_model *model) {
  qn_compile_options options;
  *t = (made){0};
  qn_arena_init(&t->arena, 0);
  if (qn_compile_options_parse(&t->arena, option_text, &options) < 0) fail_msg("%s", qn_error_text());
  const qn_compile_request request = {
      .source = qn_sv_from(source), .file_name = "k.cl", .options = &options, .model = *model};
  if (qn_compile(&t->arena, &request, &t->module, NULL) < 0) fail_msg("%s\n%s", qn_error_text(), source);
}

static void open_ir(made *t, const char *text, const qn_model *model) {
  *t = (made){0};
  qn_arena_init(&t->arena, 0);
  t->module = ir_module_new(&t->arena, model);
  assert_non_null(t->module);
  if (ir_parse(t->module, qn_sv_from(text), "test") < 0 || ir_verify(t->module) < 0) fail_msg("%s", qn_error_text());
}

static void done(made *t) {
  qn_bytes_free(&t->text);
  ir_module_free(t->module);
  qn_arena_free(&t->arena);
}

static void make_with(made *t, const char *source, const char *option_text, const qn_opencl_c_options *options) {
  open_source(t, source, option_text, &whole_model);
  if (qn_target_opencl_c(t->module, options, &t->text, &t->program) < 0) fail_msg("%s", qn_error_text());
}

static void make(made *t, const char *source) { make_with(t, source, "", &plain); }

/* ---- What is told ---- */

static void the_same_module_gives_the_same_bytes(void **state) {
  static const char source[] =
      "typedef struct { int a; float3 v; } s; constant s c = {1, (float3)(2)};\n"
      "float f(float x) { return sin(x) / c.a; }\n"
      "kernel void k(global s *p, int n) { for (int i = 0; i < n; i++) p[i].v.y += f(p[i].a / n); }";
  made a, b;
  (void)state;
  make(&a, source);
  make(&b, source);
  assert_int_equal(a.text.size, b.text.size);
  assert_string_equal(a.text.data, b.text.data);
  done(&a);
  done(&b);
}

static void kernels_are_told_in_order_with_the_names_that_they_have(void **state) {
  made t;
  (void)state;
  make(&t,
       "int helper(int x) { return x; } kernel void one(global int *p) { *p = helper(1); }\n"
       "kernel void shuffle2_(global int *p) { *p = 2; } kernel void pipe(global int *p) { *p = 3; }\n"
       "kernel void atomic_count(global int *p) { *p = 4; }");
  static const char *const names[] = {"one", "shuffle2_", "pipe", "atomic_count"};
  static const char *const symbols[] = {"one", "shuffle2_", "my_pipe", "my_atomic_count"};
  assert_int_equal(t.program.kernel_count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    assert_string_equal(t.program.kernels[i].name, names[i]);
    assert_string_equal(t.program.kernels[i].symbol, symbols[i]);
    assert_false(t.program.kernels[i].takes_range);
    assert_non_null(strstr(t.text.data, symbols[i]));
  }
  done(&t);
}

static void assert_options(const char *source, const char *options, const qn_opencl_c_options *given,
                           const char *expected) {
  made t;
  make_with(&t, source, options, given);
  assert_string_equal(t.program.build_options, expected);
  done(&t);
}

static void drivers_are_told_what_the_code_needs(void **state) {
  static const char sum[] = "kernel void k(global float *x) { x[0] = x[1] + x[2]; }";
  static const char quotient[] = "kernel void k(global float *x) { x[0] = x[1] / x[2]; }";
  static const char mixed[] = "kernel void k(global float *x) { x[0] = x[1] / x[2] + erf(x[3]); }";
  static const qn_opencl_c_options slow = {.rounded_divide_sqrt = true, .opt_disable = true};
  static const qn_opencl_c_options inexact = {.adapter_entries = false};
  (void)state;
  assert_options(sum, "", &plain, "-cl-std=CL1.2");
  assert_options(quotient, "", &plain, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt");
  assert_options(quotient, "", &inexact, "-cl-std=CL1.2");
  assert_options(quotient, "-cl-fast-relaxed-math", &plain, "-cl-std=CL1.2 -cl-fast-relaxed-math");
  /* The library's functions are not to be made faster. */
  assert_options(mixed, "-cl-fast-relaxed-math", &plain, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt");
  assert_options(sum, "", &slow, "-cl-std=CL1.2 -cl-opt-disable");
}

static void only_what_a_kernel_reaches_is_there(void **state) {
  made t;
  (void)state;
  make(&t,
       "constant int unused[3] = {1, 2, 3}; struct gone { int x; }; int lost(struct gone g) { return g.x; }\n"
       "float used(float x) { return cos(x); } kernel void k(global float *x) { *x = used(*x); }");
  assert_null(strstr(t.text.data, "unused"));
  assert_null(strstr(t.text.data, "gone"));
  assert_null(strstr(t.text.data, "lost"));
  assert_null(strstr(t.text.data, "double"));
  assert_non_null(strstr(t.text.data, "float cos_f32(float"));
  done(&t);
}

/* ---- Entries for adapters ---- */

static void run_text(const made *t, const char *symbol, const interp_launch *launch) {
  qn_arena arena;
  ir_module *again = NULL;
  qn_arena_init(&arena, 0);
  const qn_compile_request request = {
      .source = qn_bytes_view(&t->text), .file_name = "made.cl", .model = t->module->model};
  if (qn_compile(&arena, &request, &again, NULL) < 0 || pass_link(again) < 0)
    fail_msg("%s\n%s", qn_error_text(), t->text.data);
  if (interp_run(ir_function_find(again, qn_sv_from(symbol)), launch, NULL) < 0)
    fail_msg("%s\n%s", qn_error_text(), t->text.data);
  ir_module_free(again);
  qn_arena_free(&arena);
}

static void entries_take_offsets_and_the_launchs_range(void **state) {
  made t;
  (void)state;
  make_with(
      &t,
      "int where(int x) { return (int)get_group_id(1) * 1000 + x; }\n"
      "kernel void plain(global int *out, constant int *in) { out[get_global_id(0)] = in[get_local_id(0)]; }\n"
      "kernel void ranged(global int *out) { int i = get_global_id(0); out[6 * i] = where(7);\n"
      "  out[6 * i + 1] = get_global_size(0); out[6 * i + 2] = get_num_groups(2); out[6 * i + 3] = "
      "get_global_offset(1);\n"
      "  out[6 * i + 4] = get_enqueued_local_size(2); out[6 * i + 5] = get_local_size(0) * 10 + get_work_dim(); }",
      "", &for_adapter);
  assert_false(t.program.kernels[0].takes_range);
  assert_true(t.program.kernels[1].takes_range);
  int32_t in[6] = {-1, -1, 30, 31, 32, 33}, out[32];
  const uint64_t offsets[2] = {4, 8};
  const interp_argument first[] = {{.kind = QN_ARGUMENT_BUFFER, .memory = out, .size_bytes = sizeof out},
                                   {.kind = QN_ARGUMENT_BUFFER, .memory = in, .size_bytes = sizeof in},
                                   {.kind = QN_ARGUMENT_VALUE, .bytes = offsets, .size_bytes = sizeof offsets}};
  memset(out, 0, sizeof out);
  run_text(&t, QN_OPENCL_OFFSET_ENTRY "plain",
           &(interp_launch){
               .dimensions = 1, .global = {4, 1, 1}, .local = {4, 1, 1}, .arguments = first, .argument_count = 3});
  assert_int_equal(out[0], 0);
  for (int i = 0; i < 4; i++) assert_int_equal(out[1 + i], 30 + i);
  run_text(&t, "plain",
           &(interp_launch){
               .dimensions = 1, .global = {4, 1, 1}, .local = {4, 1, 1}, .arguments = first, .argument_count = 2});
  for (int i = 0; i < 4; i++) assert_int_equal(out[i], in[i]);
  assert_null(strstr(t.text.data, QN_OPENCL_OFFSET_ENTRY "ranged"));
  struct {
    qn_opencl_range range;
    uint64_t offset;
  } launch = {{{100, 0, 0}, {0, 17, 0}, {0, 5, 0}, {0, 0, 9}, {0, 0, 6}}, 8};
  const interp_argument second[] = {{.kind = QN_ARGUMENT_BUFFER, .memory = out, .size_bytes = sizeof out},
                                    {.kind = QN_ARGUMENT_VALUE, .bytes = &launch, .size_bytes = sizeof launch}};
  run_text(&t, "ranged",
           &(interp_launch){
               .dimensions = 2, .global = {2, 1, 1}, .local = {2, 1, 1}, .arguments = second, .argument_count = 2});
  static const int32_t expected[6] = {5007, 100, 9, 17, 6, 22};
  for (int i = 0; i < 2; i++) assert_memory_equal(out + 2 + 6 * i, expected, sizeof expected);
  done(&t);
}

/* ---- Operations that no source has ---- */

static const char odd_operations[] =
    "quern 1 bits 64 double int64_atomics\n"
    "struct @pair {i8, f32x3, bool}\n"
    "func @choose(%c : boolx4, %x : i32x4) : boolx4 {\n"
    "  %0 = slt %x, i32x4 zero : boolx4\n"
    "  %1 = xor %c, %0 : boolx4\n"
    "  return %1\n"
    "}\n"
    "func @none(%x : i32) : i64 {\n"
    "  %0 = eq %x, i32 77 : bool\n"
    "  if %0 {\n"
    "    trap\n"
    "  }\n"
    "  %1 = sext %0 : i64\n"
    "  return %1\n"
    "}\n"
    "kernel @k(%out : ptr global i32, %f : ptr global f32, %l : ptr global i64, %v : ptr global i32x4, %n : i32) {\n"
    "  local @m : [4 x bool]\n"
    "  var %bits : boolx4\n"
    "  var %p : @pair\n"
    "  var %flag : bool\n"
    "  var %where : ptr global i32\n"
    "  var %again : i32\n"
    "  store %where, %out\n"
    "  %0 = load %v : i32x4\n"
    "  %1 = slt i32x4 {1, -5, 7, 9}, %0 : boolx4\n"
    "  store %bits, %1\n"
    "  %2 = load %bits : boolx4\n"
    "  %3 = call @choose(%2, %0) : boolx4\n"
    "  %4 = insert %3, bool true, i32 2 : boolx4\n"
    "  %5 = extract %4, %n : bool\n"
    "  %6 = zext %4 : i32x4\n"
    "  %7 = elem %v, i32 1 : ptr global i32x4\n"
    "  store %7, %6\n"
    "  %8 = sext %4 : i64x4\n"
    "  %9 = extract %8, i32 0 : i64\n"
    "  %10 = elem %l, i32 2 : ptr global i64\n"
    "  store %10, %9\n"
    "  %11 = zext %5 : i32\n"
    "  %12 = load %where : ptr global i32\n"
    "  store %12, %11\n"
    "  %13 = shuffle %0, %0 [2, 1, 6, -1, 0, 3, 3, 2] : i32x8\n"
    "  %14 = extract %13, i64 6 : i32\n"
    "  %15 = extract %13, %n : i32\n"
    "  %16 = add %14, %15 : i32\n"
    "  %17 = elem %out, i32 1 : ptr global i32\n"
    "  store %17, %16\n"
    "  %18 = load %f : f32\n"
    "  %19 = elem %f, i32 1 : ptr global f32\n"
    "  %20 = load %19 : f32\n"
    "  %21 = frem %18, %20 : f32\n"
    "  %22 = copysign %21, f32 -0x0p+0 : f32\n"
    "  %23 = elem %f, i32 2 : ptr global f32\n"
    "  store %23, %22\n"
    "  %24 = atomic fadd acq_rel device %23, f32 0x1.8p+1 : f32\n"
    "  %25 = atomic fmax relaxed device %19, f32 0x1p+9 : f32\n"
    "  %26 = atomic fmin seq_cst device %19, %24 : f32\n"
    "  %27 = atomic load acquire device %19 : f32\n"
    "  %28 = fadd %26, %27 : f32\n"
    "  %29 = fadd %28, %25 : f32\n"
    "  %30 = elem %f, i32 3 : ptr global f32\n"
    "  store %30, %29\n"
    "  atomic store release device %l, i64 12\n"
    "  %31 = atomic cmpxchg relaxed device %l, i64 12, i64 -3 : i64\n"
    "  %32 = atomic smin relaxed device %l, i64 -9 : i64\n"
    "  %33 = add %31, %32 : i64\n"
    "  %34 = elem %l, i32 1 : ptr global i64\n"
    "  store %34, %33\n"
    "  %35 = pdiff %34, %l : i64\n"
    "  %36 = ptoi %34 : i64\n"
    "  %37 = itop %36 : ptr global i64\n"
    "  %38 = load %37 volatile : i64\n"
    "  %39 = add %35, %38 : i64\n"
    "  %40 = elem %l, i32 3 : ptr global i64\n"
    "  store %40, %39\n"
    "  %41 = index @m, i32 2 : ptr local bool\n"
    "  store %41, %5\n"
    "  %42 = load %41 : bool\n"
    "  store %flag, %42\n"
    "  %43 = field %p, 2 : ptr private bool\n"
    "  %44 = load %flag : bool\n"
    "  %45 = not %44 : bool\n"
    "  store %43, %45\n"
    "  %46 = load %43 : bool\n"
    "  %47 = utof %46 : f32\n"
    "  %48 = field %p, 1 : ptr private f32x3\n"
    "  %49 = index %48, %n : ptr private f32\n"
    "  store %48, f32x3 zero\n"
    "  store %49, %47\n"
    "  %50 = load %48 : f32x3\n"
    "  %51 = utof %1 : f32x4\n"
    "  %52 = shuffle %50, %50 [0, 1, 2, 4] : f32x4\n"
    "  %53 = fadd %51, %52 : f32x4\n"
    "  %54 = elem %f, i32 4 : ptr global f32\n"
    "  vstore %54, %53\n"
    "  store %again, i32 0\n"
    "  loop {\n"
    "    %55 = load %again : i32\n"
    "    %56 = eq %55, i32 2 : bool\n"
    "    if %56 {\n"
    "      continue\n"
    "    }\n"
    "    %57 = elem %out, i32 2 : ptr global i32\n"
    "    %58 = load %57 : i32\n"
    "    %59 = add %58, %55 : i32\n"
    "    store %57, %59\n"
    "  } continue {\n"
    "    %60 = load %again : i32\n"
    "    %61 = slt %60, i32 3 : bool\n"
    "    if %61 {\n"
    "      %62 = add %60, i32 1 : i32\n"
    "      store %again, %62\n"
    "    } else {\n"
    "      %63 = add %60, i32 2 : i32\n"
    "      store %again, %63\n"
    "    }\n"
    "    %64 = load %again : i32\n"
    "    %65 = slt i32 8, %64 : bool\n"
    "    break_if %65\n"
    "  }\n"
    "  %66 = call @none(%n) : i64\n"
    "  %67 = trunc %66 : i32\n"
    "  %68 = rotl %67, i32 40 : i32\n"
    "  %69 = ctz %n : i32\n"
    "  %70 = udiv i32 undef, i32 0 : i32\n"
    "  %71 = sub %69, %68 : i32\n"
    "  %72 = add %71, %70 : i32\n"
    "  %73 = elem %out, i32 3 : ptr global i32\n"
    "  store %73, %72\n"
    "}\n";

typedef struct odd_memory {
  int32_t out[4];
  float f[8];
  int64_t l[4];
  int32_t v[8];
} odd_memory;

static void fill_odd(odd_memory *m) { *m = (odd_memory){.f = {7.5f, 2.0f}, .v = {3, -5, 7, 100}}; }

static interp_launch odd_launch(odd_memory *m, const int32_t *n, interp_argument arguments[5]) {
  arguments[0] = (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = m->out, .size_bytes = sizeof m->out};
  arguments[1] = (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = m->f, .size_bytes = sizeof m->f};
  arguments[2] = (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = m->l, .size_bytes = sizeof m->l};
  arguments[3] = (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = m->v, .size_bytes = sizeof m->v};
  arguments[4] = (interp_argument){.kind = QN_ARGUMENT_VALUE, .bytes = n, .size_bytes = sizeof *n};
  return (interp_launch){
      .dimensions = 1, .global = {1, 1, 1}, .local = {1, 1, 1}, .arguments = arguments, .argument_count = 5};
}

static void operations_that_no_source_has_mean_the_same(void **state) {
  (void)state;
  for (int32_t n = 0; n < 3; n++) {
    odd_memory expected, got;
    interp_argument arguments[5];
    made t;
    fill_odd(&expected);
    fill_odd(&got);
    open_ir(&t, odd_operations, &whole_model);
    interp_launch launch = odd_launch(&expected, &n, arguments);
    if (interp_run(ir_function_find(t.module, QN_SV("k")), &launch, NULL) < 0) fail_msg("%s", qn_error_text());
    if (qn_target_opencl_c(t.module, &plain, &t.text, &t.program) < 0) fail_msg("%s", qn_error_text());
    launch = odd_launch(&got, &n, arguments);
    run_text(&t, "k", &launch);
    for (int i = 0; i < 4; i++) assert_int_equal(got.out[i], expected.out[i]);
    for (int i = 0; i < 8; i++) assert_float_equal(got.f[i], expected.f[i], 0);
    for (int i = 0; i < 4; i++) assert_int_equal(got.l[i], expected.l[i]);
    for (int i = 0; i < 8; i++) assert_int_equal(got.v[i], expected.v[i]);
    done(&t);
  }
}

/* A NaN has its bits, a 3-vector its room. */
static void data_that_literals_can_not_say_are_words(void **state) {
  static const char text[] =
      "quern 1 bits 64 double\n"
      "struct @s {i8, f32x3, i16}\n"
      "constant @nans : [2 x f32] = {nan:0x7fc12345, 0x1p+0}\n"
      "constant @structs : [2 x @s] = {{3, {0x1p+0, 0x1p+1, 0x1.8p+1}, -2}, {7, zero, 5}}\n"
      "constant @one : f64 = nan:0x7ff8000000000123\n"
      "kernel @k(%out : ptr global i32, %f : ptr global f32, %l : ptr global i64, %v : ptr global i32x4, %n : i32) {\n"
      "  %0 = index @nans, i32 0 : ptr constant f32\n"
      "  %1 = load %0 : f32\n"
      "  %2 = bitcast %1 : i32\n"
      "  store %out, %2\n"
      "  %3 = index @structs, %n : ptr constant @s\n"
      "  %4 = field %3, 1 : ptr constant f32x3\n"
      "  %5 = load %4 : f32x3\n"
      "  vstore %f, %5\n"
      "  %6 = field %3, 2 : ptr constant i16\n"
      "  %7 = load %6 : i16\n"
      "  %8 = sext %7 : i32\n"
      "  %9 = elem %out, i32 1 : ptr global i32\n"
      "  store %9, %8\n"
      "  %10 = load @one : f64\n"
      "  %11 = bitcast %10 : i64\n"
      "  store %l, %11\n"
      "}\n";
  (void)state;
  for (int32_t n = 0; n < 2; n++) {
    odd_memory got;
    interp_argument arguments[5];
    made t;
    fill_odd(&got);
    open_ir(&t, text, &whole_model);
    if (qn_target_opencl_c(t.module, &plain, &t.text, &t.program) < 0) fail_msg("%s", qn_error_text());
    assert_non_null(strstr(t.text.data, "constant uint nans[2]"));
    interp_launch launch = odd_launch(&got, &n, arguments);
    run_text(&t, "k", &launch);
    assert_int_equal(got.out[0], 0x7fc12345);
    assert_int_equal(got.out[1], n ? 5 : -2);
    assert_float_equal(got.f[1], (n ? 0 : 2), 0);
    assert_int_equal(got.l[0], 0x7ff8000000000123);
    done(&t);
  }
}

/* ---- What it refuses ---- */

static void assert_refused(const char *text, const qn_model *model, const char *what) {
  made t;
  open_ir(&t, text, model);
  assert_int_equal(qn_target_opencl_c(t.module, &plain, &t.text, &t.program), QN_ERROR_COMPILE);
  if (!strstr(qn_error_text(), what) || !strstr(qn_error_text(), "opencl_c") || !strstr(qn_error_text(), "'k'"))
    fail_msg("the error says: %s", qn_error_text());
  assert_int_equal(t.text.size, 0);
  done(&t);
}

static void what_opencl_c_lacks_is_named(void **state) {
  const qn_model small = {.address_bits = 64, .has_double = true};
  (void)state;
  assert_refused(
      "quern 1 bits 64 double\nkernel @k(%p : ptr global i64) {\n"
      "  %0 = atomic add relaxed device %p, i64 1 : i64\n}\n",
      &small, "atomic operations of 64 bits");
  assert_refused(
      "quern 1 bits 64 double\nkernel @k(%n : i32) {\n  var %v : i32\n"
      "  %0 = atomic add relaxed device %v, i32 1 : i32\n}\n",
      &small, "atomic operations on private memory");
  assert_refused(
      "quern 1 bits 64 double\nkernel @k(%p : ptr global i32) {\n"
      "  %0 = pcast %p : ptr generic i32\n  store %0, i32 1\n}\n",
      &small, "generic address space");
}

static void a_refusal_shows_the_line(void **state) {
  made t;
  (void)state;
  open_source(&t, "kernel void k(global long *l) {\n  *l = 5;\n  atom_add(l, 7L);\n}\n", "", &whole_model);
  t.module->model.has_int64_atomics = false; /* as if for another device */
  assert_int_equal(qn_target_opencl_c(t.module, &plain, &t.text, &t.program), QN_ERROR_COMPILE);
  if (!strstr(qn_error_text(), "k.cl:3:3: error: OpenCL C 1.2 (target opencl_c) can't express"))
    fail_msg("the error says: %s", qn_error_text());
  assert_non_null(strstr(qn_error_text(), "  atom_add(l, 7L);\n  ^"));
  done(&t);
}

/* ---- Memory and time ---- */

static void every_failing_allocation_is_told(void **state) {
  static const char source[] =
      "typedef struct { int a[3]; float3 v; } s; constant float c[2] = {1, 2};\n"
      "float f(float x, local const float *w) { return exp(x) / c[1] + w[0]; }\n"
      "kernel void k(global s *p, int n, int m) { local float w[4]; s own = p[0];\n"
      "  for (int i = 0; i < n; i++) { if (i == m) continue; own.v.y += f(p[i].a[i % m] / n, w); own.a[1] ^= i; }\n"
      "  atomic_add(&p[1].a[0], own.a[1]); p[1] = own; }";
  (void)state;
  FAILING_EACH(n) {
    failing_pause();
    made t;
    open_source(&t, source, "", &whole_model);
    failing_start(n, false);
    qn_status status = qn_target_opencl_c(t.module, &for_adapter, &t.text, &t.program);
    uint64_t failed = failing_stop();
    done(&t);
    if (!failed) {
      assert_int_equal(status, QN_OK);
      break;
    }
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
  }
}

static uint64_t time_for(uint32_t statements) {
  qn_bytes source = {0};
  made t;
  qn_bytes_append_str(&source, "kernel void k(global float *x, int n) {\n  float a = x[0]; int i = n;\n");
  for (uint32_t i = 0; i < statements; i++)
    qn_bytes_printf(&source, "  a += x[i + %u] * a; if (a > %u) i ^= n + %u; x[i] = a;\n", i, i, i);
  qn_bytes_append_str(&source, "}\n");
  open_source(&t, source.data, "", &whole_model);
  uint64_t begin = thread_ns();
  if (qn_target_opencl_c(t.module, &plain, &t.text, &t.program) < 0) fail_msg("%s", qn_error_text());
  uint64_t ns = thread_ns() - begin;
  done(&t);
  qn_bytes_free(&source);
  return ns;
}

/* The best of three: other work on the machine must not fail it. */
static uint64_t best_time_for(uint32_t statements) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    uint64_t ns = time_for(statements);
    if (ns < best) best = ns;
  }
  return best;
}

static void time_is_linear_in_the_source(void **state) {
  (void)state;
  uint64_t small = best_time_for(500), large = best_time_for(5000);
  print_message("500 lines %.2f ms, 5,000 lines %.2f ms\n", (double)small / 1e6, (double)large / 1e6);
  assert_true(large < 30 * small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_module_gives_the_same_bytes),
      cmocka_unit_test(kernels_are_told_in_order_with_the_names_that_they_have),
      cmocka_unit_test(drivers_are_told_what_the_code_needs),
      cmocka_unit_test(only_what_a_kernel_reaches_is_there),
      cmocka_unit_test(entries_take_offsets_and_the_launchs_range),
      cmocka_unit_test(operations_that_no_source_has_mean_the_same),
      cmocka_unit_test(data_that_literals_can_not_say_are_words),
      cmocka_unit_test(what_opencl_c_lacks_is_named),
      cmocka_unit_test(a_refusal_shows_the_line),
      cmocka_unit_test(every_failing_allocation_is_told),
      cmocka_unit_test(time_is_linear_in_the_source),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
