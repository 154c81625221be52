#include "compiler/front/convert.h"
#include "compiler/front/operator.h"

/* Whether `a` can be written; reports at `loc` and says so. */
static bool check_writable(front *f, qn_loc loc, front_expr *a) {
  const char *why = NULL;
  if (!a->is_lvalue) {
    bool is_doubled = a->kind == EXPR_SWIZZLE && a->a->is_lvalue;
    why = is_doubled ? "names a lane twice" : "is a value, not a variable or element";
  } else if (a->type->kind == FRONT_ARRAY) {
    why = "is an array; assign its elements";
  } else if (a->type->space == IR_CONSTANT) {
    why = "is in constant memory";
  } else if (a->type->quals & FRONT_CONST) {
    why = "is const";
  } else if (!front_is_complete(a->type)) {
    why = "has an incomplete type";
  }
  if (why != NULL) {
    front_error(f, loc, 1, "the left side can't be written: it %s ('%s')", why, front_type_text(f, a->type));
    return false;
  }
  if (!front_check_half(f, a->loc, a->length, a->type)) return false;
  front_object *object = front_object_of(a);
  if (object != NULL) object->is_assigned = true;
  return true;
}

front_expr *front_assign(front *f, qn_loc loc, front_expr *a, front_expr *b) {
  if (front_is_error(a) || front_is_error(b)) return front_expr_error(f, loc);
  if (!check_writable(f, loc, a)) return front_expr_error(f, loc);
  b = front_convert_implicit(f, b, a->type, USE_ASSIGN);
  if (front_is_error(b)) return b;
  return front_expr_op(f, EXPR_ASSIGN, OP_ADD, loc, a->type->plain, a, b);
}

/* The operator is checked on the left side's value, of which only the type is kept. */
front_expr *front_compound(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b) {
  b = front_value(f, b);
  if (front_is_error(a) || front_is_error(b)) return front_expr_error(f, loc);
  if (!check_writable(f, loc, a)) return front_expr_error(f, loc);
  front_expr *whole = front_binary(f, op, loc, a, b);
  if (front_is_error(whole)) return whole;
  bool is_pointer = whole->kind == EXPR_POINTER_ADD;
  if (is_pointer != front_is_pointer(a->type) || (front_is_vector(whole->type) && !front_is_vector(a->type))) {
    front_error(f, loc, 2, "'%s' can't be assigned to '%s'", front_type_text(f, whole->type->plain),
                front_type_text(f, a->type->plain));
    return front_expr_error(f, loc);
  }
  front_expr *e = front_expr_op(f, EXPR_COMPOUND, op, loc, a->type->plain, a, whole->b);
  e->u.calc = whole->type->plain;
  return e;
}

front_expr *front_step(front *f, front_op op, bool is_postfix, qn_loc loc, front_expr *a) {
  if (front_is_error(a)) return a;
  if (!check_writable(f, loc, a)) return front_expr_error(f, loc);
  bool is_object_pointer = front_is_pointer(a->type) && front_is_complete(a->type->elem);
  if (!front_is_numeric(a->type) && !is_object_pointer) {
    front_error(f, loc, 2, "'%s' can't be counted with %s", front_type_text(f, a->type->plain),
                op == OP_ADD ? "++" : "--");
    return front_expr_error(f, loc);
  }
  front_expr *e = front_expr_op(f, EXPR_STEP, op, loc, a->type->plain, a, NULL);
  e->is_postfix = is_postfix;
  return e;
}
