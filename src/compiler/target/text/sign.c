#include "compiler/target/text/sign.h"

/* Union-find. Votes of a class are at its root: above zero is signed. A fixed sign outvotes them, and two classes of
 * different fixed signs stay apart. */
typedef struct text_sign {
  uint32_t parent;
  int32_t vote;
  int8_t fixed; /* 1 signed, -1 unsigned, 0 neither */
} text_sign;

#define NONE UINT32_MAX
enum { STRONG = 4 };

const ir_type *text_core(const ir_type *type) {
  while (type->kind == IR_POINTER || type->kind == IR_ARRAY || type->kind == IR_VECTOR) type = type->elem;
  return type;
}

static bool has_sign(const ir_type *type) { return text_core(type)->kind == IR_INT; }

/* The way there gets shorter. */
static uint32_t find_root(text_signs *s, uint32_t at) {
  while (s->classes[at].parent != at) {
    uint32_t up = s->classes[at].parent;
    s->classes[at].parent = s->classes[up].parent;
    at = up;
  }
  return at;
}

static void unite(text_signs *s, uint32_t a, uint32_t b) {
  if (a == NONE || b == NONE) return;
  a = find_root(s, a);
  b = find_root(s, b);
  text_sign *x = &s->classes[a], *y = &s->classes[b];
  if (a == b || (x->fixed && y->fixed && x->fixed != y->fixed)) return;
  y->parent = a;
  x->vote += y->vote;
  if (!x->fixed) x->fixed = y->fixed;
}

static void vote(text_signs *s, uint32_t at, int32_t weight) {
  if (at != NONE) s->classes[find_root(s, at)].vote += weight;
}

/* ---- Numbers of things ---- */

static uint32_t value_number(const ir_inst *x) {
  if (!has_sign(x->type)) return NONE;
  if (x->op == IR_ADDRESS) return x->u.var->id;
  return x->parent || x->op == IR_PARAM ? x->id : NONE; /* constants take any sign */
}

static uint32_t field_number(const text_signs *s, const ir_type *type, uint32_t field) {
  return has_sign(type->fields[field].type) ? s->unit->fields[type->id] + field : NONE;
}

static uint32_t result_number(const ir_function *f) { return has_sign(f->result) ? text_function_of(f)->result : NONE; }

/* ---- What instructions say ---- */

static void vote_operands(text_signs *s, const ir_inst *inst, int32_t weight) {
  for (uint32_t i = 0; i < inst->arg_count; i++) vote(s, value_number(inst->args[i]), weight);
}

static void unite_operands(text_signs *s, const ir_inst *inst, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to && i < inst->arg_count; i++) unite(s, value_number(inst), value_number(inst->args[i]));
}

/* The sign that an operation's result surely had in the source. Sums without "no signed wrap" are unsigned where C
 * computes in that width. */
static int8_t sign_made(const ir_inst *inst) {
  static const int8_t signs[IR_OP_COUNT] = {
      [IR_SDIV] = 1,  [IR_SREM] = 1,    [IR_ASHR] = 1,     [IR_SMIN] = 1,     [IR_SMAX] = 1,
      [IR_SEXT] = 1,  [IR_SMULHI] = 1,  [IR_SADDSAT] = 1,  [IR_SSUBSAT] = 1,  [IR_FTOS] = 1,
      [IR_PDIFF] = 1, [IR_UDIV] = -1,   [IR_UREM] = -1,    [IR_LSHR] = -1,    [IR_UMIN] = -1,
      [IR_UMAX] = -1, [IR_UMULHI] = -1, [IR_UADDSAT] = -1, [IR_USUBSAT] = -1, [IR_FTOU] = -1};
  if (text_is_query(inst->op)) return -1;
  if (inst->op != IR_ADD && inst->op != IR_SUB && inst->op != IR_MUL) return signs[inst->op];
  if (inst->flags & IR_NSW) return 1;
  return inst->type->kind == IR_INT && inst->type->bits >= 32 ? -1 : 0;
}

/* Classes that an operation keeps together, and how it votes on operands (bit 0 of `joins`: the first, ...). */
typedef struct op_rule {
  int8_t operands, result; /* votes */
  uint8_t joins;           /* operands of one class with the result */
} op_rule;

enum { A = 1, B = 2, C = 4, ALL = 7 };
static const op_rule rules[IR_OP_COUNT] = {
    [IR_ADD] = {0, 0, ALL},      [IR_SUB] = {0, 0, ALL},      [IR_MUL] = {0, 0, ALL},       [IR_SDIV] = {1, 0, ALL},
    [IR_SREM] = {1, 0, ALL},     [IR_UDIV] = {-1, 0, ALL},    [IR_UREM] = {-1, 0, ALL},     [IR_AND] = {0, 0, ALL},
    [IR_OR] = {0, 0, ALL},       [IR_XOR] = {0, 0, ALL},      [IR_NOT] = {0, 0, A},         [IR_SHL] = {0, 0, A},
    [IR_LSHR] = {0, -1, A},      [IR_ASHR] = {0, 1, A},       [IR_ROTL] = {0, 0, A},        [IR_SMIN] = {1, 0, ALL},
    [IR_SMAX] = {1, 0, ALL},     [IR_UMIN] = {-1, 0, ALL},    [IR_UMAX] = {-1, 0, ALL},     [IR_SMULHI] = {1, 0, ALL},
    [IR_UMULHI] = {-1, 0, ALL},  [IR_SADDSAT] = {1, 0, ALL},  [IR_UADDSAT] = {-1, 0, ALL},  [IR_SSUBSAT] = {1, 0, ALL},
    [IR_USUBSAT] = {-1, 0, ALL}, [IR_CLZ] = {0, 0, A},        [IR_CTZ] = {0, 0, A},         [IR_POPCOUNT] = {0, 0, A},
    [IR_SLT] = {1, 0, 0},        [IR_SLE] = {1, 0, 0},        [IR_ULT] = {-1, 0, 0},        [IR_ULE] = {-1, 0, 0},
    [IR_SEXT] = {1, 1, 0},       [IR_ZEXT] = {-1, 0, 0},      [IR_STOF] = {1, 0, 0},        [IR_UTOF] = {-1, 0, 0},
    [IR_FTOS] = {0, 1, 0},       [IR_FTOU] = {0, -1, 0},      [IR_SELECT] = {0, 0, B | C},  [IR_SPLAT] = {0, 0, A},
    [IR_EXTRACT] = {0, 0, A},    [IR_INSERT] = {0, 0, A | B}, [IR_SHUFFLE] = {0, 0, A | B}, [IR_ELEM] = {0, 0, A},
    [IR_INDEX] = {0, 0, A},      [IR_PDIFF] = {0, 1, 0},      [IR_LOAD] = {0, 0, A},        [IR_VLOAD] = {0, 0, A},
};

static void apply_rule(text_signs *s, const ir_inst *inst) {
  const op_rule *rule = &rules[inst->op];
  for (uint32_t i = 0; i < 3; i++)
    if (rule->joins >> i & 1) unite_operands(s, inst, i, i + 1);
  if (rule->operands) vote_operands(s, inst, rule->operands);
  if (rule->result) vote(s, value_number(inst), rule->result);
}

static void meet_atomic(text_signs *s, const ir_inst *inst) {
  static const int8_t weights[IR_RMW_COUNT] = {
      [IR_RMW_SMIN] = STRONG, [IR_RMW_SMAX] = STRONG, [IR_RMW_UMIN] = -STRONG, [IR_RMW_UMAX] = -STRONG};
  for (uint32_t i = 1; i < inst->arg_count; i++) unite(s, value_number(inst->args[0]), value_number(inst->args[i]));
  if (inst->type->kind != IR_VOID) unite(s, value_number(inst->args[0]), value_number(inst));
  vote(s, value_number(inst->args[0]), weights[inst->u.atomic.rmw]);
}

static void meet_call(text_signs *s, const ir_inst *inst) {
  const ir_function *callee = inst->u.callee;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    unite(s, value_number(callee->params[i].value), value_number(inst->args[i]));
  if (inst->type->kind != IR_VOID) unite(s, result_number(callee), value_number(inst));
}

static void meet(text_signs *s, const ir_function *f, const ir_inst *inst) {
  switch (inst->op) {
    case IR_EQ:
    case IR_NE:
    case IR_STORE:
    case IR_VSTORE:
    case IR_COPY:
      unite(s, value_number(inst->args[0]), value_number(inst->args[1]));
      return;
    case IR_VEC:
      unite_operands(s, inst, 0, inst->arg_count);
      return;
    case IR_FIELD:
      unite(s, value_number(inst), field_number(s, inst->args[0]->type->elem, (uint32_t)inst->imm));
      return;
    case IR_ATOMIC:
      meet_atomic(s, inst);
      return;
    case IR_CALL:
      meet_call(s, inst);
      return;
    case IR_RETURN:
      if (inst->arg_count) unite(s, result_number(f), value_number(inst->args[0]));
      return;
    default:
      break;
  }
  apply_rule(s, inst);
}

/* ---- All ---- */

static void fix_parameters(text_signs *s, const ir_function *f) {
  for (uint32_t i = 0; f->is_kernel && i < f->param_count; i++) {
    uint32_t at = value_number(f->params[i].value), type = f->params[i].element_type;
    if (at == NONE || type < QN_TYPE_I8 || type > QN_TYPE_U64) continue;
    s->classes[at].fixed = (type - QN_TYPE_I8) % 2 ? -1 : 1;
  }
}

static void fix_result(text_signs *s, const ir_inst *inst) {
  uint32_t at = value_number(inst);
  if (at != NONE) s->classes[at].fixed = sign_made(inst);
}

bool text_signs_find(text_signs *signs, const text_unit *unit) {
  *signs = (text_signs){unit, QN_ARENA_ARRAY(unit->m->arena, text_sign, unit->count + 1)};
  if (!signs->classes) return false;
  for (uint32_t i = 0; i < unit->count; i++) signs->classes[i].parent = i;
  for (uint32_t i = 0; i < unit->function_count; i++) {
    const text_function *t = &unit->functions[i];
    fix_parameters(signs, t->f);
    for (uint32_t k = 0; k < text_inst_count(t); k++) fix_result(signs, t->insts[k]);
  }
  for (uint32_t i = 0; i < unit->function_count; i++) {
    const text_function *t = &unit->functions[i];
    for (uint32_t k = 0; k < text_inst_count(t); k++) meet(signs, t->f, t->insts[k]);
  }
  for (uint32_t i = 0; i < unit->count; i++) signs->classes[i].parent = find_root(signs, i);
  return true;
}

static bool is_signed(const text_signs *s, uint32_t at) {
  if (at == NONE) return true;
  const text_sign *c = &s->classes[s->classes[at].parent];
  return c->fixed ? c->fixed > 0 : c->vote >= 0;
}

bool text_is_signed(const text_signs *s, const ir_inst *value) { return is_signed(s, value_number(value)); }

bool text_var_is_signed(const text_signs *s, const ir_var *var) {
  return is_signed(s, has_sign(var->type) ? var->id : NONE);
}

bool text_field_is_signed(const text_signs *s, const ir_type *type, uint32_t field) {
  return is_signed(s, field_number(s, type, field));
}

bool text_result_is_signed(const text_signs *s, const ir_function *f) { return is_signed(s, result_number(f)); }
