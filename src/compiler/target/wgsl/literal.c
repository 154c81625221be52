/* literal.c - constants as operands. WGSL computes expressions of literals when it makes the shader, and refuses those that give
 * infinity or NaN: such a constant's bits come from a variable that is always 0. */
#include <inttypes.h>

#include "compiler/ir/float.h"
#include "compiler/target/wgsl/emit.h"

uint64_t wgsl_constant_bits(const ir_inst *scalar) { return scalar->op == IR_CONST ? scalar->imm : 0; }

const ir_inst *wgsl_constant_lane(emitter *e, const ir_inst *leaf, uint32_t i) {
  if (leaf->type->kind != IR_VECTOR) return leaf;
  if (leaf->op == IR_AGGREGATE && i < leaf->arg_count) return leaf->args[i];
  return ir_const_bits(e->m, leaf->type->elem, 0);
}

void wgsl_put_u32(emitter *e, uint64_t value) {
  uint32_t bits = (uint32_t)value;
  putf(e, bits < 65536 ? "%" PRIu32 "u" : "0x%" PRIx32 "u", bits);
}

static bool is_ordinary(uint64_t bits) {
  uint64_t exponent = bits >> 23 & 0xff;
  return (exponent != 0 && exponent != 0xff) || bits == 0;
}

static text_level put_float(emitter *e, uint64_t bits) {
  if (is_ordinary(bits)) {
    text_number(e->out, ir_float_to_double(bits, 32));
    put(e, "f");
    return bits >> 31 ? TEXT_UNARY : TEXT_POSTFIX;
  }
  e->uses_bits = true;
  putf(e, "bitcast<f32>(quern_zero ^ 0x%08" PRIx64 "u)", bits);
  return TEXT_POSTFIX;
}

static text_level put_half(emitter *e, const ir_type *type, uint64_t bits) {
  if (wgsl_is_soft_half(e, type)) {
    wgsl_put_u32(e, bits);
    return TEXT_POSTFIX;
  }
  e->uses_half = e->uses_bits = true;
  putf(e, "%s(quern_zero ^ 0x%04" PRIx64 "u)", wgsl_helper(e, "quern_half", 1), bits);
  return TEXT_POSTFIX;
}

static text_level put_scalar(emitter *e, const ir_inst *scalar) {
  const ir_type *type = scalar->type;
  uint64_t bits = wgsl_constant_bits(scalar);
  switch (type->kind) {
    case IR_BOOL:
      put(e, bits ? "true" : "false");
      return TEXT_POSTFIX;
    case IR_FLOAT:
      return type->bits == 16 ? put_half(e, type, bits) : put_float(e, bits);
    case IR_INT:
      if (type->bits < 64) {
        wgsl_put_u32(e, bits);
        return TEXT_POSTFIX;
      }
      put(e, "vec2<u32>(");
      wgsl_put_u32(e, bits);
      put(e, ", ");
      wgsl_put_u32(e, bits >> 32);
      put(e, ")");
      return TEXT_POSTFIX;
    default:
      put(e, "0u");
      return TEXT_POSTFIX;
  }
}

static bool is_splat(emitter *e, const ir_inst *leaf) {
  uint64_t first = wgsl_constant_bits(wgsl_constant_lane(e, leaf, 0));
  for (uint32_t i = 1; i < leaf->type->count; i++)
    if (wgsl_constant_bits(wgsl_constant_lane(e, leaf, i)) != first) return false;
  return true;
}

text_level wgsl_put_constant(emitter *e, const ir_inst *leaf) {
  if (leaf->type->kind != IR_VECTOR) return put_scalar(e, leaf);
  uint32_t count = is_splat(e, leaf) ? 1 : leaf->type->count;
  putf(e, "%s(", wgsl_value_type(e, leaf->type));
  for (uint32_t i = 0; i < count; i++) {
    if (i) put(e, ", ");
    put_scalar(e, wgsl_constant_lane(e, leaf, i));
  }
  put(e, ")");
  return TEXT_POSTFIX;
}
