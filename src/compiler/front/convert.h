/* convert.h - conversions: what may become what, and the trees for it. */
#ifndef QUERN_COMPILER_FRONT_CONVERT_H
#define QUERN_COMPILER_FRONT_CONVERT_H

#include "compiler/front/ast.h"

/* Why an implicit conversion is made; for its message. */
typedef enum front_use { USE_ASSIGN, USE_INITIALIZE, USE_PASS, USE_RETURN } front_use;

/* A value: arrays become pointers to their first element, qualifiers fall away. Reports what has no value (void stays
 * void; half where the device has no half arithmetic). */
front_expr *front_value(front *f, front_expr *e);
/* Arrays become pointers; nothing else changes. */
front_expr *front_decay(front *f, front_expr *e);
/* The tree that converts, without asking whether it may; e itself when it has that type. */
front_expr *front_convert(front *f, front_expr *e, const front_type *type);
/* An implicit conversion, as by assignment. Reports what is not allowed and gives an error tree then. */
front_expr *front_convert_implicit(front *f, front_expr *e, const front_type *type, front_use use);
/* (type)e. `loc` is the opening parenthesis. */
front_expr *front_cast(front *f, qn_loc loc, const front_type *type, front_expr *e);
/* (type)(args...): a vector of as many lanes as the arguments have in all, or of one scalar. */
front_expr *front_vector_literal(front *f, qn_loc loc, const front_type *type, front_expr **args, uint32_t count);
/* Integer promotion of a scalar; a vector stays. */
front_expr *front_promote(front *f, front_expr *e);
/* The usual arithmetic conversions on scalars and vectors, with a scalar widened beside a vector. Both are numeric
 * values. False: reported at `op_loc`. */
bool front_usual_conversions(front *f, qn_loc op_loc, front_expr **a, front_expr **b);
/* A scalar as a condition. Reports vectors, structs and void. */
front_expr *front_condition(front *f, front_expr *e, const char *what);
bool front_is_null_constant(const front_expr *e);
/* Whether values of half may be computed with; else reports at `loc`. */
bool front_check_half(front *f, qn_loc loc, uint32_t length, const front_type *type);

/* The value of a constant expression, or NULL when it isn't one. Reports nothing. (fold.c) */
ir_inst *front_fold(front *f, front_expr *e);
/* The same for initialisers of program scope: also addresses of constants. */
ir_inst *front_fold_initializer(front *f, front_expr *e);
/* An integer constant expression: sets its value as 64 bits by its sign. False: it isn't one. Reports nothing. */
bool front_fold_integer(front *f, front_expr *e, uint64_t *out);

/* ---- Trees ---------------------------------------------------------------------------------------- */

front_expr *front_expr_new(front *f, front_expr_kind kind, qn_loc loc, uint32_t length, const front_type *type);
front_expr *front_expr_error(front *f, qn_loc loc);
/* With operands; counts the depth and reports a tree that is too deep. */
front_expr *front_expr_op(front *f, front_expr_kind kind, front_op op, qn_loc loc, const front_type *type,
                          front_expr *a, front_expr *b);
front_expr *front_expr_int(front *f, qn_loc loc, uint32_t length, const front_type *type, uint64_t value);
static inline bool front_is_error(const front_expr *e) { return e->type->kind == FRONT_ERROR; }

#endif
