/* pointer.c - addresses: a register or symbol and a number of bytes, which accesses take as they are. */
#include <stdio.h>

#include "compiler/target/ptx/emit.h"

const ir_inst *ptx_root(const ir_inst *pointer) {
  while (text_is_step(pointer->op)) pointer = pointer->args[0];
  return pointer;
}

const char *ptx_space_of(emitter *e, const ir_inst *pointer) {
  const ir_inst *root = ptx_root(pointer);
  bool is_kernels = root->op == IR_PARAM && root->u.function->is_kernel;
  switch (pointer->type->space) {
    case IR_PRIVATE:
      return is_kernels ? ".param" : ".local";
    case IR_LOCAL:
      return ".shared";
    case IR_CONSTANT:
      return root->op == IR_ADDRESS && e->constant_banked[root->u.var->id] ? ".const" : ".global";
    case IR_GLOBAL:
      return ".global";
    default:
      return "";
  }
}

/* ---- Steps by an index ---- */

/* An index as base + `plus`: constants that are added come out, and conversions that the address' arithmetic does itself. */
typedef struct index_parts {
  const ir_inst *base;
  ir_op extends; /* SEXT or ZEXT of 32 bits to 64, else none: ADD */
  int64_t plus;
} index_parts;

static int64_t constant_of(const ir_inst *x) {
  uint32_t bits = x->type->bits;
  return bits == 64 ? (int64_t)x->imm : (int64_t)(x->imm << (64 - bits)) >> (64 - bits);
}

/* Takes a constant off a sum: of 64 bits, or of 32 where it doesn't overflow. */
static bool take_constant(index_parts *parts) {
  const ir_inst *sum = parts->base;
  bool is_sum = sum->parent && (sum->op == IR_ADD || sum->op == IR_SUB);
  if (!is_sum || sum->args[1]->op != IR_CONST) return false;
  if (sum->type->bits != 64 && (parts->extends != IR_SEXT || !(sum->flags & IR_NSW))) return false;
  int64_t value = constant_of(sum->args[1]);
  parts->plus = (int64_t)((uint64_t)parts->plus + (sum->op == IR_ADD ? (uint64_t)value : 0 - (uint64_t)value));
  parts->base = sum->args[0];
  return true;
}

static index_parts parts_of(const ir_inst *index) {
  index_parts parts = {.base = index, .extends = IR_ADD};
  if (index->type->bits == 32) parts.extends = IR_SEXT;
  for (;;) {
    const ir_inst *x = parts.base;
    bool is_cast = x->parent && (x->op == IR_SEXT || x->op == IR_ZEXT) && parts.extends == IR_ADD;
    if (is_cast && x->args[0]->type->kind == IR_INT && x->args[0]->type->bits == 32) {
      parts.extends = x->op;
      parts.base = x->args[0];
    } else if (!take_constant(&parts)) {
      return parts;
    }
  }
}

const ir_inst *ptx_index_base(const ir_inst *index) { return parts_of(index).base; }

static int power_of_two(uint64_t size) { return size && !(size & (size - 1)) ? __builtin_ctzll(size) : -1; }

static ptx_ref without_bytes(ptx_ref ref) {
  ref.bits = 0;
  return ref;
}

static ptx_ref step_short(emitter *e, ptx_ref base, ptx_ref index, uint64_t size) {
  if (index.bank == PTX_64) index = ptx_made1(e, "cvt", ".u32.u64", PTX_32, index);
  return ptx_made3(e, "mad.lo", ".s32", PTX_32, index, ptx_number(PTX_32, size), base);
}

/* A product and a sum, which the assembler makes one: of mad.wide with several bases it makes more. */
static ptx_ref step_long(emitter *e, ptx_ref base, ptx_ref index, ir_op extends, uint64_t size) {
  if (index.bank == PTX_32 && size <= INT32_MAX) {
    const char *type = extends == IR_ZEXT ? ".u32" : ".s32";
    ptx_ref bytes = ptx_made2(e, "mul.wide", type, PTX_64, index, ptx_number(PTX_32, size));
    return ptx_made2(e, "add", ".s64", PTX_64, base, bytes);
  }
  if (index.bank == PTX_32) index = ptx_made1(e, "cvt", extends == IR_ZEXT ? ".u64.u32" : ".s64.s32", PTX_64, index);
  int shift = power_of_two(size);
  if (shift < 0) return ptx_made3(e, "mad.lo", ".s64", PTX_64, index, ptx_number(PTX_64, size), base);
  if (shift) index = ptx_made2(e, "shl", ".b64", PTX_64, index, ptx_number(PTX_32, (uint64_t)shift));
  return ptx_made2(e, "add", ".s64", PTX_64, base, index);
}

/* `p` + index * size */
static ptx_ref step(emitter *e, ptx_ref p, const ir_inst *index, uint64_t size) {
  index_parts parts = parts_of(index);
  uint64_t bytes = p.kind == PTX_NUMBER ? 0 : p.bits;
  if (parts.base->op == IR_CONST) {
    parts.plus = (int64_t)((uint64_t)parts.plus +
                           (parts.extends == IR_ZEXT ? parts.base->imm : (uint64_t)constant_of(parts.base)));
    p.bits += (uint64_t)parts.plus * size;
    return p;
  }
  ptx_ref base = ptx_in_register(e, p.kind == PTX_NUMBER ? p : without_bytes(p));
  ptx_ref at = ptx_in_register(e, ptx_operand(e, parts.base, 0));
  if (parts.base->type->bits < 32) at = ptx_signed(e, at, parts.base->type->bits);
  ptx_ref sum = p.bank == PTX_32 ? step_short(e, base, at, size) : step_long(e, base, at, parts.extends, size);
  sum.bits = bytes + (uint64_t)parts.plus * size;
  return sum;
}

/* ---- Casts ---- */

static const char *generic_space(ir_space space) {
  return space == IR_PRIVATE ? ".local" : space == IR_LOCAL ? ".shared" : ".global";
}

static ptx_ref is_null(emitter *e, ptx_ref a) {
  bool is_short = a.bank == PTX_32;
  return ptx_made2(e, "setp.eq", is_short ? ".s32" : ".s64", PTX_PRED, a,
                   ptx_number((ptx_bank)a.bank, is_short ? UINT32_MAX : 0));
}

ptx_ref ptx_pointer_bits(emitter *e, ptx_ref a) {
  a = ptx_plain(e, a);
  if (a.bank == PTX_64) return a;
  ptx_ref wide = ptx_made1(e, "cvt", ".u64.u32", PTX_64, a);
  return ptx_choose(e, is_null(e, a), ptx_number(PTX_64, 0), wide);
}

ptx_ref ptx_pointer_from_bits(emitter *e, ir_space space, ptx_ref a) {
  if (!ptx_is_short(space)) return a;
  ptx_ref is_zero = ptx_made2(e, "setp.eq", ".s64", PTX_PRED, ptx_in_register(e, a), ptx_number(PTX_64, 0));
  ptx_ref low = ptx_made1(e, "cvt", ".u32.u64", PTX_32, ptx_in_register(e, a));
  return ptx_choose(e, is_zero, ptx_number(PTX_32, UINT32_MAX), low);
}

/* A null pointer stays one. */
static ptx_ref through_window(emitter *e, ptx_ref a, ir_space space, bool to_generic) {
  ptx_ref wide = a.bank == PTX_64 ? a : ptx_made1(e, "cvt", ".u64.u32", PTX_64, a);
  const char *name = generic_space(space);
  char op[32];
  (void)snprintf(op, sizeof op, "cvta%s%s", to_generic ? "" : ".to", name);
  ptx_ref moved = ptx_made1(e, op, ".u64", PTX_64, wide);
  bool is_short = ptx_is_short(space);
  if (!to_generic && is_short) moved = ptx_made1(e, "cvt", ".u32.u64", PTX_32, moved);
  ptx_ref null = ptx_number(!to_generic && is_short ? PTX_32 : PTX_64, !to_generic && is_short ? UINT32_MAX : 0);
  return ptx_choose(e, is_null(e, a), null, moved);
}

static ptx_ref cast(emitter *e, const ir_inst *inst) {
  ir_space from = inst->args[0]->type->space, to = inst->type->space;
  ptx_ref a = ptx_lane(e, inst->args[0], 0);
  if (from == to || (from != IR_GENERIC && to != IR_GENERIC)) return a;
  a = ptx_in_register(e, a);
  return from == IR_GENERIC ? through_window(e, a, to, false) : through_window(e, a, from, true);
}

/* ---- Integers ---- */

static ptx_ref to_integer(emitter *e, const ir_inst *inst) {
  ptx_ref bits = ptx_pointer_bits(e, ptx_lane(e, inst->args[0], 0));
  if (inst->type->bits == 64) return bits;
  return ptx_cut(e, ptx_made1(e, "cvt", ".u32.u64", PTX_32, ptx_in_register(e, bits)), inst->type->bits);
}

static ptx_ref from_integer(emitter *e, const ir_inst *inst) {
  ptx_ref a = ptx_operand(e, inst->args[0], 0);
  if (a.bank != PTX_64) a = ptx_made1(e, "cvt", ".u64.u32", PTX_64, ptx_in_register(e, a));
  return ptx_pointer_from_bits(e, inst->type->space, a);
}

static ptx_ref distance(emitter *e, const ir_inst *inst) {
  ptx_ref a = ptx_operand(e, inst->args[0], 0), b = ptx_operand(e, inst->args[1], 0);
  uint64_t size = inst->args[0]->type->elem->size;
  int shift = power_of_two(size);
  bool is_short = a.bank == PTX_32;
  ptx_ref bytes = ptx_made2(e, "sub", is_short ? ".s32" : ".s64", (ptx_bank)a.bank, a, b);
  if (is_short) bytes = ptx_made1(e, "cvt", ".s64.s32", PTX_64, bytes);
  if (shift == 0) return bytes;
  if (shift > 0) return ptx_made2(e, "shr", ".s64", PTX_64, bytes, ptx_number(PTX_32, (uint64_t)shift));
  return ptx_made2(e, "div", ".s64", PTX_64, bytes, ptx_number(PTX_64, size ? size : 1));
}

void ptx_put_pointer_op(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  switch (inst->op) {
    case IR_ELEM:
      ptx_set(e, inst, 0, step(e, ptx_lane(e, p, 0), inst->args[1], p->type->elem->size));
      return;
    case IR_INDEX:
      ptx_set(e, inst, 0, step(e, ptx_lane(e, p, 0), inst->args[1], p->type->elem->elem->size));
      return;
    case IR_FIELD: {
      ptx_ref at = ptx_lane(e, p, 0);
      at.bits += p->type->elem->fields[inst->imm].offset;
      ptx_set(e, inst, 0, at);
      return;
    }
    case IR_PCAST:
      ptx_set(e, inst, 0, cast(e, inst));
      return;
    case IR_PTOI:
      ptx_set(e, inst, 0, to_integer(e, inst));
      return;
    case IR_ITOP:
      ptx_set(e, inst, 0, from_integer(e, inst));
      return;
    default:
      ptx_set(e, inst, 0, distance(e, inst));
  }
}
