/* inline.c - calls become the callee's body. Functions are done callees first, so that a body is complete when it is
 * copied. A return inside becomes a break out of a switch that holds the copy; inside loops and switches of the callee it
 * sets a flag and breaks, and each construct that it leaves is followed by "if the flag is set, break". */
#include <stdlib.h>

#include "base/status.h"
#include "compiler/pass/clone.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

enum {
  SMALL = 60,              /* instructions of a callee that is always worth it */
  FUNCTION_LIMIT = 100000, /* a function does not grow beyond this for speed alone */
  HARD_LIMIT = 2000000     /* nor beyond this at all */
};

/* What is known of each function; its `aux`. */
typedef struct facts {
  uint32_t size, returns, depth; /* depth: how deep blocks nest */
  bool has_barrier;
} facts;

static bool gather(void *user, ir_inst *inst) {
  facts *known = user;
  known->size++;
  known->returns += inst->op == IR_RETURN;
  if (inst->op == IR_BARRIER) known->has_barrier = true;
  if (inst->op == IR_CALL) known->has_barrier |= ((const facts *)inst->u.callee->aux)->has_barrier;
  return true;
}

static uint32_t depth_of(const ir_block *block) {
  uint32_t depth = 0;
  for (const ir_inst *inst = block->first; inst; inst = inst->next)
    for (uint32_t i = 0; i < ir_block_count(inst); i++) {
      uint32_t inner = depth_of(inst->u.ctrl.blocks[i]) + 1;
      if (inner > depth) depth = inner;
    }
  return depth;
}

static void find_facts(const ir_function *f, facts *known) {
  *known = (facts){0};
  ir_walk(f->body, gather, known);
  known->depth = depth_of(f->body);
}

typedef struct inliner {
  ir_module *m;
  ir_builder b;
  ir_function *callee;
  ir_var *result, *done; /* what the callee returns; set when a return must leave more than one construct */
  bool wrapped;          /* returns leave a switch; else there is one, at the end */
  ir_inst *value;        /* of the only return */
} inliner;

/* ---- The copy of a body ---- */

static void copy_block(inliner *in, const ir_block *from, uint32_t depth);

/* `depth`: how many loops and switches of the callee the return is in. */
static void copy_return(inliner *in, const ir_inst *inst, uint32_t depth) {
  ir_inst *value = inst->arg_count ? clone_operand(inst->args[0]) : NULL;
  if (!in->wrapped) {
    in->value = value;
    return;
  }
  if (value) ir_store(&in->b, in->result->address, value);
  if (depth) ir_store(&in->b, in->done->address, ir_const_int(in->m, ir_bool(in->m), 1));
  ir_leave(&in->b, IR_BREAK);
}

static bool find_return(void *user, ir_inst *inst) {
  (void)user;
  return inst->op != IR_RETURN;
}

static bool holds_return(const ir_inst *inst) {
  for (uint32_t i = 0; i < ir_block_count(inst); i++)
    if (!ir_walk(inst->u.ctrl.blocks[i], find_return, NULL)) return true;
  return false;
}

/* Copies into a block and comes back to the place where the builder was. */
static void copy_into(inliner *in, ir_block *to, const ir_block *from, uint32_t depth) {
  ir_inst *before = in->b.before;
  ir_block *outer = ir_into(&in->b, to);
  if (from)
    copy_block(in, from, depth);
  else
    ir_leave(&in->b, IR_BREAK);
  ir_into(&in->b, outer);
  in->b.before = before;
}

static void copy_inner(inliner *in, ir_inst *inst, ir_inst *copy, uint32_t depth) {
  bool can_break = inst->op == IR_LOOP || inst->op == IR_SWITCH;
  for (uint32_t i = 0; i < ir_block_count(inst); i++)
    copy_into(in, copy->u.ctrl.blocks[i], inst->u.ctrl.blocks[i], depth + can_break);
  if (!can_break || !holds_return(inst)) return;
  ir_inst *leave = ir_if(&in->b, ir_load(&in->b, in->done->address));
  copy_into(in, leave->u.ctrl.blocks[0], NULL, 0);
}

static void copy_block(inliner *in, const ir_block *from, uint32_t depth) {
  for (ir_inst *inst = from->first; inst; inst = inst->next) {
    if (inst->op == IR_RETURN) {
      copy_return(in, inst, depth);
      return;
    }
    ir_inst *copy = clone_inst(&in->b, inst);
    if (!copy) return;
    if (ir_block_count(inst)) copy_inner(in, inst, copy, depth);
  }
}

/* ---- Parameters and variables ---- */

static ir_var *new_var(inliner *in, const char *name, const ir_type *type) {
  ir_var *var = ir_var_private(in->b.f, name, type);
  ir_fresh(&in->b, var);
  return var;
}

static void copy_vars(inliner *in) {
  for (ir_var *v = in->callee->vars; v; v = v->next) {
    ir_var *copy = new_var(in, v->name, v->type);
    copy->align = v->align;
    v->address->aux = copy->address;
  }
}

/* A struct by value gets a copy of its own. */
static void copy_params(inliner *in, const ir_inst *call) {
  for (uint32_t i = 0; i < in->callee->param_count; i++) {
    const ir_param *param = &in->callee->params[i];
    ir_inst *value = call->args[i];
    if (param->byval) {
      ir_var *own = new_var(in, param->name, param->type->elem);
      ir_copy(&in->b, own->address, value);
      value = own->address;
    }
    param->value->aux = value;
  }
}

static void forget_copies(const ir_function *f) {
  for (ir_var *v = f->vars; v; v = v->next) v->address->aux = NULL;
  for (uint32_t i = 0; i < f->param_count; i++) f->params[i].value->aux = NULL;
}

/* Whether the copy needs no block of its own: nothing in it leaves before its end. A trap must stand last in its block. */
static bool ends_once_at_the_end(const ir_function *f) {
  const facts *known = f->aux;
  const ir_inst *last = f->body->last;
  return known->returns == 0 ? !last || last->op != IR_TRAP : known->returns == 1 && last->op == IR_RETURN;
}

/* Opens the switch whose end is where returns go. */
static void wrap(inliner *in) {
  const ir_type *result = in->callee->result;
  in->wrapped = true;
  in->done = new_var(in, "done", ir_bool(in->m));
  if (result->kind != IR_VOID) in->result = new_var(in, "result", result);
  ir_store(&in->b, in->done->address, ir_const_int(in->m, ir_bool(in->m), 0));
  ir_inst *inst = ir_switch(&in->b, ir_const_int(in->m, ir_int(in->m, 32), 0), NULL, 0);
  if (inst) ir_into(&in->b, inst->u.ctrl.blocks[0]);
}

/* What the call gave; a body that ends without a return gives any value. */
static ir_inst *result_of(inliner *in) {
  const ir_type *type = in->callee->result;
  if (type->kind == IR_VOID) return NULL;
  if (in->wrapped) return ir_load(&in->b, in->result->address);
  return in->value ? in->value : ir_undef(in->m, type);
}

/* Uses of calls that are gone take the results. */
static bool take_results(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    while (inst->args[i]->op == IR_CALL && !inst->args[i]->parent) inst->args[i] = inst->args[i]->aux;
  return true;
}

static void inline_call(ir_module *m, ir_function *f, ir_inst *call) {
  inliner in = {.m = m, .callee = call->u.callee};
  in.b = (ir_builder){.m = m, .f = f, .block = call->parent, .before = call, .loc = call->loc};
  copy_params(&in, call);
  copy_vars(&in);
  if (!ends_once_at_the_end(in.callee)) wrap(&in);
  copy_block(&in, in.callee->body, 0);
  in.b.block = call->parent;
  in.b.before = call;
  ir_inst *value = result_of(&in);
  forget_copies(in.callee);
  if (!m->failed) ir_inst_remove(call);
  call->aux = value;
}

/* ---- Which calls ---- */

typedef struct policy {
  bool all;
  bool (*choose)(void *user, const ir_function *callee); /* NULL: by size */
  void *user;
} policy;

/* How deep the copy of the callee would reach. */
static uint32_t depth_after(const ir_inst *call) {
  uint32_t depth = ((const facts *)call->u.callee->aux)->depth + 1;
  for (const ir_inst *owner = call->parent->owner; owner; owner = owner->parent->owner) depth++;
  return depth;
}

static bool is_wanted(const facts *caller, const ir_function *callee, const policy *how) {
  const facts *known = callee->aux;
  bool all = how->all;
  if (!callee->body) return false;
  if (known->has_barrier) return true;
  if (how->choose) return how->choose(how->user, callee);
  if (callee->is_noinline && !all) return false;
  if (all) return true;
  return (known->size <= SMALL || callee->is_inline) && caller->size < FUNCTION_LIMIT;
}

static qn_status inline_calls(ir_module *m, ir_function *f, const policy *how) {
  facts *own = f->aux;
  bool any = false;
  for (ir_inst *inst = f->body->first, *next; inst; inst = next) {
    next = ir_next_inst(inst);
    if (inst->op != IR_CALL || !is_wanted(own, inst->u.callee, how)) continue;
    const facts *known = inst->u.callee->aux;
    bool must = how->all || how->choose || known->has_barrier;
    own->size += known->size;
    if (own->size > HARD_LIMIT)
      return qn_error_set(QN_ERROR_LIMIT, "function '%s' grows beyond %d instructions when calls are inlined", f->name,
                          HARD_LIMIT);
    if (depth_after(inst) > IR_DEPTH_LIMIT) {
      if (!must) continue;
      return qn_error_set(QN_ERROR_LIMIT,
                          "function '%s': control flow nests deeper than %d levels when calls are inlined", f->name,
                          IR_DEPTH_LIMIT);
    }
    inline_call(m, f, inst);
    if (m->failed) return walk_no_memory();
    any = true;
  }
  if (any) ir_walk(f->body, take_results, NULL);
  return QN_OK;
}

static qn_status inline_functions(ir_module *m, const policy *how) {
  ir_function **order, *again;
  uint32_t count;
  if (!ir_call_order(m, &order, &count, &again))
    return again ? qn_error_set(QN_ERROR_INTERNAL, "function '%s' calls itself", again->name) : walk_no_memory();
  for (uint32_t i = 0; i < count; i++) {
    ir_function *f = order[i];
    facts *known = QN_ARENA_NEW(m->arena, facts);
    if (!known) return walk_no_memory();
    f->aux = known;
    if (!f->body) continue;
    find_facts(f, known);
    if (!f->has_regions) QN_TRY(inline_calls(m, f, how));
    find_facts(f, known);
  }
  return QN_OK;
}

qn_status pass_inline(ir_module *m, bool all) { return inline_functions(m, &(policy){.all = all}); }

qn_status pass_inline_chosen(ir_module *m, bool (*choose)(void *user, const ir_function *callee), void *user) {
  return inline_functions(m, &(policy){.choose = choose, .user = user});
}
