/* cases.c - the functions of section 6.12.2 with their limits (OpenCL 1.2, section 7.4, full profile) and references.
 */
#include <math.h>

#include "ulp.h"

#define REFERENCE(name) static void name(mpfr_t r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z, long n, int bits)
#define UNUSED (void)r, (void)x, (void)y, (void)z, (void)n, (void)bits
#define UNARY(name, call)  \
  REFERENCE(ref_##name) {  \
    UNUSED;                \
    call(r, x, MPFR_RNDN); \
  }
#define BINARY(name, call)    \
  REFERENCE(ref_##name) {     \
    UNUSED;                   \
    call(r, x, y, MPFR_RNDN); \
  }

UNARY(acos, mpfr_acos)
UNARY(acosh, mpfr_acosh)
UNARY(acospi, mpfr_acospi)
UNARY(asin, mpfr_asin)
UNARY(asinh, mpfr_asinh)
UNARY(asinpi, mpfr_asinpi)
UNARY(atan, mpfr_atan)
UNARY(atanh, mpfr_atanh)
UNARY(atanpi, mpfr_atanpi)
BINARY(atan2, mpfr_atan2)
BINARY(atan2pi, mpfr_atan2pi)
UNARY(cbrt, mpfr_cbrt)
UNARY(cos, mpfr_cos)
UNARY(cosh, mpfr_cosh)
UNARY(cospi, mpfr_cospi)
UNARY(erf, mpfr_erf)
UNARY(erfc, mpfr_erfc)
UNARY(exp, mpfr_exp)
UNARY(exp2, mpfr_exp2)
UNARY(exp10, mpfr_exp10)
UNARY(expm1, mpfr_expm1)
BINARY(fmod, mpfr_fmod)
BINARY(hypot, mpfr_hypot)
UNARY(log, mpfr_log)
UNARY(log2, mpfr_log2)
UNARY(log10, mpfr_log10)
UNARY(log1p, mpfr_log1p)
BINARY(pow, mpfr_pow)
BINARY(remainder, mpfr_remainder)
UNARY(sin, mpfr_sin)
UNARY(sinh, mpfr_sinh)
UNARY(sinpi, mpfr_sinpi)
UNARY(tan, mpfr_tan)
UNARY(tanh, mpfr_tanh)

UNARY(tgamma, mpfr_gamma)
REFERENCE(ref_powr) {
  UNUSED;
  mpfr_powr(r, x, y, MPFR_RNDN);
  if (mpfr_nan_p(y)) mpfr_set_nan(r); /* section 7.5.1 has no exception for 1 */
}
REFERENCE(ref_lgamma) {
  UNUSED;
  int sign;
  mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}
REFERENCE(ref_lgamma_sign) {
  UNUSED;
  int sign = 1;
  mpfr_t value;
  mpfr_init2(value, 64);
  mpfr_lgamma(value, &sign, x, MPFR_RNDN);
  if (mpfr_nan_p(x)) {
    mpfr_set_si(r, 1, MPFR_RNDN);
  } else if (mpfr_zero_p(x) || (mpfr_sgn(x) < 0 && mpfr_integer_p(x))) {
    mpfr_set_si(r, 0, MPFR_RNDN);
  } else {
    mpfr_set_si(r, mpfr_inf_p(x) ? 1 : sign, MPFR_RNDN);
  }
  mpfr_clear(value);
}
UNARY(tanpi, mpfr_tanpi)
REFERENCE(ref_pown) {
  UNUSED;
  mpfr_pow_si(r, x, n, MPFR_RNDN);
}
REFERENCE(ref_rootn) {
  UNUSED;
  mpfr_rootn_si(r, x, n, MPFR_RNDN);
  if (mpfr_zero_p(x) && n != 0 && (n & 1) == 0) mpfr_setsign(r, r, 0, MPFR_RNDN);
}
REFERENCE(ref_ldexp) {
  UNUSED;
  mpfr_mul_2si(r, x, n, MPFR_RNDN);
}
REFERENCE(ref_frexp) {
  UNUSED;
  mpfr_exp_t e;
  if (mpfr_regular_p(x)) {
    mpfr_frexp(&e, r, x, MPFR_RNDN);
  } else {
    mpfr_set(r, x, MPFR_RNDN);
  }
}
REFERENCE(ref_frexp_exponent) {
  UNUSED;
  mpfr_set_si(r, mpfr_regular_p(x) ? mpfr_get_exp(x) : 0, MPFR_RNDN);
}
REFERENCE(ref_ilogb) {
  UNUSED;
  mpfr_set_si(r, mpfr_regular_p(x) ? mpfr_get_exp(x) - 1 : mpfr_zero_p(x) ? INT32_MIN : INT32_MAX, MPFR_RNDN);
}
REFERENCE(ref_logb) {
  UNUSED;
  if (mpfr_regular_p(x)) {
    mpfr_set_si(r, mpfr_get_exp(x) - 1, MPFR_RNDN);
  } else if (mpfr_zero_p(x)) {
    mpfr_set_inf(r, -1);
  } else {
    mpfr_abs(r, x, MPFR_RNDN);
  }
}
REFERENCE(ref_nextafter) {
  UNUSED;
  double a = mpfr_get_d(x, MPFR_RNDN), b = mpfr_get_d(y, MPFR_RNDN);
  mpfr_set_d(r, bits == 32 ? (double)nextafterf((float)a, (float)b) : nextafter(a, b), MPFR_RNDN);
}
REFERENCE(ref_remquo) {
  UNUSED;
  mpfr_remainder(r, x, y, MPFR_RNDN);
}
REFERENCE(ref_remquo_quotient) {
  UNUSED;
  /* The last seven bits of the whole quotient and its sign. The quotient has at most 2,200 bits. */
  if (!mpfr_number_p(x) || mpfr_zero_p(y) || mpfr_nan_p(y) || mpfr_inf_p(y) || mpfr_zero_p(x)) {
    mpfr_set_zero(r, 1);
    return;
  }
  mpfr_t rest, quotient, seven;
  mpfr_inits2(2300, rest, quotient, seven, (mpfr_ptr)0);
  mpfr_remainder(rest, x, y, MPFR_RNDN);
  mpfr_sub(quotient, x, rest, MPFR_RNDN);
  mpfr_div(quotient, quotient, y, MPFR_RNDN);
  mpfr_set_si(seven, 128, MPFR_RNDN);
  mpfr_fmod(r, quotient, seven, MPFR_RNDN);
  if (mpfr_zero_p(r)) mpfr_set_zero(r, 1);
  mpfr_clears(rest, quotient, seven, (mpfr_ptr)0);
}

const math_case math_cases[] = {
    {"acos", MATH_R_R, ref_acos, 4, 4, false, -1, 1, 0},
    {"acosh", MATH_R_R, ref_acosh, 4, 4, false, 1, 20, 0},
    {"acospi", MATH_R_R, ref_acospi, 5, 5, false, -1, 1, 0},
    {"asin", MATH_R_R, ref_asin, 4, 4, false, -1, 1, 0},
    {"asinh", MATH_R_R, ref_asinh, 4, 4, false, -20, 20, 0},
    {"asinpi", MATH_R_R, ref_asinpi, 5, 5, false, -1, 1, 0},
    {"atan", MATH_R_R, ref_atan, 5, 5, false, -10, 10, 0},
    {"atan2", MATH_RR_R, ref_atan2, 6, 6, false, -10, 10, 0},
    {"atan2pi", MATH_RR_R, ref_atan2pi, 6, 6, false, -10, 10, 0},
    {"atanh", MATH_R_R, ref_atanh, 5, 5, false, -1, 1, 0},
    {"atanpi", MATH_R_R, ref_atanpi, 5, 5, false, -10, 10, 0},
    {"cbrt", MATH_R_R, ref_cbrt, 2, 2, false, -1000, 1000, 0},
    {"cos", MATH_R_R, ref_cos, 4, 4, false, -100, 100, 0},
    {"cosh", MATH_R_R, ref_cosh, 4, 4, false, -90, 90, 0},
    {"cospi", MATH_R_R, ref_cospi, 4, 4, false, -10, 10, 0},
    {"erf", MATH_R_R, ref_erf, 16, 16, false, -4, 4, 0},
    {"erfc", MATH_R_R, ref_erfc, 16, 16, false, -4, 28, 0},
    {"exp", MATH_R_R, ref_exp, 3, 3, false, -105, 90, 0},
    {"exp10", MATH_R_R, ref_exp10, 3, 3, false, -46, 39, 0},
    {"exp2", MATH_R_R, ref_exp2, 3, 3, false, -151, 129, 0},
    {"expm1", MATH_R_R, ref_expm1, 3, 3, false, -20, 90, 0},
    {"fmod", MATH_RR_R, ref_fmod, 0, 0, false, -1000, 1000, 0},
    {"frexp", MATH_R_R, ref_frexp, 0, 0, false, -10, 10, 0},
    {"frexp_exponent", MATH_R_I, ref_frexp_exponent, 0, 0, false, -10, 10, 0},
    {"hypot", MATH_RR_R, ref_hypot, 4, 4, false, -10, 10, 0},
    {"ilogb", MATH_R_I, ref_ilogb, 0, 0, false, -10, 10, 0},
    {"ldexp", MATH_RI_R, ref_ldexp, 0, 0, true, -10, 10, 0},
    {"lgamma", MATH_R_R, ref_lgamma, 10, 10, false, 0, 40, 0},
    {"lgamma_sign", MATH_R_I, ref_lgamma_sign, 0, 0, false, -40, 4, 0},
    {"log", MATH_R_R, ref_log, 3, 3, false, 0, 4, 0},
    {"log10", MATH_R_R, ref_log10, 3, 3, false, 0, 4, 0},
    {"log1p", MATH_R_R, ref_log1p, 2, 2, false, -1, 3, 0},
    {"log2", MATH_R_R, ref_log2, 3, 3, false, 0, 4, 0},
    {"logb", MATH_R_R, ref_logb, 0, 0, false, -10, 10, 0},
    {"nextafter", MATH_RR_R, ref_nextafter, 0, 0, false, -10, 10, 0},
    {"pow", MATH_RR_R, ref_pow, 16, 16, false, 0, 40, 0},
    {"pown", MATH_RI_R, ref_pown, 16, 16, false, -4, 4, 0},
    {"powr", MATH_RR_R, ref_powr, 16, 16, false, 0, 40, 0},
    {"remainder", MATH_RR_R, ref_remainder, 0, 0, false, -1000, 1000, 0},
    {"remquo", MATH_RR_R, ref_remquo, 0, 0, false, -1000, 1000, 0},
    {"remquo_quotient", MATH_RR_R, ref_remquo_quotient, 0, 0, false, -1000, 1000, 0},
    {"rootn", MATH_RI_R, ref_rootn, 16, 16, false, -4, 100, 0},
    {"sin", MATH_R_R, ref_sin, 4, 4, false, -100, 100, 0},
    {"sincos_x", MATH_R_R, ref_sin, 4, 4, false, -100, 100, 0},
    {"sincos_y", MATH_R_R, ref_cos, 4, 4, false, -100, 100, 0},
    {"sinh", MATH_R_R, ref_sinh, 4, 4, false, -90, 90, 0},
    {"sinpi", MATH_R_R, ref_sinpi, 4, 4, false, -10, 10, 0},
    {"tan", MATH_R_R, ref_tan, 5, 5, false, -100, 100, 0},
    {"tanh", MATH_R_R, ref_tanh, 5, 5, false, -10, 10, 0},
    {"tanpi", MATH_R_R, ref_tanpi, 6, 6, false, -10, 10, 0},
    {"tgamma", MATH_R_R, ref_tgamma, 16, 16, false, -40, 40, 0},
    {"native_cos", MATH_R_R, ref_cos, 8192, 0, false, -3, 3, 32},
    {"native_exp", MATH_R_R, ref_exp, 8192, 0, false, -87, 88, 32},
    {"native_exp10", MATH_R_R, ref_exp10, 8192, 0, false, -37, 38, 32},
    {"native_exp2", MATH_R_R, ref_exp2, 8192, 0, false, -126, 127, 32},
    {"native_log", MATH_R_R, ref_log, 8192, 0, false, 0, 4, 32},
    {"native_log10", MATH_R_R, ref_log10, 8192, 0, false, 0, 4, 32},
    {"native_log2", MATH_R_R, ref_log2, 8192, 0, false, 0, 4, 32},
    {"native_powr", MATH_RR_R, ref_powr, 8192, 0, false, 0, 10, 32},
    {"native_sin", MATH_R_R, ref_sin, 8192, 0, false, -3, 3, 32},
    {"native_tan", MATH_R_R, ref_tan, 8192, 0, false, -3, 3, 32},
};
const size_t math_case_count = sizeof math_cases / sizeof *math_cases;
