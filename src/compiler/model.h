/* model.h - the data model: chosen before preprocessing, carried by the IR and the key. */
#ifndef QUERN_COMPILER_MODEL_H
#define QUERN_COMPILER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qn_model {
  uint32_t address_bits; /* 32 or 64: pointers, size_t, ptrdiff_t, intptr_t */
  bool has_double;       /* cl_khr_fp64 */
  bool has_half;         /* cl_khr_fp16: half arithmetic */
  bool has_int64_atomics;
} qn_model;

#endif
