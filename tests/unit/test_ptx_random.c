/* Random kernels (tests/random/generator.h) before and after all that the target ptx does to a module: the interpreter must give the
 * same. */
/* sources: tests/random/generator.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "../random/generator.h"
#include "../support/rounds.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/interp/interp.h"
#include "compiler/pass/pass.h"
#include "compiler/target/ptx/ptx.h"

typedef struct run_data {
  generated kernel;
  uint64_t items;
  uint32_t *in;
} run_data;

static void interpret(const run_data *r, const ir_module *m, uint32_t *out) {
  const interp_argument args[4] = {
      {.kind = QN_ARGUMENT_BUFFER, .memory = out, .size_bytes = r->items * GENERATOR_RESULTS * 4},
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
  ir_function *f = ir_function_find((ir_module *)(uintptr_t)m, QN_SV("random_kernel"));
  if (interp_run(f, &launch, NULL) < 0) fail_msg("%s", qn_error_text());
}

static uint32_t *run(const run_data *r, bool prepared) {
  static const qn_compile_options none;
  const qn_ptx_options options = {.sm = 80};
  qn_arena arena;
  qn_bytes text = {0};
  qn_ptx_program program;
  ir_module *m = NULL;
  uint32_t *out = calloc((size_t)r->items * GENERATOR_RESULTS, 4);
  qn_compile_request request = {.source = qn_sv_from(r->kernel.source), .options = &none};
  request.model = (qn_model){.address_bits = 64, .has_double = true, .has_int64_atomics = true};
  assert_non_null(out);
  qn_arena_init(&arena, 0);
  if (qn_compile(&arena, &request, &m, NULL) < 0) fail_msg("%s", qn_error_text());
  qn_status status = prepared ? qn_target_ptx(m, &options, &text, &program) : pass_link(m);
  if (status >= 0) status = ir_verify(m);
  if (status < 0) fail_msg("%s", qn_error_text());
  interpret(r, m, out);
  ir_module_free(m);
  qn_bytes_free(&text);
  qn_arena_free(&arena);
  return out;
}

static int check_seed(uint64_t seed) {
  run_data r = {.kernel = generate(seed)};
  r.items = r.kernel.local[0] * r.kernel.local[1] * r.kernel.groups[0] * r.kernel.groups[1];
  r.in = malloc((size_t)r.items * 4);
  assert_non_null(r.in);
  for (uint64_t i = 0; i < r.items; i++) r.in[i] = (uint32_t)((i + seed) * 2654435761u);
  uint32_t *expected = run(&r, false), *got = run(&r, true);
  int bad = memcmp(expected, got, (size_t)r.items * GENERATOR_RESULTS * 4) != 0;
  if (bad) print_message("seed %" PRIu64 " differs:\n%s\n", seed, r.kernel.source);
  free(expected);
  free(got);
  free(r.in);
  free(r.kernel.source);
  return bad;
}

static void test_passes_keep_what_random_kernels_compute(void **state) {
  uint64_t seeds = test_rounds("random kernels through the passes of ptx", 60, 3000), bad = 0;
  (void)state;
  for (uint64_t seed = 1; seed <= seeds && bad < 3; seed++) bad += (uint64_t)check_seed(seed);
  print_message("%" PRIu64 " random kernels, %" PRIu64 " differ\n", seeds, bad);
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes_keep_what_random_kernels_compute)};
  return cmocka_run_group_tests_name("ptx_random", tests, NULL, NULL);
}
