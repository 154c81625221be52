/* Random kernels with barriers (tests/random/generator.h) in code for each kind of machine, against the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "../random/generator.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/interp/interp.h"
#include "compiler/pass/pass.h"
#include "support/llvm.h"

typedef struct run_data {
  generated kernel;
  uint64_t items;
  uint32_t *in, *expected, *got;
} run_data;

static void interpret(const run_data *r) {
  qn_arena arena;
  ir_module *m = NULL;
  qn_compile_options none = {0};
  qn_compile_request request = {.source = qn_sv_from(r->kernel.source), .options = &none};
  request.model = (qn_model){.address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};
  qn_arena_init(&arena, 0);
  if (qn_compile(&arena, &request, &m, NULL) < 0 || pass_link(m) < 0) fail_msg("%s", qn_error_text());
  const interp_argument args[4] = {
      {.kind = QN_ARGUMENT_BUFFER, .memory = r->expected, .size_bytes = r->items * GENERATOR_RESULTS * 4},
      {.kind = QN_ARGUMENT_BUFFER, .memory = r->in, .size_bytes = r->items * 4},
      {.kind = QN_ARGUMENT_VALUE, .bytes = &r->kernel.n0, .size_bytes = 4},
      {.kind = QN_ARGUMENT_VALUE, .bytes = &r->kernel.n1, .size_bytes = 4},
  };
  interp_launch launch = {
      .dimensions = 2, .arguments = args, .argument_count = 4, .global = {1, 1, 1}, .local = {1, 1, 1}};
  for (int d = 0; d < 2; d++) {
    launch.local[d] = r->kernel.local[d];
    launch.global[d] = r->kernel.local[d] * r->kernel.groups[d];
  }
  if (interp_run(ir_function_find(m, QN_SV("random_kernel")), &launch, NULL) < 0) fail_msg("%s", qn_error_text());
  ir_module_free(m);
  qn_arena_free(&arena);
}

/* Of which kind the code is. */
typedef struct code_kind {
  const char *cpu;
  bool scalar, least_limits;
} code_kind;

static void run_code(const run_data *r, const code_kind *kind) {
  test_code code;
  qn_target_options options = test_llvm_options(kind->cpu);
  const generated *g = &r->kernel;
  struct {
    uint32_t *out, *in, n0, n1;
  } block = {r->got, r->in, g->n0, g->n1};
  options.scalar = kind->scalar;
  options.least_limits = kind->least_limits;
  test_llvm_compile_source(&code, g->source, &options);
  test_llvm_run(&code, "random_kernel", 2, (uint64_t[]){g->local[0] * g->groups[0], g->local[1] * g->groups[1], 1},
                (uint64_t[]){g->local[0], g->local[1], 1}, &block);
  test_llvm_free(&code);
}

static int check_seed(uint64_t seed, const code_kind *kind) {
  run_data r = {.kernel = generate(seed)};
  r.items = r.kernel.local[0] * r.kernel.local[1] * r.kernel.groups[0] * r.kernel.groups[1];
  uint64_t words = r.items * GENERATOR_RESULTS;
  r.in = malloc(r.items * 4);
  r.expected = calloc(words, 4);
  r.got = calloc(words, 4);
  assert_true(r.in && r.expected && r.got);
  for (uint64_t i = 0; i < r.items; i++) r.in[i] = (uint32_t)((i + seed) * 2654435761u);
  interpret(&r);
  run_code(&r, kind);
  int bad = memcmp(r.expected, r.got, words * 4) != 0;
  if (bad)
    print_error("seed %" PRIu64 " (%s, %s%s) differs\n", seed, kind->cpu, kind->scalar ? "one by one" : "lanes",
                kind->least_limits ? ", least limits" : "");
  free(r.kernel.source);
  free(r.in);
  free(r.expected);
  free(r.got);
  return bad;
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 0) : otherwise;
}

/* More of them: QUERN_SEEDS and QUERN_FIRST_SEED. */
static void check_seeds(code_kind kind, uint64_t first) {
  uint64_t seeds = from_environment("QUERN_SEEDS", 8);
  int bad = 0;
  first = from_environment("QUERN_FIRST_SEED", first);
  if (!test_llvm_runs(kind.cpu)) skip();
  for (uint64_t seed = first; seed < first + seeds; seed++) bad += check_seed(seed, &kind);
  assert_int_equal(bad, 0);
}

static void random_kernels_one_by_one(void **state) {
  (void)state, check_seeds((code_kind){"x86-64-v3", true, false}, 1);
}
static void random_kernels_in_lanes_of_4(void **state) {
  (void)state, check_seeds((code_kind){"x86-64", false, false}, 101);
}
static void random_kernels_in_lanes_of_8(void **state) {
  (void)state, check_seeds((code_kind){"x86-64-v3", false, false}, 201);
}
static void random_kernels_in_lanes_of_16(void **state) {
  (void)state, check_seeds((code_kind){"x86-64-v4", false, false}, 301);
}
/* As if each were so large that its compile time counts more than its speed. */
static void random_kernels_one_by_one_with_least_limits(void **state) {
  (void)state, check_seeds((code_kind){"x86-64-v3", true, true}, 401);
}
static void random_kernels_in_lanes_of_8_with_least_limits(void **state) {
  (void)state, check_seeds((code_kind){"x86-64-v3", false, true}, 501);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_kernels_one_by_one),
      cmocka_unit_test(random_kernels_in_lanes_of_4),
      cmocka_unit_test(random_kernels_in_lanes_of_8),
      cmocka_unit_test(random_kernels_in_lanes_of_16),
      cmocka_unit_test(random_kernels_one_by_one_with_least_limits),
      cmocka_unit_test(random_kernels_in_lanes_of_8_with_least_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
