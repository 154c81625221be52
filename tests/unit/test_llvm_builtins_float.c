/* Relational, common and geometric functions, and the math functions that are exact, of float and double. */
/* labels: llvm */
/* sources: tests/unit/support/runner.c tests/unit/support/driver.c */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* after these */
#include <cmocka.h>

#include "support/values.h"

typedef struct real {
  const char *name, *truth;
  uint32_t size;
} real;
static const real reals[] = {{"float", "int", 4}, {"double", "long", 8}};
enum { ITEMS = 24 * 24, LANES_MOST = 4 };

static const double specials[24] = {0.0,  -0.0,  1.0,      -1.0,       0.5, -0.5,     1.5,      -1.5,
                                    2.5,  -2.5,  INFINITY, -INFINITY,  NAN, 0x1p-126, 0x1p-149, -0x1p-149,
                                    1e30, -1e30, 3.0,      16777217.0, 0.3, -7.75,    100.125,  FLT_MAX};

static double get(const real *t, const void *memory, uint64_t i) {
  if (t->size == 8) {
    double x;
    memcpy(&x, (const char *)memory + i * 8, 8);
    return x;
  }
  float x;
  memcpy(&x, (const char *)memory + i * 4, 4);
  return x;
}
static void put(const real *t, void *memory, uint64_t i, double x) {
  float narrow = (float)x;
  memcpy((char *)memory + i * t->size, t->size == 8 ? (void *)&x : (void *)&narrow, t->size);
}

/* Exact references work on doubles, which hold every float; what rounds is rounded to the type by the caller. */
typedef double (*reference)(const real *t, double x, double y, double z);
#define REF(name, value)                                            \
  static double name(const real *t, double x, double y, double z) { \
    (void)t, (void)x, (void)y, (void)z;                             \
    return value;                                                   \
  }
REF(ref_fabs, fabs(x))
REF(ref_ceil, ceil(x))
REF(ref_floor, floor(x))
REF(ref_trunc, trunc(x))
REF(ref_rint, rint(x))
REF(ref_round, round(x))
REF(ref_sqrt, t->size == 4 ? (double)sqrtf((float)x) : sqrt(x))
REF(ref_copysign, copysign(x, y))
REF(ref_fmax, fmax(x, y))
REF(ref_fmin, fmin(x, y))
REF(ref_maxmag, fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y))
REF(ref_minmag, fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y))
REF(ref_fdim, t->size == 4 ? (double)fdimf((float)x, (float)y) : fdim(x, y))
REF(ref_fma, t->size == 4 ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z))
REF(ref_max, x < y ? y : x)
REF(ref_min, y < x ? y : x)
REF(ref_step, y < x ? 0 : 1)
REF(ref_sign, isnan(x) ? 0 : x == 0 ? x : copysign(1, x))
static double below_one(const real *t) { return t->size == 4 ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1; }
static double ref_fract(const real *t, double x, double y, double z) {
  (void)y, (void)z;
  if (isnan(x)) return x;
  if (isinf(x) || x == floor(x)) return copysign(0, x);
  double part = t->size == 4 ? (double)(float)(x - floor(x)) : x - floor(x);
  return part < below_one(t) ? part : below_one(t);
}
REF(ref_fract_floor, floor(x))
REF(ref_modf, isinf(x) ? copysign(0, x) : copysign(x - trunc(x), x))
REF(ref_modf_whole, trunc(x))

typedef struct function {
  const char *expression;
  reference reference;
} function;
static const function functions[] = {
    {"fabs(X)", ref_fabs},        {"ceil(X)", ref_ceil},
    {"floor(X)", ref_floor},      {"trunc(X)", ref_trunc},
    {"rint(X)", ref_rint},        {"round(X)", ref_round},
    {"sqrt(X)", ref_sqrt},        {"copysign(X, Y)", ref_copysign},
    {"fmax(X, Y)", ref_fmax},     {"fmin(X, Y)", ref_fmin},
    {"maxmag(X, Y)", ref_maxmag}, {"minmag(X, Y)", ref_minmag},
    {"fdim(X, Y)", ref_fdim},     {"fma(X, Y, Z)", ref_fma},
    {"max(X, Y)", ref_max},       {"min(X, Y)", ref_min},
    {"step(X, Y)", ref_step},     {"sign(X)", ref_sign},
    {"fract(X, &r)", ref_fract},  {"(fract(X, &r), r)", ref_fract_floor},
    {"modf(X, &r)", ref_modf},    {"(modf(X, &r), r)", ref_modf_whole},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Truth: 1 in a scalar, -1 in a lane. */
REF(ref_isequal, x == y)
REF(ref_isnotequal, x != y)
REF(ref_isgreater, isgreater(x, y))
REF(ref_isgreaterequal, isgreaterequal(x, y))
REF(ref_isless, isless(x, y))
REF(ref_islessequal, islessequal(x, y))
REF(ref_islessgreater, islessgreater(x, y))
REF(ref_isordered, !isunordered(x, y))
REF(ref_isunordered, isunordered(x, y))
REF(ref_isfinite, isfinite(x))
REF(ref_isinf, isinf(x))
REF(ref_isnan, isnan(x))
REF(ref_isnormal, t->size == 4 ? isnormal((float)x) : isnormal(x))
REF(ref_signbit, signbit(x))
static const function relations[] = {
    {"isequal(X, Y)", ref_isequal},
    {"isnotequal(X, Y)", ref_isnotequal},
    {"isgreater(X, Y)", ref_isgreater},
    {"isgreaterequal(X, Y)", ref_isgreaterequal},
    {"isless(X, Y)", ref_isless},
    {"islessequal(X, Y)", ref_islessequal},
    {"islessgreater(X, Y)", ref_islessgreater},
    {"isordered(X, Y)", ref_isordered},
    {"isunordered(X, Y)", ref_isunordered},
    {"isfinite(X)", ref_isfinite},
    {"isinf(X)", ref_isinf},
    {"isnan(X)", ref_isnan},
    {"isnormal(X)", ref_isnormal},
    {"signbit(X)", ref_signbit},
};
enum { RELATIONS = sizeof relations / sizeof *relations };

static void argument(char *out, size_t size, char name, uint32_t lanes) {
  if (lanes == 1) {
    (void)snprintf(out, size, "%c[i]", name);
  } else {
    (void)snprintf(out, size, "vload%u(i, %c)", lanes, name);
  }
}

static void expand(char *out, size_t size, const char *expression, uint32_t lanes) {
  size_t at = 0;
  for (const char *s = expression; *s && at + 32 < size; s++) {
    if (*s < 'X' || *s > 'Z') {
      out[at++] = *s;
      continue;
    }
    argument(out + at, size - at, (char)(*s - 'X' + 'x'), lanes);
    at += strlen(out + at);
  }
  out[at] = 0;
}

/* Every pair of the special values, and a third that runs along. */
static void fill(const real *t, void *x, void *y, void *z) {
  for (uint64_t i = 0; i < ITEMS; i++) {
    put(t, x, i, specials[i % 24]);
    put(t, y, i, specials[i / 24]);
    put(t, z, i, specials[(i * 7 + 3) % 24]);
  }
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }
/* fmax and fmin may give either zero. */
static bool zeros(double a, double b) { return a == 0 && b == 0; }

static void open_reals(values *v, const real *t, uint32_t lanes, double memory[3][ITEMS]) {
  static const char *const names[] = {"x", "y", "z"};
  fill(t, memory[0], memory[1], memory[2]);
  values_open(v, ITEMS / lanes);
  for (uint32_t a = 0; a < 3; a++) values_input(v, t->name, names[a], memory[a], (size_t)ITEMS * t->size);
  char type[16];
  (void)snprintf(type, sizeof type, lanes == 1 ? "%s" : "%s%u", t->name, lanes);
  qn_bytes_printf(&v->body, "  %s r;\n", type);
}

static void check_functions(const real *t, uint32_t lanes, const char *options) {
  double memory[3][ITEMS];
  values v;
  char text[256];
  open_reals(&v, t, lanes, memory);
  v.options = options;
  for (uint32_t k = 0; k < FUNCTIONS; k++) {
    expand(text, sizeof text, functions[k].expression, lanes);
    values_add(&v, t->name, lanes, t->size, text);
  }
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < FUNCTIONS; k++) {
      for (uint64_t i = 0; i < ITEMS; i++) {
        double x = get(t, memory[0], i), y = get(t, memory[1], i), z = get(t, memory[2], i);
        double wanted = functions[k].reference(t, x, y, z), got = get(t, values_at(&v, out, k, 0), i);
        bool either = functions[k].reference == ref_fmax || functions[k].reference == ref_fmin ||
                      functions[k].reference == ref_maxmag || functions[k].reference == ref_minmag;
        /* max and min leave NaN open. */
        bool open = (functions[k].reference == ref_max || functions[k].reference == ref_min) && (isnan(x) || isnan(y));
        if (open || same(got, wanted) || (either && zeros(got, wanted))) continue;
        fail_msg("%s of %s%u on %s: x %a y %a z %a: got %a, wanted %a", functions[k].expression, t->name, lanes,
                 device ? "cpu" : "check", x, y, z, got, wanted);
      }
    }
    free(out);
  }
  values_close(&v);
}

static void check_relations(const real *t, uint32_t lanes, const char *options, uint32_t first) {
  double memory[3][ITEMS];
  values v;
  char text[256];
  open_reals(&v, t, lanes, memory);
  v.options = options;
  const char *truth = lanes == 1 ? "int" : t->truth;
  uint32_t size = lanes == 1 ? 4 : t->size;
  for (uint32_t k = first; k < RELATIONS; k++) {
    expand(text, sizeof text, relations[k].expression, lanes);
    values_add(&v, truth, lanes, size, text);
  }
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = first; k < RELATIONS; k++) {
      for (uint64_t i = 0; i < ITEMS; i++) {
        double x = get(t, memory[0], i), y = get(t, memory[1], i);
        int64_t wanted = relations[k].reference(t, x, y, 0) != 0 ? (lanes == 1 ? 1 : -1) : 0, got = 0;
        memcpy(&got, (const char *)values_at(&v, out, k - first, 0) + i * size, size);
        if (memcmp(&got, &wanted, size) == 0) continue;
        fail_msg("%s of %s%u on %s: x %a y %a: got %lld, wanted %lld", relations[k].expression, t->name, lanes,
                 device ? "cpu" : "check", x, y, (long long)got, (long long)wanted);
      }
    }
    free(out);
  }
  values_close(&v);
}

static void test_exact_functions(void **state) {
  (void)state;
  for (uint32_t k = 0; k < 2; k++) {
    check_functions(&reals[k], 1, NULL);
    check_functions(&reals[k], 3, NULL);
    check_functions(&reals[k], 4, NULL);
  }
}

static void test_relations(void **state) {
  (void)state;
  for (uint32_t k = 0; k < 2; k++) {
    check_relations(&reals[k], 1, NULL, 0);
    check_relations(&reals[k], 2, NULL, 0);
    check_relations(&reals[k], 3, NULL, 0);
  }
}

/* Classes are told by bits, so that a check for NaN works whatever is assumed of arithmetic. */
static void test_classes_hold_under_fast_math(void **state) {
  (void)state;
  uint32_t first = 7;
  assert_string_equal(relations[first].expression, "isordered(X, Y)");
  check_relations(&reals[0], 1, "-cl-fast-relaxed-math", first);
  check_relations(&reals[1], 4, "-cl-fast-relaxed-math", first);
}

/* ---- Rounded functions ------------------------------------------------------------------------------- */

/* The distance in units of the last place of the wanted value. */
static double ulps(const real *t, double got, long double wanted) {
  if (isnan((double)wanted)) return isnan(got) ? 0 : INFINITY;
  if (isinf((double)wanted)) return got == (double)wanted ? 0 : INFINITY;
  int exponent;
  (void)frexpl(wanted, &exponent);
  int digits = t->size == 4 ? 24 : 53, smallest = t->size == 4 ? -149 : -1074;
  int place = wanted == 0 || exponent - digits < smallest ? smallest : exponent - digits;
  return (double)fabsl(ldexpl(got - wanted, -place));
}

static uint64_t random_state = 88172645463325252u;
static double random_real(double low, double high) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return low + (high - low) * (double)(random_state >> 11) * 0x1p-53;
}

typedef struct rounded {
  const char *expression;
  long double (*reference)(long double x, long double y, long double z);
  double limit; /* ULP */
} rounded;
static long double ref_degrees(long double x, long double y, long double z) {
  return (void)y, (void)z, x * (180 / acosl(-1));
}
static long double ref_radians(long double x, long double y, long double z) {
  return (void)y, (void)z, x * (acosl(-1) / 180);
}
static long double ref_rsqrt(long double x, long double y, long double z) { return (void)y, (void)z, 1 / sqrtl(x); }
static long double ref_divide(long double x, long double y, long double z) { return (void)z, x / y; }
static long double ref_recip(long double x, long double y, long double z) { return (void)y, (void)z, 1 / x; }
static long double ref_root(long double x, long double y, long double z) { return (void)y, (void)z, sqrtl(x); }

static void check_rounded(const real *t, const rounded *list, uint32_t count) {
  enum { COUNT = 256 };
  double memory[3][COUNT];
  static const char *const names[] = {"x", "y", "z"};
  values v;
  char text[256];
  values_open(&v, COUNT);
  for (uint32_t a = 0; a < 3; a++) {
    for (uint64_t i = 0; i < COUNT; i++) put(t, memory[a], i, random_real(0.001, 10));
    values_input(&v, t->name, names[a], memory[a], (size_t)COUNT * t->size);
  }
  for (uint32_t k = 0; k < count; k++) {
    expand(text, sizeof text, list[k].expression, 1);
    values_add(&v, t->name, 1, t->size, text);
  }
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < count; k++) {
      for (uint64_t i = 0; i < COUNT; i++) {
        double x = get(t, memory[0], i), y = get(t, memory[1], i), z = get(t, memory[2], i);
        double got = get(t, values_at(&v, out, k, 0), i);
        if (ulps(t, got, list[k].reference(x, y, z)) <= list[k].limit) continue;
        fail_msg("%s of %s on %s: x %a y %a z %a: got %a, wanted %La", list[k].expression, t->name,
                 device ? "cpu" : "check", x, y, z, got, list[k].reference(x, y, z));
      }
    }
    free(out);
  }
  values_close(&v);
}

static void test_rounded_functions(void **state) {
  (void)state;
  static const rounded list[] = {
      {"degrees(X)", ref_degrees, 2},
      {"radians(X)", ref_radians, 2},
      {"rsqrt(X)", ref_rsqrt, 2},
      {"X / Y", ref_divide, 2.5},
  };
  static const rounded fast[] = {
      {"native_divide(X, Y)", ref_divide, 8192}, {"half_divide(X, Y)", ref_divide, 8192},
      {"native_recip(X)", ref_recip, 8192},      {"half_recip(X)", ref_recip, 8192},
      {"native_sqrt(X)", ref_root, 8192},        {"half_sqrt(X)", ref_root, 8192},
      {"native_rsqrt(X)", ref_rsqrt, 8192},      {"half_rsqrt(X)", ref_rsqrt, 8192},
  };
  for (uint32_t k = 0; k < 2; k++) check_rounded(&reals[k], list, sizeof list / sizeof *list);
  check_rounded(&reals[0], fast, sizeof fast / sizeof *fast);
}

static void check_near(const values *v, const void *out, uint32_t k, double wanted, double tolerance) {
  double got = get(&reals[0], values_at(v, out, k, 0), 0);
  if (!(fabs(got - wanted) <= tolerance)) fail_msg("expression %u: got %.9g, wanted %.9g", k, got, wanted);
}

static void test_blends(void **state) {
  (void)state;
  float x[] = {1, 2, 3, 4}, y[] = {5, 7, 9, 13}, a[] = {0.25f, 0.5f, 0, 1};
  values v;
  values_open(&v, 1);
  values_input(&v, "float", "x", x, sizeof x);
  values_input(&v, "float", "y", y, sizeof y);
  values_input(&v, "float", "a", a, sizeof a);
  static const struct {
    const char *expression;
    double wanted;
  } list[] = {
      {"mix(x[0], y[0], a[0])", 2},
      {"mix(vload4(0, x), vload4(0, y), vload4(0, a)).y", 4.5},
      {"mix(vload4(0, x), vload4(0, y), a[0]).w", 6.25},
      {"smoothstep(1.0f, 3.0f, x[1])", 0.5},
      {"smoothstep(1.0f, 5.0f, vload4(0, x)).y", 0.15625},
      {"smoothstep(vload4(0, x), vload4(0, y), (float4)(2)).x", 0.15625},
      {"smoothstep(1.0f, 3.0f, 0.5f)", 0},
      {"smoothstep(1.0f, 3.0f, 9.0f)", 1},
      {"step(2.5f, vload4(0, x)).z", 1},
      {"step(2.5f, vload4(0, x)).y", 0},
      {"clamp(vload4(0, x), 2.0f, 3.0f).w", 3},
      {"clamp(x[0], y[0], y[1])", 5},
      {"mad(x[1], y[1], a[0])", 14.25},
      {"select(x[0], y[0], 0)", 1},
      {"select(x[0], y[0], 2)", 5},
      {"select(vload4(0, x), vload4(0, y), (int4)(0, -1, 1, INT_MIN)).x", 1},
      {"select(vload4(0, x), vload4(0, y), (int4)(0, -1, 1, INT_MIN)).y", 7},
      {"select(vload4(0, x), vload4(0, y), (int4)(0, -1, 1, INT_MIN)).z", 3},
      {"select(vload4(0, x), vload4(0, y), (uint4)(0, 1u << 31, 1, 0)).y", 7},
      {"bitselect(x[1], -y[1], as_float(0x80000000))", -2},
      {"any((int2)(0, -1))", 1},
      {"any((char4)(1))", 0},
      {"all((short3)(-1))", 1},
      {"all((long2)(-1, 1))", 0},
      {"any(-1)", 1},
      {"all(1)", 0},
      {"isnan(nan(5u))", 1},
      {"as_uint(nan(5u)) & 0xff", 5},
  };
  uint32_t count = sizeof list / sizeof *list;
  for (uint32_t k = 0; k < count; k++) values_add(&v, "float", 1, 4, list[k].expression);
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < count; k++) check_near(&v, out, k, list[k].wanted, 1e-6);
    free(out);
  }
  values_close(&v);
}

/* ---- Geometry ---------------------------------------------------------------------------------------- */

static void test_geometry(void **state) {
  (void)state;
  float x[] = {1, 2, 3, 4}, y[] = {-2, 5, 0.5f, 1}, large[] = {3e37f, 4e37f, 0, 0}, small[] = {3e-40f, 4e-40f, 0, 0};
  values v;
  values_open(&v, 1);
  values_input(&v, "float", "x", x, sizeof x);
  values_input(&v, "float", "y", y, sizeof y);
  values_input(&v, "float", "large", large, sizeof large);
  values_input(&v, "float", "small", small, sizeof small);
  static const struct {
    const char *expression;
    double wanted, tolerance;
  } list[] = {
      {"dot(vload4(0, x), vload4(0, y))", 13.5, 1e-6},
      {"dot(vload2(0, x), vload2(0, y))", 8, 1e-6},
      {"dot(x[1], y[1])", 10, 1e-6},
      {"cross(vload3(0, x), vload3(0, y)).x", -14, 1e-6},
      {"cross(vload3(0, x), vload3(0, y)).y", -6.5, 1e-6},
      {"cross(vload4(0, x), vload4(0, y)).z", 9, 1e-6},
      {"cross(vload4(0, x), vload4(0, y)).w", 0, 0},
      {"length(vload4(0, x))", 5.4772255750516611, 1e-6},
      {"length(-x[2])", 3, 0},
      {"length(vload2(0, large))", 5e37, 1e31},
      {"length(vload2(0, small)) * 0x1p100f", 5e-40 * 0x1p100, 1e-14},
      {"length((float2)(INFINITY, 1))", INFINITY, 0},
      {"distance(vload3(0, x), vload3(0, y))", 4.9244289008980523, 1e-6},
      {"normalize(vload3(0, x)).y", 0.53452248382484879, 1e-6},
      {"normalize(vload2(0, large)).x", 0.6, 1e-6},
      {"normalize(vload2(0, small)).y", 0.8, 1e-6},
      {"normalize((float2)(0)).x", 0, 0},
      {"normalize((float2)(INFINITY, 1)).x", 1, 0},
      {"normalize((float2)(INFINITY, 1)).y", 0, 0},
      {"normalize(-x[3])", -1, 0},
      {"fast_length(vload4(0, x))", 5.4772255750516611, 1e-3},
      {"fast_distance(vload3(0, x), vload3(0, y))", 4.9244289008980523, 1e-3},
      {"fast_normalize(vload3(0, x)).y", 0.53452248382484879, 1e-3},
      {"fast_normalize((float3)(0)).y", 0, 0},
      {"convert_float(length(convert_double3(vload3(0, x))))", 3.7416573867739413, 1e-6},
      {"convert_float(normalize(convert_double2(vload2(0, x))).y)", 0.89442719099991588, 1e-6},
  };
  uint32_t count = sizeof list / sizeof *list;
  for (uint32_t k = 0; k < count; k++) values_add(&v, "float", 1, 4, list[k].expression);
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < count; k++) {
      if (isinf(list[k].wanted)) {
        assert_true(get(&reals[0], values_at(&v, out, k, 0), 0) == list[k].wanted);
      } else {
        check_near(&v, out, k, list[k].wanted, list[k].tolerance);
      }
    }
    free(out);
  }
  values_close(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_functions),
      cmocka_unit_test(test_relations),
      cmocka_unit_test(test_classes_hold_under_fast_math),
      cmocka_unit_test(test_rounded_functions),
      cmocka_unit_test(test_blends),
      cmocka_unit_test(test_geometry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
