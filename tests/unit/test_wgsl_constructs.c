/* Every kernel of the golden pairs and examples is taken by the library that makes pipelines, and those of
 * tests/kernels/wgsl, one item of each, compute what the interpreter does, bit for bit but for NaNs. */
/* sources: tests/wgsl/launch.c tests/wgsl/webgpu.c */
/* labels: webgpu */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../support/rounds.h"
#include "../wgsl/launch.h"
#include "base/os/files.h"
#include "base/status.h"
#include "kernels/setting.h"
#include "quern/quern.h"

static char *read_source(const char *path) {
  qn_bytes text = {0};
  if (qn_file_read(path, UINT64_C(1) << 26, &text) < 0) fail_msg("%s: %s", path, qn_error_text());
  qn_bytes_append_char(&text, '\0');
  assert_false(text.failed);
  return text.data;
}

/* ---- All kernels ---- */

typedef struct tally {
  uint32_t made, refused, foreign; /* foreign: not of this data model */
} tally;

/* What WGSL has not, in so many words; anything else is a fault of ours. */
static const char *const gaps[] = {"double",           "made of a number", "that holds",    "' holds",
                                   "leave one by one", "64 bits",          "private memory"};

static bool is_gap(const char *error) {
  for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
    if (strstr(error, "target wgsl") && strstr(error, gaps[i])) return true;
  return false;
}

static int check_file(const char *path, tally *t) {
  char *source = read_source(path);
  qn_arena arena;
  qn_arena_init(&arena, 0);
  wgsl_made w;
  int bad = 0;
  qn_status status = wgsl_make(&w, source, kernel_header(&arena, source, "options"), false);
  if (status < 0) {
    bool is_foreign = !strstr(qn_error_text(), "target wgsl");
    t->foreign += is_foreign;
    t->refused += !is_foreign;
    bad = !is_foreign && !is_gap(qn_error_text());
  } else {
    bad = wgsl_check(&w) < 0;
    t->made += !bad;
    wgsl_free(&w);
  }
  if (bad) print_error("%s: %.1500s\n", path, qn_error_text());
  qn_arena_free(&arena);
  free(source);
  return bad;
}

static void all_kernels_make_pipelines(void **state) {
  static const char *const patterns[] = {"/tests/kernels/*/*.cl", "/examples/*.cl"};
  tally t = {0};
  uint64_t step = test_rounds("one file of so many is made pipelines", 10, 1);
  int bad = 0;
  (void)state;
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    char pattern[1024];
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s%s", QUERN_SOURCE_DIR, patterns[i]);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++)
      if (!strstr(found.gl_pathv[k], ".ocl.cl") && (k % step == 0 || i == 1)) bad += check_file(found.gl_pathv[k], &t);
    globfree(&found);
  }
  print_message("%u files made pipelines, %u are refused, %u are not of this data model\n", t.made, t.refused,
                t.foreign);
  assert_int_equal(bad, 0);
  assert_true(t.made >= (step == 1 ? 60u : 10u));
}

/* ---- Results ---- */

enum { MOST = 16, BYTES = 4096, LOCAL_BYTES = 1024, STEPS = 2000000 };

static uint64_t random_state;

static uint32_t next_random(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 32);
}

/* Words of a kind that a round has: any, small numbers, floats of moderate size, odd ones. Floats are not subnormal, which
 * WGSL lets a device take for 0. */
static uint32_t random_word(uint64_t kind, bool is_float) {
  static const uint32_t odd[] = {0,          0x00800000, 0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000,
                                 0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x4f000000, 0xcf000000};
  float f;
  uint32_t word;
  switch (kind % 4) {
    case 0:
      f = (float)(next_random() % 9);
      memcpy(&word, &f, 4);
      return is_float ? word : (uint32_t)f;
    case 1:
      f = (float)(int32_t)next_random() / 1e6f;
      memcpy(&word, &f, 4);
      return word;
    case 2:
      word = next_random();
      return is_float ? word | 0x00800000 : word;
    default:
      return odd[next_random() % (sizeof odd / sizeof *odd)];
  }
}

typedef struct inputs {
  interp_argument arguments[MOST];
  unsigned char memory[MOST][BYTES];
} inputs;

static void fill(inputs *in, const qn_wgsl_kernel *k, const uint8_t *floats, uint64_t round) {
  random_state = round * 977 + 5;
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const qn_wgsl_argument *a = &k->arguments[i];
    for (int at = 0; at < BYTES; at += 4) {
      uint32_t word = random_word(a->kind == QN_WGSL_VALUE && !floats[i] ? round / 4 % 2 * 3 : round, floats[i]);
      memcpy(in->memory[i] + at, &word, 4);
    }
    in->arguments[i] =
        a->kind == QN_WGSL_BUFFER
            ? (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = in->memory[i], .size_bytes = BYTES}
        : a->kind == QN_WGSL_LOCAL
            ? (interp_argument){.kind = QN_ARGUMENT_LOCAL, .size_bytes = LOCAL_BYTES}
            : (interp_argument){.kind = QN_ARGUMENT_VALUE, .bytes = in->memory[i], .size_bytes = a->size};
  }
}

static bool is_nan_word(uint32_t word) { return (word & 0x7fffffff) > 0x7f800000; }

/* WGSL lets a device take subnormal floats for 0, and leaves open what an operation makes where IEEE makes a NaN. */
static bool is_open(uint32_t expected, uint32_t got) {
  bool is_flushed = (expected & 0x7f800000) == 0 && (got & 0x7fffffff) == 0;
  return is_flushed || is_nan_word(expected);
}

/* Of the two halves in a word. */
static bool are_halves_open(uint32_t expected, uint32_t got) {
  for (int up = 0; up < 32; up += 16) {
    uint32_t x = expected >> up & 0xffff, y = got >> up & 0xffff;
    if (x != y && !((x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00)) return false;
  }
  return true;
}

static int compare(const char *path, const qn_wgsl_kernel *k, const uint8_t *floats, const inputs *a, const inputs *b,
                   uint64_t round) {
  for (uint32_t i = 0; i < k->argument_count; i++) {
    for (int at = 0; at < BYTES; at += 4) {
      uint32_t x, y;
      memcpy(&x, a->memory[i] + at, 4);
      memcpy(&y, b->memory[i] + at, 4);
      if (x == y || (is_nan_word(x) && is_nan_word(y)) || (floats[i] && is_open(x, y)) ||
          (floats[i] == 16 && are_halves_open(x, y)))
        continue;
      print_error("%s: kernel %s, round %" PRIu64 ": byte %d of argument %u: %#x, not %#x\n", path, k->name, round, at,
                  i, y, x);
      return 1;
    }
  }
  return 0;
}

/* What the interpreter finds wrong (an index out of bounds, too many steps) is no round. */
static int run_round(const char *path, const char *source, const char *options, wgsl_made *w, const qn_wgsl_kernel *k,
                     uint64_t round, uint64_t *ran) {
  static inputs expected, got;
  const uint8_t *floats = w->floats[k - w->program.kernels];
  fill(&expected, k, floats, round);
  fill(&got, k, floats, round);
  interp_launch launch = {.dimensions = 1,
                          .global = {1, 1, 1},
                          .local = {1, 1, 1},
                          .arguments = expected.arguments,
                          .argument_count = k->argument_count,
                          .step_limit = STEPS};
  if (k->fixed_group[0]) return 0;
  if (wgsl_interpret(source, options, k->name, &launch) < 0) return 0;
  launch.arguments = got.arguments;
  if (wgsl_launch(w, k->name, &launch) < 0) {
    print_error("%s: %.1500s\n", path, qn_error_text());
    return 1;
  }
  (*ran)++;
  return compare(path, k, floats, &expected, &got, round);
}

/* Else quotients differ in their last bits. */
static const char rounded[] = "-cl-fp32-correctly-rounded-divide-sqrt";

static int run_file(const char *path, uint64_t rounds, uint64_t *ran) {
  char *source = read_source(path);
  wgsl_made w;
  int bad = 0;
  if (wgsl_make(&w, source, rounded, strstr(path, "merged") != NULL) < 0) {
    bad = !strstr(path, "/half.cl"); /* this model has none */
    if (bad) print_error("%s: %.1500s\n", path, qn_error_text());
    free(source);
    return bad;
  }
  for (uint32_t i = 0; i < w.program.kernel_count; i++)
    for (uint64_t round = 0; round < rounds; round++)
      bad += run_round(path, source, rounded, &w, &w.program.kernels[i], round, ran);
  wgsl_free(&w);
  free(source);
  return bad;
}

/* ONLY=part of a path. */
static void constructs_compute_the_same(void **state) {
  uint64_t rounds = test_rounds("inputs of each construct as WGSL", 4, 200), ran = 0;
  const char *only = getenv("ONLY");
  glob_t found;
  int bad = 0;
  (void)state;
  assert_int_equal(glob(QUERN_SOURCE_DIR "/tests/kernels/wgsl/*.cl", 0, NULL, &found), 0);
  for (size_t k = 0; k < found.gl_pathc; k++)
    if (!only || strstr(found.gl_pathv[k], only)) bad += run_file(found.gl_pathv[k], rounds, &ran);
  globfree(&found);
  print_message("%" PRIu64 " launches\n", ran);
  assert_int_equal(bad, 0);
  assert_true(only || ran > rounds * 8);
}

/* ---- Accuracy ---- */

enum { POINTS = 1024 };

static float any_normal(void) {
  uint32_t word = next_random();
  float f;
  if ((word & 0x7f800000) == 0) word |= 0x00800000;
  if ((word & 0x7f800000) == 0x7f800000) word ^= 0x40000000;
  memcpy(&f, &word, 4);
  return f;
}

/* Units in the last place of `exact` between it and `got`; results that are subnormal or too large are open. */
static double ulps(float got, double exact) {
  double size = fabs(exact);
  if (!(size >= 0x1p-126 && size < 0x1.fffffep127)) return 0;
  return fabs((double)got - exact) / ldexp(1, ilogb(size) - 23);
}

/* WGSL promises less for each but rsqrt. */
static void quotients_roots_and_fma_are_within_opencl_limits(void **state) {
  static const char source[] =
      "kernel void k(global float *out, global const float *in) { int i = get_global_id(0) * 4;\n"
      "  out[i] = in[i] / in[i + 1]; out[i + 1] = sqrt(fabs(in[i])); out[i + 2] = fma(in[i], in[i + 1], in[i + 2]);\n"
      "  out[i + 3] = rsqrt(fabs(in[i])); }";
  static float in[POINTS * 4], out[POINTS * 4];
  double worst[4] = {0};
  wgsl_made w;
  (void)state;
  random_state = 99;
  for (int i = 0; i < POINTS * 4; i++) in[i] = any_normal();
  for (int i = 0; i < POINTS * 4; i += 8) in[i + 2] = -in[i] * in[i + 1]; /* what remains is the product's rounding */
  const interp_argument arguments[2] = {
      {.kind = QN_ARGUMENT_BUFFER, .memory = out, .size_bytes = sizeof out},
      {.kind = QN_ARGUMENT_BUFFER, .memory = in, .size_bytes = sizeof in},
  };
  const interp_launch launch = {
      .dimensions = 1, .global = {POINTS, 1, 1}, .local = {64, 1, 1}, .arguments = arguments, .argument_count = 2};
  if (wgsl_make(&w, source, NULL, false) < 0 || wgsl_launch(&w, "k", &launch) < 0) fail_msg("%s", qn_error_text());
  for (int i = 0; i < POINTS * 4; i += 4) {
    double a = (double)in[i], b = (double)in[i + 1];
    const double found[4] = {ulps(out[i], a / b), ulps(out[i + 1], sqrt(fabs(a))),
                             ulps(out[i + 2], (double)fmaf(in[i], in[i + 1], in[i + 2])),
                             ulps(out[i + 3], 1 / sqrt(fabs(a)))};
    for (int k = 0; k < 4; k++)
      if (!(found[k] <= worst[k])) worst[k] = found[k];
  }
  print_message("measured: ULP of division %.2f, sqrt %.2f, fma beside the exact one %.2f, rsqrt %.2f\n", worst[0],
                worst[1], worst[2], worst[3]);
  wgsl_free(&w);
  assert_true(worst[0] <= 2.5 && worst[1] <= 3 && worst[2] == 0 && worst[3] <= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_kernels_make_pipelines),
      cmocka_unit_test(constructs_compute_the_same),
      cmocka_unit_test(quotients_roots_and_fma_are_within_opencl_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
