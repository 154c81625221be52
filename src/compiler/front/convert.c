#include "compiler/front/convert.h"

#include "compiler/front/operator.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

/* Left-deep chains like a + b + c + ... have no brackets; emission recurses through them. */
enum { TREE_DEPTH_LIMIT = 2000 };

/* ---- Trees ---------------------------------------------------------------------------------------- */

/* What is given out when memory is out: never written to by those who check front_is_error. */
static front_expr *spare_expr(front *f) {
  static _Thread_local front_expr spare;
  spare = (front_expr){.kind = EXPR_ERROR, .type = front_error_type(f)};
  return &spare;
}

front_expr *front_expr_new(front *f, front_expr_kind kind, qn_loc loc, uint32_t length, const front_type *type) {
  front_expr *e = QN_ARENA_NEW(f->arena, front_expr);
  if (e == NULL) {
    f->failed = true;
    return spare_expr(f);
  }
  e->kind = (type->kind == FRONT_ERROR ? EXPR_ERROR : kind) & 0xff;
  e->loc = loc;
  e->length = length;
  e->type = type;
  e->depth = 1;
  e->is_contract = f->fp_contract;
  return e;
}

front_expr *front_expr_error(front *f, qn_loc loc) {
  return front_expr_new(f, EXPR_ERROR, loc, 1, front_error_type(f));
}

front_expr *front_expr_op(front *f, front_expr_kind kind, front_op op, qn_loc loc, const front_type *type,
                          front_expr *a, front_expr *b) {
  front_expr *e = front_expr_new(f, kind, loc, 1, type);
  e->op = op & 0xff;
  e->a = a;
  e->b = b;
  if (a != NULL && a->depth >= e->depth) e->depth = a->depth + 1;
  if (b != NULL && b->depth >= e->depth) e->depth = b->depth + 1;
  if (e->depth <= TREE_DEPTH_LIMIT) return e;
  front_fatal(f, loc, "expression is more than %d operators deep; split it", TREE_DEPTH_LIMIT);
  return front_expr_error(f, loc);
}

front_expr *front_expr_int(front *f, qn_loc loc, uint32_t length, const front_type *type, uint64_t value) {
  front_expr *e = front_expr_new(f, EXPR_CONST, loc, length, type);
  e->u.constant = ir_const_int(f->m, front_ir(f, type), value);
  return e;
}

/* ---- Values ---------------------------------------------------------------------------------------- */

bool front_check_half(front *f, qn_loc loc, uint32_t length, const front_type *type) {
  const front_type *elem = front_elem(type);
  if (elem->kind != FRONT_FLOAT || elem->bits != 16 || f->m->model.has_half) return true;
  if (front_is_half_news(f)) {
    front_error(
        f, loc, length,
        "the device has no arithmetic on '%s' (cl_khr_fp16): read it with vload_half and write it with vstore_half",
        front_type_text(f, type->plain));
  }
  return false;
}

front_expr *front_decay(front *f, front_expr *e) {
  if (e->type->kind != FRONT_ARRAY) return e;
  front_expr *pointer = front_expr_op(f, EXPR_DECAY, OP_ADD, e->loc, front_pointer(f, e->type->elem), e, NULL);
  pointer->length = e->length;
  front_object *object = front_object_of(e);
  if (object != NULL) object->escapes++;
  return pointer;
}

front_expr *front_value(front *f, front_expr *e) {
  if (front_is_error(e)) return e;
  if (e->type->kind == FRONT_FUNCTION) {
    front_error(f, e->loc, e->length, "a function can only be called; OpenCL C has no pointers to functions");
    return front_expr_error(f, e->loc);
  }
  if (e->type->kind == FRONT_ARRAY) return front_decay(f, e);
  if (e->is_lvalue && !front_check_half(f, e->loc, e->length, e->type)) return front_expr_error(f, e->loc);
  return e;
}

bool front_is_null_constant(const front_expr *e) {
  if (e->kind == EXPR_CONST) return front_is_integer(e->type) && e->u.constant->imm == 0;
  bool is_void_pointer = e->type->kind == FRONT_POINTER && e->type->elem->kind == FRONT_VOID;
  return e->kind == EXPR_CONVERT && is_void_pointer && front_is_null_constant(e->a);
}

front_expr *front_convert(front *f, front_expr *e, const front_type *type) {
  if (front_is_error(e)) return e;
  if (e->type->plain == type->plain) return e;
  front_expr *made = front_expr_op(f, EXPR_CONVERT, OP_ADD, e->loc, type->plain, e, NULL);
  made->length = e->length;
  return made;
}

/* ---- Implicit conversions --------------------------------------------------------------------------- */

static const char *const use_verbs[] = {"assigning to", "initializing", "passing to parameter of type", "returning"};

/* "initializing 'int' with an expression of type 'float4'", as clang words it. */
static front_expr *refuse(front *f, front_expr *e, const front_type *type, front_use use, const char *why) {
  const char *to = front_type_text(f, type->plain), *from = front_type_text(f, e->type->plain);
  switch (use) {
    case USE_ASSIGN:
      front_error(f, e->loc, e->length, "assigning to '%s' from '%s' %s", to, from, why);
      break;
    case USE_INITIALIZE:
      front_error(f, e->loc, e->length, "initializing '%s' with an expression of type '%s' %s", to, from, why);
      break;
    case USE_PASS:
      front_error(f, e->loc, e->length, "passing '%s' to a parameter of type '%s' %s", from, to, why);
      break;
    case USE_RETURN:
      front_error(f, e->loc, e->length, "returning '%s' from a function with result type '%s' %s", from, to, why);
      break;
  }
  return front_expr_error(f, e->loc);
}

static void warn_pointer(front *f, const front_expr *e, const front_type *type, front_use use, const char *what) {
  front_warning(f, e->loc, e->length, "%s '%s' from '%s' %s", use_verbs[use], front_type_text(f, type->plain),
                front_type_text(f, e->type->plain), what);
}

static bool lacks_quals(const front_type *to, const front_type *from) {
  /* Constant memory is const whether that is said or not. */
  uint32_t kept = from->space == IR_CONSTANT ? FRONT_VOLATILE : FRONT_CONST | FRONT_VOLATILE;
  return (from->quals & kept & ~to->quals) != 0;
}

static front_expr *convert_pointer(front *f, front_expr *e, const front_type *type, front_use use) {
  const front_type *to = type->elem, *from = e->type->elem;
  if (front_is_null_constant(e)) return front_convert(f, e, type);
  if (to->space != from->space) {
    return refuse(f, e, type, use, "changes the address space of the pointer");
  }
  if (to->plain != from->plain && to->kind != FRONT_VOID && from->kind != FRONT_VOID) {
    warn_pointer(f, e, type, use, "is between incompatible pointer types; cast it if it is meant");
  } else if (lacks_quals(to, from)) {
    warn_pointer(f, e, type, use, "discards qualifiers");
  }
  return front_convert(f, e, type);
}

/* Whether the constant `e` keeps its value in the element type `to`. Any float may be rounded. */
static bool constant_fits(front *f, front_expr *e, const front_type *to) {
  if (front_is_float(to)) return front_fold(f, e) != NULL;
  uint64_t value;
  if (!front_is_integer(e->type) || !front_fold_integer(f, e, &value)) return false;
  bool negative = e->type->is_signed && (int64_t)value < 0;
  if (to->bits == 64) return true;
  if (negative) return to->is_signed && (int64_t)value >= -((int64_t)1 << (to->bits - 1));
  return value < (uint64_t)1 << (to->is_signed ? to->bits - 1 : to->bits);
}

/* A scalar beside a vector. A greater rank is an error but for constants that fit. `explicit` conversions by cast or
 * assignment always go. */
static bool may_widen(front *f, front_expr *scalar, const front_type *elem) {
  const front_type *from = scalar->type->plain;
  if (from->kind == FRONT_BOOL) return true;
  if (front_is_float(elem)) {
    return front_is_integer(from) || from->bits <= elem->bits || constant_fits(f, scalar, elem);
  }
  if (!front_is_integer(from)) return false;
  return from->bits <= elem->bits || constant_fits(f, scalar, elem);
}

static front_expr *convert_to_vector(front *f, front_expr *e, const front_type *type, front_use use) {
  if (front_is_arithmetic(e->type)) {
    if (!front_check_half(f, e->loc, e->length, type)) return front_expr_error(f, e->loc);
    return front_convert(f, e, type);
  }
  if (!front_is_vector(e->type)) return refuse(f, e, type, use, "is not possible");
  return refuse(f, e, type, use,
                e->type->lanes == type->lanes ? "needs convert_ or as_: vectors are never converted implicitly"
                                              : "is between vectors of different lengths");
}

front_expr *front_convert_implicit(front *f, front_expr *e, const front_type *type, front_use use) {
  e = front_value(f, e);
  if (front_is_error(e) || type->kind == FRONT_ERROR) return front_is_error(e) ? e : front_expr_error(f, e->loc);
  if (front_same(e->type, type)) return e;
  if (type->kind == FRONT_POINTER) {
    if (front_is_null_constant(e)) return front_convert(f, e, type);
    if (e->type->kind == FRONT_POINTER) return convert_pointer(f, e, type, use);
    return refuse(f, e, type, use,
                  front_is_integer(e->type) ? "makes a pointer from an integer without a cast" : "is not possible");
  }
  if (e->type->kind == FRONT_POINTER) {
    if (type->kind == FRONT_BOOL) return front_convert(f, e, type);
    return refuse(f, e, type, use,
                  front_is_integer(type) ? "makes an integer from a pointer without a cast" : "is not possible");
  }
  if (front_is_vector(type)) return convert_to_vector(f, e, type, use);
  if (front_is_arithmetic(type) && front_is_arithmetic(e->type)) {
    if (!front_check_half(f, e->loc, e->length, type)) return front_expr_error(f, e->loc);
    return front_convert(f, e, type);
  }
  return refuse(f, e, type, use, "is not possible");
}

/* ---- Arithmetic ------------------------------------------------------------------------------------- */

front_expr *front_promote(front *f, front_expr *e) {
  bool is_small = e->type->kind == FRONT_BOOL || (e->type->kind == FRONT_INT && e->type->bits < 32);
  return is_small ? front_convert(f, e, front_int(f, 32, true)) : e;
}

static const front_type *common_scalar(front *f, const front_type *a, const front_type *b) {
  if (front_is_float(a) || front_is_float(b)) {
    if (!front_is_float(a)) return b->plain;
    if (!front_is_float(b)) return a->plain;
    return a->bits >= b->bits ? a->plain : b->plain;
  }
  uint32_t bits = a->bits > b->bits ? a->bits : b->bits; /* both promoted: 32 or 64 */
  bool is_unsigned = (a->bits == bits && !a->is_signed) || (b->bits == bits && !b->is_signed);
  return front_int(f, bits, !is_unsigned);
}

static bool refuse_operands(front *f, qn_loc loc, const front_expr *a, const front_expr *b, const char *why) {
  front_error(f, loc, 1, "%s ('%s' and '%s')", why, front_type_text(f, a->type->plain),
              front_type_text(f, b->type->plain));
  return false;
}

bool front_usual_conversions(front *f, qn_loc op_loc, front_expr **a, front_expr **b) {
  bool a_vector = front_is_vector((*a)->type), b_vector = front_is_vector((*b)->type);
  if (a_vector && b_vector) {
    if (front_same((*a)->type, (*b)->type)) return true;
    return refuse_operands(f, op_loc, *a, *b,
                           "vector operands must have the same type; use convert_ or as_ on one of them");
  }
  if (a_vector || b_vector) {
    front_expr **scalar = a_vector ? b : a, *vector = a_vector ? *a : *b;
    if (!may_widen(f, *scalar, vector->type->elem)) {
      return refuse_operands(f, op_loc, *a, *b, "the scalar operand's type doesn't fit the vector's elements");
    }
    *scalar = front_convert(f, *scalar, vector->type);
    return true;
  }
  *a = front_promote(f, *a);
  *b = front_promote(f, *b);
  const front_type *common = common_scalar(f, (*a)->type, (*b)->type);
  *a = front_convert(f, *a, common);
  *b = front_convert(f, *b, common);
  return true;
}

front_expr *front_condition(front *f, front_expr *e, const char *what) {
  e = front_value(f, e);
  if (front_is_error(e)) return e;
  if (front_is_scalar(e->type)) return e;
  const char *hint = front_is_vector(e->type) ? "; use any() or all() on a vector" : "";
  front_error(f, e->loc, e->length, "%s must be a scalar, not '%s'%s", what, front_type_text(f, e->type->plain), hint);
  return front_expr_error(f, e->loc);
}

/* ---- Casts ------------------------------------------------------------------------------------------- */

static front_expr *refuse_cast(front *f, qn_loc loc, const front_type *type, const front_expr *e, const char *why) {
  front_error(f, loc, 1, "cast from '%s' to '%s' %s", front_type_text(f, e->type->plain),
              front_type_text(f, type->plain), why);
  return front_expr_error(f, loc);
}

static front_expr *cast_vector(front *f, qn_loc loc, const front_type *type, front_expr *e) {
  if (front_is_vector(e->type)) {
    return refuse_cast(f, loc, type, e, "is not allowed between vectors: use convert_ for values or as_ for bits");
  }
  if (!front_is_arithmetic(e->type)) return refuse_cast(f, loc, type, e, "is not possible");
  return front_convert(f, e, type);
}

front_expr *front_cast(front *f, qn_loc loc, const front_type *type, front_expr *e) {
  if (type->kind == FRONT_ERROR || front_is_error(e)) return front_is_error(e) ? e : front_expr_error(f, loc);
  if (type->kind == FRONT_VOID) {
    front_expr *made = front_expr_op(f, EXPR_CONVERT, OP_ADD, loc, front_void(f), e, NULL);
    return made;
  }
  e = front_value(f, e);
  if (front_is_error(e)) return e;
  if (!front_check_half(f, loc, 1, type)) return front_expr_error(f, loc);
  front_expr *made;
  if (front_same(type, e->type) && !front_is_aggregate(type)) {
    made = front_expr_op(f, EXPR_CONVERT, OP_ADD, loc, type->plain, e, NULL); /* a cast is no lvalue */
  } else if (front_is_vector(type)) {
    made = cast_vector(f, loc, type, e);
  } else if (!front_is_scalar(type)) {
    return refuse_cast(f, loc, type, e, "is not possible: a cast makes a scalar, a vector or void");
  } else if (!front_is_scalar(e->type)) {
    return refuse_cast(f, loc, type, e,
                       front_is_vector(e->type) ? "would drop lanes: name one, as in v.x" : "is not possible");
  } else if (front_is_pointer(type) && front_is_pointer(e->type) && type->elem->space != e->type->elem->space &&
             !front_is_null_constant(e)) {
    return refuse_cast(f, loc, type, e, "changes the address space of the pointer");
  } else if ((front_is_pointer(type) && front_is_float(e->type)) ||
             (front_is_pointer(e->type) && front_is_float(type))) {
    return refuse_cast(f, loc, type, e, "is not possible");
  } else {
    made = front_convert(f, e, type);
  }
  return made;
}

front_expr *front_vector_literal(front *f, qn_loc loc, const front_type *type, front_expr **args, uint32_t count) {
  uint32_t lanes = 0;
  uint32_t depth = 1;
  for (uint32_t i = 0; i < count; i++) {
    args[i] = front_value(f, args[i]);
    front_expr *arg = args[i];
    if (front_is_error(arg)) return arg;
    if (front_is_vector(arg->type) ? !front_same(arg->type->elem, type->elem) : !front_is_arithmetic(arg->type)) {
      front_error(f, arg->loc, arg->length, "a literal of '%s' can't be made from '%s'",
                  front_type_text(f, type->plain), front_type_text(f, arg->type->plain));
      return front_expr_error(f, loc);
    }
    lanes += front_lanes(arg->type);
    if (!front_is_vector(arg->type)) args[i] = front_convert(f, arg, type->elem);
    if (args[i]->depth >= depth) depth = args[i]->depth + 1;
  }
  if (!front_check_half(f, loc, 1, type)) return front_expr_error(f, loc);
  if (count == 1 && lanes == 1) return front_convert(f, args[0], type);
  if (lanes != type->lanes) {
    front_error(f, loc, 1, "%s components in a literal of '%s': it has %u, given are %u",
                lanes < type->lanes ? "too few" : "too many", front_type_text(f, type->plain), type->lanes, lanes);
    return front_expr_error(f, loc);
  }
  front_expr *e = front_expr_new(f, EXPR_VECTOR, loc, 1, type->plain);
  e->depth = depth;
  e->u.call.args = args;
  e->u.call.count = count;
  return e;
}
