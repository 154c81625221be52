/* simplify.c - one walk forward: operands take the place of what they turned out to be, operations fold, loads of private
 * scalars take the value that was last stored where that is known, constant conditions choose their block. Then one walk
 * that counts uses, and what has none goes. Both until nothing changes. What no kernel reaches goes too.
 *
 * `aux` of an instruction: what replaces it. `aux` of a variable: its var_facts. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

/* What is known of a private variable whose address is used by load, store and fresh alone. */
typedef struct var_facts {
  ir_inst *value; /* what a load gives here; NULL: not known */
  bool is_plain;
  uint32_t loads;
} var_facts;

/* Facts that a block changed, to be put back behind it. */
typedef struct undo {
  var_facts *facts;
  ir_inst *value;
} undo;

typedef struct simplifier {
  ir_module *m;
  ir_function *f;
  undo *undos;
  uint32_t undo_count, undo_capacity;
  bool changed, failed;
} simplifier;

/* ---- Facts ---- */

static var_facts *facts_of(const ir_inst *address) {
  if (address->op != IR_ADDRESS || !address->u.var->function || address->u.var->space != IR_PRIVATE) return NULL;
  var_facts *facts = address->u.var->aux;
  return facts && facts->is_plain ? facts : NULL;
}

static void set_value(simplifier *s, var_facts *facts, ir_inst *value) {
  if (facts->value == value) return;
  if (s->undo_count == s->undo_capacity) {
    uint32_t capacity = s->undo_capacity ? s->undo_capacity * 2 : 64;
    undo *more = QN_ARENA_ARRAY(s->m->arena, undo, capacity);
    if (!more) {
      s->failed = true;
      facts->value = NULL;
      return;
    }
    for (uint32_t i = 0; i < s->undo_count; i++) more[i] = s->undos[i];
    s->undos = more;
    s->undo_capacity = capacity;
  }
  s->undos[s->undo_count++] = (undo){facts, facts->value};
  facts->value = value;
}

static void undo_to(simplifier *s, uint32_t mark) {
  while (s->undo_count > mark) {
    undo *u = &s->undos[--s->undo_count];
    u->facts->value = u->value;
  }
}

/* After a construct, or before a loop: what is stored within is not known. */
static bool forget_stored(void *user, ir_inst *inst) {
  if (inst->op != IR_STORE && inst->op != IR_FRESH) return true;
  var_facts *facts = facts_of(inst->args[0]);
  if (facts) set_value(user, facts, NULL);
  return true;
}

static void forget_all_stored_in(simplifier *s, ir_inst *inst) {
  for (uint32_t i = 0; i < ir_block_count(inst); i++) ir_walk(inst->u.ctrl.blocks[i], forget_stored, s);
}

static bool note_use(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *x = inst->args[i];
    if (x->op != IR_ADDRESS || x->u.var->space != IR_PRIVATE) continue;
    var_facts *facts = x->u.var->aux;
    bool direct = i == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
    if (!direct || (inst->flags & IR_VOLATILE)) facts->is_plain = false;
    facts->loads += inst->op == IR_LOAD || !direct;
  }
  inst->aux = NULL;
  return true;
}

static bool collect_facts(simplifier *s) {
  for (ir_var *v = s->f->vars; v; v = v->next) {
    var_facts *facts = QN_ARENA_NEW(s->m->arena, var_facts);
    if (!facts) return false;
    facts->is_plain = v->storage == IR_STORE_PLAIN && v->type->kind != IR_ARRAY && v->type->kind != IR_STRUCT;
    v->aux = facts;
  }
  ir_walk(s->f->body, note_use, NULL);
  return true;
}

/* ---- Forward ---- */

static void replace_operands(simplifier *s, ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_inst *x = inst->args[i];
    if (!x->parent || !x->aux) continue;
    while (x->parent && x->aux) x = x->aux;
    inst->args[i] = x;
    s->changed = true;
  }
}

/* What stands for `inst`; NULL: nothing but itself. */
static ir_inst *known_value(simplifier *s, ir_inst *inst) {
  if (inst->op == IR_LOAD) {
    var_facts *facts = facts_of(inst->args[0]);
    return facts ? facts->value : NULL;
  }
  if (inst->op == IR_SHUFFLE)
    return ir_fold_shuffle(s->m, inst->args[0], inst->args[1], inst->u.mask, inst->type->count);
  if (inst->op == IR_ELEM && inst->args[1]->op == IR_CONST && !inst->args[1]->imm) return inst->args[0];
  if (inst->op == IR_LOCAL_ID && s->f->required_local[inst->imm] == 1) return ir_zero(s->m, inst->type);
  if (inst->op >= IR_GLOBAL_ID && inst->op <= IR_WORK_DIM) return NULL;
  ir_class cls = ir_op_table[inst->op].cls;
  if (cls < IR_CLASS_UN || cls > IR_CLASS_PURE) return NULL;
  return ir_fold(s->m, inst->op, inst->flags, inst->type, inst->args, inst->arg_count);
}

static ir_inst *widened_bool(const ir_inst *x) {
  return x->parent && x->op == IR_ZEXT && x->args[0]->type->kind == IR_BOOL ? x->args[0] : NULL;
}

/* Bools that were made integers to be compared: C's == of two comparisons, and `if` of one that a variable holds. */
static void compare_bools(simplifier *s, ir_inst *inst) {
  if (inst->op != IR_EQ && inst->op != IR_NE) return;
  ir_inst *x = widened_bool(inst->args[0]), *y = widened_bool(inst->args[1]);
  bool is_number = inst->args[1]->op == IR_CONST && inst->args[1]->imm <= 1;
  if (!x || (!y && !is_number)) return;
  bool is_opposite = !y && inst->args[1]->imm == (inst->op == IR_NE);
  inst->args[0] = x;
  inst->args[1] = y ? y : ir_const_int(s->m, x->type, inst->args[1]->imm);
  s->changed = true;
  if (!is_opposite) return;
  inst->op = IR_NOT;
  inst->arg_count = 1;
}

/* What an addition or subtraction of a number adds, as a signed one; false: it is neither, or of vectors. */
static bool added_number(const ir_inst *x, int64_t *out) {
  if (!x->parent || (x->op != IR_ADD && x->op != IR_SUB)) return false;
  if (x->type->kind != IR_INT || x->args[1]->op != IR_CONST) return false;
  uint32_t drop = 64 - x->type->bits;
  int64_t number = (int64_t)(x->args[1]->imm << drop) >> drop;
  if (number == INT64_MIN) return false;
  *out = x->op == IR_ADD ? number : -number;
  return true;
}

/* So does its opposite. */
static bool fits(const ir_type *type, int64_t number) {
  uint32_t drop = 64 - type->bits;
  return (int64_t)((uint64_t)number << drop) >> drop == number && number != INT64_MIN >> drop;
}

/* x + 3 - 4 is x - 1. Where neither sum overflows the new one doesn't: it lies between x and the last. */
static void join_additions(simplifier *s, ir_inst *inst) {
  int64_t first, second, both;
  if (!added_number(inst, &second) || !added_number(inst->args[0], &first)) return;
  if (__builtin_add_overflow(first, second, &both) || !fits(inst->type, both)) return;
  inst->flags &= inst->args[0]->flags | ~(uint32_t)IR_NSW;
  inst->op = both < 0 ? IR_SUB : IR_ADD;
  inst->args[1] = ir_const_int(s->m, inst->type, both < 0 ? -(uint64_t)both : (uint64_t)both);
  inst->args[0] = inst->args[0]->args[0];
  s->changed = true;
}

static void learn(simplifier *s, ir_inst *inst) {
  if (inst->op != IR_STORE && inst->op != IR_LOAD && inst->op != IR_FRESH) return;
  var_facts *facts = facts_of(inst->args[0]);
  if (!facts) return;
  if (inst->op == IR_STORE && inst->args[1]->parent && !inst->args[1]->name)
    inst->args[1]->name = inst->args[0]->u.var->name;
  set_value(s, facts, inst->op == IR_STORE ? inst->args[1] : inst->op == IR_LOAD ? inst : NULL);
}

static void walk_block(simplifier *s, ir_block *block);

/* A loop's blocks start with nothing known of what it stores; others with what is known before. */
static void walk_inner(simplifier *s, ir_inst *inst) {
  uint32_t mark = s->undo_count;
  if (inst->op == IR_LOOP) forget_all_stored_in(s, inst);
  uint32_t inner = s->undo_count;
  for (uint32_t i = 0; i < ir_block_count(inst); i++) {
    walk_block(s, inst->u.ctrl.blocks[i]);
    undo_to(s, inner);
  }
  undo_to(s, mark);
  forget_all_stored_in(s, inst);
}

static void drop_after(simplifier *s, ir_inst *last) {
  while (last->next) {
    ir_inst_remove(last->next);
    s->changed = true;
  }
}

/* Moves a block's instructions to before `where`. */
static void splice(ir_block *block, ir_inst *where) {
  while (block->first) ir_inst_move_before(block->first, where);
}

/* The block that a constant condition chooses; NULL: not constant. */
static ir_block *chosen_block(const ir_inst *inst) {
  if (inst->op != IR_IF && inst->op != IR_SWITCH) return NULL;
  ir_block **blocks = inst->u.ctrl.blocks;
  uint32_t count = inst->u.ctrl.block_count;
  if (inst->op == IR_SWITCH && count == 1) return blocks[0];
  if (inst->args[0]->op != IR_CONST) return NULL;
  if (inst->op == IR_IF) return blocks[inst->args[0]->imm ? 0 : 1];
  uint32_t i = 0;
  while (i + 1 < count && inst->u.ctrl.cases[i] != inst->args[0]->imm) i++;
  return blocks[i];
}

/* A break that a block would reach at its end does nothing there. */
static void drop_tail_breaks(ir_block *block) {
  ir_inst *last = block->last;
  if (!last) return;
  if (last->op == IR_BREAK) {
    ir_inst_remove(last);
    drop_tail_breaks(block);
  } else if (last->op == IR_IF) {
    drop_tail_breaks(last->u.ctrl.blocks[0]);
    drop_tail_breaks(last->u.ctrl.blocks[1]);
  }
}

/* Whether a break in the block leaves what holds it. */
static bool has_own_break(const ir_block *block) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_BREAK) return true;
    if (inst->op != IR_IF && inst->op != IR_REGION) continue;
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (has_own_break(inst->u.ctrl.blocks[i])) return true;
  }
  return false;
}

/* `if c { ...; break } rest` is `if c { ... } else { rest }` where the break leads to the end of `rest`; `limit` bounds how
 * deep that nests. */
static void nest_breaks(ir_block *block, int limit) {
  for (ir_inst *inst = block->first; inst && limit; inst = inst->next) {
    if (inst->op != IR_IF || !inst->next) continue;
    ir_block **arms = inst->u.ctrl.blocks;
    bool first = arms[0]->last && arms[0]->last->op == IR_BREAK;
    bool second = arms[1]->last && arms[1]->last->op == IR_BREAK;
    ir_block *rest = first ? arms[1] : arms[0];
    if (first == second || ir_block_ends(rest)) continue;
    while (inst->next) {
      ir_inst *moved = inst->next;
      ir_inst_remove(moved);
      ir_inst_append(rest, moved);
    }
    nest_breaks(rest, limit - 1);
  }
}

/* A switch that stays holds only the block that is chosen. */
static void keep_only(simplifier *s, ir_inst *inst, ir_block *block) {
  if (inst->u.ctrl.block_count == 1) return;
  inst->u.ctrl.blocks[0] = block;
  inst->u.ctrl.block_count = 1;
  s->changed = true;
}

/* Puts the chosen block in the place of the construct: the instruction that is next; NULL: the construct stays. */
static bool resolve(simplifier *s, ir_inst *inst, ir_inst **next) {
  ir_block *block = chosen_block(inst);
  if (!block) return false;
  if (inst->op == IR_SWITCH) {
    nest_breaks(block, 16);
    drop_tail_breaks(block);
    if (has_own_break(block)) {
      keep_only(s, inst, block);
      return false;
    }
  }
  *next = block->first ? block->first : inst->next;
  bool ends = ir_block_ends(block);
  splice(block, inst);
  if (ends) drop_after(s, inst);
  ir_inst_remove(inst);
  s->changed = true;
  return true;
}

/* An if or region that does nothing. */
static bool is_empty(const ir_inst *inst) {
  if (inst->op == IR_REGION) return !inst->u.ctrl.blocks[0]->first;
  return inst->op == IR_IF && !inst->u.ctrl.blocks[0]->first && !inst->u.ctrl.blocks[1]->first;
}

static void walk_block(simplifier *s, ir_block *block) {
  for (ir_inst *inst = block->first, *next; inst; inst = next) {
    next = inst->next;
    replace_operands(s, inst);
    compare_bools(s, inst);
    join_additions(s, inst);
    ir_inst *value = known_value(s, inst);
    if (value && value != inst) {
      inst->aux = value;
      s->changed = true;
      continue;
    }
    if (resolve(s, inst, &next)) continue;
    learn(s, inst);
    if (ir_block_count(inst)) walk_inner(s, inst);
    if (!is_empty(inst)) continue;
    ir_inst_remove(inst);
    s->changed = true;
  }
}

/* ---- What has no use ---- */

static bool count_uses(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->parent) inst->args[i]->id++;
  return true;
}

static bool clear_count(void *user, ir_inst *inst) {
  (void)user;
  inst->id = 0;
  return true;
}

static bool is_dead_store(const ir_inst *inst) {
  if (inst->op != IR_STORE && inst->op != IR_FRESH) return false;
  const var_facts *facts =
      inst->args[0]->op == IR_ADDRESS && inst->args[0]->u.var->space == IR_PRIVATE ? inst->args[0]->u.var->aux : NULL;
  return facts && !facts->loads && !(inst->flags & IR_VOLATILE);
}

static void drop_dead(simplifier *s, ir_block *block) {
  for (ir_inst *inst = block->last, *before; inst; inst = before) {
    before = inst->prev;
    for (uint32_t i = ir_block_count(inst); i; i--) drop_dead(s, inst->u.ctrl.blocks[i - 1]);
    if (inst->id || (ir_has_effect(inst) && !is_dead_store(inst))) continue;
    for (uint32_t i = 0; i < inst->arg_count; i++)
      if (inst->args[i]->parent) inst->args[i]->id--;
    ir_inst_remove(inst);
    s->changed = true;
  }
}

static bool mark_var(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->op == IR_ADDRESS) inst->args[i]->u.var->aux = inst;
  return true;
}

static void drop_unused_vars(ir_function *f) {
  for (ir_var *v = f->vars; v; v = v->next) v->aux = NULL;
  for (ir_var *v = f->locals; v; v = v->next) v->aux = NULL;
  ir_walk(f->body, mark_var, NULL);
  walk_drop_vars(&f->vars, &f->last_var);
  walk_drop_vars(&f->locals, &f->last_local);
}

static qn_status simplify_function(ir_module *m, ir_function *f) {
  simplifier s = {.m = m, .f = f, .changed = true};
  for (int round = 0; s.changed && round < 8; round++) {
    s.changed = false;
    if (!collect_facts(&s)) s.failed = true;
    if (s.failed) return walk_no_memory();
    walk_block(&s, f->body);
    undo_to(&s, 0);
    ir_walk(f->body, clear_count, NULL);
    ir_walk(f->body, count_uses, NULL);
    drop_dead(&s, f->body);
  }
  if (s.failed || m->failed) return walk_no_memory();
  drop_unused_vars(f);
  return QN_OK;
}

qn_status pass_simplify(ir_module *m) {
  walk_drop_unreached(m);
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body) QN_TRY(simplify_function(m, f));
  walk_drop_unreached(m);
  return QN_OK;
}
