#include <string.h>

#include "compiler/front/builtin.h"
#include "compiler/front/convert.h"
#include "compiler/front/lack.h"
#include "compiler/front/literal.h"
#include "compiler/front/operator.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/split.h"
#include "compiler/front/token.h"

static front_expr *cast_expression(front *f);
static front_expr *unary_expression(front *f);
static front_expr *postfix_operators(front *f, front_expr *e);

bool front_exprs_add(front *f, front_exprs *list, front_expr *e) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity > 0 ? list->capacity * 2 : 4;
    front_expr **items = QN_ARENA_ARRAY(f->arena, front_expr *, capacity);
    if (items == NULL) {
      f->failed = true;
      return false;
    }
    if (list->count > 0) memcpy(items, list->items, list->count * sizeof(front_expr *));
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = e;
  return true;
}

/* assignment-expression {, assignment-expression} and the closing parenthesis. */
static bool argument_list(front *f, front_exprs *list) {
  if (front_accept(f, PP_P_RPAREN)) return true;
  do {
    if (!front_exprs_add(f, list, front_assignment_expression(f))) return false;
  } while (!f->is_panicking && front_accept(f, PP_P_COMMA));
  return !f->is_panicking && front_expect(f, PP_P_RPAREN, " after the arguments");
}

/* ---- Primary -------------------------------------------------------------------------------------------- */

static front_expr *undeclared(front *f, const front_token *token, bool is_call) {
  pp_name *name = token->pp.name;
  front_name *entry = name->declarations;
  if (front_tell_lack(f, token->pp.loc, token->pp.length, name->text)) return front_expr_error(f, token->pp.loc);
  if ((entry != NULL && entry->is_told) || front_is_doubtful_name(f, name)) return front_expr_error(f, token->pp.loc);
  if (entry != NULL) entry->is_told = true;
  qn_sv near = front_nearest_name(f, name->text, is_call ? NAMES_OF_FUNCTIONS : NAMES_OF_VALUES);
  front_error(f, token->pp.loc, token->pp.length, "%s '%.*s'%s%.*s%s",
              is_call ? "call of undeclared function" : "use of undeclared identifier", QN_SV_ARG(name->text),
              near.size > 0 ? "; did you mean '" : "", QN_SV_ARG(near), near.size > 0 ? "'?" : "");
  return front_expr_error(f, token->pp.loc);
}

/* name(arguments): the only way to use a function. */
static front_expr *call_expression(front *f, const front_token *token) {
  front_symbol *symbol = front_find(f, token->pp.name);
  const front_builtin *builtin = front_find_builtin(f, token->pp.name);
  front_next(f); /* the parenthesis */
  front_exprs args = {0};
  bool good = front_enter(f) && argument_list(f, &args);
  front_leave(f);
  if (!good) return front_expr_error(f, token->pp.loc);
  qn_loc loc = token->pp.loc;
  uint32_t length = token->pp.length;
  if (symbol != NULL && symbol->kind == SYMBOL_FUNCTION && token->pp.name->is_doubtful) return front_expr_error(f, loc);
  if (symbol != NULL && symbol->kind == SYMBOL_FUNCTION) {
    front_func *callee = symbol->u.func;
    if (callee->next_overload != NULL) {
      callee = front_choose_overload(f, loc, length, callee, args.items, args.count);
    }
    if (callee == NULL) return front_expr_error(f, loc);
    return front_call(f, loc, length, callee, args.items, args.count);
  }
  if (symbol != NULL && symbol->type->kind == FRONT_ERROR) return front_expr_error(f, loc);
  if (symbol != NULL && symbol->kind == SYMBOL_TYPEDEF) {
    front_error(f, loc, length, "a literal of a type is written '(%.*s)(...)'", QN_SV_ARG(token->pp.text));
    return front_expr_error(f, loc);
  }
  if (symbol != NULL) {
    front_error(f, loc, length, "'%.*s' is no function: it can't be called", QN_SV_ARG(token->pp.text));
    return front_expr_error(f, loc);
  }
  if (builtin != NULL && token->pp.name->is_doubtful) return front_expr_error(f, loc); /* it may be redeclared */
  if (builtin != NULL) return front_call_builtin(f, loc, length, builtin, args.items, args.count);
  return undeclared(f, token, true);
}

static front_expr *identifier(front *f) {
  front_token token = f->tok;
  front_next(f);
  if (front_at(f, PP_P_LPAREN)) return call_expression(f, &token);
  qn_loc loc = token.pp.loc;
  uint32_t length = token.pp.length;
  front_symbol *symbol = front_find(f, token.pp.name);
  if (symbol == NULL && front_find_builtin(f, token.pp.name) == NULL) return undeclared(f, &token, false);
  if (symbol == NULL || symbol->kind == SYMBOL_FUNCTION) {
    front_name *entry = token.pp.name->declarations;
    if (entry->is_told || front_is_doubtful_name(f, token.pp.name)) return front_expr_error(f, loc);
    entry->is_told = true;
    front_error(f, loc, length, "'%.*s' is a function: it can only be called", QN_SV_ARG(token.pp.text));
    return front_expr_error(f, loc);
  }
  switch (symbol->kind) {
    case SYMBOL_OBJECT:
      if (symbol->u.object == NULL) return front_expr_error(f, loc); /* a function whose type was reported */
      return front_object_expr(f, loc, length, symbol->u.object);
    case SYMBOL_ENUMERATOR:
      return front_expr_int(f, loc, length, symbol->type, symbol->u.value);
    default:
      front_error(f, loc, length, "'%.*s' is a type; an expression is expected", QN_SV_ARG(token.pp.text));
      return front_expr_error(f, loc);
  }
}

static front_expr *parenthesized(front *f) {
  qn_loc loc = f->tok.pp.loc;
  front_next(f);
  if (front_at(f, PP_P_LBRACE)) {
    front_syntax_error(f, "statements in expressions are not supported");
    return front_expr_error(f, loc);
  }
  front_expr *e = front_enter(f) ? front_expression(f) : front_expr_error(f, loc);
  front_leave(f);
  if (!front_expect(f, PP_P_RPAREN, "")) return front_expr_error(f, loc);
  e->is_paren = true;
  return e;
}

static front_expr *primary_expression(front *f) {
  switch ((pp_kind)f->tok.pp.kind) {
    case PP_NUMBER:
      return front_number(f);
    case PP_CHAR:
      return front_character(f);
    case PP_STRING:
      return front_string(f);
    case PP_IDENT:
      if (f->tok.keyword == KW_NONE) return identifier(f);
      break;
    default:
      if (front_at(f, PP_P_LPAREN)) return parenthesized(f);
      break;
  }
  if (front_at(f, PP_P_CARET) && !f->is_panicking) { /* a block */
    (void)front_tell_lack(f, f->tok.pp.loc, f->tok.pp.length, f->tok.pp.text);
    front_panic(f);
  } else if (front_at_end(f)) {
    front_structure_error(f, f->tok.pp.loc, 1, "expected expression before the end of the file");
  } else {
    /* A keyword that was told to be no name: the same fault again. */
    if (f->told_keyword != NULL && f->tok.pp.name == f->told_keyword) front_panic(f);
    front_syntax_error(f, "expected expression");
  }
  return front_expr_error(f, f->tok.pp.loc);
}

/* ---- Postfix --------------------------------------------------------------------------------------------- */

static front_expr *subscript(front *f, front_expr *e) {
  qn_loc loc = f->tok.pp.loc;
  front_next(f);
  f->subscripts++;
  front_expr *index = front_enter(f) ? front_expression(f) : front_expr_error(f, loc);
  front_leave(f);
  f->subscripts--;
  if (!front_expect(f, PP_P_RBRACKET, "")) return front_expr_error(f, loc);
  return front_subscript(f, loc, e, index);
}

static front_expr *member(front *f, front_expr *e) {
  bool is_arrow = front_at(f, PP_P_ARROW);
  front_next(f);
  if (f->tok.pp.kind != PP_IDENT) {
    front_syntax_error(f, "expected a member's name");
    return front_expr_error(f, f->tok.pp.loc);
  }
  qn_sv name = f->tok.pp.text;
  qn_loc loc = f->tok.pp.loc;
  uint32_t length = f->tok.pp.length;
  front_next(f);
  return front_member_named(f, loc, length, e, is_arrow, name);
}

static front_expr *postfix_operators(front *f, front_expr *e) {
  while (!f->is_panicking && f->tok.pp.kind == PP_PUNCT) {
    qn_loc loc = f->tok.pp.loc;
    switch (f->tok.pp.punct) {
      case PP_P_LBRACKET:
        e = subscript(f, e);
        break;
      case PP_P_DOT:
      case PP_P_ARROW:
        e = member(f, e);
        break;
      case PP_P_INC:
        front_next(f);
        e = front_step(f, OP_ADD, true, loc, e);
        break;
      case PP_P_DEC:
        front_next(f);
        e = front_step(f, OP_SUB, true, loc, e);
        break;
      case PP_P_LPAREN:
        if (!front_is_error(e)) front_error(f, loc, 1, "only a function's name can be called");
        front_skip_brackets(f);
        e = front_expr_error(f, loc);
        break;
      default:
        return e;
    }
  }
  return e;
}

/* ---- Unary ----------------------------------------------------------------------------------------------- */

static bool at_type_in_parentheses(front *f) {
  return front_at(f, PP_P_LPAREN) &&
         (front_token_starts_type(f, front_peek(f)) || front_at_unknown_type_in_parentheses(f));
}

/* The operand of sizeof and its like: a type in parentheses or an expression that isn't evaluated. */
static const front_type *type_operand(front *f) {
  if (!at_type_in_parentheses(f)) {
    bool had_barrier = f->func != NULL && f->func->has_barrier;
    front_suspect *suspects = f->func != NULL ? f->func->suspects : NULL;
    front_expr *e = unary_expression(f);
    if (f->func != NULL) {
      f->func->has_barrier = had_barrier;
      f->func->suspects = suspects;
    }
    return e->type;
  }
  front_next(f);
  const front_type *type = front_type_name(f);
  if (!front_expect(f, PP_P_RPAREN, "")) return front_error_type(f);
  /* sizeof (float4)(1, 2, 3, 4) and sizeof (int){1} are of an expression of that type. */
  if (front_at(f, PP_P_LBRACE)) return front_compound_literal(f, f->tok.pp.loc, type)->type;
  if (front_is_vector(type) && front_at(f, PP_P_LPAREN)) (void)primary_expression(f);
  return type;
}

static front_expr *size_expression(front *f) {
  qn_loc loc = f->tok.pp.loc;
  uint32_t length = f->tok.pp.length;
  front_keyword keyword = (front_keyword)f->tok.keyword;
  front_next(f);
  const front_type *type = front_enter(f) ? type_operand(f) : front_error_type(f);
  front_leave(f);
  if (type->kind == FRONT_ERROR) return front_expr_error(f, loc);
  if (keyword == KW_VEC_STEP) {
    if (!front_is_numeric(type) && type->kind != FRONT_VOID) {
      front_error(f, loc, length, "vec_step needs a scalar or vector type, not '%s'", front_type_text(f, type));
      return front_expr_error(f, loc);
    }
    uint32_t lanes = front_lanes(type);
    return front_expr_int(f, loc, length, front_int(f, 32, true), lanes == 3 ? 4 : lanes);
  }
  if (!front_is_complete(type) && type->kind != FRONT_VOID) {
    if (front_is_incomplete_news(type)) {
      front_error(f, loc, length, "'%s' has no size: it is incomplete", front_type_text(f, type));
    }
    return front_expr_error(f, loc);
  }
  uint64_t value = type->kind == FRONT_VOID ? 1 : keyword == KW_SIZEOF ? front_sizeof(f, type) : front_alignof(f, type);
  return front_expr_int(f, loc, length, front_size_type(f), value);
}

static front_expr *unary_operator(front *f, front_op op) {
  qn_loc loc = f->tok.pp.loc;
  front_next(f);
  front_expr *a = front_enter(f) ? cast_expression(f) : front_expr_error(f, loc);
  front_leave(f);
  return front_unary(f, op, loc, a);
}

static front_expr *unary_expression(front *f) {
  qn_loc loc = f->tok.pp.loc;
  if (f->tok.keyword == KW_SIZEOF || f->tok.keyword == KW_ALIGNOF || f->tok.keyword == KW_VEC_STEP) {
    return size_expression(f);
  }
  if (front_accept_keyword(f, KW_EXTENSION)) {
    front_expr *e = front_enter(f) ? cast_expression(f) : front_expr_error(f, loc);
    front_leave(f);
    return e;
  }
  if (f->tok.pp.kind != PP_PUNCT) return postfix_operators(f, primary_expression(f));
  pp_punct punct = (pp_punct)f->tok.pp.punct;
  switch (punct) {
    case PP_P_MINUS:
      return unary_operator(f, OP_NEG);
    case PP_P_PLUS:
      return unary_operator(f, OP_PLUS);
    case PP_P_TILDE:
      return unary_operator(f, OP_BITNOT);
    case PP_P_NOT:
      return unary_operator(f, OP_NOT);
    case PP_P_INC:
    case PP_P_DEC:
    case PP_P_AMP:
    case PP_P_STAR: {
      front_next(f);
      front_expr *a = !front_enter(f)                          ? front_expr_error(f, loc)
                      : punct == PP_P_INC || punct == PP_P_DEC ? unary_expression(f)
                                                               : cast_expression(f);
      front_leave(f);
      if (punct == PP_P_AMP) return front_address(f, loc, a);
      if (punct == PP_P_STAR) return front_deref(f, loc, a);
      return front_step(f, punct == PP_P_INC ? OP_ADD : OP_SUB, false, loc, a);
    }
    default:
      return postfix_operators(f, primary_expression(f));
  }
}

/* ---- Casts ------------------------------------------------------------------------------------------------ */

/* (vector-type)(a, b, ...), at the second parenthesis. One argument is a cast's operand, which postfix operators bind
 * to: (float4)(v).xxxx. */
static front_expr *vector_cast(front *f, qn_loc loc, const front_type *type) {
  front_next(f);
  front_exprs args = {0};
  bool good = front_enter(f) && argument_list(f, &args);
  front_leave(f);
  if (!good) return front_expr_error(f, loc);
  if (args.count == 0) {
    front_error(f, loc, 1, "a literal of '%s' needs its components", front_type_text(f, type));
    return front_expr_error(f, loc);
  }
  if (args.count > 1) {
    front_expr *literal = front_vector_literal(f, loc, type, args.items, args.count);
    return postfix_operators(f, literal);
  }
  return front_cast(f, loc, type, postfix_operators(f, args.items[0]));
}

static front_expr *cast_expression(front *f) {
  if (!at_type_in_parentheses(f)) return unary_expression(f);
  qn_loc loc = f->tok.pp.loc;
  front_next(f);
  const front_type *type = front_type_name(f);
  if (!front_expect(f, PP_P_RPAREN, " after the type")) return front_expr_error(f, loc);
  if (front_at(f, PP_P_LBRACE)) return postfix_operators(f, front_compound_literal(f, loc, type));
  if (front_is_vector(type) && front_at(f, PP_P_LPAREN) && !front_token_starts_type(f, front_peek(f))) {
    return vector_cast(f, loc, type);
  }
  front_expr *e = front_enter(f) ? cast_expression(f) : front_expr_error(f, loc);
  front_leave(f);
  return front_cast(f, loc, type, e);
}

/* ---- Binary ----------------------------------------------------------------------------------------------- */

typedef struct binary_operator {
  front_op op;
  int precedence; /* 0: no binary operator */
} binary_operator;

static const binary_operator binary_operators[] = {
    [PP_P_OROR] = {OP_OROR, 1},    [PP_P_ANDAND] = {OP_ANDAND, 2}, [PP_P_PIPE] = {OP_OR, 3},
    [PP_P_CARET] = {OP_XOR, 4},    [PP_P_AMP] = {OP_AND, 5},       [PP_P_EQ] = {OP_EQ, 6},
    [PP_P_NE] = {OP_NE, 6},        [PP_P_LT] = {OP_LT, 7},         [PP_P_GT] = {OP_GT, 7},
    [PP_P_LE] = {OP_LE, 7},        [PP_P_GE] = {OP_GE, 7},         [PP_P_SHL] = {OP_SHL, 8},
    [PP_P_SHR] = {OP_SHR, 8},      [PP_P_PLUS] = {OP_ADD, 9},      [PP_P_MINUS] = {OP_SUB, 9},
    [PP_P_STAR] = {OP_MUL, 10},    [PP_P_SLASH] = {OP_DIV, 10},    [PP_P_PERCENT] = {OP_MOD, 10},
    [PP_P_HASHHASH] = {OP_ADD, 0},
};

/* logical-OR-expression and all below it, by precedence; left to right. */
static front_expr *binary_expression(front *f, int lowest) {
  front_expr *a = cast_expression(f);
  while (!f->is_panicking && f->tok.pp.kind == PP_PUNCT) {
    binary_operator found = binary_operators[f->tok.pp.punct];
    if (found.precedence == 0 || found.precedence < lowest) break;
    qn_loc loc = f->tok.pp.loc;
    front_next(f);
    bool is_logical = found.op == OP_ANDAND || found.op == OP_OROR;
    front_split outer = front_split_enter(f, is_logical ? a : NULL, found.op == OP_ANDAND);
    front_expr *b = binary_expression(f, found.precedence + 1);
    front_split_leave(f, outer);
    if (f->is_panicking) return front_expr_error(f, loc);
    a = front_binary(f, found.op, loc, a, b);
  }
  return a;
}

front_expr *front_conditional_expression(front *f) {
  front_expr *a = binary_expression(f, 1);
  if (f->is_panicking || !front_at(f, PP_P_QUESTION)) return a;
  qn_loc loc = f->tok.pp.loc;
  front_next(f);
  bool is_entered = front_enter(f);
  front_split outer = front_split_enter(f, a, true);
  front_expr *b = is_entered ? front_expression(f) : front_expr_error(f, loc);
  front_split_leave(f, outer);
  front_expr *c = front_expr_error(f, loc);
  (void)front_split_enter(f, a, false);
  if (front_expect(f, PP_P_COLON, " of ?:")) c = front_conditional_expression(f);
  front_split_leave(f, outer);
  front_leave(f);
  return front_conditional(f, loc, a, b, c);
}

/* ---- Assignment --------------------------------------------------------------------------------------------- */

static bool compound_operator(pp_punct punct, front_op *op) {
  static const struct {
    pp_punct punct;
    front_op op;
  } table[] = {{PP_P_MUL_ASSIGN, OP_MUL}, {PP_P_DIV_ASSIGN, OP_DIV}, {PP_P_MOD_ASSIGN, OP_MOD},
               {PP_P_ADD_ASSIGN, OP_ADD}, {PP_P_SUB_ASSIGN, OP_SUB}, {PP_P_SHL_ASSIGN, OP_SHL},
               {PP_P_SHR_ASSIGN, OP_SHR}, {PP_P_AND_ASSIGN, OP_AND}, {PP_P_XOR_ASSIGN, OP_XOR},
               {PP_P_OR_ASSIGN, OP_OR}};
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    if (table[i].punct == punct) {
      *op = table[i].op;
      return true;
    }
  }
  return false;
}

front_expr *front_assignment_expression(front *f) {
  front_expr *a = front_conditional_expression(f);
  if (f->is_panicking || f->tok.pp.kind != PP_PUNCT) return a;
  qn_loc loc = f->tok.pp.loc;
  front_op op = OP_ADD;
  bool is_compound = compound_operator((pp_punct)f->tok.pp.punct, &op);
  if (!is_compound && !front_at(f, PP_P_ASSIGN)) return a;
  /* a[0 = b: what misses is the bracket. */
  if (f->subscripts > 0 && !a->is_lvalue && !front_is_error(a)) {
    front_syntax_error(f, "expected ']'");
    return front_expr_error(f, loc);
  }
  front_next(f);
  front_expr *b = front_enter(f) ? front_assignment_expression(f) : front_expr_error(f, loc);
  front_leave(f);
  if (f->is_panicking) return front_expr_error(f, loc);
  return is_compound ? front_compound(f, op, loc, a, b) : front_assign(f, loc, a, b);
}

front_expr *front_expression(front *f) {
  front_expr *e = front_assignment_expression(f);
  while (!f->is_panicking && front_at(f, PP_P_COMMA)) {
    qn_loc loc = f->tok.pp.loc;
    front_next(f);
    e = front_comma(f, loc, e, front_assignment_expression(f));
  }
  return e;
}

bool front_constant_expression(front *f, const char *what, front_expr **out_expr, uint64_t *out_value) {
  front_expr *e = front_value(f, front_conditional_expression(f));
  if (out_expr != NULL) *out_expr = e;
  if (f->is_panicking || front_is_error(e)) return false;
  if (!front_is_integer(e->type)) {
    front_error(f, e->loc, e->length, "%s must be an integer, not '%s'", what, front_type_text(f, e->type->plain));
    return false;
  }
  if (front_fold_integer(f, e, out_value)) return true;
  front_error(f, e->loc, e->length, "%s must be a constant", what);
  return false;
}
