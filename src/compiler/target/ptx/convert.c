/* convert.c - conversions of lanes. */
#include <stdio.h>

#include "compiler/target/ptx/emit.h"

ptx_ref ptx_cut(emitter *e, ptx_ref a, uint32_t bits) {
  if (bits >= 32) return a;
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  if (a.kind == PTX_NUMBER) return ptx_number(PTX_32, a.bits & mask);
  return ptx_made2(e, "and", ".b32", PTX_32, a, ptx_number(PTX_32, mask));
}

ptx_ref ptx_signed(emitter *e, ptx_ref a, uint32_t bits) {
  if (bits >= 32) return a;
  if (a.kind == PTX_NUMBER) {
    uint64_t top = UINT64_C(1) << (bits - 1);
    return ptx_number(PTX_32, (a.bits ^ top) - top);
  }
  return ptx_made1(e, "cvt", bits == 8 ? ".s32.s8" : ".s32.s16", PTX_32, a);
}

ptx_ref ptx_widen_half(emitter *e, ptx_ref a) { return ptx_made1(e, "cvt", ".f32.f16", PTX_32, ptx_in_register(e, a)); }

ptx_ref ptx_narrow_half(emitter *e, ptx_ref a) {
  return ptx_made1(e, "cvt.rn", ".f16.f32", PTX_16, ptx_in_register(e, a));
}

/* ---- Integers ---- */

static ptx_ref from_bool(emitter *e, ptx_ref a, uint32_t bits, uint64_t yes) {
  ptx_bank bank = bits == 64 ? PTX_64 : PTX_32;
  ptx_ref value = ptx_choose(e, a, ptx_number(bank, yes), ptx_number(bank, 0));
  return bits < 32 ? ptx_cut(e, value, bits) : value;
}

static ptx_ref low_word(emitter *e, ptx_ref a) {
  if (a.kind == PTX_NUMBER) return ptx_number(PTX_32, a.bits & UINT32_MAX);
  return ptx_made1(e, "cvt", ".u32.u64", PTX_32, a);
}

static ptx_ref truncate(emitter *e, uint32_t from, uint32_t to, ptx_ref a) {
  return ptx_cut(e, from == 64 ? low_word(e, a) : a, to);
}

static ptx_ref extend(emitter *e, const ir_inst *inst, const ir_type *from, uint32_t to, ptx_ref a) {
  bool has_sign = inst->op == IR_SEXT;
  if (from->kind == IR_BOOL) return from_bool(e, a, to, has_sign ? UINT64_MAX : 1);
  if (has_sign) a = ptx_signed(e, a, from->bits);
  if (to < 64) return has_sign ? ptx_cut(e, a, to) : a;
  if (a.kind == PTX_NUMBER) return ptx_number(PTX_64, has_sign ? (uint64_t)(int32_t)(uint32_t)a.bits : a.bits);
  return ptx_made1(e, "cvt", has_sign ? ".s64.s32" : ".u64.u32", PTX_64, a);
}

/* ---- Floats and integers ---- */

static const char *float_word(const ir_type *elem) {
  return elem->bits == 16 ? ".f16" : elem->bits == 32 ? ".f32" : ".f64";
}

static ptx_ref typed(emitter *e, const char *name, const char *to, const char *from, ptx_bank bank, ptx_ref a) {
  char type[16];
  (void)snprintf(type, sizeof type, "%s%s", to, from);
  return ptx_made1(e, name, type, bank, ptx_in_register(e, a));
}

static ptx_ref clamp(emitter *e, ptx_ref value, uint32_t bits, bool has_sign) {
  int64_t most = ((int64_t)1 << (has_sign ? bits - 1 : bits)) - 1;
  value = ptx_made2(e, "min", has_sign ? ".s32" : ".u32", PTX_32, value, ptx_number(PTX_32, (uint64_t)most));
  if (!has_sign) return value;
  return ptx_made2(e, "max", ".s32", PTX_32, value, ptx_number(PTX_32, (uint64_t)(-most - 1)));
}

/* The machine clamps what is out of range, and makes 0 of a NaN where neither side has 64 bits. */
static ptx_ref to_integer(emitter *e, const ir_inst *inst, const ir_type *from, uint32_t bits, ptx_ref a) {
  bool has_sign = inst->op == IR_FTOS, is_wide = bits == 64, clamps = (inst->flags & IR_SAT) != 0;
  ptx_bank bank = is_wide ? PTX_64 : PTX_32;
  const char *to = is_wide ? has_sign ? ".s64" : ".u64" : has_sign ? ".s32" : ".u32";
  ptx_ref value = typed(e, "cvt.rzi", to, float_word(from), bank, a);
  if (clamps && (is_wide || from->bits == 64)) {
    a = ptx_in_register(e, a);
    ptx_ref is_number = ptx_made2(e, "setp.num", float_word(from), PTX_PRED, a, a);
    value = ptx_choose(e, is_number, value, ptx_number(bank, 0));
  }
  if (bits >= 32) return value;
  return ptx_cut(e, clamps ? clamp(e, value, bits, has_sign) : value, bits);
}

static ptx_ref to_float(emitter *e, const ir_inst *inst, const ir_type *from, const ir_type *to, ptx_ref a) {
  bool has_sign = inst->op == IR_STOF;
  if (from->kind == IR_BOOL) {
    a = from_bool(e, a, 32, 1);
    return typed(e, "cvt.rn", float_word(to), ".u32", ptx_bank_of(to), a);
  }
  if (has_sign) a = ptx_signed(e, a, from->bits);
  const char *word = from->bits == 64 ? has_sign ? ".s64" : ".u64" : has_sign ? ".s32" : ".u32";
  return typed(e, "cvt.rn", float_word(to), word, ptx_bank_of(to), a);
}

static ptx_ref narrow(emitter *e, const ir_type *from, const ir_type *to, ptx_ref a) {
  return typed(e, "cvt.rn", float_word(to), float_word(from), ptx_bank_of(to), a);
}

static ptx_ref widen(emitter *e, const ir_type *from, const ir_type *to, ptx_ref a) {
  return typed(e, "cvt", float_word(to), float_word(from), ptx_bank_of(to), a);
}

ptx_ref ptx_convert(emitter *e, const ir_inst *inst, ptx_ref a) {
  const ir_type *from = ir_elem_of(inst->args[0]->type), *to = ir_elem_of(inst->type);
  switch (inst->op) {
    case IR_TRUNC:
      return truncate(e, from->bits, to->bits, a);
    case IR_ZEXT:
    case IR_SEXT:
      return extend(e, inst, from, to->bits, a);
    case IR_FTOS:
    case IR_FTOU:
      return to_integer(e, inst, from, to->bits, a);
    case IR_STOF:
    case IR_UTOF:
      return to_float(e, inst, from, to, a);
    case IR_FNARROW:
      return narrow(e, from, to, a);
    default:
      return widen(e, from, to, a);
  }
}
