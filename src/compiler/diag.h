/* diag.h - diagnostics that look like clang's:
 *
 *   In file included from main.cl:1:
 *   blur.cl:12:9: error: use of undeclared identifier 'widht'; did you mean 'width'?
 *       if (widht > 3)
 *           ^~~~~
 *
 * One error for one fault: a caller that has reported gives back an error node or type, and nothing is reported about
 * those. At most `error_limit` errors (20), then "too many errors"; at most 100 warnings are shown. What is told is
 * bounded whatever the input: messages end after 1 KiB, and of a long line only the part around the caret is shown. */
#ifndef QUERN_COMPILER_DIAG_H
#define QUERN_COMPILER_DIAG_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "compiler/source.h"

typedef enum qn_severity { QN_NOTE, QN_WARNING, QN_ERROR } qn_severity;

enum { QN_TOLD_PLACES = 64 };
typedef struct qn_diags {
  qn_sources *sources;
  qn_bytes text; /* everything told so far, newline-terminated lines */
  uint32_t errors, warnings;
  uint32_t option_errors; /* of the errors: those that are wrong options, not the source's fault */
  uint32_t error_limit;
  uint32_t twin_kernels;   /* of the errors: two kernels of one name */
  bool warnings_as_errors; /* -Werror */
  bool no_warnings;        /* -w */
  bool stopped;            /* the limit was reached: parsers stop */
  bool out_of_memory;      /* somewhere: the caller says OUT_OF_HOST_MEMORY, whatever else was told */
  bool tokens_lost;        /* an error of the preprocessor took tokens away: what a parser then expects says nothing */
  uint32_t
      names_lost; /* errors that took a declared name or a macro's away, so that one that is unknown may be no news */
  qn_loc told_places[QN_TOLD_PLACES]; /* in macros, of the last errors */
  uint32_t told_count;
  bool structure_lost;     /* a syntax error was told: that something then opens or closes nothing is no news */
  bool last_suppressed;    /* notes follow their error or warning into silence */
  qn_loc last_included_at; /* whose include stack was told last */
} qn_diags;

/* The limit is 20; 0 stands for none. */
void qn_diags_init(qn_diags *diags, qn_sources *sources);
void qn_diags_free(qn_diags *diags);
/* `length` bytes from `loc` are underlined; 0 or 1: a caret only. Of a macro's token its use is shown, and behind an error
 * or warning notes show the text of each macro that it came through. */
void qn_diag(qn_diags *diags, qn_severity severity, qn_loc loc, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void qn_diagv(qn_diags *diags, qn_severity severity, qn_loc loc, uint32_t length, const char *format, va_list args);
/* Whether an error was told at this place in a macro's text. Such errors are told at the macro's first use alone; qn_diag
 * asks this itself. False for what stands in a file. */
bool qn_diag_is_told_place(const qn_diags *diags, qn_loc loc);
/* An error is being told that has to do with this place. */
void qn_diag_tell_place(qn_diags *diags, qn_loc loc);
/* Ends the compilation after the error that was just told: nothing that follows would help. */
void qn_diags_stop(qn_diags *diags);

#endif
