/* region_split.c - rebuilds each group-level block: runs of item-level instructions go into regions, what is computed once
 * a group stands before the region that is open, constructs at group level follow their conditions there. Where items may
 * part for good or for a while, each has its state: 0 while it runs, else the code of the place where it waits.
 *
 *   a region where some may wait begins with "if state is not 0, return"
 *   behind a region in which items left, `any` says whether one still runs; what follows at group level stands in an `if`
 *   at the end of a loop's body those that wait for the next time around run again; when none is left the loop ends
 *   behind a loop or switch those that left it run again */
#include "base/status.h"
#include "compiler/pass/regions.h"

typedef struct splitter {
  region_plan *p;
  ir_builder group;    /* at the end of the group-level block that is filled */
  ir_builder item;     /* at the end of the open region */
  ir_inst *region;     /* the open region; NULL: none */
  uint32_t serial;     /* of the open region; `id` of a group variable that it reads */
  uint32_t last_group; /* id of the last instruction of this block that needs a running item at group level */
  bool waiting;        /* some items may wait here */
} splitter;

/* ---- Small things ---- */

static ir_inst *number(const splitter *s, uint32_t value) { return ir_const_int(s->p->m, ir_int(s->p->m, 32), value); }
static ir_inst *truth(const splitter *s, bool value) { return ir_const_int(s->p->m, ir_bool(s->p->m), value); }

static void set_state(splitter *s, ir_builder *b, uint32_t code) { ir_store(b, s->p->state->address, number(s, code)); }

static ir_inst *has_state(splitter *s, ir_builder *b, ir_inst *state, uint32_t code) {
  return ir_bin(b, IR_EQ, state, number(s, code));
}

/* A flag of the group: false at group level from before the open region on. */
static ir_var *new_flag(splitter *s, const char *name) {
  ir_var *flag = ir_var_private(s->p->f, name, ir_bool(s->p->m));
  flag->storage = IR_STORE_GROUP;
  ir_builder b = s->group;
  b.before = s->region;
  ir_store(&b, flag->address, truth(s, false));
  return flag;
}

static void set_flag(splitter *s, ir_builder *b, ir_var *flag) { ir_store(b, flag->address, truth(s, true)); }

/* What stands in the block until it is closed again: `if condition {` at group level. */
static void open_if(splitter *s, ir_inst *condition) {
  ir_inst *inst = ir_if(&s->group, condition);
  s->group.block = inst->u.ctrl.blocks[0];
}

/* ---- Regions ---- */

static void close_region(splitter *s) { s->region = NULL; }

static void start_region(splitter *s) {
  s->region = ir_region(&s->group);
  s->region->imm = 0;
  s->serial++;
  s->item = s->group;
  s->item.block = s->region->u.ctrl.blocks[0];
  s->item.before = NULL;
}

/* What stands in the region so far comes before the values that are brought into it. */
static void end_of_prologue(splitter *s) {
  for (const ir_inst *i = s->item.block->first; i; i = i->next) s->region->imm++;
}

static void return_if(ir_builder *b, ir_inst *condition) {
  ir_inst *inst = ir_if(b, condition);
  ir_builder inner = *b;
  inner.block = inst->u.ctrl.blocks[0];
  ir_return(&inner, NULL);
}

/* A region in which items run again that waited with `code` (0: none), and others that wait don't. */
static void open_region_for(splitter *s, uint32_t code) {
  start_region(s);
  if (!code && !s->waiting) return;
  ir_builder *b = &s->item, inner = *b;
  ir_inst *state = ir_load(b, s->p->state->address);
  if (code) {
    ir_inst *wakes = ir_if(b, has_state(s, b, state, code));
    inner.block = wakes->u.ctrl.blocks[0];
    set_state(s, &inner, 0);
    inner.block = wakes->u.ctrl.blocks[1];
  }
  if (s->waiting) return_if(&inner, ir_bin(&inner, IR_NE, state, number(s, 0)));
  end_of_prologue(s);
}

static void need_region(splitter *s) {
  if (!s->region) open_region_for(s, 0);
}

/* ---- Items that part ---- */

/* The items that are still in the open region go on: what follows at group level, if it needs one, stands in an if. */
static void go_on_if_any(splitter *s, const ir_inst *after) {
  if (after->id >= s->last_group) return;
  ir_var *any = new_flag(s, "any");
  set_flag(s, &s->item, any);
  close_region(s);
  open_if(s, ir_load(&s->group, any->address));
}

static bool is_leave(ir_op op) { return op == IR_BREAK || op == IR_CONTINUE || op == IR_RETURN; }

/* Leaves in an item-level construct that lead out to group level become: wait there. */
static bool raise_inside(void *user, ir_inst *inst) {
  splitter *s = user;
  if (!is_leave(inst->op) || !region_has(s->p, inst, REGION_RAISES)) return true;
  ir_builder b = {.m = s->p->m, .f = s->p->f, .block = inst->parent, .before = inst, .loc = inst->loc};
  set_state(s, &b, s->p->codes[inst->id].leaves);
  if (inst->op != IR_RETURN) {
    ir_return(&b, NULL);
    ir_inst_remove(inst);
  }
  return true;
}

/* Variables of the group that item-level code reads in nested places. */
static bool note_reads(void *user, ir_inst *inst) {
  splitter *s = user;
  ir_var *var = inst->op == IR_LOAD ? region_private_var(inst->args[0]) : NULL;
  if (var && var->storage == IR_STORE_GROUP) var->id = s->serial;
  return true;
}

/* ---- Instructions ---- */

static void put_item(splitter *s, ir_inst *inst) {
  need_region(s);
  ir_inst_append(s->item.block, inst);
  if (!ir_block_count(inst)) return;
  for (uint32_t i = 0; i < ir_block_count(inst); i++) ir_walk(inst->u.ctrl.blocks[i], note_reads, s);
  if (!region_has(s->p, inst, REGION_RAISES)) return;
  for (uint32_t i = 0; i < ir_block_count(inst); i++) ir_walk(inst->u.ctrl.blocks[i], raise_inside, s);
  s->waiting = true;
  go_on_if_any(s, inst);
}

static void put_group(splitter *s, ir_inst *inst) {
  ir_inst_append(s->group.block, inst);
  /* A region made without memory is in no block. */
  if (s->region && s->region->parent) ir_inst_move_before(inst, s->region);
}

/* Stores to variables of the group stand before the open region unless it reads the old value. */
static void put_group_store(splitter *s, ir_inst *inst) {
  if (inst->op == IR_FRESH) return;
  if (s->region && inst->args[0]->u.var->id == s->serial) close_region(s);
  put_group(s, inst);
}

/* A leave that stands in a group-level block. */
static void put_leave(splitter *s, ir_inst *inst) {
  if (region_has(s->p, inst, REGION_RAISES)) {
    need_region(s);
    set_state(s, &s->item, s->p->codes[inst->id].leaves);
    close_region(s);
    s->waiting = true;
  } else if (region_has(s->p, inst, REGION_PLAIN_RETURN)) {
    put_item(s, inst);
  } else {
    close_region(s);
    put_group(s, inst);
  }
}

/* "break if" at the end of a loop some of whose items stay: it ends when none does. */
static void put_break_if(splitter *s, ir_inst *inst) {
  if (!region_has(s->p, inst, REGION_RAISES)) {
    close_region(s);
    put_group(s, inst);
    return;
  }
  need_region(s);
  ir_var *any = new_flag(s, "any");
  ir_inst *leaves = ir_if(&s->item, inst->args[0]);
  ir_builder inner = s->item;
  inner.block = leaves->u.ctrl.blocks[0];
  set_state(s, &inner, s->p->codes[inst->id].leaves);
  inner.block = leaves->u.ctrl.blocks[1];
  set_flag(s, &inner, any);
  close_region(s);
  inst->args[0] = ir_un(&s->group, IR_NOT, ir_load(&s->group, any->address));
  put_group(s, inst);
}

/* ---- Constructs at group level ---- */

static void split_block(splitter *s, ir_block *block);

/* Fills one block of a construct; the splitter comes back to where it was. */
static void split_inner(splitter *s, ir_block *block, bool waiting) {
  splitter inner = *s;
  inner.waiting = waiting;
  inner.region = NULL;
  split_block(&inner, block);
  s->serial = inner.serial;
}

/* Behind a construct: `code` is where those wait that left it or skipped it (0: none do). */
static void after_construct(splitter *s, const ir_inst *inst, uint32_t code) {
  bool leaves = region_has(s->p, inst, REGION_LEAVES);
  s->waiting |= leaves;
  if (!code && !(leaves && inst->id < s->last_group)) return;
  open_region_for(s, code);
  if (leaves) go_on_if_any(s, inst);
}

/* At the end of a block: the region that stands there serves when nobody is to be woken. */
static void open_last_region(splitter *s, uint32_t code) {
  ir_inst *last = s->group.block->last;
  if (code || !last || last->op != IR_REGION || ir_block_ends(last->u.ctrl.blocks[0])) {
    open_region_for(s, code);
    return;
  }
  s->region = last;
  s->item = s->group;
  s->item.block = last->u.ctrl.blocks[0];
}

/* The end of a loop's body: those that wait for the next time run again; nobody left ends the loop. */
static void end_loop_body(splitter *s, const ir_inst *inst) {
  ir_block *body = inst->u.ctrl.blocks[0];
  uint32_t code = s->p->codes[inst->id].continues;
  bool may_be_empty = region_has(s->p, inst, REGION_BREAKS | REGION_LEAVES);
  if (ir_block_ends(body) || (!code && !may_be_empty)) return;
  splitter end = *s;
  end.group.block = body;
  end.waiting = may_be_empty || s->waiting;
  open_last_region(&end, code);
  s->serial = end.serial;
  if (!may_be_empty) return;
  ir_var *any = new_flag(&end, "any");
  set_flag(&end, &end.item, any);
  ir_inst *test = ir_if(&end.group, ir_load(&end.group, any->address));
  end.group.block = test->u.ctrl.blocks[1];
  ir_leave(&end.group, IR_BREAK);
}

static void split_loop(splitter *s, ir_inst *inst) {
  bool waiting = s->waiting || region_has(s->p, inst, REGION_BREAKS | REGION_LEAVES);
  close_region(s);
  put_group(s, inst);
  split_inner(s, inst->u.ctrl.blocks[0], waiting);
  end_loop_body(s, inst);
  split_inner(s, inst->u.ctrl.blocks[1], waiting);
  after_construct(s, inst, s->p->codes[inst->id].breaks);
}

/* if and switch whose condition is computed at group level. */
static void split_together(splitter *s, ir_inst *inst) {
  close_region(s);
  put_group(s, inst);
  for (uint32_t i = 0; i < ir_block_count(inst); i++) split_inner(s, inst->u.ctrl.blocks[i], s->waiting);
  after_construct(s, inst, s->p->codes[inst->id].breaks);
}

/* The items of the second branch run, those of the first wait. */
static ir_var *swap_branches(splitter *s, uint32_t code) {
  start_region(s);
  ir_var *any = new_flag(s, "any");
  ir_builder *b = &s->item, inner = *b;
  ir_inst *state = ir_load(b, s->p->state->address);
  ir_inst *wakes = ir_if(b, has_state(s, b, state, code));
  inner.block = wakes->u.ctrl.blocks[0];
  set_state(s, &inner, 0);
  set_flag(s, &inner, any);
  inner.block = wakes->u.ctrl.blocks[1];
  ir_inst *runs = ir_if(&inner, has_state(s, &inner, state, 0));
  inner.block = runs->u.ctrl.blocks[0];
  set_state(s, &inner, code);
  close_region(s);
  return any;
}

/* An if around a barrier whose condition isn't the same for all as far as is known: each branch runs when an item takes
 * it, and the others wait. */
static void split_apart(splitter *s, ir_inst *inst) {
  uint32_t code = s->p->codes[inst->id].skips;
  ir_block *other = inst->u.ctrl.blocks[1];
  need_region(s);
  ir_var *any = new_flag(s, "any");
  ir_inst *choice = ir_if(&s->item, inst->args[0]);
  ir_builder inner = s->item;
  inner.block = choice->u.ctrl.blocks[0];
  set_flag(s, &inner, any);
  inner.block = choice->u.ctrl.blocks[1];
  set_state(s, &inner, code);
  close_region(s);
  inst->args[0] = ir_load(&s->group, any->address);
  inst->u.ctrl.blocks[1] = ir_block_new(s->p->m, inst);
  put_group(s, inst);
  split_inner(s, inst->u.ctrl.blocks[0], true);
  if (other->first) {
    any = swap_branches(s, code);
    ir_inst *second = ir_if(&s->group, ir_load(&s->group, any->address));
    second->u.ctrl.blocks[0] = other;
    other->owner = second;
    split_inner(s, other, true);
  }
  after_construct(s, inst, code);
}

static void split_construct(splitter *s, ir_inst *inst) {
  if (inst->op == IR_LOOP)
    split_loop(s, inst);
  else if (s->p->codes[inst->id].skips)
    split_apart(s, inst);
  else
    split_together(s, inst);
}

/* ---- Blocks ---- */

static bool is_group_store(const ir_inst *inst) {
  if (inst->op != IR_STORE && inst->op != IR_FRESH) return false;
  const ir_var *var = region_private_var(inst->args[0]);
  return var && var->storage == IR_STORE_GROUP;
}

static void put(splitter *s, ir_inst *inst) {
  if (inst->op == IR_BARRIER)
    close_region(s);
  else if (region_has(s->p, inst, REGION_GROUP))
    split_construct(s, inst);
  else if (inst->op == IR_BREAK_IF)
    put_break_if(s, inst);
  else if (is_leave(inst->op))
    put_leave(s, inst);
  else if (is_group_store(inst))
    put_group_store(s, inst);
  else if (region_has(s->p, inst, REGION_VALUE))
    put_group(s, inst);
  else
    put_item(s, inst);
}

/* Whether it must not run at group level when no item would. */
static bool needs_item(const region_plan *p, const ir_inst *inst) {
  if (region_has(p, inst, REGION_GROUP) || is_group_store(inst)) return true;
  bool touches = inst->op == IR_LOAD || inst->op == IR_VLOAD || inst->op == IR_CALL;
  return touches && region_has(p, inst, REGION_VALUE);
}

/* Empties the block, then fills it again. */
static void split_block(splitter *s, ir_block *block) {
  ir_block rest = *block;
  s->last_group = 0;
  for (ir_inst *i = rest.first; i; i = i->next) {
    i->parent = &rest;
    if (needs_item(s->p, i)) s->last_group = i->id;
  }
  block->first = block->last = NULL;
  s->group.block = block;
  while (rest.first) {
    ir_inst *inst = rest.first;
    ir_inst_remove(inst);
    s->group.loc = inst->loc;
    put(s, inst);
  }
}

qn_status region_split(region_plan *p) {
  splitter s = {.p = p, .group = {.m = p->m, .f = p->f}};
  for (ir_var *v = p->f->vars; v; v = v->next) v->id = 0;
  split_block(&s, p->f->body);
  if (!p->state) return p->m->failed ? walk_no_memory() : QN_OK;
  /* All run at the start. */
  ir_inst *first = p->f->body->first;
  s.group.block = p->f->body;
  s.group.before = first;
  start_region(&s);
  set_state(&s, &s.item, 0);
  return p->m->failed ? walk_no_memory() : QN_OK;
}
