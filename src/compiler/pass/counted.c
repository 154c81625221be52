#include "compiler/pass/counted.h"

#include "compiler/pass/clone.h"

enum { NEAR = 64 /* how far before a loop its start is looked for */ };

/* ---- What is in a loop ---- */

static ir_inst *root_of(ir_inst *pointer) {
  while (pointer->op == IR_ELEM || pointer->op == IR_INDEX || pointer->op == IR_FIELD || pointer->op == IR_PCAST)
    pointer = pointer->args[0];
  return pointer;
}

static bool is_private(const ir_inst *x) { return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE; }

/* `aux` of an instruction: not NULL when its value hangs on the variable and numbers alone. */
static bool hangs_on(const ir_inst *inst, const counted_survey *s) {
  if (inst->op == IR_LOAD) return inst->args[0] == s->var->address;
  ir_class cls = ir_op_table[inst->op].cls;
  if (cls < IR_CLASS_UN || cls > IR_CLASS_CONV) return false;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->parent ? !inst->args[i]->aux : inst->args[i]->op != IR_CONST) return false;
  return true;
}

static bool look_at(void *user, ir_inst *inst) {
  counted_survey *s = user;
  s->size++;
  s->is_closed |= inst->op == IR_LOOP || inst->op == IR_BARRIER;
  inst->aux = hangs_on(inst, s) ? s : NULL;
  s->stores += inst->op == IR_STORE && inst->args[0] == s->var->address;
  bool is_step = inst->op == IR_INDEX || inst->op == IR_ELEM;
  if (is_step && inst->args[1]->parent && inst->args[1]->aux) s->is_indexed |= is_private(root_of(inst->args[0]));
  return true;
}

/* A break or continue that leads out of `block` to the loop around it. */
static bool leads_out(const ir_block *block, bool in_switch) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_CONTINUE || (inst->op == IR_BREAK && !in_switch)) return true;
    if (inst->op == IR_LOOP) continue;
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (leads_out(inst->u.ctrl.blocks[i], in_switch || inst->op == IR_SWITCH)) return true;
  }
  return false;
}

static bool is_only_break(const ir_block *block) {
  return block->first && block->first == block->last && block->first->op == IR_BREAK;
}

static bool is_guard(const ir_inst *inst) {
  if (inst->op != IR_IF) return false;
  const ir_block *yes = inst->u.ctrl.blocks[0], *no = inst->u.ctrl.blocks[1];
  return (is_only_break(yes) && !no->first) || (is_only_break(no) && !yes->first);
}

/* The first if of the body, when it does nothing but leave. */
static ir_inst *find_guard(const ir_block *body) {
  for (ir_inst *inst = body->first; inst; inst = inst->next) {
    if (is_guard(inst)) return inst;
    if (ir_has_effect(inst)) return NULL;
  }
  return NULL;
}

/* ---- Counting: `aux` of an instruction is its value in the trip that is looked at ---- */

static ir_inst *value_of(ir_inst *x) { return x->parent ? x->aux : x; }

/* Runs a block's instructions up to `end` for one value of the variable; what isn't known stays NULL. */
static void run(ir_module *m, ir_inst *first, const ir_inst *end, const ir_var *var, ir_inst **value) {
  for (ir_inst *inst = first; inst && inst != end; inst = inst->next) {
    ir_inst *args[3];
    bool is_known = inst->arg_count <= 3;
    inst->aux = NULL;
    for (uint32_t i = 0; i < inst->arg_count && is_known; i++) {
      args[i] = value_of(inst->args[i]);
      is_known = args[i] != NULL;
    }
    ir_class cls = ir_op_table[inst->op].cls;
    if (inst->op == IR_LOAD && inst->args[0] == var->address)
      inst->aux = *value;
    else if (inst->op == IR_STORE && inst->args[0] == var->address)
      *value = value_of(inst->args[1]);
    else if (is_known && cls >= IR_CLASS_UN && cls <= IR_CLASS_CONV)
      inst->aux = ir_fold(m, inst->op, inst->flags, inst->type, args, inst->arg_count);
  }
}

static bool is_true(const ir_inst *x) { return x && x->op == IR_CONST && x->imm; }
static bool is_constant(const ir_inst *x) { return x && x->op == IR_CONST; }

/* Whether the guard leaves; false in *known: that can't be told. */
static bool leaves(const ir_inst *guard, bool *known) {
  ir_inst *condition = value_of(guard->args[0]);
  *known = is_constant(condition);
  return is_true(condition) == is_only_break(guard->u.ctrl.blocks[0]);
}

ir_inst *counted_until(const ir_block *step) { return step->last && step->last->op == IR_BREAK_IF ? step->last : NULL; }

ir_inst *counted_start(const counted *c) {
  uint32_t seen = 0;
  for (ir_inst *inst = c->loop->prev; inst && seen < NEAR; inst = inst->prev, seen++) {
    bool is_own = (inst->op == IR_STORE || inst->op == IR_FRESH) && inst->args[0] == c->var->address;
    if (is_own) return inst->op == IR_STORE && is_constant(inst->args[1]) ? inst->args[1] : NULL;
    counted_survey s = {.var = c->var};
    for (uint32_t i = 0; i < ir_block_count(inst); i++) (void)ir_walk(inst->u.ctrl.blocks[i], look_at, &s);
    if (s.stores) return NULL;
  }
  return NULL;
}

uint32_t counted_trips(ir_module *m, const counted *c, uint32_t limit) {
  ir_inst *value = counted_start(c);
  const ir_block *body = c->loop->u.ctrl.blocks[0], *step = c->loop->u.ctrl.blocks[1];
  const ir_inst *until = counted_until(step);
  bool known = true;
  if (!value) return 0;
  for (uint32_t trips = 0; trips <= limit; trips++) {
    if (c->guard) {
      run(m, body->first, c->guard, c->var, &value);
      if (leaves(c->guard, &known)) return known ? trips : 0;
      if (!known) return 0;
    }
    run(m, step->first, until, c->var, &value);
    if (!is_constant(value)) return 0;
    if (!until) continue;
    if (!is_constant(value_of(until->args[0]))) return 0;
    if (is_true(value_of(until->args[0]))) return trips + 1;
  }
  return 0;
}

static bool is_load(const ir_inst *x, const ir_var *var) {
  return x->parent && x->op == IR_LOAD && x->args[0] == var->address;
}

int64_t counted_step(const counted *c) {
  const ir_block *step = c->loop->u.ctrl.blocks[1];
  const ir_inst *store = step->last;
  if (!store || store->op != IR_STORE || store->args[0] != c->var->address) return 0;
  const ir_inst *sum = store->args[1];
  if (!sum->parent || (sum->op != IR_ADD && sum->op != IR_SUB)) return 0;
  if (!is_load(sum->args[0], c->var) || sum->args[1]->op != IR_CONST) return 0;
  uint32_t drop = 64 - sum->type->bits;
  int64_t by = (int64_t)(sum->args[1]->imm << drop) >> drop;
  return sum->op == IR_ADD ? by : -by;
}

bool counted_is_outside(const ir_inst *x, const ir_inst *loop) {
  for (const ir_block *block = x->parent; block && loop; loop = loop->parent->owner)
    if (loop->parent == block) return true;
  return !x->parent;
}

/* The variable that the continue block stores in, when there is one such. */
static ir_var *find_variable(const ir_block *step) {
  ir_var *var = NULL;
  for (const ir_inst *inst = step->first; inst; inst = inst->next) {
    if (ir_block_count(inst)) return NULL;
    if (inst->op != IR_STORE || !is_private(inst->args[0]) || inst->args[0]->u.var->type->kind != IR_INT) continue;
    if (inst->args[0]->u.var->aux) continue; /* its address goes elsewhere */
    if (var) return NULL;
    var = inst->args[0]->u.var;
  }
  return var;
}

bool counted_look(ir_inst *loop, counted *c) {
  ir_block *body = loop->u.ctrl.blocks[0], *step = loop->u.ctrl.blocks[1];
  *c = (counted){.loop = loop, .guard = find_guard(body), .var = find_variable(step)};
  if (!c->var) return false;
  counted_survey s = {.var = c->var};
  (void)ir_walk(body, look_at, &s);
  uint32_t in_body = s.stores;
  (void)ir_walk(step, look_at, &s);
  c->survey = s;
  return !in_body && s.stores == 1;
}

bool counted_find(ir_inst *loop, counted *c) {
  const ir_block *body = loop->u.ctrl.blocks[0];
  if (ir_block_ends(body) || !counted_look(loop, c)) return false;
  for (const ir_inst *inst = c->guard ? c->guard->next : body->first; inst; inst = inst->next) {
    if (inst->op == IR_CONTINUE || inst->op == IR_BREAK) return false;
    for (uint32_t i = 0; i < ir_block_count(inst) && inst->op != IR_LOOP; i++)
      if (leads_out(inst->u.ctrl.blocks[i], inst->op == IR_SWITCH)) return false;
  }
  return true;
}

/* ---- Copies ---- */

static bool clear(void *user, ir_inst *inst) {
  (void)user;
  inst->aux = NULL;
  return true;
}

static bool copy_block(ir_builder *b, const ir_block *from, const ir_inst *without) {
  for (ir_inst *inst = from->first; inst; inst = inst->next) {
    if (inst == without) continue;
    ir_inst *copy = clone_inst(b, inst);
    if (!copy) return false;
    ir_inst *before = b->before;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) {
      ir_block *outer = ir_into(b, copy->u.ctrl.blocks[i]);
      bool done = copy_block(b, inst->u.ctrl.blocks[i], NULL);
      ir_into(b, outer);
      b->before = before;
      if (!done) return false;
    }
  }
  return true;
}

bool counted_copy(ir_builder *b, const counted *c, uint32_t which) {
  const ir_block *block = c->loop->u.ctrl.blocks[which];
  (void)ir_walk(c->loop->u.ctrl.blocks[which], clear, NULL);
  return copy_block(b, block, which ? counted_until(block) : c->guard);
}

/* `aux` of a variable: not NULL when its address goes elsewhere than to loads and stores. */
static bool note_use(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    bool is_direct =
        i == 0 && !(inst->flags & IR_VOLATILE) && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
    if (is_private(inst->args[i]) && !is_direct) inst->args[i]->u.var->aux = inst->args[i]->u.var;
  }
  inst->aux = NULL;
  return true;
}

void counted_prepare(ir_function *f) {
  for (ir_var *v = f->vars; v; v = v->next) v->aux = NULL, v->address->aux = NULL;
  for (ir_var *v = f->locals; v; v = v->next) v->address->aux = NULL;
  for (uint32_t i = 0; i < f->param_count; i++) f->params[i].value->aux = NULL;
  for (ir_var *v = f->module->constants; v; v = v->next) v->address->aux = NULL;
  (void)ir_walk(f->body, note_use, NULL);
}
