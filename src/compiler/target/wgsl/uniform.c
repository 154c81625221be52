/* uniform.c - barriers stand where WGSL's own analysis finds control uniform. OpenCL's rule is that all items of a group
 * come to a barrier or none, so a condition that a barrier hangs on is the same for all of them in every program that has a
 * meaning: where WGSL could not see that, all take what the group's first item has (WGSL_SAME).
 *
 * A barrier hangs on the conditions around it, and on those around a break or return that would leave it out. Items may
 * part at a `continue`, for they meet again when the loop comes around; WGSL doesn't see that, so in loops that hold
 * barriers there is none: the rest of the body becomes the other arm, or asks for a flag. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"
#include "compiler/target/wgsl/emit.h"

typedef struct inst_facts {
  bool is_common; /* all items come here together, as WGSL sees it */
  bool is_seen;   /* a value that WGSL finds uniform */
  bool hangs_on_item;
} inst_facts;

typedef struct finder {
  ir_function *f;
  uint32_t *before; /* by number: how many barriers stand before; one more than there are instructions */
  uint32_t *ends;   /* by number: of the last instruction within */
  inst_facts *facts;
  bool *hidden; /* by number of a variable: what it holds is not seen to be uniform */
  bool changed;
  uint32_t count;
  qn_diags *diags;
} finder;

static bool has_barrier(void *user, ir_inst *inst) {
  (void)user;
  return inst->op != IR_BARRIER;
}

/* ---- A continue at the end of an arm, where the loop's body ends with the arms ---- */

static bool ends_in_continue(const ir_block *block) { return block->last && block->last->op == IR_CONTINUE; }

static void move_rest(ir_inst *inst, ir_block *to) {
  while (inst->next) {
    ir_inst *moved = inst->next;
    ir_inst_remove(moved);
    ir_inst_append(to, moved);
  }
}

/* if (c) { a; continue; } rest  ->  if (c) { a } else { rest } */
static void straighten(ir_block *body) {
  for (ir_inst *inst = body->first; inst; inst = inst->next) {
    if (inst->op != IR_IF) continue;
    ir_block *then = inst->u.ctrl.blocks[0], *other = inst->u.ctrl.blocks[1];
    bool by_then = ends_in_continue(then), by_other = ends_in_continue(other);
    if (by_then == by_other) continue;
    ir_block *leaves = by_then ? then : other, *stays = by_then ? other : then;
    if (ir_block_ends(stays)) continue;
    ir_inst_remove(leaves->last);
    move_rest(inst, stays);
    body = stays;
    inst = stays->first;
    if (!inst) return;
    straighten(body);
    return;
  }
}

/* ---- Any other continue: a flag, and what is behind it asks for that ---- */

typedef struct flagger {
  ir_builder b;
  ir_var *flag; /* NULL: not asked for yet */
} flagger;

static void place(flagger *g, ir_block *block, ir_inst *before) {
  g->b.block = block;
  g->b.before = before;
  if (before) g->b.loc = before->loc;
}

static ir_inst *truth(flagger *g, bool value) { return ir_const_int(g->b.m, ir_bool(g->b.m), value); }

/* Whether something in the block set it. `in_switch`: a switch holds the block, and is left. */
static bool flag_block(flagger *g, ir_block *block, bool in_switch);

static bool flag_inst(flagger *g, ir_inst *inst, bool in_switch) {
  bool any = false;
  if (inst->op != IR_IF && inst->op != IR_SWITCH) return false;
  for (uint32_t i = 0; i < ir_block_count(inst); i++)
    any |= flag_block(g, inst->u.ctrl.blocks[i], in_switch || inst->op == IR_SWITCH);
  return any;
}

static void set_flag(flagger *g, ir_inst *inst, bool in_switch) {
  if (!g->flag) g->flag = ir_var_private(g->b.f, "skips", ir_bool(g->b.m));
  place(g, inst->parent, inst);
  ir_store(&g->b, g->flag->address, truth(g, true));
  if (in_switch) ir_leave(&g->b, IR_BREAK);
  ir_inst_remove(inst);
}

static bool flag_block(flagger *g, ir_block *block, bool in_switch) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_CONTINUE) {
      set_flag(g, inst, in_switch);
      return true;
    }
    if (!flag_inst(g, inst, in_switch)) continue;
    if (!inst->next) return true;
    place(g, block, inst->next);
    ir_inst *skips = ir_load(&g->b, g->flag->address), *rest = ir_if(&g->b, skips);
    if (g->b.m->failed) return true;
    move_rest(rest, rest->u.ctrl.blocks[1]);
    (void)flag_block(g, rest->u.ctrl.blocks[1], in_switch);
    return true;
  }
  return false;
}

static void flag_loop(ir_function *f, ir_inst *loop) {
  flagger g = {.b = {.m = f->module, .f = f}};
  ir_block *body = loop->u.ctrl.blocks[0];
  (void)flag_block(&g, body, false);
  if (!g.flag) return;
  place(&g, body, body->first);
  ir_store(&g.b, g.flag->address, truth(&g, false));
}

static bool straighten_loop(void *user, ir_inst *inst) {
  if (inst->op != IR_LOOP || ir_walk(inst->u.ctrl.blocks[0], has_barrier, NULL)) return true;
  straighten(inst->u.ctrl.blocks[0]);
  flag_loop(user, inst);
  return true;
}

/* ---- What hangs on a condition ---- */

static bool note(void *user, ir_inst *inst) {
  finder *d = user;
  d->before[inst->id + 1] = d->before[inst->id] + (inst->op == IR_BARRIER);
  return true;
}

static uint32_t find_ends(finder *d, const ir_block *block, uint32_t last) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    last = inst->id;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) last = find_ends(d, inst->u.ctrl.blocks[i], last);
    d->ends[inst->id] = last;
  }
  return last;
}

static bool holds_barrier(const finder *d, const ir_inst *inst) {
  return d->before[d->ends[inst->id] + 1] != d->before[inst->id];
}

/* A barrier with a number from `first` to `last`. */
static bool has_between(const finder *d, uint32_t first, uint32_t last) {
  return first <= last && d->before[last + 1] != d->before[first];
}

/* Whether leaving by `leave`, which stands within `inst`, leaves out a barrier outside of it. What a break out of a switch
 * leaves out is the rest of its case. */
static bool skips_barrier(const finder *d, const ir_inst *inst, const ir_inst *leave) {
  const ir_block *block = leave->parent;
  bool is_inside = true, is_break = leave->op == IR_BREAK;
  for (const ir_inst *owner = block->owner; owner; block = owner->parent, owner = block->owner) {
    if (is_break && owner->op == IR_SWITCH)
      return !is_inside && has_between(d, d->ends[inst->id] + 1, d->ends[block->last->id]);
    if (owner->op == IR_LOOP && (is_break || leave->op == IR_CONTINUE)) return !is_inside && holds_barrier(d, owner);
    if (owner == inst) is_inside = false;
    if (!is_inside && owner->op == IR_LOOP && holds_barrier(d, owner)) return true;
  }
  return has_between(d, inst->id, d->count - 1); /* a return: any barrier behind */
}

typedef struct question {
  const finder *d;
  const ir_inst *inst;
} question;

static bool leaves_none_out(void *user, ir_inst *leave) {
  const question *q = user;
  bool leaves = leave->op == IR_BREAK || leave->op == IR_CONTINUE || leave->op == IR_RETURN || leave->op == IR_TRAP;
  return !leaves || !skips_barrier(q->d, q->inst, leave);
}

static bool is_hung_on(const finder *d, const ir_inst *inst) {
  if (inst->op == IR_BREAK_IF) return holds_barrier(d, inst->parent->owner);
  if (inst->op != IR_IF && inst->op != IR_SWITCH) return false;
  if (holds_barrier(d, inst)) return true;
  question q = {d, inst};
  for (uint32_t i = 0; i < ir_block_count(inst); i++)
    if (!ir_walk(inst->u.ctrl.blocks[i], leaves_none_out, &q)) return true;
  return false;
}

/* ---- What WGSL sees ---- */

/* Whether items part in a loop in a way that WGSL sees no end of: by a break, continue or return of its own. */
static bool parts_items(const ir_block *block, bool is_own) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    bool leaves = inst->op == IR_RETURN || inst->op == IR_TRAP ||
                  (is_own && (inst->op == IR_BREAK || inst->op == IR_CONTINUE || inst->op == IR_BREAK_IF));
    if (leaves && !qn_is_uniform(inst->aux)) return true;
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (parts_items(inst->u.ctrl.blocks[i], is_own && inst->op != IR_LOOP)) return true;
  }
  return false;
}

/* Which instructions all items come to together. */
static void find_common(finder *d, const ir_block *block, bool is_common) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    d->facts[inst->id].is_common = is_common;
    bool inner = is_common && qn_is_uniform(inst->aux);
    if (inst->op == IR_LOOP)
      inner = is_common && !parts_items(inst->u.ctrl.blocks[0], true) && !parts_items(inst->u.ctrl.blocks[1], true);
    for (uint32_t i = 0; i < ir_block_count(inst); i++) find_common(d, inst->u.ctrl.blocks[i], inner);
  }
}

static const ir_var *plain_load(const ir_inst *x) {
  bool is_one = x->op == IR_LOAD && x->args[0]->op == IR_ADDRESS && x->args[0]->u.var->space == IR_PRIVATE;
  return is_one ? x->args[0]->u.var : NULL;
}

static bool is_seen(const finder *d, const ir_inst *x) { return !x->parent || d->facts[x->id].is_seen; }

/* Made of nothing but arguments, ids of groups and variables that hold such values. */
static bool sees(const finder *d, const ir_inst *inst) {
  const ir_var *var = plain_load(inst);
  if (!qn_is_uniform(inst->aux) || inst->op == IR_CALL || inst->op == IR_ATOMIC || inst->op == IR_VLOAD) return false;
  if (inst->op == IR_LOAD) return var && !d->hidden[var->id];
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (!is_seen(d, inst->args[i])) return false;
  return true;
}

/* Operands come before what they are operands of. */
static bool look(void *user, ir_inst *inst) {
  finder *d = user;
  d->facts[inst->id].is_seen = sees(d, inst);
  if (inst->op != IR_STORE || inst->args[0]->op != IR_ADDRESS || inst->args[0]->u.var->space != IR_PRIVATE) return true;
  uint32_t var = inst->args[0]->u.var->id;
  if (d->hidden[var] || (d->facts[inst->id].is_common && is_seen(d, inst->args[1]))) return true;
  d->hidden[var] = d->changed = true;
  return true;
}

static void find_seen(finder *d) {
  find_common(d, d->f->body, true);
  for (d->changed = true; d->changed;) {
    d->changed = false;
    ir_walk(d->f->body, look, d);
  }
}

/* ---- What items surely part at ---- */

/* Whether a value hangs on which item it is, by what it is computed from. */
static bool note_item(void *user, ir_inst *inst) {
  finder *d = user;
  const ir_var *var = plain_load(inst);
  bool any = inst->op == IR_LOCAL_ID || inst->op == IR_GLOBAL_ID || inst->op == IR_ATOMIC;
  any |= var && !qn_is_uniform(var->aux);
  for (uint32_t i = 0; i < inst->arg_count && !any; i++)
    any = inst->args[i]->parent && d->facts[inst->args[i]->id].hangs_on_item;
  d->facts[inst->id].hangs_on_item = any && !qn_is_uniform(inst->aux);
  return true;
}

/* A break or return behind a barrier, out of a loop that would come to barriers again: the items that stay may never do so,
 * which is the source's right, and nothing that WGSL can be told. */
static bool parts_in_loop(const finder *d, const ir_inst *inst) {
  if (inst->op != IR_IF && inst->op != IR_SWITCH) return false;
  const ir_inst *loop = inst->parent->owner;
  while (loop && loop->op != IR_LOOP) loop = loop->parent->owner;
  bool hangs = inst->args[0]->parent && d->facts[inst->args[0]->id].hangs_on_item;
  return loop && hangs && !holds_barrier(d, inst) && has_between(d, loop->id, inst->id);
}

/* ---- One kernel ---- */

static bool mark(void *user, ir_inst *inst) {
  const finder *d = user;
  if (!is_hung_on(d, inst) || is_seen(d, inst->args[0])) return true;
  inst->flags |= WGSL_SAME;
  if (parts_in_loop(d, inst))
    qn_diag(d->diags, QN_ERROR, inst->loc ? inst->loc : d->f->loc, 0,
            "WGSL (target wgsl) can't express a loop with barriers that work-items leave one by one, in '%s'",
            d->f->name);
  return true;
}

static bool prepare(finder *d) {
  qn_arena *arena = d->f->module->arena;
  uint32_t vars = 0;
  d->count = ir_number(d->f);
  for (ir_var *v = d->f->vars; v; v = v->next) v->id = vars++;
  d->before = QN_ARENA_ARRAY(arena, uint32_t, d->count + 2);
  d->ends = QN_ARENA_ARRAY(arena, uint32_t, d->count + 1);
  d->facts = QN_ARENA_ARRAY(arena, inst_facts, d->count + 1);
  d->hidden = QN_ARENA_ARRAY(arena, bool, vars + 1);
  if (!d->before || !d->ends || !d->facts || !d->hidden) return false;
  ir_walk(d->f->body, note, d);
  find_ends(d, d->f->body, 0);
  return true;
}

static qn_status make_uniform(ir_function *f, qn_diags *diags) {
  finder d = {.f = f, .diags = diags};
  if (ir_walk(f->body, has_barrier, NULL)) return QN_OK;
  ir_walk(f->body, straighten_loop, f);
  QN_TRY(pass_uniformity(f));
  if (!prepare(&d)) return walk_no_memory();
  find_seen(&d);
  ir_walk(f->body, note_item, &d);
  ir_walk(f->body, mark, &d);
  return QN_OK;
}

qn_status wgsl_make_uniform(ir_module *m, qn_diags *diags) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body && f->is_kernel) QN_TRY(make_uniform(f, diags));
  return QN_OK;
}
