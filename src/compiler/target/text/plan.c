#include "compiler/target/text/plan.h"

/* Loops have indices from 1, inner ones after outer ones; 0 stands for the function. */
typedef struct text_loop {
  uint32_t outer, depth, end; /* end: number behind the last instruction within */
} text_loop;

/* Expressions larger or deeper than these get a name: lines stay readable, and no compiler's limit on brackets is near. */
enum { DEPTH_LIMIT = 40, SIZE_LIMIT = 40 };

typedef struct planner {
  text_plan *plan;
  const text_plan_rules *rules;
  uint32_t count, loops;
} planner;

static text_planned *planned(const planner *p, const ir_inst *inst) { return text_planned_of(p->plan, inst); }

/* ---- Loops ---- */

static void mark_continue(planner *p, const ir_inst *inst) {
  const ir_inst *owner = inst->parent->owner;
  while (owner->op != IR_LOOP) owner = owner->parent->owner;
  planned(p, owner)->continues = true;
}

static void find_loops(planner *p, const ir_block *block, uint32_t loop) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    planned(p, inst)->loop = loop;
    if (inst->op == IR_CONTINUE) mark_continue(p, inst);
    uint32_t inner = loop;
    if (inst->op == IR_LOOP) {
      text_loop *loops = p->plan->loops;
      inner = ++p->loops;
      loops[inner] = (text_loop){.outer = loop,
                                 .depth = loops[loop].depth + 1,
                                 .end = p->plan->function->ends[inst->id - p->plan->function->first_inst] + 1};
    }
    for (uint32_t i = 0; i < ir_block_count(inst); i++) find_loops(p, inst->u.ctrl.blocks[i], inner);
  }
}

/* Behind the outermost loop that has `inner` in it and not `outer`. */
static uint32_t end_of_loops_between(const planner *p, uint32_t inner, uint32_t outer) {
  const text_loop *loops = p->plan->loops;
  while (loops[inner].depth > loops[outer].depth + 1) inner = loops[inner].outer;
  return loops[inner].end;
}

/* ---- Sizes: of the expression that a value would be ---- */

static void count_uses(planner *p) {
  for (uint32_t i = 0; i < p->count; i++) {
    const ir_inst *inst = p->plan->function->insts[i];
    for (uint32_t k = 0; k < inst->arg_count; k++)
      if (inst->args[k]->parent) planned(p, inst->args[k])->prints++;
  }
}

static void find_size(planner *p, const ir_inst *inst) {
  uint32_t size = 1;
  for (uint32_t k = 0; k < inst->arg_count; k++) {
    const ir_inst *x = inst->args[k];
    bool joins = x->parent && (planned(p, x)->prints == 1 || text_is_step(x->op));
    if (joins && planned(p, x)->size <= SIZE_LIMIT) size += planned(p, x)->size;
  }
  planned(p, inst)->size = (uint16_t)(size > UINT16_MAX ? UINT16_MAX : size);
}

/* ---- Decisions ---- */

static bool is_effect(const ir_inst *inst) {
  if (inst->op == IR_CALL) return !text_function_of(inst->u.callee)->is_pure;
  return ir_has_effect(inst);
}

/* Free wherever it is written, and often. */
static bool is_cheap(const ir_inst *inst) {
  if (text_is_step(inst->op)) return true;
  if (inst->op == IR_EXTRACT) return inst->args[1]->op == IR_CONST;
  return (inst->op == IR_SEXT || inst->op == IR_ZEXT) && inst->args[0]->type->kind == IR_INT;
}

/* A pointer to the whole of a variable of this function whose address goes nowhere: the variable's name stands for what
 * it holds. Bools that are not plain are bytes in it. */
static const ir_var *named_var(const planner *p, const ir_inst *pointer) {
  if (pointer->op != IR_ADDRESS) return NULL;
  const ir_var *var = text_own_var(&p->plan->effects, pointer);
  bool may_be_more = ir_elem_of(var ? var->type : pointer->type)->kind != IR_BOOL && !p->rules->plain_only;
  return var && (may_be_more || text_is_plain_var(p->plan, var)) ? var : NULL;
}

static bool is_whole_load(const planner *p, const ir_inst *inst) {
  return inst->op == IR_LOAD && named_var(p, inst->args[0]);
}

static bool is_load(const ir_inst *inst) { return inst->op == IR_LOAD || inst->op == IR_VLOAD; }

static const ir_var *stored_var(const planner *p, const ir_inst *store, const ir_inst *value) {
  bool stores = store->op == IR_STORE && store->args[1] == value && !(store->flags & IR_VOLATILE);
  return stores ? named_var(p, store->args[0]) : NULL;
}

static bool stands_between(const planner *p, const ir_inst *from, const ir_inst *to) {
  for (const ir_inst *inst = from->next; inst != to; inst = inst->next)
    if (planned(p, inst)->how >= TEXT_NAMED) return true;
  return false;
}

/* In memory they are something else. */
static bool is_bools(const ir_type *type) { return type->kind == IR_VECTOR && type->elem->kind == IR_BOOL; }

/* Whether a value may go by the name of the variable that it is stored in. */
static bool is_stored(const planner *p, const ir_inst *inst) {
  const text_planned *v = planned(p, inst);
  if (p->rules->plain_only && p->rules->wants_name(inst)) return false;
  const text_effects *effects = &p->plan->effects;
  const ir_inst *store = v->user;
  if (store->parent != inst->parent || !stored_var(p, store, inst) || is_bools(inst->type)) return false;
  if (is_effect(inst) && (inst->op != IR_CALL || stands_between(p, inst, store))) return false;
  if (is_load(inst) && text_is_written(effects, inst->args[0], inst->id, store->id)) return false;
  return !text_is_written(effects, store->args[0], store->id, v->last);
}

static text_how decide(const planner *p, const ir_inst *inst) {
  const text_planned *v = planned(p, inst);
  bool wants_name = p->rules->wants_name && p->rules->wants_name(inst);
  if (!v->prints) return is_effect(inst) ? TEXT_STATEMENT : TEXT_DEAD;
  bool is_simple = !is_effect(inst) && !wants_name && v->depth <= DEPTH_LIMIT;
  if (is_load(inst) && text_is_written(&p->plan->effects, inst->args[0], inst->id, v->last)) is_simple = false;
  if (is_simple && (is_cheap(inst) || is_whole_load(p, inst))) return TEXT_INLINE;
  if (is_simple && v->prints == 1 && !v->is_further_in && v->size <= SIZE_LIMIT) return TEXT_INLINE;
  return is_stored(p, inst) ? TEXT_STORED : TEXT_NAMED;
}

/* Where `inst` is written its operand is. */
static void pass_on(const planner *p, const ir_inst *inst, uint32_t operand) {
  const text_planned *v = planned(p, inst);
  text_planned *x = planned(p, inst->args[operand]);
  bool is_inline = v->how == TEXT_INLINE;
  uint32_t place = v->how == TEXT_STORED ? v->user->id : inst->id;
  uint64_t copies = p->rules->copies ? p->rules->copies(inst, operand) : 1;
  uint64_t prints = x->prints + copies * (is_inline ? v->prints : 1);
  uint32_t last = is_inline ? v->last : place;
  uint16_t depth = is_inline ? (uint16_t)(v->depth + 1) : 0;
  bool further_in = is_inline && v->is_further_in;
  if (v->loop != x->loop) {
    last = end_of_loops_between(p, v->loop, x->loop);
    further_in = true;
  }
  x->user = inst;
  x->prints = (uint32_t)(prints > UINT32_MAX ? UINT32_MAX : prints);
  if (last > x->last) x->last = last;
  if (depth > x->depth) x->depth = depth;
  x->is_further_in |= further_in;
}

/* Backwards: where a value is written is known when its users are. */
static void decide_all(planner *p) {
  for (uint32_t i = 0; i < p->count; i++) p->plan->values[i].prints = 0;
  for (uint32_t i = p->count; i; i--) {
    const ir_inst *inst = p->plan->function->insts[i - 1];
    text_how how = decide(p, inst);
    planned(p, inst)->how = (uint8_t)how;
    if (how == TEXT_DEAD) continue;
    for (uint32_t k = 0; k < inst->arg_count; k++)
      if (inst->args[k]->parent) pass_on(p, inst, k);
  }
}

bool text_plan_make(text_plan *plan, const text_function *t, const text_plan_rules *rules) {
  qn_arena *arena = t->f->module->arena;
  planner p = {.plan = plan, .rules = rules, .count = text_inst_count(t)};
  *plan = (text_plan){.function = t};
  plan->values = QN_ARENA_ARRAY(arena, text_planned, p.count + 1);
  plan->loops = QN_ARENA_ARRAY(arena, text_loop, p.count + 1);
  if (!plan->values || !plan->loops || !text_effects_find(&plan->effects, t)) return false;
  find_loops(&p, t->f->body, 0);
  count_uses(&p);
  for (uint32_t i = 0; i < p.count; i++) find_size(&p, t->insts[i]);
  decide_all(&p);
  return true;
}
