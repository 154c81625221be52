#include "compiler/front/convert.h"
#include "compiler/front/operator.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/split.h"
#include "compiler/front/token.h"

/* What break, continue and case belong to. */
typedef struct front_loop {
  struct front_loop *outer;
  front_stmt *stmt; /* STMT_LOOP, STMT_DO or STMT_SWITCH */
  uint32_t level;   /* switch: of statement nesting at which its labels stand */
  const front_type *type;
  qn_map cases; /* switch: value -> statement */
  bool has_default;
  front_split split;       /* around it */
  const front_stmt *first; /* switch: the first of the labels from which what is read is reached */
  const front_stmt *last;  /* switch: what was read last, if no label */
} front_loop;

static front_stmt *statement(front *f);

front_stmt *front_stmt_new(front *f, front_stmt_kind kind, qn_loc loc) {
  front_stmt *stmt = QN_ARENA_NEW(f->arena, front_stmt);
  if (stmt == NULL) {
    f->failed = true;
    return NULL;
  }
  stmt->kind = kind;
  stmt->loc = loc;
  return stmt;
}

/* A statement below another one. Never NULL but when out of memory. */
static front_stmt *substatement(front *f) {
  qn_loc loc = f->tok.pp.loc;
  f->level++;
  bool is_entered = front_enter(f);
  front_stmt *stmt = NULL;
  bool is_missing = front_at(f, PP_P_RBRACE) && front_is_structure_doubtful(f);
  if (is_entered && !is_missing && front_scope_open(f)) {
    front_span outer = front_span_open(f);
    stmt = statement(f);
    front_span_close(f, outer);
    front_scope_close(f);
  }
  front_leave(f);
  f->level--;
  return stmt != NULL ? stmt : front_stmt_new(f, STMT_EMPTY, loc);
}

/* ---- Conditions -------------------------------------------------------------------------------------------- */

/* ( expression ) as a truth value. */
static front_expr *condition(front *f, const char *what) {
  qn_loc loc = f->tok.pp.loc;
  if (!front_expect(f, PP_P_LPAREN, what)) return front_expr_error(f, loc);
  front_expr *e = front_enter(f) ? front_expression(f) : front_expr_error(f, loc);
  front_leave(f);
  bool is_damaged = f->is_panicking;
  if (is_damaged) e = front_expr_error(f, loc);
  /* Behind the parenthesis all is well again. */
  if (front_expect(f, PP_P_RPAREN, "")) {
    f->is_panicking = f->is_fatal;
    f->recovery.is_line_damaged |= is_damaged;
  }
  return front_convert(f, front_condition(f, e, "a condition"), front_bool(f));
}

/* ---- Selection ------------------------------------------------------------------------------------------------ */

/* Whether what follows the statement isn't come to through it. */
static bool leaves(const front_stmt *stmt) {
  if (stmt != NULL && stmt->kind == STMT_BLOCK) stmt = stmt->body;
  while (stmt != NULL && stmt->next != NULL) stmt = stmt->next;
  return stmt != NULL && (stmt->kind == STMT_RETURN || stmt->kind == STMT_BREAK || stmt->kind == STMT_CONTINUE);
}

/* if (condition) statement, without an else: until front_split_leave that is read. */
static front_stmt *if_link(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_IF, f->tok.pp.loc);
  if (stmt == NULL) return NULL;
  front_next(f);
  stmt->expr = condition(f, " after 'if'");
  front_recover_header(f);
  front_split outer = front_split_enter(f, stmt->expr, true);
  stmt->body = substatement(f);
  front_split_leave(f, outer);
  (void)front_split_enter(f, stmt->expr, false);
  return stmt;
}

/* A chain of else-ifs may be long: it is read and emitted without recursion and is not nested deeper than its first if. */
static front_stmt *if_statement(front *f) {
  front_split outer = f->split;
  front_stmt *first = if_link(f), *last = first;
  while (last != NULL && front_accept_keyword(f, KW_ELSE)) {
    bool is_link = front_at_keyword(f, KW_IF);
    last->other = is_link ? if_link(f) : substatement(f);
    if (!is_link) break;
    last = last->other;
  }
  front_split_leave(f, outer);
  if (first == NULL || leaves(first->body) == leaves(first->other)) return first;
  /* Those that leave don't come to what follows. */
  (void)front_split_enter(f, first->expr, leaves(first->other));
  return first;
}

static front_stmt *label_error(front *f, const front_loop *loop) {
  const char *word = front_at_keyword(f, KW_CASE) ? "case" : "default";
  bool was_panicking = f->is_panicking;
  if (loop == NULL) {
    front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "'%s' outside of a switch", word);
  } else {
    front_structure_error(
        f, f->tok.pp.loc, f->tok.pp.length,
        "'%s' within a statement of the switch is not supported; it must stand directly in the switch's braces", word);
  }
  f->is_panicking = was_panicking;
  return NULL;
}

static front_loop *innermost_switch(front *f) {
  front_loop *loop = f->loop;
  while (loop != NULL && loop->stmt->kind != STMT_SWITCH) loop = loop->outer;
  return loop;
}

/* The value of a case as the switch's type has it. */
static uint64_t case_value(const front_type *type, uint64_t value) {
  if (type->bits != 32) return value;
  return type->is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
}

/* case constant: or default:, at the word. NULL: reported. */
static front_stmt *label(front *f) {
  front_loop *loop = innermost_switch(f);
  bool is_legal = loop != NULL && loop == f->loop && loop->level == f->level;
  if (!is_legal) (void)label_error(f, loop);
  bool is_case = front_at_keyword(f, KW_CASE);
  front_stmt *stmt = front_stmt_new(f, is_case ? STMT_CASE : STMT_DEFAULT, f->tok.pp.loc);
  front_next(f);
  uint64_t value = 0;
  front_expr *e = NULL;
  bool good = !is_case || front_constant_expression(f, "the value of a case", &e, &value);
  if (front_at(f, PP_P_ELLIPSIS)) {
    front_syntax_error(f, "ranges of cases are not supported");
    return NULL;
  }
  if (!front_expect(f, PP_P_COLON, is_case ? " after the case" : " after 'default'") || !good) return NULL;
  if (!is_legal || stmt == NULL || loop->type->kind == FRONT_ERROR) return NULL;
  if (!is_case) {
    if (loop->has_default) front_error(f, stmt->loc, 7, "a switch has one default only");
    loop->has_default = true;
    return stmt;
  }
  stmt->value = case_value(loop->type, value);
  qn_sv key = qn_sv_make((const char *)&stmt->value, sizeof(stmt->value));
  if (qn_map_get(&loop->cases, key) != NULL) {
    front_error(f, e->loc, e->length, "the switch has case %lld already", (long long)stmt->value);
    return NULL;
  }
  if (!qn_map_set(&loop->cases, key, stmt)) f->failed = true;
  return stmt;
}

static void append(front_stmt ***tail, front_stmt *stmt) {
  if (stmt == NULL) return;
  **tail = stmt;
  while (**tail != NULL) *tail = &(**tail)->next;
}

/* What stands directly in the switch's list. A label begins a part; what doesn't leave falls into it. */
static void append_in_switch(front *f, front_stmt ***tail, front_stmt *stmt) {
  if (stmt == NULL) return;
  front_loop *loop = f->loop;
  bool is_label = stmt->kind == STMT_CASE || stmt->kind == STMT_DEFAULT;
  if (is_label) {
    if (loop->first == NULL || leaves(loop->last)) loop->first = stmt;
    front_split_label(f, loop->split, loop->stmt, loop->first, stmt);
  }
  loop->last = is_label ? NULL : stmt;
  append(tail, stmt);
}

static bool is_in_switch(const front *f) {
  return f->loop != NULL && f->loop->stmt->kind == STMT_SWITCH && f->loop->level == f->level;
}

static void block_item_in_span(front *f, front_stmt ***tail) {
  if (front_at_damaged_line(f)) {
    (void)statement(f);
    return;
  }
  if (front_at_keyword(f, KW_CASE) || front_at_keyword(f, KW_DEFAULT)) {
    append_in_switch(f, tail, label(f));
    front_recover(f);
    return;
  }
  if (front_starts_type(f) || front_at_keyword(f, KW_STATIC_ASSERT) || front_at_unknown_type(f)) {
    front_stmt **before = *tail;
    front_local_declaration(f, tail);
    for (front_stmt *s = *before; s != NULL && is_in_switch(f); s = s->next) s->object->in_switch = true;
    return;
  }
  front_stmt *stmt = statement(f);
  if (is_in_switch(f)) {
    append_in_switch(f, tail, stmt);
  } else {
    append(tail, stmt);
  }
}

static void block_item(front *f, front_stmt ***tail) {
  front_span outer = front_span_open(f);
  block_item_in_span(f, tail);
  front_span_close(f, outer);
}

/* The list within braces, at the opening one. */
static front_stmt *block_items(front *f) {
  front_stmt *first = NULL, **tail = &first;
  qn_loc open = f->tok.pp.loc;
  bool contract = f->fp_contract;
  front_next(f);
  while (!front_at(f, PP_P_RBRACE) && !front_at_end(f) && !front_at_outer(f)) block_item(f, &tail);
  if (front_at_end(f) && !f->is_panicking && !f->diags->stopped) {
    front_structure_error(f, f->tok.pp.loc, 1, "expected '}' at the end of the file");
    front_note(f, open, 1, "to match this '{'");
  }
  f->fp_contract = contract;
  (void)front_accept(f, PP_P_RBRACE);
  return first;
}

front_stmt *front_compound_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_BLOCK, f->tok.pp.loc);
  if (stmt != NULL) stmt->body = block_items(f);
  return stmt;
}

static front_stmt *switch_body(front *f, front_loop *loop) {
  if (front_at(f, PP_P_LBRACE)) {
    loop->level = f->level;
    return block_items(f);
  }
  front_stmt *first = NULL, **tail = &first;
  loop->level = f->level;
  while (!f->is_panicking && (front_at_keyword(f, KW_CASE) || front_at_keyword(f, KW_DEFAULT))) {
    append_in_switch(f, &tail, label(f));
  }
  append(&tail, statement(f));
  return first;
}

static front_stmt *switch_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_SWITCH, f->tok.pp.loc);
  if (stmt == NULL) return NULL;
  front_next(f);
  qn_loc loc = f->tok.pp.loc;
  front_expr *value = front_expr_error(f, loc);
  if (front_expect(f, PP_P_LPAREN, " after 'switch'")) value = front_value(f, front_expression(f));
  if (!front_expect(f, PP_P_RPAREN, "")) value = front_expr_error(f, loc);
  front_recover_header(f);
  if (!front_is_error(value) && !front_is_integer(value->type)) {
    front_error(f, value->loc, value->length, "the value of a switch must be an integer, not '%s'",
                front_type_text(f, value->type->plain));
    value = front_expr_error(f, loc);
  }
  stmt->expr = front_promote(f, value);
  front_loop loop = {.outer = f->loop, .stmt = stmt, .type = stmt->expr->type->plain, .split = f->split};
  f->loop = &loop;
  f->level++;
  if (front_enter(f) && front_scope_open(f)) {
    stmt->body = switch_body(f, &loop);
    front_scope_close(f);
  }
  front_leave(f);
  f->level--;
  f->loop = loop.outer;
  front_split_leave(f, loop.split);
  qn_map_free(&loop.cases);
  return stmt;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static front_stmt *loop_body(front *f, front_stmt *stmt) {
  front_loop loop = {.outer = f->loop, .stmt = stmt};
  f->loop = &loop;
  front_split outer = front_split_enter(f, stmt->expr, true);
  front_stmt *body = substatement(f);
  front_split_leave(f, outer);
  f->loop = loop.outer;
  return body;
}

static front_stmt *while_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_LOOP, f->tok.pp.loc);
  if (stmt == NULL) return NULL;
  front_next(f);
  stmt->expr = condition(f, " after 'while'");
  front_recover_header(f);
  stmt->body = loop_body(f, stmt);
  return stmt;
}

static front_stmt *do_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_DO, f->tok.pp.loc);
  if (stmt == NULL) return NULL;
  front_next(f);
  bool had_barrier = f->func->has_barrier;
  f->func->has_barrier = false;
  stmt->body = loop_body(f, stmt);
  bool has_barrier = f->func->has_barrier;
  f->func->has_barrier |= had_barrier;
  if (!front_at_keyword(f, KW_WHILE)) {
    front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "expected 'while' after the body of 'do'");
    stmt->expr = front_expr_error(f, stmt->loc);
    front_recover(f);
    return stmt;
  }
  front_next(f);
  stmt->expr = condition(f, " after 'while'");
  if (has_barrier && !stmt->has_break) front_note_barrier_again(f, stmt->expr);
  (void)front_expect(f, PP_P_SEMI, " after 'do' and 'while'");
  front_recover(f);
  return stmt;
}

static front_stmt *expression_as_statement(front *f, front_expr *e) {
  front_stmt *stmt = front_stmt_new(f, STMT_EXPR, e->loc);
  if (stmt != NULL) stmt->expr = e;
  return stmt;
}

/* The three parts of a for, behind the parenthesis. */
static void for_header(front *f, front_stmt *stmt) {
  front_stmt **tail = &stmt->init;
  if (front_starts_type(f) || front_at_unknown_type(f)) {
    front_local_declaration(f, &tail);
  } else if (!front_accept(f, PP_P_SEMI)) {
    append(&tail, expression_as_statement(f, front_expression(f)));
    if (!front_expect(f, PP_P_SEMI, " in 'for'")) return;
  }
  if (!front_at(f, PP_P_SEMI)) {
    front_expr *e = front_condition(f, front_expression(f), "a condition");
    stmt->expr = front_convert(f, e, front_bool(f));
  }
  if (!front_expect(f, PP_P_SEMI, " in 'for'")) return;
  front_split outer = front_split_enter(f, stmt->expr, true);
  if (!front_at(f, PP_P_RPAREN)) stmt->step = front_expression(f);
  front_split_leave(f, outer);
  (void)front_expect(f, PP_P_RPAREN, " after the three parts of 'for'");
}

static front_stmt *for_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_LOOP, f->tok.pp.loc);
  if (stmt == NULL || !front_scope_open(f)) return NULL;
  front_next(f);
  if (front_expect(f, PP_P_LPAREN, " after 'for'")) for_header(f, stmt);
  front_recover_header(f);
  stmt->body = loop_body(f, stmt);
  front_scope_close(f);
  return stmt;
}

/* ---- Jumps ----------------------------------------------------------------------------------------------------------
 */

static front_stmt *break_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_BREAK, f->tok.pp.loc);
  if (f->loop == NULL) {
    front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "'break' outside of a loop or switch");
    f->is_panicking = f->is_fatal;
    stmt = NULL;
  } else {
    f->loop->stmt->has_break = true;
  }
  front_next(f);
  (void)front_expect(f, PP_P_SEMI, " after 'break'");
  return stmt;
}

static front_stmt *continue_statement(front *f) {
  front_stmt *stmt = front_stmt_new(f, STMT_CONTINUE, f->tok.pp.loc);
  front_loop *loop = f->loop;
  while (loop != NULL && loop->stmt->kind == STMT_SWITCH) loop = loop->outer;
  if (loop == NULL) {
    front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "'continue' outside of a loop");
    f->is_panicking = f->is_fatal;
    stmt = NULL;
  } else {
    loop->stmt->has_continue = true;
  }
  front_next(f);
  (void)front_expect(f, PP_P_SEMI, " after 'continue'");
  return stmt;
}

static front_stmt *return_statement(front *f) {
  front_token word = f->tok;
  front_stmt *stmt = front_stmt_new(f, STMT_RETURN, word.pp.loc);
  front_next(f);
  const front_type *result = f->func->type->elem;
  bool is_void = result->kind == FRONT_VOID;
  if (front_at(f, PP_P_SEMI)) {
    if (!is_void) {
      front_error(f, word.pp.loc, word.pp.length, "'%.*s' must return a value of type '%s'", QN_SV_ARG(f->func->name),
                  front_type_text(f, result));
    }
  } else {
    front_expr *e = front_expression(f);
    if (is_void && !front_is_error(e) && e->type->kind != FRONT_VOID) {
      front_error(f, e->loc, e->length, "'%.*s' returns void, so it can't return a value", QN_SV_ARG(f->func->name));
    }
    if (!is_void) e = front_convert_implicit(f, e, result, USE_RETURN);
    if (stmt != NULL) stmt->expr = e;
  }
  (void)front_expect(f, PP_P_SEMI, " after 'return'");
  return stmt;
}

static front_stmt *no_goto(front *f) {
  front_next(f);
  if (!f->is_goto_told) {
    front_error(f, f->tok.pp.loc, f->tok.pp.length,
                "goto is not supported: the label is '%.*s'; use a loop with break, or a flag",
                QN_SV_ARG(f->tok.pp.text));
  }
  f->is_goto_told = true;
  front_next(f);
  (void)front_expect(f, PP_P_SEMI, " after 'goto'");
  return NULL;
}

/* name: */
static bool at_label(front *f) {
  if (!front_at_name(f)) return false;
  const front_token *next = front_peek(f);
  return next->pp.kind == PP_PUNCT && next->pp.punct == PP_P_COLON;
}

static front_stmt *expression_statement(front *f) {
  front_expr *e = front_expression(f);
  (void)front_expect(f, PP_P_SEMI, " after the expression");
  return expression_as_statement(f, e);
}

static front_stmt *compound(front *f) {
  front_stmt *stmt = NULL;
  f->level++;
  if (front_enter(f) && front_scope_open(f)) {
    stmt = front_compound_statement(f);
    front_scope_close(f);
  }
  front_leave(f);
  f->level--;
  return stmt;
}

static front_stmt *keyword_statement(front *f) {
  switch ((front_keyword)f->tok.keyword) {
    case KW_IF:
      return if_statement(f);
    case KW_FOR:
      return for_statement(f);
    case KW_WHILE:
      return while_statement(f);
    case KW_DO:
      return do_statement(f);
    case KW_SWITCH:
      return switch_statement(f);
    case KW_BREAK:
      return break_statement(f);
    case KW_CONTINUE:
      return continue_statement(f);
    case KW_RETURN:
      return return_statement(f);
    case KW_GOTO:
      return no_goto(f);
    case KW_CASE:
    case KW_DEFAULT:
      (void)label(f);
      return NULL;
    case KW_ELSE:
      front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "'else' without its 'if'");
      front_next(f);
      f->is_panicking = f->is_fatal; /* what follows is a statement */
      return statement(f);
    case KW_ASM:
      front_syntax_error(f, "assembly is not supported");
      return NULL;
    default:
      return expression_statement(f);
  }
}

/* NULL: nothing to do, or reported. */
static front_stmt *statement(front *f) {
  front_stmt *stmt = NULL;
  if (front_at_damaged_line(f)) {
    front_panic(f);
    front_recover(f);
    return NULL;
  }
  front_attributes ignored = {0};
  if (front_at_keyword(f, KW_ATTRIBUTE)) front_attributes_read(f, &ignored); /* opencl_unroll_hint before a loop */
  if (front_at(f, PP_P_LBRACE)) {
    stmt = compound(f);
  } else if (front_accept(f, PP_P_SEMI)) {
    return NULL;
  } else if (at_label(f)) {
    if (!f->is_goto_told) {
      front_error(f, f->tok.pp.loc, f->tok.pp.length, "label '%.*s' is not supported, as goto is not",
                  QN_SV_ARG(f->tok.pp.text));
    }
    f->is_goto_told = true;
    front_next(f);
    front_next(f);
  } else if (front_starts_type(f) || front_at_unknown_type(f)) {
    front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "a declaration can't stand here; put it into braces");
  } else {
    stmt = keyword_statement(f);
  }
  front_recover(f);
  return stmt;
}
