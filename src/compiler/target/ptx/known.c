/* known.c - what is known of values without asking the machine: those that can't be negative are divided as unsigned ones, which by a
 * power of two is a shift. */
#include "compiler/target/ptx/emit.h"

enum { DEPTH = 6 /* operations that are looked through */ };

static bool is_not_negative(const ir_inst *x, int depth);

static bool are_both(const ir_inst *x, uint32_t first, int depth) {
  return is_not_negative(x->args[first], depth - 1) && is_not_negative(x->args[first + 1], depth - 1);
}

static bool is_constant(const ir_inst *x) {
  return x->op == IR_CONST && x->type->kind == IR_INT && !(x->imm >> (x->type->bits - 1));
}

/* Sizes of a group, and places in it, are far below 2^31. */
static bool is_small(const ir_inst *x) {
  return x->parent && (x->op == IR_LOCAL_ID || x->op == IR_LOCAL_SIZE || x->op == IR_ENQUEUED_SIZE);
}

static bool is_not_negative(const ir_inst *x, int depth) {
  if (is_constant(x) || is_small(x)) return true;
  if (!x->parent || x->type->kind != IR_INT || depth == 0) return false;
  switch (x->op) {
    case IR_TRUNC:
      return x->type->bits == 32 && is_small(x->args[0]);
    case IR_SEXT:
      return x->args[0]->type->kind == IR_INT && is_not_negative(x->args[0], depth - 1);
    case IR_ZEXT:
      return true;
    case IR_ADD:
    case IR_MUL:
      return (x->flags & IR_NSW) && are_both(x, 0, depth);
    case IR_SDIV:
    case IR_SREM:
    case IR_SMIN:
      return are_both(x, 0, depth);
    case IR_AND:
    case IR_SMAX:
      return is_not_negative(x->args[0], depth - 1) || is_not_negative(x->args[1], depth - 1);
    case IR_LSHR:
      return x->args[1]->op == IR_CONST && x->args[1]->imm % x->type->bits != 0;
    case IR_SELECT:
      return are_both(x, 1, depth);
    default:
      return false;
  }
}

bool ptx_is_not_negative(const ir_inst *x) { return is_not_negative(x, DEPTH); }
