/* ref.c - registers, numbers and addresses, and lines made of them. */
#include <inttypes.h>

#include "compiler/target/ptx/emit.h"

static const char bank_prefix[PTX_BANKS][4] = {"%p", "%h", "%r", "%d"};
static const char *const move_type[PTX_BANKS] = {".pred", ".b16", ".b32", ".b64"};

ptx_ref ptx_new(emitter *e, ptx_bank bank) {
  return (ptx_ref){.kind = PTX_REGISTER, .bank = (uint8_t)bank, .number = e->registers[bank]++};
}

ptx_ref ptx_number(ptx_bank bank, uint64_t bits) {
  return (ptx_ref){.kind = PTX_NUMBER, .bank = (uint8_t)bank, .bits = bits};
}

ptx_bank ptx_bank_of(const ir_type *elem) {
  switch (elem->kind) {
    case IR_BOOL:
      return PTX_PRED;
    case IR_POINTER:
      return ptx_is_short(elem->space) ? PTX_32 : PTX_64;
    case IR_FLOAT:
      return elem->bits == 16 ? PTX_16 : elem->bits == 32 ? PTX_32 : PTX_64;
    default:
      return elem->bits == 64 ? PTX_64 : PTX_32;
  }
}

/* ---- Leaves ---- */

static ptx_ref zero_of(const ir_type *elem) {
  bool is_ones = elem->kind == IR_POINTER && ptx_is_short(elem->space);
  ptx_ref ref = ptx_number(ptx_bank_of(elem), is_ones ? UINT32_MAX : 0);
  ref.is_float = elem->kind == IR_FLOAT;
  return ref;
}

static ptx_ref address_of(emitter *e, const ir_inst *leaf) {
  const ir_var *var = leaf->u.var;
  ptx_ref place = {.kind = PTX_SYMBOL, .bank = PTX_64};
  if (var->function)
    place = e->places[var->id - e->function->first];
  else
    place.symbol = e->constant_names[var->id];
  place.bits += leaf->imm;
  return place;
}

static ptx_ref constant_lane(const ir_inst *value, uint32_t i) {
  const ir_type *elem = ir_elem_of(value->type);
  if (value->op == IR_AGGREGATE) value = value->args[i];
  ptx_ref ref = zero_of(elem);
  if (value->op == IR_CONST) ref.bits = value->imm;
  return ref;
}

ptx_ref ptx_lane(emitter *e, const ir_inst *value, uint32_t i) {
  if (value->op == IR_ADDRESS) return address_of(e, value);
  if (!value->parent && value->op != IR_PARAM) return constant_lane(value, i);
  const ptx_ref *lanes = e->values[value->id - e->function->first];
  if (lanes) return lanes[i];
  if (!e->lost && !e->failed) e->lost = value;
  return zero_of(ir_elem_of(value->type));
}

ptx_ref ptx_plain(emitter *e, ptx_ref ref) {
  if (ref.kind == PTX_NUMBER || (ref.kind == PTX_REGISTER && !ref.bits)) return ref;
  ptx_ref base = ref;
  if (ref.kind == PTX_SYMBOL) {
    base = ptx_new(e, ref.bank);
    putf(e, "  mov.%s ", ref.bank == PTX_64 ? "u64" : "u32");
    ptx_put_ref(e, base);
    putf(e, ", %s;\n", ref.symbol);
  }
  base.bits = 0;
  if (!ref.bits) return base;
  return ptx_made2(e, "add", ref.bank == PTX_64 ? ".s64" : ".s32", ref.bank, base, ptx_number(ref.bank, ref.bits));
}

ptx_ref ptx_operand(emitter *e, const ir_inst *value, uint32_t i) { return ptx_plain(e, ptx_lane(e, value, i)); }

ptx_ref ptx_in_register(emitter *e, ptx_ref ref) {
  ref = ptx_plain(e, ref);
  if (ref.kind == PTX_REGISTER) return ref;
  ptx_ref d = ptx_new(e, ref.bank);
  ptx_move(e, d, ref);
  return d;
}

/* ---- Definitions ---- */

ptx_ref *ptx_define(emitter *e, const ir_inst *inst) {
  ptx_ref **slot = &e->values[inst->id - e->function->first];
  if (!*slot) *slot = QN_ARENA_ARRAY(e->arena, ptx_ref, ir_lanes_of(inst->type));
  e->failed |= !*slot;
  return *slot;
}

void ptx_set(emitter *e, const ir_inst *inst, uint32_t lane, ptx_ref ref) {
  ptx_ref *lanes = ptx_define(e, inst);
  if (lanes) lanes[lane] = ref;
}

/* ---- Text ---- */

static void put_number(emitter *e, ptx_ref ref) {
  if (ref.is_float && ref.bank == PTX_32)
    putf(e, "0f%08" PRIX32, (uint32_t)ref.bits);
  else if (ref.is_float && ref.bank == PTX_64)
    putf(e, "0d%016" PRIX64, ref.bits);
  else if (ref.bank == PTX_64)
    putf(e, "%" PRId64, (int64_t)ref.bits);
  else if (ref.bank == PTX_32)
    putf(e, "%" PRId32, (int32_t)(uint32_t)ref.bits);
  else
    putf(e, "%" PRIu64, ref.bits);
}

void ptx_put_ref(emitter *e, ptx_ref ref) {
  if (ref.kind == PTX_REGISTER)
    putf(e, "%s%" PRIu32, bank_prefix[ref.bank], ref.number);
  else if (ref.kind == PTX_SYMBOL)
    put(e, ref.symbol);
  else
    put_number(e, ref);
}

void ptx_put_address(emitter *e, ptx_ref address) {
  qn_bytes_append_char(e->out, '[');
  ptx_put_ref(e, address);
  int64_t offset = address.bank == PTX_64 ? (int64_t)address.bits : (int32_t)(uint32_t)address.bits;
  if (address.kind != PTX_NUMBER && offset) putf(e, "+%" PRId64, offset);
  qn_bytes_append_char(e->out, ']');
}

void ptx_put_op(emitter *e, const char *name, const char *type, ptx_ref d, const ptx_ref *args, uint32_t count) {
  putf(e, "  %s%s ", name, type);
  ptx_put_ref(e, d);
  for (uint32_t i = 0; i < count; i++) {
    put(e, ", ");
    ptx_put_ref(e, args[i]);
  }
  put(e, ";\n");
}

ptx_ref ptx_made1(emitter *e, const char *name, const char *type, ptx_bank bank, ptx_ref a) {
  ptx_ref d = ptx_new(e, bank);
  ptx_put_op(e, name, type, d, &a, 1);
  return d;
}

ptx_ref ptx_made2(emitter *e, const char *name, const char *type, ptx_bank bank, ptx_ref a, ptx_ref b) {
  ptx_ref d = ptx_new(e, bank);
  ptx_put_op2(e, name, type, d, a, b);
  return d;
}

ptx_ref ptx_made3(emitter *e, const char *name, const char *type, ptx_bank bank, ptx_ref a, ptx_ref b, ptx_ref c) {
  ptx_ref d = ptx_new(e, bank);
  ptx_put_op3(e, name, type, d, a, b, c);
  return d;
}

void ptx_move(emitter *e, ptx_ref d, ptx_ref a) { ptx_put_op1(e, "mov", move_type[d.bank], d, ptx_plain(e, a)); }

static ptx_ref choose_predicate(emitter *e, ptx_ref c, ptx_ref a, ptx_ref b) {
  ptx_ref not_c = ptx_made1(e, "not", ".pred", PTX_PRED, c);
  ptx_ref first = ptx_made2(e, "and", ".pred", PTX_PRED, c, ptx_in_register(e, a));
  ptx_ref second = ptx_made2(e, "and", ".pred", PTX_PRED, not_c, ptx_in_register(e, b));
  return ptx_made2(e, "or", ".pred", PTX_PRED, first, second);
}

ptx_ref ptx_choose(emitter *e, ptx_ref c, ptx_ref a, ptx_ref b) {
  if (c.kind == PTX_NUMBER) return c.bits ? a : b;
  a = ptx_plain(e, a);
  b = ptx_plain(e, b);
  if (a.bank == PTX_PRED) return choose_predicate(e, c, a, b);
  if (a.bank == PTX_16) a = ptx_in_register(e, a), b = ptx_in_register(e, b);
  return ptx_made3(e, "selp", move_type[a.bank], (ptx_bank)a.bank, a, b, c);
}
