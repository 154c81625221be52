#include "compiler/front/emit.h"

ir_inst *front_emit_nonzero(front *f, ir_inst *value, const front_type *type) {
  if (type->kind == FRONT_BOOL) return value;
  bool is_float = front_is_floating(type);
  return ir_bin(&f->b, is_float ? IR_FNE : IR_NE, value, ir_zero(f->m, value->type));
}

ir_inst *front_emit_index(front *f, ir_inst *value, const front_type *type) {
  return front_emit_conversion(f, value, type, front_ptrdiff_type(f));
}

static ir_inst *resize_integer(front *f, ir_inst *value, const front_type *from, const ir_type *to, uint32_t to_bits) {
  if (from->kind == FRONT_BOOL) return ir_conv(&f->b, IR_ZEXT, value, to);
  if (from->bits == to_bits) return value;
  return ir_conv(&f->b, from->bits > to_bits ? IR_TRUNC : from->is_signed ? IR_SEXT : IR_ZEXT, value, to);
}

static ir_inst *to_float(front *f, ir_inst *value, const front_type *from, const front_type *to) {
  const ir_type *type = front_ir(f, to);
  if (from->kind == FRONT_FLOAT) {
    if (from->bits == to->bits) return value;
    return ir_conv(&f->b, from->bits > to->bits ? IR_FNARROW : IR_FWIDEN, value, type);
  }
  bool is_signed = from->kind == FRONT_INT && from->is_signed;
  return ir_conv(&f->b, is_signed ? IR_STOF : IR_UTOF, value, type);
}

static ir_inst *to_integer(front *f, ir_inst *value, const front_type *from, const front_type *to) {
  const ir_type *type = front_ir(f, to);
  if (from->kind == FRONT_FLOAT) return ir_conv(&f->b, to->is_signed ? IR_FTOS : IR_FTOU, value, type);
  if (from->kind == FRONT_POINTER) return ir_conv(&f->b, IR_PTOI, value, type);
  return resize_integer(f, value, from, type, to->bits);
}

static ir_inst *to_pointer(front *f, ir_inst *value, const front_type *from, const front_type *to) {
  const ir_type *type = front_ir(f, to);
  if (from->kind == FRONT_POINTER) {
    if (value->type == type) return value;
    if (value->op == IR_ZERO) return ir_zero(f->m, type);
    return ir_conv(&f->b, IR_PCAST, value, type);
  }
  if (value->op == IR_CONST && value->imm == 0) return ir_zero(f->m, type);
  return ir_conv(&f->b, IR_ITOP, value, type);
}

/* A bool in a vector of integers is all ones (OpenCL C 1.2, 6.2.2). */
static ir_inst *to_vector(front *f, ir_inst *value, const front_type *from, const front_type *to) {
  const front_type *elem = to->elem;
  ir_inst *scalar = from->kind == FRONT_BOOL && elem->kind == FRONT_INT
                        ? ir_conv(&f->b, IR_SEXT, value, front_ir(f, elem))
                        : front_emit_conversion(f, value, from, elem);
  const ir_type *type = front_ir(f, to);
  return ir_is_const(scalar) ? ir_const_splat(f->m, type, scalar) : ir_splat(&f->b, type, scalar);
}

ir_inst *front_emit_conversion(front *f, ir_inst *value, const front_type *from, const front_type *to) {
  from = from->plain;
  to = to->plain;
  if (from == to) return value;
  switch (to->kind) {
    case FRONT_BOOL:
      return front_emit_nonzero(f, value, from);
    case FRONT_INT:
      return to_integer(f, value, from, to);
    case FRONT_FLOAT:
      return to_float(f, value, from, to);
    case FRONT_POINTER:
      return to_pointer(f, value, from, to);
    case FRONT_VECTOR:
      if (from->kind != FRONT_VECTOR) return to_vector(f, value, from, to);
      return resize_integer(f, value, from->elem, front_ir(f, to), to->elem->bits); /* amounts of shifts */
    default:
      return value;
  }
}
