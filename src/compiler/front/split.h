/* split.h - barriers that not all work-items of a group come to, as far as the source proves it: those below a condition
 * that compares a work-item's id with a constant, and behind what leaves by one. While a function is parsed f->split holds
 * such conditions, and each barrier below one becomes a suspect; at the function's end it is known which variables keep
 * their ids, and the suspects are judged; those of a function that is no kernel at the program's end, when the kernels that
 * call it are known, and what is passed to it. */
#ifndef QUERN_COMPILER_FRONT_SPLIT_H
#define QUERN_COMPILER_FRONT_SPLIT_H

#include "compiler/front/ast.h"

/* What is parsed next is evaluated only where the condition `e` is `truth`, until front_split_leave with the result. */
front_split front_split_enter(front *f, const front_expr *e, bool truth);
static inline void front_split_leave(front *f, front_split outer) { f->split = outer; }
/* A label of the switch `choice` was read: `first` is the first from which what follows is reached. `outer` is what the
 * whole switch is in. */
void front_split_label(front *f, front_split outer, const front_stmt *choice, const front_stmt *first,
                       const front_stmt *label);

/* Whether it is a work-item's id, or a comparison of one with a constant; also by way of variables and functions. */
bool front_holds_item(const front_expr *e);
/* A function's body was read. */
void front_note_result(front_func *func);
/* A call passes these. */
void front_note_arguments(front *f, front_func *callee, front_expr **args, uint32_t count);

/* A barrier, or a call of a function that has one. */
void front_note_barrier(front *f, qn_loc loc, uint32_t length);
/* The same for a barrier that was passed: it is come to again only where `e` is true. */
void front_note_barrier_again(front *f, const front_expr *e);
/* Tells of a function's barriers. `required`: the size of the groups in each dimension; 0: any. */
void front_judge_barriers(front *f, const front_func *func, const uint64_t *required);

#endif
