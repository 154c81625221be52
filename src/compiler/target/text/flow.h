/* flow.h - the shapes that loops and conditions have in C-like languages. */
#ifndef QUERN_COMPILER_TARGET_TEXT_FLOW_H
#define QUERN_COMPILER_TARGET_TEXT_FLOW_H

#include "compiler/target/text/scope.h"

/* Where a loop's continue block goes. */
typedef enum text_step {
  TEXT_STEP_NONE,  /* it is empty */
  TEXT_STEP_HEAD,  /* a few assignments: the third part of a `for` */
  TEXT_STEP_UNTIL, /* nothing but a condition: do { } while */
  TEXT_STEP_END,   /* behind the body, where nothing continues */
  TEXT_STEP_FLAG   /* before the body, each time but the first */
} text_step;

typedef struct text_shape {
  const ir_inst *guard; /* the if at the body's start that leaves the loop; NULL: none */
  bool guard_stays;     /* the loop goes on where the condition is true */
  text_step step;
} text_shape;

text_shape text_shape_of(const text_scopes *scopes, const ir_inst *loop);

/* The only statement of a block, when it is an `if`; NULL: something else stands there. */
const ir_inst *text_only_if(const text_scopes *scopes, const ir_block *block);
/* Whether nothing stands in the text for a block. */
bool text_is_empty(const text_scopes *scopes, const ir_block *block);
/* The next instruction behind `inst` in its block that stands in the text or before which something is declared. */
const ir_inst *text_next(const text_scopes *scopes, const ir_inst *inst);
/* The loop that comes next behind a store which declares `scope`'s variable, when it alone uses that; else NULL. */
const ir_inst *text_counted_loop(const text_scopes *scopes, const text_scope *scope, const ir_inst *store);

#endif
