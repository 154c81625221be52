#include "compiler/front/operator.h"

#include "compiler/front/convert.h"

const char *const front_op_text[OP_COUNT] = {
#define QN_X(id, text) text,
    FRONT_OPS(QN_X)
#undef QN_X
};

static front_expr *refuse(front *f, front_op op, qn_loc loc, const front_expr *a, const front_expr *b) {
  front_error(f, loc, (uint32_t)(front_op_text[op][1] ? 2 : 1), "operator %s doesn't take '%s' and '%s'",
              front_op_text[op], front_type_text(f, a->type->plain), front_type_text(f, b->type->plain));
  return front_expr_error(f, loc);
}

static front_expr *refuse_unary(front *f, front_op op, qn_loc loc, const front_expr *a) {
  front_error(f, loc, 1, "operator %s doesn't take '%s'", front_op_text[op], front_type_text(f, a->type->plain));
  return front_expr_error(f, loc);
}

/* ---- Arithmetic --------------------------------------------------------------------------------------- */

static bool is_bitwise(front_op op) { return op == OP_AND || op == OP_OR || op == OP_XOR; }

static front_expr *pointer_sum(front *f, front_op op, qn_loc loc, front_expr *pointer, front_expr *index) {
  const front_type *pointee = pointer->type->elem;
  if (!front_is_complete(pointee) && pointee->kind != FRONT_VOID) {
    if (front_is_incomplete_news(pointee)) {
      front_error(f, loc, 1, "arithmetic on a pointer to the incomplete type '%s'", front_type_text(f, pointee));
    }
    return front_expr_error(f, loc);
  }
  return front_expr_op(f, EXPR_POINTER_ADD, op, loc, pointer->type->plain, pointer, front_promote(f, index));
}

static front_expr *pointer_difference(front *f, qn_loc loc, front_expr *a, front_expr *b) {
  if (a->type->elem->plain != b->type->elem->plain || a->type->elem->space != b->type->elem->space) {
    front_error(f, loc, 1, "'%s' and '%s' are no pointers into one array", front_type_text(f, a->type->plain),
                front_type_text(f, b->type->plain));
    return front_expr_error(f, loc);
  }
  return front_expr_op(f, EXPR_POINTER_DIFF, OP_SUB, loc, front_ptrdiff_type(f), a, b);
}

static front_expr *arithmetic(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  bool a_pointer = front_is_pointer(a->type), b_pointer = front_is_pointer(b->type);
  if (op == OP_SUB && a_pointer && b_pointer) return pointer_difference(f, loc, a, b);
  if ((op == OP_ADD || op == OP_SUB) && a_pointer && front_is_integer(b->type)) return pointer_sum(f, op, loc, a, b);
  if (op == OP_ADD && b_pointer && front_is_integer(a->type)) return pointer_sum(f, op, loc, b, a);
  if (!front_is_numeric(a->type) || !front_is_numeric(b->type)) return refuse(f, op, loc, a, b);
  bool needs_integers = op == OP_MOD || is_bitwise(op);
  if (needs_integers && (front_is_floating(a->type) || front_is_floating(b->type))) return refuse(f, op, loc, a, b);
  if (!front_usual_conversions(f, loc, &a, &b)) return front_expr_error(f, loc);
  if ((op == OP_DIV || op == OP_MOD) && b->kind == EXPR_CONST && front_is_integer(b->type) &&
      front_is_null_constant(b)) {
    front_warning(f, loc, 1, "%s by zero", op == OP_DIV ? "division" : "remainder of a division");
  }
  return front_expr_op(f, EXPR_BINARY, op, loc, a->type->plain, a, b);
}

static front_expr *shift(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  bool fits = front_is_integral(a->type) && front_is_integral(b->type);
  if (!fits || (front_is_vector(b->type) && front_lanes(a->type) != b->type->lanes)) return refuse(f, op, loc, a, b);
  a = front_promote(f, a);
  /* Only the low bits of the amount count, so that its own width doesn't matter. */
  b = front_convert(f, front_promote(f, b), a->type);
  return front_expr_op(f, EXPR_BINARY, op, loc, a->type->plain, a, b);
}

/* ---- Comparison and logic ------------------------------------------------------------------------------ */

static front_expr *compare_pointers(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  if (front_is_null_constant(b) && front_is_pointer(a->type)) b = front_convert(f, b, a->type);
  if (front_is_null_constant(a) && front_is_pointer(b->type)) a = front_convert(f, a, b->type);
  if (!front_is_pointer(a->type) || !front_is_pointer(b->type)) return refuse(f, op, loc, a, b);
  const front_type *x = a->type->elem, *y = b->type->elem;
  if (x->space != y->space) {
    front_error(f, loc, 2, "comparison of pointers into different address spaces: '%s' and '%s'",
                front_type_text(f, a->type->plain), front_type_text(f, b->type->plain));
    return front_expr_error(f, loc);
  }
  if (x->plain != y->plain && x->kind != FRONT_VOID && y->kind != FRONT_VOID) {
    front_warning(f, loc, 2, "comparison of different pointer types: '%s' and '%s'", front_type_text(f, a->type->plain),
                  front_type_text(f, b->type->plain));
  }
  b = front_convert(f, b, a->type);
  return front_expr_op(f, EXPR_COMPARE, op, loc, front_int(f, 32, true), a, b);
}

static front_expr *compare(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  if (front_is_pointer(a->type) || front_is_pointer(b->type)) return compare_pointers(f, op, loc, a, b);
  if (!front_is_numeric(a->type) || !front_is_numeric(b->type)) return refuse(f, op, loc, a, b);
  if (!front_usual_conversions(f, loc, &a, &b)) return front_expr_error(f, loc);
  return front_expr_op(f, EXPR_COMPARE, op, loc, front_truth_type(f, a->type), a, b);
}

static front_expr *logical(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  if (!front_is_vector(a->type) && !front_is_vector(b->type)) {
    if (!front_is_scalar(a->type) || !front_is_scalar(b->type)) return refuse(f, op, loc, a, b);
    a = front_convert(f, a, front_bool(f));
    b = front_convert(f, b, front_bool(f));
    return front_expr_op(f, EXPR_LOGICAL, op, loc, front_int(f, 32, true), a, b);
  }
  if (!front_is_numeric(a->type) || !front_is_numeric(b->type)) return refuse(f, op, loc, a, b);
  if (!front_usual_conversions(f, loc, &a, &b)) return front_expr_error(f, loc);
  return front_expr_op(f, EXPR_LOGICAL, op, loc, front_truth_type(f, a->type), a, b);
}

front_expr *front_binary(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  a = front_value(f, a);
  b = front_value(f, b);
  if (front_is_error(a) || front_is_error(b)) return front_expr_error(f, loc);
  switch (op) {
    case OP_SHL:
    case OP_SHR:
      return shift(f, op, loc, a, b);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_GT:
    case OP_LE:
    case OP_GE:
      return compare(f, op, loc, a, b);
    case OP_ANDAND:
    case OP_OROR:
      return logical(f, op, loc, a, b);
    default:
      return arithmetic(f, op, loc, a, b);
  }
}

front_expr *front_unary(front *f, front_op op, qn_loc loc, front_expr *a) {
  a = front_value(f, a);
  if (front_is_error(a)) return a;
  if (op == OP_NOT) {
    if (front_is_vector(a->type)) {
      return front_expr_op(f, EXPR_UNARY, op, loc, front_truth_type(f, a->type), a, NULL);
    }
    if (!front_is_scalar(a->type)) return refuse_unary(f, op, loc, a);
    a = front_convert(f, a, front_bool(f));
    return front_expr_op(f, EXPR_UNARY, op, loc, front_int(f, 32, true), a, NULL);
  }
  if (!front_is_numeric(a->type)) return refuse_unary(f, op, loc, a);
  if (op == OP_BITNOT && front_is_floating(a->type)) return refuse_unary(f, op, loc, a);
  a = front_promote(f, a);
  front_expr *e = front_expr_op(f, EXPR_UNARY, op, loc, a->type->plain, a, NULL);
  /* A negative number is a constant as its positive one is: "x > -1" beside a vector, a null pointer from -0. */
  if (a->kind == EXPR_CONST && !front_is_error(e)) {
    ir_inst *folded = front_fold(f, e);
    if (folded != NULL) {
      e->kind = EXPR_CONST;
      e->u.constant = folded;
    }
  }
  return e;
}

front_expr *front_comma(front *f, qn_loc loc, front_expr *a, front_expr *b) {
  b = front_value(f, b);
  if (front_is_error(a) || front_is_error(b)) return front_expr_error(f, loc);
  return front_expr_op(f, EXPR_COMMA, OP_ADD, loc, b->type->plain, a, b);
}

/* ---- Conditional ---------------------------------------------------------------------------------------- */

static front_expr *three(front *f, front_expr_kind kind, qn_loc loc, const front_type *type, front_expr *a,
                         front_expr *b, front_expr *c) {
  front_expr *e = front_expr_op(f, kind, OP_ADD, loc, type, a, b);
  e->c = c;
  if (c->depth >= e->depth) e->depth = c->depth + 1;
  return e;
}

/* Two pointers, or a pointer and null. NULL: they don't meet, reported. */
static const front_type *common_pointer(front *f, qn_loc loc, front_expr *b, front_expr *c) {
  if (front_is_null_constant(c) && front_is_pointer(b->type)) return b->type->plain;
  if (front_is_null_constant(b) && front_is_pointer(c->type)) return c->type->plain;
  if (!front_is_pointer(b->type) || !front_is_pointer(c->type)) return NULL;
  const front_type *x = b->type->elem, *y = c->type->elem;
  if (x->space != y->space) return NULL;
  uint32_t quals = x->quals | y->quals;
  if (x->plain != y->plain && x->kind != FRONT_VOID && y->kind != FRONT_VOID) {
    front_warning(f, loc, 1, "the results of ?: are different pointer types: '%s' and '%s'",
                  front_type_text(f, b->type->plain), front_type_text(f, c->type->plain));
  }
  return front_pointer_to(f, x->kind == FRONT_VOID ? y : x, x->space, quals);
}

static front_expr *refuse_results(front *f, qn_loc loc, const front_expr *b, const front_expr *c) {
  front_error(f, loc, 1, "the results of ?: don't fit together: '%s' and '%s'", front_type_text(f, b->type->plain),
              front_type_text(f, c->type->plain));
  return front_expr_error(f, loc);
}

static front_expr *choose_whole(front *f, qn_loc loc, front_expr *a, front_expr *b, front_expr *c) {
  a = front_condition(f, a, "the condition of ?:");
  if (front_is_error(a)) return a;
  a = front_convert(f, a, front_bool(f));
  if (front_is_numeric(b->type) && front_is_numeric(c->type)) {
    if (!front_usual_conversions(f, loc, &b, &c)) return front_expr_error(f, loc);
    return three(f, EXPR_CONDITIONAL, loc, b->type->plain, a, b, c);
  }
  if (front_same(b->type, c->type) && !front_is_pointer(b->type)) {
    return three(f, EXPR_CONDITIONAL, loc, b->type->plain, a, b, c);
  }
  if (b->type->kind == FRONT_VOID || c->type->kind == FRONT_VOID) return refuse_results(f, loc, b, c);
  const front_type *pointer = common_pointer(f, loc, b, c);
  if (pointer == NULL) return refuse_results(f, loc, b, c);
  return three(f, EXPR_CONDITIONAL, loc, pointer, a, front_convert(f, b, pointer), front_convert(f, c, pointer));
}

/* (int4)c ? b : d, lane by lane; scalars are widened. */
static front_expr *choose_lanes(front *f, qn_loc loc, front_expr *a, front_expr *b, front_expr *c) {
  if (!front_is_integral(a->type)) {
    front_error(f, a->loc, a->length, "the condition of ?: on vectors must have integers, not '%s'",
                front_type_text(f, a->type->plain));
    return front_expr_error(f, loc);
  }
  if (!front_is_numeric(b->type) || !front_is_numeric(c->type)) return refuse_results(f, loc, b, c);
  if (!front_is_vector(b->type) && !front_is_vector(c->type)) {
    /* Two scalars become vectors of the condition's shape. */
    const front_type *elem = front_is_floating(b->type) ? front_elem(b->type) : front_elem(c->type);
    bool is_float = front_is_floating(elem);
    if (!is_float || elem->bits != a->type->elem->bits) {
      elem = is_float ? front_float(f, a->type->elem->bits) : front_int(f, a->type->elem->bits, true);
    }
    b = front_convert(f, b, front_vector(f, elem, a->type->lanes));
  }
  if (!front_usual_conversions(f, loc, &b, &c)) return front_expr_error(f, loc);
  const front_type *type = b->type->plain;
  if (type->lanes != a->type->lanes || type->elem->bits != a->type->elem->bits) {
    front_error(f, loc, 1, "the condition '%s' of ?: needs results with as many lanes of the same width, not '%s'",
                front_type_text(f, a->type->plain), front_type_text(f, type));
    return front_expr_error(f, loc);
  }
  return three(f, EXPR_CHOOSE, loc, type, a, b, c);
}

front_expr *front_conditional(front *f, qn_loc loc, front_expr *a, front_expr *b, front_expr *c) {
  a = front_value(f, a);
  b = front_value(f, b);
  c = front_value(f, c);
  if (front_is_error(a) || front_is_error(b) || front_is_error(c)) return front_expr_error(f, loc);
  return front_is_vector(a->type) ? choose_lanes(f, loc, a, b, c) : choose_whole(f, loc, a, b, c);
}
