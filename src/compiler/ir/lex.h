/* lex.h - tokens of the IR's text. Any bytes are fine as input: what is no token is IR_T_BAD. White space, newlines
 * and comments (; to the line's end) only separate. */
#ifndef QUERN_COMPILER_IR_LEX_H
#define QUERN_COMPILER_IR_LEX_H

#include "base/string_view.h"

typedef enum ir_token_kind {
  IR_T_END,
  IR_T_WORD,   /* a letter or _, then letters, digits, _ . : (text: all of it) */
  IR_T_NUMBER, /* a digit or a sign, then as for words, and signs behind p or e */
  IR_T_VALUE,  /* %name (text: without %) */
  IR_T_GLOBAL, /* @name (text: without @) */
  IR_T_STRING, /* "..." (text: between the quotes, escapes as they are) */
  IR_T_PUNCT,  /* one character */
  IR_T_BAD
} ir_token_kind;

typedef struct ir_token {
  ir_token_kind kind;
  qn_sv text;
  const char *start;
} ir_token;

typedef struct ir_lexer {
  const char *at, *end;
} ir_lexer;

ir_token ir_lex(ir_lexer *lexer);
/* Whether all characters may stand in a name after % or @, and there is one. */
bool ir_is_name(qn_sv text);

#endif
