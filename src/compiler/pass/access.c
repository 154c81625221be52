/* access.c - what functions do to the memory behind their pointer parameters: bits flow backwards, from loads and stores
 * along pointer arithmetic, variables that hold pointers, and calls. `id` of an instruction and `aux` of a variable are
 * the bits of the pointer that it gives or holds. A pointer that goes where it can't be followed counts as both. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

enum { BOTH = QN_ACCESS_READ | QN_ACCESS_WRITE };

typedef struct flow {
  ir_function *f;
  bool changed;
} flow;

/* A private variable that is itself the operand and holds one value. */
static ir_var *plain_var(const ir_inst *x) {
  bool is_var = x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE && x->u.var->type->kind == IR_POINTER;
  return is_var ? x->u.var : NULL;
}

static void add(flow *w, ir_inst *x, uint32_t bits) {
  if (x->op == IR_PARAM) {
    uint32_t *access = &w->f->params[x->imm].access;
    w->changed |= (*access | bits) != *access;
    *access |= bits;
  } else if (x->parent) {
    w->changed |= (x->id | bits) != x->id;
    x->id |= bits;
  }
}

static uint32_t var_bits(const ir_var *var) { return (uint32_t)(uintptr_t)var->aux; }

static void add_var(flow *w, ir_var *var, uint32_t bits) {
  w->changed |= (var_bits(var) | bits) != var_bits(var);
  var->aux = (void *)(uintptr_t)(var_bits(var) | bits);
}

static uint32_t rmw_bits(ir_rmw rmw) {
  return rmw == IR_RMW_LOAD ? QN_ACCESS_READ : rmw == IR_RMW_STORE ? QN_ACCESS_WRITE : BOTH;
}

static void flow_load(flow *w, ir_inst *inst) {
  ir_var *var = plain_var(inst->args[0]);
  if (var)
    add_var(w, var, inst->id);
  else
    add(w, inst->args[0], QN_ACCESS_READ);
}

static void flow_store(flow *w, ir_inst *inst) {
  ir_var *var = plain_var(inst->args[0]), *stored = plain_var(inst->args[1]);
  if (!var) add(w, inst->args[0], QN_ACCESS_WRITE);
  if (stored) add_var(w, stored, BOTH);
  if (inst->args[1]->type->kind == IR_POINTER) add(w, inst->args[1], var ? var_bits(var) : BOTH);
}

static void flow_call(flow *w, ir_inst *inst) {
  const ir_function *callee = inst->u.callee;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (inst->args[i]->type->kind != IR_POINTER) continue;
    uint32_t bits = callee->body ? callee->params[i].access : BOTH;
    ir_var *var = plain_var(inst->args[i]);
    if (var) add_var(w, var, BOTH);
    add(w, inst->args[i], bits);
  }
}

/* The address of a variable that holds a pointer goes elsewhere than to a load or store. */
static void flow_escapes(flow *w, const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_var *var = plain_var(inst->args[i]);
    if (var) add_var(w, var, BOTH);
  }
}

static bool flow_inst(void *user, ir_inst *inst) {
  flow *w = user;
  switch (inst->op) {
    case IR_LOAD:
      flow_load(w, inst);
      return true;
    case IR_STORE:
      flow_store(w, inst);
      break;
    case IR_VLOAD:
      add(w, inst->args[0], QN_ACCESS_READ);
      break;
    case IR_VSTORE:
      add(w, inst->args[0], QN_ACCESS_WRITE);
      break;
    case IR_COPY:
      add(w, inst->args[0], QN_ACCESS_WRITE);
      add(w, inst->args[1], QN_ACCESS_READ);
      flow_escapes(w, inst);
      break;
    case IR_ATOMIC:
      add(w, inst->args[0], rmw_bits(inst->u.atomic.rmw));
      break;
    case IR_CALL:
      flow_call(w, inst);
      break;
    case IR_ELEM:
    case IR_INDEX:
    case IR_FIELD:
    case IR_PCAST:
      add(w, inst->args[0], inst->id);
      flow_escapes(w, inst);
      break;
    case IR_SELECT:
      add(w, inst->args[1], inst->id);
      add(w, inst->args[2], inst->id);
      flow_escapes(w, inst);
      break;
    case IR_PTOI:
    case IR_RETURN:
      if (inst->arg_count && inst->args[0]->type->kind == IR_POINTER) add(w, inst->args[0], BOTH);
      flow_escapes(w, inst);
      break;
    default:
      break;
  }
  return true;
}

static bool clear(void *user, ir_inst *inst) {
  (void)user;
  inst->id = 0;
  return true;
}

static void find_access(ir_function *f) {
  flow w = {.f = f, .changed = true};
  for (ir_var *v = f->vars; v; v = v->next) v->aux = NULL;
  for (uint32_t i = 0; i < f->param_count; i++) f->params[i].access = 0;
  ir_walk(f->body, clear, NULL);
  while (w.changed) {
    w.changed = false;
    ir_walk(f->body, flow_inst, &w);
  }
  for (uint32_t i = 0; i < f->param_count; i++) {
    ir_param *p = &f->params[i];
    bool is_memory = p->type->kind == IR_POINTER && !p->byval;
    /* 0 says "not known": one that is not touched is as good as read. */
    p->access = !is_memory ? 0 : p->access ? p->access : QN_ACCESS_READ;
  }
}

qn_status pass_access(ir_module *m) {
  ir_function **order, *again;
  uint32_t count;
  if (!ir_call_order(m, &order, &count, &again))
    return again ? qn_error_set(QN_ERROR_INTERNAL, "function '%s' calls itself", again->name) : walk_no_memory();
  for (uint32_t i = 0; i < count; i++)
    if (order[i]->body) find_access(order[i]);
  return QN_OK;
}
