#include "compiler/pass/clone.h"

ir_inst *clone_operand(ir_inst *x) {
  return (x->parent || x->op == IR_PARAM || x->op == IR_ADDRESS) && x->aux ? x->aux : x;
}

static bool copy_blocks(ir_builder *b, ir_inst *copy, const ir_inst *inst) {
  uint32_t count = ir_block_count(inst);
  ir_block **blocks = QN_ARENA_ARRAY(b->m->arena, ir_block *, count);
  if (!blocks) return false;
  for (uint32_t i = 0; i < count; i++) {
    blocks[i] = ir_block_new(b->m, copy);
    blocks[i]->hint = i;
  }
  copy->u.ctrl.blocks = blocks;
  return !b->m->failed;
}

/* Masks and cases are never changed in place, so the copy shares them. */
ir_inst *clone_inst(ir_builder *b, ir_inst *inst) {
  ir_inst *copy = ir_emit(b, inst->op, inst->type, inst->args, inst->arg_count);
  if (!copy->parent) return NULL;
  for (uint32_t i = 0; i < inst->arg_count; i++) copy->args[i] = clone_operand(inst->args[i]);
  copy->flags = inst->flags;
  copy->imm = inst->imm;
  copy->loc = inst->loc;
  copy->name = inst->name;
  copy->u = inst->u;
  if (ir_block_count(inst) && !copy_blocks(b, copy, inst)) return NULL;
  inst->aux = copy;
  return copy;
}
