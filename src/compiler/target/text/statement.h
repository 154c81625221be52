/* statement.h - the statements of a block in C-like languages: which of them stand in the text, in what order, and those
 * that are written alike in all. */
#ifndef QUERN_COMPILER_TARGET_TEXT_STATEMENT_H
#define QUERN_COMPILER_TARGET_TEXT_STATEMENT_H

#include "compiler/target/text/flow.h"

/* The target's own: each has another one, and nothing here looks into it. */
struct emitter;

/* What a target writes in its own way: from the line's start on, which stands there, up to its end. */
typedef struct text_writers {
  void (*declare)(struct emitter *e, const ir_inst *inst);          /* what is declared in front of it; whole lines */
  void (*effect)(struct emitter *e, const ir_inst *inst);           /* what is not control flow; whole lines */
  void (*test)(struct emitter *e, const ir_inst *inst, bool holds); /* the condition of a branch, or its opposite */
  void (*choose)(struct emitter *e, const ir_inst *inst);           /* a switch */
  void (*loop)(struct emitter *e, const ir_inst *loop,
               const ir_inst *init);                        /* init: NULL, or a store that is in its head */
  void (*leave_if)(struct emitter *e, const ir_inst *inst); /* a break_if */
  void (*leave)(struct emitter *e, const ir_inst *inst);    /* a return; NULL: at a place that is never come to */
  const ir_inst *(*counted)(const struct emitter *e, const ir_inst *store); /* the loop in whose head it is; or NULL */
  void (*refuse)(struct emitter *e, const ir_inst *inst, const char *format, ...)
      __attribute__((format(printf, 3, 4))); /* what the language has not */
} text_writers;

/* A function's statements, as they are written now. */
typedef struct text_body {
  struct emitter *e;
  const text_writers *writers;
  const text_scopes *scopes;
  qn_bytes *out;
  uint32_t *indent;
} text_body;

/* A block's statements but one, which stands elsewhere; NULL: all. A return where a function without a result ends anyway
 * is left out. */
void text_put_block(const text_body *body, const ir_block *block, const ir_inst *skipped);

void text_open_brace(qn_bytes *out, uint32_t *indent);
/* At a line's start of its own. */
void text_close_brace(qn_bytes *out, uint32_t *indent);

#endif
