/* host.c - the math library compiled by the C compiler: measures it apart from Quern's own compiler. */
#include "opencl_as_c.h"
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

#include "ulp.h"

/* X(name) by kind. */
#define UNARY_BOTH(X)                                                                                             \
  X(acos)                                                                                                         \
  X(acosh)                                                                                                        \
  X(acospi) X(asin) X(asinh) X(asinpi) X(atan) X(atanh) X(atanpi) X(cbrt) X(cos) X(cosh) X(cospi) X(erf) X(erfc)  \
      X(exp) X(exp10) X(exp2) X(expm1) X(frexp) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb) X(sin) X(sinh) \
          X(sinpi) X(tan) X(tanh) X(tanpi) X(tgamma) X(sincos_x) X(sincos_y)
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

/* math_host [SAMPLES [FUNCTION]] */
int main(int argc, char **argv) {
  size_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
  int failures = math_measure_all(argc > 2 ? argv[2] : NULL, samples, evaluate, NULL);
  if (failures) fprintf(stderr, "%d functions are over their limits\n", failures);
  return failures != 0;
}
