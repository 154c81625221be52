#include <stdio.h>

#include "compiler/ir/intern.h"

ir_module *ir_module_new(qn_arena *arena, const qn_model *model) {
  ir_module *m = QN_ARENA_NEW(arena, ir_module);
  if (!m) return NULL;
  m->arena = arena;
  m->model = *model;
  return ir_intern_init(m) ? m : NULL;
}

void ir_module_free(ir_module *m) {
  if (m) qn_map_free(&m->function_names);
}

ir_function *ir_function_find(ir_module *m, qn_sv name) { return qn_map_get(&m->function_names, name); }

ir_function *ir_function_new(ir_module *m, qn_sv name) {
  ir_function *f = ir_alloc(m, sizeof *f);
  char *copy = qn_arena_copy(m->arena, name);
  if (!f || !copy || !qn_map_set(&m->function_names, qn_sv_make(copy, name.size), f)) {
    m->failed = true;
    return NULL;
  }
  f->name = copy;
  f->module = m;
  f->result = ir_void(m);
  return f;
}

void ir_function_enlist(ir_module *m, ir_function *f) {
  if (m->last_function)
    m->last_function->next = f;
  else
    m->functions = f;
  m->last_function = f;
}

ir_function *ir_function_get(ir_module *m, qn_sv name) {
  ir_function *f = ir_function_find(m, name);
  if (f) return f;
  f = ir_function_new(m, name);
  if (f) ir_function_enlist(m, f);
  return f;
}

static bool set_param(ir_function *f, uint32_t index, const ir_type *type, const char *name) {
  ir_module *m = f->module;
  ir_param *param = &f->params[index];
  char number[16];
  if (!name || !*name) {
    snprintf(number, sizeof number, "p%u", index);
    name = number;
  }
  *param = (ir_param){.name = ir_unique_name(m, f, name), .type = type};
  param->value = ir_inst_alloc(m, IR_PARAM, type, 0);
  if (!param->name || !param->value) return false;
  param->value->imm = index;
  param->value->u.function = f;
  return true;
}

void ir_function_signature(ir_function *f, const ir_type *result, const ir_type *const *params,
                           const char *const *names, uint32_t count) {
  f->result = result;
  f->param_count = 0;
  f->params = ir_alloc_array(f->module, sizeof *f->params, count);
  if (!f->params) return;
  for (uint32_t i = 0; i < count; i++) {
    if (!set_param(f, i, params[i], names ? names[i] : NULL)) return;
    f->param_count = i + 1;
  }
}

ir_block *ir_block_new(ir_module *m, ir_inst *owner) {
  ir_block *block = ir_alloc(m, sizeof *block);
  if (!block) return m->intern->spare_block;
  block->owner = owner;
  return block;
}

/* `owner`: the scope of the name. */
static ir_var *var_new(ir_module *m, ir_function *f, const void *owner, const char *name, const ir_type *type,
                       ir_space space) {
  ir_var *var = ir_alloc(m, sizeof *var);
  const char *unique = ir_unique_name(m, owner, name && *name ? name : "tmp");
  ir_inst *address = ir_inst_alloc(m, IR_ADDRESS, ir_pointer(m, space, type), 0);
  if (!var || !unique || !address) return NULL;
  *var = (ir_var){.name = unique, .type = type, .space = space, .address = address, .function = f};
  address->u.var = var;
  return var;
}

static ir_var *append_var(ir_var **list, ir_var **last, ir_var *var) {
  if (*list)
    (*last)->next = var;
  else
    *list = var;
  *last = var;
  return var;
}

ir_var *ir_var_private(ir_function *f, const char *name, const ir_type *type) {
  ir_var *var = var_new(f->module, f, f, name, type, IR_PRIVATE);
  return var ? append_var(&f->vars, &f->last_var, var) : f->module->intern->spare_var;
}

ir_var *ir_var_local(ir_function *f, const char *name, const ir_type *type) {
  ir_var *var = var_new(f->module, f, f->module, name, type, IR_LOCAL);
  return var ? append_var(&f->locals, &f->last_local, var) : f->module->intern->spare_var;
}

ir_var *ir_var_constant(ir_module *m, const char *name, const ir_type *type, ir_inst *init) {
  ir_var *var = var_new(m, NULL, m, name, type, IR_CONSTANT);
  if (!var) return m->intern->spare_var;
  var->init = init;
  return append_var(&m->constants, &m->last_constant, var);
}
