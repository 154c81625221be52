/* convert.c - conversions: casts of scalars, convert_ of vectors, as_ of bits. */
#include "compiler/target/opencl_c/op.h"

static bool is_vector(const ir_type *type) { return type->kind == IR_VECTOR; }
static bool is_bool(const ir_type *type) { return ir_elem_of(type)->kind == IR_BOOL; }

/* (T)x, or convert_T(x). */
static shape put_converted(emitter *e, const ir_inst *inst, bool to_signed, want w) {
  const char *name = number_name(e, inst->type, to_signed);
  bool is_call = is_vector(inst->type);
  w.exact = is_call;
  w.outer = is_call ? TEXT_ANY : TEXT_UNARY;
  putf(e, is_call ? "convert_%s(" : "(%s)", name);
  put_operand(e, inst->args[0], w);
  if (is_call) put(e, ")");
  return (shape){is_call ? TEXT_POSTFIX : TEXT_UNARY, to_signed, true, 0};
}

/* ---- Bools: 0 or 1, lanes 0 or -1 ---- */

/* Lanes of 0 and 1, as wide as those of `type`. */
static shape put_ones(emitter *e, const ir_inst *lanes, uint32_t bits) {
  put_operand(e, lanes, (want){.outer = TEXT_AND, .mask = (uint8_t)bits});
  const char *name = mask_name(e, lanes->type->count, bits);
  putf(e, " & (%s)(1)", name);
  return (shape){TEXT_AND, true, true, 0};
}

static shape put_lanes_as_integers(emitter *e, const ir_inst *inst) {
  uint32_t bits = inst->type->elem->bits;
  if (inst->op == IR_ZEXT) return put_ones(e, inst->args[0], bits);
  shape s = put_operand(e, inst->args[0], (want){.mask = (uint8_t)bits});
  s.mask = 0;
  return s;
}

static shape put_bool_as_integer(emitter *e, const ir_inst *inst) {
  const ir_inst *x = inst->args[0];
  if (inst->op == IR_SEXT) {
    put_operand(e, x, (want){.outer = TEXT_CHOICE});
    put(e, inst->type->bits == 64 ? " ? -1L : 0L" : " ? -1 : 0");
    return (shape){TEXT_CHOICE, true, inst->type->bits >= 32, 0};
  }
  if (inst->type->bits == 32 && text_is_inline(&e->plan, x) && ir_op_table[x->op].cls == IR_CLASS_CMP)
    return put_operand(e, x, (want){0}); /* a comparison is an int */
  return put_converted(e, inst, text_is_signed(&e->signs, inst), (want){0});
}

/* ---- Numbers ---- */

static int8_t operand_sign(ir_op op) { return op == IR_SEXT ? 1 : op == IR_ZEXT ? -1 : 0; }

shape put_integer_conversion(emitter *e, const ir_inst *inst, const op_row *row) {
  bool to_signed = text_is_signed(&e->signs, inst);
  (void)row;
  if (is_bool(inst->args[0]->type))
    return is_vector(inst->type) ? put_lanes_as_integers(e, inst) : put_bool_as_integer(e, inst);
  if (is_vector(inst->type) && inst->op == IR_SEXT) to_signed = true;
  return put_converted(e, inst, to_signed, (want){.sign = operand_sign(inst->op)});
}

bool converts_to_any_sign(const ir_inst *inst) {
  bool converts = inst->op == IR_SEXT || inst->op == IR_ZEXT || inst->op == IR_TRUNC;
  return converts && !is_vector(inst->type) && !is_bool(inst->args[0]->type);
}

shape put_signed_conversion(emitter *e, const ir_inst *inst, bool to_signed) {
  return put_converted(e, inst, to_signed, (want){.sign = operand_sign(inst->op)});
}

shape put_float_to_integer(emitter *e, const ir_inst *inst, const op_row *row) {
  const ir_inst *x = inst->args[0];
  if (!(inst->flags & IR_SAT)) return put_converted(e, inst, row->sign > 0, (want){0});
  putf(e, "%s(", saturation_name(e, x->type, inst->type, row->sign > 0));
  put_operand(e, x, (want){.exact = true});
  put(e, ")");
  return (shape){TEXT_POSTFIX, row->sign > 0, true, 0};
}

shape put_to_float(emitter *e, const ir_inst *inst, const op_row *row) {
  const ir_inst *x = inst->args[0];
  if (!is_bool(x->type) || !is_vector(x->type)) return put_converted(e, inst, true, (want){.sign = row->sign});
  putf(e, "convert_%s(", number_name(e, inst->type, true));
  put_ones(e, x, 32);
  put(e, ")");
  return (shape){TEXT_POSTFIX, true, true, 0};
}

shape put_bitcast(emitter *e, const ir_inst *inst, const op_row *row) {
  bool to_signed = text_is_signed(&e->signs, inst);
  (void)row;
  putf(e, "as_%s(", number_name(e, inst->type, to_signed));
  put_operand(e, inst->args[0], (want){.exact = true});
  put(e, ")");
  return (shape){TEXT_POSTFIX, to_signed, true, 0};
}
