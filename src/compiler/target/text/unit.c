#include "compiler/target/text/unit.h"

#include "base/status.h"
#include "compiler/pass/pass.h"

static qn_status no_memory(void) { return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a text"); }

/* ---- Numbers ---- */

static uint32_t count_block(const ir_block *block) {
  uint32_t count = 0;
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    count++;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) count += count_block(inst->u.ctrl.blocks[i]);
  }
  return count;
}

/* Until an instruction has its number, `id` is what pass_access found: what is done to the memory behind a pointer. */
static void number_block(text_function *t, const ir_block *block, uint32_t *next) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) {
    uint32_t at = *next - t->first_inst;
    t->reads_only[*next - t->first] = !(inst->id & QN_ACCESS_WRITE);
    inst->id = (*next)++;
    t->insts[at] = inst;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) number_block(t, inst->u.ctrl.blocks[i], next);
    t->ends[at] = *next - 1;
  }
}

static void number_variables(text_function *t, ir_var *list, uint32_t *next) {
  for (ir_var *v = list; v; v = v->next) {
    t->reads_only[*next - t->first] = !((uintptr_t)v->aux & QN_ACCESS_WRITE);
    v->id = (*next)++;
  }
}

static uint32_t count_variables(const ir_var *list) {
  uint32_t count = 0;
  for (; list; list = list->next) count++;
  return count;
}

static bool number_function(text_function *t, uint32_t *next) {
  ir_function *f = t->f;
  uint32_t insts = count_block(f->body), vars = count_variables(f->vars) + count_variables(f->locals);
  t->first = *next;
  t->insts = QN_ARENA_ARRAY(f->module->arena, ir_inst *, insts + 1);
  t->ends = QN_ARENA_ARRAY(f->module->arena, uint32_t, insts + 1);
  t->reads_only = QN_ARENA_ARRAY(f->module->arena, bool, (size_t)f->param_count + vars + insts + 1);
  if (!t->insts || !t->ends || !t->reads_only) return false;
  for (uint32_t i = 0; i < f->param_count; i++) {
    t->reads_only[i] = f->params[i].access == QN_ACCESS_READ;
    f->params[i].value->id = (*next)++;
  }
  number_variables(t, f->vars, next);
  number_variables(t, f->locals, next);
  t->first_inst = *next;
  number_block(t, f->body, next);
  t->count = *next - t->first;
  t->result = (*next)++;
  return true;
}

static bool number_fields(text_unit *u) {
  uint32_t limit = 0;
  for (const ir_type *t = u->m->types; t; t = t->next)
    if (t->kind == IR_STRUCT && t->id >= limit) limit = t->id + 1;
  u->struct_limit = limit;
  u->fields = QN_ARENA_ARRAY(u->m->arena, uint32_t, limit + 1);
  if (!u->fields) return false;
  for (const ir_type *t = u->m->types; t; t = t->next) {
    if (t->kind != IR_STRUCT) continue;
    u->fields[t->id] = u->count;
    u->count += t->field_count;
  }
  return true;
}

/* ---- What functions do ---- */

static bool is_own_memory(const ir_inst *pointer) {
  while (text_is_step(pointer->op)) pointer = pointer->args[0];
  return pointer->op == IR_ADDRESS && (pointer->u.var->space == IR_PRIVATE || pointer->u.var->space == IR_CONSTANT);
}

static bool keeps_pure(const ir_inst *inst) {
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
      return is_own_memory(inst->args[0]) && !(inst->flags & IR_VOLATILE);
    case IR_STORE:
    case IR_VSTORE:
      return is_own_memory(inst->args[0]) && !(inst->flags & IR_VOLATILE);
    case IR_COPY:
      return is_own_memory(inst->args[0]) && is_own_memory(inst->args[1]) && !(inst->flags & IR_VOLATILE);
    case IR_CALL:
      return text_function_of(inst->u.callee)->is_pure;
    case IR_ITOP:
    case IR_BARRIER:
    case IR_FENCE:
    case IR_ATOMIC:
    case IR_TRAP:
      return false;
    default:
      return true;
  }
}

static bool asks_range(const ir_inst *inst) {
  if (inst->op == IR_CALL) return text_function_of(inst->u.callee)->asks_range;
  return inst->op == IR_GROUP_ID || inst->op == IR_GLOBAL_SIZE || inst->op == IR_NUM_GROUPS ||
         inst->op == IR_GLOBAL_OFFSET || inst->op == IR_ENQUEUED_SIZE;
}

static bool is_pointer(const ir_type *type) { return type->kind == IR_POINTER; }

/* Those that it calls are known. */
static void find_nature(text_function *t) {
  t->is_pure = t->f->result->kind != IR_VOID && !is_pointer(t->f->result);
  for (uint32_t i = 0; i < t->f->param_count; i++) t->is_pure &= !is_pointer(t->f->params[i].type);
  for (uint32_t i = 0; i < text_inst_count(t); i++) {
    t->is_pure &= keeps_pure(t->insts[i]);
    t->asks_range |= asks_range(t->insts[i]);
  }
}

/* ---- All ---- */

static qn_status check_body(const ir_function *f) {
  if (f->body) return QN_OK;
  QN_FAIL(QN_ERROR_COMPILE, "function '%s' is called but not defined", f->name);
}

qn_status text_unit_make(ir_module *m, text_unit *out) {
  ir_function **order, *again;
  uint32_t count;
  *out = (text_unit){.m = m};
  QN_TRY(pass_access(m));
  if (!ir_call_order(m, &order, &count, &again))
    return again ? qn_error_set(QN_ERROR_INTERNAL, "function '%s' calls itself", again->name) : no_memory();
  out->functions = QN_ARENA_ARRAY(m->arena, text_function, count + 1);
  if (!out->functions) return no_memory();
  for (ir_var *v = m->constants; v; v = v->next) v->id = out->count++;
  out->constant_count = out->count;
  for (uint32_t i = 0; i < count; i++) {
    QN_TRY(check_body(order[i]));
    text_function *t = &out->functions[out->function_count++];
    t->f = order[i];
    out->kernel_count += t->f->is_kernel;
    if (!number_function(t, &out->count)) return no_memory();
    order[i]->aux = t;
    find_nature(t);
  }
  return number_fields(out) ? QN_OK : no_memory();
}
