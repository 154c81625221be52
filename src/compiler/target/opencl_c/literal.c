/* literal.c - constants as operands. */
#include <inttypes.h>
#include <math.h>

#include "compiler/ir/float.h"
#include "compiler/target/opencl_c/emit.h"

/* ---- Integers ---- */

static int64_t as_signed(uint64_t bits, uint32_t width) {
  return width >= 64 ? (int64_t)bits : (int64_t)(bits << (64 - width)) >> (64 - width);
}

static const char *suffix_of(uint32_t bits, bool is_signed) {
  if (bits == 64) return is_signed ? "L" : "UL";
  return is_signed ? "" : "u";
}

/* Masks and the like are read in hexadecimal. */
static void put_unsigned(emitter *e, uint64_t value, const char *suffix) {
  putf(e, value > 0xffff ? "0x%" PRIx64 "%s" : "%" PRIu64 "%s", value, suffix);
}

static text_level put_signed(emitter *e, int64_t value, uint32_t bits) {
  const char *suffix = suffix_of(bits, true);
  if (value == (bits == 64 ? INT64_MIN : INT32_MIN)) { /* its digits alone are no number of the type */
    putf(e, "(%" PRId64 "%s - 1)", value + 1, suffix);
    return TEXT_POSTFIX;
  }
  putf(e, "%" PRId64 "%s", value, suffix);
  return value < 0 ? TEXT_UNARY : TEXT_POSTFIX;
}

/* Digits of the given sign, in the type or, of narrow ones, as an int. */
static text_level put_digits(emitter *e, const ir_type *type, uint64_t bits, bool is_signed) {
  uint32_t width = type->bits < 32 ? 32 : type->bits;
  if (is_signed) return put_signed(e, as_signed(bits, type->bits), width);
  put_unsigned(e, bits, width == type->bits ? suffix_of(width, false) : "");
  return TEXT_POSTFIX;
}

static shape put_int(emitter *e, const ir_type *type, uint64_t bits, want w) {
  int64_t value = as_signed(bits, type->bits);
  bool is_narrow = type->bits < 32, is_signed = w.sign ? w.sign > 0 : !is_narrow;
  if (is_narrow && w.exact) {
    putf(e, "(%s)", number_name(e, type, is_signed));
    (void)put_digits(e, type, bits, is_signed);
    return (shape){TEXT_UNARY, is_signed, true, 0};
  }
  if (value >= 0 && value <= INT32_MAX && !w.exact) { /* an int does beside any other type */
    putf(e, w.sign < 0 && value > 0xffff ? "0x%" PRIx64 : "%" PRId64, value);
    return (shape){TEXT_POSTFIX, w.sign >= 0, w.sign >= 0 && type->bits == 32, 0};
  }
  return (shape){put_digits(e, type, bits, is_signed), is_signed, !is_narrow, 0};
}

/* ---- Floats ---- */

static text_level put_no_number(emitter *e, const ir_type *type, uint64_t bits) {
  uint64_t plain = ir_float_nan(type->bits);
  if (bits == plain || e->in_data) { /* data with other bits in them are written as words (data.c) */
    put(e, type->bits == 64 ? "(0.0 / 0.0)" : type->bits == 32 ? "(0.0f / 0.0f)" : "(half)(0.0f / 0.0f)");
    return type->bits == 16 ? TEXT_UNARY : TEXT_POSTFIX;
  }
  const ir_type *word = ir_int(e->m, type->bits);
  putf(e, "as_%s((%s)0x%" PRIx64 "%s)", number_name(e, type, true), number_name(e, word, false), bits,
       type->bits == 64 ? "UL" : "u");
  return TEXT_POSTFIX;
}

static shape put_float(emitter *e, const ir_type *type, uint64_t bits) {
  static const char *const suffixes[] = {[1] = "h", [2] = "f", [4] = ""};
  shape s = {TEXT_POSTFIX, true, true, 0};
  double value = ir_float_to_double(bits, type->bits);
  (void)number_name(e, type, true);
  if (isnan(value)) {
    s.level = put_no_number(e, type, bits);
    return s;
  }
  if (signbit(value)) s.level = TEXT_UNARY;
  if (isinf(value)) {
    if (type->bits != 32) s.level = TEXT_UNARY;
    putf(e, "%s%sINFINITY", type->bits == 64 ? "(double)" : type->bits == 16 ? "(half)" : "", value < 0 ? "-" : "");
    return s;
  }
  text_number(e->out, value);
  put(e, suffixes[type->bits / 16]);
  return s;
}

/* ---- Vectors ---- */

const ir_inst *constant_lane(emitter *e, const ir_inst *leaf, uint32_t i) {
  const ir_type *elem = ir_elem_of(leaf->type);
  return leaf->op == IR_AGGREGATE && i < leaf->arg_count ? leaf->args[i] : ir_const_bits(e->m, elem, 0);
}

uint64_t constant_bits(const ir_inst *scalar) { return scalar->op == IR_CONST ? scalar->imm : 0; }

const ir_inst *splat_of(emitter *e, const ir_inst *value) {
  if (value->type->kind != IR_VECTOR || !(ir_is_const(value) || value->op == IR_UNDEF)) return NULL;
  const ir_inst *first = constant_lane(e, value, 0);
  for (uint32_t i = 1; i < value->type->count; i++)
    if (constant_bits(constant_lane(e, value, i)) != constant_bits(first)) return NULL;
  return first;
}

static void put_lane(emitter *e, const ir_inst *lane, want w) {
  if (lane->type->kind == IR_BOOL)
    put(e, constant_bits(lane) ? "-1" : "0");
  else
    put_constant(e, lane, (want){.sign = w.sign});
}

static shape put_vector(emitter *e, const ir_inst *leaf, want w) {
  const ir_type *type = leaf->type;
  const ir_inst *splat = splat_of(e, leaf);
  bool is_mask = type->elem->kind == IR_BOOL;
  uint8_t mask = is_mask ? (w.mask ? w.mask : 32) : 0;
  putf(e, "(%s)(", is_mask ? mask_name(e, type->count, mask) : number_name(e, type, w.sign >= 0));
  for (uint32_t i = 0; i < (splat ? 1 : type->count); i++) {
    if (i) put(e, ", ");
    put_lane(e, constant_lane(e, leaf, i), w);
  }
  put(e, ")");
  return (shape){TEXT_UNARY, w.sign >= 0, true, mask};
}

/* ---- Leaves ---- */

static shape put_null(emitter *e, const ir_type *type, want w) {
  put(e, "(");
  put_pointer_type(e, type, w.sign >= 0, "");
  put(e, ")0");
  return (shape){TEXT_UNARY, w.sign >= 0, true, 0};
}

shape put_constant(emitter *e, const ir_inst *leaf, want w) {
  const ir_type *type = leaf->type;
  uint64_t bits = constant_bits(leaf); /* of zero and undef: 0 */
  switch (type->kind) {
    case IR_BOOL:
      put(e, bits ? "true" : "false");
      return (shape){TEXT_POSTFIX, true, true, 0};
    case IR_INT:
      return put_int(e, type, bits, w);
    case IR_FLOAT:
      return put_float(e, type, bits);
    case IR_VECTOR:
      return put_vector(e, leaf, w);
    default:
      return put_null(e, type, w);
  }
}
