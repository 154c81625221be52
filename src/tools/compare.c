/* compare.c - two devices' outputs, in units in the last place. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "run.h"

/* A difference is a failure when it is more than so many units in the last place, both of the value itself and of the largest
 * value in the array: single operations differ by none, sums in another order or with fused steps by a few, and where terms
 * cancel the sum's own last place says nothing. */
#define ULP_LIMIT 16.0

/* The unit in the last place of a value of this type. */
static double unit_of(const array *a, double value) {
  int digits = a->type == QN_TYPE_F64 ? 53 : a->type == QN_TYPE_F32 ? 24 : 11;
  int lowest = a->type == QN_TYPE_F64 ? -1074 : a->type == QN_TYPE_F32 ? -149 : -24, exponent;
  frexp(value, &exponent);
  return ldexp(1, exponent - digits < lowest ? lowest : exponent - digits);
}

/* Integers and what is no number are equal or infinitely far apart. */
static double distance(const array *a, const array *b, uint64_t i) {
  if (!array_type_of(a->type)->is_float) return array_get_u64(a, i) == array_get_u64(b, i) ? 0 : INFINITY;
  double x = array_get_f64(a, i), y = array_get_f64(b, i);
  if ((isnan(x) && isnan(y)) || x == y) return 0;
  if (isnan(x) || isnan(y) || isinf(x) || isinf(y)) return INFINITY;
  return fabs(x - y);
}

static double largest(const array *a) {
  double most = 0;
  for (uint64_t i = 0; array_type_of(a->type)->is_float && i < a->count; i++) {
    double x = fabs(array_get_f64(a, i));
    if (x > most && !isinf(x)) most = x;
  }
  return most;
}

/* As fmax, which is in libm alone: of a number and a NaN the number. */
static double larger(double a, double b) { return a > b || isnan(b) ? a : b; }

tool_status run_compare(const run_arguments *all, const run_result *r, const run_result *reference, bool quiet) {
  tool_status status = TOOL_OK;
  for (uint32_t i = 0; i < all->count; i++) {
    const array *a = &r->outputs[i], *b = &reference->outputs[i];
    if (!a->data || !b->data) continue;
    double worst = 0, allowed = ULP_LIMIT * unit_of(a, largest(b));
    uint64_t at = 0;
    bool fails = false;
    for (uint64_t k = 0; k < a->count; k++) {
      double d = distance(a, b, k);
      double ulps = d == 0 ? 0 : d / unit_of(a, larger(fabs(array_get_f64(a, k)), fabs(array_get_f64(b, k))));
      bool far = ulps > ULP_LIMIT && d > allowed;
      if (far > fails || (far == fails && ulps > worst)) {
        worst = ulps;
        at = k;
      }
      fails |= far;
    }
    char x[64], y[64];
    array_print_scalar(a, at, x);
    array_print_scalar(b, at, y);
    const char *name = all->items[i].info.name;
    if (fails)
      status = tool_error(TOOL_FAILED, "'%s' differs between %s and %s by %g ULP at element %" PRIu64 ": %s and %s",
                          name, r->device.selector, reference->device.selector, worst, at, x, y);
    else if (!quiet)
      printf("%s: %s and %s differ by at most %g ULP\n", name, r->device.selector, reference->device.selector, worst);
  }
  return status;
}
