/* Kernels of every shape, in code for each kind of machine, against the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/interp/interp.h"
#include "compiler/pass/pass.h"
#include "support/kernel_cases.h"
#include "support/llvm.h"

/* ---- Running ---- */

static void interpret(const kernel_case *c, const char *source, uint32_t *out, uint32_t *in, const uint64_t *offset) {
  qn_arena arena;
  ir_module *m = NULL;
  qn_compile_options none = {0};
  qn_compile_request request = {.source = qn_sv_from(source), .options = &none};
  request.model = (qn_model){.address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};
  qn_arena_init(&arena, 0);
  if (qn_compile(&arena, &request, &m, NULL) < 0) fail_msg("%s: %s", c->name, qn_error_text());
  if (pass_link(m) < 0) fail_msg("%s: %s", c->name, qn_error_text());
  int n = c->n;
  const interp_argument args[3] = {
      {.kind = QN_ARGUMENT_BUFFER, .memory = out, .size_bytes = ITEMS * WORDS * 4},
      {.kind = QN_ARGUMENT_BUFFER, .memory = in, .size_bytes = IN_WORDS * 4},
      {.kind = QN_ARGUMENT_VALUE, .bytes = &n, .size_bytes = 4},
  };
  interp_launch launch = {.dimensions = 3, .arguments = args, .argument_count = 3};
  for (int d = 0; d < 3; d++) {
    launch.global[d] = c->global[d];
    launch.local[d] = c->local[d];
    launch.offset[d] = offset[d];
  }
  if (interp_run(ir_function_find(m, qn_sv_from("k")), &launch, NULL) < 0) fail_msg("%s: %s", c->name, qn_error_text());
  ir_module_free(m);
  qn_arena_free(&arena);
}

/* Of which kind the code is. */
typedef struct code_kind {
  const char *cpu;
  bool scalar, least_limits;
} code_kind;

static int check_case(const kernel_case *c, const code_kind *kind) {
  static uint32_t in[IN_WORDS] __attribute__((aligned(128)));
  static uint32_t expected[ITEMS * WORDS] __attribute__((aligned(128))),
      got[ITEMS * WORDS] __attribute__((aligned(128)));
  const uint64_t offset[3] = {0, 0, 0};
  char *source = kernel_case_source(c);
  test_code code;
  qn_target_options options = test_llvm_options(kind->cpu);
  options.scalar = kind->scalar;
  options.least_limits = kind->least_limits;
  kernel_case_fill(in);
  memset(expected, 0, sizeof expected);
  memset(got, 0, sizeof got);
  interpret(c, source, expected, in, offset);
  test_llvm_compile_source(&code, source, &options);
  struct {
    uint32_t *out, *in;
    int n;
  } block = {got, in, c->n};
  test_llvm_run(&code, "k", 3, c->global, c->local, &block);
  int bad = 0;
  for (int i = 0; i < ITEMS * WORDS && !bad; i++) {
    if (got[i] == expected[i]) continue;
    print_error("%s (%s, %s%s): word %d is %#x, not %#x\n", c->name, kind->cpu, kind->scalar ? "one by one" : "lanes",
                kind->least_limits ? ", least limits" : "", i, got[i], expected[i]);
    bad = 1;
  }
  test_llvm_free(&code);
  free(source);
  return bad;
}

static void check_all(code_kind kind) {
  int bad = 0;
  if (!test_llvm_runs(kind.cpu)) skip();
  for (size_t i = 0; i < sizeof kernel_cases / sizeof *kernel_cases; i++) {
    const char *only = getenv("ONLY");
    if (only && strcmp(only, kernel_cases[i].name) != 0) continue;
    bad += check_case(&kernel_cases[i], &kind);
  }
  assert_int_equal(bad, 0);
}

static void kernels_one_by_one_agree_with_the_interpreter(void **state) {
  (void)state, check_all((code_kind){"x86-64-v3", true, false});
}
static void kernels_in_lanes_of_4_agree_with_the_interpreter(void **state) {
  (void)state, check_all((code_kind){"x86-64", false, false});
}
static void kernels_in_lanes_of_8_agree_with_the_interpreter(void **state) {
  (void)state, check_all((code_kind){"x86-64-v3", false, false});
}
static void kernels_in_lanes_of_16_agree_with_the_interpreter(void **state) {
  (void)state, check_all((code_kind){"x86-64-v4", false, false});
}
/* As if each were so large that its compile time counts more than its speed. */
static void kernels_with_least_limits_agree_with_the_interpreter(void **state) {
  (void)state, check_all((code_kind){"x86-64-v3", false, true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_one_by_one_agree_with_the_interpreter),
      cmocka_unit_test(kernels_in_lanes_of_4_agree_with_the_interpreter),
      cmocka_unit_test(kernels_in_lanes_of_8_agree_with_the_interpreter),
      cmocka_unit_test(kernels_in_lanes_of_16_agree_with_the_interpreter),
      cmocka_unit_test(kernels_with_least_limits_agree_with_the_interpreter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
