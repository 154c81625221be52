/* cut.h - a kernel's text as tokens, and texts with one of them changed. Written for this test alone, so that a fault of the
 * compiler's own lexer doesn't hide itself. */
#ifndef QUERN_TESTS_MUTATIONS_CUT_H
#define QUERN_TESTS_MUTATIONS_CUT_H

#include <stdbool.h>

#include "base/bytes.h"

typedef enum cut_kind { CUT_NAME, CUT_NUMBER, CUT_QUOTED, CUT_PUNCT } cut_kind;
typedef struct cut_token {
  cut_kind kind;
  bool in_directive; /* of a line that starts with # */
  size_t at, size;
  uint32_t line;      /* from 1 */
  uint32_t statement; /* which one of the text, counted at ';' out of parentheses, '{', '}' and directives */
} cut_token;

typedef struct cut {
  qn_sv text;
  cut_token *tokens;
  size_t count;
} cut;

/* False: no memory. */
bool cut_read(cut *out, qn_sv text);
void cut_free(cut *c);
qn_sv cut_text(const cut *c, size_t index);
/* The statement at or before a place. */
uint32_t cut_statement_at(const cut *c, uint32_t line, uint32_t column);

typedef enum cut_change { CUT_DELETE, CUT_DOUBLE, CUT_REPLACE, CUT_SWAP, CUT_CHANGES } cut_change;
extern const char *const cut_change_names[CUT_CHANGES];
/* Words to put in a token's place. */
extern const char *const cut_words[];
extern const size_t cut_word_count;

/* Appends the text with one change at token `index`. False: it would be the same text. */
bool cut_changed(const cut *c, size_t index, cut_change change, size_t word, qn_bytes *out);

#endif
