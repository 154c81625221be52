/* eval.c - one scalar step of each component-wise operation, on bits. */
#include "compiler/ir/float.h"
#include "compiler/ir/ir.h"

static uint32_t width_of(const ir_type *t) {
  if (t->kind == IR_BOOL) return 1;
  return t->kind == IR_POINTER ? (uint32_t)t->size * 8 : t->bits;
}

static uint64_t mask_of(uint32_t width) { return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1; }

static int64_t sign_extend(uint64_t x, uint32_t width) { return (int64_t)(x << (64 - width)) >> (64 - width); }

static uint64_t high_product(uint64_t a, uint64_t b) {
  uint64_t high, low;
  ir_multiply_wide(a, b, &high, &low);
  return high;
}

static uint64_t umulhi(uint64_t a, uint64_t b, uint32_t width) {
  return width == 64 ? high_product(a, b) : a * b >> width;
}

static uint64_t smulhi(int64_t a, int64_t b, uint32_t width) {
  if (width < 64) return (uint64_t)(a * b >> width);
  uint64_t high = high_product((uint64_t)a, (uint64_t)b);
  return high - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0);
}

static int64_t smallest(uint32_t width) { return -(int64_t)(mask_of(width) >> 1) - 1; }

static uint64_t clamp_signed(int64_t sum, bool overflowed, bool negative, uint32_t width) {
  int64_t low = smallest(width), high = (int64_t)(mask_of(width) >> 1);
  if (overflowed) return (uint64_t)(negative ? low : high);
  return (uint64_t)(sum < low ? low : sum > high ? high : sum);
}

static uint64_t add_saturated(int64_t a, int64_t b, uint32_t width) {
  int64_t sum;
  bool overflowed = __builtin_add_overflow(a, b, &sum);
  return clamp_signed(sum, overflowed, a < 0, width);
}

static uint64_t sub_saturated(int64_t a, int64_t b, uint32_t width) {
  int64_t difference;
  bool overflowed = __builtin_sub_overflow(a, b, &difference);
  return clamp_signed(difference, overflowed, a < 0, width);
}

static uint64_t udivide(uint64_t a, uint64_t b) { return b ? a / b : 0; }
static uint64_t uremainder(uint64_t a, uint64_t b) { return b ? a % b : a; }

static uint64_t sdivide(int64_t a, int64_t b) {
  if (b == -1) return 0 - (uint64_t)a;
  return b ? (uint64_t)(a / b) : 0;
}

static uint64_t sremainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  return b ? (uint64_t)(a % b) : (uint64_t)a;
}

static uint64_t rotate_left(uint64_t a, uint64_t n, uint32_t width) {
  n %= width;
  return n ? a << n | a >> (width - n) : a;
}

/* Integers and bools; x and y have nothing above their width. */
static bool eval_int(ir_op op, uint64_t x, uint64_t y, uint32_t width, uint64_t *out) {
  int64_t a = sign_extend(x, width), b = sign_extend(y, width);
  uint32_t top = 64 - width;
  switch (op) {
    case IR_ADD:
      *out = x + y;
      return true;
    case IR_SUB:
      *out = x - y;
      return true;
    case IR_MUL:
      *out = x * y;
      return true;
    case IR_SDIV:
      *out = sdivide(a, b);
      return true;
    case IR_UDIV:
      *out = udivide(x, y);
      return true;
    case IR_SREM:
      *out = sremainder(a, b);
      return true;
    case IR_UREM:
      *out = uremainder(x, y);
      return true;
    case IR_AND:
      *out = x & y;
      return true;
    case IR_OR:
      *out = x | y;
      return true;
    case IR_XOR:
      *out = x ^ y;
      return true;
    case IR_NOT:
      *out = ~x;
      return true;
    case IR_SHL:
      *out = x << y % width;
      return true;
    case IR_LSHR:
      *out = x >> y % width;
      return true;
    case IR_ASHR:
      *out = (uint64_t)(a >> y % width);
      return true;
    case IR_ROTL:
      *out = rotate_left(x, y, width);
      return true;
    case IR_SMIN:
      *out = a < b ? x : y;
      return true;
    case IR_SMAX:
      *out = a < b ? y : x;
      return true;
    case IR_UMIN:
      *out = x < y ? x : y;
      return true;
    case IR_UMAX:
      *out = x < y ? y : x;
      return true;
    case IR_SMULHI:
      *out = smulhi(a, b, width);
      return true;
    case IR_UMULHI:
      *out = umulhi(x, y, width);
      return true;
    case IR_SADDSAT:
      *out = add_saturated(a, b, width);
      return true;
    case IR_UADDSAT:
      *out = x + y < x || x + y > mask_of(width) ? UINT64_MAX : x + y;
      return true;
    case IR_SSUBSAT:
      *out = sub_saturated(a, b, width);
      return true;
    case IR_USUBSAT:
      *out = x < y ? 0 : x - y;
      return true;
    case IR_CLZ:
      *out = x ? (uint64_t)__builtin_clzll(x) - top : width;
      return true;
    case IR_CTZ:
      *out = x ? (uint64_t)__builtin_ctzll(x) : width;
      return true;
    case IR_POPCOUNT:
      *out = (uint64_t)__builtin_popcountll(x);
      return true;
    case IR_EQ:
      *out = x == y;
      return true;
    case IR_NE:
      *out = x != y;
      return true;
    case IR_SLT:
      *out = a < b;
      return true;
    case IR_SLE:
      *out = a <= b;
      return true;
    case IR_ULT:
      *out = x < y;
      return true;
    case IR_ULE:
      *out = x <= y;
      return true;
    default:
      return false;
  }
}

static bool eval_float(ir_op op, const uint64_t *x, uint32_t bits, uint64_t *out) {
  uint64_t sign = (uint64_t)1 << (bits - 1);
  switch (op) {
    case IR_FADD:
      *out = ir_float_add(x[0], x[1], bits);
      return true;
    case IR_FSUB:
      *out = ir_float_sub(x[0], x[1], bits);
      return true;
    case IR_FMUL:
      *out = ir_float_mul(x[0], x[1], bits);
      return true;
    case IR_FDIV:
      *out = ir_float_div(x[0], x[1], bits);
      return true;
    case IR_FREM:
      *out = ir_float_rem(x[0], x[1], bits);
      return true;
    case IR_FNEG:
      *out = x[0] ^ sign;
      return true;
    case IR_FABS:
      *out = x[0] & ~sign;
      return true;
    case IR_FMA:
      *out = ir_float_fma(x[0], x[1], x[2], bits);
      return true;
    case IR_SQRT:
      *out = ir_float_sqrt(x[0], bits);
      return true;
    case IR_RSQRT:
      *out = ir_float_div(ir_float_from_double(1, bits), ir_float_sqrt(x[0], bits), bits);
      return true;
    case IR_FLOOR:
      *out = ir_float_round(x[0], IR_ROUND_DOWN, bits);
      return true;
    case IR_CEIL:
      *out = ir_float_round(x[0], IR_ROUND_UP, bits);
      return true;
    case IR_FTRUNC:
      *out = ir_float_round(x[0], IR_ROUND_ZERO, bits);
      return true;
    case IR_RINT:
      *out = ir_float_round(x[0], IR_ROUND_EVEN, bits);
      return true;
    case IR_FROUND:
      *out = ir_float_round(x[0], IR_ROUND_AWAY, bits);
      return true;
    case IR_FMIN:
      *out = ir_float_min(x[0], x[1], bits);
      return true;
    case IR_FMAX:
      *out = ir_float_max(x[0], x[1], bits);
      return true;
    case IR_COPYSIGN:
      *out = (x[0] & ~sign) | (x[1] & sign);
      return true;
    case IR_FEQ:
      *out = ir_float_equal(x[0], x[1], bits);
      return true;
    case IR_FNE:
      *out = !ir_float_equal(x[0], x[1], bits);
      return true;
    case IR_FLT:
      *out = ir_float_less(x[0], x[1], bits);
      return true;
    case IR_FLE:
      *out = ir_float_less(x[0], x[1], bits) || ir_float_equal(x[0], x[1], bits);
      return true;
    default:
      return false;
  }
}

static bool eval_conversion(ir_op op, uint64_t x, const ir_type *from, const ir_type *to, uint64_t *out) {
  uint32_t width = width_of(from), result = width_of(to);
  switch (op) {
    case IR_TRUNC:
    case IR_ZEXT:
    case IR_BITCAST:
      *out = x;
      return true;
    case IR_SEXT:
      *out = (uint64_t)sign_extend(x, width);
      return true;
    case IR_FTOS:
      *out = ir_float_to_int(x, width, result, true);
      return true;
    case IR_FTOU:
      *out = ir_float_to_int(x, width, result, false);
      return true;
    case IR_STOF:
      *out = ir_float_from_i64(sign_extend(x, width), result);
      return true;
    case IR_UTOF:
      *out = ir_float_from_u64(x, result);
      return true;
    case IR_FNARROW:
    case IR_FWIDEN:
      *out = ir_float_convert(x, width, result);
      return true;
    default:
      return false;
  }
}

/* Out of range, ftos and ftou may give any value: with or without IR_SAT they saturate here. */
bool ir_eval_scalar(ir_op op, uint32_t flags, const ir_type *result, const ir_type *operand, const uint64_t *args,
                    uint64_t *out) {
  (void)flags;
  bool known = false;
  uint32_t width = width_of(operand);
  ir_class cls = ir_op_table[op].cls;
  if (cls == IR_CLASS_CONV)
    known = eval_conversion(op, args[0], operand, result, out);
  else if (cls < IR_CLASS_UN || cls > IR_CLASS_CMP)
    return false;
  else if (operand->kind == IR_FLOAT)
    known = eval_float(op, args, width, out);
  else
    known = eval_int(op, args[0], cls == IR_CLASS_UN ? 0 : args[1], width, out);
  *out &= mask_of(cls == IR_CLASS_CMP ? 1 : width_of(result));
  return known;
}
