/* builtin_sync.c - work-items (6.12.1), barriers and fences (6.12.8, 6.12.9), atomics (6.12.11). */
#include "compiler/front/builtin_table.h"

/* ---- Work-items ------------------------------------------------------------------------------------- */

/* Beyond the third dimension sizes are 1, ids and offsets 0. */
static uint64_t beyond(ir_op op) {
  return op == IR_GLOBAL_SIZE || op == IR_LOCAL_SIZE || op == IR_ENQUEUED_SIZE || op == IR_NUM_GROUPS ? 1 : 0;
}

ir_inst *builtin_emit_query(const builtin_call *c) {
  ir_op op = c->row->ops[0];
  ir_builder *b = c->b;
  if (op == IR_WORK_DIM) return ir_query(b, op, 0);
  ir_inst *dimension = c->args[0];
  ir_inst *r = ir_const_int(c->f->m, ir_size_type(c->f->m), beyond(op));
  if (dimension->op == IR_CONST) return dimension->imm < 3 ? ir_query(b, op, (uint32_t)dimension->imm) : r;
  for (uint32_t i = 3; i-- > 0;) {
    ir_inst *is_this = ir_bin(b, IR_EQ, dimension, builtin_integer(c, dimension->type, i));
    r = ir_select(b, is_this, ir_query(b, op, i), r);
  }
  return r;
}

/* One number for three: ((z * size_y) + y) * size_x + x; of global ids without the offset. */
ir_inst *builtin_emit_linear_id(const builtin_call *c) {
  ir_builder *b = c->b;
  bool is_global = c->row->ops[0] == IR_GLOBAL_ID;
  ir_inst *r = NULL;
  for (uint32_t i = 3; i-- > 0;) {
    ir_inst *id = ir_query(b, is_global ? IR_GLOBAL_ID : IR_LOCAL_ID, i);
    if (is_global) id = ir_bin(b, IR_SUB, id, ir_query(b, IR_GLOBAL_OFFSET, i));
    if (r) r = ir_bin(b, IR_MUL, r, ir_query(b, is_global ? IR_GLOBAL_SIZE : IR_LOCAL_SIZE, i));
    r = r ? ir_bin(b, IR_ADD, r, id) : id;
  }
  return r;
}

/* ---- Barriers, fences -------------------------------------------------------------------------------- */

/* CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2, as in the IR; a flag that isn't constant means both. */
static uint32_t fences_of(const ir_inst *flags) {
  const uint32_t both = IR_FENCE_LOCAL | IR_FENCE_GLOBAL;
  return flags->op == IR_CONST ? (uint32_t)flags->imm & both : both;
}

ir_inst *builtin_emit_barrier(const builtin_call *c) { return ir_barrier(c->b, IR_BARRIER, fences_of(c->args[0])); }
ir_inst *builtin_emit_fence(const builtin_call *c) { return ir_barrier(c->b, IR_FENCE, fences_of(c->args[0])); }

/* A hint that nothing here takes up. */
ir_inst *builtin_emit_prefetch(const builtin_call *c) { return c->args[0]; }

/* ---- Atomics: relaxed, as OpenCL 1.2 has them --------------------------------------------------------- */

static ir_inst *atomic(const builtin_call *c, uint16_t rmw, ir_inst *const *args, uint32_t count) {
  ir_scope scope = args[0]->type->space == IR_LOCAL ? IR_SCOPE_GROUP : IR_SCOPE_DEVICE;
  return ir_atomic(c->b, (ir_rmw)rmw, IR_RELAXED, scope, args, count);
}

ir_inst *builtin_emit_atomic(const builtin_call *c) {
  const front_type *t = c->choice->t;
  uint32_t which = t->kind == FRONT_FLOAT ? 2 : t->is_signed ? 0 : 1;
  return atomic(c, c->row->ops[which], c->args, c->count);
}

ir_inst *builtin_emit_atomic_step(const builtin_call *c) {
  ir_inst *args[] = {c->args[0], builtin_integer(c, c->args[0]->type->elem, 1)};
  return atomic(c, c->row->ops[0], args, 2);
}
