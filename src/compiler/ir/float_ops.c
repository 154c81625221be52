#include "compiler/ir/float.h"

static ir_unpacked make_nan(void) { return (ir_unpacked){.cls = IR_FLOAT_NAN}; }

static ir_unpacked make(ir_float_class cls, bool negative) { return (ir_unpacked){.cls = cls, .negative = negative}; }

/* ---- Addition, with 128 bits of significand ---- */

static bool less_magnitude(const ir_unpacked *a, const ir_unpacked *b) {
  if (a->exponent != b->exponent) return a->exponent < b->exponent;
  if (a->significand != b->significand) return a->significand < b->significand;
  return a->below < b->below;
}

static void normalise(ir_unpacked *x) {
  if (!x->significand) {
    x->significand = x->below;
    x->below = 0;
    x->exponent -= 64;
  }
  int shift = __builtin_clzll(x->significand);
  if (!shift) return;
  x->significand = x->significand << shift | x->below >> (64 - shift);
  x->below <<= shift;
  x->exponent -= shift;
}

/* a + b, both finite and not zero, |a| >= |b|, signs equal. */
static ir_unpacked add_magnitudes(ir_unpacked a, const ir_unpacked *b) {
  uint64_t below = a.below + b->below;
  bool carry_below = below < a.below;
  uint64_t sum = a.significand + b->significand, all = sum + carry_below;
  bool carry = sum < a.significand || all < sum;
  a.significand = all;
  a.below = below;
  if (carry) {
    ir_float_shift_down(&a, 1);
    a.significand |= (uint64_t)1 << 63;
    a.exponent++;
  }
  return a;
}

/* a - b, |a| >= |b|. An exact zero is positive. */
static ir_unpacked sub_magnitudes(ir_unpacked a, const ir_unpacked *b) {
  bool borrow = a.below < b->below;
  a.below -= b->below;
  a.significand -= b->significand + borrow;
  if (!a.significand && !a.below) return make(IR_FLOAT_ZERO, false);
  normalise(&a);
  return a;
}

static ir_unpacked add_finite(ir_unpacked a, ir_unpacked b) {
  if (less_magnitude(&a, &b)) {
    ir_unpacked swapped = a;
    a = b;
    b = swapped;
  }
  ir_float_shift_down(&b, (uint32_t)(a.exponent - b.exponent));
  return a.negative == b.negative ? add_magnitudes(a, &b) : sub_magnitudes(a, &b);
}

static ir_unpacked add(ir_unpacked a, ir_unpacked b) {
  if (a.cls == IR_FLOAT_NAN || b.cls == IR_FLOAT_NAN) return make_nan();
  if (a.cls == IR_FLOAT_INFINITE) return b.cls == IR_FLOAT_INFINITE && a.negative != b.negative ? make_nan() : a;
  if (b.cls == IR_FLOAT_INFINITE) return b;
  if (a.cls == IR_FLOAT_ZERO && b.cls == IR_FLOAT_ZERO) return make(IR_FLOAT_ZERO, a.negative && b.negative);
  if (a.cls == IR_FLOAT_ZERO) return b;
  return b.cls == IR_FLOAT_ZERO ? a : add_finite(a, b);
}

uint64_t ir_float_add(uint64_t a, uint64_t b, uint32_t bits) {
  ir_unpacked sum = add(ir_float_unpack(a, bits), ir_float_unpack(b, bits));
  return ir_float_pack(&sum, bits);
}

uint64_t ir_float_sub(uint64_t a, uint64_t b, uint32_t bits) {
  return ir_float_add(a, b ^ (uint64_t)1 << (bits - 1), bits);
}

/* ---- Multiplication ---- */

void ir_multiply_wide(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  uint64_t middle2 = a0 * b1 + (uint32_t)middle;
  *high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
  *low = a * b;
}

/* Exact, but for the range of the exponent. */
static ir_unpacked mul(ir_unpacked a, ir_unpacked b) {
  bool negative = a.negative != b.negative;
  if (a.cls == IR_FLOAT_NAN || b.cls == IR_FLOAT_NAN) return make_nan();
  if (a.cls == IR_FLOAT_INFINITE || b.cls == IR_FLOAT_INFINITE)
    return a.cls == IR_FLOAT_ZERO || b.cls == IR_FLOAT_ZERO ? make_nan() : make(IR_FLOAT_INFINITE, negative);
  if (a.cls == IR_FLOAT_ZERO || b.cls == IR_FLOAT_ZERO) return make(IR_FLOAT_ZERO, negative);
  ir_unpacked x = {.cls = IR_FLOAT_FINITE, .negative = negative, .exponent = a.exponent + b.exponent + 1};
  ir_multiply_wide(a.significand, b.significand, &x.significand, &x.below);
  normalise(&x);
  return x;
}

uint64_t ir_float_mul(uint64_t a, uint64_t b, uint32_t bits) {
  ir_unpacked product = mul(ir_float_unpack(a, bits), ir_float_unpack(b, bits));
  return ir_float_pack(&product, bits);
}

uint64_t ir_float_fma(uint64_t a, uint64_t b, uint64_t c, uint32_t bits) {
  ir_unpacked product = mul(ir_float_unpack(a, bits), ir_float_unpack(b, bits));
  ir_unpacked sum = add(product, ir_float_unpack(c, bits));
  return ir_float_pack(&sum, bits);
}

/* ---- Division, remainder, root: a bit at a time ---- */

/* One step of a long division: the remainder doubled, less b where it goes; whether it went. */
static bool division_step(uint64_t *remainder, uint64_t b) {
  bool carry = *remainder >> 63;
  *remainder <<= 1;
  if (!carry && *remainder < b) return false;
  *remainder -= b;
  return true;
}

static ir_unpacked div_finite(ir_unpacked a, ir_unpacked b) {
  ir_unpacked x = {.cls = IR_FLOAT_FINITE, .exponent = a.exponent - b.exponent};
  uint64_t remainder = a.significand;
  int steps = 64;
  if (remainder >= b.significand) {
    remainder -= b.significand;
    x.significand = 1;
    steps = 63;
  } else {
    x.exponent--;
  }
  while (steps--) x.significand = x.significand << 1 | division_step(&remainder, b.significand);
  x.below = remainder != 0;
  return x;
}

uint64_t ir_float_div(uint64_t left, uint64_t right, uint32_t bits) {
  ir_unpacked a = ir_float_unpack(left, bits), b = ir_float_unpack(right, bits), x = {0};
  bool negative = a.negative != b.negative;
  if (a.cls == IR_FLOAT_NAN || b.cls == IR_FLOAT_NAN || (a.cls == b.cls && a.cls != IR_FLOAT_FINITE))
    x = make_nan();
  else if (a.cls == IR_FLOAT_INFINITE || b.cls == IR_FLOAT_ZERO)
    x = make(IR_FLOAT_INFINITE, negative);
  else if (a.cls == IR_FLOAT_ZERO || b.cls == IR_FLOAT_INFINITE)
    x = make(IR_FLOAT_ZERO, negative);
  else
    x = div_finite(a, b);
  x.negative = negative && x.cls != IR_FLOAT_NAN;
  return ir_float_pack(&x, bits);
}

uint64_t ir_float_rem(uint64_t left, uint64_t right, uint32_t bits) {
  ir_unpacked a = ir_float_unpack(left, bits), b = ir_float_unpack(right, bits);
  if (a.cls == IR_FLOAT_NAN || b.cls == IR_FLOAT_NAN || a.cls == IR_FLOAT_INFINITE || b.cls == IR_FLOAT_ZERO)
    return ir_float_nan(bits);
  if (a.cls == IR_FLOAT_ZERO || b.cls == IR_FLOAT_INFINITE || a.exponent < b.exponent) return left;
  uint64_t remainder = a.significand >= b.significand ? a.significand - b.significand : a.significand;
  for (int32_t i = a.exponent - b.exponent; i; i--) division_step(&remainder, b.significand);
  ir_unpacked x = {remainder ? IR_FLOAT_FINITE : IR_FLOAT_ZERO, a.negative, b.exponent, remainder, 0};
  if (remainder) normalise(&x);
  return ir_float_pack(&x, bits);
}

/* With the exponent halved, the root of the significand shifted up by 63 (even exponent) or 64 bits has 64 bits. */
uint64_t ir_float_sqrt(uint64_t pattern, uint32_t bits) {
  ir_unpacked a = ir_float_unpack(pattern, bits);
  if (a.cls == IR_FLOAT_ZERO) return pattern;
  if (a.cls == IR_FLOAT_NAN || a.negative) return ir_float_nan(bits);
  if (a.cls == IR_FLOAT_INFINITE) return pattern;
  bool odd = a.exponent & 1;
  uint64_t high = odd ? a.significand : a.significand >> 1, low = odd ? 0 : a.significand << 63;
  ir_unpacked x = {.cls = IR_FLOAT_FINITE, .exponent = (a.exponent - odd) / 2};
  uint64_t square_high = 0, square_low = 0;
  for (uint64_t bit = (uint64_t)1 << 63; bit; bit >>= 1) {
    uint64_t h, l;
    ir_multiply_wide(x.significand | bit, x.significand | bit, &h, &l);
    if (h > high || (h == high && l > low)) continue;
    x.significand |= bit;
    square_high = h;
    square_low = l;
  }
  x.below = square_high != high || square_low != low;
  return ir_float_pack(&x, bits);
}

/* ---- Rounding to whole numbers, comparison ---- */

/* Whether a magnitude moves up when `rest` (of `half` * 2) is cut off. */
static bool rounds_up(ir_rounding mode, bool negative, uint64_t rest, uint64_t half, bool odd) {
  switch (mode) {
    case IR_ROUND_DOWN:
      return negative && rest;
    case IR_ROUND_UP:
      return !negative && rest;
    case IR_ROUND_EVEN:
      return rest > half || (rest == half && odd);
    case IR_ROUND_AWAY:
      return rest >= half;
    default:
      return false;
  }
}

uint64_t ir_float_round(uint64_t pattern, ir_rounding mode, uint32_t bits) {
  ir_unpacked a = ir_float_unpack(pattern, bits);
  if (a.cls == IR_FLOAT_NAN) return ir_float_nan(bits);
  if (a.cls != IR_FLOAT_FINITE || a.exponent >= 52) return pattern;
  uint64_t whole = 0, rest = 1, half = 2; /* below a half */
  if (a.exponent == -1) {
    rest = a.significand;
    half = (uint64_t)1 << 63;
  } else if (a.exponent >= 0) {
    whole = a.significand >> (63 - a.exponent);
    rest = a.significand & (((uint64_t)1 << (63 - a.exponent)) - 1);
    half = (uint64_t)1 << (62 - a.exponent);
  }
  whole += rounds_up(mode, a.negative, rest, half, whole & 1);
  return ir_float_from_u64(whole, bits) | (uint64_t)a.negative << (bits - 1);
}

/* Patterns as numbers that rise with the value, -0 just below 0. */
static int64_t order_of(uint64_t pattern, uint32_t bits) {
  uint64_t magnitude = pattern & (((uint64_t)1 << (bits - 1)) - 1);
  return magnitude == pattern ? (int64_t)magnitude : -1 - (int64_t)magnitude;
}

static bool is_zero(uint64_t pattern, uint32_t bits) { return !(pattern << (65 - bits)); }

bool ir_float_equal(uint64_t a, uint64_t b, uint32_t bits) {
  if (ir_float_is_nan(a, bits) || ir_float_is_nan(b, bits)) return false;
  return a == b || (is_zero(a, bits) && is_zero(b, bits));
}

bool ir_float_less(uint64_t a, uint64_t b, uint32_t bits) {
  if (ir_float_is_nan(a, bits) || ir_float_is_nan(b, bits)) return false;
  return !(is_zero(a, bits) && is_zero(b, bits)) && order_of(a, bits) < order_of(b, bits);
}

static uint64_t pick(uint64_t a, uint64_t b, uint32_t bits, bool larger) {
  if (ir_float_is_nan(a, bits)) return ir_float_is_nan(b, bits) ? ir_float_nan(bits) : b;
  if (ir_float_is_nan(b, bits)) return a;
  return (order_of(a, bits) < order_of(b, bits)) == larger ? b : a;
}

uint64_t ir_float_min(uint64_t a, uint64_t b, uint32_t bits) { return pick(a, b, bits, false); }
uint64_t ir_float_max(uint64_t a, uint64_t b, uint32_t bits) { return pick(a, b, bits, true); }
