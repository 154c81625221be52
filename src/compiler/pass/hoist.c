/* hoist.c - pass hoist_common: what both arms of an if do first goes before it, so that it is done once. Nothing is computed or read that
 * wasn't: both arms did. */
#include "compiler/pass/pass.h"

enum { NEAR = 64 /* instructions of an arm that are looked at */ };

/* Values, and loads, which stand before all effects of their arm. */
static bool may_move(const ir_inst *inst) {
  ir_class cls = ir_op_table[inst->op].cls;
  if (cls >= IR_CLASS_UN && cls <= IR_CLASS_PURE) return true;
  return (inst->op == IR_LOAD || inst->op == IR_VLOAD) && !(inst->flags & IR_VOLATILE);
}

static bool is_same(const ir_inst *a, const ir_inst *b) {
  if (a->op != b->op || a->flags != b->flags || a->type != b->type || a->imm != b->imm) return false;
  if (a->arg_count != b->arg_count || a->op == IR_SHUFFLE) return false; /* its mask stands elsewhere */
  for (uint32_t i = 0; i < a->arg_count; i++)
    if (a->args[i] != b->args[i]) return false;
  return true;
}

static ir_inst *find_same(const ir_block *block, const ir_inst *wanted) {
  uint32_t seen = 0;
  for (ir_inst *inst = block->first; inst && seen < NEAR && !ir_has_effect(inst); inst = inst->next, seen++)
    if (is_same(inst, wanted)) return inst;
  return NULL;
}

/* Whether all operands are there before the if. */
static bool is_ready(const ir_inst *inst, const ir_block *arm) {
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->parent == arm) return false;
  return true;
}

static void hoist(ir_function *f, ir_inst *branch) {
  ir_block *then = branch->u.ctrl.blocks[0], *other = branch->u.ctrl.blocks[1];
  uint32_t seen = 0;
  for (ir_inst *inst = then->first, *next; inst && seen < NEAR && !ir_has_effect(inst); inst = next, seen++) {
    next = inst->next;
    ir_inst *same = may_move(inst) && is_ready(inst, then) ? find_same(other, inst) : NULL;
    if (!same) continue;
    ir_inst_move_before(inst, branch);
    ir_replace_uses(f, same, inst);
    ir_inst_remove(same);
  }
}

qn_status pass_hoist_common(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    for (ir_inst *inst = f->body ? f->body->first : NULL; inst; inst = ir_next_inst(inst))
      if (inst->op == IR_IF) hoist(f, inst);
  return QN_OK;
}
