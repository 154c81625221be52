#include "compiler/ir/float.h"

#include <string.h>

/* Bits of the fraction, without the hidden one. */
static uint32_t fraction_bits(uint32_t bits) { return bits == 64 ? 52 : bits == 32 ? 23 : 10; }
static int32_t bias_of(uint32_t bits) { return bits == 64 ? 1023 : bits == 32 ? 127 : 15; }
static uint64_t ones(uint32_t count) { return ((uint64_t)1 << count) - 1; }
static uint64_t infinity_of(uint32_t bits) { return ones(bits - 1 - fraction_bits(bits)) << fraction_bits(bits); }

uint64_t ir_float_nan(uint32_t bits) { return infinity_of(bits) | (uint64_t)1 << (fraction_bits(bits) - 1); }

bool ir_float_is_nan(uint64_t pattern, uint32_t bits) { return (pattern & ones(bits - 1)) > infinity_of(bits); }

ir_unpacked ir_float_unpack(uint64_t pattern, uint32_t bits) {
  uint32_t width = fraction_bits(bits);
  int32_t top = 2 * bias_of(bits) + 1;
  int32_t field = (int32_t)(pattern >> width & ones(bits - 1 - width));
  ir_unpacked x = {.negative = pattern >> (bits - 1) & 1, .exponent = field - bias_of(bits)};
  x.significand = (pattern & ones(width)) << (63 - width);
  if (field == top) {
    x.cls = x.significand ? IR_FLOAT_NAN : IR_FLOAT_INFINITE;
  } else if (field) {
    x.cls = IR_FLOAT_FINITE;
    x.significand |= (uint64_t)1 << 63;
  } else if (x.significand) {
    int shift = __builtin_clzll(x.significand);
    x.cls = IR_FLOAT_FINITE;
    x.significand <<= shift;
    x.exponent = 1 - bias_of(bits) - shift;
  }
  return x;
}

void ir_float_shift_down(ir_unpacked *x, uint32_t n) {
  uint64_t lost = x->below;
  if (n >= 128) {
    lost |= x->significand;
    x->significand = x->below = 0;
  } else if (n >= 64) {
    uint32_t rest = n - 64;
    lost |= rest ? x->significand & ones(rest) : 0;
    x->below = x->significand >> rest;
    x->significand = 0;
  } else if (n) {
    lost &= ones(n);
    x->below = x->below >> n | x->significand << (64 - n);
    x->significand >>= n;
  } else {
    return;
  }
  x->below |= lost != 0;
}

static uint64_t pack_finite(ir_unpacked x, uint32_t bits) {
  uint32_t width = fraction_bits(bits);
  int32_t field = x.exponent + bias_of(bits);
  if (field > 2 * bias_of(bits)) return infinity_of(bits);
  if (field < 1) {
    ir_float_shift_down(&x, (uint32_t)(1 - field));
    field = 0;
  } else {
    x.significand &= ones(63);
  }
  uint64_t fraction = x.significand >> (63 - width), rest = x.significand & ones(63 - width);
  uint64_t half = (uint64_t)1 << (62 - width);
  bool up = rest > half || (rest == half && (x.below || (fraction & 1)));
  /* A carry moves on into the exponent, up to infinity. */
  return ((uint64_t)field << width) + fraction + up;
}

uint64_t ir_float_pack(const ir_unpacked *x, uint32_t bits) {
  uint64_t magnitude = 0;
  if (x->cls == IR_FLOAT_NAN) return ir_float_nan(bits);
  if (x->cls == IR_FLOAT_INFINITE) magnitude = infinity_of(bits);
  if (x->cls == IR_FLOAT_FINITE) magnitude = pack_finite(*x, bits);
  return (uint64_t)x->negative << (bits - 1) | magnitude;
}

uint64_t ir_float_convert(uint64_t pattern, uint32_t from, uint32_t to) {
  ir_unpacked x = ir_float_unpack(pattern, from);
  if (x.cls != IR_FLOAT_NAN) return ir_float_pack(&x, to);
  return (uint64_t)x.negative << (to - 1) | ir_float_nan(to) | x.significand >> (63 - fraction_bits(to));
}

uint64_t ir_float_from_double(double value, uint32_t bits) {
  uint64_t pattern;
  memcpy(&pattern, &value, sizeof pattern);
  return bits == 64 ? pattern : ir_float_convert(pattern, 64, bits);
}

double ir_float_to_double(uint64_t pattern, uint32_t bits) {
  uint64_t wide = bits == 64 ? pattern : ir_float_convert(pattern, bits, 64);
  double value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static uint64_t from_magnitude(uint64_t magnitude, bool negative, uint32_t bits) {
  if (!magnitude) return 0;
  int shift = __builtin_clzll(magnitude);
  ir_unpacked x = {IR_FLOAT_FINITE, negative, 63 - shift, magnitude << shift, 0};
  return ir_float_pack(&x, bits);
}

uint64_t ir_float_from_u64(uint64_t value, uint32_t bits) { return from_magnitude(value, false, bits); }

uint64_t ir_float_from_i64(int64_t value, uint32_t bits) {
  return from_magnitude(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, bits);
}

uint64_t ir_float_to_int(uint64_t pattern, uint32_t bits, uint32_t width, bool is_signed) {
  ir_unpacked x = ir_float_unpack(pattern, bits);
  uint64_t all = width == 64 ? UINT64_MAX : ones(width);
  uint64_t largest = is_signed ? all >> 1 : all;
  uint64_t limit = x.negative ? (is_signed ? largest + 1 : 0) : largest;
  if (x.cls == IR_FLOAT_NAN || x.cls == IR_FLOAT_ZERO || (x.cls == IR_FLOAT_FINITE && x.exponent < 0)) return 0;
  uint64_t magnitude = limit;
  if (x.cls == IR_FLOAT_FINITE && x.exponent <= 63) {
    uint64_t whole = x.significand >> (63 - x.exponent);
    magnitude = whole < limit ? whole : limit;
  }
  return (x.negative ? 0 - magnitude : magnitude) & all;
}
