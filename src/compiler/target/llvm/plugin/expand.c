/* expand.c - operations that the target has no instruction for, spelt out in ones that it has, so that an object needs
 * no function from outside. All but frem and fma of f64 are free of branches: they vectorise. */
#include "emit.h"

#define B (e->builder)

static LLVMValueRef as_int(emitter *e, LLVMValueRef x) { return LLVMBuildBitCast(B, x, int_like(LLVMTypeOf(x)), ""); }

static LLVMValueRef and_mask(emitter *e, LLVMValueRef bits, uint64_t mask) {
  return LLVMBuildAnd(B, bits, int_splat(LLVMTypeOf(bits), mask), "");
}

static LLVMValueRef magnitude(emitter *e, LLVMValueRef x) {
  return emit_intrinsic1(e, "llvm.fabs", LLVMTypeOf(x), &x, 1);
}

static LLVMValueRef with_sign_of(emitter *e, LLVMValueRef x, LLVMValueRef sign) {
  LLVMValueRef args[2] = {x, sign};
  return emit_intrinsic1(e, "llvm.copysign", LLVMTypeOf(x), args, 2);
}

/* ---- Halves ----------------------------------------------------------------------------------------- */

/* The magnitude's bits, moved, are a float 2^112 times too small, subnormals too. */
LLVMValueRef expand_widen_half(emitter *e, LLVMValueRef x) {
  LLVMTypeRef bits_type = int_with_bits(e, LLVMTypeOf(x), 32), type = with_elem(LLVMTypeOf(x), e->f32);
  LLVMValueRef bits = LLVMBuildZExt(B, as_int(e, x), bits_type, "");
  LLVMValueRef low = and_mask(e, bits, 0x7fff);
  LLVMValueRef sign = LLVMBuildShl(B, and_mask(e, bits, 0x8000), int_splat(bits_type, 16), "");
  LLVMValueRef moved = LLVMBuildShl(B, low, int_splat(bits_type, 13), "");
  LLVMValueRef scaled = LLVMBuildFMul(B, LLVMBuildBitCast(B, moved, type, ""), float_splat(type, 0x1p112), "");
  LLVMValueRef special = LLVMBuildOr(B, moved, int_splat(bits_type, 0x7f800000), "");
  LLVMValueRef is_special = LLVMBuildICmp(B, LLVMIntUGE, low, int_splat(bits_type, 0x7c00), "");
  LLVMValueRef value = LLVMBuildSelect(B, is_special, special, as_int(e, scaled), "");
  return LLVMBuildBitCast(B, LLVMBuildOr(B, value, sign, ""), type, "");
}

/* To nearest even: normal numbers by integer arithmetic, subnormals by adding 0.5, whose last place is theirs. */
LLVMValueRef expand_narrow_half(emitter *e, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x), bits_type = int_like(type);
  LLVMTypeRef short_type = int_with_bits(e, type, 16);
  LLVMValueRef all = as_int(e, x), bits = and_mask(e, all, 0x7fffffff);
  LLVMValueRef sign = LLVMBuildLShr(B, and_mask(e, all, 0x80000000), int_splat(bits_type, 16), "");

  LLVMValueRef odd = and_mask(e, LLVMBuildLShr(B, bits, int_splat(bits_type, 13), ""), 1);
  LLVMValueRef rebased = LLVMBuildAdd(B, bits, int_splat(bits_type, 0xc8000fff), ""); /* exponent - 112, + half - 1 */
  LLVMValueRef normal = LLVMBuildLShr(B, LLVMBuildAdd(B, rebased, odd, ""), int_splat(bits_type, 13), "");

  LLVMValueRef absolute = LLVMBuildBitCast(B, bits, type, "");
  LLVMValueRef moved = as_int(e, LLVMBuildFAdd(B, absolute, float_splat(type, 0.5), ""));
  LLVMValueRef small = LLVMBuildSub(B, moved, int_splat(bits_type, 0x3f000000), "");

  LLVMValueRef is_nan = LLVMBuildICmp(B, LLVMIntUGT, bits, int_splat(bits_type, 0x7f800000), "");
  LLVMValueRef large = LLVMBuildSelect(B, is_nan, int_splat(bits_type, 0x7e00), int_splat(bits_type, 0x7c00), "");
  LLVMValueRef is_large = LLVMBuildICmp(B, LLVMIntUGE, bits, int_splat(bits_type, 0x47800000), "");
  LLVMValueRef is_small = LLVMBuildICmp(B, LLVMIntULT, bits, int_splat(bits_type, 0x38800000), "");
  LLVMValueRef value = LLVMBuildSelect(B, is_large, large, LLVMBuildSelect(B, is_small, small, normal, ""), "");
  value = LLVMBuildTrunc(B, LLVMBuildOr(B, value, sign, ""), short_type, "");
  return LLVMBuildBitCast(B, value, with_elem(type, half_type(e)), "");
}

/* One step of the magnitude's bits, up or down, where `change` is set and the last bit is even: rounding to odd, after
 * which a second rounding to fewer digits gives what one rounding would. */
static LLVMValueRef to_odd(emitter *e, LLVMValueRef value, LLVMValueRef change, LLVMValueRef down) {
  LLVMValueRef bits = as_int(e, value);
  LLVMTypeRef type = LLVMTypeOf(bits);
  LLVMValueRef even = LLVMBuildICmp(B, LLVMIntEQ, and_mask(e, bits, 1), LLVMConstNull(type), "");
  LLVMValueRef step = LLVMBuildSelect(B, down, LLVMConstAllOnes(type), int_splat(type, 1), "");
  LLVMValueRef moved = LLVMBuildAdd(B, bits, step, "");
  bits = LLVMBuildSelect(B, LLVMBuildAnd(B, change, even, ""), moved, bits, "");
  return LLVMBuildBitCast(B, bits, LLVMTypeOf(value), "");
}

LLVMValueRef expand_double_to_odd_float(emitter *e, LLVMValueRef x) {
  LLVMTypeRef wide = LLVMTypeOf(x);
  LLVMValueRef near = LLVMBuildFPTrunc(B, x, with_elem(wide, e->f32), "");
  LLVMValueRef back = LLVMBuildFPExt(B, near, wide, "");
  LLVMValueRef inexact = LLVMBuildFCmp(B, LLVMRealONE, back, x, "");
  LLVMValueRef above = LLVMBuildFCmp(B, LLVMRealOGT, magnitude(e, back), magnitude(e, x), "");
  return to_odd(e, near, inexact, above);
}

/* 65,520 and more are infinite, so that a clamped value says the same and is exact in f32. */
LLVMValueRef expand_integer_to_half(emitter *e, ir_op op, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  if (elem_bits(type) > 16) {
    bool is_signed = op == IR_STOF;
    LLVMValueRef high[2] = {x, int_splat(type, 131072)};
    x = emit_intrinsic1(e, is_signed ? "llvm.smin" : "llvm.umin", type, high, 2);
    LLVMValueRef low[2] = {x, int_splat(type, (uint64_t)-131072)};
    if (is_signed) x = emit_intrinsic1(e, "llvm.smax", type, low, 2);
  }
  x = LLVMBuildCast(B, op == IR_STOF ? LLVMSIToFP : LLVMUIToFP, x, with_elem(type, e->f32), "");
  if (!e->facts.half) return expand_narrow_half(e, x);
  return LLVMBuildFPTrunc(B, x, with_elem(type, half_type(e)), "");
}

/* ---- Fused multiply-add ------------------------------------------------------------------------------- */

/* x + y of f64 rounded to odd, by the exact error of the sum (Knuth's TwoSum). */
static LLVMValueRef add_to_odd(emitter *e, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef sum = LLVMBuildFAdd(B, x, y, "");
  LLVMValueRef part = LLVMBuildFSub(B, sum, x, "");
  LLVMValueRef error =
      LLVMBuildFAdd(B, LLVMBuildFSub(B, x, LLVMBuildFSub(B, sum, part, ""), ""), LLVMBuildFSub(B, y, part, ""), "");
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
  LLVMValueRef inexact = LLVMBuildFCmp(B, LLVMRealONE, error, zero, "");
  LLVMValueRef down =
      LLVMBuildXor(B, LLVMBuildFCmp(B, LLVMRealOLT, error, zero, ""), LLVMBuildFCmp(B, LLVMRealOLT, sum, zero, ""), "");
  return to_odd(e, sum, inexact, down);
}

static LLVMValueRef to_double(emitter *e, LLVMValueRef x) {
  if (elem_bits(LLVMTypeOf(x)) == 16) {
    LLVMValueRef args[1] = {x};
    x = emit_op(e, IR_FWIDEN, 0, with_elem(LLVMTypeOf(x), e->f32), args);
  }
  return LLVMBuildFPExt(B, x, with_elem(LLVMTypeOf(x), e->f64), "");
}

/* Calls a scalar function of the runtime once a lane. */
static LLVMValueRef each_lane(emitter *e, const char *name, LLVMValueRef *args, unsigned count) {
  LLVMTypeRef type = LLVMTypeOf(args[0]), elem = elem_type(type);
  LLVMTypeRef params[3] = {elem, elem, elem};
  LLVMTypeRef function_type = LLVMFunctionType(elem, params, count, 0);
  LLVMValueRef function = runtime_function(e, name, function_type);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return LLVMBuildCall2(B, function_type, function, args, count, "");
  LLVMValueRef value = LLVMGetPoison(type);
  for (unsigned lane = 0; lane < lane_count(type); lane++) {
    LLVMValueRef parts[3], at = LLVMConstInt(e->i32, lane, 0);
    for (unsigned i = 0; i < count; i++) parts[i] = LLVMBuildExtractElement(B, args[i], at, "");
    value = LLVMBuildInsertElement(B, value, LLVMBuildCall2(B, function_type, function, parts, count, ""), at, "");
  }
  return value;
}

/* The product of two f32 is exact in f64, so that only the sum is rounded: to odd, then to the type. */
LLVMValueRef expand_fma(emitter *e, LLVMValueRef *args) {
  LLVMTypeRef type = LLVMTypeOf(args[0]);
  if (elem_bits(type) == 64) return each_lane(e, "quern.fma.f64", args, 3);
  LLVMValueRef product = LLVMBuildFMul(B, to_double(e, args[0]), to_double(e, args[1]), "");
  LLVMValueRef sum = add_to_odd(e, product, to_double(e, args[2]));
  return emit_op(e, IR_FNARROW, 0, type, &sum);
}

LLVMValueRef expand_frem(emitter *e, LLVMValueRef *args) {
  LLVMTypeRef type = LLVMTypeOf(args[0]);
  LLVMValueRef wide[2] = {args[0], args[1]};
  if (elem_bits(type) == 64) return each_lane(e, "quern.fmod.f64", wide, 2);
  for (int i = 0; i < 2; i++) wide[i] = to_double(e, args[i]);
  LLVMValueRef value = each_lane(e, "quern.fmod.f64", wide, 2); /* exact in the narrower type */
  return emit_op(e, IR_FNARROW, 0, type, &value);
}

/* ---- Rounding to integers ------------------------------------------------------------------------------ */

/* Adding and taking away 2^(digits - 1) rounds to an integer, to nearest even; larger values are integers already. */
LLVMValueRef expand_round(emitter *e, ir_op op, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  if (elem_bits(type) == 16) {
    LLVMValueRef wide = emit_op(e, IR_FWIDEN, 0, with_elem(type, e->f32), &x);
    wide = emit_op(e, op, 0, LLVMTypeOf(wide), &wide);
    return emit_op(e, IR_FNARROW, 0, type, &wide);
  }
  if (op == IR_FROUND) { /* the largest number below 1/2, so that the sum does not reach the next integer by rounding */
    LLVMValueRef half = float_splat(type, elem_bits(type) == 32 ? 0x1.fffffep-2 : 0x1.fffffffffffffp-2);
    x = LLVMBuildFAdd(B, x, with_sign_of(e, half, x), "");
    return emit_op(e, IR_FTRUNC, 0, type, &x);
  }
  LLVMValueRef limit = float_splat(type, elem_bits(type) == 32 ? 0x1p23 : 0x1p52);
  LLVMValueRef one = float_splat(type, 1.0), zero = LLVMConstNull(type), absolute = magnitude(e, x);
  LLVMValueRef near = LLVMBuildFSub(B, LLVMBuildFAdd(B, absolute, limit, ""), limit, "");
  if (op == IR_FTRUNC) {
    LLVMValueRef above = LLVMBuildFCmp(B, LLVMRealOGT, near, absolute, "");
    near = LLVMBuildFSub(B, near, LLVMBuildSelect(B, above, one, zero, ""), "");
  }
  near = with_sign_of(e, near, x);
  if (op == IR_FLOOR || op == IR_CEIL) {
    LLVMValueRef off = LLVMBuildFCmp(B, op == IR_FLOOR ? LLVMRealOGT : LLVMRealOLT, near, x, "");
    LLVMValueRef step = LLVMBuildSelect(B, off, op == IR_FLOOR ? one : float_splat(type, -1.0), zero, "");
    near = with_sign_of(e, LLVMBuildFSub(B, near, step, ""), x);
  }
  LLVMValueRef is_small = LLVMBuildFCmp(B, LLVMRealOLT, absolute, limit, "");
  return LLVMBuildSelect(B, is_small, near, x, "");
}

/* ---- Integer division -------------------------------------------------------------------------------- */

enum { LEAST_DIVIDED_LANES = 4 };

bool expand_wants_divide(LLVMTypeRef type) { return lane_count(type) >= LEAST_DIVIDED_LANES && elem_bits(type) <= 32; }

/* By a division of floats that hold the operands exactly. Cut off, it is exact: a quotient that is no integer is at least
 * 1 / y away from the next one, and rounding moves it by less than x / y / 2^(bits of the float), where x < 2^(bits). So
 * f64 does for 32 bits, and f32 for 16. Otherwise LLVM takes the vectors apart, sixteen divisions and 60 instructions. */
LLVMValueRef expand_divide(emitter *e, bool is_signed, bool quotient, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef type = LLVMTypeOf(x), ints = int_with_bits(e, type, 32);
  bool narrow = elem_bits(type) <= 16, reads_signed = is_signed || narrow;
  LLVMTypeRef floats = with_elem(type, narrow ? e->f32 : e->f64);
  LLVMValueRef operands[2] = {x, y};
  for (int i = 0; i < 2; i++) {
    LLVMValueRef wide = LLVMBuildIntCast2(B, operands[i], ints, is_signed, "");
    operands[i] = reads_signed ? LLVMBuildSIToFP(B, wide, floats, "") : LLVMBuildUIToFP(B, wide, floats, "");
  }
  LLVMValueRef ratio = LLVMBuildFDiv(B, operands[0], operands[1], "");
  ratio = reads_signed ? LLVMBuildFPToSI(B, ratio, ints, "") : LLVMBuildFPToUI(B, ratio, ints, "");
  ratio = LLVMBuildIntCast2(B, ratio, type, is_signed, "");
  return quotient ? ratio : LLVMBuildSub(B, x, LLVMBuildMul(B, ratio, y, ""), "");
}
