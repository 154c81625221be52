/* prepare.c - passes that this target asks for: what is not within OpenCL's limits is marked before it can't be told from the
 * library's, calls are inlined, structs by value are copied where they are written. */
#include <string.h>

#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"
#include "compiler/target/ptx/emit.h"

/* ---- Division ---- */

static bool loosen(void *user, ir_inst *inst) {
  (void)user;
  bool divides = inst->op == IR_FDIV || inst->op == IR_SQRT;
  if (divides && ir_elem_of(inst->type)->bits == 32) inst->flags |= PTX_LOOSE;
  return true;
}

/* Before the library is there, which counts on exact division. */
static void loosen_division(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body) (void)ir_walk(f->body, loosen, NULL);
}

/* ---- Structs by value ---- */

/* An entry's parameters can't be written, nor pointed into by an address of private memory. */
static void copy_struct(ir_module *m, ir_function *f, ir_param *p) {
  ir_var *own = ir_var_private(f, p->name ? p->name : "copy", p->type->elem);
  ir_replace_uses(f, p->value, own->address);
  ir_builder b = {.m = m, .f = f, .block = f->body, .before = f->body->first, .loc = f->loc};
  ir_copy(&b, own->address, p->value);
  if (!f->is_kernel) p->byval = false;
}

static void copy_structs(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    for (uint32_t i = 0; f->body && i < f->param_count; i++)
      if (f->params[i].byval) copy_struct(m, f, &f->params[i]);
}

/* ---- Inlining ---- */

static bool is_chosen(void *user, const ir_function *callee) {
  (void)user, (void)callee;
  return true;
}

qn_status ptx_prepare(ir_module *m, const qn_ptx_options *options) {
  if (!options->rounded_divide_sqrt) loosen_division(m);
  QN_TRY(pass_link(m));
  QN_TRY(pass_simplify(m));
  QN_TRY(pass_inline_chosen(m, is_chosen, NULL));
  copy_structs(m);
  if (m->failed) return walk_no_memory();
  QN_TRY(pass_simplify(m));
  return pass_layout(m);
}
