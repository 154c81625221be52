/* positive.h - integers that can't be negative, whatever the program is given: what passes need that make signed operations
 * unsigned. */
#ifndef QUERN_COMPILER_PASS_POSITIVE_H
#define QUERN_COMPILER_PASS_POSITIVE_H

#include "compiler/ir/ir.h"

/* Looks at all scalar integers of a function, and at its private variables, which hold what is stored in them. Overflow of
 * what is marked IR_NSW gives any value, so one that isn't negative. Uses `aux` of instructions and variables until the last
 * question is asked. */
void positive_find(ir_function *f);
/* Whether a value is zero or more when it is read as a signed number. */
bool is_positive(const ir_inst *x);
/* The same of what a private variable holds. */
bool is_positive_var(const ir_var *var);

#endif
