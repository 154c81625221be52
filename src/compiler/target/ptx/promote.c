/* promote.c - which variables are registers: those whose address goes nowhere but into loads and stores of the whole, or, of a
 * vector, of a lane that is known. */
#include "compiler/target/ptx/emit.h"

/* `aux` of a variable: not NULL when it must be in memory. */
static void keep_in_memory(const ir_inst *address) {
  if (address->op == IR_ADDRESS && address->u.var->space == IR_PRIVATE) address->u.var->aux = address->u.var;
}

/* A volatile one is as good: nobody else sees private memory. */
static bool is_access(const ir_inst *inst, uint32_t operand) {
  return operand == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE);
}

static const ir_type *accessed(const ir_inst *inst) { return inst->op == IR_LOAD ? inst->type : inst->args[1]->type; }

/* A step to a lane of a vector. */
static bool is_lane(const ir_inst *x) {
  return x->parent && x->op == IR_INDEX && x->args[0]->op == IR_ADDRESS && x->args[0]->u.var->space == IR_PRIVATE &&
         x->args[0]->type->elem->kind == IR_VECTOR && x->args[1]->op == IR_CONST &&
         x->args[1]->imm < x->args[0]->type->elem->count;
}

static void look_at_operand(const ir_inst *inst, uint32_t i) {
  const ir_inst *x = inst->args[i];
  if (is_lane(x) && !is_access(inst, i)) keep_in_memory(x->args[0]);
  if (x->op != IR_ADDRESS || x->u.var->space != IR_PRIVATE || inst->op == IR_FRESH || is_lane(inst)) return;
  if (!is_access(inst, i) || accessed(inst) != x->u.var->type) keep_in_memory(x);
}

static bool look_at(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) look_at_operand(inst, i);
  return true;
}

static bool give_registers(emitter *e, const ir_var *var) {
  uint32_t count = ir_lanes_of(var->type);
  ptx_ref *lanes = QN_ARENA_ARRAY(e->arena, ptx_ref, count);
  if (!lanes) return false;
  for (uint32_t i = 0; i < count; i++) lanes[i] = ptx_new(e, ptx_bank_of(ir_elem_of(var->type)));
  e->values[var->id - e->function->first] = lanes;
  return true;
}

bool ptx_promote(emitter *e) {
  ir_function *f = e->function->f;
  for (ir_var *v = f->vars; v; v = v->next) v->aux = v->type->kind == IR_ARRAY || v->type->kind == IR_STRUCT ? v : NULL;
  (void)ir_walk(f->body, look_at, NULL);
  for (ir_var *v = f->vars; v; v = v->next)
    if (!v->aux && !give_registers(e, v)) return false;
  return true;
}
