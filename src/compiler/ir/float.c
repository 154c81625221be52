#include "compiler/ir/float.h"

#include <string.h>

static uint64_t double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double bits_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Shifts right by n (0..63), rounding to nearest even. */
static uint64_t shift_even(uint64_t x, uint32_t n) {
  if (!n) return x;
  uint64_t half = (uint64_t)1 << (n - 1), rest = x & ((half << 1) - 1), quotient = x >> n;
  return quotient + (rest > half || (rest == half && (quotient & 1)));
}

/* Narrows the pattern of a double to a format with `mantissa` and `exponent` bits. The rounded significand is added to
 * the exponent field, so that a carry moves into it, up to infinity. */
static uint64_t narrow(uint64_t in, uint32_t mantissa, uint32_t exponent) {
  uint64_t sign = in >> 63 << (mantissa + exponent);
  uint64_t fraction = in & (((uint64_t)1 << 52) - 1);
  int32_t e = (int32_t)(in >> 52 & 0x7ff);
  uint64_t infinity = (((uint64_t)1 << exponent) - 1) << mantissa;
  if (e == 0x7ff) {
    uint64_t payload = fraction >> (52 - mantissa);
    return sign | infinity | (fraction ? payload | (uint64_t)1 << (mantissa - 1) : 0);
  }
  int32_t bias = (1 << (exponent - 1)) - 1;
  e = e - 1023 + bias;
  if (e >= (1 << exponent) - 1) return sign | infinity;
  if (e > 0) return sign | (((uint64_t)e << mantissa) + shift_even(fraction, 52 - mantissa));
  uint32_t shift = 52 - mantissa + (uint32_t)(1 - e); /* below the normal range, doubles' subnormals far below it */
  if (shift > 54) return sign;
  return sign | shift_even(fraction | (uint64_t)1 << 52, shift);
}

uint64_t ir_float_from_double(double value, uint32_t bits) {
  uint64_t in = double_bits(value);
  if (bits == 64) return in;
  return bits == 32 ? narrow(in, 23, 8) : narrow(in, 10, 5);
}

static uint64_t widen(uint64_t in, uint32_t mantissa, uint32_t exponent) {
  uint64_t sign = in >> (mantissa + exponent) << 63;
  uint64_t fraction = in & (((uint64_t)1 << mantissa) - 1);
  int32_t e = (int32_t)(in >> mantissa & (((uint64_t)1 << exponent) - 1));
  int32_t bias = (1 << (exponent - 1)) - 1;
  if (e == (1 << exponent) - 1) return sign | (uint64_t)0x7ff << 52 | fraction << (52 - mantissa);
  if (!e) {
    if (!fraction) return sign;
    for (e = 1; !(fraction >> mantissa); e--) fraction <<= 1;
    fraction &= ((uint64_t)1 << mantissa) - 1;
  }
  return sign | (uint64_t)(e - bias + 1023) << 52 | fraction << (52 - mantissa);
}

double ir_float_to_double(uint64_t pattern, uint32_t bits) {
  if (bits == 64) return bits_double(pattern);
  return bits_double(bits == 32 ? widen(pattern & 0xffffffff, 23, 8) : widen(pattern & 0xffff, 10, 5));
}

bool ir_float_is_nan(uint64_t pattern, uint32_t bits) {
  uint32_t mantissa = bits == 64 ? 52 : bits == 32 ? 23 : 10;
  uint64_t magnitude = pattern & (((uint64_t)1 << (bits - 1)) - 1);
  uint64_t infinity = (((uint64_t)1 << (bits - 1 - mantissa)) - 1) << mantissa;
  return magnitude > infinity;
}
