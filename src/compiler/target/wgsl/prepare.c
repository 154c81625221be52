/* prepare.c - passes that this target asks for: structs by value are copied where they are written, pointers lead into one
 * memory in each function that stays one, wide vectors are split. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"
#include "compiler/target/wgsl/emit.h"
#include "compiler/target/wgsl/split.h"

/* ---- Structs by value ---- */

/* The callee's own copy, which the IR leaves to whoever has a place for it. */
static void copy_struct(ir_module *m, ir_function *f, ir_param *p) {
  ir_var *own = ir_var_private(f, p->name ? p->name : "copy", p->type->elem);
  ir_replace_uses(f, p->value, own->address);
  ir_builder b = {.m = m, .f = f, .block = f->body, .before = f->body->first, .loc = f->loc};
  ir_copy(&b, own->address, p->value);
  p->byval = false;
}

static void copy_structs(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    for (uint32_t i = 0; f->body && !f->is_kernel && i < f->param_count; i++)
      if (f->params[i].byval) copy_struct(m, f, &f->params[i]);
}

/* ---- Wide parameters of kernels ---- */

/* A value that is split comes as if it were a struct. */
static void pass_by_pointer(ir_module *m, ir_function *f, ir_param *p) {
  const ir_type *type = p->type;
  ir_builder b = {.m = m, .f = f, .block = f->body, .before = f->body->first, .loc = f->loc};
  ir_inst *load = ir_emit(&b, IR_LOAD, type, &p->value, 1);
  ir_replace_uses(f, p->value, load);
  load->args[0] = p->value;
  p->type = p->value->type = ir_pointer(m, IR_PRIVATE, type);
  p->byval = true;
}

static void pass_wide_by_pointer(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    for (uint32_t i = 0; f->body && f->is_kernel && i < f->param_count; i++)
      if (wgsl_piece_lanes(m, f->params[i].type)) pass_by_pointer(m, f, &f->params[i]);
}

/* ---- Sizes that are known ---- */

static bool know_size(void *user, ir_inst *inst) {
  ir_function *f = user;
  if (inst->op == IR_LOCAL_SIZE || inst->op == IR_ENQUEUED_SIZE)
    ir_replace_uses(f, inst, ir_const_int(f->module, inst->type, f->required_local[inst->imm]));
  return true;
}

static void know_sizes(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body && f->is_kernel && f->required_local[0]) ir_walk(f->body, know_size, f);
}

/* ---- Inlining ---- */

static bool is_chosen(void *user, const ir_function *callee) {
  return qn_map_get(user, qn_sv_from(callee->name)) != NULL;
}

static qn_status choose(ir_module *m, qn_map *chosen) {
  text_unit unit;
  wgsl_flow *flows;
  QN_TRY(text_unit_make(m, &unit));
  if (!wgsl_flows_find(&unit, &flows)) return walk_no_memory();
  for (uint32_t i = 0; i < unit.function_count; i++)
    if (flows[i].must_inline && !qn_map_set(chosen, qn_sv_from(unit.functions[i].f->name), unit.functions[i].f))
      return walk_no_memory();
  return QN_OK;
}

/* What is inlined may mix pointers of its caller; each time around at least one function goes. */
static qn_status inline_mixed(ir_module *m) {
  for (bool any = true, first = true; any; first = false) {
    qn_map chosen = {0};
    qn_status status = choose(m, &chosen);
    any = chosen.count > 0;
    if (status >= 0 && (any || first)) status = pass_inline_chosen(m, is_chosen, &chosen);
    if (status >= 0 && (any || first)) status = pass_simplify(m);
    qn_map_free(&chosen);
    QN_TRY(status);
  }
  return QN_OK;
}

/* ---- Conversions ---- */

static bool saturate(void *user, ir_inst *inst) {
  (void)user;
  if (inst->op == IR_FTOS || inst->op == IR_FTOU) inst->flags |= IR_SAT;
  return true;
}

/* Out of range any value would do, but WGSL's implementations take one each, and NaN as they like. Before the library is there, whose
 * conversions are within range. */
static void saturate_conversions(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body) (void)ir_walk(f->body, saturate, NULL);
}

/* What division is spelt out by is in the library too, which qn_prepare_text links. */
qn_status wgsl_prepare(ir_module *m, bool rounds) {
  saturate_conversions(m);
  QN_TRY(pass_link(m));
  QN_TRY(rounds ? pass_spell_rsqrt(m) : pass_spell_library_rsqrt(m));
  QN_TRY(rounds ? pass_round_division(m) : pass_round_library_division(m));
  QN_TRY(qn_prepare_text(m, true));
  copy_structs(m);
  pass_wide_by_pointer(m);
  know_sizes(m);
  if (m->failed) return walk_no_memory();
  QN_TRY(inline_mixed(m));
  QN_TRY(wgsl_split(m));
  QN_TRY(pass_simplify(m));
  QN_TRY(pass_hoist_common(m));
  QN_TRY(pass_unsign(m));
  QN_TRY(pass_bound_loops(m));
  QN_TRY(pass_simplify(m));
#ifndef NDEBUG
  QN_TRY(ir_verify(m));
#endif
  return QN_OK;
}
