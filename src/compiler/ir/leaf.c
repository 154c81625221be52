/* leaf.c - constants and addresses: instructions that stand in no block. Constants are interned. */
#include "compiler/ir/float.h"
#include "compiler/ir/intern.h"

ir_inst *ir_inst_alloc(ir_module *m, ir_op op, const ir_type *type, uint32_t arg_count) {
  ir_inst *inst =
      ir_alloc(m, sizeof *inst + sizeof *inst->args * (size_t)arg_count); /* the arguments stand behind it */
  if (!inst) return NULL;
  inst->op = op;
  inst->type = type;
  inst->arg_count = arg_count;
  if (arg_count) inst->args = (ir_inst **)(void *)(inst + 1);
  return inst;
}

static uint64_t leaf_hash(const ir_inst *key) {
  uint64_t hash = ir_mix(ir_mix((uint64_t)key->op, (uint64_t)(uintptr_t)key->type), key->imm);
  hash = ir_mix(hash, (uint64_t)(uintptr_t)key->u.var);
  for (uint32_t i = 0; i < key->arg_count; i++) hash = ir_mix(hash, (uint64_t)(uintptr_t)key->args[i]);
  return hash;
}

static bool leaf_equal(const ir_inst *a, const ir_inst *b) {
  if (a->op != b->op || a->type != b->type || a->imm != b->imm || a->arg_count != b->arg_count) return false;
  if (a->u.var != b->u.var) return false;
  for (uint32_t i = 0; i < a->arg_count; i++)
    if (a->args[i] != b->args[i]) return false;
  return true;
}

/* The leaf like `key`; its arguments are copied. */
static ir_inst *leaf(ir_module *m, const ir_inst *key) {
  uint64_t hash = leaf_hash(key);
  for (ir_node *n = ir_table_first(&m->intern->constants, hash); n; n = n->next)
    if (n->hash == hash && leaf_equal(n->object, key)) return n->object;
  ir_inst *inst = ir_inst_alloc(m, key->op, key->type, key->arg_count);
  if (!inst) return m->intern->spare_inst;
  inst->imm = key->imm;
  inst->u.var = key->u.var;
  for (uint32_t i = 0; i < key->arg_count; i++) inst->args[i] = key->args[i];
  return ir_table_add(m, &m->intern->constants, hash, inst) ? inst : m->intern->spare_inst;
}

ir_inst *ir_const_bits(ir_module *m, const ir_type *type, uint64_t bits) {
  uint32_t width = type->kind == IR_BOOL ? 1 : type->bits;
  if (width < 64) bits &= ((uint64_t)1 << width) - 1;
  return leaf(m, &(ir_inst){.op = IR_CONST, .type = type, .imm = bits});
}

ir_inst *ir_const_int(ir_module *m, const ir_type *type, uint64_t bits) { return ir_const_bits(m, type, bits); }

ir_inst *ir_const_float(ir_module *m, const ir_type *type, double value) {
  return ir_const_bits(m, type, ir_float_from_double(value, type->bits));
}

ir_inst *ir_zero(ir_module *m, const ir_type *type) {
  if (ir_is_scalar(type)) return ir_const_bits(m, type, 0);
  return leaf(m, &(ir_inst){.op = IR_ZERO, .type = type});
}

ir_inst *ir_undef(ir_module *m, const ir_type *type) { return leaf(m, &(ir_inst){.op = IR_UNDEF, .type = type}); }

static bool is_zero(const ir_inst *i) { return i->op == IR_ZERO || (i->op == IR_CONST && i->imm == 0); }

ir_inst *ir_const_aggregate(ir_module *m, const ir_type *type, ir_inst *const *parts, uint32_t count) {
  uint32_t used = count;
  while (used && is_zero(parts[used - 1])) used--;
  if (!used) return ir_zero(m, type);
  if (type->kind != IR_ARRAY) used = count;
  return leaf(m, &(ir_inst){.op = IR_AGGREGATE, .type = type, .args = (ir_inst **)parts, .arg_count = used});
}

ir_inst *ir_const_splat(ir_module *m, const ir_type *type, ir_inst *scalar) {
  if (type->kind != IR_VECTOR) return scalar;
  ir_inst *parts[16];
  for (uint32_t i = 0; i < type->count; i++) parts[i] = scalar;
  return ir_const_aggregate(m, type, parts, type->count);
}

ir_inst *ir_address_offset(ir_module *m, ir_var *var, const ir_type *type, uint64_t bytes) {
  if (!bytes && type == var->address->type) return var->address;
  return leaf(m, &(ir_inst){.op = IR_ADDRESS, .type = type, .imm = bytes, .u.var = var});
}
