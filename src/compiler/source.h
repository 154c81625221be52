/* source.h - source files and locations. A qn_loc is one 32-bit number, so that a location costs four bytes everywhere: 0
 * is "nowhere", small ones are 1 + offset in the concatenation of all files of a compilation, and those with the highest
 * bit stand for a token that a macro made: the macro's text is one place, where it was used is another. One thread. */
#ifndef QUERN_COMPILER_SOURCE_H
#define QUERN_COMPILER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/string_view.h"
#include "quern/quern.h"

typedef uint32_t qn_loc;

/* A #line: from `offset` on, lines count from `line` in `file`. */
typedef struct qn_line_mark {
  uint32_t offset; /* of a line's first byte */
  uint32_t line;
  const char *file;
} qn_line_mark;

typedef struct qn_source_file {
  const char *name;   /* as given or found */
  qn_sv text;         /* NUL behind it */
  qn_loc base;        /* location of its first byte */
  qn_loc included_at; /* of the #include, 0 for the main file */
  uint32_t *lines;    /* offsets of line starts, made on demand */
  uint32_t line_count;
  qn_line_mark *marks; /* in order of their offsets */
  uint32_t mark_count, mark_capacity;
} qn_source_file;

/* The tokens of a macro's replacement list: where they are written. */
typedef struct qn_macro_places {
  const char *name;
  const qn_loc *locs;
  const uint32_t *lengths;
  uint32_t count;
} qn_macro_places;

/* One use of a macro. Location `base` + i is that of token i. */
typedef struct qn_expansion {
  const qn_macro_places *macro;
  qn_loc base;
  qn_loc at;        /* where it was used; may itself be a macro's token */
  qn_loc outermost; /* the place in a file that all came of */
  uint32_t outermost_length;
} qn_expansion;

typedef struct qn_sources {
  qn_arena *arena;
  qn_source_file **files;
  uint32_t count, capacity;
  qn_loc next;
  qn_expansion **expansions; /* blocks, in order of `base` */
  uint32_t expansion_count, block_capacity;
  qn_loc next_expansion;
} qn_sources;

void qn_sources_init(qn_sources *sources, qn_arena *arena);
/* Copies nothing: `text` must live as long as `sources`, with a NUL behind it. NULL: out of memory or over
 * the limit of 1 GiB in all. */
qn_source_file *qn_sources_add(qn_sources *sources, const char *name, qn_sv text, qn_loc included_at);

/* The file that a location stands in, NULL when it stands in none. */
qn_source_file *qn_sources_find(const qn_sources *sources, qn_loc loc);

/* Notes a use of a macro: the location of its first token; the others' follow. 0: out of memory, and `at` has to do.
 * `macro` must live as long as `sources`. */
qn_loc qn_sources_expand(qn_sources *sources, const qn_macro_places *macro, qn_loc at, uint32_t length);
/* The use of a macro that a location comes from; NULL: it stands in a file. */
const qn_expansion *qn_sources_expansion(const qn_sources *sources, qn_loc loc);
/* Where it stands in a file: for a macro's token the place of the outermost use, whose length goes to *length. */
qn_loc qn_sources_outermost(const qn_sources *sources, qn_loc loc, uint32_t *length);
/* The location behind a token. */
qn_loc qn_sources_behind(const qn_sources *sources, qn_loc loc, uint32_t length);

typedef struct qn_position {
  const char *file;
  uint32_t line, column; /* from 1; column in bytes */
  qn_sv line_text;       /* without the newline */
  qn_loc included_at;
} qn_position;
/* A #line directive: the line that starts at `from` is line `line` of `file` (NULL: of the same file as before). Called
 * in source order for each file. `file` must live as long as `sources`. False: out of memory. */
bool qn_sources_set_line(qn_sources *sources, qn_loc from, const char *file, uint32_t line);
/* Nowhere gives a position whose file is NULL; a macro's token has that of the outermost use. */
qn_position qn_sources_position(qn_sources *sources, qn_loc loc);

#endif
