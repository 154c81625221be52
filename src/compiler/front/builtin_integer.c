/* builtin_integer.c - integer functions (6.12.3). */
#include "compiler/front/builtin_table.h"

static bool is_signed(const builtin_call *c) { return front_elem(c->choice->t)->is_signed; }
static ir_inst *bin(const builtin_call *c, ir_op op, ir_inst *x, ir_inst *y) { return ir_bin(c->b, op, x, y); }

ir_inst *builtin_emit_abs(const builtin_call *c) {
  ir_inst *x = c->args[0];
  return is_signed(c) ? bin(c, IR_SMAX, x, bin(c, IR_SUB, ir_zero(c->f->m, x->type), x)) : x;
}

ir_inst *builtin_emit_abs_diff(const builtin_call *c) {
  ir_inst *x = c->args[0], *y = c->args[1];
  bool s = is_signed(c);
  return bin(c, IR_SUB, bin(c, s ? IR_SMAX : IR_UMAX, x, y), bin(c, s ? IR_SMIN : IR_UMIN, x, y));
}

static ir_inst *half_difference(const builtin_call *c) {
  ir_inst *differing = bin(c, IR_XOR, c->args[0], c->args[1]);
  return bin(c, is_signed(c) ? IR_ASHR : IR_LSHR, differing, builtin_integer(c, differing->type, 1));
}

/* (x + y) >> 1 without overflow: common bits plus half of the differing ones. */
ir_inst *builtin_emit_hadd(const builtin_call *c) {
  return bin(c, IR_ADD, bin(c, IR_AND, c->args[0], c->args[1]), half_difference(c));
}
ir_inst *builtin_emit_rhadd(const builtin_call *c) {
  return bin(c, IR_SUB, bin(c, IR_OR, c->args[0], c->args[1]), half_difference(c));
}

ir_inst *builtin_emit_mad_hi(const builtin_call *c) {
  ir_inst *high = bin(c, is_signed(c) ? IR_SMULHI : IR_UMULHI, c->args[0], c->args[1]);
  return bin(c, IR_ADD, high, c->args[2]);
}

/* 24-bit operands by contract, for which the whole product is the same. */
ir_inst *builtin_emit_mul24(const builtin_call *c) { return bin(c, IR_MUL, c->args[0], c->args[1]); }
ir_inst *builtin_emit_mad24(const builtin_call *c) {
  return bin(c, IR_ADD, bin(c, IR_MUL, c->args[0], c->args[1]), c->args[2]);
}

ir_inst *builtin_emit_upsample(const builtin_call *c) {
  const ir_type *type = builtin_result(c);
  uint32_t bits = front_elem(c->choice->t)->bits;
  ir_inst *high = ir_conv(c->b, IR_ZEXT, c->args[0], type), *low = ir_conv(c->b, IR_ZEXT, c->args[1], type);
  return bin(c, IR_OR, bin(c, IR_SHL, high, builtin_integer(c, type, bits)), low);
}

/* ---- mad_sat ------------------------------------------------------------------------------------- */

static uint64_t largest(uint32_t bits, bool with_sign) { return UINT64_MAX >> (64 - bits + (with_sign ? 1 : 0)); }

/* Up to 32 bits: exact in twice the width, then clamped. */
static ir_inst *mad_sat_wide(const builtin_call *c) {
  ir_module *m = c->f->m;
  bool s = is_signed(c);
  uint32_t bits = front_elem(c->choice->t)->bits;
  const ir_type *narrow = c->args[0]->type, *wide = ir_with_elem(m, narrow, ir_int(m, bits * 2));
  ir_inst *x[3];
  for (uint32_t i = 0; i < 3; i++) x[i] = ir_conv(c->b, s ? IR_SEXT : IR_ZEXT, c->args[i], wide);
  ir_inst *sum = bin(c, IR_ADD, bin(c, IR_MUL, x[0], x[1]), x[2]);
  ir_inst *high = builtin_integer(c, wide, largest(bits, s));
  sum = bin(c, s ? IR_SMIN : IR_UMIN, sum, high);
  if (s) sum = bin(c, IR_SMAX, sum, builtin_integer(c, wide, ~largest(bits, true)));
  return ir_conv(c->b, IR_TRUNC, sum, narrow);
}

/* 64 bits: the 128-bit sum as two words; it fits when the upper one is the lower one's sign. */
static ir_inst *mad_sat_64(const builtin_call *c) {
  ir_builder *b = c->b;
  bool s = is_signed(c);
  const ir_type *type = c->args[0]->type;
  ir_inst *low = bin(c, IR_MUL, c->args[0], c->args[1]);
  ir_inst *high = bin(c, s ? IR_SMULHI : IR_UMULHI, c->args[0], c->args[1]);
  ir_inst *sum = bin(c, IR_ADD, low, c->args[2]);
  ir_inst *carry = ir_conv(b, IR_ZEXT, bin(c, IR_ULT, sum, low), type);
  high = bin(c, IR_ADD, high, carry);
  ir_inst *most = builtin_integer(c, type, largest(64, s));
  if (!s) return ir_select(b, bin(c, IR_EQ, high, ir_zero(c->f->m, type)), sum, most);
  ir_inst *sign = builtin_integer(c, type, 63);
  high = bin(c, IR_ADD, high, bin(c, IR_ASHR, c->args[2], sign));
  ir_inst *limit = bin(c, IR_XOR, bin(c, IR_ASHR, high, sign), most);
  return ir_select(b, bin(c, IR_EQ, high, bin(c, IR_ASHR, sum, sign)), sum, limit);
}

ir_inst *builtin_emit_mad_sat(const builtin_call *c) {
  return front_elem(c->choice->t)->bits < 64 ? mad_sat_wide(c) : mad_sat_64(c);
}
