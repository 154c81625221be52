#include "compiler/target/text/flow.h"

enum { HEAD_STATEMENTS = 3 };

static bool shows(const text_scopes *s, const ir_inst *inst) {
  return text_is_written_down(s->plan, inst) || text_scopes_at(s, inst);
}

static const ir_inst *first_shown(const text_scopes *s, const ir_inst *inst) {
  while (inst && !shows(s, inst)) inst = inst->next;
  return inst;
}

const ir_inst *text_next(const text_scopes *s, const ir_inst *inst) { return first_shown(s, inst->next); }

bool text_is_empty(const text_scopes *s, const ir_block *block) { return !first_shown(s, block->first); }

static const ir_inst *only_one(const text_scopes *s, const ir_block *block) {
  const ir_inst *inst = first_shown(s, block->first);
  return inst && !text_scopes_at(s, inst) && !text_next(s, inst) ? inst : NULL;
}

const ir_inst *text_only_if(const text_scopes *s, const ir_block *block) {
  const ir_inst *inst = only_one(s, block);
  return inst && inst->op == IR_IF ? inst : NULL;
}

static bool only_breaks(const text_scopes *s, const ir_block *block) {
  const ir_inst *inst = only_one(s, block);
  return inst && inst->op == IR_BREAK;
}

static void find_guard(const text_scopes *s, const ir_block *body, text_shape *shape) {
  const ir_inst *inst = first_shown(s, body->first);
  if (!inst || inst->op != IR_IF || text_scopes_at(s, inst)) return;
  ir_block *const *arms = inst->u.ctrl.blocks;
  if (text_is_empty(s, arms[0]) && only_breaks(s, arms[1]))
    shape->guard_stays = true;
  else if (!only_breaks(s, arms[0]) || !text_is_empty(s, arms[1]))
    return;
  shape->guard = inst;
}

static bool fits_head(const text_scopes *s, const ir_block *block) {
  int count = 0;
  for (const ir_inst *inst = first_shown(s, block->first); inst; inst = text_next(s, inst)) {
    if (inst->op != IR_STORE || text_scopes_at(s, inst) || ++count > HEAD_STATEMENTS) return false;
  }
  return true;
}

static text_step find_step(const text_scopes *s, const ir_inst *loop, const text_shape *shape) {
  if (loop->u.ctrl.block_count < 2 || text_is_empty(s, loop->u.ctrl.blocks[1])) return TEXT_STEP_NONE;
  const ir_block *step = loop->u.ctrl.blocks[1];
  const ir_inst *only = only_one(s, step);
  if (only && only->op == IR_BREAK_IF && !shape->guard) return TEXT_STEP_UNTIL;
  if (fits_head(s, step)) return TEXT_STEP_HEAD;
  return text_planned_of(s->plan, loop)->continues ? TEXT_STEP_FLAG : TEXT_STEP_END;
}

text_shape text_shape_of(const text_scopes *s, const ir_inst *loop) {
  text_shape shape = {0};
  find_guard(s, loop->u.ctrl.blocks[0], &shape);
  shape.step = find_step(s, loop, &shape);
  return shape;
}

const ir_inst *text_counted_loop(const text_scopes *s, const text_scope *scope, const ir_inst *store) {
  const ir_inst *next = text_next(s, store);
  return next && next->op == IR_LOOP && next == scope->last && !text_scopes_at(s, next) ? next : NULL;
}
