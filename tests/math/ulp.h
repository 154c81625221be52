/* ulp.h - measures math functions in units of the last place against MPFR, whoever evaluates them. */
#ifndef TESTS_MATH_ULP_H
#define TESTS_MATH_ULP_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum math_kind {
  MATH_R_R,   /* real f(real) */
  MATH_RR_R,  /* real f(real, real) */
  MATH_RRR_R, /* real f(real, real, real) */
  MATH_RI_R,  /* real f(real, int) */
  MATH_R_I,   /* int f(real) */
} math_kind;

typedef struct math_case {
  const char *name; /* "sin"; "sincos.y" is the second result */
  math_kind kind;
  /* The reference at MPFR's precision; for MATH_RI_R `n` holds the integer. Null references have no measure. */
  void (*reference)(mpfr_t result, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z, long n, int bits);
  double limit32, limit64; /* ULP; 0: exact or correctly rounded as said below; negative: no limit, only shown */
  bool rounded;            /* limit 0 means half an ULP: correctly rounded */
  double low, high;        /* half of the arguments are spread evenly here; the others over all bit patterns */
  int bits;                /* 0: both formats; 32: float alone */
} math_case;

extern const math_case math_cases[];
extern const size_t math_case_count;

/* Evaluates a case for `count` arguments; values of float stand in doubles exactly. False: this evaluator has no such
 * function. */
typedef bool (*math_evaluate)(void *user, const math_case *c, int bits, size_t count, const double *x, const double *y,
                              const double *z, const int32_t *n, double *out);

typedef struct math_result {
  double worst;   /* ULP; infinite for a NaN, infinity or sign where there should be none */
  double x, y, z; /* where */
  int32_t n;
  double got, wanted;
  bool passed;
} math_result;

/* Samples special values, all exponents and the case's own range: about `samples` arguments. */
bool math_measure(const math_case *c, int bits, size_t samples, math_evaluate evaluate, void *user, math_result *out);
/* Measures every case, prints the table, returns how many fail. `only`: a name or NULL. */
int math_measure_all(const char *only, size_t samples, math_evaluate evaluate, void *user);
/* "3 ULP", "exact", ... */
double math_limit(const math_case *c, int bits);

#endif
