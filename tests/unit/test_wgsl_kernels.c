/* Kernels of every shape and random ones as WGSL on a library that implements webgpu.h: every word must be what the
 * interpreter makes of the source. */
/* sources: tests/wgsl/launch.c tests/wgsl/webgpu.c tests/random/generator.c */
/* labels: webgpu */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "../random/generator.h"
#include "../support/rounds.h"
#include "../wgsl/launch.h"
#include "base/status.h"
#include "quern/quern.h"
#include "support/kernel_cases.h"

static interp_argument buffer(void *memory, uint64_t size_bytes) {
  return (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = memory, .size_bytes = size_bytes};
}

/* Both sides of one launch. */
static void interpret(const char *source, const char *kernel, const interp_launch *launch) {
  if (wgsl_interpret(source, NULL, kernel, launch) < 0) fail_msg("%s\n%s", qn_error_text(), source);
}

typedef enum outcome { RAN, REFUSED, FAILED } outcome;

/* Loops that items leave one by one may be refused, and nothing else. */
static outcome run(const char *source, const char *kernel, const interp_launch *launch, bool merged) {
  wgsl_made w;
  if (wgsl_make(&w, source, NULL, merged) < 0) {
    bool may = strstr(qn_error_text(), "leave one by one") != NULL;
    if (!may) print_error("%s\n", qn_error_text());
    return may ? REFUSED : FAILED;
  }
  qn_status status = wgsl_launch(&w, kernel, launch);
  if (status < 0) print_error("%.1500s\n", qn_error_text());
  wgsl_free(&w);
  return status < 0 ? FAILED : RAN;
}

/* ---- Kernels of every shape ---- */

static int compare_case(const kernel_case *c, const char *source, bool merged) {
  static uint32_t in[IN_WORDS], expected[ITEMS * WORDS], got[ITEMS * WORDS];
  int n = c->n;
  uint32_t *const outs[2] = {expected, got};
  memset(expected, 0, sizeof expected);
  memset(got, 0, sizeof got);
  kernel_case_fill(in);
  for (int side = 0; side < 2; side++) {
    const interp_argument arguments[3] = {buffer(outs[side], ITEMS * WORDS * 4),
                                          buffer(in, IN_WORDS * 4),
                                          {.kind = QN_ARGUMENT_VALUE, .bytes = &n, .size_bytes = 4}};
    interp_launch launch = {.dimensions = 3, .arguments = arguments, .argument_count = 3};
    memcpy(launch.global, c->global, sizeof launch.global);
    memcpy(launch.local, c->local, sizeof launch.local);
    if (!side)
      interpret(source, "k", &launch);
    else if (run(source, "k", &launch, merged) != RAN)
      return print_error("%s did not run\n", c->name), 1;
  }
  for (int i = 0; i < ITEMS * WORDS; i++) {
    if (got[i] == expected[i]) continue;
    print_error("%s: word %d is %#x, not %#x\n", c->name, i, got[i], expected[i]);
    return 1;
  }
  return 0;
}

enum { CASES = sizeof kernel_cases / sizeof *kernel_cases };

/* ONLY=name: one case. */
static void kernels_of_every_shape_mean_the_same(void **state) {
  (void)state;
  const char *only = getenv("ONLY");
  uint64_t count = test_rounds("kernels of every shape as WGSL", 40, CASES),
           step = only ? 1 : (CASES + count - 1) / count;
  int bad = 0;
  for (uint64_t i = 0; i < CASES; i += step) {
    const kernel_case *c = &kernel_cases[i];
    if (only && strcmp(only, c->name) != 0) continue;
    if (strstr(c->source, "double")) continue;
    char *source = kernel_case_source(c);
    bad += compare_case(c, source, false);
    if (i % 4 == 0) bad += compare_case(c, source, true);
    free(source);
  }
  assert_int_equal(bad, 0);
}

/* ---- Random kernels ---- */

static uint64_t refused;

static int check_seed(uint64_t seed) {
  outcome how = FAILED;
  generated g = generate(seed);
  uint64_t items = g.local[0] * g.local[1] * g.groups[0] * g.groups[1], words = items * GENERATOR_RESULTS;
  uint32_t *in = malloc(items * 4), *sides[2] = {calloc(words, 4), calloc(words, 4)};
  assert_true(in && sides[0] && sides[1]);
  for (uint64_t i = 0; i < items; i++) in[i] = (uint32_t)((i + seed) * 2654435761u);
  for (int side = 0; side < 2; side++) {
    const interp_argument arguments[4] = {buffer(sides[side], words * 4),
                                          buffer(in, items * 4),
                                          {.kind = QN_ARGUMENT_VALUE, .bytes = &g.n0, .size_bytes = 4},
                                          {.kind = QN_ARGUMENT_VALUE, .bytes = &g.n1, .size_bytes = 4}};
    interp_launch launch = {
        .dimensions = 2, .arguments = arguments, .argument_count = 4, .global = {1, 1, 1}, .local = {1, 1, 1}};
    for (int d = 0; d < 2; d++) {
      launch.local[d] = g.local[d];
      launch.global[d] = g.local[d] * g.groups[d];
    }
    if (!side)
      interpret(g.source, "random_kernel", &launch);
    else
      how = run(g.source, "random_kernel", &launch, false);
  }
  refused += how == REFUSED;
  int bad = how == FAILED || (how == RAN && memcmp(sides[0], sides[1], words * 4) != 0);
  if (bad) print_error("seed %" PRIu64 " differs\n", seed);
  free(g.source);
  free(in);
  free(sides[0]);
  free(sides[1]);
  return bad;
}

/* QUERN_FIRST_SEED: where to begin. */
static void random_kernels_mean_the_same(void **state) {
  (void)state;
  const char *first_text = getenv("QUERN_FIRST_SEED");
  uint64_t first = first_text ? strtoull(first_text, NULL, 0) : 1,
           count = test_rounds("random kernels as WGSL", 6, 300);
  int bad = 0;
  for (uint64_t seed = first; seed < first + count; seed++) bad += check_seed(seed);
  print_message("%" PRIu64 " random kernels, %" PRIu64 " refused, %d differ\n", count, refused, bad);
  assert_int_equal(bad, 0);
  assert_true(refused * 2 < count);
}

/* ---- Arguments that overlap ---- */

/* Each in the words of a first one, three ways: the same, a part, and one that is only read. */
static void arguments_may_overlap(void **state) {
  static const char source[] =
      "kernel void k(global uint *a, global const uint *b, global uchar *c, global const float4 *d) {\n"
      "  size_t i = get_global_id(0); uint x = b[i] + as_uint(d[i / 4].y); barrier(CLK_GLOBAL_MEM_FENCE);\n"
      "  a[i] = x; barrier(CLK_GLOBAL_MEM_FENCE); c[i] ^= 5; }";
  static uint32_t sides[2][256];
  (void)state;
  for (int side = 0; side < 2; side++) {
    uint32_t *words = sides[side];
    for (uint32_t i = 0; i < 256; i++) words[i] = i * 2654435761u;
    const interp_argument arguments[4] = {buffer(words, sizeof sides[0]), buffer(words, 512), buffer(words + 128, 512),
                                          buffer(words + 64, 256)};
    const interp_launch launch = {
        .dimensions = 1, .global = {64, 1, 1}, .local = {64, 1, 1}, .arguments = arguments, .argument_count = 4};
    if (side)
      assert_int_equal(run(source, "k", &launch, true), RAN);
    else
      interpret(source, "k", &launch);
  }
  assert_memory_equal(sides[0], sides[1], sizeof sides[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_of_every_shape_mean_the_same),
      cmocka_unit_test(random_kernels_mean_the_same),
      cmocka_unit_test(arguments_may_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
