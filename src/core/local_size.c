#include "core/local_size.h"

#include <stdbool.h>
#include <string.h>

#include "base/status.h"

/* ---- Checking ----------------------------------------------------------------------------------- */

static bool is_given(const uint64_t size[3]) { return size[0] != 0 || size[1] != 0 || size[2] != 0; }

static qn_status check_divides(const core_local_limits *limits, uint32_t d, uint64_t local, uint64_t global) {
  if (global % local == 0) return QN_OK;
  if (is_given(limits->required))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
            "the kernel's reqd_work_group_size[%u] is %llu, which does not divide global[%u], %llu", d,
            (unsigned long long)local, d, (unsigned long long)global);
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
          "local[%u] is %llu, which does not divide global[%u], %llu; give one that does, or leave local out", d,
          (unsigned long long)local, d, (unsigned long long)global);
}

static qn_status check_given(const core_local_limits *limits, uint32_t dimensions, const uint64_t global[3],
                             const uint64_t given[3]) {
  const char *what = is_given(limits->required) ? "the kernel's reqd_work_group_size" : "local";
  uint64_t items = 1;
  for (uint32_t d = 0; d < dimensions; d++) {
    if (given[d] == 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "local[%u] is 0, but another dimension is given", d);
    if (given[d] > limits->max_local_size[d])
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s[%u] is %llu; the device has at most %llu there", what, d,
              (unsigned long long)given[d], (unsigned long long)limits->max_local_size[d]);
    QN_TRY(check_divides(limits, d, given[d], global[d]));
    if (__builtin_mul_overflow(items, given[d], &items)) items = UINT64_MAX;
    if (items > limits->max_group_items)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
              "%s makes groups of %llu work-items or more; the limit for this kernel is %llu", what,
              (unsigned long long)items, (unsigned long long)limits->max_group_items);
  }
  return QN_OK;
}

static qn_status check_required(const core_local_limits *limits, uint32_t dimensions, const uint64_t given[3]) {
  for (uint32_t d = 0; d < 3; d++) {
    uint64_t is = d < dimensions ? given[d] : 1;
    if (is != limits->required[d])
      QN_FAIL(
          QN_ERROR_INVALID_ARGUMENT,
          "the kernel's reqd_work_group_size is (%llu, %llu, %llu), but local[%u] is %llu; leave local out to take it",
          (unsigned long long)limits->required[0], (unsigned long long)limits->required[1],
          (unsigned long long)limits->required[2], d, (unsigned long long)is);
  }
  return QN_OK;
}

/* ---- Choosing ----------------------------------------------------------------------------------- */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Groups enough that every core gets some, and then as large as the device likes. */
static uint64_t wanted_items(const core_local_limits *limits, const uint64_t global[3]) {
  enum { GROUPS_A_UNIT = 4, LEAST = 16 };
  uint64_t preferred = limits->preferred_group_items ? limits->preferred_group_items : 64;
  uint64_t total = global[0];
  for (int d = 1; d < 3; d++) total = total > UINT64_MAX / global[d] ? UINT64_MAX : total * global[d];
  uint64_t groups = (uint64_t)GROUPS_A_UNIT * (limits->compute_units ? limits->compute_units : 1);
  uint64_t share = total / groups;
  uint64_t items = smaller(share < LEAST ? LEAST : share, preferred);
  return smaller(items, limits->max_group_items);
}

/* The largest divisor of `global` that is at most `limit`, when it is at least half of what fits; else what fits. A division of 64
 * bits takes several times as long, and a size that has no divisor asks for hundreds. */
static uint64_t divisor_near(uint64_t global, uint64_t limit) {
  uint64_t fits = smaller(global, limit);
  if (global <= UINT32_MAX) {
    for (uint32_t size = (uint32_t)fits; size > fits / 2; size--)
      if ((uint32_t)global % size == 0) return size;
    return fits;
  }
  for (uint64_t size = fits; size > fits / 2; size--)
    if (global % size == 0) return size;
  return fits;
}

/* Dimension by dimension: rows first, for neighbours in memory belong to one group. */
static void choose(const core_local_limits *limits, uint32_t dimensions, const uint64_t global[3], uint64_t local[3]) {
  uint64_t left = wanted_items(limits, global);
  for (uint32_t d = 0; d < dimensions; d++) {
    local[d] = divisor_near(global[d], smaller(left, limits->max_local_size[d]));
    left /= local[d];
    if (left == 0) left = 1;
  }
}

/* Whether a hint would be accepted if it were given. */
static bool hint_fits(const core_local_limits *limits, uint32_t dimensions, const uint64_t global[3]) {
  uint64_t items = 1;
  for (uint32_t d = 0; d < 3; d++) {
    uint64_t size = limits->hinted[d];
    uint64_t of = d < dimensions ? global[d] : 1;
    if (size == 0 || size > limits->max_local_size[d] || of % size != 0) return false;
    if (__builtin_mul_overflow(items, size, &items) || items > limits->max_group_items) return false;
  }
  return true;
}

qn_status core_local_size(const core_local_limits *limits, uint32_t dimensions, const uint64_t global[3],
                          const uint64_t given[3], uint64_t out_local[3]) {
  const uint64_t *asked = is_given(given) ? given : is_given(limits->required) ? limits->required : NULL;
  out_local[0] = out_local[1] = out_local[2] = 1;
  if (asked) {
    if (is_given(limits->required)) QN_TRY(check_required(limits, dimensions, asked));
    QN_TRY(check_given(limits, dimensions, global, asked));
    memcpy(out_local, asked, dimensions * sizeof *out_local);
  } else if (is_given(limits->hinted) && hint_fits(limits, dimensions, global)) {
    memcpy(out_local, limits->hinted, dimensions * sizeof *out_local);
  } else {
    choose(limits, dimensions, global, out_local);
  }
  return QN_OK;
}
