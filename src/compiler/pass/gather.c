/* gather.c - pass gather_numbers: x + (y + 3) becomes (x + y) + 3, so that a number which is added to an index stands outermost, where a
 * target makes it the offset of an access, and neighbours share an address. Where no sum overflows the new one must not either:
 * x + y is at most x + y + 3, and it isn't below the smallest number when x or y is zero or more. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/positive.h"
#include "compiler/pass/walk.h"

static bool is_sum(const ir_inst *x) {
  return x->parent && x->op == IR_ADD && (x->flags & IR_NSW) && x->type->kind == IR_INT;
}

/* y + 3, of an operand. */
static bool ends_in_number(const ir_inst *x) {
  return is_sum(x) && x->args[1]->op == IR_CONST && is_positive(x->args[1]);
}

static bool gather(ir_function *f, ir_inst *inst, uint32_t which) {
  ir_inst *inner = inst->args[which], *other = inst->args[1 - which];
  if (!ends_in_number(inner) || other->op == IR_CONST) return false;
  ir_inst *first = inner->args[0];
  if (!is_positive(first) && !is_positive(other)) return false;
  ir_builder b = {.m = f->module, .f = f, .block = inst->parent, .before = inst, .loc = inst->loc};
  ir_inst *sum = ir_bin(&b, IR_ADD, which ? other : first, which ? first : other);
  if (f->module->failed) return false;
  sum->flags |= IR_NSW;
  sum->aux = is_positive(first) && is_positive(other) ? inst->aux : NULL;
  inst->args[0] = sum;
  inst->args[1] = inner->args[1];
  return true;
}

qn_status pass_gather_numbers(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->body) continue;
    positive_find(f);
    for (ir_inst *inst = f->body->first; inst && !m->failed; inst = ir_next_inst(inst))
      if (is_sum(inst) && !gather(f, inst, 0)) (void)gather(f, inst, 1);
  }
  return m->failed ? walk_no_memory() : QN_OK;
}
