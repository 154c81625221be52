/* The LLVM target on small kernels: they run, in every shape of control flow and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "support/llvm.h"

static const char saxpy[] =
    "quern 1 bits 64\n"
    "kernel @saxpy(%y : ptr global f32, %x : ptr global f32, %a : f32, %n : i32) {\n"
    "  %0 = global_id 0 : i64\n"
    "  %1 = trunc %0 : i32\n"
    "  %2 = slt %1, %n : bool\n"
    "  if %2 {\n"
    "    %3 = sext %1 : i64\n"
    "    %4 = elem %x, %3 : ptr global f32\n"
    "    %5 = load %4 : f32\n"
    "    %6 = elem %y, %3 : ptr global f32\n"
    "    %7 = load %6 : f32\n"
    "    %8 = fmul %5, %a contract : f32\n"
    "    %9 = fadd %8, %7 contract : f32\n"
    "    store %6, %9\n"
    "  }\n"
    "  return\n"
    "}\n";

static void a_saxpy_runs(void **state) {
  test_code code;
  qn_target_options options = test_llvm_options("x86-64-v3");
  enum { N = 1000 };
  float x[N], y[N];
  struct {
    float *y, *x;
    float a;
    int32_t n;
  } block = {y, x, 2.0f, N - 3};
  (void)state;
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1.0f;
  test_llvm_compile(&code, saxpy, &options);
  test_llvm_run(&code, "saxpy", 1, (uint64_t[]){N, 1, 1}, (uint64_t[]){64, 1, 1}, &block);
  for (int i = 0; i < N; i++) assert_true(y[i] == (i < N - 3 ? 2.0f * (float)i + 1.0f : 1.0f));
  test_llvm_free(&code);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_saxpy_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
