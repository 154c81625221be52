/* text.h - messages from words that anyone may have written. */
#ifndef QUERN_TOOLS_TEXT_H
#define QUERN_TOOLS_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf into memory of its own; but of a word that is longer than 600 bytes the middle is left out, and what a terminal
 * could take for a command, or is no UTF-8, becomes '?'. Conversions: %s %d %u %c %x %g, with -, 0, width, precision, '*', l, ll, z. */
char *text_format(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Another's lines, each of them as a word of up to 2000 bytes; the last one has a newline behind it. */
char *text_lines(const char *lines);

/* One word, as text_format shows it. */
char *text_word(const char *word);

/* Bytes of the UTF-8 character at the start of `text`; 0: it is none. */
size_t text_character(const char *text, size_t left);

#endif
