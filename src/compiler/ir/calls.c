/* calls.c - the order of functions along calls. */
#include "compiler/ir/intern.h"

/* Depth first: a stack of functions, each with the instruction that is next. */
typedef struct call_walk {
  ir_function **functions, **order;
  ir_inst **at;
  uint32_t depth, done;
} call_walk;

static char new_mark, open_mark, done_mark; /* in aux of functions, by address */

/* A switch may hold thousands: none is searched for each. */
static uint32_t number_of(ir_block *block) {
  ir_block *const *blocks = block->owner->u.ctrl.blocks;
  uint32_t i = block->hint;
  if (i >= block->owner->u.ctrl.block_count || blocks[i] != block)
    for (i = 0; blocks[i] != block;) i++;
  block->hint = i;
  return i;
}

ir_inst *ir_next_inst(const ir_inst *inst) {
  for (uint32_t i = 0; i < ir_block_count(inst); i++)
    if (inst->u.ctrl.blocks[i]->first) return inst->u.ctrl.blocks[i]->first;
  while (!inst->next) {
    ir_block *block = inst->parent;
    const ir_inst *owner = block->owner;
    if (!owner) return NULL;
    for (uint32_t i = number_of(block) + 1; i < ir_block_count(owner); i++)
      if (owner->u.ctrl.blocks[i]->first) return owner->u.ctrl.blocks[i]->first;
    inst = owner;
  }
  return inst->next;
}

static void push(call_walk *w, ir_function *f) {
  f->aux = &open_mark;
  w->functions[w->depth] = f;
  w->at[w->depth++] = f->body ? f->body->first : NULL;
}

static void pop(call_walk *w) {
  ir_function *f = w->functions[--w->depth];
  f->aux = &done_mark;
  w->order[w->done++] = f;
}

/* False: `*out_again` calls itself. */
static bool walk(call_walk *w, ir_function *from, ir_function **out_again) {
  push(w, from);
  while (w->depth) {
    ir_inst *inst = w->at[w->depth - 1];
    if (!inst) {
      pop(w);
      continue;
    }
    w->at[w->depth - 1] = ir_next_inst(inst);
    if (inst->op != IR_CALL || inst->u.callee->aux == &done_mark) continue;
    if (inst->u.callee->aux == &open_mark) {
      *out_again = inst->u.callee;
      return false;
    }
    push(w, inst->u.callee);
  }
  return true;
}

bool ir_call_order(ir_module *m, ir_function ***out_functions, uint32_t *out_count, ir_function **out_again) {
  call_walk w = {0};
  uint32_t count = 0;
  *out_again = NULL;
  for (ir_function *f = m->functions; f; f = f->next, count++) f->aux = &new_mark;
  w.functions = ir_alloc_array(m, sizeof *w.functions, count);
  w.order = ir_alloc_array(m, sizeof *w.order, count);
  w.at = ir_alloc_array(m, sizeof *w.at, count);
  if (m->failed) return false;
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->aux == &new_mark && !walk(&w, f, out_again)) return false;
  *out_functions = w.order;
  *out_count = count;
  return true;
}
