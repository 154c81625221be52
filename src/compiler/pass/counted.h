/* counted.h - loops that a variable counts, and copies of their bodies: what both ways to unroll need. */
#ifndef QUERN_COMPILER_PASS_COUNTED_H
#define QUERN_COMPILER_PASS_COUNTED_H

#include "compiler/ir/ir.h"

typedef struct counted_survey {
  ir_var *var;
  uint32_t size, stores; /* instructions; stores to the variable */
  bool is_indexed;       /* a step in private memory by an index that hangs on the variable alone */
  bool is_closed;        /* it has a loop or a barrier */
} counted_survey;

/* A loop whose continue block alone stores to the variable. */
typedef struct counted {
  ir_inst *loop, *guard; /* guard: the if at the body's start that does nothing but leave; NULL: there is none */
  ir_var *var;
  counted_survey survey;
} counted;

/* Before loops of a function are looked for. Uses `aux`. */
void counted_prepare(ir_function *f);
bool counted_look(ir_inst *loop, counted *c);
/* The same, and nothing leaves the loop but its guard and what stands last in its continue block. */
bool counted_find(ir_inst *loop, counted *c);
/* What the continue block adds to the variable, as a signed number; 0: not known. */
int64_t counted_step(const counted *c);
/* Whether a value is there before the loop: it stands in a block around it, or in none. */
bool counted_is_outside(const ir_inst *x, const ir_inst *loop);
/* How often the body runs; 0: not known, never, or more often than `limit`. */
uint32_t counted_trips(ir_module *m, const counted *c, uint32_t limit);
/* What leaves behind a continue block; NULL: nothing. */
ir_inst *counted_until(const ir_block *step);
/* What the variable holds before the loop: a number that is stored in the same block; NULL: not known. */
ir_inst *counted_start(const counted *c);
/* A copy of the body (0) or the continue block (1), without what leaves, at the builder's place. False: out of memory. */
bool counted_copy(ir_builder *b, const counted *c, uint32_t which);

#endif
