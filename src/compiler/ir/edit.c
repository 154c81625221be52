#include "compiler/ir/ir.h"

void ir_inst_remove(ir_inst *inst) {
  ir_block *block = inst->parent;
  if (!block) return;
  if (inst->prev)
    inst->prev->next = inst->next;
  else
    block->first = inst->next;
  if (inst->next)
    inst->next->prev = inst->prev;
  else
    block->last = inst->prev;
  inst->prev = inst->next = NULL;
  inst->parent = NULL;
}

void ir_inst_append(ir_block *block, ir_inst *inst) {
  inst->parent = block;
  inst->next = NULL;
  inst->prev = block->last;
  if (block->last)
    block->last->next = inst;
  else
    block->first = inst;
  block->last = inst;
}

void ir_inst_move_before(ir_inst *inst, ir_inst *where) {
  if (inst == where) return;
  ir_inst_remove(inst);
  inst->parent = where->parent;
  inst->next = where;
  inst->prev = where->prev;
  if (where->prev)
    where->prev->next = inst;
  else
    where->parent->first = inst;
  where->prev = inst;
}

bool ir_walk(ir_block *block, bool (*fn)(void *user, ir_inst *inst), void *user) {
  ir_inst *next;
  for (ir_inst *inst = block->first; inst; inst = next) {
    next = inst->next;
    if (!fn(user, inst)) return false;
    if (!inst->parent) continue; /* removed */
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (!ir_walk(inst->u.ctrl.blocks[i], fn, user)) return false;
  }
  return true;
}

typedef struct replacement {
  ir_inst *from, *to;
} replacement;

static bool replace_in(void *user, ir_inst *inst) {
  replacement *r = user;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i] == r->from) inst->args[i] = r->to;
  return true;
}

void ir_replace_uses(ir_function *f, ir_inst *from, ir_inst *to) {
  if (f->body) ir_walk(f->body, replace_in, &(replacement){from, to});
}

static bool number_one(void *user, ir_inst *inst) {
  inst->id = (*(uint32_t *)user)++;
  return true;
}

uint32_t ir_number(ir_function *f) {
  uint32_t count = 0;
  if (f->body) ir_walk(f->body, number_one, &count);
  return count;
}

bool ir_has_effect(const ir_inst *inst) {
  switch (ir_op_table[inst->op].cls) {
    case IR_CLASS_MEM:
      return !(inst->op == IR_LOAD || inst->op == IR_VLOAD) || (inst->flags & IR_VOLATILE);
    case IR_CLASS_SYNC:
    case IR_CLASS_CTRL:
      return true;
    default:
      return false;
  }
}
