/* unsign.c - pass unsign: signed operations on what can't be negative become the unsigned ones, which cost machines less and tell
 * compilers behind ours more. */
#include "compiler/pass/pass.h"
#include "compiler/pass/positive.h"

static bool unsign(void *user, ir_inst *inst) {
  static const ir_op unsigned_of[IR_OP_COUNT] = {
      [IR_SDIV] = IR_UDIV, [IR_SREM] = IR_UREM, [IR_SMIN] = IR_UMIN, [IR_SMAX] = IR_UMAX,
      [IR_SLT] = IR_ULT,   [IR_SLE] = IR_ULE,   [IR_ASHR] = IR_LSHR,
  };
  (void)user;
  ir_op op = unsigned_of[inst->op];
  if (op && is_positive(inst->args[0]) && (op == IR_LSHR || is_positive(inst->args[1]))) inst->op = op;
  return true;
}

qn_status pass_unsign(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->body) continue;
    positive_find(f);
    (void)ir_walk(f->body, unsign, NULL);
  }
  return QN_OK;
}
