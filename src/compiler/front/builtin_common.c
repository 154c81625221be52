/* builtin_common.c - common functions (6.12.4), geometric functions (6.12.5), clamp, max and min of integers too. */
#include "compiler/front/builtin_table.h"

static ir_inst *bin(const builtin_call *c, ir_op op, ir_inst *x, ir_inst *y) { return ir_bin(c->b, op, x, y); }
static ir_inst *like(const builtin_call *c, ir_inst *value, const ir_type *type) {
  return value->type == type ? value : ir_splat(c->b, type, value);
}

/* ---- Order --------------------------------------------------------------------------------------- */

/* For floats as the specification writes it (y if x < y else x), which is one instruction on most machines; fmax is
 * another function. */
static ir_inst *larger(const builtin_call *c, ir_inst *x, ir_inst *y) {
  const front_type *e = front_elem(c->choice->t);
  if (e->kind == FRONT_INT) return bin(c, e->is_signed ? IR_SMAX : IR_UMAX, x, y);
  return ir_select(c->b, bin(c, IR_FLT, x, y), y, x);
}
static ir_inst *smaller(const builtin_call *c, ir_inst *x, ir_inst *y) {
  const front_type *e = front_elem(c->choice->t);
  if (e->kind == FRONT_INT) return bin(c, e->is_signed ? IR_SMIN : IR_UMIN, x, y);
  return ir_select(c->b, bin(c, IR_FLT, y, x), y, x);
}

ir_inst *builtin_emit_max(const builtin_call *c) {
  return larger(c, c->args[0], like(c, c->args[1], c->args[0]->type));
}
ir_inst *builtin_emit_min(const builtin_call *c) {
  return smaller(c, c->args[0], like(c, c->args[1], c->args[0]->type));
}
ir_inst *builtin_emit_clamp(const builtin_call *c) {
  const ir_type *type = c->args[0]->type;
  ir_inst *up = larger(c, c->args[0], like(c, c->args[1], type));
  return smaller(c, up, like(c, c->args[2], type));
}

/* ---- Common -------------------------------------------------------------------------------------- */

ir_inst *builtin_emit_degrees(const builtin_call *c) {
  return bin(c, IR_FMUL, c->args[0], builtin_number(c, c->args[0]->type, 57.29577951308232087679815481410517));
}
ir_inst *builtin_emit_radians(const builtin_call *c) {
  return bin(c, IR_FMUL, c->args[0], builtin_number(c, c->args[0]->type, 0.01745329251994329576923690768488613));
}

ir_inst *builtin_emit_mix(const builtin_call *c) {
  ir_inst *x = c->args[0], *a = like(c, c->args[2], x->type);
  return bin(c, IR_FADD, x, bin(c, IR_FMUL, bin(c, IR_FSUB, c->args[1], x), a));
}

ir_inst *builtin_emit_step(const builtin_call *c) {
  ir_inst *x = c->args[1], *edge = like(c, c->args[0], x->type);
  return ir_select(c->b, bin(c, IR_FLT, x, edge), builtin_number(c, x->type, 0), builtin_number(c, x->type, 1));
}

ir_inst *builtin_emit_smoothstep(const builtin_call *c) {
  ir_inst *x = c->args[2], *low = like(c, c->args[0], x->type), *high = like(c, c->args[1], x->type);
  ir_inst *zero = builtin_number(c, x->type, 0), *one = builtin_number(c, x->type, 1);
  ir_inst *t = bin(c, IR_FDIV, bin(c, IR_FSUB, x, low), bin(c, IR_FSUB, high, low));
  t = smaller(c, larger(c, t, zero), one);
  ir_inst *slope = bin(c, IR_FSUB, builtin_number(c, x->type, 3), bin(c, IR_FMUL, builtin_number(c, x->type, 2), t));
  return bin(c, IR_FMUL, bin(c, IR_FMUL, t, t), slope);
}

/* 1 or -1 with the sign of x; a zero stays, a NaN gives 0. */
ir_inst *builtin_emit_sign(const builtin_call *c) {
  ir_inst *x = c->args[0], *zero = builtin_number(c, x->type, 0);
  ir_inst *unit = bin(c, IR_COPYSIGN, builtin_number(c, x->type, 1), x);
  ir_inst *known = ir_select(c->b, bin(c, IR_FEQ, x, zero), x, unit);
  return ir_select(c->b, bin(c, IR_FEQ, x, x), known, zero);
}

/* ---- Geometric ----------------------------------------------------------------------------------- */

ir_inst *builtin_emit_dot(const builtin_call *c) {
  ir_builder *b = c->b;
  ir_inst *product = bin(c, IR_FMUL, c->args[0], c->args[1]);
  uint32_t lanes = ir_lanes_of(product->type);
  if (lanes == 1) return product;
  ir_inst *sum = ir_extract_at(b, product, 0);
  for (uint32_t i = 1; i < lanes; i++) sum = bin(c, IR_FADD, sum, ir_extract_at(b, product, i));
  return sum;
}

ir_inst *builtin_emit_cross(const builtin_call *c) {
  static const int32_t left[] = {1, 2, 0, 3}, right[] = {2, 0, 1, 3};
  ir_builder *b = c->b;
  ir_inst *x = c->args[0], *y = c->args[1];
  uint32_t lanes = x->type->count;
  ir_inst *first = bin(c, IR_FMUL, ir_shuffle(b, x, x, left, lanes), ir_shuffle(b, y, y, right, lanes));
  ir_inst *second = bin(c, IR_FMUL, ir_shuffle(b, x, x, right, lanes), ir_shuffle(b, y, y, left, lanes));
  ir_inst *r = bin(c, IR_FSUB, first, second);
  if (lanes == 3) return r;
  const ir_type *i32 = ir_int(c->f->m, 32);
  return ir_insert(b, r, builtin_number(c, ir_elem_of(x->type), 0), ir_const_int(c->f->m, i32, 3));
}

/* length, distance, normalize: library functions of whole vectors, "length.f32x3". */
ir_inst *builtin_emit_geometric(const builtin_call *c) {
  const ir_type *type = c->args[0]->type;
  uint32_t lanes = ir_lanes_of(type), bits = ir_elem_of(type)->bits;
  const char *name = builtin_library_name(c, c->row->library, bits);
  if (lanes > 1) name = qn_arena_printf(c->f->arena, "%sx%u", name, lanes);
  const ir_type *params[] = {type, type};
  ir_function *callee = name ? builtin_library_function(c, name, builtin_result(c), params, c->count) : NULL;
  if (!callee) {
    c->f->failed = true;
    return NULL;
  }
  return ir_call(c->b, callee, c->args, c->count);
}
