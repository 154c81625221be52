#include "compiler/target/text/scope.h"

typedef struct finder {
  text_scopes *scopes;
  uint32_t *depths; /* by number of an instruction: how many hold it */
} finder;

static uint32_t first_of(const finder *d) { return d->scopes->plan->function->first_inst; }
static uint32_t depth_of(const finder *d, const ir_inst *inst) { return d->depths[inst->id - first_of(d)]; }

static void find_depths(const finder *d, const ir_block *block, uint32_t depth) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    d->depths[inst->id - first_of(d)] = depth;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) find_depths(d, inst->u.ctrl.blocks[i], depth + 1);
  }
}

static const ir_inst *up_to(const finder *d, const ir_inst *inst, uint32_t depth) {
  while (depth_of(d, inst) > depth) inst = inst->parent->owner;
  return inst;
}

/* Both to instructions of the innermost block that has both in it. */
static void meet(const finder *d, const ir_inst **a, const ir_inst **b) {
  uint32_t depth_a = depth_of(d, *a), depth_b = depth_of(d, *b);
  *a = up_to(d, *a, depth_b < depth_a ? depth_b : depth_a);
  *b = up_to(d, *b, depth_a < depth_b ? depth_a : depth_b);
  while ((*a)->parent != (*b)->parent) {
    *a = (*a)->parent->owner;
    *b = (*b)->parent->owner;
  }
}

/* In the order of the text, so `before` stays the first. */
static void note_use(const finder *d, const ir_inst *inst, const ir_var *var) {
  text_scope *scope = text_scope_of(d->scopes, var);
  if (!scope->before) scope->before = scope->last = inst;
  const ir_inst *first = scope->before, *last = inst;
  meet(d, &first, &last);
  scope->before = first;
  scope->last = last;
}

static void note_uses(const finder *d, const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *x = inst->args[i];
    const ir_var *stored = text_stored_in(d->scopes->plan, x);
    if (x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE) note_use(d, inst, x->u.var);
    if (stored) note_use(d, inst, stored);
  }
}

static bool stores_whole(const ir_inst *inst, const ir_var *var) {
  bool writes = inst->op == IR_STORE || (inst->op == IR_COPY && var->type->kind == IR_STRUCT);
  return writes && inst->args[0]->op == IR_ADDRESS && inst->args[0]->u.var == var && !(inst->flags & IR_VOLATILE);
}

/* What it holds may come from an earlier time around: then it is declared outside of all loops. */
static void leave_loops(text_scope *scope) {
  bool begins = stores_whole(scope->before, scope->var) ||
                (scope->before->op == IR_FRESH && scope->before->args[0]->u.var == scope->var);
  if (begins) return;
  const ir_inst *outside = NULL;
  for (const ir_inst *owner = scope->before->parent->owner; owner; owner = owner->parent->owner)
    if (owner->op == IR_LOOP) outside = owner;
  if (outside) scope->before = scope->last = outside;
}

static bool mentions(const text_plan *plan, const ir_inst *x, const ir_var *var);

static bool operands_mention(const text_plan *plan, const ir_inst *x, const ir_var *var) {
  for (uint32_t i = 0; i < x->arg_count; i++)
    if (mentions(plan, x->args[i], var)) return true;
  return false;
}

/* Whether the text of a value names the variable. */
static bool mentions(const text_plan *plan, const ir_inst *x, const ir_var *var) {
  if (x->op == IR_ADDRESS) return x->u.var == var;
  if (text_stored_in(plan, x) == var) return true;
  return text_is_inline(plan, x) && operands_mention(plan, x, var);
}

/* `int i = i` would be another thing. */
static bool stores_itself(const text_plan *plan, const ir_inst *store, const ir_var *var) {
  if (store->op == IR_STORE && text_is_inline_in(plan, store)) return operands_mention(plan, store->args[1], var);
  return mentions(plan, store->args[1], var);
}

static void place(const finder *d, text_scope *scope) {
  if (!scope->before) return;
  leave_loops(scope);
  scope->by_store =
      stores_whole(scope->before, scope->var) && !stores_itself(d->scopes->plan, scope->before, scope->var);
  text_scope **at = &d->scopes->starting[scope->before->id - first_of(d)];
  scope->next = *at;
  *at = scope;
}

bool text_scopes_find(text_scopes *scopes, const text_plan *plan) {
  const text_function *t = plan->function;
  qn_arena *arena = t->f->module->arena;
  uint32_t insts = text_inst_count(t);
  finder d = {.scopes = scopes, .depths = QN_ARENA_ARRAY(arena, uint32_t, insts + 1)};
  *scopes = (text_scopes){.plan = plan,
                          .scopes = QN_ARENA_ARRAY(arena, text_scope, t->first_inst - t->first + 1),
                          .starting = QN_ARENA_ARRAY(arena, text_scope *, insts + 1)};
  if (!d.depths || !scopes->scopes || !scopes->starting) return false;
  find_depths(&d, t->f->body, 0);
  for (uint32_t i = 0; i < insts; i++)
    if (text_planned_of(plan, t->insts[i])->how != TEXT_DEAD) note_uses(&d, t->insts[i]);
  for (ir_var *v = t->f->vars; v; v = v->next) {
    text_scope *scope = text_scope_of(scopes, v);
    scope->var = v;
    place(&d, scope);
  }
  return true;
}
