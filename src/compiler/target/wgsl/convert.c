/* convert.c - conversions between numbers. */
#include "compiler/target/wgsl/emit.h"

static uint32_t bits_of(const ir_type *type) { return ir_elem_of(type)->bits; }
static bool is_bool(const ir_type *type) { return ir_elem_of(type)->kind == IR_BOOL; }
static bool is_float(const ir_type *type) { return ir_elem_of(type)->kind == IR_FLOAT; }

static void put_around(emitter *e, const ir_inst *value, const char *function) {
  putf(e, "%s(", function);
  wgsl_put_operand(e, value, TEXT_ANY, false);
  put(e, ")");
}

/* ---- Between integers ---- */

static text_level put_truncation(emitter *e, const ir_inst *inst) {
  const ir_inst *x = inst->args[0];
  size_t start = e->out->size;
  if (is_wide(x->type)) {
    wgsl_put_operand(e, x, TEXT_POSTFIX, false);
    put(e, ".x");
    return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
  }
  wgsl_put_operand(e, x, TEXT_AND, false);
  return wgsl_put_cut(e, start, TEXT_AND, inst->type);
}

static text_level put_from_bool(emitter *e, const ir_inst *inst) {
  uint32_t lanes = ir_lanes_of(inst->type), bits = bits_of(inst->type);
  const char *ones = inst->op == IR_ZEXT ? "1u" : bits == 8 ? "0xffu" : bits == 16 ? "0xffffu" : "0xffffffffu";
  if (is_wide(inst->type)) {
    put(e, inst->op == IR_ZEXT ? "select(vec2<u32>(0u), vec2<u32>(1u, 0u), "
                               : "select(vec2<u32>(0u), vec2<u32>(0xffffffffu), ");
  } else if (lanes == 1) {
    putf(e, "select(0u, %s, ", ones);
  } else {
    putf(e, "select(vec%u<u32>(0u), vec%u<u32>(%s), ", lanes, lanes, ones);
  }
  wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  put(e, ")");
  return TEXT_POSTFIX;
}

static text_level put_zero_extension(emitter *e, const ir_inst *inst) {
  if (is_bool(inst->args[0]->type)) return put_from_bool(e, inst);
  if (!is_wide(inst->type)) {
    wgsl_put_operand(e, inst->args[0], TEXT_POSTFIX, false);
    return TEXT_POSTFIX;
  }
  put(e, "vec2<u32>(");
  wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  put(e, ", 0u)");
  return TEXT_POSTFIX;
}

static text_level put_sign_extension(emitter *e, const ir_inst *inst) {
  const ir_inst *x = inst->args[0];
  if (is_bool(x->type)) return put_from_bool(e, inst);
  size_t start = e->out->size;
  if (is_wide(inst->type)) {
    put(e, "vec2<u32>(vec2<i32>(");
    wgsl_put_signed(e, x);
    put(e, ") >> vec2<u32>(0u, 31u))");
    return TEXT_POSTFIX;
  }
  putf(e, "%s(", wgsl_shaped(e, "u32", ir_lanes_of(inst->type)));
  wgsl_put_signed(e, x);
  put(e, ")");
  return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
}

/* ---- Between integers and floats ---- */

/* As f32, whatever float it is. */
static void put_as_f32(emitter *e, const ir_inst *value) {
  uint32_t lanes = ir_lanes_of(value->type);
  if (bits_of(value->type) == 32)
    wgsl_put_operand(e, value, TEXT_ANY, false);
  else
    put_around(
        e, value,
        wgsl_is_soft_half(e, value->type) ? wgsl_helper(e, "quern_from_half", lanes) : wgsl_shaped(e, "f32", lanes));
}

static text_level put_float_to_integer(emitter *e, const ir_inst *inst) {
  uint32_t bits = bits_of(inst->type), lanes = ir_lanes_of(inst->type);
  bool is_signed = inst->op == IR_FTOS;
  const char *type = wgsl_shaped(e, "u32", lanes);
  size_t start = e->out->size;
  if (bits == 64) {
    putf(e, "%s(", wgsl_helper(e, is_signed ? "quern_f32_to_s64" : "quern_f32_to_u64", 1));
    put_as_f32(e, inst->args[0]);
    put(e, ")");
    return TEXT_POSTFIX;
  }
  if (!(inst->flags & IR_SAT)) {
    putf(e, "%s(", type);
    if (is_signed) putf(e, "%s(", wgsl_shaped(e, "i32", lanes));
    put_as_f32(e, inst->args[0]);
    put(e, is_signed ? "))" : ")");
    return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
  }
  if (bits < 32) {
    int32_t most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    putf(e, "%s(%s(", type, wgsl_helper(e, "quern_clamp_whole", lanes));
    put_as_f32(e, inst->args[0]);
    putf(e, ", %d.0f, %d.0f))", is_signed ? -most - 1 : 0, most);
    return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
  }
  putf(e, "%s(", wgsl_helper(e, is_signed ? "quern_ftos_sat" : "quern_ftou_sat", lanes));
  put_as_f32(e, inst->args[0]);
  put(e, ")");
  return TEXT_POSTFIX;
}

/* A rounded f32 as the float that is wanted: halves of integers beyond 2^24 round twice, which no half can tell. */
static void put_rounded(emitter *e, const ir_type *to, size_t start) {
  uint32_t lanes = ir_lanes_of(to);
  if (bits_of(to) == 32) return;
  if (wgsl_is_soft_half(e, to)) {
    text_wrap(e->out, start, wgsl_text_of(e, "%s(", wgsl_helper(e, "quern_to_half", lanes)), ")");
    return;
  }
  /* WGSL does not say how f16() rounds. */
  e->uses_half = true;
  if (lanes == 1) {
    text_wrap(e->out, start,
              wgsl_text_of(e, "%s(%s(", wgsl_helper(e, "quern_half", 1), wgsl_helper(e, "quern_to_half", 1)), "))");
    return;
  }
  const char *key = wgsl_text_of(e, "round to half %u", lanes);
  const char *name = wgsl_made_name(e, key);
  if (!name) {
    qn_bytes text = {0};
    name = wgsl_make_function(e, key, wgsl_text_of(e, "round_half_x%u", lanes));
    qn_bytes_printf(&text, "fn %s(x: vec%u<f32>) -> vec%u<f16> {\n  return vec%u<f16>(", name, lanes, lanes, lanes);
    for (uint32_t i = 0; i < lanes; i++)
      qn_bytes_printf(&text, "%s%s(%s(x.%c))", i ? ", " : "", wgsl_helper(e, "quern_half", 1),
                      wgsl_helper(e, "quern_to_half", 1), "xyzw"[i]);
    qn_bytes_append_str(&text, ");\n}\n");
    wgsl_add_function(e, &text);
    qn_bytes_free(&text);
  }
  text_wrap(e->out, start, wgsl_text_of(e, "%s(", name), ")");
}

static text_level put_to_float(emitter *e, const ir_inst *inst) {
  const ir_inst *x = inst->args[0];
  uint32_t lanes = ir_lanes_of(inst->type);
  bool is_signed = inst->op == IR_STOF;
  size_t start = e->out->size;
  if (is_wide(x->type)) {
    put_around(e, x, wgsl_helper(e, is_signed ? "quern_s64_to_f32" : "quern_u64_to_f32", 1));
  } else if (is_bool(x->type)) {
    const char *type = wgsl_shaped(e, "f32", lanes);
    putf(e, "select(%s(0.0f), %s(1.0f), ", type, type);
    wgsl_put_operand(e, x, TEXT_ANY, false);
    put(e, ")");
  } else {
    putf(e, "%s(", wgsl_shaped(e, "f32", lanes));
    if (is_signed)
      wgsl_put_signed(e, x);
    else
      wgsl_put_operand(e, x, TEXT_ANY, false);
    put(e, ")");
  }
  put_rounded(e, inst->type, start);
  return TEXT_POSTFIX;
}

static text_level put_between_floats(emitter *e, const ir_inst *inst) {
  size_t start = e->out->size;
  put_as_f32(e, inst->args[0]);
  if (bits_of(inst->args[0]->type) == 32) put_rounded(e, inst->type, start);
  return TEXT_POSTFIX;
}

/* ---- Bits ---- */

/* What stays of them after split.c: lanes of one width, and 64 bits as two words. */
static text_level put_bitcast(emitter *e, const ir_inst *inst) {
  const ir_inst *x = inst->args[0];
  const char *from = wgsl_value_type(e, x->type), *to = wgsl_value_type(e, inst->type);
  bool to_half = is_float(inst->type) && bits_of(inst->type) == 16,
       of_half = is_float(x->type) && bits_of(x->type) == 16;
  if (from == to || qn_sv_is(qn_sv_from(from), to)) {
    wgsl_put_operand(e, x, TEXT_POSTFIX, false);
  } else if (to_half) {
    put_around(e, x, wgsl_helper(e, "quern_half", 1));
  } else if (of_half) {
    put_around(e, x, wgsl_helper(e, "quern_half_bits", 1));
  } else {
    put_around(e, x, wgsl_text_of(e, "bitcast<%s>", to));
  }
  return TEXT_POSTFIX;
}

text_level wgsl_put_conversion(emitter *e, const ir_inst *inst) {
  switch (inst->op) {
    case IR_TRUNC:
      return put_truncation(e, inst);
    case IR_ZEXT:
      return put_zero_extension(e, inst);
    case IR_SEXT:
      return put_sign_extension(e, inst);
    case IR_FTOS:
    case IR_FTOU:
      return put_float_to_integer(e, inst);
    case IR_STOF:
    case IR_UTOF:
      return put_to_float(e, inst);
    case IR_BITCAST:
      return put_bitcast(e, inst);
    default:
      return put_between_floats(e, inst);
  }
}
