/* bound.c - pass bound_loops: loops that count up by one below a limit say so in the plainest way, `i < end` without a sign, with an
 * `end` that stands before the loop. For targets whose text another compiler takes that has to see from it that a loop ends: WGSL's
 * count trips in all others, in 64 bits. */
#include "base/status.h"
#include "compiler/pass/counted.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/positive.h"
#include "compiler/pass/walk.h"

enum { DEPTH = 8 /* operations that a limit is made by within the loop */ };

typedef struct bounded bounded;
struct bounded {
  bounded *next;
  ir_inst *loop, *compare;
  ir_inst *start; /* a number; NULL: not known */
  ir_var *var;
};

typedef struct bounder {
  ir_module *m;
  ir_function *f;
  bounded *found;
} bounder;

static int64_t number_of(const ir_inst *x) {
  uint32_t drop = 64 - x->type->bits;
  return (int64_t)(x->imm << drop) >> drop;
}

/* ---- Which loops --------------------------------------------------------------------------------- */

static bool is_limited(const ir_inst *compare) {
  return compare->op == IR_SLT || compare->op == IR_SLE || compare->op == IR_ULT || compare->op == IR_ULE;
}

/* Goes on while the variable, as it is in this trip, is below a limit. */
static bool is_upward(const counted *c) {
  const ir_block *body = c->loop->u.ctrl.blocks[0];
  const ir_inst *compare = c->guard ? c->guard->args[0] : NULL;
  if (!compare || c->guard->u.ctrl.blocks[0]->first || counted_until(c->loop->u.ctrl.blocks[1])) return false;
  if (compare->parent != body || !is_limited(compare)) return false;
  const ir_inst *at = compare->args[0];
  return at->parent == body && at->op == IR_LOAD && at->args[0] == c->var->address && counted_step(c) == 1;
}

static bool note_loop(void *user, ir_inst *inst) {
  bounder *b = user;
  counted c;
  if (inst->op != IR_LOOP || !counted_look(inst, &c) || c.var->type->bits != 32 || !is_upward(&c)) return true;
  bounded *one = QN_ARENA_NEW(b->m->arena, bounded);
  if (!one) {
    b->m->failed = true;
    return false;
  }
  *one = (bounded){b->found, inst, c.guard->args[0], counted_start(&c), c.var};
  b->found = one;
  return true;
}

/* ---- Limits -------------------------------------------------------------------------------------- */

typedef struct store_search {
  const ir_inst *address;
  bool is_found;
} store_search;

static bool is_other_store(void *user, ir_inst *inst) {
  store_search *s = user;
  s->is_found |= (inst->op == IR_STORE || inst->op == IR_FRESH) && inst->args[0] == s->address;
  return !s->is_found;
}

static bool is_stored_in(const ir_inst *loop, const ir_inst *address) {
  store_search s = {address, false};
  for (uint32_t i = 0; i < ir_block_count(loop); i++) (void)ir_walk(loop->u.ctrl.blocks[i], is_other_store, &s);
  return s.is_found;
}

/* Whose address goes nowhere, so that only stores change it. */
typedef struct use_search {
  const ir_inst *address;
  bool is_elsewhere;
} use_search;

static bool is_other_use(void *user, ir_inst *inst) {
  use_search *s = user;
  bool is_direct = inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i] == s->address && (i || !is_direct)) s->is_elsewhere = true;
  return !s->is_elsewhere;
}

static bool is_known_load(const bounder *b, const ir_inst *loop, const ir_inst *x) {
  const ir_inst *address = x->args[0];
  if (x->op != IR_LOAD || (x->flags & IR_VOLATILE) || address->op != IR_ADDRESS || address->u.var->space != IR_PRIVATE)
    return false;
  use_search s = {address, false};
  (void)ir_walk(b->f->body, is_other_use, &s);
  return !s.is_elsewhere && !is_stored_in(loop, address);
}

/* Whether a value that the guard uses can be made before the loop. No operation fails. */
static bool may_go_before(const bounder *b, const ir_inst *loop, const ir_inst *x, int depth) {
  if (counted_is_outside(x, loop)) return true;
  if (x->parent != loop->u.ctrl.blocks[0] || depth == 0) return false;
  if (x->op == IR_LOAD) return is_known_load(b, loop, x);
  ir_class cls = ir_op_table[x->op].cls;
  if (cls < IR_CLASS_UN || cls > IR_CLASS_PURE) return false;
  for (uint32_t i = 0; i < x->arg_count; i++)
    if (!may_go_before(b, loop, x->args[i], depth - 1)) return false;
  return true;
}

static void put_before(ir_inst *loop, ir_inst *x) {
  if (counted_is_outside(x, loop)) return;
  for (uint32_t i = 0; i < x->arg_count; i++) put_before(loop, x->args[i]);
  ir_inst_move_before(x, loop);
}

/* A store of the start that stands right before the loop stays there: it is the head of a `for`. */
static void keep_start(const bounded *one, ir_inst *before) {
  if (before && before->op == IR_STORE && before->args[0] == one->var->address) ir_inst_move_before(before, one->loop);
}

/* ---- Counters from below zero -------------------------------------------------------------------- */

/* All stores to a variable: two, of which one is the step of its loop. */
typedef struct store_list {
  const bounded *one;
  ir_inst *first, *step;
  uint32_t others;
} store_list;

static bool note_store(void *user, ir_inst *inst) {
  store_list *s = user;
  if (inst->op != IR_STORE || inst->args[0] != s->one->var->address) return true;
  if (inst->parent == s->one->loop->u.ctrl.blocks[1])
    s->step = inst;
  else if (!s->first)
    s->first = inst;
  else
    s->others++;
  return true;
}

typedef struct shift {
  bounder *b;
  const bounded *one;
  const ir_inst *guard;
  ir_inst *less;
} shift;

static const ir_inst *guard_of(const bounded *one) {
  const ir_inst *inst = one->compare;
  while (inst->op != IR_IF) inst = inst->next;
  return inst;
}

/* Whether the guard alone uses the counter before the guard. */
static bool is_plain_guard(const bounded *one) {
  const ir_inst *count = one->compare->args[0];
  for (const ir_inst *inst = count->next; inst->op != IR_IF; inst = inst->next)
    for (uint32_t i = 0; i < inst->arg_count; i++)
      if (inst->args[i] == count && (inst != one->compare || i)) return false;
  return true;
}

/* A load has what it had, as a difference; the guard's has it behind the guard. */
static bool shift_load(void *user, ir_inst *inst) {
  const shift *s = user;
  bounder *b = s->b;
  if (inst->op != IR_LOAD || inst->args[0] != s->one->var->address || b->m->failed) return true;
  ir_inst *before = inst == s->one->compare->args[0] ? s->guard->next : inst->next;
  ir_builder at = {.m = b->m, .f = b->f, .block = inst->parent, .before = before, .loc = inst->loc};
  ir_inst *sum = ir_bin(&at, IR_SUB, inst, s->less);
  if (b->m->failed) return false;
  sum->flags |= IR_NSW;
  sum->name = inst->name;
  ir_replace_uses(b->f, inst, sum);
  sum->args[0] = inst;
  return true;
}

/* A counter from -4 up to 4 becomes one from 0 up to 8, and 4 less wherever it is used. */
static void count_from_zero(bounder *b, const bounded *one) {
  ir_inst *compare = one->compare, *limit = compare->args[1];
  bool is_signed = compare->op == IR_SLT || compare->op == IR_SLE;
  if (!is_signed || !one->start || number_of(one->start) >= 0 || limit->op != IR_CONST) return;
  int64_t end = number_of(limit) + (compare->op == IR_SLE) - number_of(one->start);
  store_list stores = {.one = one};
  (void)ir_walk(b->f->body, note_store, &stores);
  bool is_known = stores.first && stores.step && !stores.others;
  if (end <= 0 || end > INT32_MAX || !is_known || !is_plain_guard(one)) return;
  ir_inst *count = compare->args[0], *sum = stores.step->args[1], *stepped = sum->args[0];
  shift by = {b, one, guard_of(one), ir_const_int(b->m, limit->type, -one->start->imm)};
  (void)ir_walk(b->f->body, shift_load, &by);
  stores.first->args[1] = ir_const_int(b->m, limit->type, 0);
  sum->args[0] = stepped;
  compare->args[0] = count;
  compare->args[1] = ir_const_int(b->m, limit->type, (uint64_t)end);
  compare->op = IR_ULT;
}

/* ---- The comparison ------------------------------------------------------------------------------- */

/* The first number that ends the loop, as an unsigned one; NULL: none that is sure. */
static ir_inst *end_of(bounder *b, const bounded *one) {
  ir_inst *compare = one->compare, *limit = compare->args[1];
  ir_module *m = b->m;
  bool is_signed = compare->op == IR_SLT || compare->op == IR_SLE;
  bool takes_limit = compare->op == IR_SLE || compare->op == IR_ULE;
  if (is_signed && !is_positive_var(one->var)) return NULL;
  if (limit->op == IR_CONST) {
    uint64_t most = is_signed ? INT32_MAX : UINT32_MAX;
    if ((is_signed && number_of(limit) < 0) || (takes_limit && limit->imm == most)) return NULL;
    return takes_limit ? ir_const_int(m, limit->type, limit->imm + 1) : limit;
  }
  if (compare->op == IR_ULE || !may_go_before(b, one->loop, limit, DEPTH)) return NULL;
  bool is_sure = !is_signed || is_positive(limit);
  ir_inst *before = one->loop->prev;
  put_before(one->loop, limit);
  ir_builder at = {.m = m, .f = b->f, .block = one->loop->parent, .before = one->loop, .loc = compare->loc};
  if (!is_sure) limit = ir_bin(&at, IR_SMAX, limit, ir_const_int(m, limit->type, takes_limit ? UINT32_MAX : 0));
  if (takes_limit) limit = ir_bin(&at, IR_ADD, limit, ir_const_int(m, limit->type, 1));
  if (limit != compare->args[1] && limit->parent && !limit->name) limit->name = "end";
  keep_start(one, before);
  return limit;
}

static void bound(bounder *b, const bounded *one) {
  ir_inst *end = end_of(b, one);
  if (b->m->failed) return;
  if (!end) {
    count_from_zero(b, one);
    return;
  }
  one->compare->args[1] = end;
  one->compare->op = IR_ULT;
}

qn_status pass_bound_loops(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->body) continue;
    bounder b = {.m = m, .f = f};
    counted_prepare(f);
    (void)ir_walk(f->body, note_loop, &b);
    positive_find(f);
    for (const bounded *one = b.found; one && !m->failed; one = one->next) bound(&b, one);
  }
  return m->failed ? walk_no_memory() : QN_OK;
}
