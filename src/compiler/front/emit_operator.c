#include "compiler/front/emit.h"

/* The IR's operations: for signed integers, unsigned ones, floats. CONST: there is none. */
static const ir_op arithmetic_ops[][3] = {
    [OP_ADD] = {IR_ADD, IR_ADD, IR_FADD},    [OP_SUB] = {IR_SUB, IR_SUB, IR_FSUB},
    [OP_MUL] = {IR_MUL, IR_MUL, IR_FMUL},    [OP_DIV] = {IR_SDIV, IR_UDIV, IR_FDIV},
    [OP_MOD] = {IR_SREM, IR_UREM, IR_FREM},  [OP_SHL] = {IR_SHL, IR_SHL, IR_CONST},
    [OP_SHR] = {IR_ASHR, IR_LSHR, IR_CONST}, [OP_AND] = {IR_AND, IR_AND, IR_CONST},
    [OP_XOR] = {IR_XOR, IR_XOR, IR_CONST},   [OP_OR] = {IR_OR, IR_OR, IR_CONST},
};

/* C leaves the overflow of int and wider to the compiler; the arithmetic of smaller types is done in int. */
static bool may_overflow_freely(front_op op, const front_type *type) {
  return type->kind == FRONT_INT && type->is_signed && type->bits >= 32 &&
         (op == OP_ADD || op == OP_SUB || op == OP_MUL);
}

ir_inst *front_emit_arithmetic(front *f, const front_expr *e, front_op op, const front_type *type, ir_inst *x,
                               ir_inst *y) {
  const front_type *elem = front_elem(type);
  f->b.fp_flags = f->fp_flags | (e->is_contract ? (uint32_t)IR_CONTRACT : 0);
  f->b.loc = e->loc;
  int column = elem->kind == FRONT_FLOAT ? 2 : elem->is_signed ? 0 : 1;
  ir_inst *result = ir_bin(&f->b, arithmetic_ops[op][column], x, y);
  if (result->parent != NULL && result->op == arithmetic_ops[op][column] && may_overflow_freely(op, type)) {
    result->flags |= IR_NSW;
  }
  return result;
}

/* The operation and whether its operands are swapped. */
typedef struct comparison {
  ir_op ops[3]; /* signed, unsigned and pointers, floats */
  bool is_swapped;
} comparison;

static const comparison comparisons[] = {
    [OP_EQ] = {{IR_EQ, IR_EQ, IR_FEQ}, false},   [OP_NE] = {{IR_NE, IR_NE, IR_FNE}, false},
    [OP_LT] = {{IR_SLT, IR_ULT, IR_FLT}, false}, [OP_GT] = {{IR_SLT, IR_ULT, IR_FLT}, true},
    [OP_LE] = {{IR_SLE, IR_ULE, IR_FLE}, false}, [OP_GE] = {{IR_SLE, IR_ULE, IR_FLE}, true},
};

ir_inst *front_emit_compare(front *f, front_op op, const front_type *type, ir_inst *x, ir_inst *y) {
  const front_type *elem = front_elem(type);
  const comparison *c = &comparisons[op];
  f->b.fp_flags = f->fp_flags;
  int column = elem->kind == FRONT_FLOAT ? 2 : elem->kind == FRONT_INT && elem->is_signed ? 0 : 1;
  return c->is_swapped ? ir_bin(&f->b, c->ops[column], y, x) : ir_bin(&f->b, c->ops[column], x, y);
}

ir_inst *front_emit_pointer_add(front *f, front_op op, ir_inst *pointer, ir_inst *index) {
  if (f->m->failed) return pointer;
  if (op == OP_SUB) index = ir_bin(&f->b, IR_SUB, ir_zero(f->m, index->type), index);
  const ir_type *type = pointer->type;
  if (type->elem->kind != IR_VOID) return ir_elem(&f->b, pointer, index);
  /* void is counted in bytes, as compilers do. */
  ir_inst *bytes = ir_conv(&f->b, IR_PCAST, pointer, ir_pointer(f->m, type->space, ir_int(f->m, 8)));
  return ir_conv(&f->b, IR_PCAST, ir_elem(&f->b, bytes, index), type);
}
