/* region_plan.c - decides what runs at group level:
 *
 *   constructs that hold a barrier;
 *   constructs between a leave that all items take together and the group-level construct that it leads to;
 *   constructs that hold a store to a variable of the group.
 *
 * Variables of the group are uniform ones on which a group-level condition depends, and further ones all of whose stores
 * stand at group level anyway. Each makes more of the other, until nothing changes. */
#include "base/status.h"
#include "compiler/pass/regions.h"

ir_var *region_private_var(const ir_inst *x) {
  return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE ? x->u.var : NULL;
}

bool region_is_group_block(const region_plan *p, const ir_block *block) {
  for (; block->owner; block = block->owner->parent)
    if (!region_has(p, block->owner, REGION_GROUP)) return false;
  return true;
}

bool region_is_group_operand(const region_plan *p, const ir_inst *x) {
  if (!x->parent) return !region_private_var(x) || x->u.var->storage == IR_STORE_GROUP;
  return region_has(p, x, REGION_VALUE);
}

ir_inst *region_target(const ir_inst *leave) {
  if (leave->op == IR_RETURN) return NULL;
  ir_inst *owner = leave->parent->owner;
  while (owner->op != IR_LOOP && (owner->op != IR_SWITCH || leave->op == IR_CONTINUE)) owner = owner->parent->owner;
  return owner;
}

typedef struct planner {
  region_plan *p;
  ir_inst **needed; /* a stack of values that are needed at group level */
  uint32_t needed_count;
  bool changed;
} planner;

/* ---- Marking ---- */

static void need_value(planner *w, ir_inst *x) {
  if (!x->parent || region_has(w->p, x, REGION_NEEDED)) return;
  w->p->flags[x->id] |= REGION_NEEDED;
  w->needed[w->needed_count++] = x;
}

/* A varying condition stays with the items. */
static void make_group(planner *w, ir_inst *inst) {
  for (; inst && !region_has(w->p, inst, REGION_GROUP); inst = inst->parent->owner) {
    w->p->flags[inst->id] |= REGION_GROUP;
    w->changed = true;
    if (inst->arg_count && qn_is_uniform(inst->aux)) need_value(w, inst->args[0]);
  }
}

static void need_var(planner *w, ir_var *var) {
  if (var->storage == IR_STORE_GROUP || !qn_is_uniform(var->aux)) return;
  var->storage = IR_STORE_GROUP;
  w->changed = true;
}

static void follow_needed(planner *w) {
  while (w->needed_count) {
    ir_inst *x = w->needed[--w->needed_count];
    if (x->op == IR_LOAD && region_private_var(x->args[0])) need_var(w, x->args[0]->u.var);
    for (uint32_t i = 0; i < x->arg_count; i++) need_value(w, x->args[i]);
  }
}

static bool is_leave(ir_op op) { return op == IR_BREAK || op == IR_CONTINUE || op == IR_BREAK_IF || op == IR_RETURN; }

/* A leave that all take together, out of something at group level. */
static void mark_leave(planner *w, ir_inst *inst) {
  ir_inst *target = region_target(inst);
  if (!qn_is_uniform(inst->aux) || (target && !region_has(w->p, target, REGION_GROUP))) return;
  if (inst->parent->owner != target) make_group(w, inst->parent->owner);
  if (inst->op == IR_BREAK_IF) need_value(w, inst->args[0]);
}

static bool mark_inst(void *user, ir_inst *inst) {
  planner *w = user;
  if (inst->op == IR_BARRIER) make_group(w, inst->parent->owner);
  if (is_leave(inst->op)) mark_leave(w, inst);
  ir_var *var = inst->op == IR_STORE ? region_private_var(inst->args[0]) : NULL;
  if (var && var->storage == IR_STORE_GROUP) {
    make_group(w, inst->parent->owner);
    need_value(w, inst->args[1]);
  }
  return true;
}

static void mark_until_settled(planner *w) {
  do {
    w->changed = false;
    ir_walk(w->p->f->body, mark_inst, w);
    follow_needed(w);
  } while (w->changed);
}

/* ---- Values at group level ---- */

static bool is_group_value(const region_plan *p, const ir_inst *inst) {
  ir_class cls = ir_op_table[inst->op].cls;
  bool computes = cls >= IR_CLASS_UN && cls <= IR_CLASS_PURE;
  bool reads = inst->op == IR_LOAD || inst->op == IR_VLOAD || inst->op == IR_CALL;
  if (!(computes || reads) || !qn_is_uniform(inst->aux) || inst->type->kind == IR_VOID) return false;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (!region_is_group_operand(p, inst->args[i])) return false;
  return true;
}

static void find_values(region_plan *p, ir_block *block) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) {
    p->flags[inst->id] &= (uint8_t)~REGION_VALUE;
    if (is_group_value(p, inst)) p->flags[inst->id] |= REGION_VALUE;
    if (!region_has(p, inst, REGION_GROUP)) continue;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) find_values(p, inst->u.ctrl.blocks[i]);
  }
}

/* ---- Further variables of the group: `id` of a variable is 1 while it is a candidate ---- */

static bool reject_stores(void *user, ir_inst *inst) {
  const region_plan *p = user;
  if (inst->op != IR_STORE && inst->op != IR_FRESH) return true;
  ir_var *var = region_private_var(inst->args[0]);
  if (var && !region_is_group_block(p, inst->parent)) var->id = 0;
  return true;
}

static bool reject_values(void *user, ir_inst *inst) {
  planner *w = user;
  ir_var *var = inst->op == IR_STORE ? region_private_var(inst->args[0]) : NULL;
  if (!var || !var->id || region_is_group_operand(w->p, inst->args[1])) return true;
  var->id = 0;
  var->storage = IR_STORE_PLAIN;
  w->changed = true;
  return true;
}

static void take_further_vars(planner *w) {
  region_plan *p = w->p;
  for (ir_var *v = p->f->vars; v; v = v->next) v->id = v->storage == IR_STORE_PLAIN && qn_is_uniform(v->aux);
  ir_walk(p->f->body, reject_stores, p);
  for (ir_var *v = p->f->vars; v; v = v->next)
    if (v->id) v->storage = IR_STORE_GROUP;
  do {
    w->changed = false;
    find_values(p, p->f->body);
    ir_walk(p->f->body, reject_values, w);
  } while (w->changed);
}

/* ---- Who waits where ---- */

static uint32_t code(region_plan *p, uint32_t *slot) {
  if (!*slot) *slot = p->next_code++;
  return *slot;
}

/* Nothing that needs all items, and no loop, is ahead of the place. */
static bool nothing_follows(const region_plan *p, const ir_inst *inst) {
  while (inst->parent->owner) {
    inst = inst->parent->owner;
    if (region_has(p, inst, REGION_GROUP)) return false;
  }
  for (inst = inst->next; inst; inst = inst->next)
    if (inst->op == IR_BARRIER || region_has(p, inst, REGION_GROUP)) return false;
  return true;
}

/* A leave that parts items, out of something at group level. */
static bool mark_raise(void *user, ir_inst *inst) {
  region_plan *p = user;
  if (!is_leave(inst->op) || qn_is_uniform(inst->aux)) return true;
  ir_inst *target = region_target(inst);
  if (target && !region_has(p, target, REGION_GROUP)) return true;
  if (!target && nothing_follows(p, inst)) {
    p->flags[inst->id] |= REGION_PLAIN_RETURN;
    return true;
  }
  for (ir_inst *i = inst; i != target; i = i->parent->owner) p->flags[i->id] |= REGION_RAISES | REGION_LEAVES;
  p->codes[inst->id].leaves = REGION_RETURNED;
  if (!target) return true;
  bool continues = inst->op == IR_CONTINUE;
  p->flags[target->id] |= continues ? REGION_CONTINUES : REGION_BREAKS;
  p->codes[inst->id].leaves = code(p, continues ? &p->codes[target->id].continues : &p->codes[target->id].breaks);
  return true;
}

/* A varying condition around a barrier: the others wait. */
static bool mark_skip(void *user, ir_inst *inst) {
  region_plan *p = user;
  if (inst->op == IR_IF && region_has(p, inst, REGION_GROUP) && !region_is_group_operand(p, inst->args[0]))
    code(p, &p->codes[inst->id].skips);
  return true;
}

static bool has_raise(const region_plan *p) {
  for (uint32_t i = 1; i < p->count; i++)
    if (p->flags[i] & REGION_RAISES) return true;
  return p->next_code > REGION_RETURNED + 1;
}

/* ---- Varying switches around barriers become ifs, in a switch that only breaks leave ---- */

static bool holds_barrier(void *user, ir_inst *inst) {
  (void)user;
  return inst->op != IR_BARRIER;
}

static bool has_barrier(const ir_inst *inst) {
  for (uint32_t i = 0; i < ir_block_count(inst); i++)
    if (!ir_walk(inst->u.ctrl.blocks[i], holds_barrier, NULL)) return true;
  return false;
}

static void adopt(ir_inst *owner, uint32_t index, ir_block *block) {
  owner->u.ctrl.blocks[index] = block;
  block->owner = owner;
}

static bool lower_switch(region_plan *p, ir_inst *inst) {
  ir_builder b = {.m = p->m, .f = p->f, .loc = inst->loc};
  ir_block **blocks = inst->u.ctrl.blocks;
  uint32_t last = inst->u.ctrl.block_count - 1;
  ir_block *at = ir_block_new(p->m, inst);
  b.block = at;
  for (uint32_t i = 0; i < last; i++) {
    ir_inst *key = ir_const_int(p->m, inst->args[0]->type, inst->u.ctrl.cases[i]);
    ir_inst *test = ir_if(&b, ir_bin(&b, IR_EQ, inst->args[0], key));
    if (p->m->failed) return false;
    adopt(test, 0, blocks[i]);
    if (i + 1 == last)
      adopt(test, 1, blocks[last]);
    else
      ir_into(&b, test->u.ctrl.blocks[1]);
  }
  ir_block **only = QN_ARENA_ARRAY(p->m->arena, ir_block *, 1);
  if (!only) return false;
  only[0] = at;
  inst->u.ctrl.blocks = only;
  inst->u.ctrl.block_count = 1;
  inst->args[0] = ir_const_int(p->m, inst->args[0]->type, 0);
  return true;
}

typedef struct lowering {
  region_plan *p;
  bool any, failed;
} lowering;

static bool lower_varying_switch(void *user, ir_inst *inst) {
  lowering *l = user;
  if (inst->op != IR_SWITCH || inst->u.ctrl.block_count == 1 || qn_is_uniform(inst->aux) || !has_barrier(inst))
    return true;
  l->any = true;
  l->failed |= !lower_switch(l->p, inst);
  return !l->failed;
}

/* ---- All ---- */

static bool number(void *user, ir_inst *inst) {
  inst->id = (*(uint32_t *)user)++;
  return true;
}

static qn_status find_uniformity(region_plan *p) {
  lowering l = {.p = p};
  QN_TRY(pass_uniformity(p->f));
  ir_walk(p->f->body, lower_varying_switch, &l);
  if (l.failed) return walk_no_memory();
  return l.any ? pass_uniformity(p->f) : QN_OK;
}

/* A condition at group level that is uniform is computed there: else the plan is wrong. */
static bool is_sound(void *user, ir_inst *inst) {
  const region_plan *p = user;
  bool asks = inst->op == IR_SWITCH || inst->op == IR_IF;
  if (inst->op == IR_BREAK_IF)
    asks = region_has(p, region_target(inst), REGION_GROUP);
  else
    asks &= region_has(p, inst, REGION_GROUP);
  return !asks || region_is_group_operand(p, inst->args[0]) || (!qn_is_uniform(inst->aux) && inst->op != IR_SWITCH);
}

qn_status region_make_plan(region_plan *p) {
  QN_TRY(find_uniformity(p));
  p->count = 1;
  p->next_code = REGION_RETURNED + 1;
  ir_walk(p->f->body, number, &p->count);
  planner w = {.p = p};
  p->flags = QN_ARENA_ARRAY(&p->arena, uint8_t, p->count);
  p->codes = QN_ARENA_ARRAY(&p->arena, region_codes, p->count);
  w.needed = QN_ARENA_ARRAY(&p->arena, ir_inst *, p->count);
  if (!p->flags || !p->codes || !w.needed) return walk_no_memory();
  mark_until_settled(&w);
  take_further_vars(&w);
  if (!ir_walk(p->f->body, is_sound, p))
    return qn_error_set(QN_ERROR_INTERNAL, "kernel '%s': a condition at group level is not computed there", p->f->name);
  ir_walk(p->f->body, mark_raise, p);
  ir_walk(p->f->body, mark_skip, p);
  if (!has_raise(p)) return QN_OK;
  p->state = ir_var_private(p->f, "state", ir_int(p->m, 32));
  p->state->storage = IR_STORE_CONTEXT;
  return p->m->failed ? walk_no_memory() : QN_OK;
}
