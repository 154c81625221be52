/* builtin_math.c - math functions (6.12.2) that are a few operations. */
#include "compiler/front/builtin_table.h"

static ir_inst *bin(const builtin_call *c, ir_op op, ir_inst *x, ir_inst *y) { return ir_bin(c->b, op, x, y); }
static ir_inst *less(const builtin_call *c, ir_inst *x, ir_inst *y) { return ir_bin(c->b, IR_FLT, x, y); }

/* A product and a sum that the target fuses when that is faster. */
ir_inst *builtin_emit_mad(const builtin_call *c) {
  uint32_t before = c->b->fp_flags;
  c->b->fp_flags |= IR_CONTRACT;
  ir_inst *r = bin(c, IR_FADD, bin(c, IR_FMUL, c->args[0], c->args[1]), c->args[2]);
  c->b->fp_flags = before;
  return r;
}

ir_inst *builtin_emit_fdim(const builtin_call *c) {
  ir_inst *x = c->args[0], *y = c->args[1];
  return ir_select(c->b, bin(c, IR_FLE, x, y), builtin_number(c, x->type, 0), bin(c, IR_FSUB, x, y));
}

/* The one of larger (smaller) size; of equal ones, and beside a NaN, as fmax (fmin). */
static ir_inst *by_size(const builtin_call *c, bool largest) {
  ir_builder *b = c->b;
  ir_inst *x = c->args[0], *y = c->args[1];
  ir_inst *size_x = ir_un(b, IR_FABS, x), *size_y = ir_un(b, IR_FABS, y);
  ir_inst *is_x = largest ? less(c, size_y, size_x) : less(c, size_x, size_y);
  ir_inst *is_y = largest ? less(c, size_x, size_y) : less(c, size_y, size_x);
  ir_inst *otherwise = bin(c, largest ? IR_FMAX : IR_FMIN, x, y);
  return ir_select(b, is_x, x, ir_select(b, is_y, y, otherwise));
}
ir_inst *builtin_emit_maxmag(const builtin_call *c) { return by_size(c, true); }
ir_inst *builtin_emit_minmag(const builtin_call *c) { return by_size(c, false); }

/* native_ and half_ divisions: as fast as the target can. */
static ir_inst *fast_quotient(const builtin_call *c, ir_inst *x, ir_inst *y) {
  uint32_t before = c->b->fp_flags;
  c->b->fp_flags |= IR_FAST;
  ir_inst *r = bin(c, IR_FDIV, x, y);
  c->b->fp_flags = before;
  return r;
}
ir_inst *builtin_emit_divide(const builtin_call *c) { return fast_quotient(c, c->args[0], c->args[1]); }
ir_inst *builtin_emit_recip(const builtin_call *c) {
  return fast_quotient(c, builtin_number(c, c->args[0]->type, 1), c->args[0]);
}

/* ---- Two results --------------------------------------------------------------------------------- */

ir_inst *builtin_emit_fract(const builtin_call *c) {
  ir_builder *b = c->b;
  ir_inst *x = c->args[0], *whole = ir_un(b, IR_FLOOR, x);
  ir_store(b, c->args[1], whole);
  /* Below 1 also where x - floor(x) rounds to it; 0 for infinities; the sign of a zero is x's. */
  double below = ir_elem_of(x->type)->bits == 32 ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1;
  ir_inst *part = bin(c, IR_FSUB, x, whole), *limit = builtin_number(c, x->type, below);
  part = ir_select(b, less(c, limit, part), limit, part);
  ir_inst *is_whole = bin(c, IR_FEQ, x, whole);
  return ir_select(b, is_whole, bin(c, IR_COPYSIGN, builtin_number(c, x->type, 0), x), part);
}

ir_inst *builtin_emit_modf(const builtin_call *c) {
  ir_builder *b = c->b;
  ir_inst *x = c->args[0], *whole = ir_un(b, IR_FTRUNC, x);
  ir_store(b, c->args[1], whole);
  ir_inst *zero = builtin_number(c, x->type, 0);
  ir_inst *part = ir_select(b, bin(c, IR_FEQ, x, whole), zero, bin(c, IR_FSUB, x, whole));
  return bin(c, IR_COPYSIGN, part, x);
}

/* The first result by one library function, the integer by another. */
static ir_inst *with_integer(const builtin_call *c, const char *real, const char *integer) {
  ir_inst *x = c->args[0];
  const ir_type *elem = ir_elem_of(x->type);
  ir_inst *second = builtin_library(c, builtin_library_name(c, integer, elem->bits), ir_int(c->f->m, 32), &x, 1);
  ir_inst *first = builtin_library(c, builtin_library_name(c, real, elem->bits), elem, &x, 1);
  if (first && second) ir_store(c->b, c->args[1], second);
  return first;
}
ir_inst *builtin_emit_frexp(const builtin_call *c) { return with_integer(c, "frexp", "frexp_exponent"); }
ir_inst *builtin_emit_lgamma_r(const builtin_call *c) { return with_integer(c, "lgamma", "lgamma_sign"); }

/* A quiet NaN with the code in its last bits. */
ir_inst *builtin_emit_nan(const builtin_call *c) {
  ir_inst *code = c->args[0];
  bool single = ir_elem_of(code->type)->bits == 32;
  ir_inst *quiet = builtin_integer(c, code->type, single ? 0x7fc00000u : 0x7ff8000000000000u);
  ir_inst *kept = bin(c, IR_AND, code, builtin_integer(c, code->type, single ? 0x3fffffu : 0x7ffffffffffffu));
  return ir_conv(c->b, IR_BITCAST, bin(c, IR_OR, kept, quiet), builtin_result(c));
}
