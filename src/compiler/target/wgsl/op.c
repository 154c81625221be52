/* op.c - component-wise operations, by one table. Each gives exactly what ir.h says, whatever WGSL leaves open. */
#include <inttypes.h>

#include "compiler/ir/float.h"
#include "compiler/target/wgsl/emit.h"

typedef enum op_form {
  FORM_NONE,
  FORM_INFIX,    /* a + b of unsigned lanes or floats */
  FORM_SHIFT,    /* the amount is masked */
  FORM_DIVISION, /* by a helper unless the divisor is a constant that is no trouble */
  FORM_FUNCTION, /* f(a, b), WGSL's own, of unsigned lanes or floats */
  FORM_SIGNED,   /* the same of signed lanes */
  FORM_HELPER,   /* of ours */
  FORM_QUOTIENT, /* of floats: WGSL's own has a range */
  FORM_ROOT,
  FORM_COMPARE,
  FORM_FLOAT_COMPARE,
  FORM_SPECIAL
} op_form;

typedef struct op_row {
  op_form form;
  const char *text;
  text_level level;
  const char *wide; /* of 64-bit integers: a helper; "" for what `text` does as well; NULL: none */
} op_row;

/* clang-format off */
static const op_row rows[IR_OP_COUNT] = {
  [IR_ADD] = {FORM_INFIX, "+", TEXT_ADD, "quern_add64"},
  [IR_SUB] = {FORM_INFIX, "-", TEXT_ADD, "quern_sub64"},
  [IR_MUL] = {FORM_INFIX, "*", TEXT_MUL, "quern_mul64"},
  [IR_SDIV] = {FORM_DIVISION, "quern_sdiv", TEXT_MUL, "quern_sdiv64"},
  [IR_UDIV] = {FORM_DIVISION, "quern_udiv", TEXT_MUL, "quern_udiv64"},
  [IR_SREM] = {FORM_DIVISION, "quern_srem", TEXT_MUL, "quern_srem64"},
  [IR_UREM] = {FORM_DIVISION, "quern_urem", TEXT_MUL, "quern_urem64"},
  [IR_AND] = {FORM_INFIX, "&", TEXT_AND, ""},
  [IR_OR] = {FORM_INFIX, "|", TEXT_OR, ""},
  [IR_XOR] = {FORM_INFIX, "^", TEXT_XOR, ""},
  [IR_NOT] = {FORM_SPECIAL, "~", TEXT_UNARY, ""},
  [IR_SHL] = {FORM_SHIFT, "<<", TEXT_SHIFT, "quern_shl64"},
  [IR_LSHR] = {FORM_SHIFT, ">>", TEXT_SHIFT, "quern_lshr64"},
  [IR_ASHR] = {FORM_SHIFT, ">>", TEXT_SHIFT, "quern_ashr64"},
  [IR_ROTL] = {FORM_SPECIAL, "quern_rotl", TEXT_POSTFIX, "quern_rotl64"},
  [IR_SMIN] = {FORM_SIGNED, "min", TEXT_POSTFIX, "quern_smin64"},
  [IR_SMAX] = {FORM_SIGNED, "max", TEXT_POSTFIX, "quern_smax64"},
  [IR_UMIN] = {FORM_FUNCTION, "min", TEXT_POSTFIX, "quern_umin64"},
  [IR_UMAX] = {FORM_FUNCTION, "max", TEXT_POSTFIX, "quern_umax64"},
  [IR_SMULHI] = {FORM_HELPER, "quern_smulhi", TEXT_POSTFIX, "quern_smulhi64"},
  [IR_UMULHI] = {FORM_HELPER, "quern_umulhi", TEXT_POSTFIX, "quern_umulhi64"},
  [IR_SADDSAT] = {FORM_HELPER, "quern_saddsat", TEXT_POSTFIX, "quern_saddsat64"},
  [IR_UADDSAT] = {FORM_HELPER, "quern_uaddsat", TEXT_POSTFIX, "quern_uaddsat64"},
  [IR_SSUBSAT] = {FORM_HELPER, "quern_ssubsat", TEXT_POSTFIX, "quern_ssubsat64"},
  [IR_USUBSAT] = {FORM_HELPER, "quern_usubsat", TEXT_POSTFIX, "quern_usubsat64"},
  [IR_CLZ] = {FORM_FUNCTION, "countLeadingZeros", TEXT_POSTFIX, "quern_clz64"},
  [IR_CTZ] = {FORM_FUNCTION, "countTrailingZeros", TEXT_POSTFIX, "quern_ctz64"},
  [IR_POPCOUNT] = {FORM_FUNCTION, "countOneBits", TEXT_POSTFIX, "quern_popcount64"},
  [IR_FADD] = {FORM_INFIX, "+", TEXT_ADD, NULL},
  [IR_FSUB] = {FORM_INFIX, "-", TEXT_ADD, NULL},
  [IR_FMUL] = {FORM_INFIX, "*", TEXT_MUL, NULL},
  [IR_FDIV] = {FORM_QUOTIENT, "/", TEXT_MUL, NULL},
  [IR_FREM] = {FORM_HELPER, "quern_frem", TEXT_POSTFIX, NULL},
  [IR_FNEG] = {FORM_SPECIAL, "-", TEXT_UNARY, NULL},
  [IR_FABS] = {FORM_FUNCTION, "abs", TEXT_POSTFIX, NULL},
  [IR_FMA] = {FORM_HELPER, "quern_fma", TEXT_POSTFIX, NULL},
  [IR_SQRT] = {FORM_ROOT, "sqrt", TEXT_POSTFIX, NULL},
  [IR_RSQRT] = {FORM_FUNCTION, "inverseSqrt", TEXT_POSTFIX, NULL},
  [IR_FLOOR] = {FORM_FUNCTION, "floor", TEXT_POSTFIX, NULL},
  [IR_CEIL] = {FORM_FUNCTION, "ceil", TEXT_POSTFIX, NULL},
  [IR_FTRUNC] = {FORM_FUNCTION, "trunc", TEXT_POSTFIX, NULL},
  [IR_RINT] = {FORM_FUNCTION, "round", TEXT_POSTFIX, NULL},
  [IR_FROUND] = {FORM_HELPER, "quern_fround", TEXT_POSTFIX, NULL},
  [IR_FMIN] = {FORM_HELPER, "quern_fmin", TEXT_POSTFIX, NULL},
  [IR_FMAX] = {FORM_HELPER, "quern_fmax", TEXT_POSTFIX, NULL},
  [IR_COPYSIGN] = {FORM_HELPER, "quern_copysign", TEXT_POSTFIX, NULL},
  [IR_EQ] = {FORM_COMPARE, "==", TEXT_COMPARE, "all"},
  [IR_NE] = {FORM_COMPARE, "!=", TEXT_COMPARE, "any"},
  [IR_SLT] = {FORM_COMPARE, "<", TEXT_COMPARE, "quern_slt64"},
  [IR_SLE] = {FORM_COMPARE, "<=", TEXT_COMPARE, "quern_sle64"},
  [IR_ULT] = {FORM_COMPARE, "<", TEXT_COMPARE, "quern_ult64"},
  [IR_ULE] = {FORM_COMPARE, "<=", TEXT_COMPARE, "quern_ule64"},
  [IR_FEQ] = {FORM_FLOAT_COMPARE, "==", TEXT_COMPARE, NULL},
  [IR_FNE] = {FORM_FLOAT_COMPARE, "!=", TEXT_COMPARE, NULL},
  [IR_FLT] = {FORM_FLOAT_COMPARE, "<", TEXT_COMPARE, NULL},
  [IR_FLE] = {FORM_FLOAT_COMPARE, "<=", TEXT_COMPARE, NULL},
};
/* clang-format on */

bool wgsl_is_component_wise(ir_op op) { return rows[op].form != FORM_NONE; }

static uint32_t bits_of(const ir_inst *value) { return ir_elem_of(value->type)->bits; }
static uint32_t lanes_of(const ir_inst *value) { return ir_lanes_of(value->type); }
static bool is_bool(const ir_inst *value) { return ir_elem_of(value->type)->kind == IR_BOOL; }
static bool is_half(const ir_inst *value) { return ir_elem_of(value->type)->kind == IR_FLOAT && bits_of(value) == 16; }

/* ---- Signs and widths ---- */

text_level wgsl_put_cut(emitter *e, size_t start, text_level level, const ir_type *type) {
  if (!is_narrow(type)) return level;
  if (level < TEXT_UNARY) text_wrap(e->out, start, "(", ")");
  uint32_t lanes = ir_lanes_of(type), mask = ir_elem_of(type)->bits == 8 ? 0xff : 0xffff;
  putf(e, lanes == 1 ? " & 0x%xu" : " & vec%u<u32>(0x%xu)", lanes == 1 ? mask : lanes, mask);
  return TEXT_AND;
}

static void put_signed_constant(emitter *e, const ir_inst *value) {
  uint32_t up = 64 - value->type->bits;
  int64_t number = (int64_t)(value->imm << up) >> up;
  putf(e, number == INT32_MIN ? "i32(0x80000000u)" : "%" PRId64 "i", number);
}

void wgsl_put_signed(emitter *e, const ir_inst *value) {
  const ir_type *type = value->type;
  if (value->op == IR_CONST) {
    put_signed_constant(e, value);
    return;
  }
  if (is_narrow(type)) put(e, "extractBits(");
  putf(e, "%s(", wgsl_shaped(e, "i32", ir_lanes_of(type)));
  wgsl_put_operand(e, value, TEXT_ANY, false);
  put(e, ")");
  if (is_narrow(type)) putf(e, ", 0u, %uu)", ir_elem_of(type)->bits);
}

/* Sign-extended, as u32. */
static void put_extended(emitter *e, const ir_inst *value, bool is_signed) {
  if (!is_signed || !is_narrow(value->type)) {
    wgsl_put_operand(e, value, TEXT_ANY, false);
    return;
  }
  putf(e, "%s(", wgsl_shaped(e, "u32", lanes_of(value)));
  wgsl_put_signed(e, value);
  put(e, ")");
}

static void put_unsigned_of_signed(emitter *e, const ir_inst *inst, size_t start) {
  text_wrap(e->out, start, wgsl_text_of(e, "%s(", wgsl_shaped(e, "u32", lanes_of(inst))), ")");
}

/* ---- Forms ---- */

static void put_arguments(emitter *e, const ir_inst *inst, const char *function) {
  putf(e, "%s(", function);
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(e, ", ");
    wgsl_put_operand(e, inst->args[i], TEXT_ANY, false);
  }
  put(e, ")");
}

static text_level put_infix(emitter *e, const ir_inst *inst, const char *text, text_level level) {
  size_t start = e->out->size;
  wgsl_put_operand(e, inst->args[0], level, false);
  putf(e, " %s ", text);
  wgsl_put_operand(e, inst->args[1], level, true);
  bool grows = inst->op == IR_ADD || inst->op == IR_SUB || inst->op == IR_MUL;
  return grows ? wgsl_put_cut(e, start, level, inst->type) : level;
}

/* The amount of a shift, modulo the width. */
static void put_amount(emitter *e, const ir_inst *inst) {
  const ir_inst *amount = inst->args[1];
  uint32_t mask = bits_of(inst) - 1, lanes = lanes_of(inst);
  if (amount->op == IR_CONST) {
    wgsl_put_u32(e, amount->imm & mask);
    return;
  }
  put(e, "(");
  wgsl_put_operand(e, amount, TEXT_AND, false);
  putf(e, lanes == 1 ? " & %uu)" : " & vec%u<u32>(%uu))", lanes == 1 ? mask : lanes, mask);
}

static text_level put_shift(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  bool is_signed = inst->op == IR_ASHR;
  if (is_signed)
    wgsl_put_signed(e, inst->args[0]);
  else
    wgsl_put_operand(e, inst->args[0], TEXT_SHIFT, false);
  putf(e, " %s ", row->text);
  put_amount(e, inst);
  if (is_signed) put_unsigned_of_signed(e, inst, start);
  bool grows = inst->op != IR_LSHR;
  text_level level = is_signed ? TEXT_POSTFIX : row->level;
  return grows ? wgsl_put_cut(e, start, level, inst->type) : level;
}

/* No lane is 0, or -1. */
static bool divides_safely(emitter *e, const ir_inst *divisor, bool is_signed) {
  if (divisor->op != IR_CONST && divisor->op != IR_AGGREGATE) return false;
  uint32_t up = 64 - bits_of(divisor);
  for (uint32_t i = 0; i < lanes_of(divisor); i++) {
    int64_t value = (int64_t)(wgsl_constant_bits(wgsl_constant_lane(e, divisor, i)) << up) >> up;
    if (value == 0 || (is_signed && value == -1)) return false;
  }
  return true;
}

static text_level put_division(emitter *e, const ir_inst *inst, const op_row *row) {
  bool is_signed = inst->op == IR_SDIV || inst->op == IR_SREM;
  const char *sign = inst->op == IR_SDIV || inst->op == IR_UDIV ? " / " : " % ";
  size_t start = e->out->size;
  if (!divides_safely(e, inst->args[1], is_signed)) {
    putf(e, "%s(", wgsl_helper(e, row->text, lanes_of(inst)));
    put_extended(e, inst->args[0], is_signed);
    put(e, ", ");
    put_extended(e, inst->args[1], is_signed);
    put(e, ")");
  } else if (is_signed) {
    wgsl_put_signed(e, inst->args[0]);
    put(e, sign);
    wgsl_put_signed(e, inst->args[1]);
    put_unsigned_of_signed(e, inst, start);
  } else {
    wgsl_put_operand(e, inst->args[0], TEXT_MUL, false);
    put(e, sign);
    wgsl_put_operand(e, inst->args[1], TEXT_MUL, true);
    return TEXT_MUL;
  }
  return is_signed ? wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type) : TEXT_POSTFIX;
}

static text_level put_signed_function(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  putf(e, "%s(", row->text);
  wgsl_put_signed(e, inst->args[0]);
  put(e, ", ");
  wgsl_put_signed(e, inst->args[1]);
  put(e, ")");
  put_unsigned_of_signed(e, inst, start);
  return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
}

/* Zeros above a narrow number count, or there are too few. */
static text_level put_function(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  put_arguments(e, inst, row->text);
  if (!is_narrow(inst->type)) return TEXT_POSTFIX;
  const char *type = wgsl_shaped(e, "u32", lanes_of(inst));
  if (inst->op == IR_CLZ) {
    putf(e, " - %s(%uu)", type, 32 - bits_of(inst));
    return TEXT_ADD;
  }
  if (inst->op == IR_CTZ) text_wrap(e->out, start, "min(", wgsl_text_of(e, ", %s(%uu))", type, bits_of(inst)));
  return TEXT_POSTFIX;
}

/* Narrow numbers fit into 32 bits with room above. */
static text_level put_narrow_helper(emitter *e, const ir_inst *inst) {
  size_t start = e->out->size;
  uint32_t bits = bits_of(inst), lanes = lanes_of(inst);
  bool is_signed = inst->op == IR_SMULHI || inst->op == IR_SADDSAT || inst->op == IR_SSUBSAT;
  bool is_product = inst->op == IR_SMULHI || inst->op == IR_UMULHI;
  const char *type = wgsl_shaped(e, is_signed ? "i32" : "u32", lanes);
  const char *sign = is_product ? " * " : inst->op == IR_SADDSAT || inst->op == IR_UADDSAT ? " + " : " - ";
  if (inst->op == IR_USUBSAT) {
    put_arguments(e, inst, wgsl_helper(e, "quern_usubsat", lanes));
    return TEXT_POSTFIX;
  }
  for (uint32_t i = 0; i < 2; i++) {
    if (i) put(e, sign);
    if (is_signed)
      wgsl_put_signed(e, inst->args[i]);
    else
      wgsl_put_operand(e, inst->args[i], TEXT_MUL, true);
  }
  uint32_t most = is_signed ? (1u << (bits - 1)) - 1 : (1u << bits) - 1;
  if (is_product)
    text_wrap(e->out, start, "(", wgsl_text_of(e, ") >> %s(%uu)", wgsl_shaped(e, "u32", lanes), bits));
  else if (is_signed)
    text_wrap(e->out, start, "clamp(", wgsl_text_of(e, ", %s(-%u), %s(%u))", type, most + 1, type, most));
  else
    text_wrap(e->out, start, "min(", wgsl_text_of(e, ", %s(%uu))", type, most));
  put_unsigned_of_signed(e, inst, start);
  return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
}

/* Halves go by floats, which are exact enough for all but fma's one rounding. */
static text_level put_half_helper(emitter *e, const ir_inst *inst, const op_row *row) {
  uint32_t lanes = lanes_of(inst);
  putf(e, "%s(%s(", wgsl_shaped(e, "f16", lanes), wgsl_helper(e, row->text, lanes));
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(e, ", ");
    putf(e, "%s(", wgsl_shaped(e, "f32", lanes));
    wgsl_put_operand(e, inst->args[i], TEXT_ANY, false);
    put(e, ")");
  }
  put(e, "))");
  return TEXT_POSTFIX;
}

static text_level put_helper(emitter *e, const ir_inst *inst, const op_row *row) {
  if (is_narrow(inst->type)) return put_narrow_helper(e, inst);
  if (is_half(inst)) return put_half_helper(e, inst, row);
  put_arguments(e, inst, wgsl_helper(e, row->text, lanes_of(inst)));
  return TEXT_POSTFIX;
}

/* ---- Comparisons ---- */

static text_level put_compare(emitter *e, const ir_inst *inst, const op_row *row) {
  bool is_signed = inst->op == IR_SLT || inst->op == IR_SLE;
  for (uint32_t i = 0; i < 2; i++) {
    if (i) putf(e, " %s ", row->text);
    if (is_signed)
      wgsl_put_signed(e, inst->args[i]);
    else
      wgsl_put_operand(e, inst->args[i], TEXT_COMPARE, i == 1);
  }
  return TEXT_COMPARE;
}

static bool is_infinite(emitter *e, const ir_inst *value) {
  if (value->op != IR_CONST && value->op != IR_AGGREGATE) return false;
  return (wgsl_constant_bits(wgsl_constant_lane(e, value, 0)) & 0x7fffffff) == 0x7f800000;
}

/* Whether a compiler that believes in no NaN and no infinity would fold it: then bits are compared. */
static text_level put_float_compare(emitter *e, const ir_inst *inst, const op_row *row) {
  const ir_inst *a = inst->args[0], *b = inst->args[1];
  uint32_t lanes = lanes_of(a);
  if (bits_of(a) != 32) return put_infix(e, inst, row->text, row->level);
  if (a == b) {
    bool tells_nan = inst->op == IR_FNE, never = inst->op == IR_FLT;
    if (never) {
      putf(e, "%s(false)", wgsl_shaped(e, "bool", lanes));
      return TEXT_POSTFIX;
    }
    putf(e, "%s%s(", tells_nan ? "" : "!", wgsl_helper(e, "quern_is_nan", lanes));
    wgsl_put_operand(e, a, TEXT_ANY, false);
    put(e, ")");
    return tells_nan ? TEXT_POSTFIX : TEXT_UNARY;
  }
  if (!is_infinite(e, a) && !is_infinite(e, b)) return put_infix(e, inst, row->text, row->level);
  if (inst->op == IR_FLE) {
    size_t start = e->out->size;
    put_arguments(e, inst, wgsl_helper(e, "quern_less", lanes));
    put(e, " | ");
    put_arguments(e, inst, wgsl_helper(e, "quern_equal", lanes));
    (void)start;
    return TEXT_OR;
  }
  if (inst->op == IR_FNE) put(e, "!");
  put_arguments(e, inst, wgsl_helper(e, inst->op == IR_FLT ? "quern_less" : "quern_equal", lanes));
  return inst->op == IR_FNE ? TEXT_UNARY : TEXT_POSTFIX;
}

/* ---- The rest ---- */

/* A float that must be as exact as OpenCL says. */
static bool is_whole_float(const ir_inst *inst) { return bits_of(inst) == 32 && !(inst->flags & IR_FAST); }

static text_level put_special(emitter *e, const ir_inst *inst, const op_row *row) {
  size_t start = e->out->size;
  if (inst->op == IR_ROTL) {
    putf(e, "%s(", wgsl_helper(e, row->text, lanes_of(inst)));
    wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
    put(e, ", ");
    wgsl_put_operand(e, inst->args[1], TEXT_ANY, false);
    putf(e, ", %uu)", bits_of(inst));
    return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
  }
  put(e, is_bool(inst) ? "!" : row->text);
  size_t from = e->out->size;
  wgsl_put_operand(e, inst->args[0], TEXT_UNARY, false);
  bool twice = inst->op == IR_FNEG && e->out->size > from && e->out->data[from] == '-';
  if (twice) text_wrap(e->out, from, "(", ")");
  return wgsl_put_cut(e, start, TEXT_UNARY, inst->type);
}

static text_level put_wide(emitter *e, const ir_inst *inst, const op_row *row) {
  bool is_shift = row->form == FORM_SHIFT || inst->op == IR_ROTL;
  if (inst->op == IR_EQ || inst->op == IR_NE) {
    putf(e, "%s(", row->wide);
    put_infix(e, inst, row->text, row->level);
    put(e, ")");
  } else if (!*row->wide) {
    return row->form == FORM_SPECIAL ? put_special(e, inst, row) : put_infix(e, inst, row->text, row->level);
  } else if (is_shift) {
    putf(e, "%s(", wgsl_helper(e, row->wide, 1));
    wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
    put(e, ", ");
    wgsl_put_operand(e, inst->args[1], TEXT_POSTFIX, false);
    put(e, ".x)");
  } else {
    put_arguments(e, inst, wgsl_helper(e, row->wide, 1));
  }
  return TEXT_POSTFIX;
}

text_level wgsl_put_op(emitter *e, const ir_inst *inst) {
  const op_row *row = &rows[inst->op];
  if (is_wide(inst->args[0]->type)) return put_wide(e, inst, row);
  switch (row->form) {
    case FORM_INFIX:
      if (is_bool(inst) && inst->op == IR_XOR) return put_infix(e, inst, "!=", TEXT_COMPARE);
      return put_infix(e, inst, row->text, row->level);
    case FORM_SHIFT:
      return put_shift(e, inst, row);
    case FORM_DIVISION:
      return put_division(e, inst, row);
    case FORM_FUNCTION:
      return put_function(e, inst, row);
    case FORM_SIGNED:
      return put_signed_function(e, inst, row);
    case FORM_HELPER:
      return put_helper(e, inst, row);
    case FORM_QUOTIENT:
      if (!is_whole_float(inst)) return put_infix(e, inst, row->text, row->level);
      put_arguments(e, inst, wgsl_helper(e, "quern_divide", lanes_of(inst)));
      return TEXT_POSTFIX;
    case FORM_ROOT:
      put_arguments(e, inst, is_whole_float(inst) ? wgsl_helper(e, "quern_sqrt", lanes_of(inst)) : row->text);
      return TEXT_POSTFIX;
    case FORM_COMPARE:
      return put_compare(e, inst, row);
    case FORM_FLOAT_COMPARE:
      return put_float_compare(e, inst, row);
    case FORM_SPECIAL:
      return put_special(e, inst, row);
    default:
      wgsl_emit_refuse(e, inst, "'%s'", ir_op_table[inst->op].text);
      return TEXT_POSTFIX;
  }
}

/* ---- What is written more than once ---- */

uint32_t wgsl_operand_copies(const ir_inst *inst, uint32_t operand) {
  if (inst->op == IR_SHUFFLE) return inst->type->count;
  if (rows[inst->op].form == FORM_FLOAT_COMPARE && operand < 2) return 2;
  return 1;
}
