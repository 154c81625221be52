/* bank.c - which constants of program scope stand in constant memory: those that all items of a group read at one place at a time, for
 * which it is made. It would take the others one item after the other; they are in global memory, read through its cache. Constants whose
 * addresses go elsewhere are there too, where pointers to constant memory lead. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/target/ptx/emit.h"

enum { BANK = 48 << 10 /* bytes that are used of 64 Ki */ };

/* `id` of a constant: whether it can't be there. */
static void keep_out(const ir_inst *x) {
  const ir_inst *root = ptx_root(x);
  if (root->op == IR_ADDRESS && !root->u.var->function) root->u.var->id = 1;
}

static bool is_same_for_all(const ir_inst *index) { return !index->parent || qn_is_uniform(index->aux); }

static bool is_fine_use(const ir_inst *inst, uint32_t operand) {
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
    case IR_FIELD:
      return true;
    case IR_COPY:
      return operand == 1;
    case IR_ELEM:
    case IR_INDEX:
      return operand == 0 && is_same_for_all(inst->args[1]);
    case IR_PCAST:
      return inst->type->space == IR_CONSTANT;
    default:
      return false;
  }
}

static bool look_at(void *user, ir_inst *inst) {
  bool is_kernel = *(const bool *)user;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->type->kind == IR_POINTER && (!is_kernel || !is_fine_use(inst, i))) keep_out(inst->args[i]);
  return true;
}

static void look_at_initialiser(const ir_inst *value) {
  if (value->op == IR_ADDRESS) keep_out(value);
  for (uint32_t i = 0; value->op == IR_AGGREGATE && i < value->arg_count; i++) look_at_initialiser(value->args[i]);
}

qn_status ptx_choose_banks(ir_module *m, bool **out) {
  uint64_t bytes = 0;
  uint32_t count = 0;
  for (ir_var *v = m->constants; v; v = v->next, count++) v->id = 0;
  *out = QN_ARENA_ARRAY(m->arena, bool, count + 1);
  if (!*out) return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for PTX");
  for (ir_var *v = m->constants; v; v = v->next) look_at_initialiser(v->init);
  for (ir_function *f = m->functions; count && f; f = f->next) {
    if (!f->body) continue;
    QN_TRY(pass_uniformity(f));
    (void)ir_walk(f->body, look_at, &f->is_kernel);
  }
  count = 0;
  for (ir_var *v = m->constants; v; v = v->next, count++) {
    bool fits = v->type->size <= BANK - bytes;
    (*out)[count] = !v->id && fits;
    if ((*out)[count]) bytes += v->type->size;
  }
  return QN_OK;
}
