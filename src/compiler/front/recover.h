/* recover.h - one error for one fault. After an error the rest is read on, for other faults; what only the first one made
 * wrong is not told:
 * - in the statement, member or declaration (a span) where something was told, syntax is no news;
 * - names that a damaged span may have declared are doubtful: that they are unknown is no news;
 * - after a syntax error the braces of this declaration of program scope may be wrong: that something is not closed, or closes
 *   nothing, is no news, and program scope is found again by how far to the left its declarations start;
 * - what is missing in the device is told once in a span, however often it is used there; what is missing here, once in a
 *   program (lack.h);
 * - an error in the text of a macro is told at its first use. */
#ifndef QUERN_COMPILER_FRONT_RECOVER_H
#define QUERN_COMPILER_FRONT_RECOVER_H

#include "compiler/front/token.h"

/* A statement, member or declaration begins at f->tok; gives what was open, for the end. */
front_span front_span_open(front *f);
void front_span_close(front *f, front_span outer);
/* A declaration of program scope begins: what was damaged before it is over. Skips to where one may begin. */
void front_span_outermost(front *f);

/* A name was passed. */
void front_pass_name(front *f, pp_name *name);
/* Before a scope is closed, where braces may be wrong: it may close too early. */
void front_doubt_scope(front *f);
/* A declaration was to have a name and has none. */
void front_lose_name(front *f);
/* Whether it is no news that this name is unknown. */
bool front_is_doubtful_name(front *f, pp_name *name);

/* Whether a syntax error at the present token is no news; if so the parser is panicking. */
bool front_is_old_news(front *f);
/* Whether it is news that the device has no half; from now on, in this span, it isn't. */
bool front_is_half_news(front *f);
/* Behind an error at the present token: the macro that ends before it is told, and one that expands to nothing noted. */
void front_told_syntax(front *f);
/* As front_syntax_error, about braces and what stands before: silent where braces may be wrong. */
void front_structure_error(front *f, qn_loc loc, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether such an error is no news. */
bool front_is_structure_doubtful(const front *f);
/* The parser panics, as something was told: syntax of this declaration can't be trusted. */
void front_panic(front *f);
/* The same without leaving what is read: only the braces can't be trusted. */
void front_damage(front *f);
/* Where braces may be wrong: whether a declaration of program scope starts here. Blocks end before it. */
bool front_at_outer(front *f);

/* After a syntax error: skips to the end of a statement: past a ';', or to a '}' that closes what the caller opened, or
 * to the end. Does nothing when there is no error to recover from. */
void front_recover(front *f);
/* The same within the parentheses of a statement: goes on behind them, so that its body is still read. */
void front_recover_header(front *f);
/* Whether a statement would start here, on the same line as what was damaged, which it belongs to. */
bool front_at_damaged_line(front *f);
/* Skips past a bracket's partner; at the opening bracket. A '(' or '[' that has none ends before the statement does, and
 * the parser panics: that is for callers that have told something. */
void front_skip_brackets(front *f);

#endif
