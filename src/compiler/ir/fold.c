#include "compiler/ir/intern.h"

/* The lane of a constant vector or the scalar itself; NULL: not a plain constant. */
static ir_inst *part(ir_module *m, ir_inst *x, uint32_t lane) {
  if (x->op == IR_ZERO && x->type->kind == IR_VECTOR) return ir_zero(m, x->type->elem);
  if (x->op == IR_AGGREGATE && x->type->kind == IR_VECTOR) x = lane < x->arg_count ? x->args[lane] : NULL;
  return x && x->op == IR_CONST ? x : NULL;
}

ir_inst *ir_fold_shuffle(ir_module *m, ir_inst *x, ir_inst *y, const int32_t *mask, uint32_t lanes) {
  ir_inst *parts[16];
  uint32_t count = ir_lanes_of(x->type);
  if (!ir_is_const(x) || lanes > 16) return NULL;
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t lane = mask[i] < 0 ? 0 : (uint32_t)mask[i];
    ir_inst *from = lane < count ? x : y;
    parts[i] = ir_is_const(from) ? part(m, from, lane < count ? lane : lane - count) : NULL;
    if (!parts[i]) return NULL;
  }
  return ir_const_aggregate(m, ir_vector(m, ir_elem_of(x->type), lanes), parts, lanes);
}

ir_inst *ir_fold(ir_module *m, ir_op op, uint32_t flags, const ir_type *type, ir_inst *const *args, uint32_t count) {
  (void)m, (void)op, (void)flags, (void)type, (void)args, (void)count;
  return NULL;
}
