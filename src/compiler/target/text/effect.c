#include "compiler/target/text/effect.h"

enum { SPACE_PRIVATE = 1, SPACE_LOCAL = 2, SPACE_GLOBAL = 4, SPACE_ALL = 7 };

static bool is_private_var(const ir_inst *x) { return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE; }

static const ir_var *root_of(const text_effects *e, const ir_inst *pointer) {
  if (is_private_var(pointer)) return pointer->u.var;
  return pointer->parent && text_is_step(pointer->op) ? e->roots[pointer->id - e->function->first_inst] : NULL;
}

static text_var_writes *facts_of(const text_effects *e, const ir_var *var) {
  return &e->vars[var->id - e->function->first];
}

/* ---- What variables are used for ---- */

static bool is_path(const ir_inst *inst, uint32_t operand) {
  switch (inst->op) {
    case IR_ELEM:
    case IR_INDEX:
    case IR_FIELD:
    case IR_PCAST:
    case IR_LOAD:
    case IR_VLOAD:
    case IR_STORE:
    case IR_VSTORE:
    case IR_FRESH:
      return operand == 0;
    case IR_COPY:
      return true;
    default:
      return false;
  }
}

static bool is_plain_use(const ir_inst *inst, uint32_t operand) {
  bool whole = inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH;
  return whole && operand == 0 && is_private_var(inst->args[0]) && !(inst->flags & IR_VOLATILE);
}

static void note_uses(text_effects *e, const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_var *var = root_of(e, inst->args[i]);
    if (!var) continue;
    facts_of(e, var)->escapes |= !is_path(inst, i);
    facts_of(e, var)->is_plain &= is_plain_use(inst, i);
  }
  if (text_is_step(inst->op)) e->roots[inst->id - e->function->first_inst] = root_of(e, inst->args[0]);
}

static void find_roots(text_effects *e) {
  const text_function *t = e->function;
  for (const ir_var *v = t->f->vars; v; v = v->next)
    facts_of(e, v)->is_plain = ir_is_scalar(v->type) || v->type->kind == IR_VECTOR || v->type->kind == IR_POINTER;
  for (uint32_t i = 0; i < text_inst_count(t); i++) note_uses(e, t->insts[i]);
}

/* ---- Writes ---- */

static uint32_t space_bit(ir_space space) {
  static const uint8_t bits[] = {[IR_PRIVATE] = SPACE_PRIVATE,
                                 [IR_GLOBAL] = SPACE_GLOBAL,
                                 [IR_CONSTANT] = 0,
                                 [IR_LOCAL] = SPACE_LOCAL,
                                 [IR_GENERIC] = SPACE_ALL};
  return bits[space];
}

/* What an instruction writes: a variable of its own, or spaces. */
static uint32_t written_by(const text_effects *e, const ir_inst *inst, const ir_var **out_var) {
  *out_var = NULL;
  switch (inst->op) {
    case IR_STORE:
    case IR_VSTORE:
    case IR_COPY:
    case IR_FRESH:
      *out_var = text_own_var(e, inst->args[0]);
      return *out_var ? 0 : space_bit(inst->args[0]->type->space);
    case IR_ATOMIC:
      return space_bit(inst->args[0]->type->space) | SPACE_LOCAL | SPACE_GLOBAL;
    case IR_CALL:
      return text_function_of(inst->u.callee)->is_pure ? 0 : SPACE_ALL;
    case IR_BARRIER:
    case IR_FENCE:
      return SPACE_LOCAL | SPACE_GLOBAL;
    default:
      return 0;
  }
}

static void count_writes(text_effects *e) {
  const text_function *t = e->function;
  uint32_t now[3] = {0, 0, 0};
  for (uint32_t i = 0; i < text_inst_count(t); i++) {
    const ir_var *var;
    uint32_t spaces = written_by(e, t->insts[i], &var);
    for (int s = 0; s < 3; s++) {
      e->counts[s][i] = now[s];
      now[s] += spaces >> s & 1;
    }
    if (var) facts_of(e, var)->count++;
  }
  for (int s = 0; s < 3; s++) e->counts[s][text_inst_count(t)] = now[s];
}

static bool list_writes(text_effects *e) {
  const text_function *t = e->function;
  uint32_t total = 0;
  for (const ir_var *v = t->f->vars; v; v = v->next) {
    text_var_writes *facts = facts_of(e, v);
    facts->first = total;
    total += facts->count;
    facts->count = 0;
  }
  e->positions = QN_ARENA_ARRAY(t->f->module->arena, uint32_t, total + 1);
  if (!e->positions) return false;
  for (uint32_t i = 0; i < text_inst_count(t); i++) {
    const ir_var *var;
    (void)written_by(e, t->insts[i], &var);
    if (!var) continue;
    text_var_writes *facts = facts_of(e, var);
    e->positions[facts->first + facts->count++] = t->insts[i]->id;
  }
  return true;
}

bool text_effects_find(text_effects *e, const text_function *t) {
  qn_arena *arena = t->f->module->arena;
  *e = (text_effects){.function = t};
  e->roots = QN_ARENA_ARRAY(arena, const ir_var *, text_inst_count(t) + 1);
  e->vars = QN_ARENA_ARRAY(arena, text_var_writes, t->first_inst - t->first + 1);
  for (int s = 0; s < 3; s++) {
    e->counts[s] = QN_ARENA_ARRAY(arena, uint32_t, text_inst_count(t) + 1);
    if (!e->counts[s]) return false;
  }
  if (!e->roots || !e->vars) return false;
  find_roots(e);
  count_writes(e);
  return list_writes(e);
}

/* ---- Questions ---- */

const text_var_writes *text_var_facts(const text_effects *e, const ir_var *var) { return facts_of(e, var); }

const ir_var *text_own_var(const text_effects *e, const ir_inst *pointer) {
  const ir_var *var = root_of(e, pointer);
  return var && !facts_of(e, var)->escapes ? var : NULL;
}

/* A position in (from, to)? They rise. */
static bool var_written(const text_effects *e, const text_var_writes *facts, uint32_t from, uint32_t to) {
  uint32_t low = 0, high = facts->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (e->positions[facts->first + middle] > from)
      high = middle;
    else
      low = middle + 1;
  }
  return low < facts->count && e->positions[facts->first + low] < to;
}

bool text_is_written(const text_effects *e, const ir_inst *pointer, uint32_t from, uint32_t to) {
  const ir_var *var = text_own_var(e, pointer);
  if (var) return var_written(e, facts_of(e, var), from, to);
  uint32_t spaces = space_bit(pointer->type->space), first = e->function->first_inst;
  if (to <= from + 1) return false;
  for (int s = 0; s < 3; s++)
    if (spaces >> s & 1 && e->counts[s][to - first] != e->counts[s][from + 1 - first]) return true;
  return false;
}
