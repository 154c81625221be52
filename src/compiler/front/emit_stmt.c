#include "compiler/front/emit.h"

static void statement(front *f, front_stmt *s);

static bool is_ended(const front *f) { return ir_block_ends(f->b.block); }

/* What follows a jump in a list is never reached. */
void front_emit_list(front *f, front_stmt *s, const front_stmt *end) {
  for (; s != end && !is_ended(f) && !f->m->failed; s = s->next) statement(f, s);
}

/* Emits into an instruction's block. */
static void into(front *f, ir_inst *inst, uint32_t index, front_stmt *body) {
  if (f->m->failed) return;
  ir_block *outside = ir_into(&f->b, inst->u.ctrl.blocks[index]);
  front_emit_list(f, body, NULL);
  ir_into(&f->b, outside);
}

/* ---- Declarations
 * ------------------------------------------------------------------------------------------------------ */

/* Whether the initial value is all there ever is: then the variable needs no memory. */
static bool is_value_only(const front_object *object) {
  return !object->is_assigned && !object->in_switch && object->init != NULL && object->init->value != NULL &&
         !front_is_aggregate(object->type) && !(object->type->quals & FRONT_VOLATILE);
}

static bool is_in_loop(const front *f) {
  for (const ir_inst *owner = f->b.block->owner; owner != NULL; owner = owner->parent->owner)
    if (owner->op == IR_LOOP) return true;
  return false;
}

/* A variable in a loop's body is a new one each time around: passes need not keep what it held. A scalar with an initial
 * value is stored anyway. */
static void fresh_variable(front *f, front_object *object) {
  if (!is_in_loop(f) || (object->init != NULL && !front_is_aggregate(object->type))) return;
  object->var = front_temporary(f, qn_arena_copy(f->arena, object->name), object->type);
  object->var->align = object->align;
  (void)ir_fresh(&f->b, object->var);
}

/* For targets that are read. */
static void name_value(front *f, front_object *object) {
  if (object->value->parent != NULL && object->value->name == NULL)
    object->value->name = qn_arena_copy(f->arena, object->name);
}

static void declaration(front *f, front_object *object) {
  if (object->kind == OBJECT_CONSTANT) return;
  object->value = NULL;
  object->var = NULL;
  if (object->kind == OBJECT_LOCAL) return; /* made at the first use */
  f->b.loc = object->loc;
  fresh_variable(f, object);
  if (object->init == NULL) return; /* made at the first use */
  if (is_value_only(object)) {
    object->value = front_emit_value(f, object->init->value);
    name_value(f, object);
    return;
  }
  if (object->var == NULL) {
    object->var = front_temporary(f, qn_arena_copy(f->arena, object->name), object->type);
    object->var->align = object->align;
  }
  front_emit_init(f, object->init, object->var->address);
}

/* ---- Selection
 * ----------------------------------------------------------------------------------------------------------- */

/* A longer chain of else-ifs is cut, so that blocks don't nest as deep as it is long. */
enum { LINKS_IN_ELSE = 16 };

/* Emits at most so many links of a chain, each in the else of the one before, and leaves the builder in the last else, if
 * it comes to that. What is left of the chain: NULL, or the next link. */
static front_stmt *emit_links(front *f, front_stmt *s) {
  for (int i = 0; s != NULL && s->kind == STMT_IF && !f->m->failed; s = s->other) {
    if (i == LINKS_IN_ELSE) return s;
    ir_inst *condition = front_emit_truth(f, s->expr);
    if (condition->op == IR_CONST && condition->imm == 0) continue;
    if (condition->op == IR_CONST) break;
    f->b.loc = s->loc;
    ir_inst *branch = ir_if(&f->b, condition);
    into(f, branch, 0, s->body);
    if (s->other == NULL || f->m->failed) return NULL;
    ir_into(&f->b, branch->u.ctrl.blocks[1]);
    i++;
  }
  if (s != NULL && !f->m->failed) statement(f, s->kind == STMT_IF ? s->body : s);
  return NULL;
}

static bool is_long_chain(const front_stmt *s) {
  int links = 0;
  while (s != NULL && s->kind == STMT_IF && links <= LINKS_IN_ELSE) s = s->other, links++;
  return links > LINKS_IN_ELSE;
}

static void store_truth(front *f, const ir_var *var, bool value) {
  (void)ir_store(&f->b, var->address, ir_const_int(f->m, var->type, value));
}

/* Piece after piece, with a variable that says whether it comes to the next:
 *   rest = false; if (a) A else if (b) B ... else rest = true;  if (rest) { rest = false; if (c) C ... } */
static void long_chain(front *f, front_stmt *s) {
  ir_block *outside = f->b.block;
  ir_var *rest = ir_var_private(f->b.f, "rest", ir_bool(f->m));
  while (!f->m->failed) {
    store_truth(f, rest, false);
    s = emit_links(f, s);
    if (s != NULL) store_truth(f, rest, true);
    ir_into(&f->b, outside);
    if (s == NULL || f->m->failed) return;
    ir_inst *branch = ir_if(&f->b, ir_load(&f->b, rest->address));
    ir_into(&f->b, branch->u.ctrl.blocks[0]);
  }
  ir_into(&f->b, outside);
}

static void if_statement(front *f, front_stmt *s) {
  if (is_long_chain(s)) {
    long_chain(f, s);
    return;
  }
  ir_block *outside = f->b.block;
  (void)emit_links(f, s);
  ir_into(&f->b, outside);
}

/* ---- Loops
 * ------------------------------------------------------------------------------------------------------------------ */

/* if (condition) {} else break; */
static void leave_unless(front *f, ir_inst *condition) {
  ir_inst *branch = ir_if(&f->b, condition);
  if (f->m->failed) return;
  ir_block *outside = ir_into(&f->b, branch->u.ctrl.blocks[1]);
  (void)ir_leave(&f->b, IR_BREAK);
  ir_into(&f->b, outside);
}

/* for and while: the condition stands at the start of the body, the step in the continue block. */
static void loop_statement(front *f, front_stmt *s) {
  front_emit_list(f, s->init, NULL);
  f->b.loc = s->loc;
  ir_inst *loop = ir_loop(&f->b);
  if (f->m->failed) return;
  ir_block *outside = ir_into(&f->b, loop->u.ctrl.blocks[0]);
  if (s->expr != NULL) {
    ir_inst *condition = front_emit_truth(f, s->expr);
    f->b.loc = s->loc;
    if (condition->op != IR_CONST) {
      leave_unless(f, condition);
    } else if (condition->imm == 0) {
      (void)ir_leave(&f->b, IR_BREAK);
    }
  }
  if (s->body != NULL && !is_ended(f)) statement(f, s->body);
  ir_into(&f->b, loop->u.ctrl.blocks[1]);
  if (s->step != NULL) front_emit_effect(f, s->step);
  ir_into(&f->b, outside);
}

static bool is_false(const front_expr *e) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  return e->kind == EXPR_CONST && e->u.constant->op == IR_CONST && e->u.constant->imm == 0;
}

static void do_statement(front *f, front_stmt *s) {
  /* do { ... } while (0), the body of many macros, is no loop. */
  if (is_false(s->expr) && !s->has_break && !s->has_continue) {
    statement(f, s->body);
    return;
  }
  f->b.loc = s->loc;
  ir_inst *loop = ir_loop(&f->b);
  if (f->m->failed) return;
  ir_block *outside = ir_into(&f->b, loop->u.ctrl.blocks[0]);
  statement(f, s->body);
  ir_into(&f->b, loop->u.ctrl.blocks[1]);
  ir_inst *condition = front_emit_truth(f, s->expr);
  f->b.loc = s->expr->loc;
  if (condition->op != IR_CONST || condition->imm == 0) (void)ir_break_if(&f->b, ir_un(&f->b, IR_NOT, condition));
  ir_into(&f->b, outside);
}

/* ---- All
 * ------------------------------------------------------------------------------------------------------------------------
 */

static void return_statement(front *f, front_stmt *s) {
  ir_inst *value = NULL;
  if (s->expr != NULL && s->expr->type->kind == FRONT_RECORD) {
    front_place source = front_emit_place(f, s->expr);
    front_place target = {.kind = PLACE_MEMORY, .pointer = f->b.f->params[0].value};
    front_copy(f, &target, &source);
  } else if (s->expr != NULL) {
    value = front_emit_value(f, s->expr);
    if (s->expr->type->kind == FRONT_VOID) value = NULL;
  }
  f->b.loc = s->loc;
  (void)ir_return(&f->b, value);
}

static void statement(front *f, front_stmt *s) {
  f->b.loc = s->loc;
  switch (s->kind) {
    case STMT_EMPTY:
    case STMT_CASE:
    case STMT_DEFAULT:
      return;
    case STMT_EXPR:
      front_emit_effect(f, s->expr);
      return;
    case STMT_DECL:
      declaration(f, s->object);
      return;
    case STMT_BLOCK:
      front_emit_list(f, s->body, NULL);
      return;
    case STMT_IF:
      if_statement(f, s);
      return;
    case STMT_LOOP:
      loop_statement(f, s);
      return;
    case STMT_DO:
      do_statement(f, s);
      return;
    case STMT_SWITCH:
      front_emit_switch(f, s);
      return;
    case STMT_BREAK:
      (void)ir_leave(&f->b, IR_BREAK);
      return;
    case STMT_CONTINUE:
      (void)ir_leave(&f->b, IR_CONTINUE);
      return;
    case STMT_RETURN:
      return_statement(f, s);
      return;
  }
}
