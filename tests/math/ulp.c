#include "ulp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct format {
  int bits, digits;
  int minimum; /* exponent of the last place of subnormals */
  double largest;
} format;
static const format formats[] = {{32, 24, -149, 0x1.fffffep127}, {64, 53, -1074, 0x1.fffffffffffffp1023}};

static uint64_t random_state = 0x9e3779b97f4a7c15u;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}
static double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

static double of_bits(const format *f, uint64_t bits) {
  if (f->bits == 32) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static double to_format(const format *f, double x) { return f->bits == 32 ? (double)(float)x : x; }

static const double specials[] = {0.0,
                                  0.5,
                                  1.0,
                                  1.5,
                                  2.0,
                                  2.5,
                                  3.0,
                                  4.0,
                                  0.25,
                                  0.75,
                                  8.0,
                                  10.0,
                                  16777215,
                                  16777216,
                                  8388607,
                                  8388608,
                                  4503599627370497.0,
                                  1e-10,
                                  1e10,
                                  INFINITY,
                                  NAN,
                                  0x1p-126,
                                  0x1p-149,
                                  0x1p-127,
                                  0x1p127,
                                  0x1.fffffep127,
                                  0x1p-24,
                                  0x1p-53,
                                  0x1p-1022,
                                  0x1p-1074,
                                  0x1p1023,
                                  0x1.fffffffffffffp1023};
enum { SPECIALS = sizeof specials / sizeof *specials };

static double special(const format *f, uint64_t i) {
  double x = to_format(f, specials[i % SPECIALS]);
  return i / SPECIALS % 2 ? -x : x;
}

static double spread(const format *f, const math_case *c) {
  return to_format(f, c->low + (c->high - c->low) * random_unit());
}
/* Near a multiple of pi / 4 or of 1 / 2, or near a power of two: where functions have zeros, poles and seams. */
static double seam(const format *f) {
  uint64_t kind = random_bits() % 3;
  double base = kind == 0   ? (double)(random_bits() % 4096) * 0.78539816339744830962
                : kind == 1 ? (double)(random_bits() % 256) * 0.5
                            : ldexp(1.0, (int)(random_bits() % 64) - 32);
  double x = to_format(f, base);
  for (int steps = (int)(random_bits() % 4); steps > 0; steps--) {
    x = f->bits == 32 ? (double)nextafterf((float)x, random_bits() & 1 ? INFINITY : 0.0f)
                      : nextafter(x, random_bits() & 1 ? INFINITY : 0.0);
  }
  return random_bits() & 1 ? -x : x;
}

static double argument(const format *f, const math_case *c, size_t i) {
  switch (i % 4) {
    case 0:
      return of_bits(f, random_bits());
    case 1:
      return seam(f);
    default:
      return spread(f, c);
  }
}

/* Real and whole exponents that keep x^y in range: y log2|x| within the exponents. */
static double exponent_for(const format *f, double x) {
  double size = fabs(log2(fabs(x)));
  double most = f->bits == 32 ? 152 : 1080;
  double y = most / (size > 0x1p-60 ? size : 0x1p-60) * (2 * random_unit() - 1);
  return to_format(f, random_bits() % 4 ? y : rint(y));
}

static void sample(const format *f, const math_case *c, size_t i, double *x, double *y, double *z, int32_t *n) {
  bool power = strstr(c->name, "pow") != NULL;
  *y = *z = 0;
  *n = 0;
  bool two = c->kind == MATH_RR_R || c->kind == MATH_RRR_R;
  size_t all = two ? (size_t)SPECIALS * SPECIALS * 4 : (size_t)SPECIALS * 2;
  static const int32_t whole[] = {0,   1,   -1,   2,   -2,   3,     -3,        7,        24,
                                  -24, 127, -150, 149, 1000, -1075, INT32_MAX, INT32_MIN};
  if (i < all) {
    *x = special(f, i % (2 * SPECIALS));
    *y = special(f, i / (2 * SPECIALS));
    *n = whole[random_bits() % (sizeof whole / sizeof *whole)];
    return;
  }
  *x = argument(f, c, i);
  if (two) {
    *y = argument(f, c, random_bits());
    *z = argument(f, c, random_bits());
    if (power) *y = i % 3 ? exponent_for(f, *x) : *y;
    /* Quotients near whole numbers, and sides of nearly one size. */
    if (i % 7 == 0 && !power) *y = to_format(f, *x * (1 + (double)(random_bits() % 8) * 0.25));
    if (i % 7 == 1 && !power) *y = to_format(f, *x / (double)(1 + random_bits() % 1000));
  }
  if (c->kind == MATH_RI_R) {
    double wanted = power                           ? exponent_for(f, *x)
                    : strcmp(c->name, "rootn") == 0 ? (double)(random_bits() % 41) - 20
                                                    : (double)(random_bits() % 600) - 300;
    *n = wanted > 2147483647.0 ? INT32_MAX : wanted < -2147483648.0 ? INT32_MIN : (int32_t)wanted;
    if (i % 11 == 0) *n = whole[random_bits() % (sizeof whole / sizeof *whole)];
    if (i % 13 == 0) *n = (int32_t)random_bits();
  }
}

/* The distance of `got` from the exact `wanted` in units of wanted's last place, or of a higher one; infinite where a
 * class differs. */
static double distance(const format *f, double got, mpfr_t wanted, mpfr_exp_t least_place, mpfr_t scratch) {
  if (mpfr_nan_p(wanted)) return isnan(got) ? 0 : INFINITY;
  if (isnan(got)) return INFINITY;
  if (mpfr_inf_p(wanted)) return isinf(got) && signbit(got) == mpfr_signbit(wanted) ? 0 : INFINITY;
  if (mpfr_zero_p(wanted)) return got == 0 && !signbit(got) == !mpfr_signbit(wanted) ? 0 : INFINITY;
  mpfr_exp_t place = mpfr_get_exp(wanted) - f->digits;
  if (place < f->minimum) place = f->minimum;
  if (place < least_place) place = least_place;
  mpfr_exp_t most = (f->bits == 32 ? 128 : 1024) - f->digits;
  if (place > most) {
    /* Beyond the largest number: infinity is right. */
    if (isinf(got) && signbit(got) == mpfr_signbit(wanted)) return 0;
    place = most;
  }
  if (isinf(got)) {
    /* Rounds like the next power of two. */
    mpfr_set_si_2exp(scratch, got > 0 ? 1 : -1, f->bits == 32 ? 128 : 1024, MPFR_RNDN);
  } else {
    mpfr_set_d(scratch, got, MPFR_RNDN);
  }
  mpfr_sub(scratch, scratch, wanted, MPFR_RNDN);
  mpfr_div_2si(scratch, scratch, place, MPFR_RNDN);
  return fabs(mpfr_get_d(scratch, MPFR_RNDN));
}

/* lgamma of a negative number is a difference: it is measured in places of the terms. */
static mpfr_exp_t least_place(const format *f, const math_case *c, double x) {
  if (strcmp(c->name, "lgamma") != 0 || !(x < 0)) return f->minimum;
  double size = fabs(lgamma(-x)) + 1;
  return isinf(size) ? f->minimum : ilogb(size) + 1 - f->digits;
}

double math_limit(const math_case *c, int bits) {
  double limit = bits == 32 ? c->limit32 : c->limit64;
  return c->rounded ? 0.5 : limit;
}

/* Arguments for which a native function need not be good: outside its range, or a result that is no normal number. */
static bool beyond(const math_case *c, double x, double y, mpfr_t wanted) {
  if (strncmp(c->name, "native_", 7) != 0) return false;
  if (!mpfr_regular_p(wanted) || mpfr_get_exp(wanted) < -120 || mpfr_get_exp(wanted) > 128) return true;
  bool angle =
      strcmp(c->name, "native_sin") == 0 || strcmp(c->name, "native_cos") == 0 || strcmp(c->name, "native_tan") == 0;
  if (angle) return fabs(x) > 65536.0 || fabs(x) < 0x1p-120;
  return fabs(x) < 0x1p-126 || (strcmp(c->name, "native_powr") == 0 && fabs(y) < 0x1p-126);
}

bool math_measure(const math_case *c, int bits, size_t samples, math_evaluate evaluate, void *user, math_result *out) {
  const format *f = &formats[bits == 64];
  *out = (math_result){.passed = true};
  random_state = 0x9e3779b97f4a7c15u;
  enum { BATCH = 4096 };
  double *x = malloc(sizeof(double) * BATCH * 4);
  int32_t *n = malloc(sizeof(int32_t) * BATCH);
  double *y = x + BATCH, *z = y + BATCH, *got = z + BATCH;
  mpfr_t mx, my, mz, wanted, scratch;
  mpfr_inits2(64, mx, my, mz, (mpfr_ptr)0);
  mpfr_inits2(f->digits * 2 + 20, wanted, scratch, (mpfr_ptr)0);
  bool known = true;
  for (size_t done = 0; done < samples && known; done += BATCH) {
    for (size_t i = 0; i < BATCH; i++) sample(f, c, done + i, &x[i], &y[i], &z[i], &n[i]);
    known = evaluate(user, c, bits, BATCH, x, y, z, n, got);
    for (size_t i = 0; known && i < BATCH; i++) {
      mpfr_set_d(mx, x[i], MPFR_RNDN);
      mpfr_set_d(my, y[i], MPFR_RNDN);
      mpfr_set_d(mz, z[i], MPFR_RNDN);
      c->reference(wanted, mx, my, mz, n[i], bits);
      if (beyond(c, x[i], y[i], wanted)) continue;
      double error = c->kind == MATH_R_I ? (got[i] == mpfr_get_d(wanted, MPFR_RNDN) ? 0 : INFINITY)
                                         : distance(f, got[i], wanted, least_place(f, c, x[i]), scratch);
      if (!(error > out->worst)) continue;
      *out = (math_result){error, x[i], y[i], z[i], n[i], got[i], mpfr_get_d(wanted, MPFR_RNDN), true};
    }
  }
  double limit = math_limit(c, bits);
  out->passed = limit < 0 || out->worst <= limit;
  mpfr_clears(mx, my, mz, wanted, scratch, (mpfr_ptr)0);
  mpfr_free_cache();
  free(x);
  free(n);
  return known;
}

static void print_row(const math_case *c, int bits, const math_result *r) {
  double limit = math_limit(c, bits);
  char shown[32];
  snprintf(shown, sizeof shown, limit < 0 ? "none" : limit == 0 ? "exact" : "%g", limit);
  printf("%-16s f%d  %8.3f  %6s%s\n", c->name, bits, r->worst, shown, r->passed ? "" : "  FAILED");
  if (r->passed && !getenv("MATH_VERBOSE")) return;
  printf("    x %a (%.9g)  y %a  z %a  n %d: got %a (%.9g), wanted %a (%.9g)\n", r->x, r->x, r->y, r->z, (int)r->n,
         r->got, r->got, r->wanted, r->wanted);
}

int math_measure_all(const char *only, size_t samples, math_evaluate evaluate, void *user) {
  int failures = 0;
  printf("%-16s      %8s  %6s\n", "function", "ULP", "limit");
  for (size_t i = 0; i < math_case_count; i++) {
    const math_case *c = &math_cases[i];
    if (only && strcmp(only, c->name) != 0) continue;
    for (int bits = 32; bits <= 64; bits += 32) {
      if (c->bits && c->bits != bits) continue;
      math_result result;
      if (!math_measure(c, bits, samples, evaluate, user, &result)) {
        printf("%-16s f%d  not there  FAILED\n", c->name, bits);
        failures++;
        continue;
      }
      print_row(c, bits, &result);
      fflush(stdout);
      failures += !result.passed;
    }
  }
  return failures;
}
