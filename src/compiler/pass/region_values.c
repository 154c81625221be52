/* region_values.c - what lives across regions, after the split.
 *
 * A value that a region uses and another one defined is made again where that is cheap (ids, arithmetic on them and on
 * values of the group, pointer arithmetic always), else it is kept in a context variable.
 *
 * A variable that is used in one region alone stays plain, unless the region runs again and reads what it left behind. One
 * that each region stores before it reads it is split into one for each region. All others become context variables; a
 * region works on a plain copy of those that are whole values, so that its inner loops keep them in registers. */
#include "base/status.h"
#include "compiler/pass/regions.h"

enum {
  CHEAP = 12,   /* operations that are made again rather than kept */
  NEVER = 10000 /* more than any cost */
};

typedef struct keeper {
  region_plan *p;
  ir_function *f;
  qn_arena *arena;
  /* By id of a value: */
  uint32_t count;
  ir_inst **region_of;    /* that defines it; NULL: group level */
  uint32_t *cost;         /* to make it again */
  ir_inst **local;        /* its stand-in in the present region ... */
  uint32_t *local_serial; /* ... if this is the region's number */
  ir_var **kept;
  uint32_t serial;
  ir_builder top; /* of the present region */
} keeper;

/* ---- Where values are defined, what they cost ---- */

static bool is_pointer_step(ir_op op) { return op == IR_ELEM || op == IR_INDEX || op == IR_FIELD || op == IR_PCAST; }

static bool is_cheap(const ir_inst *inst) {
  ir_class cls = ir_op_table[inst->op].cls;
  if (cls < IR_CLASS_UN || cls > IR_CLASS_PURE) return false;
  switch (inst->op) {
    case IR_FDIV:
    case IR_FREM:
    case IR_SQRT:
    case IR_RSQRT:
    case IR_SDIV:
    case IR_UDIV:
    case IR_SREM:
    case IR_UREM:
      return false;
    default:
      return true;
  }
}

static uint32_t operand_cost(const keeper *k, const ir_inst *x, bool may_keep) {
  if (!x->parent || !k->region_of[x->id]) return 0;
  return may_keep && k->cost[x->id] > CHEAP ? 1 : k->cost[x->id];
}

static uint32_t cost_of(const keeper *k, const ir_inst *inst) {
  bool steps = is_pointer_step(inst->op);
  uint32_t cost = 1;
  if (!is_cheap(inst)) return NEVER;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (region_private_var(inst->args[i]) && !steps) return NEVER;
    cost += operand_cost(k, inst->args[i], steps);
  }
  return steps && cost > CHEAP ? CHEAP : cost < NEVER ? cost : NEVER;
}

static void survey(keeper *k, ir_block *block, ir_inst *region) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) {
    k->region_of[inst->id] = region;
    k->cost[inst->id] = cost_of(k, inst);
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      survey(k, inst->u.ctrl.blocks[i], inst->op == IR_REGION ? inst : region);
  }
}

/* ---- Values ---- */

static ir_var *keep(keeper *k, ir_inst *x) {
  if (k->kept[x->id]) return k->kept[x->id];
  ir_var *var = ir_var_private(k->f, "kept", x->type);
  var->storage = IR_STORE_CONTEXT;
  k->kept[x->id] = var;
  ir_builder b = {.m = k->p->m, .f = k->f, .block = x->parent, .before = x->next, .loc = x->loc};
  ir_store(&b, var->address, x);
  return var;
}

/* What stands for `x` in the present region. */
static ir_inst *bring(keeper *k, ir_inst *x) {
  if (!x->parent || x->id >= k->count || !x->id || !k->region_of[x->id]) return x;
  if (k->local_serial[x->id] == k->serial) return k->local[x->id];
  ir_inst *stand_in;
  if (k->cost[x->id] > CHEAP) {
    ir_var *var = keep(k, x);
    stand_in = ir_load(&k->top, var->address);
  } else {
    ir_inst *args[16];
    uint32_t count = x->arg_count < 16 ? x->arg_count : 16;
    for (uint32_t i = 0; i < count; i++) args[i] = bring(k, x->args[i]);
    stand_in = ir_emit(&k->top, x->op, x->type, args, count);
    if (stand_in->parent) {
      stand_in->flags = x->flags;
      stand_in->imm = x->imm;
      stand_in->u = x->u;
    }
  }
  stand_in->loc = x->loc;
  stand_in->id = x->id; /* what uses it may be made again in a third region */
  k->local[x->id] = stand_in;
  k->local_serial[x->id] = k->serial;
  return stand_in;
}

typedef struct region_walk {
  keeper *k;
  ir_inst *region;
} region_walk;

static bool bring_operands(void *user, ir_inst *inst) {
  region_walk *w = user;
  keeper *k = w->k;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_inst *x = inst->args[i];
    if (!x->parent || !x->id || !k->region_of[x->id] || k->region_of[x->id] == w->region) continue;
    inst->args[i] = bring(k, x);
  }
  return !k->p->m->failed;
}

static ir_inst *prologue_end(const ir_inst *region) {
  ir_inst *at = region->u.ctrl.blocks[0]->first;
  for (uint64_t i = 0; i < region->imm && at; i++) at = at->next;
  return at;
}

static bool bring_into_region(void *user, ir_inst *inst) {
  keeper *k = user;
  if (inst->op != IR_REGION) return true;
  k->serial++;
  k->top = (ir_builder){.m = k->p->m, .f = k->f, .block = inst->u.ctrl.blocks[0], .before = prologue_end(inst)};
  region_walk w = {k, inst};
  ir_walk(inst->u.ctrl.blocks[0], bring_operands, &w);
  return !k->p->m->failed;
}

static bool number(void *user, ir_inst *inst) {
  inst->id = (*(uint32_t *)user)++;
  return true;
}

static qn_status keep_insts(keeper *k) {
  k->count = 1;
  ir_walk(k->f->body, number, &k->count);
  k->region_of = QN_ARENA_ARRAY(k->arena, ir_inst *, k->count);
  k->cost = QN_ARENA_ARRAY(k->arena, uint32_t, k->count);
  k->local = QN_ARENA_ARRAY(k->arena, ir_inst *, k->count);
  k->local_serial = QN_ARENA_ARRAY(k->arena, uint32_t, k->count);
  k->kept = QN_ARENA_ARRAY(k->arena, ir_var *, k->count);
  if (!k->region_of || !k->cost || !k->local || !k->local_serial || !k->kept) return walk_no_memory();
  survey(k, k->f->body, NULL);
  ir_walk(k->f->body, bring_into_region, k);
  return k->p->m->failed ? walk_no_memory() : QN_OK;
}

/* ---- Variables whose address may be known elsewhere: `id` is 1 ---- */

static bool points_to_pointers(const ir_type *t) {
  if (t->kind != IR_POINTER) return false;
  return t->elem->kind == IR_POINTER || t->elem->kind == IR_STRUCT || t->elem->kind == IR_ARRAY;
}

/* A callee may keep a pointer that it is given only in memory that it can reach or in what it returns. */
static bool may_keep_pointers(const ir_inst *call) {
  if (call->type->kind == IR_POINTER) return true;
  for (uint32_t i = 0; i < call->arg_count; i++)
    if (points_to_pointers(call->args[i]->type)) return true;
  return false;
}

static bool is_escape(const ir_inst *inst, uint32_t operand) {
  switch (inst->op) {
    case IR_STORE:
      return operand == 1;
    case IR_CALL:
      return may_keep_pointers(inst);
    case IR_SELECT:
    case IR_PTOI:
      return true;
    default:
      return false;
  }
}

static bool note_escapes(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *root = inst->args[i];
    while (is_pointer_step(root->op)) root = root->args[0];
    ir_var *var = region_private_var(root);
    if (var && is_escape(inst, i)) var->id = 1;
  }
  return true;
}

/* ---- Variables: what a region does to one ---- */

typedef struct var_use {
  struct var_use *next; /* the variable's use in another region */
  ir_inst *region;
  ir_var *var;
  ir_var *stand_in;          /* in this region */
  ir_var *holder;            /* a struct with it inside, at its alignment */
  ir_inst *inside;           /* pointer into that, in this region */
  struct var_use *in_region; /* another variable's use in this region */
  bool exposed;              /* it may read what was there before */
  bool stores, whole;        /* whole: loads, stores and fresh of it alone */
  bool assigned;             /* at the walk's place it was stored in this region */
  bool partly;               /* the region may end without having stored it */
  bool runs_again;           /* the region is in a loop */
} var_use;

typedef struct use_walk {
  keeper *k;
  ir_inst *region;
  bool in_loop;
  var_use *uses; /* of this region */
  var_use **log; /* that became assigned, in order */
  uint32_t log_count, log_capacity;
  bool returns, failed;
} use_walk;

/* `aux` of a variable is the list of its uses, the latest region first. */
static var_use *use_of(use_walk *w, ir_var *var) {
  var_use *use = var->aux;
  if (use && use->region == w->region) return use;
  use = QN_ARENA_NEW(w->k->arena, var_use);
  if (!use) {
    w->failed = true;
    return NULL;
  }
  *use = (var_use){
      .next = var->aux, .region = w->region, .var = var, .in_region = w->uses, .whole = true, .runs_again = w->in_loop};
  var->aux = w->uses = use;
  return use;
}

static void assign(use_walk *w, var_use *use) {
  if (use->assigned) return;
  if (w->log_count == w->log_capacity) {
    uint32_t capacity = w->log_capacity ? w->log_capacity * 2 : 64;
    var_use **more = QN_ARENA_ARRAY(w->k->arena, var_use *, capacity);
    if (!more) {
      w->failed = true;
      return;
    }
    for (uint32_t i = 0; i < w->log_count; i++) more[i] = w->log[i];
    w->log = more;
    w->log_capacity = capacity;
  }
  use->assigned = true;
  w->log[w->log_count++] = use;
}

static void unassign_to(use_walk *w, uint32_t mark) {
  while (w->log_count > mark) w->log[--w->log_count]->assigned = false;
}

static bool writes_whole(const ir_inst *inst) {
  return inst->op == IR_STORE || inst->op == IR_FRESH || inst->op == IR_COPY;
}

static void note_operand(use_walk *w, const ir_inst *inst, uint32_t i) {
  ir_var *var = region_private_var(inst->args[i]);
  if (!var || var->storage != IR_STORE_PLAIN) return;
  var_use *use = use_of(w, var);
  if (!use) return;
  bool direct = i == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
  if (!direct || (inst->flags & IR_VOLATILE)) use->whole = false;
  if (i == 0 && writes_whole(inst)) {
    use->stores = true;
    assign(w, use);
  } else if (!use->assigned) {
    use->exposed = true;
  }
}

static void walk_uses(use_walk *w, const ir_block *block);

/* After an if that is assigned which both branches assign; one that leaves says nothing. */
static void walk_branches(use_walk *w, const ir_inst *inst) {
  const ir_block *first = inst->u.ctrl.blocks[0], *second = inst->u.ctrl.blocks[1];
  uint32_t mark = w->log_count;
  walk_uses(w, first);
  uint32_t count = w->log_count - mark;
  var_use **taken = QN_ARENA_ARRAY(w->k->arena, var_use *, count + 1);
  if (!taken) {
    w->failed = true;
    return;
  }
  for (uint32_t i = 0; i < count; i++) taken[i] = w->log[mark + i];
  unassign_to(w, mark);
  walk_uses(w, second);
  if (ir_block_ends(first)) return;
  if (!ir_block_ends(second)) {
    /* Those of the first branch that the second assigned as well. */
    uint32_t both = 0;
    for (uint32_t i = 0; i < count; i++)
      if (taken[i]->assigned) taken[both++] = taken[i];
    count = both;
  }
  unassign_to(w, mark);
  for (uint32_t i = 0; i < count; i++) assign(w, taken[i]);
}

static void walk_uses(use_walk *w, const ir_block *block) {
  for (const ir_inst *inst = block->first; inst && !w->failed; inst = inst->next) {
    for (uint32_t i = inst->arg_count; i; i--) note_operand(w, inst, i - 1);
    w->returns |= inst->op == IR_RETURN;
    if (inst->op == IR_IF) {
      walk_branches(w, inst);
      continue;
    }
    uint32_t mark = w->log_count;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) {
      walk_uses(w, inst->u.ctrl.blocks[i]);
      unassign_to(w, mark);
    }
  }
}

/* ---- Variables: their places ---- */

static ir_var *plain_copy(keeper *k, const ir_var *var) {
  ir_var *copy = ir_var_private(k->f, var->name, var->type);
  copy->align = var->align;
  return copy;
}

/* `aux` of a variable is its use in the region that is placed. */
static bool use_stand_ins(void *user, ir_inst *inst) {
  const ir_inst *region = user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_var *var = region_private_var(inst->args[i]);
    const var_use *use = var ? var->aux : NULL;
    if (!use || use->region != region) continue;
    if (use->stand_in)
      inst->args[i] = use->stand_in->address;
    else if (use->holder)
      inst->args[i] = inst->op == IR_FRESH ? use->holder->address : use->inside;
  }
  return true;
}

typedef struct leave_walk {
  keeper *k;
  const var_use *uses;
} leave_walk;

static void copy_out(keeper *k, const var_use *uses, ir_block *block, ir_inst *before) {
  ir_builder b = {.m = k->p->m, .f = k->f, .block = block, .before = before};
  for (const var_use *use = uses; use; use = use->in_region)
    if (use->stand_in && use->stores && use->var->storage == IR_STORE_CONTEXT)
      ir_store(&b, use->var->address, ir_load(&b, use->stand_in->address));
}

static bool copy_out_at_return(void *user, ir_inst *inst) {
  leave_walk *w = user;
  if (inst->op == IR_RETURN) copy_out(w->k, w->uses, inst->parent, inst);
  return true;
}

/* The region's uses get their stand-ins: into, out at each return behind the prologue and at the end. */
static void place_uses(keeper *k, ir_inst *region, var_use *uses) {
  ir_block *block = region->u.ctrl.blocks[0];
  ir_inst *start = prologue_end(region);
  ir_builder top = {.m = k->p->m, .f = k->f, .block = block, .before = start};
  for (var_use *use = uses; use; use = use->in_region) {
    use->var->aux = use;
    if (use->holder) use->inside = ir_field_at(&top, use->holder->address, 0);
  }
  ir_walk(block, use_stand_ins, region);
  leave_walk w = {k, uses};
  for (ir_inst *i = start; i; i = i->next) {
    if (i->op == IR_RETURN) copy_out(k, uses, block, i);
    for (uint32_t n = 0; n < ir_block_count(i); n++) ir_walk(i->u.ctrl.blocks[n], copy_out_at_return, &w);
  }
  if (!ir_block_ends(block)) copy_out(k, uses, block, NULL);
  for (var_use *use = uses; use; use = use->in_region)
    if (use->stand_in && use->var->storage == IR_STORE_CONTEXT && (use->exposed || (use->stores && use->partly)))
      ir_store(&top, use->stand_in->address, ir_load(&top, use->var->address));
}

static bool is_whole(const var_use *use) {
  bool whole = true;
  for (; use; use = use->next) whole &= use->whole;
  return whole;
}

/* The elements of a context variable's array stand one size apart, so that a variable with an attribute aligned is kept
 * in a struct, whose size its alignment divides. */
static void keep_whole(keeper *k, ir_var *var) {
  var->storage = IR_STORE_CONTEXT;
  if (var->align <= var->type->align) return;
  ir_type *type = ir_struct_new(k->p->m, var->name);
  ir_struct_complete(k->p->m, type, &var->type, NULL, &var->align, 1, false, false, 0);
  ir_var *holder = ir_var_private(k->f, var->name, type);
  holder->storage = IR_STORE_CONTEXT;
  for (var_use *use = var->aux; use; use = use->next) use->holder = holder;
}

static void choose_storage(keeper *k, ir_var *var) {
  var_use *uses = var->aux;
  bool exposed = false, again = false, single = uses && !uses->next;
  if (!uses || var->storage != IR_STORE_PLAIN) return;
  if (var->id) {
    keep_whole(k, var);
    return;
  }
  for (var_use *use = uses; use; use = use->next) {
    exposed |= use->exposed;
    again |= use->exposed && use->runs_again;
  }
  if (single && !again) return;
  if (exposed && (!is_whole(uses) || var->type->kind == IR_ARRAY || var->type->kind == IR_STRUCT)) {
    keep_whole(k, var);
    return;
  }
  if (exposed) var->storage = IR_STORE_CONTEXT;
  for (var_use *use = uses; use; use = use->next) use->stand_in = plain_copy(k, var);
}

typedef struct region_list {
  keeper *k;
  ir_inst **regions;
  var_use **uses;
  uint32_t count;
  bool failed;
} region_list;

static void list_regions(region_list *l, ir_block *block, bool in_loop) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_REGION) {
      use_walk w = {.k = l->k, .region = inst, .in_loop = in_loop};
      walk_uses(&w, inst->u.ctrl.blocks[0]);
      for (var_use *use = w.uses; use; use = use->in_region) use->partly = w.returns || !use->assigned;
      l->failed |= w.failed;
      l->regions[l->count] = inst;
      l->uses[l->count++] = w.uses;
      continue;
    }
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      list_regions(l, inst->u.ctrl.blocks[i], in_loop || inst->op == IR_LOOP);
  }
}

static bool count_region(void *user, ir_inst *inst) {
  *(uint32_t *)user += inst->op == IR_REGION;
  return true;
}

static qn_status keep_vars(keeper *k) {
  uint32_t count = 0;
  ir_walk(k->f->body, count_region, &count);
  region_list l = {.k = k};
  l.regions = QN_ARENA_ARRAY(k->arena, ir_inst *, count + 1);
  l.uses = QN_ARENA_ARRAY(k->arena, var_use *, count + 1);
  if (!l.regions || !l.uses) return walk_no_memory();
  for (ir_var *v = k->f->vars; v; v = v->next) {
    v->aux = NULL;
    v->id = 0;
  }
  ir_walk(k->f->body, note_escapes, NULL);
  list_regions(&l, k->f->body, false);
  if (l.failed) return walk_no_memory();
  ir_var *last = k->f->last_var; /* copies come behind it */
  for (ir_var *v = k->f->vars; v; v = v->next) {
    choose_storage(k, v);
    if (v == last) break;
  }
  for (uint32_t i = 0; i < l.count; i++) place_uses(k, l.regions[i], l.uses[i]);
  return k->p->m->failed ? walk_no_memory() : QN_OK;
}

qn_status region_keep_values(region_plan *p) {
  keeper k = {.p = p, .f = p->f, .arena = &p->arena};
  QN_TRY(keep_insts(&k));
  return keep_vars(&k);
}
