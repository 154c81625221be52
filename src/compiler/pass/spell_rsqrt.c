/* spell_rsqrt.c - pass spell_rsqrt: 1 / sqrt(x), in two operations. */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

static ir_inst *one(ir_module *m, const ir_type *type) {
  ir_inst *scalar = ir_const_float(m, ir_elem_of(type), 1);
  return type->kind == IR_VECTOR ? ir_const_splat(m, type, scalar) : scalar;
}

/* The instruction itself becomes the division, so that its uses stay. */
static void spell_out(ir_builder *b, ir_inst *inst) {
  ir_inst **args = QN_ARENA_ARRAY(b->m->arena, ir_inst *, 2);
  b->block = inst->parent;
  b->before = inst;
  b->loc = inst->loc;
  b->fp_flags = inst->flags;
  ir_inst *root = ir_un(b, IR_SQRT, inst->args[0]);
  if (!args) {
    b->m->failed = true;
    return;
  }
  args[0] = one(b->m, inst->type);
  args[1] = root;
  inst->op = IR_FDIV;
  inst->args = args;
  inst->arg_count = 2;
}

/* Names of the library's functions have a dot, which no name of a source has. */
static bool is_of_library(const ir_function *f) { return strchr(f->name, '.') != NULL; }

static qn_status spell_in(ir_module *m, bool library_alone) {
  ir_builder b = {.m = m};
  for (ir_function *f = m->functions; f; f = f->next) {
    if (library_alone && !is_of_library(f)) continue;
    b.f = f;
    for (ir_inst *inst = f->body ? f->body->first : NULL; inst && !m->failed; inst = ir_next_inst(inst))
      if (inst->op == IR_RSQRT) spell_out(&b, inst);
  }
  return m->failed ? walk_no_memory() : QN_OK;
}

qn_status pass_spell_rsqrt(ir_module *m) { return spell_in(m, false); }
qn_status pass_spell_library_rsqrt(ir_module *m) { return spell_in(m, true); }
