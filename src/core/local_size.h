/* local_size.h - the work-group size of a launch: checked when it is given, chosen when it isn't. */
#ifndef QUERN_CORE_LOCAL_SIZE_H
#define QUERN_CORE_LOCAL_SIZE_H

#include <stdint.h>

#include "quern/quern.h"

/* What a size must respect and what it should aim for. */
typedef struct core_local_limits {
  uint64_t max_local_size[3];
  uint64_t max_group_items;
  uint64_t required[3]; /* reqd_work_group_size, else zeros */
  uint64_t hinted[3];   /* work_group_size_hint, else zeros */
  uint32_t preferred_group_items;
  uint32_t compute_units;
} core_local_limits;

/* `global` has no zero; unused dimensions are 1. Fills in `out_local`. A chosen size may leave a smaller last group where
 * no size that divides is near. Errors: INVALID_ARGUMENT, the dimension and the sizes named. */
QN_MUST_USE qn_status core_local_size(const core_local_limits *limits, uint32_t dimensions, const uint64_t global[3],
                                      const uint64_t given[3], uint64_t out_local[3]);

#endif
