#include "compiler/ir/intern.h"

const ir_op_info ir_op_table[IR_OP_COUNT] = {
#define QN_X(id, text, operands, class) [IR_##id] = {text, operands, IR_CLASS_##class},
    IR_OPS(QN_X)
#undef QN_X
};

static void place(ir_builder *b, ir_inst *inst) {
  inst->loc = b->loc;
  if (!b->before) {
    ir_inst_append(b->block, inst);
    return;
  }
  inst->parent = b->block;
  inst->next = b->before;
  inst->prev = b->before->prev;
  if (inst->prev)
    inst->prev->next = inst;
  else
    b->block->first = inst;
  b->before->prev = inst;
}

static bool takes_fp_flags(ir_op op, const ir_type *type) {
  if (op >= IR_FADD && op <= IR_COPYSIGN) return true;
  return (op >= IR_FEQ && op <= IR_FLE) || (op == IR_SELECT && ir_elem_of(type)->kind == IR_FLOAT);
}

static uint32_t default_flags(const ir_builder *b, ir_op op, const ir_type *type) {
  uint32_t flags = 0;
  if (op == IR_FADD || op == IR_FSUB || op == IR_FMUL) flags |= b->fp_flags & IR_CONTRACT;
  if (takes_fp_flags(op, type)) flags |= b->fp_flags & IR_FAST;
  return flags;
}

ir_inst *ir_emit(ir_builder *b, ir_op op, const ir_type *type, ir_inst *const *args, uint32_t count) {
  ir_inst *inst = ir_inst_alloc(b->m, op, type, count);
  if (!inst) return b->m->intern->spare_inst;
  for (uint32_t i = 0; i < count; i++) inst->args[i] = args[i];
  inst->flags = default_flags(b, op, type);
  place(b, inst);
  return inst;
}

/* Folded, or made. */
static ir_inst *make(ir_builder *b, ir_op op, const ir_type *type, ir_inst *const *args, uint32_t count) {
  ir_inst *folded = ir_fold(b->m, op, default_flags(b, op, type), type, args, count);
  return folded ? folded : ir_emit(b, op, type, args, count);
}

ir_inst *ir_un(ir_builder *b, ir_op op, ir_inst *x) { return make(b, op, x->type, &x, 1); }

ir_inst *ir_bin(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y) {
  bool compares = ir_op_table[op].cls == IR_CLASS_CMP;
  const ir_type *type = op == IR_PDIFF ? ir_size_type(b->m) : compares ? ir_bool_like(b->m, x->type) : x->type;
  return make(b, op, type, (ir_inst *[]){x, y}, 2);
}

ir_inst *ir_tri(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y, ir_inst *z) {
  return make(b, op, x->type, (ir_inst *[]){x, y, z}, 3);
}

ir_inst *ir_conv(ir_builder *b, ir_op op, ir_inst *x, const ir_type *type) {
  if ((op == IR_BITCAST || op == IR_PCAST) && x->type == type) return x;
  return make(b, op, type, &x, 1);
}

ir_inst *ir_select(ir_builder *b, ir_inst *c, ir_inst *x, ir_inst *y) {
  return make(b, IR_SELECT, x->type, (ir_inst *[]){c, x, y}, 3);
}

ir_inst *ir_vec(ir_builder *b, const ir_type *type, ir_inst *const *parts) {
  return make(b, IR_VEC, type, parts, ir_lanes_of(type));
}

ir_inst *ir_splat(ir_builder *b, const ir_type *type, ir_inst *scalar) {
  return type->kind == IR_VECTOR ? make(b, IR_SPLAT, type, &scalar, 1) : scalar;
}

ir_inst *ir_extract(ir_builder *b, ir_inst *v, ir_inst *index) {
  return make(b, IR_EXTRACT, ir_elem_of(v->type), (ir_inst *[]){v, index}, 2);
}

ir_inst *ir_extract_at(ir_builder *b, ir_inst *v, uint32_t lane) {
  return ir_extract(b, v, ir_const_int(b->m, ir_int(b->m, 32), lane));
}

ir_inst *ir_insert(ir_builder *b, ir_inst *v, ir_inst *scalar, ir_inst *index) {
  return make(b, IR_INSERT, v->type, (ir_inst *[]){v, scalar, index}, 3);
}

static const ir_type *pointee(ir_builder *b, const ir_inst *p) {
  return p->type->kind == IR_POINTER ? p->type->elem : ir_void(b->m);
}

static const ir_type *pointer_like(ir_builder *b, const ir_inst *p, const ir_type *elem) {
  return ir_pointer(b->m, p->type->space, elem);
}

ir_inst *ir_shuffle(ir_builder *b, ir_inst *x, ir_inst *y, const int32_t *mask, uint32_t lanes) {
  ir_inst *folded = ir_fold_shuffle(b->m, x, y, mask, lanes);
  if (folded) return folded;
  int32_t *copy = ir_alloc_array(b->m, sizeof *copy, lanes);
  if (!copy) return b->m->intern->spare_inst;
  for (uint32_t i = 0; i < lanes; i++) copy[i] = mask[i];
  ir_inst *inst = ir_emit(b, IR_SHUFFLE, ir_vector(b->m, ir_elem_of(x->type), lanes), (ir_inst *[]){x, y}, 2);
  if (inst->parent) inst->u.mask = copy;
  return inst;
}

ir_inst *ir_elem(ir_builder *b, ir_inst *p, ir_inst *index) {
  if (index->op == IR_CONST && !index->imm) return p;
  return ir_emit(b, IR_ELEM, p->type, (ir_inst *[]){p, index}, 2);
}

ir_inst *ir_index(ir_builder *b, ir_inst *p, ir_inst *index) {
  const ir_type *aggregate = pointee(b, p);
  const ir_type *elem = aggregate->elem ? aggregate->elem : aggregate;
  return ir_emit(b, IR_INDEX, pointer_like(b, p, elem), (ir_inst *[]){p, index}, 2);
}

ir_inst *ir_field_at(ir_builder *b, ir_inst *p, uint32_t field) {
  const ir_type *type = pointee(b, p);
  const ir_type *elem = field < type->field_count ? type->fields[field].type : ir_void(b->m);
  ir_inst *inst = ir_emit(b, IR_FIELD, pointer_like(b, p, elem), &p, 1);
  if (inst->parent) inst->imm = field;
  return inst;
}

ir_inst *ir_query(ir_builder *b, ir_op op, uint32_t dimension) {
  const ir_type *type = op == IR_WORK_DIM ? ir_int(b->m, 32) : ir_size_type(b->m);
  ir_inst *inst = ir_emit(b, op, type, NULL, 0);
  if (inst->parent && op != IR_WORK_DIM) inst->imm = dimension;
  return inst;
}

ir_inst *ir_load(ir_builder *b, ir_inst *p) { return ir_emit(b, IR_LOAD, pointee(b, p), &p, 1); }

ir_inst *ir_store(ir_builder *b, ir_inst *p, ir_inst *v) {
  return ir_emit(b, IR_STORE, ir_void(b->m), (ir_inst *[]){p, v}, 2);
}

ir_inst *ir_vload(ir_builder *b, ir_inst *p, uint32_t count) {
  return ir_emit(b, IR_VLOAD, ir_vector(b->m, pointee(b, p), count), &p, 1);
}

ir_inst *ir_vstore(ir_builder *b, ir_inst *p, ir_inst *v) {
  return ir_emit(b, IR_VSTORE, ir_void(b->m), (ir_inst *[]){p, v}, 2);
}

ir_inst *ir_copy(ir_builder *b, ir_inst *target, ir_inst *source) {
  return ir_emit(b, IR_COPY, ir_void(b->m), (ir_inst *[]){target, source}, 2);
}

ir_inst *ir_fresh(ir_builder *b, ir_var *var) { return ir_emit(b, IR_FRESH, ir_void(b->m), &var->address, 1); }

ir_inst *ir_call(ir_builder *b, ir_function *callee, ir_inst *const *args, uint32_t count) {
  ir_inst *inst = ir_emit(b, IR_CALL, callee->result, args, count);
  if (inst->parent) inst->u.callee = callee;
  return inst;
}

ir_inst *ir_atomic(ir_builder *b, ir_rmw rmw, ir_order order, ir_scope scope, ir_inst *const *args, uint32_t count) {
  const ir_type *type = rmw == IR_RMW_STORE ? ir_void(b->m) : pointee(b, args[0]);
  ir_inst *inst = ir_emit(b, IR_ATOMIC, type, args, count);
  if (!inst->parent) return inst;
  inst->u.atomic.rmw = rmw;
  inst->u.atomic.order = order;
  inst->u.atomic.scope = scope;
  return inst;
}

ir_inst *ir_barrier(ir_builder *b, ir_op op, uint32_t fences) {
  ir_inst *inst = ir_emit(b, op, ir_void(b->m), NULL, 0);
  if (inst->parent) inst->imm = fences;
  return inst;
}

/* A control instruction with `count` empty blocks; NULL: out of memory. */
static ir_inst *control(ir_builder *b, ir_op op, ir_inst *const *args, uint32_t arg_count, uint32_t count) {
  ir_block **blocks = ir_alloc_array(b->m, sizeof(ir_block *), count);
  ir_inst *inst = blocks ? ir_emit(b, op, ir_void(b->m), args, arg_count) : b->m->intern->spare_inst;
  if (!inst->parent) return NULL;
  inst->u.ctrl.blocks = blocks;
  inst->u.ctrl.block_count = count;
  for (uint32_t i = 0; i < count; i++) {
    blocks[i] = ir_block_new(b->m, inst);
    blocks[i]->hint = i;
  }
  return inst;
}

static ir_inst *or_spare(ir_builder *b, ir_inst *inst) { return inst ? inst : b->m->intern->spare_inst; }

ir_inst *ir_if(ir_builder *b, ir_inst *condition) { return or_spare(b, control(b, IR_IF, &condition, 1, 2)); }
ir_inst *ir_loop(ir_builder *b) { return or_spare(b, control(b, IR_LOOP, NULL, 0, 2)); }
ir_inst *ir_region(ir_builder *b) { return or_spare(b, control(b, IR_REGION, NULL, 0, 1)); }

ir_inst *ir_switch(ir_builder *b, ir_inst *value, const uint64_t *cases, uint32_t count) {
  uint64_t *copy = ir_alloc_array(b->m, sizeof *copy, count);
  if (!copy) return NULL;
  for (uint32_t i = 0; i < count; i++) copy[i] = cases[i];
  ir_inst *inst = control(b, IR_SWITCH, &value, 1, count + 1);
  if (inst) inst->u.ctrl.cases = copy;
  return inst;
}

ir_inst *ir_leave(ir_builder *b, ir_op op) { return ir_emit(b, op, ir_void(b->m), NULL, 0); }
ir_inst *ir_break_if(ir_builder *b, ir_inst *condition) {
  return ir_emit(b, IR_BREAK_IF, ir_void(b->m), &condition, 1);
}
ir_inst *ir_return(ir_builder *b, ir_inst *value) {
  return ir_emit(b, IR_RETURN, ir_void(b->m), &value, value ? 1 : 0);
}

bool ir_block_ends(const ir_block *block) {
  if (!block->last) return false;
  ir_op op = block->last->op;
  return op == IR_BREAK || op == IR_CONTINUE || op == IR_RETURN || op == IR_TRAP;
}
