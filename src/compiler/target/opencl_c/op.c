/* op.c - component-wise operations, by one table. Each gives exactly what ir.h says: sums that wrap are unsigned, shifts
 * are masked, division is total. */
#include "compiler/target/opencl_c/op.h"

#include "compiler/ir/float.h"

static bool is_vector(const ir_type *type) { return type->kind == IR_VECTOR; }
static bool is_bool(const ir_type *type) { return ir_elem_of(type)->kind == IR_BOOL; }
static uint32_t bits_of(const ir_type *type) { return ir_elem_of(type)->bits; }
/* C computes with these in int. */
static bool is_narrow(const ir_type *type) { return type->kind == IR_INT && type->bits < 32; }
static int8_t class_sign(const emitter *e, const ir_inst *value) { return sign_of(text_is_signed(&e->signs, value)); }

static shape number_shape(text_level level, int8_t sign, bool is_exact) {
  return (shape){level, sign >= 0, is_exact, 0};
}

/* ---- Operands side by side ---- */

/* "a + b"; the shapes of both go to `out`. In vectors one of two may be a scalar. */
static void put_infix(emitter *e, const ir_inst *inst, const char *text, text_level level, want left, want right,
                      shape out[2]) {
  const ir_inst *a = inst->args[0], *b = inst->args[1];
  left.outer = right.outer = level;
  right.is_right = true;
  left.widens = is_vector(a->type) && !is_widened(e, b);
  right.widens = is_vector(a->type) && !is_widened(e, a);
  out[0] = put_operand(e, a, left);
  putf(e, " %s ", text);
  out[1] = put_operand(e, b, right);
}

/* f(a, b, ...), overloaded: every argument has exactly its type. */
static void put_arguments(emitter *e, const ir_inst *inst, const char *function, int8_t sign) {
  putf(e, "%s(", function);
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(e, ", ");
    put_operand(e, inst->args[i], (want){.sign = sign, .exact = true});
  }
  put(e, ")");
}

static shape put_function_op(emitter *e, const ir_inst *inst, const op_row *row) {
  int8_t sign = row->sign ? row->sign : class_sign(e, inst);
  put_arguments(e, inst, row->text, sign);
  return number_shape(TEXT_POSTFIX, sign, true);
}

/* ---- Sums and products ---- */

/* The constant that is subtracted where a negative one is added. */
static const ir_inst *negated(emitter *e, const ir_inst *inst) {
  const ir_inst *b = inst->args[1];
  if ((inst->op != IR_ADD && inst->op != IR_FADD) || b->op != IR_CONST) return NULL;
  if (inst->op == IR_FADD) {
    double value = ir_float_to_double(b->imm, b->type->bits);
    return value < 0 ? ir_const_float(e->m, b->type, -value) : NULL;
  }
  uint32_t up = 64 - b->type->bits;
  int64_t value = (int64_t)(b->imm << up) >> up;
  return value < 0 && value > INT32_MIN ? ir_const_int(e->m, b->type, (uint64_t)-value) : NULL;
}

static void put_sum(emitter *e, const ir_inst *inst, const op_row *row, want left, want right, shape out[2]) {
  const ir_inst *minus = negated(e, inst);
  if (!minus) {
    put_infix(e, inst, row->text, row->level, left, right, out);
    return;
  }
  ir_inst *args[2] = {inst->args[0], (ir_inst *)(uintptr_t)minus};
  ir_inst difference = *inst;
  difference.args = args;
  put_infix(e, &difference, "-", row->level, left, right, out);
}

/* In int, then cut. Products of two ushorts don't fit in an int. */
static shape put_narrow_sum(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  shape both[2];
  put_sum(e, inst, row, (want){0}, (want){0}, both);
  if (inst->op == IR_MUL && inst->type->bits == 16) text_wrap(e->out, start, "1u * ", "");
  put_cast(e, start, row->level, number_name(e, inst->type, text_is_signed(&e->signs, inst)));
  return number_shape(TEXT_UNARY, class_sign(e, inst), true);
}

static shape put_wrapping(emitter *e, const ir_inst *inst, const op_row *row) {
  shape both[2];
  if (is_narrow(inst->type)) return put_narrow_sum(e, inst, row);
  int8_t sign = inst->flags & IR_NSW ? class_sign(e, inst) : -1;
  /* A sum with one unsigned operand is unsigned; vectors are not converted by themselves. */
  int8_t second = is_vector(inst->type) || sign > 0 || ir_is_const(inst->args[1]) ? sign : 0;
  put_sum(e, inst, row, (want){.sign = sign, .exact = ir_is_const(inst->args[0])}, (want){.sign = second}, both);
  return number_shape(row->level, sign, true);
}

static shape put_float_infix(emitter *e, const ir_inst *inst, const op_row *row) {
  shape both[2];
  put_sum(e, inst, row, (want){0}, (want){0}, both);
  return number_shape(row->level, 1, true);
}

static shape put_float_negation(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  put_operand(e, inst->args[0], (want){.outer = TEXT_UNARY});
  bool twice = e->out->size > start && e->out->data[start] == '-';
  text_wrap(e->out, start, twice ? "-(" : "-", twice ? ")" : "");
  return number_shape(row->level, 1, true);
}

/* ---- Bits ---- */

static shape put_bits(emitter *e, const ir_inst *inst, const op_row *row) {
  shape both[2];
  want w = {0};
  if (is_bool(inst->type)) {
    w.mask = is_vector(inst->type) ? mask_of(e, inst) : 0;
    put_infix(e, inst, row->text, row->level, w, w, both);
    return (shape){row->level, true, true, w.mask};
  }
  /* Of one sign where a narrow operand becomes an int, and so that constants are read as the rest is. */
  w.sign = class_sign(e, inst);
  put_infix(e, inst, row->text, row->level, w, w, both);
  return number_shape(row->level, w.sign, !is_narrow(inst->type));
}

static shape put_complement(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  bool is_truth = inst->type->kind == IR_BOOL;
  put(e, is_truth ? "!" : "~");
  shape s = put_operand(e, inst->args[0], (want){.outer = TEXT_UNARY, .mask = mask_of(e, inst)});
  if (is_bool(inst->type)) return (shape){row->level, true, true, s.mask};
  s.level = row->level;
  if (!is_narrow(inst->type) || s.is_signed) return s;
  put_cast(e, start, row->level, number_name(e, inst->type, false)); /* an int, with ones above */
  return number_shape(TEXT_UNARY, -1, true);
}

/* The amount of a shift, modulo the width. */
static void put_amount(emitter *e, const ir_inst *inst, want w) {
  const ir_inst *amount = inst->args[1];
  const ir_type *type = inst->type;
  uint64_t mask = bits_of(type) - 1;
  ir_inst *limit = ir_const_int(e->m, (const ir_type *)ir_elem_of(type), mask);
  if (is_vector(type)) limit = ir_const_splat(e->m, type, limit);
  ir_inst *args[2] = {(ir_inst *)(uintptr_t)amount, limit};
  const ir_inst *known = ir_is_const(amount) ? ir_fold(e->m, IR_AND, 0, type, args, 2) : NULL;
  if (known) {
    w.widens = is_vector(type) && !w.exact;
    put_operand(e, known, w);
    return;
  }
  size_t start = e->out->size;
  ir_inst masked = {.op = IR_AND, .type = type, .args = args, .arg_count = 2};
  shape both[2];
  put_infix(e, &masked, "&", TEXT_AND, (want){.sign = w.sign}, (want){.sign = w.sign}, both);
  if (w.exact && is_narrow(type))
    put_cast(e, start, TEXT_AND, number_name(e, type, w.sign >= 0));
  else if (text_wants_brackets(TEXT_AND, w.outer, true))
    text_wrap(e->out, start, "(", ")");
}

static shape put_shift(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  bool cuts = inst->op == IR_SHL && is_narrow(inst->type);
  put_operand(e, inst->args[0],
              (want){.outer = cuts ? TEXT_UNARY : row->level, .sign = row->sign, .exact = !is_narrow(inst->type)});
  if (cuts) put_cast(e, start, TEXT_UNARY, "uint");
  putf(e, " %s ", row->text);
  put_amount(e, inst, (want){.outer = row->level, .is_right = true, .sign = is_vector(inst->type) ? row->sign : 0});
  if (!cuts) return number_shape(row->level, row->sign, !is_narrow(inst->type));
  put_cast(e, start, row->level, number_name(e, inst->type, text_is_signed(&e->signs, inst)));
  return number_shape(TEXT_UNARY, class_sign(e, inst), true);
}

static shape put_rotate(emitter *e, const ir_inst *inst, const op_row *row) {
  int8_t sign = class_sign(e, inst);
  putf(e, "%s(", row->text);
  put_operand(e, inst->args[0], (want){.sign = sign, .exact = true});
  put(e, ", ");
  put_amount(e, inst, (want){.sign = sign, .exact = true});
  put(e, ")");
  return number_shape(TEXT_POSTFIX, sign, true);
}

static shape put_trailing_zeros(emitter *e, const ir_inst *inst, const op_row *row) {
  (void)row;
  put_arguments(e, inst, helper_name(e, HELPER_CTZ, inst->type, false, IR_PRIVATE), -1);
  return number_shape(TEXT_POSTFIX, -1, true);
}

/* ---- Division ---- */

static bool is_safe_constant(const ir_inst *c, bool is_about_signs) {
  if (c->op == IR_AGGREGATE) {
    for (uint32_t i = 0; i < c->arg_count; i++)
      if (!is_safe_constant(c->args[i], is_about_signs)) return false;
    return true;
  }
  if (c->op != IR_CONST || !c->imm) return false;
  return !is_about_signs || c->imm != UINT64_MAX >> (64 - c->type->bits);
}

/* Whether a divisor is never 0, and of signed ones never -1. Sizes of groups are small numbers. */
static bool is_safe_divisor(const ir_inst *x, bool is_about_signs) {
  if (x->op == IR_CONST || x->op == IR_AGGREGATE) return is_safe_constant(x, is_about_signs);
  if (x->op == IR_TRUNC) return x->type->kind == IR_INT && x->type->bits >= 32 && x->args[0]->op == IR_LOCAL_SIZE;
  if (x->op == IR_LOCAL_SIZE) return true;
  if (is_about_signs) return false;
  if (x->op == IR_GLOBAL_SIZE || x->op == IR_NUM_GROUPS || x->op == IR_ENQUEUED_SIZE) return true;
  return x->op == IR_OR && (is_safe_constant(x->args[0], false) || is_safe_constant(x->args[1], false));
}

static shape put_division(emitter *e, const ir_inst *inst, const op_row *row) {
  if (is_safe_divisor(inst->args[1], row->sign > 0)) {
    shape both[2];
    put_infix(e, inst, row->text, row->level, (want){.sign = row->sign}, (want){.sign = row->sign}, both);
    return number_shape(row->level, row->sign, !is_narrow(inst->type));
  }
  bool is_quotient = inst->op == IR_SDIV || inst->op == IR_UDIV;
  helper which = is_quotient ? HELPER_DIV : HELPER_REM;
  put_arguments(e, inst, helper_name(e, which, inst->type, row->sign > 0, IR_PRIVATE), row->sign);
  return number_shape(TEXT_POSTFIX, row->sign, true);
}

/* ---- Comparisons ---- */

/* Pointers to different things are compared as pointers to the first one's. */
static void put_pointer_pair(emitter *e, const ir_inst *inst, const char *text) {
  const ir_inst *a = inst->args[0], *b = inst->args[1];
  put_operand(e, a, (want){.outer = TEXT_COMPARE});
  putf(e, " %s ", text);
  if (a->type != b->type) {
    put(e, "(");
    put_value_type(e, a->type, text_is_signed(&e->signs, a), true, 0);
    put(e, ")");
  }
  put_operand(
      e, b,
      (want){.outer = a->type != b->type ? TEXT_UNARY : TEXT_COMPARE, .is_right = true, .sign = class_sign(e, a)});
}

static const op_row *row_of(ir_op op);

/* The operator with its sides changed. */
static const char *mirrored(const char *text) {
  static const char *const pairs[][2] = {{"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strcmp(text, pairs[i][0]) == 0) return pairs[i][1];
  return text;
}

/* Constants stand on the right. */
void put_comparison(emitter *e, const ir_inst *inst, const char *text) {
  const ir_type *type = inst->args[0]->type;
  shape both[2];
  if (type->kind == IR_POINTER) {
    put_pointer_pair(e, inst, text);
    return;
  }
  bool swaps = ir_is_const(inst->args[0]) && !ir_is_const(inst->args[1]);
  ir_inst *args[2] = {inst->args[swaps], inst->args[!swaps]}, turned = *inst;
  turned.args = args;
  int8_t sign = row_of(inst->op)->sign;
  want w = {.sign = sign || ir_elem_of(type)->kind != IR_INT ? sign : class_sign(e, args[0])};
  if (is_bool(type) && is_vector(type)) w.mask = mask_of(e, inst);
  put_infix(e, &turned, swaps ? mirrored(text) : text, TEXT_COMPARE, w, w, both);
}

static shape put_compare(emitter *e, const ir_inst *inst, const op_row *row) {
  put_comparison(e, inst, row->text);
  return (shape){TEXT_COMPARE, true, true, mask_of(e, inst)};
}

/* ---- The table ---- */

#define ROW(id, maker, text, level, sign) [IR_##id] = {maker, text, level, sign}
static const op_row rows[IR_OP_COUNT] = {
    ROW(ADD, put_wrapping, "+", TEXT_ADD, 0),
    ROW(SUB, put_wrapping, "-", TEXT_ADD, 0),
    ROW(MUL, put_wrapping, "*", TEXT_MUL, 0),
    ROW(SDIV, put_division, "/", TEXT_MUL, 1),
    ROW(UDIV, put_division, "/", TEXT_MUL, -1),
    ROW(SREM, put_division, "%", TEXT_MUL, 1),
    ROW(UREM, put_division, "%", TEXT_MUL, -1),
    ROW(AND, put_bits, "&", TEXT_AND, 0),
    ROW(OR, put_bits, "|", TEXT_OR, 0),
    ROW(XOR, put_bits, "^", TEXT_XOR, 0),
    ROW(NOT, put_complement, "~", TEXT_UNARY, 0),
    ROW(SHL, put_shift, "<<", TEXT_SHIFT, -1),
    ROW(LSHR, put_shift, ">>", TEXT_SHIFT, -1),
    ROW(ASHR, put_shift, ">>", TEXT_SHIFT, 1),
    ROW(ROTL, put_rotate, "rotate", TEXT_POSTFIX, 0),
    ROW(SMIN, put_function_op, "min", TEXT_POSTFIX, 1),
    ROW(SMAX, put_function_op, "max", TEXT_POSTFIX, 1),
    ROW(UMIN, put_function_op, "min", TEXT_POSTFIX, -1),
    ROW(UMAX, put_function_op, "max", TEXT_POSTFIX, -1),
    ROW(SMULHI, put_function_op, "mul_hi", TEXT_POSTFIX, 1),
    ROW(UMULHI, put_function_op, "mul_hi", TEXT_POSTFIX, -1),
    ROW(SADDSAT, put_function_op, "add_sat", TEXT_POSTFIX, 1),
    ROW(UADDSAT, put_function_op, "add_sat", TEXT_POSTFIX, -1),
    ROW(SSUBSAT, put_function_op, "sub_sat", TEXT_POSTFIX, 1),
    ROW(USUBSAT, put_function_op, "sub_sat", TEXT_POSTFIX, -1),
    ROW(CLZ, put_function_op, "clz", TEXT_POSTFIX, 0),
    ROW(CTZ, put_trailing_zeros, "", TEXT_POSTFIX, 0),
    ROW(POPCOUNT, put_function_op, "popcount", TEXT_POSTFIX, 0),
    ROW(FADD, put_float_infix, "+", TEXT_ADD, 0),
    ROW(FSUB, put_float_infix, "-", TEXT_ADD, 0),
    ROW(FMUL, put_float_infix, "*", TEXT_MUL, 0),
    ROW(FDIV, put_float_infix, "/", TEXT_MUL, 0),
    ROW(FREM, put_function_op, "fmod", TEXT_POSTFIX, 0),
    ROW(FNEG, put_float_negation, "-", TEXT_UNARY, 0),
    ROW(FABS, put_function_op, "fabs", TEXT_POSTFIX, 0),
    ROW(FMA, put_function_op, "fma", TEXT_POSTFIX, 0),
    ROW(SQRT, put_function_op, "sqrt", TEXT_POSTFIX, 0),
    ROW(RSQRT, put_function_op, "rsqrt", TEXT_POSTFIX, 0),
    ROW(FLOOR, put_function_op, "floor", TEXT_POSTFIX, 0),
    ROW(CEIL, put_function_op, "ceil", TEXT_POSTFIX, 0),
    ROW(FTRUNC, put_function_op, "trunc", TEXT_POSTFIX, 0),
    ROW(RINT, put_function_op, "rint", TEXT_POSTFIX, 0),
    ROW(FROUND, put_function_op, "round", TEXT_POSTFIX, 0),
    ROW(FMIN, put_function_op, "fmin", TEXT_POSTFIX, 0),
    ROW(FMAX, put_function_op, "fmax", TEXT_POSTFIX, 0),
    ROW(COPYSIGN, put_function_op, "copysign", TEXT_POSTFIX, 0),
    ROW(EQ, put_compare, "==", TEXT_COMPARE, 0),
    ROW(NE, put_compare, "!=", TEXT_COMPARE, 0),
    ROW(SLT, put_compare, "<", TEXT_COMPARE, 1),
    ROW(SLE, put_compare, "<=", TEXT_COMPARE, 1),
    ROW(ULT, put_compare, "<", TEXT_COMPARE, -1),
    ROW(ULE, put_compare, "<=", TEXT_COMPARE, -1),
    ROW(FEQ, put_compare, "==", TEXT_COMPARE, 0),
    ROW(FNE, put_compare, "!=", TEXT_COMPARE, 0),
    ROW(FLT, put_compare, "<", TEXT_COMPARE, 0),
    ROW(FLE, put_compare, "<=", TEXT_COMPARE, 0),
    ROW(TRUNC, put_integer_conversion, "", TEXT_UNARY, 0),
    ROW(ZEXT, put_integer_conversion, "", TEXT_UNARY, -1),
    ROW(SEXT, put_integer_conversion, "", TEXT_UNARY, 1),
    ROW(FTOS, put_float_to_integer, "", TEXT_UNARY, 1),
    ROW(FTOU, put_float_to_integer, "", TEXT_UNARY, -1),
    ROW(STOF, put_to_float, "", TEXT_UNARY, 1),
    ROW(UTOF, put_to_float, "", TEXT_UNARY, -1),
    ROW(FNARROW, put_to_float, "", TEXT_UNARY, 0),
    ROW(FWIDEN, put_to_float, "", TEXT_UNARY, 0),
    ROW(BITCAST, put_bitcast, "", TEXT_POSTFIX, 0),
};

static const op_row *row_of(ir_op op) { return &rows[op]; }

bool is_component_wise(ir_op op) { return rows[op].make != NULL; }

shape put_op(emitter *e, const ir_inst *inst) { return rows[inst->op].make(e, inst, &rows[inst->op]); }
