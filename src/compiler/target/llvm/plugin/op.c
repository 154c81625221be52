/* op.c - component-wise operations on values of any number of lanes, by one table. Each gives exactly what ir.h says:
 * division is total, shifts are masked, out-of-range conversions are some value. */
#include <string.h>

#include "emit.h"

typedef struct op_row op_row;
typedef LLVMValueRef (*op_maker)(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args);
struct op_row {
  op_maker make;
  int code;              /* an LLVM opcode or predicate */
  const char *intrinsic; /* LLVM's name without the type */
  ir_op op;
};

LLVMValueRef emit_intrinsic(emitter *e, const char *name, LLVMTypeRef *types, unsigned type_count, LLVMValueRef *args,
                            unsigned arg_count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef callee = LLVMGetIntrinsicDeclaration(e->module, id, types, type_count);
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  return LLVMBuildCall2(e->builder, type, callee, args, arg_count, "");
}

LLVMValueRef emit_intrinsic1(emitter *e, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned arg_count) {
  return emit_intrinsic(e, name, &type, 1, args, arg_count);
}

void set_fast_flags(LLVMValueRef value, uint32_t flags) {
  LLVMFastMathFlags fast = 0;
  if (flags & IR_CONTRACT) fast |= LLVMFastMathAllowContract;
  if (flags & IR_FAST) fast |= LLVMFastMathAll;
  if (fast && LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value)) LLVMSetFastMathFlags(value, fast);
}

/* ---- Makers ----------------------------------------------------------------------------------------- */

static LLVMValueRef binary(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef value = LLVMBuildBinOp(e->builder, (LLVMOpcode)row->code, args[0], args[1], "");
  (void)result;
  if ((flags & IR_NSW) && LLVMIsAInstruction(value)) LLVMSetNSW(value, 1);
  set_fast_flags(value, flags);
  return value;
}

static LLVMValueRef call(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args,
                         unsigned count) {
  LLVMValueRef value = emit_intrinsic1(e, row->intrinsic, result, args, count);
  set_fast_flags(value, flags);
  return value;
}

static LLVMValueRef call1(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  return call(e, row, flags, result, args, 1);
}

static LLVMValueRef call2(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  return call(e, row, flags, result, args, 2);
}

static LLVMValueRef not_op(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  (void)row, (void)flags, (void)result;
  return LLVMBuildNot(e->builder, args[0], "");
}

/* Signs of halves are bits of integers: machines without halves would call a function to convert them. */
static LLVMValueRef half_sign(emitter *e, ir_op op, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef type = int_like(result);
  LLVMValueRef x = LLVMBuildBitCast(b, args[0], type, ""), top = int_splat(type, 0x8000);
  if (op == IR_FNEG) {
    x = LLVMBuildXor(b, x, top, "");
  } else {
    x = LLVMBuildAnd(b, x, int_splat(type, 0x7fff), "");
    if (op == IR_COPYSIGN) x = LLVMBuildOr(b, x, LLVMBuildAnd(b, LLVMBuildBitCast(b, args[1], type, ""), top, ""), "");
  }
  return LLVMBuildBitCast(b, x, result, "");
}

static LLVMValueRef sign_op(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  if (elem_bits(result) == 16) return half_sign(e, row->op, result, args);
  return call(e, row, flags, result, args, (unsigned)ir_op_table[row->op].operands);
}

/* The number where one operand is a NaN. For halves, which are compared as f32, LLVM's own operation would become a
 * call. */
static LLVMValueRef least_or_most(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result,
                                  LLVMValueRef *args) {
  LLVMBuilderRef b = e->builder;
  if (!row->code) return call(e, row, flags, result, args, 2);
  LLVMValueRef first = LLVMBuildFCmp(b, (LLVMRealPredicate)row->code, args[0], args[1], "");
  LLVMValueRef no_number = LLVMBuildFCmp(b, LLVMRealUNO, args[1], args[1], "");
  return LLVMBuildSelect(b, LLVMBuildOr(b, first, no_number, ""), args[0], args[1], "");
}

static LLVMValueRef fneg(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  if (elem_bits(result) == 16) return half_sign(e, IR_FNEG, result, args);
  LLVMValueRef value = LLVMBuildFNeg(e->builder, args[0], "");
  (void)row;
  set_fast_flags(value, flags);
  return value;
}

/* x / 0 = 0, x % 0 = x, MIN / -1 = MIN, MIN % -1 = 0: the divisor becomes 1 where it must not be used. */
static LLVMValueRef divide(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMBuilderRef b = e->builder;
  bool is_signed = row->op == IR_SDIV || row->op == IR_SREM;
  bool quotient = row->op == IR_SDIV || row->op == IR_UDIV;
  LLVMValueRef zero = LLVMConstNull(result), one = int_splat(result, 1);
  LLVMValueRef by_zero = LLVMBuildICmp(b, LLVMIntEQ, args[1], zero, "");
  LLVMValueRef replaced = by_zero;
  (void)flags;
  if (is_signed) {
    LLVMValueRef least = int_splat(result, 1ull << (elem_bits(result) - 1));
    LLVMValueRef is_least = LLVMBuildICmp(b, LLVMIntEQ, args[0], least, "");
    LLVMValueRef is_minus = LLVMBuildICmp(b, LLVMIntEQ, args[1], LLVMConstAllOnes(result), "");
    replaced = LLVMBuildOr(b, by_zero, LLVMBuildAnd(b, is_least, is_minus, ""), "");
  }
  LLVMValueRef divisor = LLVMBuildSelect(b, replaced, one, args[1], "");
  bool spelt = !LLVMIsConstant(divisor) && expand_wants_divide(result);
  LLVMValueRef value = spelt ? expand_divide(e, is_signed, quotient, args[0], divisor)
                             : LLVMBuildBinOp(b, (LLVMOpcode)row->code, args[0], divisor, "");
  return LLVMBuildSelect(b, by_zero, quotient ? zero : args[0], value, "");
}

static LLVMValueRef shift(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef mask = int_splat(result, elem_bits(result) - 1);
  LLVMValueRef amount = LLVMBuildAnd(e->builder, args[1], mask, "");
  (void)flags;
  return LLVMBuildBinOp(e->builder, (LLVMOpcode)row->code, args[0], amount, "");
}

static LLVMValueRef rotate(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef three[3] = {args[0], args[0], args[1]};
  return call(e, row, flags, result, three, 3);
}

static LLVMValueRef mul_high(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMOpcode extend = row->op == IR_SMULHI ? LLVMSExt : LLVMZExt;
  unsigned bits = elem_bits(result);
  LLVMTypeRef wide = int_with_bits(e, result, 2 * bits);
  LLVMValueRef x = LLVMBuildCast(e->builder, extend, args[0], wide, "");
  LLVMValueRef y = LLVMBuildCast(e->builder, extend, args[1], wide, "");
  LLVMValueRef product = LLVMBuildMul(e->builder, x, y, "");
  (void)flags;
  return LLVMBuildTrunc(e->builder, LLVMBuildLShr(e->builder, product, int_splat(wide, bits), ""), result, "");
}

/* The count of leading or trailing zeros is defined for 0. */
static LLVMValueRef count_zeros(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef two[2] = {args[0], LLVMConstInt(e->i1, 0, 0)};
  return call(e, row, flags, result, two, 2);
}

static LLVMValueRef fused(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  if (!e->facts.fma || elem_bits(result) == 16) return expand_fma(e, args);
  return call(e, row, flags, result, args, 3);
}

static LLVMValueRef round_op(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  if (!e->facts.round || elem_bits(result) == 16) return expand_round(e, row->op, args[0]);
  return call(e, row, flags, result, args, 1);
}

static LLVMValueRef remainder_op(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result,
                                 LLVMValueRef *args) {
  (void)row, (void)flags, (void)result;
  return expand_frem(e, args);
}

static LLVMValueRef icmp(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  (void)flags, (void)result;
  return LLVMBuildICmp(e->builder, (LLVMIntPredicate)row->code, args[0], args[1], "");
}

static LLVMValueRef fcmp(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef value = LLVMBuildFCmp(e->builder, (LLVMRealPredicate)row->code, args[0], args[1], "");
  (void)result;
  set_fast_flags(value, flags);
  return value;
}

static LLVMValueRef cast(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  (void)flags;
  return LLVMBuildCast(e->builder, (LLVMOpcode)row->code, args[0], result, "");
}

static LLVMValueRef widen_to_float(emitter *e, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x), wide = with_elem(type, e->f32);
  if (elem_bits(type) != 16) return x;
  return e->facts.half ? LLVMBuildFPExt(e->builder, x, wide, "") : expand_widen_half(e, x);
}

static LLVMValueRef widen(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef x = widen_to_float(e, args[0]);
  (void)row, (void)flags;
  return LLVMTypeOf(x) == result ? x : LLVMBuildFPExt(e->builder, x, result, "");
}

static LLVMValueRef narrow(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef x = args[0];
  (void)row, (void)flags;
  if (elem_bits(result) != 16) return LLVMBuildFPTrunc(e->builder, x, result, "");
  if (elem_bits(LLVMTypeOf(x)) == 64) x = expand_double_to_odd_float(e, x);
  return e->facts.half ? LLVMBuildFPTrunc(e->builder, x, result, "") : expand_narrow_half(e, x);
}

/* Out of range: LLVM's cast gives poison, the IR any value. */
static LLVMValueRef float_to_int(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result,
                                 LLVMValueRef *args) {
  LLVMValueRef x = widen_to_float(e, args[0]);
  if (flags & IR_SAT) {
    LLVMTypeRef types[2] = {result, LLVMTypeOf(x)};
    return emit_intrinsic(e, row->intrinsic, types, 2, &x, 1);
  }
  return LLVMBuildFreeze(e->builder, LLVMBuildCast(e->builder, (LLVMOpcode)row->code, x, result, ""), "");
}

static LLVMValueRef int_to_float(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result,
                                 LLVMValueRef *args) {
  (void)flags;
  if (elem_bits(result) == 16) return expand_integer_to_half(e, row->op, args[0]);
  return LLVMBuildCast(e->builder, (LLVMOpcode)row->code, args[0], result, "");
}

/* ---- The table -------------------------------------------------------------------------------------- */

#define ROW(id, maker, code, intrinsic) [IR_##id] = {maker, code, intrinsic, IR_##id}
static const op_row rows[IR_OP_COUNT] = {
    ROW(ADD, binary, LLVMAdd, NULL),
    ROW(SUB, binary, LLVMSub, NULL),
    ROW(MUL, binary, LLVMMul, NULL),
    ROW(SDIV, divide, LLVMSDiv, NULL),
    ROW(UDIV, divide, LLVMUDiv, NULL),
    ROW(SREM, divide, LLVMSRem, NULL),
    ROW(UREM, divide, LLVMURem, NULL),
    ROW(AND, binary, LLVMAnd, NULL),
    ROW(OR, binary, LLVMOr, NULL),
    ROW(XOR, binary, LLVMXor, NULL),
    ROW(NOT, not_op, 0, NULL),
    ROW(SHL, shift, LLVMShl, NULL),
    ROW(LSHR, shift, LLVMLShr, NULL),
    ROW(ASHR, shift, LLVMAShr, NULL),
    ROW(ROTL, rotate, 0, "llvm.fshl"),
    ROW(SMIN, call2, 0, "llvm.smin"),
    ROW(SMAX, call2, 0, "llvm.smax"),
    ROW(UMIN, call2, 0, "llvm.umin"),
    ROW(UMAX, call2, 0, "llvm.umax"),
    ROW(SMULHI, mul_high, 0, NULL),
    ROW(UMULHI, mul_high, 0, NULL),
    ROW(SADDSAT, call2, 0, "llvm.sadd.sat"),
    ROW(UADDSAT, call2, 0, "llvm.uadd.sat"),
    ROW(SSUBSAT, call2, 0, "llvm.ssub.sat"),
    ROW(USUBSAT, call2, 0, "llvm.usub.sat"),
    ROW(CLZ, count_zeros, 0, "llvm.ctlz"),
    ROW(CTZ, count_zeros, 0, "llvm.cttz"),
    ROW(POPCOUNT, call1, 0, "llvm.ctpop"),
    ROW(FADD, binary, LLVMFAdd, NULL),
    ROW(FSUB, binary, LLVMFSub, NULL),
    ROW(FMUL, binary, LLVMFMul, NULL),
    ROW(FDIV, binary, LLVMFDiv, NULL),
    ROW(FREM, remainder_op, 0, NULL),
    ROW(FNEG, fneg, 0, NULL),
    ROW(FABS, sign_op, 0, "llvm.fabs"),
    ROW(FMA, fused, 0, "llvm.fma"),
    ROW(SQRT, call1, 0, "llvm.sqrt"),
    ROW(FLOOR, round_op, 0, "llvm.floor"),
    ROW(CEIL, round_op, 0, "llvm.ceil"),
    ROW(FTRUNC, round_op, 0, "llvm.trunc"),
    ROW(RINT, round_op, 0, "llvm.roundeven"),
    ROW(FROUND, round_op, 0, "llvm.round"),
    ROW(FMIN, least_or_most, 0, "llvm.minnum"),
    ROW(FMAX, least_or_most, 0, "llvm.maxnum"),
    ROW(COPYSIGN, sign_op, 0, "llvm.copysign"),
    ROW(EQ, icmp, LLVMIntEQ, NULL),
    ROW(NE, icmp, LLVMIntNE, NULL),
    ROW(SLT, icmp, LLVMIntSLT, NULL),
    ROW(SLE, icmp, LLVMIntSLE, NULL),
    ROW(ULT, icmp, LLVMIntULT, NULL),
    ROW(ULE, icmp, LLVMIntULE, NULL),
    ROW(FEQ, fcmp, LLVMRealOEQ, NULL),
    ROW(FNE, fcmp, LLVMRealUNE, NULL),
    ROW(FLT, fcmp, LLVMRealOLT, NULL),
    ROW(FLE, fcmp, LLVMRealOLE, NULL),
    ROW(TRUNC, cast, LLVMTrunc, NULL),
    ROW(ZEXT, cast, LLVMZExt, NULL),
    ROW(SEXT, cast, LLVMSExt, NULL),
    ROW(FTOS, float_to_int, LLVMFPToSI, "llvm.fptosi.sat"),
    ROW(FTOU, float_to_int, LLVMFPToUI, "llvm.fptoui.sat"),
    ROW(STOF, int_to_float, LLVMSIToFP, NULL),
    ROW(UTOF, int_to_float, LLVMUIToFP, NULL),
    ROW(FNARROW, narrow, 0, NULL),
    ROW(FWIDEN, widen, 0, NULL),
};

/* f16 arithmetic: in f32 and rounded again, which gives the correctly rounded result for one operation (f32 has more
 * than twice the digits). Signs and comparisons are exact either way. */
static bool is_half_arithmetic(ir_op op) {
  return op == IR_FADD || op == IR_FSUB || op == IR_FMUL || op == IR_FDIV || op == IR_SQRT || op == IR_FMIN ||
         op == IR_FMAX || op == IR_FEQ || op == IR_FNE || op == IR_FLT || op == IR_FLE;
}

static LLVMValueRef in_float(emitter *e, const op_row *row, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  LLVMValueRef wide[3] = {NULL, NULL, NULL};
  bool compare = row->make == fcmp;
  op_row wide_row = *row;
  if (row->op == IR_FMIN) wide_row.code = LLVMRealOLT;
  if (row->op == IR_FMAX) wide_row.code = LLVMRealOGT;
  int count = ir_op_table[row->op].operands;
  for (int i = 0; i < count; i++) wide[i] = widen_to_float(e, args[i]);
  LLVMValueRef value = row->make(e, &wide_row, flags & ~(uint32_t)IR_CONTRACT, LLVMTypeOf(wide[0]), wide);
  return compare ? value : narrow(e, row, 0, result, &value);
}

LLVMValueRef emit_op(emitter *e, ir_op op, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args) {
  const op_row *row = &rows[op];
  LLVMTypeRef type = LLVMTypeOf(args[0]);
  if (!row->make) {
    emit_fail(e, QN_ERROR_INTERNAL, "operation '%s' is not component-wise", ir_op_table[op].text);
    return LLVMGetPoison(result);
  }
  if (is_half_arithmetic(op) && elem_bits(type) == 16) return in_float(e, row, flags, result, args);
  return row->make(e, row, flags, result, args);
}
