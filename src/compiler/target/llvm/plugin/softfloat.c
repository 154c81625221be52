/* softfloat.c - fma of f64 without its instruction, and fmod: functions inside the object, by integer arithmetic on the
 * numbers' digits. Correctly rounded; subnormals, infinities and NaNs included. */
#include "emit.h"
#include "runtime.h"

#define B (e->builder)

/* Short words for long names: this file is arithmetic. */
static LLVMValueRef c64(emitter *e, uint64_t v) { return LLVMConstInt(e->i64, v, 0); }
static LLVMValueRef op2(emitter *e, LLVMOpcode code, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildBinOp(B, code, x, y, "");
}
static LLVMValueRef add(emitter *e, LLVMValueRef x, LLVMValueRef y) { return op2(e, LLVMAdd, x, y); }
static LLVMValueRef sub(emitter *e, LLVMValueRef x, LLVMValueRef y) { return op2(e, LLVMSub, x, y); }
static LLVMValueRef and2(emitter *e, LLVMValueRef x, LLVMValueRef y) { return op2(e, LLVMAnd, x, y); }
static LLVMValueRef or2(emitter *e, LLVMValueRef x, LLVMValueRef y) { return op2(e, LLVMOr, x, y); }
static LLVMValueRef shl(emitter *e, LLVMValueRef x, LLVMValueRef y) { return op2(e, LLVMShl, x, y); }
static LLVMValueRef shr(emitter *e, LLVMValueRef x, LLVMValueRef y) { return op2(e, LLVMLShr, x, y); }
static LLVMValueRef cmp(emitter *e, LLVMIntPredicate p, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildICmp(B, p, x, y, "");
}
static LLVMValueRef sel(emitter *e, LLVMValueRef c, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(B, c, x, y, "");
}
static LLVMValueRef min(emitter *e, const char *name, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef args[2] = {x, y};
  return emit_intrinsic1(e, name, LLVMTypeOf(x), args, 2);
}
static LLVMValueRef leading_zeros(emitter *e, LLVMValueRef x) {
  LLVMValueRef args[2] = {x, LLVMConstInt(e->i1, 0, 0)};
  return emit_intrinsic1(e, "llvm.ctlz", LLVMTypeOf(x), args, 2);
}
static LLVMValueRef is_zero(emitter *e, LLVMValueRef x) { return cmp(e, LLVMIntEQ, x, LLVMConstNull(LLVMTypeOf(x))); }

static const uint64_t sign_bit = 1ull << 63, infinity_bits = 0x7ffull << 52, digit_mask = (1ull << 52) - 1;

/* sign | digits * 2^(exponent - 1075), digits with 53 places whose first is 1 (unless the number is 0). */
typedef struct number {
  LLVMValueRef sign, magnitude, digits, exponent;
} number;

static number take_apart(emitter *e, LLVMValueRef x) {
  LLVMValueRef bits = LLVMBuildBitCast(B, x, e->i64, "");
  number n = {.sign = and2(e, bits, c64(e, sign_bit)), .magnitude = and2(e, bits, c64(e, ~sign_bit))};
  LLVMValueRef field = shr(e, n.magnitude, c64(e, 52)), low = and2(e, bits, c64(e, digit_mask));
  LLVMValueRef subnormal = is_zero(e, field);
  LLVMValueRef digits = sel(e, subnormal, low, or2(e, low, c64(e, digit_mask + 1)));
  LLVMValueRef up = and2(e, sub(e, leading_zeros(e, digits), c64(e, 11)), c64(e, 63)); /* 0 unless subnormal */
  n.digits = shl(e, digits, up);
  n.exponent = sub(e, sel(e, subnormal, c64(e, 1), field), up);
  return n;
}

static LLVMValueRef is_finite(emitter *e, number n) { return cmp(e, LLVMIntULT, n.magnitude, c64(e, infinity_bits)); }

static LLVMValueRef as_double(emitter *e, LLVMValueRef bits) { return LLVMBuildBitCast(B, bits, e->f64, ""); }

/* m * 2^exponent, m with its first bit set and its last one sticky, rounded to nearest even. */
static LLVMValueRef round_to_double(emitter *e, LLVMValueRef m, LLVMValueRef exponent) {
  LLVMValueRef zero = c64(e, 0), one = c64(e, 1);
  LLVMValueRef biased = add(e, exponent, c64(e, 63 + 1023));
  LLVMValueRef normal = cmp(e, LLVMIntSGT, biased, zero);
  LLVMValueRef places = sel(e, normal, c64(e, 11), min(e, "llvm.smin", sub(e, c64(e, 12), biased), c64(e, 65)));
  LLVMValueRef within = cmp(e, LLVMIntULT, places, c64(e, 64)), exactly = cmp(e, LLVMIntEQ, places, c64(e, 64));
  LLVMValueRef shift = and2(e, places, c64(e, 63)), left = and2(e, sub(e, zero, places), c64(e, 63));
  LLVMValueRef kept = sel(e, within, shr(e, m, shift), zero);
  LLVMValueRef rest = sel(e, within, shl(e, m, left), sel(e, exactly, m, one));
  LLVMValueRef half = c64(e, sign_bit);
  LLVMValueRef tie_up = and2(e, cmp(e, LLVMIntEQ, rest, half), LLVMBuildTrunc(B, kept, e->i1, ""));
  LLVMValueRef up = or2(e, cmp(e, LLVMIntUGT, rest, half), tie_up);
  kept = add(e, kept, LLVMBuildZExt(B, up, e->i64, ""));
  LLVMValueRef field = sel(e, normal, shl(e, sub(e, biased, one), c64(e, 52)), zero);
  LLVMValueRef overflow = cmp(e, LLVMIntSGE, biased, c64(e, 2047));
  return sel(e, overflow, c64(e, infinity_bits), add(e, kept, field));
}

/* A term of the sum: 128 digits whose first is at 124 or 125, times 2^exponent. */
typedef struct term {
  LLVMValueRef digits, exponent, sign;
} term;

static void order_terms(emitter *e, term *large, term *small) {
  LLVMValueRef swap = cmp(e, LLVMIntSGT, small->exponent, large->exponent);
  term a = *large, b = *small;
  *large = (term){sel(e, swap, b.digits, a.digits), sel(e, swap, b.exponent, a.exponent), sel(e, swap, b.sign, a.sign)};
  *small = (term){sel(e, swap, a.digits, b.digits), sel(e, swap, a.exponent, b.exponent), sel(e, swap, a.sign, b.sign)};
}

/* Digits of the smaller term at the larger one's exponent; what is lost is told by the last bit. */
static LLVMValueRef align_term(emitter *e, LLVMTypeRef wide, const term *large, const term *small) {
  LLVMValueRef distance = min(e, "llvm.umin", sub(e, large->exponent, small->exponent), c64(e, 127));
  LLVMValueRef by = LLVMBuildZExt(B, distance, wide, "");
  LLVMValueRef moved = shr(e, small->digits, by);
  LLVMValueRef lost = cmp(e, LLVMIntNE, shl(e, moved, by), small->digits);
  return or2(e, moved, LLVMBuildZExt(B, lost, wide, ""));
}

static LLVMValueRef sum_terms(emitter *e, LLVMTypeRef wide, term large, term small) {
  LLVMValueRef x = large.digits, y = align_term(e, wide, &large, &small);
  LLVMValueRef same = cmp(e, LLVMIntEQ, large.sign, small.sign), less = cmp(e, LLVMIntULT, x, y);
  LLVMValueRef difference = sel(e, less, sub(e, y, x), sub(e, x, y));
  LLVMValueRef sum = sel(e, same, add(e, x, y), difference);
  LLVMValueRef sign = sel(e, and2(e, less, LLVMBuildNot(B, same, "")), small.sign, large.sign);
  LLVMValueRef zeros = LLVMBuildTrunc(B, leading_zeros(e, sum), e->i64, "");
  LLVMValueRef up = LLVMBuildZExt(B, and2(e, zeros, c64(e, 127)), wide, "");
  LLVMValueRef first = shl(e, sum, up);
  LLVMValueRef high = LLVMBuildTrunc(B, shr(e, first, LLVMConstInt(wide, 64, 0)), e->i64, "");
  LLVMValueRef rest = cmp(e, LLVMIntNE, LLVMBuildTrunc(B, first, e->i64, ""), c64(e, 0));
  LLVMValueRef m = or2(e, high, LLVMBuildZExt(B, rest, e->i64, ""));
  LLVMValueRef bits = round_to_double(e, m, add(e, sub(e, large.exponent, zeros), c64(e, 64)));
  return as_double(e, sel(e, is_zero(e, sum), c64(e, 0), or2(e, bits, sign))); /* x - x is +0 */
}

void build_fma(emitter *e, LLVMValueRef function) {
  LLVMTypeRef wide = LLVMIntTypeInContext(e->context, 128);
  LLVMValueRef params[3] = {LLVMGetParam(function, 0), LLVMGetParam(function, 1), LLVMGetParam(function, 2)};
  number x = take_apart(e, params[0]), y = take_apart(e, params[1]), z = take_apart(e, params[2]);
  LLVMValueRef product = op2(e, LLVMMul, LLVMBuildZExt(B, x.digits, wide, ""), LLVMBuildZExt(B, y.digits, wide, ""));
  term large = {shl(e, product, LLVMConstInt(wide, 20, 0)),
                sub(e, add(e, x.exponent, y.exponent), c64(e, 2 * 1075 + 20)), op2(e, LLVMXor, x.sign, y.sign)};
  term small = {shl(e, LLVMBuildZExt(B, z.digits, wide, ""), LLVMConstInt(wide, 73, 0)),
                sub(e, z.exponent, c64(e, 1075 + 73)), z.sign};
  order_terms(e, &large, &small);
  LLVMValueRef sum = sum_terms(e, wide, large, small);
  /* A factor that is infinite, no number or 0: the plain operations are exact. With z = 0 the product alone is rounded;
   * an infinite z stays, even where the product of the factors would overflow. */
  LLVMValueRef infinite = LLVMBuildNot(B, and2(e, is_finite(e, x), is_finite(e, y)), "");
  LLVMValueRef plain = or2(e, infinite, or2(e, is_zero(e, x.magnitude), is_zero(e, y.magnitude)));
  LLVMValueRef rounded = LLVMBuildFMul(B, params[0], params[1], "");
  LLVMValueRef value = sel(e, is_zero(e, z.magnitude), rounded, sum);
  value = sel(e, is_finite(e, z), value, LLVMBuildFAdd(B, params[2], params[2], ""));
  LLVMBuildRet(B, sel(e, plain, LLVMBuildFAdd(B, rounded, params[2], ""), value));
}

/* ---- fmod ------------------------------------------------------------------------------------------------------- */

/* Long division, 11 binary places a step: remainder = (remainder << k) % divisor. */
static LLVMValueRef long_remainder(emitter *e, LLVMValueRef function, LLVMValueRef start, LLVMValueRef places,
                                   LLVMValueRef divisor) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(B);
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMValueRef zero = c64(e, 0);
  LLVMBuildCondBr(B, cmp(e, LLVMIntSGT, places, zero), body, done);
  LLVMPositionBuilderAtEnd(B, body);
  LLVMValueRef now = LLVMBuildPhi(B, e->i64, ""), left = LLVMBuildPhi(B, e->i64, "");
  LLVMValueRef step = min(e, "llvm.smin", left, c64(e, 11));
  LLVMValueRef next = op2(e, LLVMURem, shl(e, now, step), divisor), after = sub(e, left, step);
  LLVMBuildCondBr(B, cmp(e, LLVMIntSGT, after, zero), body, done);
  LLVMBasicBlockRef from[2] = {before, body};
  LLVMAddIncoming(now, (LLVMValueRef[2]){start, next}, from, 2);
  LLVMAddIncoming(left, (LLVMValueRef[2]){places, after}, from, 2);
  LLVMPositionBuilderAtEnd(B, done);
  LLVMValueRef value = LLVMBuildPhi(B, e->i64, "");
  LLVMAddIncoming(value, (LLVMValueRef[2]){start, next}, from, 2);
  return value;
}

void build_fmod(emitter *e, LLVMValueRef function) {
  LLVMValueRef params[2] = {LLVMGetParam(function, 0), LLVMGetParam(function, 1)};
  number x = take_apart(e, params[0]), y = take_apart(e, params[1]);
  LLVMValueRef y_zero = is_zero(e, y.magnitude);
  LLVMValueRef y_nan = cmp(e, LLVMIntUGT, y.magnitude, c64(e, infinity_bits));
  LLVMValueRef undefined = or2(e, or2(e, y_zero, y_nan), LLVMBuildNot(B, is_finite(e, x), ""));
  LLVMValueRef divisor = sel(e, y_zero, c64(e, 1), y.digits);
  LLVMValueRef is_less = cmp(e, LLVMIntULT, x.magnitude, y.magnitude);
  LLVMValueRef places = sub(e, x.exponent, y.exponent);
  places = sel(e, or2(e, undefined, is_less), c64(e, 0), places);
  LLVMValueRef m = long_remainder(e, function, op2(e, LLVMURem, x.digits, divisor), places, divisor);
  LLVMValueRef up = and2(e, sub(e, leading_zeros(e, m), c64(e, 11)), c64(e, 63));
  LLVMValueRef exponent = sub(e, y.exponent, up), digits = shl(e, m, up);
  LLVMValueRef normal = add(e, digits, shl(e, sub(e, exponent, c64(e, 1)), c64(e, 52)));
  LLVMValueRef down = and2(e, sub(e, c64(e, 1), exponent), c64(e, 63));
  LLVMValueRef is_normal = cmp(e, LLVMIntSGT, exponent, c64(e, 0));
  LLVMValueRef bits = sel(e, is_normal, normal, shr(e, digits, down));
  bits = or2(e, sel(e, is_zero(e, m), c64(e, 0), bits), x.sign);
  LLVMValueRef value = sel(e, is_less, params[0], as_double(e, bits));
  LLVMValueRef product = LLVMBuildFMul(B, params[0], params[1], "");
  LLVMBuildRet(B, sel(e, undefined, LLVMBuildFDiv(B, product, product, ""), value));
}
