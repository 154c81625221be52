/* evaluate.c - operations on values, lane by lane. */
#include <string.h>

#include "compiler/interp/code.h"

static uint64_t cut(uint64_t bits, uint32_t width) { return width >= 64 ? bits : bits & ((UINT64_C(1) << width) - 1); }

static int64_t extend(uint64_t bits, uint32_t width) {
  return width >= 64 ? (int64_t)bits : (int64_t)(bits << (64 - width)) >> (64 - width);
}

static int64_t signed_index(const ir_inst *value, const uint64_t *lanes) { return extend(lanes[0], value->type->bits); }

/* Lanes of one type to lanes of another with the same bytes. */
static void bitcast(const ir_inst *inst, const uint64_t *from, uint32_t address_bits, uint64_t *to) {
  unsigned char bytes[128] = {0};
  const ir_type *a = inst->args[0]->type, *b = inst->type;
  uint32_t n = code_lane_bytes(a, address_bits), m = code_lane_bytes(b, address_bits);
  for (uint32_t i = 0; i < code_lanes(a); i++) memcpy(bytes + i * n, &from[i], n);
  for (uint32_t i = 0; i < code_lanes(b); i++) {
    to[i] = 0;
    memcpy(&to[i], bytes + i * m, m);
  }
}

static bool pointer_compare(const ir_inst *inst, uint64_t x, uint64_t y, uint64_t *out) {
  switch (inst->op) {
    case IR_EQ:
      *out = x == y;
      return true;
    case IR_NE:
      *out = x != y;
      return true;
    case IR_ULT:
      *out = x < y;
      return true;
    case IR_ULE:
      *out = x <= y;
      return true;
    default:
      return false;
  }
}

static bool component_wise(const ir_inst *inst, const uint64_t *const *args, uint64_t *out) {
  const ir_type *result = ir_elem_of(inst->type), *operand = ir_elem_of(inst->args[0]->type);
  if (operand->kind == IR_POINTER) return pointer_compare(inst, args[0][0], args[1][0], out);
  for (uint32_t i = 0; i < code_lanes(inst->type); i++) {
    uint64_t lane[3];
    for (uint32_t k = 0; k < inst->arg_count && k < 3; k++) lane[k] = args[k][i];
    if (!ir_eval_scalar(inst->op, inst->flags, result, operand, lane, &out[i])) return false;
  }
  return true;
}

static void select_lanes(const ir_inst *inst, const uint64_t *const *args, uint64_t *out) {
  bool by_lane = inst->args[0]->type->kind == IR_VECTOR;
  for (uint32_t i = 0; i < code_lanes(inst->type); i++) out[i] = args[0][by_lane ? i : 0] ? args[1][i] : args[2][i];
}

static void insert_lane(const ir_inst *inst, const uint64_t *const *args, uint64_t *out) {
  uint32_t lanes = code_lanes(inst->type);
  memcpy(out, args[0], lanes * sizeof *out);
  uint64_t index = args[2][0];
  if (index < lanes) out[index] = args[1][0];
}

static void shuffle_lanes(const ir_inst *inst, const uint64_t *const *args, uint64_t *out) {
  uint32_t lanes = code_lanes(inst->args[0]->type);
  for (uint32_t i = 0; i < code_lanes(inst->type); i++) {
    int32_t from = inst->u.mask[i];
    out[i] = from < 0 ? 0 : (uint32_t)from < lanes ? args[0][from] : args[1][(uint32_t)from - lanes];
  }
}

static uint64_t element_size(const ir_type *pointee, uint32_t address_bits) {
  (void)address_bits;
  return pointee->kind == IR_VOID ? 1 : pointee->size;
}

bool interp_evaluate(const ir_inst *inst, const uint64_t *const *args, uint32_t address_bits, uint64_t *out) {
  const ir_type *first = inst->arg_count ? inst->args[0]->type : NULL;
  switch (inst->op) {
    case IR_BITCAST:
      bitcast(inst, args[0], address_bits, out);
      return true;
    case IR_SELECT:
      select_lanes(inst, args, out);
      return true;
    case IR_VEC:
      for (uint32_t i = 0; i < inst->arg_count; i++) out[i] = args[i][0];
      return true;
    case IR_SPLAT:
      for (uint32_t i = 0; i < code_lanes(inst->type); i++) out[i] = args[0][0];
      return true;
    case IR_EXTRACT:
      out[0] = args[1][0] < code_lanes(first) ? args[0][args[1][0]] : args[0][0];
      return true;
    case IR_INSERT:
      insert_lane(inst, args, out);
      return true;
    case IR_SHUFFLE:
      shuffle_lanes(inst, args, out);
      return true;
    case IR_ELEM:
      out[0] = args[0][0] + (uint64_t)signed_index(inst->args[1], args[1]) * element_size(first->elem, address_bits);
      break;
    case IR_INDEX: {
      const ir_type *whole = first->elem;
      uint64_t size = whole->kind == IR_VECTOR ? code_lane_bytes(whole, address_bits) : whole->elem->size;
      out[0] = args[0][0] + (uint64_t)signed_index(inst->args[1], args[1]) * size;
      break;
    }
    case IR_FIELD:
      out[0] = args[0][0] + first->elem->fields[inst->imm].offset;
      break;
    case IR_PCAST:
    case IR_ITOP:
      out[0] = args[0][0];
      break;
    case IR_PTOI:
      out[0] = cut(args[0][0], inst->type->bits);
      return true;
    case IR_PDIFF: {
      int64_t bytes = extend(args[0][0] - args[1][0], address_bits);
      out[0] = cut((uint64_t)(bytes / (int64_t)element_size(first->elem, address_bits)), inst->type->bits);
      return true;
    }
    default:
      return ir_op_table[inst->op].cls >= IR_CLASS_UN && ir_op_table[inst->op].cls <= IR_CLASS_CONV &&
             component_wise(inst, args, out);
  }
  out[0] = cut(out[0], address_bits); /* pointers */
  return true;
}
