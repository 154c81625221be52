/* fold.c - operations on constants, and operations whose result is one of their operands. Neither makes an instruction.
 */
#include "compiler/ir/intern.h"

/* The lane of a constant vector or the scalar itself; NULL: not a plain constant. */
static ir_inst *part(ir_module *m, ir_inst *x, uint32_t lane) {
  if (x->op == IR_ZERO && x->type->kind == IR_VECTOR) return ir_zero(m, x->type->elem);
  if (x->op == IR_AGGREGATE && x->type->kind == IR_VECTOR) x = lane < x->arg_count ? x->args[lane] : NULL;
  return x && x->op == IR_CONST ? x : NULL;
}

static bool const_index(const ir_inst *index, uint32_t lanes, uint32_t *out) {
  *out = (uint32_t)index->imm;
  return index->op == IR_CONST && index->imm < lanes;
}

static bool all_const(ir_inst *const *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!ir_is_const(args[i])) return false;
  return true;
}

/* ---- Constants ---- */

static ir_inst *fold_lanes(ir_module *m, ir_op op, uint32_t flags, const ir_type *type, ir_inst *const *args,
                           uint32_t count) {
  ir_inst *parts[16];
  const ir_type *operand = ir_elem_of(args[0]->type), *result = ir_elem_of(type);
  for (uint32_t lane = 0; lane < ir_lanes_of(type); lane++) {
    uint64_t bits[3] = {0}, value = 0;
    for (uint32_t i = 0; i < count; i++) {
      ir_inst *p = part(m, args[i], lane);
      if (!p) return NULL;
      bits[i] = p->imm;
    }
    if (!ir_eval_scalar(op, flags, result, operand, bits, &value)) return NULL;
    parts[lane] = ir_const_bits(m, result, value);
  }
  return type->kind == IR_VECTOR ? ir_const_aggregate(m, type, parts, type->count) : parts[0];
}

static uint64_t low_bits(uint64_t value, uint32_t width) {
  return width < 64 ? value & (((uint64_t)1 << width) - 1) : value;
}

/* Lanes of both sides lie in memory little end first. */
static ir_inst *fold_bitcast(ir_module *m, const ir_type *type, ir_inst *x) {
  uint64_t words[16] = {0}; /* 16 lanes of 64 bits at most */
  ir_inst *parts[16];
  const ir_type *from = ir_elem_of(x->type), *to = ir_elem_of(type);
  for (uint32_t lane = 0, at = 0; lane < ir_lanes_of(x->type); lane++, at += from->bits) {
    ir_inst *p = part(m, x, lane);
    if (!p) return NULL;
    words[at / 64] |= p->imm << at % 64;
  }
  for (uint32_t lane = 0, at = 0; lane < ir_lanes_of(type); lane++, at += to->bits)
    parts[lane] = ir_const_bits(m, to, low_bits(words[at / 64] >> at % 64, to->bits));
  return type->kind == IR_VECTOR ? ir_const_aggregate(m, type, parts, type->count) : parts[0];
}

static ir_inst *fold_insert(ir_module *m, ir_inst *v, ir_inst *scalar, ir_inst *index) {
  ir_inst *parts[16];
  uint32_t lane;
  if (!const_index(index, v->type->count, &lane)) return NULL;
  for (uint32_t i = 0; i < v->type->count; i++) {
    parts[i] = i == lane ? scalar : part(m, v, i);
    if (!parts[i]) return NULL;
  }
  return ir_const_aggregate(m, v->type, parts, v->type->count);
}

static ir_inst *fold_select(ir_module *m, ir_inst *c, ir_inst *x, ir_inst *y) {
  ir_inst *parts[16];
  for (uint32_t i = 0; i < c->type->count; i++) {
    ir_inst *choice = part(m, c, i);
    parts[i] = choice ? part(m, choice->imm ? x : y, i) : NULL;
    if (!parts[i]) return NULL;
  }
  return ir_const_aggregate(m, x->type, parts, c->type->count);
}

/* Pointers: only the null pointer is known. */
static ir_inst *fold_pointer(ir_module *m, ir_op op, const ir_type *type, ir_inst *const *args) {
  bool null = args[0]->op == IR_ZERO || (args[0]->op == IR_CONST && !args[0]->imm);
  switch (op) {
    case IR_PCAST:
    case IR_PTOI:
    case IR_ITOP:
      return null ? ir_zero(m, type) : NULL;
    case IR_EQ:
    case IR_NE:
      return null && args[1]->op == IR_ZERO ? ir_const_int(m, type, op == IR_EQ) : NULL;
    default:
      return NULL;
  }
}

static ir_inst *fold_const(ir_module *m, ir_op op, uint32_t flags, const ir_type *type, ir_inst *const *args,
                           uint32_t count) {
  switch (op) {
    case IR_BITCAST:
      return fold_bitcast(m, type, args[0]);
    case IR_PCAST:
    case IR_PTOI:
    case IR_ITOP:
      return fold_pointer(m, op, type, args);
    case IR_SPLAT:
      return ir_const_splat(m, type, args[0]);
    case IR_VEC:
      return ir_const_aggregate(m, type, args, count);
    case IR_INSERT:
      return fold_insert(m, args[0], args[1], args[2]);
    case IR_SELECT:
      return args[0]->type->kind == IR_VECTOR ? fold_select(m, args[0], args[1], args[2]) : NULL;
    default:
      break;
  }
  ir_class cls = ir_op_table[op].cls;
  if (cls < IR_CLASS_UN || cls > IR_CLASS_CONV) return NULL;
  if (args[0]->type->kind == IR_POINTER) return fold_pointer(m, op, type, args);
  return fold_lanes(m, op, flags, type, args, count);
}

/* ---- Operations that give an operand back ---- */

/* Whether x has the bits `wanted` in each lane. */
static bool is_splat_of(ir_module *m, ir_inst *x, uint64_t wanted) {
  if (!ir_is_const(x) || x->type->kind == IR_POINTER) return false;
  for (uint32_t i = 0; i < ir_lanes_of(x->type); i++) {
    ir_inst *p = part(m, x, i);
    if (!p || p->imm != wanted) return false;
  }
  return true;
}

static uint64_t all_ones(const ir_type *t) {
  const ir_type *elem = ir_elem_of(t);
  return elem->kind == IR_BOOL ? 1 : low_bits(UINT64_MAX, elem->bits);
}

static uint64_t one_of(const ir_type *t) {
  const ir_type *elem = ir_elem_of(t);
  if (elem->kind != IR_FLOAT) return 1;
  return elem->bits == 64 ? 0x3ff0000000000000u : elem->bits == 32 ? 0x3f800000 : 0x3c00;
}

static uint64_t minus_zero(const ir_type *t) { return (uint64_t)1 << (ir_elem_of(t)->bits - 1); }

/* What y does in x op y, when y is a constant. x op y is x: 1; it is y: 2; neither: 0. */
static int constant_on_the_right(ir_module *m, ir_op op, ir_inst *y) {
  const ir_type *t = y->type;
  switch (op) {
    case IR_ADD:
    case IR_SUB:
    case IR_XOR:
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
    case IR_ROTL:
      return is_splat_of(m, y, 0);
    case IR_OR:
      return is_splat_of(m, y, 0) ? 1 : is_splat_of(m, y, all_ones(t)) ? 2 : 0;
    case IR_AND:
      return is_splat_of(m, y, all_ones(t)) ? 1 : is_splat_of(m, y, 0) ? 2 : 0;
    case IR_MUL:
      return is_splat_of(m, y, 1) ? 1 : is_splat_of(m, y, 0) ? 2 : 0;
    case IR_SDIV:
    case IR_UDIV:
    case IR_FMUL:
    case IR_FDIV:
      return is_splat_of(m, y, one_of(t));
    case IR_FADD:
      return is_splat_of(m, y, minus_zero(t));
    case IR_FSUB:
      return is_splat_of(m, y, 0);
    case IR_EQ:
    case IR_NE:
      return ir_elem_of(t)->kind == IR_BOOL && is_splat_of(m, y, op == IR_EQ);
    default:
      return 0;
  }
}

static bool commutes(ir_op op) {
  return op == IR_ADD || op == IR_MUL || op == IR_AND || op == IR_OR || op == IR_XOR || op == IR_FADD || op == IR_FMUL;
}

static ir_inst *same_operands(ir_module *m, ir_op op, const ir_type *type, ir_inst *x) {
  switch (op) {
    case IR_AND:
    case IR_OR:
    case IR_SMIN:
    case IR_SMAX:
    case IR_UMIN:
    case IR_UMAX:
      return x;
    case IR_SUB:
    case IR_XOR:
    case IR_NE:
    case IR_SLT:
    case IR_ULT:
      return ir_zero(m, type);
    case IR_EQ:
    case IR_SLE:
    case IR_ULE:
      return ir_const_splat(m, type, ir_const_int(m, ir_bool(m), 1));
    default:
      return NULL;
  }
}

static ir_inst *identity_bin(ir_module *m, ir_op op, const ir_type *type, ir_inst *x, ir_inst *y) {
  int which = ir_is_const(y) ? constant_on_the_right(m, op, y) : 0;
  if (which) return which == 1 ? x : y;
  which = ir_is_const(x) && commutes(op) ? constant_on_the_right(m, op, x) : 0;
  if (which) return which == 1 ? y : x;
  return x == y ? same_operands(m, op, type, x) : NULL;
}

static ir_inst *identity_select(ir_inst *c, ir_inst *x, ir_inst *y) {
  if (x == y) return x;
  return c->op == IR_CONST ? (c->imm ? x : y) : NULL;
}

static ir_inst *identity_extract(ir_module *m, ir_inst *v, ir_inst *index) {
  uint32_t lane, other;
  if (v->op == IR_SPLAT) return v->args[0];
  if (!const_index(index, v->type->count, &lane)) return NULL;
  for (; v->op == IR_INSERT && const_index(v->args[2], v->type->count, &other); v = v->args[0])
    if (lane == other) return v->args[1];
  if (v->op == IR_VEC) return v->args[lane];
  if (v->op == IR_AGGREGATE) return v->args[lane];
  return v->op == IR_ZERO ? ir_zero(m, v->type->elem) : NULL;
}

/* A conversion of a conversion back to what it was. */
static ir_inst *identity_conversion(ir_op op, const ir_type *type, ir_inst *x) {
  bool back = (op == IR_BITCAST && x->op == IR_BITCAST) || (op == IR_PCAST && x->op == IR_PCAST) ||
              (op == IR_TRUNC && (x->op == IR_ZEXT || x->op == IR_SEXT)) || (op == IR_FNARROW && x->op == IR_FWIDEN);
  return back && x->args[0]->type == type ? x->args[0] : NULL;
}

static ir_inst *identity(ir_module *m, ir_op op, const ir_type *type, ir_inst *const *args) {
  switch (op) {
    case IR_NOT:
    case IR_FNEG:
      return args[0]->op == op ? args[0]->args[0] : NULL;
    case IR_SELECT:
      return identity_select(args[0], args[1], args[2]);
    case IR_EXTRACT:
      return identity_extract(m, args[0], args[1]);
    default:
      break;
  }
  ir_class cls = ir_op_table[op].cls;
  if (cls == IR_CLASS_CONV || op == IR_PCAST) return identity_conversion(op, type, args[0]);
  return cls == IR_CLASS_BIN || cls == IR_CLASS_CMP ? identity_bin(m, op, type, args[0], args[1]) : NULL;
}

ir_inst *ir_fold(ir_module *m, ir_op op, uint32_t flags, const ir_type *type, ir_inst *const *args, uint32_t count) {
  if (!count) return NULL;
  ir_inst *folded = all_const(args, count) ? fold_const(m, op, flags, type, args, count) : NULL;
  return folded ? folded : identity(m, op, type, args);
}

ir_inst *ir_fold_shuffle(ir_module *m, ir_inst *x, ir_inst *y, const int32_t *mask, uint32_t lanes) {
  ir_inst *parts[16];
  uint32_t count = ir_lanes_of(x->type);
  bool in_order = lanes == count;
  for (uint32_t i = 0; i < lanes; i++) in_order &= mask[i] == (int32_t)i;
  if (in_order) return x;
  if (!ir_is_const(x) || lanes > 16) return NULL;
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t lane = mask[i] < 0 ? 0 : (uint32_t)mask[i];
    ir_inst *from = lane < count ? x : y;
    parts[i] = ir_is_const(from) ? part(m, from, lane < count ? lane : lane - count) : NULL;
    if (!parts[i]) return NULL;
  }
  return ir_const_aggregate(m, ir_vector(m, ir_elem_of(x->type), lanes), parts, lanes);
}
