/* verify.c - structure: lists, nesting, what is visible where, places of break and its like, variables, functions,
 * calls without recursion. The types of operations are verify_op.c's. */
#include "compiler/ir/verify.h"

#include "compiler/ir/lex.h"
#include "compiler/ir/text.h"

qn_status ir_verify_fail(const ir_verifier *v, const ir_inst *inst, const char *what) {
  qn_bytes text = {0};
  if (inst && v->f) ir_number_values(v->f);
  if (inst) ir_print_inst(inst, &text);
  const char *shown = text.failed || !text.data ? "" : text.data;
  qn_status status = qn_error_set(QN_ERROR_INTERNAL, "invalid IR: function @%s%s%s%s: %s", v->f ? v->f->name : "",
                                  inst ? ": '" : "", shown, inst ? "'" : "", what);
  qn_bytes_free(&text);
  return status;
}

static qn_status module_fail(const char *kind, const char *name, const char *what) {
  return qn_error_set(QN_ERROR_INTERNAL, "invalid IR: %s @%s: %s", kind, name, what);
}

/* ---- Nesting ---- */

/* Checks the links and numbers the instructions in order; first of all, since everything else walks along them. */
static qn_status verify_links(const ir_verifier *v, const ir_block *block, uint32_t depth, uint32_t *next_id) {
  if (depth > IR_DEPTH_LIMIT)
    return qn_error_set(QN_ERROR_LIMIT, "function '%s': control flow nests deeper than %d levels", v->f->name,
                        IR_DEPTH_LIMIT);
  const ir_inst *before = NULL;
  for (ir_inst *inst = block->first; inst; before = inst, inst = inst->next) {
    if (inst->parent != block || inst->prev != before || inst->op >= IR_OP_COUNT)
      return ir_verify_fail(v, NULL, "an instruction's links are broken");
    inst->id = (*next_id)++;
    for (uint32_t i = 0; i < ir_block_count(inst); i++) {
      const ir_block *inner = inst->u.ctrl.blocks[i];
      if (inner->owner != inst) return ir_verify_fail(v, NULL, "a block's owner is another instruction");
      QN_TRY(verify_links(v, inner, depth + 1, next_id));
    }
  }
  if (block->last != before) return ir_verify_fail(v, NULL, "a block's last instruction is another");
  return QN_OK;
}

/* Where a block stands: what break, continue and return may do there. */
typedef struct place {
  bool in_loop;    /* continue has a target */
  bool can_break;  /* the innermost loop or switch may be left */
  bool can_return; /* not in a continue block, or in a region there */
  const ir_inst *region;
} place;

static bool is_last_in_continue(const ir_inst *inst) {
  const ir_inst *owner = inst->parent->owner;
  return owner && owner->op == IR_LOOP && inst->parent == owner->u.ctrl.blocks[1] && !inst->next;
}

static qn_status verify_leave(const ir_verifier *v, const ir_inst *inst, place at) {
  bool ends = inst->op == IR_BREAK || inst->op == IR_CONTINUE || inst->op == IR_RETURN || inst->op == IR_TRAP;
  if (ends) IR_RULE(v, inst, !inst->next, "stands last in its block");
  if (inst->op == IR_BREAK) IR_RULE(v, inst, at.can_break, "no loop or switch that it may leave");
  if (inst->op == IR_CONTINUE) IR_RULE(v, inst, at.in_loop, "no loop that it may continue");
  if (inst->op == IR_RETURN) IR_RULE(v, inst, at.can_return, "return in a continue block");
  if (inst->op == IR_BREAK_IF) IR_RULE(v, inst, is_last_in_continue(inst), "stands last in a continue block");
  return QN_OK;
}

/* The place of block `index` of an instruction that stands at `at`. */
static place inside(const ir_inst *inst, uint32_t index, place at) {
  if (inst->op == IR_SWITCH) at.can_break = true;
  if (inst->op == IR_LOOP) {
    at.in_loop = at.can_break = index == 0;
    at.can_return &= index == 0;
  }
  if (inst->op == IR_REGION) at = (place){.can_return = true, .region = inst};
  return at;
}

static qn_status verify_switch(const ir_verifier *v, const ir_inst *inst) {
  uint32_t count = inst->u.ctrl.block_count, bits = inst->args[0]->type->bits;
  IR_RULE(v, inst, count >= 1 && inst->u.ctrl.cases, "no default");
  qn_map seen = {0};
  qn_status status = QN_OK;
  for (uint32_t i = 0; i + 1 < count && status == QN_OK; i++) {
    qn_sv key = qn_sv_make((const char *)&inst->u.ctrl.cases[i], sizeof(uint64_t));
    if (bits < 64 && inst->u.ctrl.cases[i] >> bits)
      status = ir_verify_fail(v, inst, "a case is wider than the value");
    else if (qn_map_get(&seen, key))
      status = ir_verify_fail(v, inst, "a case stands twice");
    else if (!qn_map_set(&seen, key, (void *)inst))
      status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while verifying IR");
  }
  qn_map_free(&seen);
  return status;
}

static qn_status verify_region(const ir_verifier *v, const ir_inst *inst, place at) {
  IR_RULE(v, inst, v->f->has_regions, "the function has no regions");
  IR_RULE(v, inst, !at.region, "a region in a region");
  return QN_OK;
}

/* ---- Operands ---- */

static bool is_ancestor(const ir_block *outer, const ir_block *block) {
  while (block && block != outer) block = block->owner ? block->owner->parent : NULL;
  return block != NULL;
}

static qn_status verify_var_use(const ir_verifier *v, const ir_inst *inst, const ir_inst *x, place at) {
  ir_var *var = x->u.var;
  IR_RULE(v, inst, var && var->address == x, "an address with an offset stands in initialisers");
  IR_RULE(v, inst, !var->function || var->function == v->f, "a variable of another function");
  if (!v->f->has_regions || var->space != IR_PRIVATE) return QN_OK;
  if (!at.region) IR_RULE(v, inst, var->storage == IR_STORE_GROUP, "a variable of work-items outside of regions");
  if (var->storage != IR_STORE_PLAIN) return QN_OK;
  IR_RULE(v, inst, !var->aux || var->aux == at.region, "a plain variable is used in two regions");
  var->aux = (void *)at.region;
  return QN_OK;
}

static qn_status verify_operand(const ir_verifier *v, const ir_inst *inst, const ir_inst *x, place at) {
  IR_RULE(v, inst, x && x->type, "an operand is missing");
  if (x->op == IR_ADDRESS) return verify_var_use(v, inst, x, at);
  if (x->op == IR_PARAM) {
    bool own = x->u.function == v->f && x->imm < v->f->param_count && v->f->params[x->imm].value == x;
    IR_RULE(v, inst, own, "a parameter of another function");
    return QN_OK;
  }
  if (ir_op_table[x->op].cls == IR_CLASS_LEAF) return ir_verify_constant(v, inst, x, false);
  bool visible = x->parent && x->id < inst->id && is_ancestor(x->parent, inst->parent);
  IR_RULE(v, inst, visible, "an operand is not visible here");
  IR_RULE(v, inst, x->type->kind != IR_VOID, "an operand has no value");
  return QN_OK;
}

static bool is_item_query(ir_op op) { return op == IR_GLOBAL_ID || op == IR_LOCAL_ID; }

static qn_status verify_inst(const ir_verifier *v, const ir_inst *inst, place at) {
  for (uint32_t i = 0; i < inst->arg_count; i++) QN_TRY(verify_operand(v, inst, inst->args[i], at));
  QN_TRY(ir_verify_op(v, inst));
  QN_TRY(verify_leave(v, inst, at));
  if (inst->op == IR_SWITCH) QN_TRY(verify_switch(v, inst));
  if (inst->op == IR_REGION) QN_TRY(verify_region(v, inst, at));
  if (!v->f->has_regions) return QN_OK;
  IR_RULE(v, inst, inst->op != IR_BARRIER, "a barrier after the pass regions");
  if (!at.region) IR_RULE(v, inst, !is_item_query(inst->op), "an item's id outside of regions");
  return QN_OK;
}

static qn_status verify_block(const ir_verifier *v, const ir_block *block, place at) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    QN_TRY(verify_inst(v, inst, at));
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      QN_TRY(verify_block(v, inst->u.ctrl.blocks[i], inside(inst, i, at)));
  }
  return QN_OK;
}

/* ---- Variables and functions ---- */

static bool is_name(const char *name, bool digit_first) {
  return name && ir_is_name(qn_sv_from(name)) && (digit_first || name[0] < '0' || name[0] > '9');
}

static qn_status verify_name(const char *kind, const char *name, bool digit_first, qn_map *names) {
  if (!is_name(name, digit_first)) return module_fail(kind, name ? name : "", "not a name");
  if (qn_map_get(names, qn_sv_from(name))) return module_fail(kind, name, "the name stands twice");
  if (!qn_map_set(names, qn_sv_from(name), (void *)name))
    return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while verifying IR");
  return QN_OK;
}

static qn_status verify_var(const ir_var *var, qn_map *names) {
  const char *kind = "variable";
  QN_TRY(verify_name(kind, var->name, var->space != IR_PRIVATE, names));
  if (!ir_verify_is_object(var->type))
    return module_fail(kind, var->name, "its type has no size, or a larger one than the limit");
  if (!ir_verify_is_align(var->align)) return module_fail(kind, var->name, "not an alignment");
  if (var->storage != IR_STORE_PLAIN && !(var->function && var->function->has_regions && var->space == IR_PRIVATE))
    return module_fail(kind, var->name, "this storage is for private variables of functions with regions");
  return QN_OK;
}

static qn_status verify_vars(const ir_function *f, qn_map *private_names, qn_map *module_names) {
  for (ir_var *var = f->vars; var; var = var->next) {
    var->aux = NULL;
    QN_TRY(verify_var(var, private_names));
    if (var->function != f || var->space != IR_PRIVATE)
      return module_fail("variable", var->name, "in another list than its own");
  }
  for (ir_var *var = f->locals; var; var = var->next) {
    QN_TRY(verify_var(var, module_names));
    if (var->function != f || var->space != IR_LOCAL)
      return module_fail("variable", var->name, "in another list than its own");
    if (!f->is_kernel) return module_fail("variable", var->name, "local memory belongs to kernels");
  }
  return QN_OK;
}

static bool is_struct_pointer(const ir_type *t) {
  return t->kind == IR_POINTER && t->space == IR_PRIVATE && t->elem->kind == IR_STRUCT && t->elem->is_complete;
}

static const char *param_fault(const ir_function *f, const ir_param *p) {
  const ir_type *t = p->type;
  if (!p->value || p->value->op != IR_PARAM || p->value->type != t) return "a parameter without its value";
  if (!ir_is_scalar(t) && t->kind != IR_VECTOR && t->kind != IR_POINTER)
    return "a parameter is a scalar, vector or pointer";
  if ((p->byval || p->sret) && !is_struct_pointer(t)) return "byval and sret are for pointers to private structs";
  if (!f->is_kernel || t->kind != IR_POINTER) return NULL;
  if (p->sret) return "a kernel has no result";
  bool reaches = t->space == IR_GLOBAL || t->space == IR_CONSTANT || t->space == IR_LOCAL;
  if (!reaches && !p->byval) return "a kernel's pointers are global, constant, local or byval";
  bool needs_address = t->elem->kind == IR_POINTER || (p->byval && t->elem->holds_pointer);
  return needs_address ? "the host can't fill in a pointer within a kernel's argument" : NULL;
}

static qn_status verify_params(const ir_verifier *v, qn_map *names) {
  for (uint32_t i = 0; i < v->f->param_count; i++) {
    const ir_param *p = &v->f->params[i];
    const char *fault = param_fault(v->f, p);
    if (fault) return ir_verify_fail(v, NULL, fault);
    QN_TRY(verify_name("parameter", p->name, false, names));
  }
  return QN_OK;
}

static qn_status verify_body(const ir_verifier *v) {
  uint32_t next_id = 0;
  QN_TRY(verify_links(v, v->f->body, 0, &next_id));
  return verify_block(v, v->f->body, (place){.can_return = true});
}

static qn_status verify_function(const ir_verifier *v, qn_map *module_names) {
  const ir_function *f = v->f;
  qn_map names = {0};
  if (!is_name(f->name, true)) return ir_verify_fail(v, NULL, "not a name");
  if (!f->params) return ir_verify_fail(v, NULL, "no signature");
  if (f->is_kernel && f->result->kind != IR_VOID) return ir_verify_fail(v, NULL, "a kernel has no result");
  if (f->is_kernel && !f->body) return ir_verify_fail(v, NULL, "a kernel without a body");
  if (f->has_regions && !f->is_kernel) return ir_verify_fail(v, NULL, "regions are for kernels");
  if (f->result->kind != IR_VOID && !ir_is_scalar(f->result) && f->result->kind != IR_VECTOR &&
      f->result->kind != IR_POINTER)
    return ir_verify_fail(v, NULL, "a result is a scalar, vector or pointer");
  qn_status status = verify_params(v, &names);
  if (status == QN_OK) status = verify_vars(f, &names, module_names);
  if (status == QN_OK && f->body) status = verify_body(v);
  qn_map_free(&names);
  return status;
}

static qn_status verify_constant_var(const ir_verifier *v, const ir_var *var, qn_map *names) {
  QN_TRY(verify_var(var, names));
  if (var->space != IR_CONSTANT || var->function)
    return module_fail("constant", var->name, "in another list than its own");
  if (!var->init || var->init->type != var->type) return module_fail("constant", var->name, "no value of its type");
  qn_status status = ir_verify_constant(v, NULL, var->init, true);
  if (status != QN_OK) qn_error_prefix("constant @%s: ", var->name);
  return status;
}

/* ---- Calls ---- */

static qn_status verify_calls(ir_module *m) {
  ir_function **order, *again;
  uint32_t count;
  if (ir_call_order(m, &order, &count, &again)) return QN_OK;
  if (again) return module_fail("function", again->name, "it calls itself");
  return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while verifying IR");
}

/* ---- Modules ---- */

static qn_status verify_parts(ir_module *m, qn_map *names) {
  ir_verifier v = {.m = m};
  for (const ir_var *var = m->constants; var; var = var->next) QN_TRY(verify_constant_var(&v, var, names));
  for (ir_function *f = m->functions; f; f = f->next) {
    v.f = f;
    QN_TRY(verify_function(&v, names));
  }
  return verify_calls(m);
}

qn_status ir_verify(ir_module *m) {
  if (m->failed) return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while making IR");
  qn_map names = {0};
  qn_status status = verify_parts(m, &names);
  qn_map_free(&names);
  return status;
}
