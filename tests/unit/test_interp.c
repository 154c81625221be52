/* The interpreter on modules written as text: values, memory, control flow, barriers, faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "compiler/interp/interp.h"

static qn_arena arena;

static const ir_function *kernel_of(const char *text, uint32_t bits) {
  qn_model model = {bits, true, true, true};
  qn_arena_init(&arena, 0);
  ir_module *m = ir_module_new(&arena, &model);
  assert_non_null(m);
  qn_status status = ir_parse(m, qn_sv_from(text), "test");
  if (status < 0) fail_msg("%s", qn_error_text());
  status = ir_verify(m);
  if (status < 0) fail_msg("%s", qn_error_text());
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->is_kernel) return f;
  fail_msg("no kernel");
  return NULL;
}

static void done(const ir_function *kernel) {
  ir_module_free(kernel->module);
  qn_arena_free(&arena);
}

static qn_status run(const ir_function *k, uint64_t global, uint64_t local, const interp_argument *arguments,
                     uint32_t count) {
  interp_launch launch = {1, {global, 1, 1}, {local, 1, 1}, {0, 0, 0}, arguments, count, 1000000};
  return interp_run(k, &launch, NULL);
}

static const char saxpy[] =
    "quern 1 bits %d\n"
    "kernel @saxpy(%%x : ptr global f32, %%y : ptr global f32, %%a : f32) {\n"
    "  %%0 = global_id 0 : i%d\n"
    "  %%1 = elem %%x, %%0 : ptr global f32\n"
    "  %%2 = load %%1 : f32\n"
    "  %%3 = fmul %%2, %%a : f32\n"
    "  %%4 = elem %%y, %%0 : ptr global f32\n"
    "  %%5 = load %%4 : f32\n"
    "  %%6 = fadd %%3, %%5 : f32\n"
    "  store %%4, %%6\n"
    "  return\n"
    "}\n";

static void a_kernel_computes(int bits) {
  char text[1024];
  snprintf(text, sizeof text, saxpy, bits, bits);
  const ir_function *k = kernel_of(text, (uint32_t)bits);
  float x[10], y[10], a = 2;
  for (int i = 0; i < 10; i++) x[i] = (float)i, y[i] = 1;
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, x, sizeof x},
                                 {QN_ARGUMENT_BUFFER, NULL, y, sizeof y},
                                 {QN_ARGUMENT_VALUE, &a, NULL, 4}};
  assert_int_equal(run(k, 10, 4, arguments, 3), QN_OK);
  for (int i = 0; i < 10; i++) assert_true(y[i] == 2 * (float)i + 1);
  done(k);
}

static void saxpy_in_the_64_bit_model(void **state) {
  (void)state;
  a_kernel_computes(64);
}

static void saxpy_in_the_32_bit_model(void **state) {
  (void)state;
  a_kernel_computes(32);
}

static void an_access_past_the_end_is_a_fault_and_touches_nothing(void **state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, saxpy, 64, 64);
  const ir_function *k = kernel_of(text, 64);
  float x[10] = {0}, y[12], a = 2;
  for (int i = 0; i < 12; i++) y[i] = 7;
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, x, sizeof x},
                                 {QN_ARGUMENT_BUFFER, NULL, y, 8 * sizeof *y},
                                 {QN_ARGUMENT_VALUE, &a, NULL, 4}};
  assert_int_equal(run(k, 10, 1, arguments, 3), QN_ERROR_DEVICE);
  assert_non_null(strstr(qn_error_text(), "offset 32"));
  assert_non_null(strstr(qn_error_text(), "group (8, 0, 0)"));
  for (int i = 8; i < 12; i++) assert_true(y[i] == 7);
  arguments[0].memory = NULL;
  assert_int_equal(run(k, 1, 1, arguments, 3), QN_ERROR_DEVICE);
  done(k);
}

static void barriers_order_local_memory_between_items(void **state) {
  (void)state;
  const ir_function *k = kernel_of(
      "quern 1 bits 64\n"
      "kernel @reverse(%a : ptr global i32) {\n"
      "  local @tile : [64 x i32]\n"
      "  var %round : i32\n"
      "  %0 = local_id 0 : i64\n"
      "  %1 = local_size 0 : i64\n"
      "  %2 = global_id 0 : i64\n"
      "  %3 = elem %a, %2 : ptr global i32\n"
      "  %4 = index @tile, %0 : ptr local i32\n"
      "  %5 = sub %1, i64 1 : i64\n"
      "  %6 = sub %5, %0 : i64\n"
      "  %7 = index @tile, %6 : ptr local i32\n"
      "  store %round, i32 0\n"
      "  loop {\n"
      "    %8 = load %3 : i32\n"
      "    store %4, %8\n"
      "    barrier local\n"
      "    %9 = load %7 : i32\n"
      "    %10 = add %9, i32 100 : i32\n"
      "    store %3, %10\n"
      "    barrier local\n"
      "  } continue {\n"
      "    %11 = load %round : i32\n"
      "    %12 = add %11, i32 1 : i32\n"
      "    store %round, %12\n"
      "    %13 = sle i32 3, %12 : bool\n"
      "    break_if %13\n"
      "  }\n"
      "  return\n"
      "}\n",
      64);
  int32_t a[24];
  for (int i = 0; i < 24; i++) a[i] = i;
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, a, sizeof a}};
  assert_int_equal(run(k, 24, 8, arguments, 1), QN_OK);
  for (int i = 0; i < 24; i++) assert_int_equal(a[i], i / 8 * 8 + 7 - i % 8 + 300);
  /* A smaller last group. */
  for (int i = 0; i < 24; i++) a[i] = i;
  assert_int_equal(run(k, 20, 8, arguments, 1), QN_OK);
  for (int i = 16; i < 20; i++) assert_int_equal(a[i], 16 + 19 - i + 300);
  done(k);
}

static void a_barrier_that_not_all_items_reach_is_a_fault(void **state) {
  (void)state;
  const ir_function *k = kernel_of(
      "quern 1 bits 64\n"
      "kernel @k(%a : ptr global i32) {\n"
      "  %0 = local_id 0 : i64\n"
      "  %1 = eq %0, i64 0 : bool\n"
      "  if %1 {\n"
      "    barrier local\n"
      "  } else {\n"
      "  }\n"
      "  return\n"
      "}\n",
      64);
  int32_t a[4];
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, a, sizeof a}};
  assert_int_equal(run(k, 4, 4, arguments, 1), QN_ERROR_DEVICE);
  assert_non_null(strstr(qn_error_text(), "same barrier"));
  assert_int_equal(run(k, 4, 1, arguments, 1), QN_OK); /* alone in its group each reaches its own */
  done(k);
}

static void calls_return_values_and_switches_choose(void **state) {
  (void)state;
  const ir_function *k = kernel_of(
      "quern 1 bits 64\n"
      "func @twice(%x : i32) : i32 {\n"
      "  %0 = add %x, %x : i32\n"
      "  return %0\n"
      "}\n"
      "func @choose(%x : i32) : i32 {\n"
      "  switch %x {\n"
      "    case 1 {\n"
      "      return i32 10\n"
      "    }\n"
      "    case 2 {\n"
      "      %0 = call @twice(%x) : i32\n"
      "      %1 = call @twice(%0) : i32\n"
      "      return %1\n"
      "    }\n"
      "    default {\n"
      "    }\n"
      "  }\n"
      "  return i32 -1\n"
      "}\n"
      "kernel @k(%a : ptr global i32) {\n"
      "  %0 = global_id 0 : i64\n"
      "  %1 = trunc %0 : i32\n"
      "  %2 = elem %a, %0 : ptr global i32\n"
      "  %3 = call @choose(%1) : i32\n"
      "  store %2, %3\n"
      "  return\n"
      "}\n",
      64);
  int32_t a[4];
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, a, sizeof a}};
  assert_int_equal(run(k, 4, 2, arguments, 1), QN_OK);
  assert_int_equal(a[0], -1);
  assert_int_equal(a[1], 10);
  assert_int_equal(a[2], 8);
  assert_int_equal(a[3], -1);
  done(k);
}

static void atomics_give_the_old_value(void **state) {
  (void)state;
  const ir_function *k = kernel_of(
      "quern 1 bits 64\n"
      "kernel @k(%a : ptr global i32, %old : ptr global i32) {\n"
      "  %0 = global_id 0 : i64\n"
      "  %1 = elem %old, %0 : ptr global i32\n"
      "  %2 = atomic add relaxed device %a, i32 3 : i32\n"
      "  store %1, %2\n"
      "  return\n"
      "}\n",
      64);
  int32_t a[1] = {5}, old[4];
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, a, sizeof a}, {QN_ARGUMENT_BUFFER, NULL, old, sizeof old}};
  assert_int_equal(run(k, 4, 2, arguments, 2), QN_OK);
  assert_int_equal(a[0], 17);
  for (int i = 0; i < 4; i++) assert_int_equal(old[i], 5 + 3 * i);
  done(k);
}

static void constants_are_read_and_not_written(void **state) {
  (void)state;
  const ir_function *k = kernel_of(
      "quern 1 bits 64\n"
      "constant @table : [3 x i32] = {5, 6, 7}\n"
      "kernel @k(%a : ptr global i32) {\n"
      "  %0 = global_id 0 : i64\n"
      "  %1 = index @table, %0 : ptr constant i32\n"
      "  %2 = load %1 : i32\n"
      "  %3 = elem %a, %0 : ptr global i32\n"
      "  store %3, %2\n"
      "  return\n"
      "}\n",
      64);
  int32_t a[4];
  interp_argument arguments[] = {{QN_ARGUMENT_BUFFER, NULL, a, sizeof a}};
  assert_int_equal(run(k, 3, 3, arguments, 1), QN_OK);
  assert_int_equal(a[0] * 100 + a[1] * 10 + a[2], 567);
  assert_int_equal(run(k, 4, 4, arguments, 1), QN_ERROR_DEVICE); /* past the table's end */
  done(k);
}

static void endless_loops_end_at_the_step_limit(void **state) {
  (void)state;
  const ir_function *k = kernel_of(
      "quern 1 bits 64\n"
      "kernel @k() {\n"
      "  loop {\n"
      "  } continue {\n"
      "  }\n"
      "}\n",
      64);
  assert_int_equal(run(k, 1, 1, NULL, 0), QN_ERROR_LIMIT);
  done(k);
}

static void wrong_launches_are_refused(void **state) {
  (void)state;
  const ir_function *k = kernel_of("quern 1 bits 64\nkernel @k(%a : i32) {\n  return\n}\n", 64);
  int32_t a = 1;
  interp_argument argument = {QN_ARGUMENT_VALUE, &a, NULL, 4};
  assert_int_equal(run(k, 1, 1, NULL, 0), QN_ERROR_INVALID_ARGUMENT);
  argument.size_bytes = 8;
  assert_int_equal(run(k, 1, 1, &argument, 1), QN_ERROR_INVALID_ARGUMENT);
  argument.size_bytes = 4;
  assert_int_equal(run(k, 1, 0, &argument, 1), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(run(k, 0, 1, &argument, 1), QN_OK);
  done(k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(saxpy_in_the_64_bit_model),
      cmocka_unit_test(saxpy_in_the_32_bit_model),
      cmocka_unit_test(an_access_past_the_end_is_a_fault_and_touches_nothing),
      cmocka_unit_test(barriers_order_local_memory_between_items),
      cmocka_unit_test(a_barrier_that_not_all_items_reach_is_a_fault),
      cmocka_unit_test(calls_return_values_and_switches_choose),
      cmocka_unit_test(atomics_give_the_old_value),
      cmocka_unit_test(constants_are_read_and_not_written),
      cmocka_unit_test(endless_loops_end_at_the_step_limit),
      cmocka_unit_test(wrong_launches_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
