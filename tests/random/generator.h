/* generator.h - random kernels with barriers in every legal shape, for comparing devices. The same seed gives the same
 * kernel everywhere. Kernels have no races, no undefined arithmetic and end; all data is unsigned. */
#ifndef QUERN_TESTS_RANDOM_GENERATOR_H
#define QUERN_TESTS_RANDOM_GENERATOR_H

#include <stdint.h>

#define GENERATOR_RESULTS 6 /* words that each work-item leaves in `out` */

typedef struct generated {
  char *source; /* malloc */
  uint64_t local[2], groups[2];
  uint32_t n0, n1; /* the kernel's scalar arguments */
} generated;

/* Kernel: random_kernel(global uint *out, global const uint *in, uint n0, uint n1). `in` has a word a work-item. */
generated generate(uint64_t seed);

#endif
