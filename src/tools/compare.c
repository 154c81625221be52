/* compare.c - two devices' outputs, in units in the last place. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "run.h"

/* Over this a difference is a failure: single operations differ by none, sums in another order by a few. */
#define ULP_LIMIT 16.0

static double ulp_distance(const array *a, const array *b, uint64_t i) {
  const array_type *t = array_type_of(a->type);
  if (!t->is_float) return array_get_u64(a, i) == array_get_u64(b, i) ? 0 : INFINITY;
  double x = array_get_f64(a, i), y = array_get_f64(b, i);
  if ((isnan(x) && isnan(y)) || x == y) return 0;
  if (isnan(x) || isnan(y) || isinf(x) || isinf(y)) return INFINITY;
  int digits = a->type == QN_TYPE_F64 ? 53 : a->type == QN_TYPE_F32 ? 24 : 11;
  int lowest = a->type == QN_TYPE_F64 ? -1074 : a->type == QN_TYPE_F32 ? -149 : -24, exponent;
  frexp(fmax(fabs(x), fabs(y)), &exponent);
  int unit = exponent - digits < lowest ? lowest : exponent - digits;
  return ldexp(fabs(x - y), -unit);
}

tool_status run_compare(const run_arguments *all, const run_result *r, const run_result *reference, bool quiet) {
  tool_status status = TOOL_OK;
  for (uint32_t i = 0; i < all->count; i++) {
    const array *a = &r->outputs[i], *b = &reference->outputs[i];
    if (!a->data || !b->data) continue;
    double worst = 0;
    uint64_t at = 0;
    for (uint64_t k = 0; k < a->count; k++) {
      double d = ulp_distance(a, b, k);
      if (d > worst) {
        worst = d;
        at = k;
      }
    }
    char x[64], y[64];
    array_print_scalar(a, at, x);
    array_print_scalar(b, at, y);
    const char *name = all->items[i].info.name;
    if (worst > ULP_LIMIT)
      status = tool_error(TOOL_FAILED, "'%s' differs between %s and %s by %g ULP at element %" PRIu64 ": %s and %s",
                          name, r->device.selector, reference->device.selector, worst, at, x, y);
    else if (!quiet)
      printf("%s: %s and %s differ by at most %g ULP\n", name, r->device.selector, reference->device.selector, worst);
  }
  return status;
}
