/* control.c - structured control flow as labels and branches. */
#include <inttypes.h>
#include <stdlib.h>

#include "compiler/target/ptx/emit.h"

/* Where break and continue go. */
typedef struct targets {
  uint32_t leave, next;
} targets;

static void put_block(emitter *e, const ir_block *block, targets where);

static void put_label(emitter *e, uint32_t label) { putf(e, "$L%" PRIu32 ":\n", label); }
static void put_branch(emitter *e, uint32_t label) { putf(e, "  bra $L%" PRIu32 ";\n", label); }

static void put_branch_if(emitter *e, ptx_ref condition, bool wanted, uint32_t label) {
  if (condition.kind == PTX_NUMBER) {
    if ((condition.bits != 0) == wanted) put_branch(e, label);
    return;
  }
  putf(e, "  @%s%%p%" PRIu32 " bra $L%" PRIu32 ";\n", wanted ? "" : "!", condition.number, label);
}

/* ---- if ---- */

/* Nothing but a jump: its label, which the condition takes at once. */
static bool only_jumps(const ir_block *block, targets where, uint32_t *out) {
  const ir_inst *inst = block->first;
  if (!inst || inst->next || (inst->op != IR_BREAK && inst->op != IR_CONTINUE)) return false;
  *out = inst->op == IR_BREAK ? where.leave : where.next;
  return true;
}

static void put_if(emitter *e, const ir_inst *inst, targets where) {
  const ir_block *yes = inst->u.ctrl.blocks[0], *no = inst->u.ctrl.blocks[1];
  ptx_ref condition = ptx_operand(e, inst->args[0], 0);
  uint32_t label;
  if (only_jumps(yes, where, &label)) {
    put_branch_if(e, condition, true, label);
    put_block(e, no, where);
  } else if (only_jumps(no, where, &label)) {
    put_branch_if(e, condition, false, label);
    put_block(e, yes, where);
  } else {
    uint32_t otherwise = e->labels++, end = otherwise;
    put_branch_if(e, condition, false, otherwise);
    put_block(e, yes, where);
    if (no->first) {
      end = e->labels++;
      if (!ir_block_ends(yes)) put_branch(e, end);
      put_label(e, otherwise);
      put_block(e, no, where);
    }
    put_label(e, end);
  }
}

/* ---- loop ---- */

static void put_loop(emitter *e, const ir_inst *inst) {
  const ir_block *body = inst->u.ctrl.blocks[0], *step = inst->u.ctrl.blocks[1];
  uint32_t head = e->labels++;
  targets inner = {.leave = e->labels++, .next = e->labels++};
  put_label(e, head);
  put_block(e, body, inner);
  put_label(e, inner.next);
  put_block(e, step, inner);
  put_branch(e, head);
  put_label(e, inner.leave);
}

/* ---- switch ---- */

enum { COMPARED = 6 /* cases that are compared one after the other; more are halved */ };

typedef struct choice {
  uint64_t value;
  uint32_t label;
} choice;

static int by_value(const void *a, const void *b) {
  const choice *x = a, *y = b;
  return x->value < y->value ? -1 : x->value > y->value;
}

static void put_search(emitter *e, ptx_ref value, const choice *choices, uint32_t count, uint32_t otherwise) {
  ptx_bank bank = (ptx_bank)value.bank;
  if (count > COMPARED) {
    uint32_t half = count / 2, label = e->labels++;
    ptx_ref is_above = ptx_made2(e, "setp.ge", bank == PTX_64 ? ".u64" : ".u32", PTX_PRED, value,
                                 ptx_number(bank, choices[half].value));
    put_branch_if(e, is_above, true, label);
    put_search(e, value, choices, half, otherwise);
    put_label(e, label);
    put_search(e, value, choices + half, count - half, otherwise);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    ptx_ref is_it =
        ptx_made2(e, "setp.eq", bank == PTX_64 ? ".s64" : ".s32", PTX_PRED, value, ptx_number(bank, choices[i].value));
    put_branch_if(e, is_it, true, choices[i].label);
  }
  put_branch(e, otherwise);
}

static void put_switch(emitter *e, const ir_inst *inst, targets outer) {
  uint32_t count = inst->u.ctrl.block_count, first = e->labels;
  choice *choices = QN_ARENA_ARRAY(e->arena, choice, count);
  e->labels += count + 1;
  targets inner = {.leave = first + count, .next = outer.next};
  if (!choices) {
    e->failed = true;
    return;
  }
  for (uint32_t i = 0; i + 1 < count; i++) choices[i] = (choice){inst->u.ctrl.cases[i], first + i};
  qsort(choices, count - 1, sizeof *choices, by_value);
  if (count > 1)
    put_search(e, ptx_in_register(e, ptx_operand(e, inst->args[0], 0)), choices, count - 1, first + count - 1);
  for (uint32_t i = 0; i < count; i++) {
    const ir_block *block = inst->u.ctrl.blocks[i];
    put_label(e, first + i);
    put_block(e, block, inner);
    if (i + 1 < count && !ir_block_ends(block)) put_branch(e, inner.leave);
  }
  put_label(e, inner.leave);
}

/* ---- Instructions ---- */

static void put_control(emitter *e, const ir_inst *inst, targets where) {
  switch (inst->op) {
    case IR_IF:
      put_if(e, inst, where);
      return;
    case IR_LOOP:
      put_loop(e, inst);
      return;
    case IR_SWITCH:
      put_switch(e, inst, where);
      return;
    case IR_BREAK:
      put_branch(e, where.leave);
      return;
    case IR_CONTINUE:
      put_branch(e, where.next);
      return;
    case IR_BREAK_IF:
      put_branch_if(e, ptx_operand(e, inst->args[0], 0), true, where.leave);
      return;
    case IR_RETURN:
      ptx_put_return(e, inst);
      return;
    case IR_TRAP:
      put(e, "  trap;\n");
      return;
    default:
      ptx_refuse(e, inst, "'%s'", ir_op_table[inst->op].text);
  }
}

static void put_memory(emitter *e, const ir_inst *inst) {
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
      ptx_put_load(e, inst);
      return;
    case IR_STORE:
    case IR_VSTORE:
      ptx_put_store(e, inst);
      return;
    case IR_COPY:
      ptx_put_copy(e, inst);
      return;
    case IR_CALL:
      ptx_put_call(e, inst);
      return;
    default: /* FRESH: nothing */
      return;
  }
}

bool ptx_is_left_out(const emitter *e, const ir_inst *inst) {
  ir_class cls = ir_op_table[inst->op].cls;
  return cls >= IR_CLASS_UN && cls <= IR_CLASS_PURE && !e->used[inst->id - e->function->first];
}

static void put_inst(emitter *e, const ir_inst *inst, targets where) {
  if (ptx_is_left_out(e, inst)) return;
  switch (ir_op_table[inst->op].cls) {
    case IR_CLASS_PURE:
      if (text_is_query(inst->op))
        ptx_put_query(e, inst);
      else if (inst->op >= IR_ELEM && inst->op <= IR_PDIFF)
        ptx_put_pointer_op(e, inst);
      else
        ptx_put_value(e, inst);
      return;
    case IR_CLASS_MEM:
      put_memory(e, inst);
      return;
    case IR_CLASS_SYNC:
      if (inst->op == IR_BARRIER)
        put(e, "  bar.sync 0;\n");
      else if (inst->op == IR_FENCE)
        ptx_put_fence(e, inst);
      else
        ptx_put_atomic(e, inst);
      return;
    case IR_CLASS_CTRL:
      put_control(e, inst, where);
      return;
    default:
      if (inst->op == IR_BITCAST)
        ptx_put_value(e, inst);
      else
        ptx_put_component_wise(e, inst);
  }
}

static void put_block(emitter *e, const ir_block *block, targets where) {
  for (const ir_inst *inst = block->first; inst && !e->failed; inst = inst->next) put_inst(e, inst, where);
}

void ptx_put_block(emitter *e, const ir_block *block) { put_block(e, block, (targets){0}); }
