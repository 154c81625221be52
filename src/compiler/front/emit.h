/* emit.h - trees to instructions, through f->b. Out of memory is kept in the module; makers go on with spare objects,
 * so that only those who look into an instruction's blocks check f->m->failed. */
#ifndef QUERN_COMPILER_FRONT_EMIT_H
#define QUERN_COMPILER_FRONT_EMIT_H

#include "compiler/front/ast.h"

/* ---- emit_function.c ---- */
/* Emits a kernel that was read just now, with what it calls: its tree is still in the processor's caches, which the
 * program's tree may not fit. Left to front_emit_program from the first kernel on that calls what is not defined yet, so
 * that functions stand in order of declaration, and when there are errors. */
void front_emit_kernel(front *f, front_func *kernel);
/* At the end: emits kernels and what they call; in a program without kernels all functions but unused static ones. */
void front_emit_program(front *f);
/* The IR's function that a call of `func` names; declares it when it isn't there. */
ir_function *front_ir_function(front *f, front_func *func);

/* ---- emit_expr.c ---- */
/* The value; of a record or array: NULL, use front_emit_place. Void: NULL. */
ir_inst *front_emit_value(front *f, front_expr *e);
/* The value of a scalar as a bool of the IR: whether it is not zero. */
ir_inst *front_emit_truth(front *f, front_expr *e);
/* For its effects only. */
void front_emit_effect(front *f, front_expr *e);

/* ---- emit_convert.c ---- */
ir_inst *front_emit_conversion(front *f, ir_inst *value, const front_type *from, const front_type *to);
/* value != 0, of a scalar or vector of `type`: bool or bools. */
ir_inst *front_emit_nonzero(front *f, ir_inst *value, const front_type *type);
/* An index as wide as an address, with its sign. */
ir_inst *front_emit_index(front *f, ir_inst *value, const front_type *type);

/* ---- emit_operator.c ---- */
/* x op y of values of `type`, with the flags that `e` wants. */
ir_inst *front_emit_arithmetic(front *f, const front_expr *e, front_op op, const front_type *type, ir_inst *x,
                               ir_inst *y);
ir_inst *front_emit_compare(front *f, front_op op, const front_type *type, ir_inst *x, ir_inst *y);
/* pointer + index or, with OP_SUB, pointer - index. */
ir_inst *front_emit_pointer_add(front *f, front_op op, ir_inst *pointer, ir_inst *index);

/* ---- emit_place.c ---- */
typedef enum front_place_kind {
  PLACE_MEMORY, /* *pointer */
  PLACE_VALUE,  /* a value without memory; it is never written */
  PLACE_LANES,  /* lanes of the vector at *pointer */
  PLACE_LANE    /* one lane of the vector at *pointer, by index */
} front_place_kind;
typedef struct front_place {
  front_place_kind kind;
  ir_inst *pointer;
  ir_inst *value;
  uint64_t align; /* known alignment when it is less than the type's, else 0 */
  bool is_volatile;
  const front_expr *lanes; /* the swizzle */
  ir_inst *index;
} front_place;
front_place front_emit_place(front *f, front_expr *e);
ir_inst *front_load(front *f, const front_place *place);
void front_store(front *f, const front_place *place, ir_inst *value);
/* Copies a record or array between places in memory. */
void front_copy(front *f, const front_place *target, const front_place *source);
ir_inst *front_emit_lanes(front *f, ir_inst *vector, const front_expr *swizzle);
/* A private variable of the function that is emitted. */
ir_var *front_temporary(front *f, const char *name, const front_type *type);
/* The constant's variable, made at its first use. */
ir_var *front_constant_var(front *f, front_object *object);
/* A string as a constant. */
ir_var *front_string_var(front *f, const front_expr *e);

/* ---- emit_init.c ---- */
void front_emit_init(front *f, const front_init *init, ir_inst *pointer);

/* ---- emit_stmt.c, emit_switch.c ---- */
/* Statements from `stmt` up to `end`, which may be NULL. */
void front_emit_list(front *f, front_stmt *stmt, const front_stmt *end);
void front_emit_switch(front *f, front_stmt *stmt);

#endif
