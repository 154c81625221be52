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
  if (divides && ir_elem_of(inst->type)->bits == 32) inst->flags |= IR_FAST;
  return true;
}

/* Within OpenCL's limits. Before the library is there, which counts on exact division. */
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

/* ---- fmod ---- */

static ir_function *fmod_of(ir_module *m, const ir_type *real) {
  const ir_type *params[2] = {real, real};
  ir_function *f = ir_function_get(m, real->bits == 64 ? QN_SV("fmod.f64") : QN_SV("fmod.f32"));
  if (f && !f->params) ir_function_signature(f, real, params, NULL, 2);
  return f;
}

/* The library's, a lane at a time. Halves go by float: the result has no more digits than they. */
static ir_inst *call_fmod(ir_builder *b, const ir_inst *inst) {
  const ir_type *elem = ir_elem_of(inst->type), *real = elem->bits == 16 ? ir_float(b->m, 32) : elem;
  ir_function *f = fmod_of(b->m, real);
  ir_inst *lanes[PTX_LANES];
  if (!f) return NULL;
  for (uint32_t i = 0; i < ir_lanes_of(inst->type); i++) {
    ir_inst *args[2] = {inst->args[0], inst->args[1]};
    for (int k = 0; k < 2; k++) {
      if (inst->type->kind == IR_VECTOR) args[k] = ir_extract_at(b, args[k], i);
      if (real != elem) args[k] = ir_conv(b, IR_FWIDEN, args[k], real);
    }
    lanes[i] = ir_call(b, f, args, 2);
    if (real != elem) lanes[i] = ir_conv(b, IR_FNARROW, lanes[i], elem);
  }
  return inst->type->kind == IR_VECTOR ? ir_vec(b, inst->type, lanes) : lanes[0];
}

static void spell_fmod(ir_module *m, ir_function *f) {
  for (ir_inst *inst = f->body->first, *next; inst && !m->failed; inst = next) {
    next = ir_next_inst(inst);
    if (inst->op != IR_FREM) continue;
    ir_builder b = {.m = m, .f = f, .block = inst->parent, .before = inst, .loc = inst->loc};
    ir_inst *value = call_fmod(&b, inst);
    if (!value || m->failed) return;
    ir_replace_uses(f, inst, value);
    ir_inst_remove(inst);
  }
}

static void spell_fmods(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body) spell_fmod(m, f);
}

/* ---- Inlining ---- */

enum {
  SMALL = 60,     /* instructions of a function that is always worth a copy */
  LARGE = 400,    /* of one that isn't at each of several calls */
  COPIES = 4000,  /* of all copies of a function */
  PRIVATE = 20000 /* the same of one whose arguments would have to be in memory */
};

/* `aux` of a function. */
typedef struct facts {
  uint32_t size, calls; /* with what is inlined into it; how many calls of it there are */
  bool is_forced;       /* as a function it could not reach what it asks for */
  bool is_inlined;
} facts;

static facts *facts_of(const ir_function *f) { return f->aux; }

static bool asks_range(ir_op op) { return text_is_query(op) && op != IR_LOCAL_ID && op != IR_ENQUEUED_SIZE; }

static bool count_inst(void *user, ir_inst *inst) {
  facts *known = user;
  known->size++;
  known->is_forced |= asks_range(inst->op);
  if (inst->op != IR_CALL) return true;
  const facts *callee = facts_of(inst->u.callee);
  if (!callee || !callee->is_inlined) return true;
  known->size += callee->size;
  known->is_forced |= callee->is_forced;
  return true;
}

static bool count_call(void *user, ir_inst *inst) {
  (void)user;
  if (inst->op == IR_CALL && facts_of(inst->u.callee)) facts_of(inst->u.callee)->calls++;
  return true;
}

static bool takes_private(const ir_function *f) {
  for (uint32_t i = 0; i < f->param_count; i++)
    if (f->params[i].type->kind == IR_POINTER && f->params[i].type->space == IR_PRIVATE) return true;
  return false;
}

static void decide(const ir_function *f) {
  facts *known = facts_of(f);
  (void)ir_walk(f->body, count_inst, known);
  uint64_t copies = (uint64_t)known->size * known->calls;
  bool is_small = known->size <= SMALL || (known->size <= LARGE && copies <= COPIES);
  bool is_wanted = is_small || known->calls <= 1 || (takes_private(f) && copies <= PRIVATE);
  bool may_be = !f->is_kernel && !ptx_is_native(f->module, f);
  known->is_inlined = may_be && (known->is_forced || (is_wanted && !f->is_noinline));
}

static qn_status choose(ir_module *m, qn_map *chosen) {
  ir_function **order, *again;
  uint32_t count;
  if (!ir_call_order(m, &order, &count, &again))
    return again ? qn_error_set(QN_ERROR_INTERNAL, "function '%s' calls itself", again->name) : walk_no_memory();
  for (uint32_t i = 0; i < count; i++) {
    order[i]->aux = order[i]->body ? QN_ARENA_NEW(m->arena, facts) : NULL;
    if (order[i]->body && !order[i]->aux) return walk_no_memory();
  }
  for (uint32_t i = 0; i < count; i++)
    if (order[i]->body) (void)ir_walk(order[i]->body, count_call, NULL);
  for (uint32_t i = 0; i < count; i++) {
    if (!order[i]->body) continue;
    decide(order[i]);
    bool is_inlined = facts_of(order[i])->is_inlined;
    if (is_inlined && !qn_map_set(chosen, qn_sv_from(order[i]->name), order[i])) return walk_no_memory();
  }
  return QN_OK;
}

static bool is_chosen(void *user, const ir_function *callee) {
  return qn_map_get(user, qn_sv_from(callee->name)) != NULL;
}

static qn_status inline_calls(ir_module *m) {
  qn_map chosen = {0};
  qn_status status = choose(m, &chosen);
  if (status >= 0) status = pass_inline_chosen(m, is_chosen, &chosen);
  qn_map_free(&chosen);
  return status;
}

/* ---- Variables that are values ---- */

enum { ROUNDS = 3 /* of what unrolling makes known, which may let more be unrolled */ };

/* The first round splits what needs no loop to go. */
static qn_status make_values(ir_module *m, const qn_ptx_options *options) {
  bool changed = false;
  for (int round = 0; round < ROUNDS; round++) {
    changed = false;
    if (!options->opt_disable) QN_TRY(pass_unroll(m, &changed));
    QN_TRY(pass_check(m, "unroll"));
    if (round && !changed) break;
    if (changed) QN_TRY(pass_simplify(m));
    QN_TRY(pass_split_variables(m));
    QN_TRY(pass_check(m, "split_variables"));
    QN_TRY(pass_simplify(m));
  }
  if (options->opt_disable) return QN_OK;
  QN_TRY(pass_unroll_partly(m, &changed));
  QN_TRY(pass_check(m, "unroll_partly"));
  return changed ? pass_simplify(m) : QN_OK;
}

/* ---- All ---- */

qn_status ptx_prepare(ir_module *m, const qn_ptx_options *options) {
  if (!options->rounded_divide_sqrt) loosen_division(m);
  spell_fmods(m);
  ptx_choose_functions(m);
  if (m->failed) return walk_no_memory();
  QN_TRY(pass_link(m));
  ptx_take_natives(m);
  QN_TRY(pass_simplify(m));
  QN_TRY(inline_calls(m));
  copy_structs(m);
  if (m->failed) return walk_no_memory();
  QN_TRY(pass_simplify(m));
  QN_TRY(pass_check(m, "inline"));
  QN_TRY(make_values(m, options));
  QN_TRY(pass_hoist_common(m));
  QN_TRY(pass_check(m, "hoist_common"));
  QN_TRY(pass_unsign(m));
  QN_TRY(pass_check(m, "unsign"));
  QN_TRY(pass_gather_numbers(m));
  QN_TRY(pass_check(m, "gather_numbers"));
  QN_TRY(pass_divide_by_numbers(m));
  QN_TRY(pass_check(m, "divide_by_numbers"));
  return pass_layout(m);
}
