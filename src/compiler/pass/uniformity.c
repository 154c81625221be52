/* uniformity.c - what is the same for all work-items of a group, found by assuming all is and taking back what isn't,
 * until nothing changes. docs/decisions/regions.md has the reasoning.
 *
 * Items part at a varying condition. They meet again at the end of the branch, unless some of them break, continue or
 * return there: those wait at the end of what they left (returned ones are gone, and what happens without them doesn't
 * matter to them). Code that they miss is a store's problem in two ways:
 *
 *   a store in a varying branch, or between a varying break and the end of what it leaves, is seen only by the items that
 *   are there. It is no harm when no others ever load that value: all loads are within, and what is loaded was stored
 *   since the items came in;
 *   a varying continue is seen by the items that wait in the same loop: a store behind it makes the variable varying.
 *
 * A break, continue or return that is itself not under a varying condition still parts items when others wait within
 * what it leaves. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

typedef struct interval {
  uint32_t first, last; /* ids; none: first > last */
} interval;

/* Of each instruction, by id. */
typedef struct inst_facts {
  uint32_t end;               /* id of the last instruction within */
  interval breaks, continues; /* of loops and switches: where items part that leave it */
} inst_facts;

/* A loop or switch around the walk's place; level 0 is the function. */
typedef struct level {
  ir_inst *inst;
  bool parted_by_break, parted_by_continue; /* some items may have left, and wait */
} level;

/* A block whose items are not all of those that were there before. */
typedef struct branch {
  const ir_block *block;
  uint32_t level; /* that it is in */
} branch;

typedef struct analysis {
  ir_function *f;
  inst_facts *facts;
  interval *loads;      /* of each variable, by its id */
  bool *is_plain;       /* only loaded, stored and freshened, whole */
  bool *written_params; /* byval ones that are not only read */
  level *levels;
  uint32_t depth;
  const branch *branch; /* the innermost varying one around the place; NULL: none */
  bool changed;
} analysis;

static bool is_varying(const void *aux) { return (uintptr_t)aux == QN_VARYING; }

static void make_varying(analysis *a, void **aux) {
  if (is_varying(*aux)) return;
  *aux = (void *)(uintptr_t)QN_VARYING;
  a->changed = true;
}

static bool arg_varies(const ir_inst *inst, uint32_t i) {
  return inst->args[i]->parent && is_varying(inst->args[i]->aux);
}

static bool any_arg_varies(const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (arg_varies(inst, i)) return true;
  return false;
}

/* ---- Variables ---- */

static ir_var *private_var(const ir_inst *x) {
  return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE ? x->u.var : NULL;
}

static void widen(interval *i, uint32_t id) {
  if (id < i->first) i->first = id;
  if (id > i->last) i->last = id;
}

static bool meets(interval i, uint32_t first, uint32_t last) { return i.first <= last && i.last >= first; }

static const ir_inst *root_of(const ir_inst *p) {
  while (p->op == IR_ELEM || p->op == IR_INDEX || p->op == IR_FIELD || p->op == IR_PCAST) p = p->args[0];
  return p;
}

static bool is_path(ir_op op) { return op == IR_ELEM || op == IR_INDEX || op == IR_FIELD || op == IR_PCAST; }

static bool note_uses(void *user, ir_inst *inst) {
  analysis *a = user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *x = inst->args[i];
    ir_var *var = private_var(x);
    bool reads = inst->op == IR_LOAD || inst->op == IR_VLOAD || is_path(inst->op);
    const ir_inst *root = root_of(x);
    if (root->op == IR_PARAM && a->f->params[root->imm].byval && !(reads && i == 0))
      a->written_params[root->imm] |= !(inst->op == IR_COPY && i == 1);
    if (!var) continue;
    bool direct = i == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
    if (!direct || (inst->flags & IR_VOLATILE)) a->is_plain[var->id] = false;
    if (inst->op == IR_LOAD) widen(&a->loads[var->id], inst->id);
  }
  inst->aux = (void *)(uintptr_t)QN_UNIFORM;
  return true;
}

static void find_ends(analysis *a, const ir_block *block) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    uint32_t end = inst->id;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) {
      const ir_block *inner = inst->u.ctrl.blocks[i];
      find_ends(a, inner);
      if (inner->last) end = a->facts[inner->last->id].end;
    }
    a->facts[inst->id] = (inst_facts){end, {UINT32_MAX, 0}, {UINT32_MAX, 0}};
  }
}

/* ---- Functions that only compute ---- */

static char pure_mark, impure_mark;

static bool is_pure(ir_function *f);

static bool is_pure_inst(void *user, ir_inst *inst) {
  (void)user;
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
      return inst->args[0]->type->space == IR_CONSTANT || private_var(root_of(inst->args[0]));
    case IR_STORE:
    case IR_VSTORE:
      return private_var(root_of(inst->args[0])) != NULL;
    case IR_COPY:
      return private_var(root_of(inst->args[0])) && private_var(root_of(inst->args[1]));
    case IR_CALL:
      return is_pure(inst->u.callee);
    case IR_GLOBAL_ID:
    case IR_LOCAL_ID:
    case IR_BARRIER:
    case IR_FENCE:
    case IR_ATOMIC:
    case IR_TRAP:
      return false;
    default:
      return true;
  }
}

/* Whether a call with the same arguments gives the same and does nothing else. */
static bool is_pure(ir_function *f) {
  if (!f->aux) f->aux = f->body && ir_walk(f->body, is_pure_inst, NULL) ? &pure_mark : &impure_mark;
  return f->aux == &pure_mark;
}

/* ---- Values ---- */

/* Memory that no work-item writes while the kernel runs. */
static bool is_read_only(const analysis *a, const ir_inst *pointer) {
  if (pointer->type->space == IR_CONSTANT) return true;
  const ir_inst *root = root_of(pointer);
  if (root->op != IR_PARAM || !a->f->is_kernel) return false;
  const ir_param *p = &a->f->params[root->imm];
  if (p->byval) return !a->written_params[root->imm];
  return p->is_restrict && !p->is_volatile && (p->is_const || p->access == QN_ACCESS_READ);
}

static bool load_varies(const analysis *a, const ir_inst *inst) {
  const ir_var *var = private_var(inst->args[0]);
  if (inst->flags & IR_VOLATILE) return true;
  if (var) return inst->op != IR_LOAD || is_varying(var->aux);
  return arg_varies(inst, 0) || !is_read_only(a, inst->args[0]);
}

/* A pointer to a variable of its own each item has. */
static bool holds_item_address(const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (private_var(inst->args[i]) && inst->args[i]->type->kind == IR_POINTER) return true;
  return false;
}

static bool value_varies(const analysis *a, const ir_inst *inst) {
  switch (inst->op) {
    case IR_LOCAL_ID:
    case IR_GLOBAL_ID:
    case IR_ATOMIC:
      return true;
    case IR_LOAD:
    case IR_VLOAD:
      return load_varies(a, inst);
    case IR_CALL:
      return any_arg_varies(inst) || holds_item_address(inst) || !is_pure(inst->u.callee);
    default:
      return any_arg_varies(inst) || holds_item_address(inst);
  }
}

/* ---- Stores ---- */

/* Whether the variable is stored in a block right before `where` (NULL: from its start on), before anything loads it. */
static bool stored_before(const analysis *a, const ir_var *var, const ir_inst *where, const ir_block *block) {
  enum { FAR = 256 };
  int budget = FAR;
  if (where) {
    for (const ir_inst *i = where->prev; i && budget--; i = i->prev)
      if ((i->op == IR_STORE || i->op == IR_FRESH) && i->args[0] == var->address) return true;
    return false;
  }
  for (const ir_inst *i = block->first; i && budget--; i = i->next) {
    if ((i->op == IR_STORE || i->op == IR_FRESH) && i->args[0] == var->address) return true;
    if (meets(a->loads[var->id], i->id, a->facts[i->id].end)) return false;
  }
  return false;
}

static bool in_loop(const analysis *a, uint32_t innermost) {
  for (uint32_t w = 1; w <= innermost; w++)
    if (a->levels[w].inst->op == IR_LOOP) return true;
  return false;
}

/* Whether only the items that are in the branch ever see what is stored there. */
static bool is_seen_in_branch(const analysis *a, const ir_var *var) {
  const ir_block *block = a->branch->block;
  interval loads = a->loads[var->id];
  if (loads.first > loads.last) return true;
  if (loads.first < block->first->id || loads.last > a->facts[block->last->id].end) return false;
  return !in_loop(a, a->branch->level) || stored_before(a, var, block->owner, NULL) ||
         stored_before(a, var, NULL, block);
}

/* The same of those that are in a loop or switch. */
static bool is_seen_in_level(const analysis *a, const ir_var *var, uint32_t w) {
  const ir_inst *inst = a->levels[w].inst;
  interval loads = a->loads[var->id];
  if (loads.first > loads.last) return true;
  if (loads.first < inst->id || loads.last > a->facts[inst->id].end) return false;
  return !in_loop(a, w - 1) || stored_before(a, var, inst, NULL);
}

static bool store_varies(const analysis *a, const ir_inst *inst, const ir_var *var) {
  if (arg_varies(inst, 1) || private_var(inst->args[1])) return true;
  if (a->branch && !is_seen_in_branch(a, var)) return true;
  for (uint32_t w = a->depth; w; w--) {
    if (a->levels[w].parted_by_continue) return true;
    if (a->levels[w].parted_by_break) return !is_seen_in_level(a, var, w);
  }
  return false;
}

/* ---- Leaving ---- */

/* The level that a break or continue leads to. */
static uint32_t target_level(const analysis *a, ir_op op) {
  uint32_t w = a->depth;
  if (op == IR_RETURN) return 0;
  while (op == IR_CONTINUE && w && a->levels[w].inst->op != IR_LOOP) w--;
  return w;
}

/* Whether items that are in level `target` are not all here. */
static bool parts_from(const analysis *a, uint32_t target) {
  if (a->branch && a->branch->level >= target) return true;
  if (a->levels[target].parted_by_continue) return true;
  for (uint32_t w = target + 1; w <= a->depth; w++)
    if (a->levels[w].parted_by_break || a->levels[w].parted_by_continue) return true;
  return false;
}

static void walk_leave(analysis *a, ir_inst *inst) {
  uint32_t target = target_level(a, inst->op);
  if (inst->op == IR_BREAK_IF) {
    if (!arg_varies(inst, 0)) return;
    make_varying(a, &inst->aux);
  }
  if (!is_varying(inst->aux) && !parts_from(a, target)) return;
  make_varying(a, &inst->aux);
  if (inst->op == IR_RETURN) return;
  level *l = &a->levels[target];
  inst_facts *facts = &a->facts[l->inst->id];
  interval *where = inst->op == IR_CONTINUE ? &facts->continues : &facts->breaks;
  interval before = *where;
  widen(where, inst->id);
  if (where->first != before.first || where->last != before.last) a->changed = true;
  if (inst->op == IR_CONTINUE)
    l->parted_by_continue = true;
  else
    l->parted_by_break = true;
}

/* ---- The walk ---- */

static void walk_block(analysis *a, ir_block *block);

/* A loop comes around: what parts items anywhere within has done so when it starts again. */
static void enter_loop(analysis *a, const ir_inst *inst) {
  uint32_t last = a->facts[inst->id].end;
  for (uint32_t w = 1; w <= a->depth; w++) {
    level *l = &a->levels[w];
    const inst_facts *facts = &a->facts[l->inst->id];
    l->parted_by_break |= meets(facts->breaks, inst->id, last);
    if (l->inst != inst) l->parted_by_continue |= meets(facts->continues, inst->id, last);
  }
}

static void walk_loop(analysis *a, ir_inst *inst) {
  a->levels[++a->depth] = (level){.inst = inst};
  enter_loop(a, inst);
  walk_block(a, inst->u.ctrl.blocks[0]);
  a->levels[a->depth].parted_by_continue = false;
  walk_block(a, inst->u.ctrl.blocks[1]);
  a->depth--;
}

/* A varying switch parts items from within: a break there leaves others behind in other cases. */
static void walk_branches(analysis *a, ir_inst *inst) {
  bool varies = arg_varies(inst, 0), is_level = inst->op == IR_SWITCH;
  const branch *outer = a->branch;
  if (varies) make_varying(a, &inst->aux);
  if (is_level) a->levels[++a->depth] = (level){.inst = inst};
  for (uint32_t i = 0; i < ir_block_count(inst); i++) {
    branch here = {inst->u.ctrl.blocks[i], a->depth};
    if (varies) a->branch = &here;
    walk_block(a, inst->u.ctrl.blocks[i]);
  }
  if (is_level) a->depth--;
  a->branch = outer;
}

static void walk_inst(analysis *a, ir_inst *inst) {
  ir_var *var = inst->arg_count ? private_var(inst->args[0]) : NULL;
  switch (inst->op) {
    case IR_LOOP:
      walk_loop(a, inst);
      return;
    case IR_IF:
    case IR_SWITCH:
      walk_branches(a, inst);
      return;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_BREAK_IF:
    case IR_RETURN:
      walk_leave(a, inst);
      return;
    case IR_STORE:
      if (var && !is_varying(var->aux) && store_varies(a, inst, var)) make_varying(a, &var->aux);
      break;
    default:
      break;
  }
  if (inst->op == IR_STORE || inst->op == IR_FRESH) {
    if (!var || is_varying(var->aux)) make_varying(a, &inst->aux);
  } else if (value_varies(a, inst)) {
    make_varying(a, &inst->aux);
  }
}

static void walk_block(analysis *a, ir_block *block) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) walk_inst(a, inst);
}

static uint32_t nesting(const ir_block *block) {
  uint32_t depth = 0;
  for (const ir_inst *inst = block->first; inst; inst = inst->next)
    for (uint32_t i = 0; i < ir_block_count(inst); i++) {
      uint32_t inner = nesting(inst->u.ctrl.blocks[i]) + 1;
      if (inner > depth) depth = inner;
    }
  return depth;
}

static bool prepare(analysis *a, qn_arena *arena) {
  ir_function *f = a->f;
  uint32_t insts = ir_number(f), vars = 0;
  for (ir_var *v = f->vars; v; v = v->next) v->id = vars++;
  a->facts = QN_ARENA_ARRAY(arena, inst_facts, insts + 1);
  a->loads = QN_ARENA_ARRAY(arena, interval, vars + 1);
  a->is_plain = QN_ARENA_ARRAY(arena, bool, vars + 1);
  a->written_params = QN_ARENA_ARRAY(arena, bool, f->param_count + 1);
  a->levels = QN_ARENA_ARRAY(arena, level, nesting(f->body) + 2);
  if (!a->facts || !a->loads || !a->is_plain || !a->written_params || !a->levels) return false;
  for (ir_var *v = f->vars; v; v = v->next) {
    a->loads[v->id] = (interval){UINT32_MAX, 0};
    a->is_plain[v->id] = v->type->kind != IR_ARRAY && v->type->kind != IR_STRUCT;
  }
  find_ends(a, f->body);
  ir_walk(f->body, note_uses, a);
  for (ir_var *v = f->vars; v; v = v->next) v->aux = (void *)(uintptr_t)(a->is_plain[v->id] ? QN_UNIFORM : QN_VARYING);
  for (ir_function *g = f->module->functions; g; g = g->next) g->aux = NULL;
  return true;
}

qn_status pass_uniformity(ir_function *f) {
  if (!f->body) return QN_OK;
  qn_arena arena;
  qn_arena_init(&arena, 0);
  analysis a = {.f = f, .changed = true};
  if (!prepare(&a, &arena)) a.changed = false;
  bool ready = a.changed;
  while (a.changed) {
    a.changed = false;
    a.levels[0] = (level){0};
    walk_block(&a, f->body);
  }
  qn_arena_free(&arena);
  return ready ? QN_OK : walk_no_memory();
}
