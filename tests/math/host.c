/* host.c - the math library compiled by the C compiler: measures it apart from Quern's own compiler. */
#include "opencl_as_c.h"
/* A machine's instruction for 2^x at its worst: as far from the power as 2 ULP allow, to either side; exact for whole numbers. */
#define MODEL_OF_MACHINE_EXP2
float machine_exp2__f32(float x);
#define long int64_t
#include "compiler/lib/math.cl"
#undef long
#undef constant
#undef ushort
#undef fabs
#undef rint
#undef floor
#undef sqrt
#undef copysign
#undef fma

#include <stdio.h>
#include <stdlib.h>

#include "support/rounds.h"
#include "ulp.h"

/* X(name) by kind. */
/* The formatter settles on no layout here. */
/* clang-format off */
#define UNARY_BOTH(X) \
  X(acos) \
  X(acosh) \
  X(acospi) \
  X(asin) \
  X(asinh) \
  X(asinpi) \
  X(atan) \
  X(atanh) \
  X(atanpi) \
  X(cbrt) \
  X(cos) X(cosh) X(cospi) X(erf) X(erfc) X(exp) X(exp10) X(exp2) X(expm1) X(frexp) X(lgamma) X(log) X(log10) X(log1p) \
      X(log2) X(logb) X(sin) X(sinh) X(sinpi) X(tan) X(tanh) X(tanpi) X(tgamma) X(sincos_x) X(sincos_y)
/* clang-format on */
#define UNARY_32(X) \
  X(native_cos)     \
  X(native_exp) X(native_exp10) X(native_exp2) X(native_log) X(native_log10) X(native_log2) X(native_sin) X(native_tan)
#define BINARY_BOTH(X) \
  X(atan2) X(atan2pi) X(fmod) X(hypot) X(nextafter) X(pow) X(powr) X(remainder) X(remquo_x) X(remquo_y)
#define WITH_INT(X) X(ldexp) X(pown) X(rootn)
#define TO_INT(X) X(frexp_exponent) X(ilogb) X(lgamma_sign)

#define PAIRS(type, tag)                                                        \
  static type sincos_x__##tag(type x) { return sincos__##tag(x).x; }            \
  static type sincos_y__##tag(type x) { return sincos__##tag(x).y; }            \
  static type remquo_x__##tag(type x, type y) { return remquo__##tag(x, y).x; } \
  static type remquo_y__##tag(type x, type y) { return remquo__##tag(x, y).y; }
PAIRS(float, f32)
PAIRS(double, f64)

typedef struct entry {
  const char *name;
  float (*r_r32)(float);
  double (*r_r64)(double);
  float (*rr_r32)(float, float);
  double (*rr_r64)(double, double);
  float (*ri_r32)(float, int);
  double (*ri_r64)(double, int);
  int (*r_i32)(float);
  int (*r_i64)(double);
} entry;
static const entry entries[] = {
#define X(n) {.name = #n, .r_r32 = n##__f32, .r_r64 = n##__f64},
    UNARY_BOTH(X)
#undef X
#define X(n) {.name = #n, .r_r32 = n##__f32},
        UNARY_32(X)
#undef X
#define X(n) {.name = #n, .rr_r32 = n##__f32, .rr_r64 = n##__f64},
            BINARY_BOTH(X)
#undef X
#define X(n) {.name = #n, .ri_r32 = n##__f32, .ri_r64 = n##__f64},
                WITH_INT(X)
#undef X
#define X(n) {.name = #n, .r_i32 = n##__f32, .r_i64 = n##__f64},
                    TO_INT(X)
#undef X
                        {.name = "native_powr", .rr_r32 = native_powr__f32},
};

static const entry *find(const char *name) {
  if (strcmp(name, "remquo") == 0) name = "remquo_x";
  if (strcmp(name, "remquo_quotient") == 0) name = "remquo_y";
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (strcmp(entries[i].name, name) == 0) return &entries[i];
  }
  return NULL;
}

static bool evaluate(void *user, const math_case *c, int bits, size_t count, const double *x, const double *y,
                     const double *z, const int32_t *n, double *out) {
  (void)user, (void)z;
  const entry *e = find(c->name);
  if (!e) return false;
  for (size_t i = 0; i < count; i++) {
    float a = (float)x[i], b = (float)y[i];
    bool single = bits == 32;
    switch (c->kind) {
      case MATH_R_R:
        out[i] = single ? (double)e->r_r32(a) : e->r_r64(x[i]);
        break;
      case MATH_RR_R:
        out[i] = single ? (double)e->rr_r32(a, b) : e->rr_r64(x[i], y[i]);
        break;
      case MATH_RI_R:
        out[i] = single ? (double)e->ri_r32(a, n[i]) : e->ri_r64(x[i], n[i]);
        break;
      case MATH_R_I:
        out[i] = single ? e->r_i32(a) : e->r_i64(x[i]);
        break;
      case MATH_RRR_R:
        return false;
    }
  }
  return true;
}

/* ---- By a machine's instruction ------------------------------------------------------------------------ */

float machine_exp2__f32(float x) {
  double power = exp2((double)x);
  float near = (float)power;
  if (!(power >= 0x1p-126)) return power == power ? 0 : near;
  if (!isfinite(near) || x == rintf(x)) return near;
  double below = nextafter(power, x < 0 ? 0 : power), place = ldexp(1, ilogb(below) - 23); /* 2^-1e-17 is below 1 */
  float towards = (as_uint(x) * 0x9e3779b1u) >> 31 ? INFINITY : 0, next = near;
  while (fabs((double)next - power) <= 2 * place) {
    near = next;
    next = nextafterf(near, towards);
  }
  return near;
}

static bool evaluate_by_machine(void *user, const math_case *c, int bits, size_t count, const double *x,
                                const double *y, const double *z, const int32_t *n, double *out) {
  (void)user, (void)y, (void)z, (void)n;
  bool is_exp = strcmp(c->name, "exp") == 0;
  for (size_t i = 0; i < count; i++) {
    if (bits == 64)
      out[i] = is_exp ? exp__f64(x[i]) : exp2__f64(x[i]);
    else
      out[i] = (double)(is_exp ? exp_by_machine__f32((float)x[i]) : exp2_by_machine__f32((float)x[i]));
  }
  return true;
}

/* ---- All floats --------------------------------------------------------------------------------------- */

/* One unit of the last place of a float near x. */
static double place_of(double x) {
  int exponent;
  (void)frexp(x, &exponent);
  return ldexp(1, exponent - 24 < -149 ? -149 : exponent > 128 ? 104 : exponent - 24);
}

static double sweep_error(float got, double wanted) {
  if (wanted != wanted) return got != got ? 0 : INFINITY;
  if ((double)got == wanted) return 0;
  double beyond = 0x1.ffffffp127, top = got > 0 ? 0x1p128 : -0x1p128;
  if (isinf(got) && fabs(wanted) >= beyond) return (got > 0) == (wanted > 0) ? 0 : INFINITY;
  double error = fabs((isinf(got) ? top : (double)got) - wanted) / place_of(wanted);
  return error == error ? error : INFINITY;
}

/* Compares a function of float with that of double, which is good to a few units of a much smaller place, for every
 * `stride`th float. */
static bool sweep(const math_case *c, const entry *e, const entry *exact, uint32_t stride) {
  double worst = 0;
  float at = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
    float x = as_float((uint32_t)bits);
    bool native = exact != e;
    if (x < 0 && strcmp(c->name, "lgamma") == 0) continue; /* measured in other places */
    double wanted = exact->r_r64(x);
    if (native && (!(fabs(wanted) >= 0x1p-120 && fabs(wanted) < 0x1.ffffffp127) ||
                   !(fabs((double)x) < 65536 && fabs((double)x) >= 0x1p-126)))
      continue;
    double error = sweep_error(e->r_r32(x), wanted);
    if (!(error > worst)) continue;
    worst = error;
    at = x;
  }
  bool passed = c->limit32 < 0 || worst <= c->limit32;
  printf("%-16s f32  %8.3f  at %a%s\n", c->name, worst, (double)at, passed ? "" : "  FAILED");
  fflush(stdout);
  return passed;
}

static int sweep_all(const char *only, uint32_t stride) {
  int failures = 0;
  for (size_t i = 0; i < math_case_count; i++) {
    const math_case *c = &math_cases[i];
    if (c->kind != MATH_R_R || (only && strcmp(only, c->name) != 0)) continue;
    const entry *e = find(c->name), *exact = find(strncmp(c->name, "native_", 7) == 0 ? c->name + 7 : c->name);
    if (e && exact) failures += !sweep(c, e, exact, stride);
  }
  return failures;
}

/* math_host [SAMPLES [FUNCTION]]         against MPFR
 * math_host sweep STRIDE [FUNCTION]      every STRIDEth float, or every one, against the functions of double */
int main(int argc, char **argv) {
  int failures;
  if (argc > 2 && strcmp(argv[1], "sweep") == 0) {
    failures = sweep_all(argc > 3 ? argv[3] : NULL, (uint32_t)strtoul(argv[2], NULL, 10));
  } else {
    size_t samples = (size_t)test_rounds_of("samples of each function, by the C compiler", argc > 1 ? argv[1] : "8192");
    failures = math_measure_all(argc > 2 ? argv[2] : NULL, samples, evaluate, NULL);
    printf("by a machine's instruction for 2^x:\n");
    failures += math_measure_all("exp", 8 * samples, evaluate_by_machine, NULL);
    failures += math_measure_all("exp2", 8 * samples, evaluate_by_machine, NULL);
  }
  if (failures) fprintf(stderr, "%d functions are over their limits\n", failures);
  return failures != 0;
}
