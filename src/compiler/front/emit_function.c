#include <stdlib.h>
#include <string.h>

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

/* A kernel's record is one for all work-items: where it may be written, each gets a copy of its own. A function's is a copy
 * that its caller made. */
static void bind_record(front *f, const front_func *func, const ir_function *ir, front_object *object, ir_inst *value) {
  object->value = value;
  bool is_shared = ir == func->ir && func->is_kernel;
  if (!is_shared || (!object->is_assigned && object->escapes == 0)) return;
  object->value = NULL;
  object->var = front_temporary(f, copied(f, object->name), object->type);
  (void)ir_copy(&f->b, object->var->address, value);
}

/* A parameter that is never written stays a value; others get a variable. Records lie in memory of their own. */
static void bind_parameters(front *f, const front_func *func, const ir_function *ir) {
  uint32_t first = gives_record(func) ? 1 : 0;
  for (uint32_t i = 0; i < func->param_count; i++) {
    front_object *object = func->params[i];
    ir_inst *value = ir->params[first + i].value;
    object->value = NULL;
    object->var = NULL;
    bool needs_memory = object->is_assigned || (object->type->quals & FRONT_VOLATILE) != 0;
    if (object->type->kind == FRONT_RECORD) {
      bind_record(f, func, ir, object, value);
      continue;
    }
    if (!needs_memory) {
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
  emit_body(f, func, ir);
}

/* ---- The program
 * ----------------------------------------------------------------------------------------------------------- */

/* Marks what `root` reaches, itself too, and lists what was not reached before. The list is the queue of the search. */
static front_func *reach(front_func *root) {
  front_func *last = root;
  if (root->is_reached) return NULL;
  root->is_reached = true;
  for (front_func *func = root; func != NULL; func = func->next_reached) {
    for (uint32_t i = 0; i < func->call_count; i++) {
      front_func *callee = func->calls[i].callee;
      callee->is_called_from_reached = true;
      if (callee->is_reached) continue;
      callee->is_reached = true;
      last = last->next_reached = callee;
    }
  }
  return root;
}

static bool is_root(const front_func *func, bool has_kernel) {
  return has_kernel ? func->is_kernel : func->is_defined && !func->is_static;
}

static void mark_reached(front *f) {
  bool has_kernel = false;
  for (front_func *func = f->funcs; func != NULL; func = func->next) has_kernel |= func->is_kernel && func->is_defined;
  for (front_func *func = f->funcs; func != NULL; func = func->next) {
    if (is_root(func, has_kernel)) (void)reach(func);
  }
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

/* At the program's end: any declaration of a function may have some. */
static void apply_attributes(const front_func *func) {
  ir_function *const both[] = {func->ir, func->ir_helper};
  for (int i = 0; i < 2; i++) {
    if (both[i] == NULL) continue;
    both[i]->is_inline = func->is_inline || func->attributes.is_inline;
    both[i]->is_noinline = func->attributes.is_noinline;
  }
  if (!func->is_kernel || func->ir == NULL) return;
  memcpy(func->ir->required_local, func->attributes.required.items, sizeof func->ir->required_local);
  memcpy(func->ir->hinted_local, func->attributes.hinted.items, sizeof func->ir->hinted_local);
}

static void emit_function(front *f, front_func *func) {
  if (func->is_kernel && func->ir == NULL) emit_kernel(f, func);
  bool is_function = !func->is_kernel || func->is_called_from_reached;
  ir_function *ir = is_function ? front_ir_function(f, func) : NULL;
  if (ir == NULL || ir->body != NULL) return;
  /* OpenCL C 1.2, 6.7: what happens then is up to the implementation. The memory is the calling kernel's to give. */
  if (func->is_kernel && func->has_local) {
    front_error(f, func->loc, func->length,
                "'%.*s' has __local variables, so another kernel can't call it; let it take __local pointers",
                QN_SV_ARG(func->name));
    return;
  }
  emit_body(f, func, ir);
}

static int by_declaration(const void *a, const void *b) {
  uint32_t x = (*(front_func *const *)a)->number, y = (*(front_func *const *)b)->number;
  return (x > y) - (x < y);
}

/* A list of reach() as an array, in order of declaration. False: one isn't defined, or there is no memory. */
static bool sort_reached(front *f, front_func *list, front_func ***out, uint32_t *out_count) {
  uint32_t count = 0;
  bool is_complete = true;
  for (const front_func *func = list; func != NULL; func = func->next_reached, count++) is_complete &= func->is_defined;
  front_func **sorted = is_complete ? QN_ARENA_ARRAY(f->arena, front_func *, count + 1) : NULL;
  if (sorted == NULL) return false;
  for (uint32_t i = 0; i < count; i++, list = list->next_reached) sorted[i] = list;
  qsort(sorted, count, sizeof *sorted, by_declaration);
  *out = sorted;
  *out_count = count;
  return true;
}

void front_emit_kernel(front *f, front_func *kernel) {
  front_func **reached = NULL;
  uint32_t count = 0;
  if (f->diags->errors > 0 || f->is_emission_late || f->m->failed) return;
  f->is_emission_late = !sort_reached(f, reach(kernel), &reached, &count);
  if (f->is_emission_late) return;
  for (uint32_t i = 0; i < count && !f->m->failed; i++) emit_function(f, reached[i]);
  f->b = (ir_builder){0};
}

void front_emit_program(front *f) {
  mark_reached(f);
  for (front_func *func = f->funcs; func != NULL && !f->m->failed; func = func->next) {
    if (!func->is_reached || !func->is_defined) continue;
    emit_function(f, func);
    apply_attributes(func);
  }
  if (!f->m->failed) check_private_memory(f);
}
