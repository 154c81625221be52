/* float.h - floats of 16, 32 and 64 bits as bit patterns: exact conversions and rounding. */
#ifndef QUERN_COMPILER_IR_FLOAT_H
#define QUERN_COMPILER_IR_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

/* Round to nearest, ties to even; a NaN keeps its sign and upper payload bits and becomes quiet. `bits`: 16, 32, 64. */
uint64_t ir_float_from_double(double value, uint32_t bits);
/* Exact. */
double ir_float_to_double(uint64_t pattern, uint32_t bits);
bool ir_float_is_nan(uint64_t pattern, uint32_t bits);

#endif
