/* builtin_emit.c - emission: calls of the library, single operations, what the other emitters share. */
#include <stdio.h>

#include "compiler/front/builtin_table.h"

ir_inst *front_builtin_emit(front *f, const front_overload *overload, ir_inst *const *args) {
  const builtin_choice *choice = overload->entry;
  builtin_call c = {f, &f->b, choice->row, choice, overload, args, overload->count};
  return choice->row ? choice->row->emit(&c) : builtin_emit_conversion(&c);
}

const ir_type *builtin_result(const builtin_call *c) { return front_ir(c->f, c->overload->result); }

ir_inst *builtin_number(const builtin_call *c, const ir_type *type, double value) {
  ir_module *m = c->f->m;
  ir_inst *scalar = ir_const_float(m, ir_elem_of(type), value);
  return type->kind == IR_VECTOR ? ir_const_splat(m, type, scalar) : scalar;
}

ir_inst *builtin_integer(const builtin_call *c, const ir_type *type, uint64_t value) {
  ir_module *m = c->f->m;
  ir_inst *scalar = ir_const_int(m, ir_elem_of(type), value);
  return type->kind == IR_VECTOR ? ir_const_splat(m, type, scalar) : scalar;
}

const ir_type *builtin_bits_type(const builtin_call *c, const ir_type *type) {
  ir_module *m = c->f->m;
  return ir_with_elem(m, type, ir_int(m, ir_elem_of(type)->bits));
}

/* ---- Library functions --------------------------------------------------------------------------- */

const char *builtin_library_name(const builtin_call *c, const char *base, uint32_t bits) {
  char text[48];
  int length = snprintf(text, sizeof text, "%s.f%u", base, bits);
  const char *copy = qn_arena_copy(c->f->arena, qn_sv_make(text, (size_t)length));
  if (copy) return copy;
  c->f->failed = true;
  return base;
}

ir_function *builtin_library_function(const builtin_call *c, const char *name, const ir_type *result,
                                      const ir_type *const *params, uint32_t count) {
  ir_module *m = c->f->m;
  ir_function *callee = ir_function_find(m, qn_sv_from(name));
  if (callee) return callee;
  callee = ir_function_get(m, qn_sv_from(name));
  if (callee) ir_function_signature(callee, result, params, NULL, count);
  return callee;
}

static ir_inst *lane_of(const builtin_call *c, ir_inst *value, uint32_t lane) {
  return value->type->kind == IR_VECTOR ? ir_extract_at(c->b, value, lane) : value;
}

ir_inst *builtin_library(const builtin_call *c, const char *name, const ir_type *elem, ir_inst *const *args,
                         uint32_t count) {
  const ir_type *params[FRONT_OVERLOAD_PARAMS] = {NULL};
  uint32_t lanes = 1;
  for (uint32_t i = 0; i < count; i++) {
    params[i] = ir_elem_of(args[i]->type);
    if (args[i]->type->kind == IR_VECTOR) lanes = args[i]->type->count;
  }
  ir_function *callee = builtin_library_function(c, name, elem, params, count);
  if (!callee) {
    c->f->failed = true;
    return NULL;
  }
  ir_inst *parts[16];
  for (uint32_t lane = 0; lane < lanes; lane++) {
    ir_inst *scalars[FRONT_OVERLOAD_PARAMS];
    for (uint32_t i = 0; i < count; i++) scalars[i] = lane_of(c, args[i], lane);
    parts[lane] = ir_call(c->b, callee, scalars, count);
  }
  return lanes == 1 ? parts[0] : ir_vec(c->b, ir_vector(c->f->m, elem, lanes), parts);
}

/* The library function for T, the fast one where that is asked for. */
static const char *chosen_name(const builtin_call *c) {
  uint32_t bits = front_elem(c->choice->t)->bits;
  bool fast = c->row->fast && bits == 32 && c->f->options->fast_relaxed_math;
  return builtin_library_name(c, fast ? c->row->fast : c->row->library, bits);
}

ir_inst *builtin_emit_library(const builtin_call *c) {
  return builtin_library(c, chosen_name(c), ir_elem_of(builtin_result(c)), c->args, c->count);
}

/* A function that gives two results as a vector of two; the second goes through the last argument, converted when that
 * points to integers. */
ir_inst *builtin_emit_pair(const builtin_call *c) {
  ir_builder *b = c->b;
  ir_module *m = c->f->m;
  const ir_type *type = builtin_result(c), *elem = ir_elem_of(type);
  const ir_type *params[FRONT_OVERLOAD_PARAMS] = {NULL};
  for (uint32_t i = 0; i + 1 < c->count; i++) params[i] = elem;
  ir_function *callee = builtin_library_function(c, chosen_name(c), ir_vector(m, elem, 2), params, c->count - 1);
  if (!callee) {
    c->f->failed = true;
    return NULL;
  }
  uint32_t lanes = ir_lanes_of(type);
  ir_inst *first[16], *second[16];
  for (uint32_t lane = 0; lane < lanes; lane++) {
    ir_inst *scalars[FRONT_OVERLOAD_PARAMS];
    for (uint32_t i = 0; i + 1 < c->count; i++) scalars[i] = lane_of(c, c->args[i], lane);
    ir_inst *both = ir_call(b, callee, scalars, c->count - 1);
    first[lane] = ir_extract_at(b, both, 0);
    second[lane] = ir_extract_at(b, both, 1);
  }
  ir_inst *other = lanes == 1 ? second[0] : ir_vec(b, type, second);
  ir_inst *pointer = c->args[c->count - 1];
  const ir_type *stored = pointer->type->elem;
  ir_store(b, pointer, ir_elem_of(stored)->kind == IR_INT ? ir_conv(b, IR_FTOS, other, stored) : other);
  return lanes == 1 ? first[0] : ir_vec(b, type, first);
}

/* ---- Single operations --------------------------------------------------------------------------- */

/* A scalar argument widened to the shape of the result. */
static ir_inst *widened(const builtin_call *c, ir_inst *value, const ir_type *type) {
  return value->type == type ? value : ir_splat(c->b, type, value);
}

ir_inst *builtin_emit_op(const builtin_call *c) {
  const front_type *e = front_elem(c->choice->t);
  bool is_single = c->row->ops[1] == 0;
  ir_op op = c->row->ops[is_single || (e->kind == FRONT_INT && e->is_signed) ? 0 : e->kind == FRONT_INT ? 1 : 2];
  const ir_type *type = builtin_result(c);
  switch (c->count) {
    case 1:
      return ir_un(c->b, op, c->args[0]);
    case 2:
      return ir_bin(c->b, op, c->args[0], widened(c, c->args[1], type));
    default:
      return ir_tri(c->b, op, c->args[0], c->args[1], c->args[2]);
  }
}
