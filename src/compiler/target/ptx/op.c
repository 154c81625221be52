/* op.c - component-wise operations, by one table, a lane at a time. Each gives exactly what ir.h says. Integers below 32 bits are
 * computed in 32 and cut. */
#include <stdio.h>

#include "compiler/target/ptx/emit.h"

typedef struct op_row op_row;
/* `elem`: of the operands. */
typedef ptx_ref (*lane_maker)(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a);
struct op_row {
  lane_maker make;
  const char *name;
};

static ptx_bank bank_of(const ir_type *elem) { return ptx_bank_of(elem); }
static bool is_wide(const ir_type *elem) { return bank_of(elem) == PTX_64; }
static uint32_t bits_of(const ir_type *elem) { return elem->kind == IR_INT ? elem->bits : is_wide(elem) ? 64 : 32; }
static bool is_narrow(const ir_type *elem) { return elem->kind == IR_INT && elem->bits < 32; }
static const char *bits_type(const ir_type *elem) {
  static const char *const types[PTX_BANKS] = {".pred", ".b16", ".b32", ".b64"};
  return types[bank_of(elem)];
}
static const char *signed_type(const ir_type *elem) { return is_wide(elem) ? ".s64" : ".s32"; }
static const char *unsigned_type(const ir_type *elem) { return is_wide(elem) ? ".u64" : ".u32"; }
static const char *float_type(const ir_type *elem) {
  return elem->bits == 16 ? ".f16" : elem->bits == 32 ? ".f32" : ".f64";
}
static ptx_ref number_like(const ir_type *elem, uint64_t bits) { return ptx_number(bank_of(elem), bits); }
static ptx_ref cut(emitter *e, const ir_type *elem, ptx_ref a) {
  return is_narrow(elem) ? ptx_cut(e, a, elem->bits) : a;
}
static ptx_ref with_sign(emitter *e, const ir_type *elem, ptx_ref a) {
  return is_narrow(elem) ? ptx_signed(e, a, elem->bits) : a;
}
/* ---- Integers ---- */

static ptx_ref sum(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  return cut(e, elem, ptx_made2(e, row->name, signed_type(elem), bank_of(elem), a[0], a[1]));
}

static ptx_ref bitwise(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  if (elem->kind == IR_BOOL) a[0] = ptx_in_register(e, a[0]), a[1] = ptx_in_register(e, a[1]);
  return ptx_made2(e, row->name, bits_type(elem), bank_of(elem), a[0], a[1]);
}

static ptx_ref complement(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  return cut(e, elem, ptx_made1(e, row->name, bits_type(elem), bank_of(elem), ptx_in_register(e, a[0])));
}

static ptx_ref on_signed(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  ptx_ref x = with_sign(e, elem, a[0]), y = with_sign(e, elem, a[1]);
  return cut(e, elem, ptx_made2(e, row->name, signed_type(elem), bank_of(elem), x, y));
}

static ptx_ref on_unsigned(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  return ptx_made2(e, row->name, unsigned_type(elem), bank_of(elem), a[0], a[1]);
}

/* x / 0 = 0, x % 0 = x. Of the smallest number by -1 the machine gives what ir.h says. */
static ptx_ref divide(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool has_sign = inst->op == IR_SDIV || inst->op == IR_SREM;
  bool is_quotient = inst->op == IR_SDIV || inst->op == IR_UDIV;
  ptx_ref value = (has_sign ? on_signed : on_unsigned)(e, row, inst, elem, a);
  if (a[1].kind == PTX_NUMBER && a[1].bits) return value;
  ptx_ref is_zero =
      ptx_made2(e, "setp.eq", signed_type(elem), PTX_PRED, ptx_in_register(e, a[1]), number_like(elem, 0));
  return ptx_choose(e, is_zero, is_quotient ? number_like(elem, 0) : a[0], value);
}

static ptx_ref in_32(emitter *e, const ir_type *elem, ptx_ref a) {
  if (!is_wide(elem)) return a;
  return a.kind == PTX_NUMBER ? ptx_number(PTX_32, a.bits) : ptx_made1(e, "cvt", ".u32.u64", PTX_32, a);
}

/* Amounts modulo the width. */
static ptx_ref amount_of(emitter *e, const ir_type *elem, ptx_ref a) {
  uint64_t mask = bits_of(elem) - 1;
  ptx_ref amount = in_32(e, elem, a);
  if (amount.kind == PTX_NUMBER) return ptx_number(PTX_32, amount.bits & mask);
  return ptx_made2(e, "and", ".b32", PTX_32, amount, ptx_number(PTX_32, mask));
}

/* The funnel shift of 32 bits takes amounts modulo 32 itself. */
static ptx_ref shift(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool is_left = inst->op == IR_SHL, keeps_sign = inst->op == IR_ASHR;
  const char *type = is_left ? bits_type(elem) : keeps_sign ? signed_type(elem) : unsigned_type(elem);
  if (elem->bits == 32 && !keeps_sign && a[1].kind != PTX_NUMBER) {
    ptx_ref none = ptx_number(PTX_32, 0);
    return is_left ? ptx_made3(e, "shf.l.wrap", ".b32", PTX_32, none, a[0], a[1])
                   : ptx_made3(e, "shf.r.wrap", ".b32", PTX_32, a[0], none, a[1]);
  }
  ptx_ref x = keeps_sign ? with_sign(e, elem, a[0]) : a[0];
  ptx_ref value = ptx_made2(e, row->name, type, bank_of(elem), x, amount_of(e, elem, a[1]));
  return inst->op == IR_LSHR ? value : cut(e, elem, value);
}

static ptx_ref rotate_wide(emitter *e, ptx_ref x, ptx_ref amount) {
  ptx_ref back = ptx_made2(e, "sub", ".s32", PTX_32, ptx_number(PTX_32, 64), amount);
  back = ptx_made2(e, "and", ".b32", PTX_32, back, ptx_number(PTX_32, 63));
  ptx_ref high = ptx_made2(e, "shl", ".b64", PTX_64, x, amount), low = ptx_made2(e, "shr", ".u64", PTX_64, x, back);
  return ptx_made2(e, "or", ".b64", PTX_64, high, low);
}

static ptx_ref rotate(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)row, (void)inst;
  if (elem->bits == 32) return ptx_made3(e, "shf.l.wrap", ".b32", PTX_32, a[0], a[0], a[1]);
  ptx_ref amount = amount_of(e, elem, a[1]);
  if (elem->bits == 64) return rotate_wide(e, a[0], amount);
  ptx_ref width = ptx_number(PTX_32, elem->bits);
  ptx_ref twice = ptx_made2(e, "shl", ".b32", PTX_32, a[0], width);
  twice = ptx_made2(e, "or", ".b32", PTX_32, twice, a[0]);
  twice = ptx_made2(e, "shl", ".b32", PTX_32, twice, amount);
  return cut(e, elem, ptx_made2(e, "shr", ".u32", PTX_32, twice, width));
}

static ptx_ref high_product(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool has_sign = inst->op == IR_SMULHI;
  if (!is_narrow(elem))
    return ptx_made2(e, row->name, has_sign ? signed_type(elem) : unsigned_type(elem), bank_of(elem), a[0], a[1]);
  ptx_ref x = has_sign ? with_sign(e, elem, a[0]) : a[0], y = has_sign ? with_sign(e, elem, a[1]) : a[1];
  ptx_ref product = ptx_made2(e, "mul.lo", ".s32", PTX_32, x, y);
  return cut(e, elem, ptx_made2(e, "shr", ".u32", PTX_32, product, ptx_number(PTX_32, elem->bits)));
}

/* ---- Saturated ---- */

static ptx_ref clamp_narrow(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool has_sign = inst->op == IR_SADDSAT || inst->op == IR_SSUBSAT;
  int64_t most = has_sign ? ((int64_t)1 << (elem->bits - 1)) - 1 : ((int64_t)1 << elem->bits) - 1;
  int64_t least = has_sign ? -most - 1 : 0;
  ptx_ref x = has_sign ? with_sign(e, elem, a[0]) : a[0], y = has_sign ? with_sign(e, elem, a[1]) : a[1];
  ptx_ref value = ptx_made2(e, row->name, ".s32", PTX_32, x, y);
  value = ptx_made2(e, "min", ".s32", PTX_32, value, ptx_number(PTX_32, (uint64_t)most));
  value = ptx_made2(e, "max", ".s32", PTX_32, value, ptx_number(PTX_32, (uint64_t)least));
  return has_sign ? cut(e, elem, value) : value;
}

/* An overflow shows in the sign: of (s ^ a) & (s ^ b) for s = a + b, of (a ^ b) & (a ^ d) for d = a - b. */
static ptx_ref saturate_wide(emitter *e, const op_row *row, const ir_inst *inst, ptx_ref *a) {
  bool adds = inst->op == IR_SADDSAT;
  ptx_ref value = ptx_made2(e, row->name, ".s64", PTX_64, a[0], a[1]);
  ptx_ref first = ptx_made2(e, "xor", ".b64", PTX_64, a[0], adds ? value : a[1]);
  ptx_ref second = ptx_made2(e, "xor", ".b64", PTX_64, adds ? a[1] : a[0], value);
  ptx_ref both = ptx_made2(e, "and", ".b64", PTX_64, first, second);
  ptx_ref is_over = ptx_made2(e, "setp.lt", ".s64", PTX_PRED, both, ptx_number(PTX_64, 0));
  ptx_ref limit = ptx_made2(e, "shr", ".s64", PTX_64, a[0], ptx_number(PTX_32, 63));
  limit = ptx_made2(e, "xor", ".b64", PTX_64, limit, ptx_number(PTX_64, INT64_MAX));
  return ptx_choose(e, is_over, limit, value);
}

static ptx_ref saturate(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  if (is_narrow(elem)) return clamp_narrow(e, row, inst, elem, a);
  ptx_bank bank = bank_of(elem);
  if (inst->op == IR_UADDSAT) {
    ptx_ref room = ptx_made1(e, "not", bits_type(elem), bank, ptx_in_register(e, a[1]));
    ptx_ref least = ptx_made2(e, "min", unsigned_type(elem), bank, a[0], room);
    return ptx_made2(e, "add", signed_type(elem), bank, least, a[1]);
  }
  if (inst->op == IR_USUBSAT) {
    ptx_ref most = ptx_made2(e, "max", unsigned_type(elem), bank, a[0], a[1]);
    return ptx_made2(e, "sub", signed_type(elem), bank, most, a[1]);
  }
  if (bank == PTX_64) return saturate_wide(e, row, inst, a);
  return ptx_made2(e, inst->op == IR_SADDSAT ? "add.sat" : "sub.sat", ".s32", PTX_32, a[0], a[1]);
}

/* ---- Counts ---- */

static ptx_ref count(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  ptx_bank bank = bank_of(elem);
  ptx_ref x = a[0];
  if (inst->op == IR_CTZ) {
    if (is_narrow(elem)) x = ptx_made2(e, "or", ".b32", PTX_32, x, ptx_number(PTX_32, UINT64_C(1) << elem->bits));
    x = ptx_made1(e, "brev", bits_type(elem), bank, ptx_in_register(e, x));
  }
  ptx_ref value = ptx_made1(e, row->name, bits_type(elem), PTX_32, ptx_in_register(e, x));
  if (inst->op == IR_CLZ && is_narrow(elem))
    value = ptx_made2(e, "sub", ".s32", PTX_32, value, ptx_number(PTX_32, 32 - elem->bits));
  return bank == PTX_64 ? ptx_made1(e, "cvt", ".u64.u32", PTX_64, value) : value;
}

/* ---- Floats ---- */

static ptx_ref typed_float(emitter *e, const char *name, const char *mode, const ir_type *elem, ptx_ref *a,
                           uint32_t operands) {
  char full[32];
  (void)snprintf(full, sizeof full, "%s%s", name, mode);
  for (uint32_t i = 0; i < operands && elem->bits == 16; i++) a[i] = ptx_in_register(e, a[i]);
  ptx_ref d = ptx_new(e, bank_of(elem));
  ptx_put_op(e, full, float_type(elem), d, a, operands);
  return d;
}

/* Without a rounding the assembler may fuse a product and a sum. */
static ptx_ref arithmetic(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool may_fuse = (inst->flags & (IR_CONTRACT | IR_FAST)) != 0;
  return typed_float(e, row->name, may_fuse ? "" : ".rn", elem, a, 2);
}

static ptx_ref fused(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  return typed_float(e, row->name, ".rn", elem, a, 3);
}

/* Of the program itself: the library counts on division as IEEE has it. */
static bool is_loose(const ir_inst *inst, const ir_type *elem) { return elem->bits == 32 && (inst->flags & IR_FAST); }

/* Subnormal numbers are zeros where that was asked for: that is faster here. */
static const char *loose_mode(const emitter *e, const char *with_flush, const char *without) {
  return e->options->denorms_are_zero ? with_flush : without;
}

static ptx_ref quotient(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)row;
  if (!is_loose(inst, elem)) return typed_float(e, "div", ".rn", elem, a, 2);
  const char *mode = e->m->fast_math ? loose_mode(e, ".approx.ftz", ".approx") : loose_mode(e, ".full.ftz", ".full");
  return typed_float(e, "div", mode, elem, a, 2);
}

static ptx_ref root(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  return typed_float(e, row->name, is_loose(inst, elem) ? loose_mode(e, ".approx.ftz", ".approx") : ".rn", elem, a, 1);
}

static ptx_ref inverse_root(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  if (elem->bits == 32) return typed_float(e, row->name, ".approx", elem, a, 1);
  ptx_ref base = typed_float(e, "sqrt", ".rn", elem, a, 1);
  return typed_float(e, "rcp", ".rn", elem, &base, 1);
}

static ptx_ref sign_of_half(emitter *e, const ir_inst *inst, ptx_ref *a) {
  ptx_ref top = ptx_number(PTX_16, 0x8000), rest = ptx_number(PTX_16, 0x7fff);
  ptx_ref x = ptx_in_register(e, a[0]);
  if (inst->op == IR_FNEG) return ptx_made2(e, "xor", ".b16", PTX_16, x, top);
  x = ptx_made2(e, "and", ".b16", PTX_16, x, rest);
  if (inst->op == IR_FABS) return x;
  ptx_ref sign = ptx_made2(e, "and", ".b16", PTX_16, ptx_in_register(e, a[1]), top);
  return ptx_made2(e, "or", ".b16", PTX_16, x, sign);
}

/* PTX's copysign has the sign first. */
static ptx_ref sign(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  if (elem->bits == 16) return sign_of_half(e, inst, a);
  if (inst->op != IR_COPYSIGN) return ptx_made1(e, row->name, float_type(elem), bank_of(elem), a[0]);
  return ptx_made2(e, row->name, float_type(elem), bank_of(elem), a[1], a[0]);
}

static ptx_ref whole(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  static const char *const types[3] = {".f16.f16", ".f32.f32", ".f64.f64"};
  (void)inst;
  return ptx_made1(e, row->name, types[elem->bits / 32], bank_of(elem), ptx_in_register(e, a[0]));
}

/* Halves away from zero: what was cut off decides; it is exact. */
static ptx_ref round_away(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool is_double = elem->bits == 64;
  ptx_bank bank = bank_of(elem);
  const char *type = float_type(elem);
  ptx_ref half = number_like(elem, is_double ? UINT64_C(0x3fe0000000000000) : 0x3f000000);
  ptx_ref one = number_like(elem, is_double ? UINT64_C(0x3ff0000000000000) : 0x3f800000), zero = number_like(elem, 0);
  half.is_float = one.is_float = zero.is_float = true;
  ptx_ref cut_off = whole(e, row, inst, elem, a);
  ptx_ref rest = ptx_made2(e, "sub.rn", type, bank, a[0], cut_off);
  rest = ptx_made1(e, "abs", type, bank, rest);
  ptx_ref is_much = ptx_made2(e, "setp.ge", type, PTX_PRED, rest, half);
  ptx_ref step = ptx_made2(e, "copysign", type, bank, a[0], ptx_choose(e, is_much, one, zero));
  ptx_ref value = ptx_made2(e, "add.rn", type, bank, cut_off, step);
  return ptx_made2(e, "copysign", type, bank, a[0], value);
}

static ptx_ref extreme(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  return typed_float(e, row->name, "", elem, a, 2);
}

/* ---- Comparisons ---- */

static ptx_ref compare_bools(emitter *e, const ir_inst *inst, ptx_ref *a) {
  ptx_ref x = ptx_in_register(e, a[0]), y = ptx_in_register(e, a[1]);
  ptx_ref differ = ptx_made2(e, "xor", ".pred", PTX_PRED, x, y);
  return inst->op == IR_NE ? differ : ptx_made1(e, "not", ".pred", PTX_PRED, differ);
}

static ptx_ref compare(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  bool has_sign = inst->op == IR_SLT || inst->op == IR_SLE;
  if (elem->kind == IR_BOOL) return compare_bools(e, inst, a);
  if (has_sign) a[0] = with_sign(e, elem, a[0]), a[1] = with_sign(e, elem, a[1]);
  return ptx_made2(e, row->name, has_sign ? signed_type(elem) : unsigned_type(elem), PTX_PRED, a[0], a[1]);
}

static ptx_ref compare_floats(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  (void)inst;
  if (elem->bits == 16) a[0] = ptx_in_register(e, a[0]), a[1] = ptx_in_register(e, a[1]);
  return ptx_made2(e, row->name, float_type(elem), PTX_PRED, a[0], a[1]);
}

/* ---- The table ---- */

#define ROW(id, maker, name) [IR_##id] = {maker, name}
static const op_row rows[IR_OP_COUNT] = {
    ROW(ADD, sum, "add"),
    ROW(SUB, sum, "sub"),
    ROW(MUL, sum, "mul.lo"),
    ROW(SDIV, divide, "div"),
    ROW(UDIV, divide, "div"),
    ROW(SREM, divide, "rem"),
    ROW(UREM, divide, "rem"),
    ROW(AND, bitwise, "and"),
    ROW(OR, bitwise, "or"),
    ROW(XOR, bitwise, "xor"),
    ROW(NOT, complement, "not"),
    ROW(SHL, shift, "shl"),
    ROW(LSHR, shift, "shr"),
    ROW(ASHR, shift, "shr"),
    ROW(ROTL, rotate, NULL),
    ROW(SMIN, on_signed, "min"),
    ROW(SMAX, on_signed, "max"),
    ROW(UMIN, on_unsigned, "min"),
    ROW(UMAX, on_unsigned, "max"),
    ROW(SMULHI, high_product, "mul.hi"),
    ROW(UMULHI, high_product, "mul.hi"),
    ROW(SADDSAT, saturate, "add"),
    ROW(UADDSAT, saturate, "add"),
    ROW(SSUBSAT, saturate, "sub"),
    ROW(USUBSAT, saturate, "sub"),
    ROW(CLZ, count, "clz"),
    ROW(CTZ, count, "clz"),
    ROW(POPCOUNT, count, "popc"),
    ROW(FADD, arithmetic, "add"),
    ROW(FSUB, arithmetic, "sub"),
    ROW(FMUL, arithmetic, "mul"),
    ROW(FDIV, quotient, NULL),
    ROW(FNEG, sign, "neg"),
    ROW(FABS, sign, "abs"),
    ROW(FMA, fused, "fma"),
    ROW(SQRT, root, "sqrt"),
    ROW(RSQRT, inverse_root, "rsqrt"),
    ROW(FLOOR, whole, "cvt.rmi"),
    ROW(CEIL, whole, "cvt.rpi"),
    ROW(FTRUNC, whole, "cvt.rzi"),
    ROW(RINT, whole, "cvt.rni"),
    ROW(FROUND, round_away, "cvt.rzi"),
    ROW(FMIN, extreme, "min"),
    ROW(FMAX, extreme, "max"),
    ROW(COPYSIGN, sign, "copysign"),
    ROW(EQ, compare, "setp.eq"),
    ROW(NE, compare, "setp.ne"),
    ROW(SLT, compare, "setp.lt"),
    ROW(SLE, compare, "setp.le"),
    ROW(ULT, compare, "setp.lt"),
    ROW(ULE, compare, "setp.le"),
    ROW(FEQ, compare_floats, "setp.eq"),
    ROW(FNE, compare_floats, "setp.neu"),
    ROW(FLT, compare_floats, "setp.lt"),
    ROW(FLE, compare_floats, "setp.le"),
};

/* f16 operations that are done in f32 and rounded again, which is right for one operation: f32 has more than twice the digits. */
static bool is_in_float(ir_op op) {
  return op == IR_FDIV || op == IR_SQRT || op == IR_RSQRT || op == IR_FMIN || op == IR_FMAX || op == IR_FROUND;
}

static ptx_ref make_lane(emitter *e, const op_row *row, const ir_inst *inst, const ir_type *elem, ptx_ref *a) {
  if (!ptx_is_half(elem) || !is_in_float(inst->op)) return row->make(e, row, inst, elem, a);
  for (uint32_t i = 0; i < inst->arg_count; i++) a[i] = ptx_widen_half(e, a[i]);
  return ptx_narrow_half(e, row->make(e, row, inst, ir_float(e->m, 32), a));
}

void ptx_put_component_wise(emitter *e, const ir_inst *inst) {
  const op_row *row = &rows[inst->op];
  bool converts = ir_op_table[inst->op].cls == IR_CLASS_CONV;
  for (uint32_t i = 0; i < ir_lanes_of(inst->type); i++) {
    ptx_ref a[3] = {{0}};
    for (uint32_t k = 0; k < inst->arg_count; k++) a[k] = ptx_operand(e, inst->args[k], i);
    ptx_set(e, inst, i,
            converts ? ptx_convert(e, inst, a[0]) : make_lane(e, row, inst, ir_elem_of(inst->args[0]->type), a));
  }
}
