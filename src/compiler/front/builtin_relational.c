/* builtin_relational.c - relational functions (6.12.6). Truth is 1 in a scalar, all bits in a lane. */
#include "compiler/front/builtin_table.h"

static ir_inst *bin(const builtin_call *c, ir_op op, ir_inst *x, ir_inst *y) { return ir_bin(c->b, op, x, y); }

static ir_inst *truth(const builtin_call *c, ir_inst *condition) {
  const ir_type *type = builtin_result(c);
  return ir_conv(c->b, type->kind == IR_VECTOR ? IR_SEXT : IR_ZEXT, condition, type);
}

static ir_inst *is_nan(const builtin_call *c, ir_inst *bits);

ir_inst *builtin_emit_compare(const builtin_call *c) {
  ir_inst *x = c->args[0], *y = c->args[1];
  switch (c->row->ops[0]) {
    case COMPARE_EQUAL:
      return truth(c, bin(c, IR_FEQ, x, y));
    case COMPARE_NOT_EQUAL:
      return truth(c, bin(c, IR_FNE, x, y));
    case COMPARE_GREATER:
      return truth(c, bin(c, IR_FLT, y, x));
    case COMPARE_GREATER_EQUAL:
      return truth(c, bin(c, IR_FLE, y, x));
    case COMPARE_LESS:
      return truth(c, bin(c, IR_FLT, x, y));
    case COMPARE_LESS_EQUAL:
      return truth(c, bin(c, IR_FLE, x, y));
    case COMPARE_LESS_GREATER:
      return truth(c, bin(c, IR_OR, bin(c, IR_FLT, x, y), bin(c, IR_FLT, y, x)));
    default:
      break;
  }
  const ir_type *bits = builtin_bits_type(c, x->type);
  ir_inst *either =
      bin(c, IR_OR, is_nan(c, ir_conv(c->b, IR_BITCAST, x, bits)), is_nan(c, ir_conv(c->b, IR_BITCAST, y, bits)));
  return truth(c, c->row->ops[0] == COMPARE_UNORDERED ? either : ir_un(c->b, IR_NOT, either));
}

/* ---- Classes: on bits, so that they say the truth under fast math too ------------------------------ */

static ir_inst *infinity_bits(const builtin_call *c, const ir_type *type) {
  return builtin_integer(c, type, ir_elem_of(type)->bits == 32 ? 0x7f800000u : 0x7ff0000000000000u);
}

static ir_inst *size_bits(const builtin_call *c, ir_inst *bits) {
  uint64_t mask = UINT64_MAX >> (64 - ir_elem_of(bits->type)->bits + 1);
  return bin(c, IR_AND, bits, builtin_integer(c, bits->type, mask));
}

static ir_inst *is_nan(const builtin_call *c, ir_inst *bits) {
  return bin(c, IR_ULT, infinity_bits(c, bits->type), size_bits(c, bits));
}

ir_inst *builtin_emit_classify(const builtin_call *c) {
  const ir_type *type = builtin_bits_type(c, c->args[0]->type);
  ir_inst *bits = ir_conv(c->b, IR_BITCAST, c->args[0], type);
  ir_inst *infinity = infinity_bits(c, type);
  switch (c->row->ops[0]) {
    case CLASS_FINITE:
      return truth(c, bin(c, IR_ULT, size_bits(c, bits), infinity));
    case CLASS_INFINITE:
      return truth(c, bin(c, IR_EQ, size_bits(c, bits), infinity));
    case CLASS_NAN:
      return truth(c, is_nan(c, bits));
    case CLASS_SIGN:
      return truth(c, bin(c, IR_SLT, bits, ir_zero(c->f->m, type)));
    default: {
      /* Normal: the exponent is neither 0 nor the largest. */
      uint64_t least = ir_elem_of(type)->bits == 32 ? 0x00800000u : 0x0010000000000000u;
      ir_inst *above = bin(c, IR_SUB, size_bits(c, bits), builtin_integer(c, type, least));
      ir_inst *range = bin(c, IR_SUB, infinity, builtin_integer(c, type, least));
      return truth(c, bin(c, IR_ULT, above, range));
    }
  }
}

/* ---- Choice -------------------------------------------------------------------------------------- */

ir_inst *builtin_emit_any_all(const builtin_call *c) {
  ir_inst *x = c->args[0];
  ir_op op = c->row->ops[0];
  bool is_vector = x->type->kind == IR_VECTOR;
  ir_inst *joined = is_vector ? ir_extract_at(c->b, x, 0) : x;
  for (uint32_t i = 1; is_vector && i < x->type->count; i++) joined = bin(c, op, joined, ir_extract_at(c->b, x, i));
  return ir_conv(c->b, IR_ZEXT, bin(c, IR_SLT, joined, ir_zero(c->f->m, joined->type)), builtin_result(c));
}

ir_inst *builtin_emit_bitselect(const builtin_call *c) {
  ir_builder *b = c->b;
  const ir_type *type = c->args[0]->type, *bits = builtin_bits_type(c, type);
  ir_inst *x[3];
  for (uint32_t i = 0; i < 3; i++) x[i] = ir_conv(b, IR_BITCAST, c->args[i], bits);
  ir_inst *differing = bin(c, IR_AND, bin(c, IR_XOR, x[0], x[1]), x[2]);
  return ir_conv(b, IR_BITCAST, bin(c, IR_XOR, x[0], differing), type);
}

/* Lanes by the sign bit, a scalar by being zero or not. */
ir_inst *builtin_emit_select(const builtin_call *c) {
  ir_inst *by = c->args[2], *zero = ir_zero(c->f->m, by->type);
  ir_inst *second = bin(c, by->type->kind == IR_VECTOR ? IR_SLT : IR_NE, by, zero);
  return ir_select(c->b, second, c->args[1], c->args[0]);
}
