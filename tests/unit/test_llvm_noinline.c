/* Functions that are not inlined, called by work-items that run as lanes: plain code, one running lane after another. */
/* labels: llvm */
/* sources: tests/unit/support/runner.c tests/unit/support/driver.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* after these */
#include <cmocka.h>

#include "base/status.h"
#include "support/runner.h"

enum { ITEMS = 203, OUT = 4 };

/* The kernel's results from both devices, for a number of items that leaves lanes over. */
static void check(const char *source) {
  if (!runner_has_native()) skip();
  int32_t x[ITEMS], out[2][ITEMS * OUT];
  for (int i = 0; i < ITEMS; i++) x[i] = (i * 7919 + 13) % 101 - 50;
  memset(out, 0xee, sizeof out);
  for (int device = 0; device < 2; device++) {
    runner r;
    if (runner_open(&r, source, NULL, device == 1) != QN_OK) fail_msg("%s\n%s", qn_error_text(), source);
    interp_argument arguments[] = {runner_buffer(x, sizeof x), runner_buffer(out[device], sizeof out[device])};
    if (runner_run(&r, "f", ITEMS, 29, arguments, 2) != QN_OK) fail_msg("%s\n%s", qn_error_text(), source);
    runner_close(&r);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
}

static void test_all_lanes_call(void **state) {
  (void)state;
  check(
      "__attribute__((noinline)) int g(int a, int b) { return a * 3 - b / 2; }\n"
      "kernel void f(global int *x, global int *y) { size_t i = get_global_id(0); y[4 * i] = g(x[i], (int)i); }");
}

static void test_some_lanes_call(void **state) {
  (void)state;
  check(
      "__attribute__((noinline)) int g(int a) { int s = 0; for (int k = 0; k < (a & 15); k++) s += k * a; return s; }\n"
      "kernel void f(global int *x, global int *y) {\n"
      "  size_t i = get_global_id(0);\n"
      "  int r = -1;\n"
      "  if (x[i] > 10) r = g(x[i]);\n"
      "  if (x[i] < -49) r = g(-x[i]);\n" /* few, in most groups none */
      "  y[4 * i] = r;\n"
      "}");
}

static void test_vectors_come_back(void **state) {
  (void)state;
  check(
      "__attribute__((noinline)) int4 g(int a, short b) { return (int4)(a, a + b, a * b, a ^ b); }\n"
      "kernel void f(global int *x, global int *y) {\n"
      "  size_t i = get_global_id(0);\n"
      "  int4 r = 0;\n"
      "  if (x[i] & 1) r = g(x[i], (short)i);\n"
      "  vstore4(r, i, y);\n"
      "}");
}

static void test_calls_in_loops_that_lanes_leave_apart(void **state) {
  (void)state;
  check(
      "__attribute__((noinline)) int g(int a) { return a & 1 ? 3 * a + 1 : a / 2; }\n"
      "kernel void f(global int *x, global int *y) {\n"
      "  size_t i = get_global_id(0);\n"
      "  int n = x[i] < 0 ? -x[i] : x[i], k = 0;\n"
      "  while (n > 1 && k < 200) { n = g(n); k++; }\n"
      "  y[4 * i] = k;\n"
      "}");
}

static void test_calls_of_calls(void **state) {
  (void)state;
  check(
      "__attribute__((noinline)) int g(int a) { return a * a; }\n"
      "__attribute__((noinline)) int h(int a) { return g(a) + g(a + 1); }\n"
      "kernel void f(global int *x, global int *y) { size_t i = get_global_id(0); y[4 * i] = x[i] % 3 ? h(x[i]) : "
      "g(5); }");
}

static void test_one_that_knows_its_item(void **state) {
  (void)state;
  check(
      "__attribute__((noinline)) int g(int a) { return a + (int)get_local_id(0) * (int)get_global_id(0); }\n"
      "kernel void f(global int *x, global int *y) { size_t i = get_global_id(0); if (x[i] > 0) y[4 * i] = g(x[i]); }");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_lanes_call),    cmocka_unit_test(test_some_lanes_call),
      cmocka_unit_test(test_vectors_come_back), cmocka_unit_test(test_calls_in_loops_that_lanes_leave_apart),
      cmocka_unit_test(test_calls_of_calls),    cmocka_unit_test(test_one_that_knows_its_item),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
