/* writer.h - C-like text: lines with their indentation, expressions with brackets where they must be or where a reader
 * would stumble. */
#ifndef QUERN_COMPILER_TARGET_TEXT_WRITER_H
#define QUERN_COMPILER_TARGET_TEXT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* How tight an expression holds together, loosest first. */
typedef enum text_level {
  TEXT_ANY,    /* what nothing is written around: an argument, an index, the right side of an assignment */
  TEXT_CHOICE, /* a ? b : c */
  TEXT_OR,
  TEXT_XOR,
  TEXT_AND,
  TEXT_COMPARE,
  TEXT_SHIFT,
  TEXT_ADD,
  TEXT_MUL,
  TEXT_UNARY,  /* -a, a cast */
  TEXT_POSTFIX /* names, calls, a[i], a.x, (a) */
} text_level;

/* Whether an operand of level `inner` wants brackets in an operation of level `outer`. Beyond what the grammar wants:
 * unlike operators are told apart, but for products in sums and both in comparisons. */
bool text_wants_brackets(text_level inner, text_level outer, bool is_right);

/* Puts `before` at `start` and `after` at the end: what stands between was written first. */
void text_wrap(qn_bytes *out, size_t start, const char *before, const char *after);

/* Moves what stands from `from` to the end to `to`, in front of what stands there. */
void text_move(qn_bytes *out, size_t from, size_t to);

/* Blanks at a line's start. */
void text_indent(qn_bytes *out, uint32_t depth);

/* A part of a text behind another, an empty line between; nothing of an empty one. */
void text_put_part(qn_bytes *out, const qn_bytes *part);

/* A finite number, shortly when few decimal digits are exactly it, else in hexadecimal; it always has a point or an
 * exponent. Its sign is written. */
void text_number(qn_bytes *out, double value);

#endif
