/* scope.h - where a private variable is declared: as far in, and as late, as its uses allow, so that a variable of a
 * loop's body is declared there, as the source has it. */
#ifndef QUERN_COMPILER_TARGET_TEXT_SCOPE_H
#define QUERN_COMPILER_TARGET_TEXT_SCOPE_H

#include "compiler/target/text/plan.h"

typedef struct text_scope {
  const ir_inst *before;   /* the variable is declared in front of this; NULL: it isn't used */
  const ir_inst *last;     /* the instruction of the same block that its last use stands in */
  bool by_store;           /* `before` stores or copies the whole variable: that is its declaration */
  struct text_scope *next; /* declared in front of the same instruction */
  ir_var *var;
} text_scope;

typedef struct text_scopes {
  const text_plan *plan;
  text_scope *scopes;    /* by number of a variable less the function's first */
  text_scope **starting; /* by number of an instruction less first_inst: what is declared in front of it */
} text_scopes;

/* In the module's arena. False: out of memory. */
bool text_scopes_find(text_scopes *scopes, const text_plan *plan);

static inline text_scope *text_scope_of(const text_scopes *s, const ir_var *var) {
  return &s->scopes[var->id - s->plan->function->first];
}
static inline text_scope *text_scopes_at(const text_scopes *s, const ir_inst *inst) {
  return s->starting[inst->id - s->plan->function->first_inst];
}

#endif
