/* round_division.c - pass round_division: correctly rounded division and sqrt of f32 for targets that have inexact ones. In
 * f64 both are right after rounding twice: it has more than twice the digits (and two more). */
#include <string.h>

#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

typedef struct rounder {
  ir_builder b;
  ir_function *divide, *root; /* of the library; NULL: not asked for yet */
} rounder;

static bool is_inexact(const ir_inst *inst) {
  bool divides = inst->op == IR_FDIV || inst->op == IR_SQRT;
  return divides && ir_elem_of(inst->type)->bits == 32 && !(inst->flags & IR_FAST);
}

static ir_inst *in_double(rounder *r, ir_inst *inst) {
  ir_builder *b = &r->b;
  const ir_type *wide = ir_with_elem(b->m, inst->type, ir_float(b->m, 64));
  ir_inst *args[2] = {NULL, NULL};
  for (uint32_t i = 0; i < inst->arg_count; i++) args[i] = ir_conv(b, IR_FWIDEN, inst->args[i], wide);
  ir_inst *value = inst->op == IR_SQRT ? ir_un(b, IR_SQRT, args[0]) : ir_bin(b, IR_FDIV, args[0], args[1]);
  return ir_conv(b, IR_FNARROW, value, inst->type);
}

/* Declares the library's function at its first use. */
static ir_function *function_for(rounder *r, const ir_inst *inst) {
  ir_function **f = inst->op == IR_SQRT ? &r->root : &r->divide;
  if (*f) return *f;
  ir_module *m = r->b.m;
  const ir_type *real = ir_float(m, 32), *params[2] = {real, real};
  *f = ir_function_get(m, inst->op == IR_SQRT ? QN_SV("rounded_sqrt.f32") : QN_SV("rounded_divide.f32"));
  if (*f && !(*f)->params) ir_function_signature(*f, real, params, NULL, inst->arg_count);
  return *f;
}

static ir_inst *by_function(rounder *r, ir_inst *inst) {
  ir_builder *b = &r->b;
  ir_function *f = function_for(r, inst);
  ir_inst *lanes[16], *args[2] = {NULL, NULL};
  if (!f || b->m->failed) return inst;
  if (inst->type->kind != IR_VECTOR) return ir_call(b, f, inst->args, inst->arg_count);
  for (uint32_t i = 0; i < inst->type->count; i++) {
    for (uint32_t k = 0; k < inst->arg_count; k++) args[k] = ir_extract_at(b, inst->args[k], i);
    lanes[i] = ir_call(b, f, args, inst->arg_count);
  }
  return ir_vec(b, inst->type, lanes);
}

static void spell_out(rounder *r, ir_inst *inst) {
  ir_builder *b = &r->b;
  b->block = inst->parent;
  b->before = inst;
  b->loc = inst->loc;
  ir_inst *value = b->m->model.has_double ? in_double(r, inst) : by_function(r, inst);
  if (value->parent && !value->name) value->name = inst->name;
  inst->aux = value;
}

static void use_replacements(ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->parent && inst->args[i]->aux) inst->args[i] = inst->args[i]->aux;
}

static bool clear(void *user, ir_inst *inst) {
  (void)user;
  inst->aux = NULL;
  return true;
}

/* What was replaced has no use any more; pass simplify takes it away. */
static void round_function(rounder *r, ir_function *f) {
  r->b.f = f;
  ir_walk(f->body, clear, NULL);
  for (ir_inst *inst = f->body->first, *next; inst; inst = next) {
    next = ir_next_inst(inst);
    use_replacements(inst);
    if (is_inexact(inst)) spell_out(r, inst);
  }
}

/* Names of the library's functions have a dot, which no name of a source has. */
static bool is_of_library(const ir_function *f) { return strchr(f->name, '.') != NULL; }

static qn_status round_functions(ir_module *m, bool library_alone) {
  rounder r = {.b = {.m = m}};
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body && !m->failed && (!library_alone || is_of_library(f))) round_function(&r, f);
  return m->failed ? walk_no_memory() : QN_OK;
}

qn_status pass_round_division(ir_module *m) { return round_functions(m, false); }

qn_status pass_round_library_division(ir_module *m) { return round_functions(m, true); }
