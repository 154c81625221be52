#include "compiler/pass/positive.h"

/* `aux` of an instruction, and of a variable: not NULL when it can't be negative, `small` when it is below 2^31 as well, which in 64
 * bits is more. Variables are taken for such until a store
 * shows otherwise; values are looked at again then, in the order of the text, in which they stand before their uses. */

enum { ROUNDS = 16 /* after which variables that may still change count as negative */ };

static char yes, small;

static bool is_int(const ir_type *type) { return type->kind == IR_INT; }

static bool is_private(const ir_inst *x) { return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE; }

bool is_positive(const ir_inst *x) {
  if (!is_int(x->type)) return false;
  if (x->parent) return x->aux != NULL;
  return x->op == IR_CONST && !(x->imm >> (x->type->bits - 1) & 1);
}

bool is_positive_var(const ir_var *var) { return var->aux != NULL; }

/* ---- Values ---- */

static bool is_small(const ir_inst *x) {
  if (!is_int(x->type) || !is_positive(x)) return false;
  if (x->type->bits <= 32) return true;
  return x->parent ? x->aux == &small : x->imm <= INT32_MAX;
}

static bool are_both(bool (*is)(const ir_inst *x), const ir_inst *x, uint32_t first) {
  return is(x->args[first]) && is(x->args[first + 1]);
}
static bool is_either(bool (*is)(const ir_inst *x), const ir_inst *x) { return is(x->args[0]) || is(x->args[1]); }

static bool is_real_shift(const ir_inst *x) {
  return x->args[1]->op == IR_CONST && x->args[1]->imm % x->type->bits != 0;
}

/* Of those whose result is one of the operands, or lies below them. */
static bool holds(bool (*is)(const ir_inst *x), const ir_inst *x) {
  switch (x->op) {
    case IR_SEXT:
    case IR_ASHR:
    case IR_LSHR:
    case IR_UDIV:
    case IR_SREM:
    case IR_UREM:
      return is(x->args[0]);
    case IR_SDIV:
    case IR_OR:
    case IR_XOR:
    case IR_SMIN:
    case IR_UMAX:
      return are_both(is, x, 0);
    case IR_AND:
    case IR_UMIN:
      return is_either(is, x);
    case IR_SELECT:
      return are_both(is, x, 1);
    default:
      return false;
  }
}

/* Sizes of a group, and places in it, are far below 2^31. */
static bool is_tiny(ir_op op) {
  return op == IR_LOCAL_ID || op == IR_LOCAL_SIZE || op == IR_ENQUEUED_SIZE || op == IR_CLZ || op == IR_CTZ ||
         op == IR_POPCOUNT;
}

static void *judge(const ir_inst *x) {
  if (!is_int(x->type)) return NULL;
  if (is_tiny(x->op) || holds(is_small, x)) return &small;
  if (holds(is_positive, x)) return &yes;
  switch (x->op) {
    case IR_ZEXT:
      return x->args[0]->type->kind == IR_BOOL || x->args[0]->type->bits < 32 || is_small(x->args[0]) ? &small : &yes;
    case IR_TRUNC:
      return x->type->bits == 32 && is_small(x->args[0]) ? &small : NULL;
    case IR_LSHR:
      return is_real_shift(x) ? &yes : NULL;
    case IR_ADD:
    case IR_MUL:
      return (x->flags & IR_NSW) && are_both(is_positive, x, 0) ? &yes : NULL;
    case IR_SMAX:
      return is_either(is_positive, x) ? &yes : NULL;
    case IR_LOAD:
      return is_private(x->args[0]) ? x->args[0]->u.var->aux : NULL;
    default:
      return NULL;
  }
}

static bool note_value(void *user, ir_inst *inst) {
  bool *changed = user;
  inst->aux = judge(inst);
  if (inst->op != IR_STORE || !is_private(inst->args[0])) return true;
  ir_var *var = inst->args[0]->u.var;
  if (var->aux && !is_positive(inst->args[1])) {
    var->aux = NULL;
    *changed = true;
  }
  return true;
}

/* ---- Variables ---- */

/* What is written in another way than by stores of the whole is not known. */
static bool note_use(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    bool is_direct =
        i == 0 && !(inst->flags & IR_VOLATILE) && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
    if (is_private(inst->args[i]) && !is_direct) inst->args[i]->u.var->aux = NULL;
  }
  return true;
}

void positive_find(ir_function *f) {
  for (ir_var *v = f->vars; v; v = v->next) v->aux = is_int(v->type) && v->storage == IR_STORE_PLAIN ? &yes : NULL;
  (void)ir_walk(f->body, note_use, NULL);
  bool changed = true;
  for (int round = 0; changed; round++) {
    if (round == ROUNDS)
      for (ir_var *v = f->vars; v; v = v->next) v->aux = NULL;
    changed = false;
    (void)ir_walk(f->body, note_value, &changed);
  }
}
