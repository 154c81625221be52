#include "compiler/front/convert.h"
#include "compiler/front/emit.h"

#define PRIVATE_LIMIT (1 << 20)

/* ---- Signatures
 * ------------------------------------------------------------------------------------------------------- */

static bool gives_record(const front_func *func) { return func->type->elem->kind == FRONT_RECORD; }

/* The type of a parameter in the IR: a record comes as a pointer to a copy. */
static const ir_type *parameter_type(front *f, const front_type *type) {
  const ir_type *ir = front_ir(f, type);
  return type->kind == FRONT_RECORD ? ir_pointer(f->m, IR_PRIVATE, ir) : ir;
}

static const char *copied(front *f, qn_sv text) {
  const char *copy = text.size > 0 ? qn_arena_copy(f->arena, text) : "";
  if (copy == NULL) f->failed = f->m->failed = true;
  return copy;
}

/* For reflection: qualifiers are those of what a pointer points to. */
static void describe_parameter(ir_param *param, const front_object *object) {
  const front_type *type = object->type;
  bool is_pointer = type->kind == FRONT_POINTER;
  const front_type *pointee = is_pointer ? type->elem : type;
  param->byval = type->kind == FRONT_RECORD;
  param->is_const = is_pointer && ((pointee->quals & FRONT_CONST) != 0 || pointee->space == IR_CONSTANT);
  param->is_volatile = is_pointer && (pointee->quals & FRONT_VOLATILE) != 0;
  param->is_restrict = (type->quals & FRONT_RESTRICT) != 0;
  param->type_name = object->type_name;
  param->element_type = front_element_code(pointee);
}

/* Gives `ir` the signature of `func`. */
static void declare(front *f, front_func *func, ir_function *ir) {
  uint32_t count = func->param_count, first = gives_record(func) ? 1 : 0;
  const ir_type **types = QN_ARENA_ARRAY(f->arena, const ir_type *, count + 1);
  const char **names = QN_ARENA_ARRAY(f->arena, const char *, count + 1);
  if (types == NULL || names == NULL) {
    f->failed = f->m->failed = true;
    return;
  }
  if (first != 0) {
    types[0] = parameter_type(f, func->type->elem);
    names[0] = "result";
  }
  for (uint32_t i = 0; i < count; i++) {
    types[first + i] = parameter_type(f, func->params[i]->type);
    names[first + i] = copied(f, func->params[i]->name);
  }
  const ir_type *result = first != 0 ? ir_void(f->m) : front_ir(f, func->type->elem);
  ir_function_signature(ir, result, types, names, first + count);
  if (f->m->failed) return;
  if (first != 0) ir->params[0].sret = true;
  for (uint32_t i = 0; i < count; i++) describe_parameter(&ir->params[first + i], func->params[i]);
  ir->is_inline = func->is_inline || func->attributes.is_inline;
  ir->is_noinline = func->attributes.is_noinline;
  ir->loc = func->loc;
}

static ir_function *new_ir_function(front *f, front_func *func, const char *suffix) {
  char *name = qn_arena_printf(f->arena, "%.*s%s", QN_SV_ARG(func->name), suffix);
  ir_function *ir = name == NULL ? NULL : ir_function_get(f->m, qn_sv_from(name));
  if (ir == NULL) {
    f->failed = f->m->failed = true;
    return NULL;
  }
  declare(f, func, ir);
  return ir;
}

ir_function *front_ir_function(front *f, front_func *func) {
  if (func->is_kernel) {
    if (func->ir_helper == NULL) func->ir_helper = new_ir_function(f, func, ".helper");
    return func->ir_helper;
  }
  if (func->ir == NULL) {
    const char *suffix = func->overload == 0 ? "" : qn_arena_printf(f->arena, ".%u", func->overload);
    func->ir = new_ir_function(f, func, suffix != NULL ? suffix : "");
  }
  return func->ir;
}

/* ---- Bodies
 * ------------------------------------------------------------------------------------------------------------- */

/* A parameter that is never written stays a value; others get a variable. Records lie in memory of their own. */
static void bind_parameters(front *f, const front_func *func, const ir_function *ir) {
  uint32_t first = gives_record(func) ? 1 : 0;
  for (uint32_t i = 0; i < func->param_count; i++) {
    front_object *object = func->params[i];
    ir_inst *value = ir->params[first + i].value;
    object->value = NULL;
    object->var = NULL;
    bool needs_memory = object->is_assigned || (object->type->quals & FRONT_VOLATILE) != 0;
    if (object->type->kind == FRONT_RECORD || !needs_memory) {
      object->value = value;
      continue;
    }
    object->var = front_temporary(f, copied(f, object->name), object->type);
    (void)ir_store(&f->b, object->var->address, value);
  }
}

static void finish_body(front *f, const front_func *func, const ir_function *ir) {
  if (ir_block_ends(f->b.block)) return;
  ir_inst *value = ir->result->kind == IR_VOID ? NULL : ir_undef(f->m, ir->result);
  f->b.loc = func->loc;
  (void)ir_return(&f->b, value);
}

static void emit_body(front *f, front_func *func, ir_function *ir) {
  if (f->m->failed) return;
  ir->body = ir_block_new(f->m, NULL);
  f->b = (ir_builder){.m = f->m, .f = ir, .block = ir->body, .loc = func->loc};
  f->func = func;
  bind_parameters(f, func, ir);
  if (func->body != NULL) front_emit_list(f, func->body->body, NULL);
  if (!f->m->failed) finish_body(f, func, ir);
  f->func = NULL;
}

static void emit_kernel(front *f, front_func *func) {
  ir_function *ir = new_ir_function(f, func, "");
  if (ir == NULL) return;
  func->ir = ir;
  ir->is_kernel = true;
  for (int i = 0; i < 3; i++) {
    ir->required_local[i] = func->attributes.required_local[i];
    ir->hinted_local[i] = func->attributes.hinted_local[i];
  }
  emit_body(f, func, ir);
}

/* ---- The program
 * ----------------------------------------------------------------------------------------------------------- */

/* Marks what is reached from `root`, with `pending` as a stack. */
static void reach(front_func *root, front_func **pending) {
  uint32_t count = 0;
  if (root->is_reached) return;
  root->is_reached = true;
  pending[count++] = root;
  while (count > 0) {
    const front_func *func = pending[--count];
    for (uint32_t i = 0; i < func->call_count; i++) {
      front_func *callee = func->calls[i].callee;
      callee->is_called_from_reached = true;
      if (callee->is_reached) continue;
      callee->is_reached = true;
      pending[count++] = callee;
    }
  }
}

static bool is_root(const front_func *func, bool has_kernel) {
  return has_kernel ? func->is_kernel : func->is_defined && !func->is_static;
}

static bool mark_reached(front *f) {
  uint32_t count = 0;
  bool has_kernel = false;
  for (front_func *func = f->funcs; func != NULL; func = func->next, count++) {
    has_kernel |= func->is_kernel && func->is_defined;
  }
  front_func **pending = QN_ARENA_ARRAY(f->arena, front_func *, count + 1);
  if (pending == NULL) {
    f->failed = true;
    return false;
  }
  for (front_func *func = f->funcs; func != NULL; func = func->next) {
    if (is_root(func, has_kernel)) reach(func, pending);
  }
  return true;
}

/* Arrays and records; what else there is mostly stays in registers. */
static uint64_t private_bytes(const ir_function *ir) {
  uint64_t bytes = 0;
  for (const ir_var *var = ir->vars; var != NULL; var = var->next)
    if (var->type->kind == IR_ARRAY || var->type->kind == IR_STRUCT) bytes += var->type->size;
  return bytes;
}

/* A work-item's variables lie on a thread's stack. All helper functions are counted for every kernel: which are in
 * use at one time depends on what is inlined. */
static void check_private_memory(front *f) {
  uint64_t helpers = 0;
  for (const ir_function *ir = f->m->functions; ir != NULL; ir = ir->next)
    if (!ir->is_kernel) helpers += private_bytes(ir);
  for (const front_func *func = f->funcs; func != NULL; func = func->next) {
    if (!func->is_kernel || func->ir == NULL) continue;
    uint64_t own = private_bytes(func->ir);
    if (own + helpers <= PRIVATE_LIMIT) continue;
    front_error(
        f, func->loc, func->length,
        "kernel '%.*s' and the functions that it calls have %llu bytes of private arrays and structs; a work-item "
        "has at most %d KiB",
        QN_SV_ARG(func->name), (unsigned long long)(own + helpers), PRIVATE_LIMIT >> 10);
    return;
  }
}

void front_emit_program(front *f) {
  if (!mark_reached(f)) return;
  for (front_func *func = f->funcs; func != NULL && !f->m->failed; func = func->next) {
    if (!func->is_reached || !func->is_defined) continue;
    if (func->is_kernel) emit_kernel(f, func);
    bool is_function = !func->is_kernel || func->is_called_from_reached;
    ir_function *ir = is_function ? front_ir_function(f, func) : NULL;
    /* OpenCL C 1.2, 6.7: what happens then is up to the implementation. The memory is the calling kernel's to give. */
    if (ir != NULL && func->is_kernel && func->has_local) {
      front_error(f, func->loc, func->length,
                  "'%.*s' has __local variables, so another kernel can't call it; let it take __local pointers",
                  QN_SV_ARG(func->name));
      continue;
    }
    if (ir != NULL) emit_body(f, func, ir);
  }
  if (!f->m->failed) check_private_memory(f);
}
