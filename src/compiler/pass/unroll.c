/* unroll.c - passes unroll and unroll_partly. Loops that are counted by a variable from a known number on become copies of their
 * body, innermost first, where that is worth it: when they are short, or index private arrays, which then become values
 * (split_variables). Of other innermost loops a few trips become one, with what is left over in a loop behind. */
#include "base/status.h"
#include "compiler/pass/counted.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

enum {
  TRIPS = 32,            /* copies at most */
  TRIPS_INDEXED = 64,    /* the same when the loop indexes private memory by what it counts */
  COPIED = 2048,         /* instructions in all copies of a loop */
  COPIED_INDEXED = 8192, /* of such a loop */
  PARTLY = 400,          /* the same when a few trips become one */
  USUAL_TRIPS = 4,       /* that become one */
  MOST_TRIPS = 8
};

/* ---- Wholly ---- */

static bool unroll_wholly(ir_module *m, ir_function *f, ir_inst *loop, bool *changed) {
  counted c;
  if (!counted_find(loop, &c)) return true;
  uint32_t trips = counted_trips(m, &c, c.survey.is_indexed ? TRIPS_INDEXED : TRIPS);
  if (!trips || (uint64_t)trips * c.survey.size > (c.survey.is_indexed ? COPIED_INDEXED : COPIED)) return true;
  ir_builder b = {.m = m, .f = f, .block = loop->parent, .before = loop, .loc = loop->loc};
  for (uint32_t i = 0; i < trips; i++)
    if (!counted_copy(&b, &c, 0) || !counted_copy(&b, &c, 1)) return false;
  ir_inst_remove(loop);
  *changed = true;
  return true;
}

/* ---- Partly ---- */

/* A loop that goes on while its variable is below a limit and rises, or above one and falls, by a number each time. */
typedef struct course {
  ir_inst *limit;
  uint64_t step; /* its size */
  ir_op narrow;  /* what makes the limit nearer, without overflow */
  bool is_left;  /* the variable is the comparison's first operand */
} course;

static bool is_load(const ir_inst *x, const ir_var *var) {
  return x->parent && x->op == IR_LOAD && x->args[0] == var->address;
}

static bool find_course(const counted *c, course *out) {
  if (!c->guard || counted_until(c->loop->u.ctrl.blocks[1])) return false;
  bool stays_when_true = !c->guard->u.ctrl.blocks[0]->first;
  const ir_inst *compare = c->guard->args[0];
  int64_t step = counted_step(c);
  if (!stays_when_true || !compare->parent || (compare->op != IR_SLT && compare->op != IR_ULT)) return false;
  bool has_sign = compare->op == IR_SLT;
  out->is_left = is_load(compare->args[0], c->var);
  if (!out->is_left && !is_load(compare->args[1], c->var)) return false;
  out->limit = compare->args[out->is_left ? 1 : 0];
  out->narrow = out->is_left ? has_sign ? IR_SSUBSAT : IR_USUBSAT : has_sign ? IR_SADDSAT : IR_UADDSAT;
  out->step = (uint64_t)(out->is_left ? step : -step);
  return step && (out->is_left ? step > 0 : step < 0) && out->step < 1024 && counted_is_outside(out->limit, c->loop);
}

/* How many trips become one: a power of two. Where their number is known and leaves none over, more is only code. */
static uint32_t factor_of(const counted *c, uint64_t trips) {
  uint32_t factor = trips && trips % MOST_TRIPS == 0 ? MOST_TRIPS : USUAL_TRIPS;
  while (factor > 1 && factor * c->survey.size > PARTLY) factor /= 2;
  return factor;
}

/* The number of trips from a known start to a known limit; 0: not known. */
static uint64_t trips_of(const counted *c, const course *way) {
  const ir_inst *start = counted_start(c);
  if (!start || way->limit->op != IR_CONST || !way->is_left) return 0;
  uint32_t drop = 64 - way->limit->type->bits;
  int64_t from = (int64_t)(start->imm << drop) >> drop, to = (int64_t)(way->limit->imm << drop) >> drop;
  if (from < 0 || to <= from) return 0; /* else either sign gives the same */
  return ((uint64_t)(to - from) + way->step - 1) / way->step;
}

/* Leaves the loop where a trip after the others would. */
static void put_guard(ir_builder *b, const counted *c, const course *way, ir_inst *limit) {
  ir_inst *at = ir_load(b, c->var->address);
  ir_inst *goes_on =
      way->is_left ? ir_bin(b, c->guard->args[0]->op, at, limit) : ir_bin(b, c->guard->args[0]->op, limit, at);
  ir_inst *guard = ir_if(b, goes_on);
  ir_block *outer = ir_into(b, guard->u.ctrl.blocks[1]);
  ir_leave(b, IR_BREAK);
  ir_into(b, outer);
}

/* A loop of `factor` trips each time stands before the loop, which takes what is left over. */
static bool unroll_before(ir_module *m, ir_function *f, const counted *c, const course *way, uint32_t factor) {
  ir_builder b = {.m = m, .f = f, .block = c->loop->parent, .before = c->loop, .loc = c->loop->loc};
  ir_inst *others = ir_const_int(m, way->limit->type, (factor - 1) * way->step);
  ir_inst *limit = ir_bin(&b, way->narrow, way->limit, others), *loop = ir_loop(&b);
  if (m->failed) return false;
  ir_into(&b, loop->u.ctrl.blocks[0]);
  put_guard(&b, c, way, limit);
  for (uint32_t i = 0; i < factor; i++) {
    if (i && !counted_copy(&b, c, 1)) return false;
    if (!counted_copy(&b, c, 0)) return false;
  }
  ir_into(&b, loop->u.ctrl.blocks[1]);
  return counted_copy(&b, c, 1);
}

static bool unroll_some(ir_module *m, ir_function *f, ir_inst *loop, bool *changed) {
  counted c;
  course way;
  if (!counted_find(loop, &c) || c.survey.is_closed || !find_course(&c, &way)) return true;
  uint64_t trips = trips_of(&c, &way);
  uint32_t factor = factor_of(&c, trips);
  if (factor < 2 || (trips && trips < 2 * factor)) return true;
  if (!unroll_before(m, f, &c, &way, factor)) return false;
  if (trips && trips % factor == 0) ir_inst_remove(loop);
  *changed = true;
  return true;
}

/* ---- All ---- */

typedef bool (*unroller)(ir_module *m, ir_function *f, ir_inst *loop, bool *changed);

static bool unroll_block(ir_module *m, ir_function *f, ir_block *block, unroller unroll, bool *changed) {
  for (ir_inst *inst = block->first, *next; inst; inst = next) {
    next = inst->next;
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (!unroll_block(m, f, inst->u.ctrl.blocks[i], unroll, changed)) return false;
    if (inst->op == IR_LOOP && !unroll(m, f, inst, changed)) return false;
  }
  return true;
}

static qn_status unroll_functions(ir_module *m, unroller unroll, bool *changed) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->body) continue;
    counted_prepare(f);
    if (!unroll_block(m, f, f->body, unroll, changed) || m->failed) return walk_no_memory();
  }
  return QN_OK;
}

qn_status pass_unroll(ir_module *m, bool *changed) { return unroll_functions(m, unroll_wholly, changed); }

qn_status pass_unroll_partly(ir_module *m, bool *changed) { return unroll_functions(m, unroll_some, changed); }
