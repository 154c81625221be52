/* place.c - trees that name a place in memory. */
#include "compiler/front/convert.h"
#include "compiler/front/operator.h"
#include "compiler/front/scope.h"

front_expr *front_object_expr(front *f, qn_loc loc, uint32_t length, front_object *object) {
  object->is_used = true;
  bool is_known = !object->is_failed || object->kind == OBJECT_PRIVATE || object->kind == OBJECT_LOCAL;
  if (!is_known) return front_expr_error(f, loc); /* its value or its type was reported */
  front_expr *e = front_expr_new(f, EXPR_OBJECT, loc, length, object->type);
  e->is_lvalue = true;
  e->u.object = object;
  return e;
}

front_object *front_object_of(front_expr *e) {
  for (;;) {
    switch (e->kind) {
      case EXPR_OBJECT:
      case EXPR_LITERAL:
        return e->u.object;
      case EXPR_MEMBER:
      case EXPR_SWIZZLE:
      case EXPR_LANE:
      case EXPR_DECAY:
        e = e->a;
        break;
      case EXPR_POINTER_ADD: /* an element of an array: a[i] is *(a + i) */
      case EXPR_DEREF:
        if (e->a->kind != EXPR_DECAY && e->a->kind != EXPR_POINTER_ADD) return NULL;
        e = e->a;
        break;
      default:
        return NULL;
    }
  }
}

front_expr *front_deref(front *f, qn_loc loc, front_expr *a) {
  a = front_value(f, a);
  if (front_is_error(a)) return a;
  if (!front_is_pointer(a->type)) {
    front_error(f, loc, 1, "unary * needs a pointer, not '%s'", front_type_text(f, a->type->plain));
    return front_expr_error(f, loc);
  }
  const front_type *type = a->type->elem;
  if (!front_is_complete(type)) {
    if (front_is_incomplete_news(type)) {
      front_error(f, loc, 1, "a pointer to '%s' can't be followed: cast it to a complete type",
                  front_type_text(f, type));
    }
    return front_expr_error(f, loc);
  }
  front_expr *e = front_expr_op(f, EXPR_DEREF, OP_ADD, loc, type, a, NULL);
  e->is_lvalue = true;
  front_object *object = front_object_of(e); /* an array's, whose pointer is followed here */
  if (object != NULL) object->escapes--;
  return e;
}

front_expr *front_address(front *f, qn_loc loc, front_expr *a) {
  if (front_is_error(a)) return a;
  if (a->type->kind == FRONT_FUNCTION) {
    front_error(f, loc, 1, "a function has no address; OpenCL C has no pointers to functions");
    return front_expr_error(f, loc);
  }
  if (a->kind == EXPR_SWIZZLE || a->kind == EXPR_LANE) {
    front_error(f, loc, 1, "a vector's lanes have no address: take that of the whole vector and cast it");
    return front_expr_error(f, loc);
  }
  if (!a->is_lvalue) {
    front_error(f, loc, 1, "operator & needs a variable or an element, not a value of type '%s'",
                front_type_text(f, a->type->plain));
    return front_expr_error(f, loc);
  }
  front_object *object = front_object_of(a);
  if (object != NULL) object->is_assigned = true;
  return front_expr_op(f, EXPR_ADDRESS, OP_ADD, loc, front_pointer(f, a->type), a, NULL);
}

static front_expr *vector_lane(front *f, qn_loc loc, front_expr *a, front_expr *index) {
  if (!front_is_integer(index->type)) {
    front_error(f, index->loc, index->length, "the index of a vector's lane must be an integer, not '%s'",
                front_type_text(f, index->type->plain));
    return front_expr_error(f, loc);
  }
  uint64_t lane;
  if (front_fold_integer(f, index, &lane) && lane >= a->type->lanes) {
    front_error(f, index->loc, index->length, "'%s' has lanes 0 to %u", front_type_text(f, a->type->plain),
                a->type->lanes - 1);
    return front_expr_error(f, loc);
  }
  const front_type *type = a->type->elem;
  if (a->is_lvalue) type = front_qualify(f, type, a->type->quals, a->type->space);
  front_expr *e = front_expr_op(f, EXPR_LANE, OP_ADD, loc, type, a, front_promote(f, index));
  e->is_lvalue = a->is_lvalue;
  return e;
}

/* Warns of a constant index beside the array's end. */
static void check_bounds(front *f, const front_expr *a, front_expr *index) {
  uint64_t at;
  if (a->kind != EXPR_DECAY || index->kind != EXPR_CONST || !front_fold_integer(f, index, &at)) return;
  uint64_t length = a->a->type->length;
  if (length == FRONT_UNKNOWN_LENGTH || at < length || a->a->kind == EXPR_MEMBER) return;
  front_warning(f, index->loc, index->length, "index %lld is outside of the array, which has %llu elements",
                (long long)at, (unsigned long long)length);
}

front_expr *front_subscript(front *f, qn_loc loc, front_expr *a, front_expr *b) {
  bool is_vector = front_is_vector(a->type);
  if (!is_vector) a = front_value(f, a);
  b = front_value(f, b);
  if (front_is_error(a) || front_is_error(b)) return front_expr_error(f, loc);
  if (is_vector) return vector_lane(f, loc, a, b);
  if (front_is_integer(a->type) && front_is_pointer(b->type)) { /* 2[a] */
    front_expr *swapped = a;
    a = b;
    b = swapped;
  }
  if (!front_is_pointer(a->type)) {
    front_error(f, loc, 1, "only arrays, pointers and vectors have elements, not '%s'",
                front_type_text(f, a->type->plain));
    return front_expr_error(f, loc);
  }
  if (!front_is_integer(b->type)) {
    front_error(f, b->loc, b->length, "an array index must be an integer, not '%s'",
                front_type_text(f, b->type->plain));
    return front_expr_error(f, loc);
  }
  check_bounds(f, a, b);
  front_expr *element = front_deref(f, loc, front_binary(f, OP_ADD, loc, a, b));
  element->loc = a->loc;
  element->length = a->length;
  return element;
}

/* ---- Members ------------------------------------------------------------------------------------------ */

/* a.member, one level. */
static front_expr *member_at(front *f, qn_loc loc, uint32_t length, front_expr *a, uint32_t index) {
  const front_member *member = &a->type->record->members[index];
  const front_type *type = member->type;
  if (a->is_lvalue) type = front_qualify(f, type, a->type->quals, a->type->space);
  front_expr *e = front_expr_op(f, EXPR_MEMBER, OP_ADD, loc, type, a, NULL);
  e->length = length;
  e->is_lvalue = a->is_lvalue;
  e->u.member = index;
  return e;
}

/* Looks through anonymous members. NULL: no such member. */
static front_expr *find_member(front *f, qn_loc loc, uint32_t length, front_expr *a, qn_sv name) {
  const front_record *record = a->type->record;
  for (uint32_t i = 0; i < record->member_count; i++) {
    const front_member *member = &record->members[i];
    if (member->name.size > 0) {
      if (qn_sv_equal(member->name, name)) return member_at(f, loc, length, a, i);
    } else if (member->type->kind == FRONT_RECORD) {
      front_expr *between = member_at(f, loc, length, a, i);
      if (front_is_error(between)) return between; /* too deep, or no memory */
      front_expr *inner = find_member(f, loc, length, between, name);
      if (inner != NULL) return inner;
    }
  }
  return NULL;
}

static front_expr *no_member(front *f, qn_loc loc, uint32_t length, const front_type *type, qn_sv name) {
  const front_record *record = type->record;
  if (record->is_failed) return front_expr_error(f, loc);
  size_t distance = front_near_limit(name);
  qn_sv best = {NULL, 0};
  for (uint32_t i = 0; i < record->member_count; i++) {
    if (front_is_nearer(name, record->members[i].name, &distance)) best = record->members[i].name;
  }
  front_error(f, loc, length, "no member named '%.*s' in '%s'%s%.*s%s", QN_SV_ARG(name),
              front_type_text(f, type->plain), best.size > 0 ? "; did you mean '" : "", QN_SV_ARG(best),
              best.size > 0 ? "'?" : "");
  return front_expr_error(f, loc);
}

front_expr *front_member_named(front *f, qn_loc loc, uint32_t length, front_expr *a, bool is_arrow, qn_sv name) {
  if (is_arrow) {
    a = front_value(f, a);
    if (front_is_error(a)) return a;
    if (!front_is_pointer(a->type)) {
      front_error(f, loc, length, "-> needs a pointer, not '%s'%s", front_type_text(f, a->type->plain),
                  a->type->kind == FRONT_RECORD ? "; use '.'" : "");
      return front_expr_error(f, loc);
    }
    a = front_deref(f, loc, a);
  }
  if (front_is_error(a)) return a;
  if (front_is_vector(a->type)) return front_swizzle(f, loc, length, a, name);
  if (a->type->kind != FRONT_RECORD) {
    bool is_pointer = front_is_pointer(a->type) && !is_arrow;
    front_error(f, loc, length, "'%s' has no members%s", front_type_text(f, a->type->plain),
                is_pointer ? "; use '->' on a pointer" : ": it is neither struct, union nor vector");
    return front_expr_error(f, loc);
  }
  if (!a->type->record->is_complete) {
    if (front_is_incomplete_news(a->type)) {
      front_error(f, loc, length, "'%s' is declared but not defined here", front_type_text(f, a->type->plain));
    }
    return front_expr_error(f, loc);
  }
  front_expr *e = find_member(f, loc, length, a, name);
  return e != NULL ? e : no_member(f, loc, length, a->type, name);
}
