/* value.c - values that are taken apart, put together and chosen: mostly names for registers that are there. */
#include "compiler/target/ptx/emit.h"

static uint32_t lanes_of(const ir_inst *inst) { return ir_lanes_of(inst->type); }

/* ---- Choosing ---- */

static void select_lanes(emitter *e, const ir_inst *inst) {
  bool is_each = inst->args[0]->type->kind == IR_VECTOR;
  for (uint32_t i = 0; i < lanes_of(inst); i++) {
    ptx_ref c = ptx_operand(e, inst->args[0], is_each ? i : 0);
    ptx_set(e, inst, i, ptx_choose(e, c, ptx_lane(e, inst->args[1], i), ptx_lane(e, inst->args[2], i)));
  }
}

/* Whether an index is `i`. */
static ptx_ref is_lane(emitter *e, const ir_inst *index, uint32_t i) {
  ptx_ref at = ptx_operand(e, index, 0);
  bool is_wide = at.bank == PTX_64;
  return ptx_made2(e, "setp.eq", is_wide ? ".s64" : ".s32", PTX_PRED, at, ptx_number((ptx_bank)at.bank, i));
}

static ptx_ref extract_any(emitter *e, const ir_inst *vector, const ir_inst *index) {
  ptx_ref value = ptx_lane(e, vector, 0);
  for (uint32_t i = 1; i < ir_lanes_of(vector->type); i++)
    value = ptx_choose(e, is_lane(e, index, i), ptx_lane(e, vector, i), value);
  return value;
}

static void extract(emitter *e, const ir_inst *inst) {
  const ir_inst *vector = inst->args[0], *index = inst->args[1];
  bool is_known = index->op == IR_CONST;
  uint64_t at = is_known && index->imm < ir_lanes_of(vector->type) ? index->imm : 0;
  ptx_set(e, inst, 0, is_known ? ptx_lane(e, vector, (uint32_t)at) : extract_any(e, vector, index));
}

static void insert(emitter *e, const ir_inst *inst) {
  const ir_inst *index = inst->args[2];
  ptx_ref value = ptx_lane(e, inst->args[1], 0);
  for (uint32_t i = 0; i < lanes_of(inst); i++) {
    ptx_ref old = ptx_lane(e, inst->args[0], i);
    if (index->op == IR_CONST)
      ptx_set(e, inst, i, index->imm == i ? value : old);
    else
      ptx_set(e, inst, i, ptx_choose(e, is_lane(e, index, i), value, old));
  }
}

static void shuffle(emitter *e, const ir_inst *inst) {
  uint32_t count = ir_lanes_of(inst->args[0]->type);
  for (uint32_t i = 0; i < lanes_of(inst); i++) {
    int32_t from = inst->u.mask[i];
    uint32_t at = from < 0 ? 0 : (uint32_t)from;
    ptx_set(e, inst, i, at < count ? ptx_lane(e, inst->args[0], at) : ptx_lane(e, inst->args[1], at - count));
  }
}

/* ---- Bits ---- */

static ptx_ref number_part(ptx_ref a, uint32_t bits, bool is_high) {
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  return ptx_number(PTX_32, (is_high ? a.bits >> bits : a.bits) & mask);
}

static void split(emitter *e, ptx_ref a, uint32_t bits, ptx_ref out[2]) {
  uint32_t half = bits / 2;
  if (a.kind == PTX_NUMBER) {
    out[0] = number_part(a, half, false);
    out[1] = number_part(a, half, true);
  } else if (bits == 64) {
    out[0] = ptx_new(e, PTX_32);
    out[1] = ptx_new(e, PTX_32);
    put(e, "  mov.b64 {");
    ptx_put_ref(e, out[0]);
    put(e, ", ");
    ptx_put_ref(e, out[1]);
    put(e, "}, ");
    ptx_put_ref(e, a);
    put(e, ";\n");
  } else {
    out[0] = ptx_cut(e, a, half);
    out[1] = ptx_made2(e, "shr", ".u32", PTX_32, a, ptx_number(PTX_32, half));
  }
}

static ptx_ref join(emitter *e, ptx_ref low, ptx_ref high, uint32_t bits) {
  if (low.kind == PTX_NUMBER && high.kind == PTX_NUMBER)
    return ptx_number(bits == 32 ? PTX_64 : PTX_32, low.bits | high.bits << bits);
  if (bits < 32) {
    ptx_ref top = ptx_made2(e, "shl", ".b32", PTX_32, high, ptx_number(PTX_32, bits));
    return ptx_made2(e, "or", ".b32", PTX_32, top, low);
  }
  ptx_ref d = ptx_new(e, PTX_64);
  put(e, "  mov.b64 ");
  ptx_put_ref(e, d);
  put(e, ", {");
  ptx_put_ref(e, low);
  put(e, ", ");
  ptx_put_ref(e, high);
  put(e, "};\n");
  return d;
}

uint32_t ptx_regroup(emitter *e, ptx_ref *lanes, uint32_t count, uint32_t from, uint32_t to) {
  for (; from > to; from /= 2, count *= 2)
    for (uint32_t i = count; i; i--) {
      ptx_ref parts[2];
      split(e, lanes[i - 1], from, parts);
      lanes[2 * i - 2] = parts[0];
      lanes[2 * i - 1] = parts[1];
    }
  for (; from < to; from *= 2, count /= 2)
    for (uint32_t i = 0; i < count / 2; i++) lanes[i] = join(e, lanes[2 * i], lanes[2 * i + 1], from);
  return count;
}

ptx_ref ptx_as_integer(emitter *e, const ir_type *elem, ptx_ref a) {
  a.is_float = false;
  if (!ptx_is_half(elem)) return a;
  return a.kind == PTX_NUMBER ? ptx_number(PTX_32, a.bits) : ptx_made1(e, "cvt", ".u32.u16", PTX_32, a);
}

ptx_ref ptx_from_integer(emitter *e, const ir_type *elem, ptx_ref a) {
  a.is_float = elem->kind == IR_FLOAT;
  if (!ptx_is_half(elem)) return a;
  return a.kind == PTX_NUMBER ? ptx_number(PTX_16, a.bits) : ptx_made1(e, "cvt", ".u16.u32", PTX_16, a);
}

static void bitcast(emitter *e, const ir_inst *inst) {
  const ir_type *from = ir_elem_of(inst->args[0]->type), *to = ir_elem_of(inst->type);
  ptx_ref lanes[PTX_LANES * 8];
  uint32_t count = ir_lanes_of(inst->args[0]->type);
  for (uint32_t i = 0; i < count; i++) lanes[i] = ptx_as_integer(e, from, ptx_operand(e, inst->args[0], i));
  (void)ptx_regroup(e, lanes, count, from->bits, to->bits);
  for (uint32_t i = 0; i < lanes_of(inst); i++) ptx_set(e, inst, i, ptx_from_integer(e, to, lanes[i]));
}

/* ---- All ---- */

void ptx_put_value(emitter *e, const ir_inst *inst) {
  switch (inst->op) {
    case IR_SELECT:
      select_lanes(e, inst);
      return;
    case IR_VEC:
      for (uint32_t i = 0; i < lanes_of(inst); i++) ptx_set(e, inst, i, ptx_lane(e, inst->args[i], 0));
      return;
    case IR_SPLAT:
      for (uint32_t i = 0; i < lanes_of(inst); i++) ptx_set(e, inst, i, ptx_lane(e, inst->args[0], 0));
      return;
    case IR_EXTRACT:
      extract(e, inst);
      return;
    case IR_INSERT:
      insert(e, inst);
      return;
    case IR_SHUFFLE:
      shuffle(e, inst);
      return;
    default:
      bitcast(e, inst);
  }
}
