#include "pool/size_class.h"

#include "pool/block.h"

enum { STEP_LOG = 8, STEPS_LOG = 3, STEPS = 1 << STEPS_LOG };

static uint32_t log2_of(uint64_t value) { return 63u - (uint32_t)__builtin_clzll(value); }

uint32_t qn_pool_class_of(uint64_t size, uint64_t *out_size) {
  uint64_t units = (size + (UINT64_C(1) << STEP_LOG) - 1) >> STEP_LOG; /* 1 or more */
  *out_size = size;
  if (units == 0 || units > UINT64_C(1) << 36) return QN_POOL_CLASSES;
  uint32_t shift = 0;
  if (units > STEPS) {
    shift = log2_of(units - 1) - STEPS_LOG;
    units = (units + (UINT64_C(1) << shift) - 1) >> shift;
  }
  /* Now units is 1 to STEPS, or STEPS + 1 to 2 * STEPS after a shift. */
  uint64_t index = shift * (uint64_t)STEPS + units - 1;
  if (index >= QN_POOL_CLASSES) return QN_POOL_CLASSES;
  *out_size = units << shift << STEP_LOG;
  return (uint32_t)index;
}
