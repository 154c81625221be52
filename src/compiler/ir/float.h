/* float.h - IEEE arithmetic on bit patterns of 16, 32 and 64 bits, in integer code: the result is the same whatever the
 * thread's floating-point environment is. Everything rounds to nearest, ties to even. A NaN that is made is the quiet
 * one with no payload. `bits` is the width; patterns have nothing above it. */
#ifndef QUERN_COMPILER_IR_FLOAT_H
#define QUERN_COMPILER_IR_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ir_float_class { IR_FLOAT_ZERO, IR_FLOAT_FINITE, IR_FLOAT_INFINITE, IR_FLOAT_NAN } ir_float_class;

/* A finite number is significand * 2^(exponent - 63), with the significand's top bit set; `below` holds 64 more bits of
 * it, the last of them or'ed with all that were lost. */
typedef struct ir_unpacked {
  ir_float_class cls;
  bool negative;
  int32_t exponent;
  uint64_t significand, below;
} ir_unpacked;

/* ---- Patterns (float.c) ---- */
ir_unpacked ir_float_unpack(uint64_t pattern, uint32_t bits);
/* Rounds. */
uint64_t ir_float_pack(const ir_unpacked *x, uint32_t bits);
/* The significand shifted right by n, what is lost kept in the last bit of `below`; the exponent stays. */
void ir_float_shift_down(ir_unpacked *x, uint32_t n);
uint64_t ir_float_nan(uint32_t bits);
bool ir_float_is_nan(uint64_t pattern, uint32_t bits);
/* A NaN keeps its sign and upper payload bits and becomes quiet. */
uint64_t ir_float_convert(uint64_t pattern, uint32_t from, uint32_t to);
uint64_t ir_float_from_double(double value, uint32_t bits);
double ir_float_to_double(uint64_t pattern, uint32_t bits); /* exact */
uint64_t ir_float_from_u64(uint64_t value, uint32_t bits);
uint64_t ir_float_from_i64(int64_t value, uint32_t bits);
/* Toward zero to an integer of `width` bits; beyond its range the nearest, a NaN gives 0. */
uint64_t ir_float_to_int(uint64_t pattern, uint32_t bits, uint32_t width, bool is_signed);

/* ---- Arithmetic (float_ops.c) ---- */
uint64_t ir_float_add(uint64_t a, uint64_t b, uint32_t bits);
uint64_t ir_float_sub(uint64_t a, uint64_t b, uint32_t bits);
uint64_t ir_float_mul(uint64_t a, uint64_t b, uint32_t bits);
uint64_t ir_float_div(uint64_t a, uint64_t b, uint32_t bits);
uint64_t ir_float_rem(uint64_t a, uint64_t b, uint32_t bits); /* fmod */
uint64_t ir_float_fma(uint64_t a, uint64_t b, uint64_t c, uint32_t bits);
uint64_t ir_float_sqrt(uint64_t a, uint32_t bits);
typedef enum ir_rounding {
  IR_ROUND_DOWN,
  IR_ROUND_UP,
  IR_ROUND_ZERO,
  IR_ROUND_EVEN, /* to nearest, ties to even */
  IR_ROUND_AWAY  /* to nearest, ties away from zero */
} ir_rounding;
uint64_t ir_float_round(uint64_t a, ir_rounding mode, uint32_t bits);
uint64_t ir_float_min(uint64_t a, uint64_t b, uint32_t bits);
uint64_t ir_float_max(uint64_t a, uint64_t b, uint32_t bits);
/* False when one is a NaN. */
bool ir_float_less(uint64_t a, uint64_t b, uint32_t bits);
bool ir_float_equal(uint64_t a, uint64_t b, uint32_t bits);

/* 64 x 64 bits, the product in two halves. */
void ir_multiply_wide(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low);

#endif
