/* operator.h - what operators mean: operands checked and converted, a tree made. `loc` is the operator's place. Each
 * gives an error tree when it has reported or was given one. */
#ifndef QUERN_COMPILER_FRONT_OPERATOR_H
#define QUERN_COMPILER_FRONT_OPERATOR_H

#include "compiler/front/ast.h"

front_expr *front_binary(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b);
front_expr *front_unary(front *f, front_op op, qn_loc loc, front_expr *a);
front_expr *front_conditional(front *f, qn_loc loc, front_expr *a, front_expr *b, front_expr *c);
front_expr *front_comma(front *f, qn_loc loc, front_expr *a, front_expr *b);

/* Assignments (assign.c). */
front_expr *front_assign(front *f, qn_loc loc, front_expr *a, front_expr *b);
front_expr *front_compound(front *f, front_op op, qn_loc loc, front_expr *a, front_expr *b);
front_expr *front_step(front *f, front_op op, bool is_postfix, qn_loc loc, front_expr *a);

/* Places (place.c). */
front_expr *front_deref(front *f, qn_loc loc, front_expr *a);
front_expr *front_address(front *f, qn_loc loc, front_expr *a);
front_expr *front_subscript(front *f, qn_loc loc, front_expr *a, front_expr *b);
/* a.name or, with is_arrow, a->name. `loc` is the name's place. */
front_expr *front_member_named(front *f, qn_loc loc, uint32_t length, front_expr *a, bool is_arrow, qn_sv name);
front_expr *front_object_expr(front *f, qn_loc loc, uint32_t length, front_object *object);
/* The object that an lvalue is in, when no pointer is between; else NULL. */
front_object *front_object_of(front_expr *e);
/* Lanes of the vector `a` by name (swizzle.c). */
front_expr *front_swizzle(front *f, qn_loc loc, uint32_t length, front_expr *a, qn_sv name);

/* A call of a function of the program or a built-in one (call.c). */
front_expr *front_call(front *f, qn_loc loc, uint32_t length, front_func *callee, front_expr **args, uint32_t count);
/* Of functions with one name, the one that fits the arguments best (overload.c). NULL: reported. */
front_func *front_choose_overload(front *f, qn_loc loc, uint32_t length, front_func *first, front_expr **args,
                                  uint32_t count);
front_expr *front_call_builtin(front *f, qn_loc loc, uint32_t length, const front_builtin *builtin, front_expr **args,
                               uint32_t count);

#endif
