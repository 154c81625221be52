#include "compiler/pass/walk.h"

#include "base/status.h"

qn_status walk_no_memory(void) {
  return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while transforming IR");
}

void walk_drop_vars(ir_var **list, ir_var **last) {
  ir_var **link = list;
  *last = NULL;
  while (*link) {
    ir_var *var = *link;
    if (var->aux) {
      *last = var;
      link = &var->next;
    } else {
      *link = var->next;
    }
  }
}

/* ---- Reachability: aux is a link of a list of what is still to be looked at ---- */

static char end_mark; /* the last of a list, and what was looked at */

typedef struct reach {
  void *functions, *constants;
} reach;

static void reach_function(reach *r, ir_function *f) {
  if (f->aux) return;
  f->aux = r->functions;
  r->functions = f;
}

static void reach_constant(reach *r, ir_var *var) {
  if (var->space != IR_CONSTANT || var->aux) return;
  var->aux = r->constants;
  r->constants = var;
}

/* Addresses in a constant; it is as deep as its type. */
static void reach_initialiser(reach *r, const ir_inst *c) {
  if (c->op == IR_ADDRESS) reach_constant(r, c->u.var);
  for (uint32_t i = 0; c->op == IR_AGGREGATE && i < c->arg_count; i++) reach_initialiser(r, c->args[i]);
}

static bool reach_inst(void *user, ir_inst *inst) {
  if (inst->op == IR_CALL) reach_function(user, inst->u.callee);
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->op == IR_ADDRESS) reach_constant(user, inst->args[i]->u.var);
  return true;
}

static void follow(reach *r) {
  while (r->functions != &end_mark) {
    ir_function *f = r->functions;
    r->functions = f->aux;
    f->aux = &end_mark;
    if (f->body) ir_walk(f->body, reach_inst, r);
  }
  while (r->constants != &end_mark) {
    ir_var *var = r->constants;
    r->constants = var->aux;
    var->aux = &end_mark;
    if (var->init) reach_initialiser(r, var->init);
  }
}

static void drop_functions(ir_module *m) {
  ir_function **link = &m->functions;
  m->last_function = NULL;
  while (*link) {
    ir_function *f = *link;
    if (f->aux) {
      m->last_function = f;
      link = &f->next;
    } else {
      *link = f->next;
      qn_map_remove(&m->function_names, qn_sv_from(f->name));
    }
  }
}

void walk_drop_unreached(ir_module *m) {
  bool has_kernel = false;
  for (ir_function *f = m->functions; f; f = f->next) {
    f->aux = NULL;
    has_kernel |= f->is_kernel;
  }
  if (!has_kernel) return;
  for (ir_var *v = m->constants; v; v = v->next) v->aux = NULL;
  reach r = {&end_mark, &end_mark};
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->is_kernel) reach_function(&r, f);
  follow(&r);
  drop_functions(m);
  walk_drop_vars(&m->constants, &m->last_constant);
}
