/* builtin_convert.c - convert_T with rounding and saturation (6.2.3), as_T (6.2.4). */
#include "compiler/front/builtin_table.h"

/* ---- Resolve ------------------------------------------------------------------------------------- */

static bool reinterprets(front *f, const front_type *from, const front_type *to) {
  if (front_sizeof(f, from) != front_sizeof(f, to)) return false;
  /* A 3-vector is as large as a 4-vector, and may be taken from one. */
  uint32_t bits = front_elem(from)->bits, other = front_elem(to)->bits;
  return (front_lanes(from) != 3 && front_lanes(to) != 3) || bits == other;
}

bool builtin_resolve_conversion(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                                uint32_t count, front_overload *out) {
  uint32_t length = (uint32_t)builtin->name.size;
  const front_type *to = builtin->type;
  if (count != 1) {
    front_error(f, loc, length, "too %s arguments to '%.*s': it takes 1, not %u", count ? "many" : "few",
                QN_SV_ARG(builtin->name), count);
    return false;
  }
  const front_type *from = args[0];
  if (!front_is_numeric(from)) {
    front_error(f, loc, length, "'%.*s' takes a number or a vector, not %s", QN_SV_ARG(builtin->name),
                front_type_text(f, from));
    return false;
  }
  if (from->kind == FRONT_BOOL) from = front_int(f, 32, true);
  if (builtin->is_reinterpretation && !reinterprets(f, from, to)) {
    front_error(f, loc, length, "'%.*s' takes a value of %u bytes, and %s has %u", QN_SV_ARG(builtin->name),
                (uint32_t)front_sizeof(f, to), front_type_text(f, from), (uint32_t)front_sizeof(f, from));
    return false;
  }
  if (!builtin->is_reinterpretation && front_lanes(from) != front_lanes(to)) {
    front_error(f, loc, length, "'%.*s' takes as many components as %s has, not %s", QN_SV_ARG(builtin->name),
                front_type_text(f, to), front_type_text(f, from));
    return false;
  }
  out->result = to;
  out->params[0] = from;
  out->count = 1;
  return builtin_choose(f, builtin, NULL, NULL, from, out);
}

/* ---- Steps of one unit in the last place ----------------------------------------------------------- */

static ir_inst *bin(const builtin_call *c, ir_op op, ir_inst *x, ir_inst *y) { return ir_bin(c->b, op, x, y); }

/* The float beside `x`, away from zero or toward it, where `condition` holds. */
static ir_inst *step_where(const builtin_call *c, ir_inst *condition, ir_inst *x, ir_inst *away) {
  const ir_type *type = builtin_bits_type(c, x->type);
  ir_inst *bits = ir_conv(c->b, IR_BITCAST, x, type);
  ir_inst *step = ir_select(c->b, away, builtin_integer(c, type, 1), builtin_integer(c, type, UINT64_MAX));
  ir_inst *beside = ir_conv(c->b, IR_BITCAST, bin(c, IR_ADD, bits, step), x->type);
  return ir_select(c->b, condition, beside, x);
}

static ir_inst *is_negative(const builtin_call *c, ir_inst *x) {
  const ir_type *type = builtin_bits_type(c, x->type);
  return bin(c, IR_SLT, ir_conv(c->b, IR_BITCAST, x, type), ir_zero(c->f->m, type));
}

/* ---- Float to float ------------------------------------------------------------------------------- */

static ir_inst *float_to_float(const builtin_call *c, ir_inst *x, const ir_type *to, builtin_rounding rounding) {
  uint32_t from_bits = ir_elem_of(x->type)->bits, to_bits = ir_elem_of(to)->bits;
  if (from_bits == to_bits) return x;
  if (from_bits < to_bits) return ir_conv(c->b, IR_FWIDEN, x, to);
  ir_inst *r = ir_conv(c->b, IR_FNARROW, x, to);
  if (rounding == ROUND_DEFAULT || rounding == ROUND_RTE) return r;
  ir_inst *back = ir_conv(c->b, IR_FWIDEN, r, x->type);
  ir_inst *negative = is_negative(c, r);
  if (rounding == ROUND_RTP) return step_where(c, bin(c, IR_FLT, back, x), r, ir_un(c->b, IR_NOT, negative));
  if (rounding == ROUND_RTN) return step_where(c, bin(c, IR_FLT, x, back), r, negative);
  ir_inst *beyond = bin(c, IR_FLT, ir_un(c->b, IR_FABS, x), ir_un(c->b, IR_FABS, back));
  const ir_type *bools = ir_bool_like(c->f->m, r->type);
  return step_where(c, beyond, r, builtin_integer(c, bools, 0));
}

/* ---- Integer to float ------------------------------------------------------------------------------ */

/* Directed rounding: the magnitude is cut to the digits of the format, which converts exactly, and stepped away from
 * zero where digits were lost and the direction asks for it. */
static ir_inst *directed(const builtin_call *c, ir_inst *x, bool is_signed, const ir_type *to,
                         builtin_rounding rounding) {
  ir_builder *b = c->b;
  const ir_type *type = x->type;
  uint32_t bits = ir_elem_of(type)->bits, digits = ir_elem_of(to)->bits == 32 ? 24 : 53;
  ir_inst *zero = ir_zero(c->f->m, type);
  ir_inst *negative = is_signed ? bin(c, IR_SLT, x, zero) : builtin_integer(c, ir_bool_like(c->f->m, type), 0);
  ir_inst *size = is_signed ? ir_select(b, negative, bin(c, IR_SUB, zero, x), x) : x;
  ir_inst *room = builtin_integer(c, type, bits - digits);
  ir_inst *lost = bin(c, IR_USUBSAT, room, ir_un(b, IR_CLZ, size));
  ir_inst *cut = bin(c, IR_SHL, bin(c, IR_LSHR, size, lost), lost);
  ir_inst *r = ir_conv(b, IR_UTOF, cut, to);
  if (rounding != ROUND_RTZ) {
    ir_inst *inexact = bin(c, IR_NE, cut, size);
    ir_inst *wanted = rounding == ROUND_RTP ? ir_un(b, IR_NOT, negative) : negative;
    r = step_where(c, bin(c, IR_AND, inexact, wanted), r, builtin_integer(c, ir_bool_like(c->f->m, type), 1));
  }
  return ir_select(b, negative, ir_un(b, IR_FNEG, r), r);
}

static ir_inst *integer_to_float(const builtin_call *c, ir_inst *x, bool is_signed, const ir_type *to,
                                 builtin_rounding rounding) {
  uint32_t bits = ir_elem_of(x->type)->bits, digits = ir_elem_of(to)->bits == 32 ? 24 : 53;
  bool nearest = rounding == ROUND_DEFAULT || rounding == ROUND_RTE;
  if (nearest || bits <= digits) return ir_conv(c->b, is_signed ? IR_STOF : IR_UTOF, x, to);
  return directed(c, x, is_signed, to, rounding);
}

/* ---- To integer ------------------------------------------------------------------------------------ */

static ir_inst *float_to_integer(const builtin_call *c, ir_inst *x, const ir_type *to, bool is_signed) {
  static const ir_op whole[] = {[ROUND_RTE] = IR_RINT, [ROUND_RTP] = IR_CEIL, [ROUND_RTN] = IR_FLOOR};
  builtin_rounding rounding = c->choice->builtin->rounding;
  if (rounding != ROUND_DEFAULT && rounding != ROUND_RTZ) x = ir_un(c->b, whole[rounding], x);
  ir_op op = is_signed ? IR_FTOS : IR_FTOU;
  if (!c->choice->builtin->is_saturated) return ir_conv(c->b, op, x, to);
  ir_inst *r = ir_fold(c->f->m, op, IR_SAT, to, &x, 1);
  if (r) return r;
  r = ir_emit(c->b, op, to, &x, 1);
  r->flags |= IR_SAT;
  return r;
}

static uint64_t largest(uint32_t bits, bool with_sign) { return UINT64_MAX >> (64 - bits + (with_sign ? 1 : 0)); }

static ir_inst *integer_to_integer(const builtin_call *c, ir_inst *x, bool from_signed, const ir_type *to,
                                   bool to_signed) {
  uint32_t from_bits = ir_elem_of(x->type)->bits, to_bits = ir_elem_of(to)->bits;
  if (c->choice->builtin->is_saturated) {
    if (from_signed && !to_signed) x = bin(c, IR_SMAX, x, ir_zero(c->f->m, x->type));
    bool may_exceed = to_bits < from_bits || (to_bits == from_bits && to_signed && !from_signed);
    if (may_exceed)
      x = bin(c, from_signed ? IR_SMIN : IR_UMIN, x, builtin_integer(c, x->type, largest(to_bits, to_signed)));
    if (from_signed && to_signed && to_bits < from_bits)
      x = bin(c, IR_SMAX, x, builtin_integer(c, x->type, ~largest(to_bits, true)));
  }
  if (to_bits == from_bits) return x;
  return ir_conv(c->b, to_bits < from_bits ? IR_TRUNC : from_signed ? IR_SEXT : IR_ZEXT, x, to);
}

/* ---- Emission -------------------------------------------------------------------------------------- */

static ir_inst *reinterpret(const builtin_call *c) {
  ir_module *m = c->f->m;
  ir_inst *x = c->args[0];
  const ir_type *to = builtin_result(c);
  static const int32_t mask[] = {0, 1, 2, -1};
  uint32_t from_lanes = ir_lanes_of(x->type), to_lanes = ir_lanes_of(to);
  if ((from_lanes == 3) != (to_lanes == 3)) x = ir_shuffle(c->b, x, x, mask, to_lanes);
  (void)m;
  return ir_conv(c->b, IR_BITCAST, x, to);
}

ir_inst *builtin_emit_conversion(const builtin_call *c) {
  const front_builtin *builtin = c->choice->builtin;
  if (builtin->is_reinterpretation) return reinterpret(c);
  const front_type *from = front_elem(c->choice->from), *to = front_elem(builtin->type);
  const ir_type *type = builtin_result(c);
  ir_inst *x = c->args[0];
  if (from->kind == FRONT_FLOAT)
    return to->kind == FRONT_FLOAT ? float_to_float(c, x, type, builtin->rounding)
                                   : float_to_integer(c, x, type, to->is_signed);
  return to->kind == FRONT_FLOAT ? integer_to_float(c, x, from->is_signed, type, builtin->rounding)
                                 : integer_to_integer(c, x, from->is_signed, type, to->is_signed);
}
