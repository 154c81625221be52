/* diag.c - see diag.h. */
#include "compiler/diag.h"

#include <stdio.h>

#define MESSAGE_BYTES 1024
#define WARNING_LIMIT 100
#define TAB_STOP 8
/* Of a line that is wider than LINE_COLUMNS, the part shown starts LINE_LEAD columns before the caret. */
#define LINE_COLUMNS 200
#define LINE_LEAD 80
#define INCLUDE_LINES 6
#define MACRO_NOTES 6

void qn_diags_init(qn_diags *diags, qn_sources *sources) { *diags = (qn_diags){.sources = sources, .error_limit = 20}; }

void qn_diags_free(qn_diags *diags) { qn_bytes_free(&diags->text); }

void qn_diags_stop(qn_diags *diags) { diags->stopped = true; }

void qn_diag(qn_diags *diags, qn_severity severity, qn_loc loc, uint32_t length, const char *format, ...) {
  va_list args;
  va_start(args, format);
  qn_diagv(diags, severity, loc, length, format, args);
  va_end(args);
}

/* Whether it is told; counts it and turns a warning into an error where -Werror says so. */
static bool admit(qn_diags *diags, qn_severity *severity, bool *promoted) {
  /* Without memory what follows is no fault of the program. */
  if (diags->stopped || diags->out_of_memory) return false;
  if (*severity == QN_NOTE) return !diags->last_suppressed;
  if (*severity == QN_WARNING) {
    if (diags->no_warnings) return false;
    if (!diags->warnings_as_errors) {
      if (diags->warnings++ < WARNING_LIMIT) return true;
      if (diags->warnings == WARNING_LIMIT + 1)
        qn_bytes_append_str(&diags->text, "warning: too many warnings: further ones are not shown\n");
      return false;
    }
    *severity = QN_ERROR;
    *promoted = true;
  }
  if (diags->error_limit && diags->errors >= diags->error_limit) {
    qn_bytes_append_str(&diags->text, "fatal error: too many errors, stopping now\n");
    diags->stopped = true;
    return false;
  }
  diags->errors++;
  return true;
}

/* Where a macro's token is written; 0: it is none. */
static qn_loc place_in_macro(const qn_diags *diags, qn_loc loc) {
  const qn_expansion *e = qn_sources_expansion(diags->sources, loc);
  return e ? e->macro->locs[loc - e->base] : 0;
}

bool qn_diag_is_told_place(const qn_diags *diags, qn_loc loc) {
  qn_loc place = place_in_macro(diags, loc);
  uint32_t kept = diags->told_count < QN_TOLD_PLACES ? diags->told_count : QN_TOLD_PLACES;
  for (uint32_t i = 0; i < kept && place; i++)
    if (diags->told_places[i] == place) return true;
  return false;
}

void qn_diag_tell_place(qn_diags *diags, qn_loc loc) {
  qn_loc place = place_in_macro(diags, loc);
  if (place) diags->told_places[diags->told_count++ % QN_TOLD_PLACES] = place;
}

/* Bytes of the character at `text`: 1 for what is no valid UTF-8. */
static size_t character_bytes(const char *text, size_t left) {
  unsigned char first = (unsigned char)*text;
  size_t size = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || first >= 0xf5 || size > left) return 1;
  for (size_t i = 1; i < size; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80) return 1;
  return size;
}

/* What a terminal could take for a command, or is no UTF-8, is shown as '?'. */
static void append_clean(qn_bytes *out, const char *text) {
  for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
    unsigned char c = (unsigned char)*text;
    size = character_bytes(text, left);
    if (c < 0x20 || c == 0x7f || (size == 1 && c >= 0x80))
      qn_bytes_append_char(out, '?');
    else
      qn_bytes_append(out, text, size);
  }
}

/* The innermost include is told first, as clang does; of a deep stack only the two ends. */
static void tell_includes(qn_diags *diags, qn_loc included_at) {
  if (included_at == diags->last_included_at) return;
  diags->last_included_at = included_at;
  uint32_t depth = 0;
  for (qn_loc at = included_at; at;) {
    qn_position position = qn_sources_position(diags->sources, at);
    at = position.included_at;
    if (depth++ < INCLUDE_LINES || !at) {
      qn_bytes_append_str(&diags->text, "In file included from ");
      append_clean(&diags->text, position.file);
      qn_bytes_printf(&diags->text, ":%u:\n", position.line);
    } else if (depth == INCLUDE_LINES + 1)
      qn_bytes_append_str(&diags->text, "In file included from ...\n");
  }
}

/* What a character takes on the screen: tabs fill up to their stop. */
static uint32_t character_columns(char c, uint32_t column) { return c == '\t' ? TAB_STOP - column % TAB_STOP : 1; }

/* The column, from 0, of the byte at `offset`. */
static uint32_t column_of(qn_sv line, size_t offset) {
  uint32_t column = 0;
  for (size_t i = 0; i < line.size && i < offset;) {
    column += character_columns(line.data[i], column);
    i += character_bytes(line.data + i, line.size - i);
  }
  return column;
}

static void append_spaces(qn_bytes *out, uint32_t count) {
  while (count--) qn_bytes_append_char(out, ' ');
}

/* The line's columns [from, to). */
static void append_columns(qn_bytes *out, qn_sv line, uint32_t from, uint32_t to) {
  uint32_t column = 0;
  for (size_t i = 0; i < line.size && column < to;) {
    size_t size = character_bytes(line.data + i, line.size - i);
    uint32_t columns = character_columns(line.data[i], column);
    if (column >= from) {
      unsigned char c = (unsigned char)line.data[i];
      if (c == '\t')
        append_spaces(out, columns);
      else if (size == 1 && (c < 0x20 || c >= 0x7f))
        qn_bytes_append_char(out, '?');
      else
        qn_bytes_append(out, line.data + i, size);
    }
    column += columns;
    i += size;
  }
}

static void tell_line(qn_diags *diags, const qn_position *position, uint32_t length) {
  qn_sv line = position->line_text;
  size_t offset = position->column - 1;
  uint32_t caret = column_of(line, offset);
  size_t last = length > 1 ? offset + length : offset + 1;
  uint32_t end = last < line.size ? column_of(line, last) : column_of(line, line.size);
  uint32_t width = column_of(line, line.size);
  uint32_t from = 0, to = width;
  if (width > LINE_COLUMNS) {
    from = caret > LINE_LEAD ? caret - LINE_LEAD : 0;
    if (to > from + LINE_COLUMNS) to = from + LINE_COLUMNS;
  }
  if (end > to) end = to;
  qn_bytes *out = &diags->text;
  const char *cut = "...";
  if (from) qn_bytes_append_str(out, cut);
  append_columns(out, line, from, to);
  if (to < width) qn_bytes_append_str(out, cut);
  qn_bytes_append_char(out, '\n');
  append_spaces(out, caret - from + (from ? 3 : 0));
  qn_bytes_append_char(out, '^');
  for (uint32_t column = caret + 1; column < end && length > 1; column++) qn_bytes_append_char(out, '~');
  qn_bytes_append_char(out, '\n');
}

static void append_message(qn_bytes *out, const char *format, va_list args) {
  char text[MESSAGE_BYTES];
  int size = vsnprintf(text, sizeof text, format, args);
  if (size < 0) return;
  append_clean(out, text);
  if ((size_t)size >= sizeof text) qn_bytes_append_str(out, "...");
}

/* One message: where, what, and the line. */
static void tell(qn_diags *diags, const char *word, qn_loc loc, uint32_t length, const char *format, va_list args,
                 const char *behind) {
  loc = qn_sources_outermost(diags->sources, loc, &length);
  qn_position position = qn_sources_position(diags->sources, loc);
  if (position.file) {
    tell_includes(diags, position.included_at);
    append_clean(&diags->text, position.file);
  }
  if (position.line) qn_bytes_printf(&diags->text, ":%u:%u", position.line, position.column);
  qn_bytes_printf(&diags->text, "%s%s: ", position.file ? ": " : "", word);
  append_message(&diags->text, format, args);
  qn_bytes_append_str(&diags->text, behind);
  if (position.line) tell_line(diags, &position, length);
}

static void tell_note(qn_diags *diags, qn_loc loc, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void tell_note(qn_diags *diags, qn_loc loc, uint32_t length, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(diags, "note", loc, length, format, args, "\n");
  va_end(args);
}

/* The macros that a token came through, the outermost first, as Clang does; of many only the ends of the chain. */
static void tell_macros(qn_diags *diags, qn_loc loc) {
  uint32_t depth = 0;
  for (qn_loc at = loc; qn_sources_expansion(diags->sources, at); at = qn_sources_expansion(diags->sources, at)->at)
    depth++;
  /* Walking from the inside each time costs little: only MACRO_NOTES of them are told. */
  for (uint32_t i = depth; i-- > 0;) {
    if (depth > MACRO_NOTES && i >= MACRO_NOTES / 2 && i < depth - MACRO_NOTES / 2) {
      if (i == depth - MACRO_NOTES / 2 - 1)
        tell_note(diags, 0, 0, "through %u more macros", depth - MACRO_NOTES / 2 * 2);
      continue;
    }
    qn_loc at = loc;
    for (uint32_t j = 0; j < i; j++) at = qn_sources_expansion(diags->sources, at)->at;
    const qn_expansion *e = qn_sources_expansion(diags->sources, at);
    tell_note(diags, e->macro->locs[at - e->base], e->macro->lengths[at - e->base], "expanded from macro '%s'",
              e->macro->name);
  }
}

void qn_diagv(qn_diags *diags, qn_severity severity, qn_loc loc, uint32_t length, const char *format, va_list args) {
  static const char *const words[] = {[QN_NOTE] = "note", [QN_WARNING] = "warning", [QN_ERROR] = "error"};
  bool note = severity == QN_NOTE, promoted = false;
  bool is_told = severity == QN_ERROR && diags->errors > 0 && qn_diag_is_told_place(diags, loc);
  bool admitted = !is_told && admit(diags, &severity, &promoted);
  if (admitted && severity == QN_ERROR) qn_diag_tell_place(diags, loc);
  if (!note) diags->last_suppressed = !admitted;
  if (!admitted) return;
  tell(diags, words[severity], loc, length, format, args, promoted ? " [-Werror]\n" : "\n");
  if (!note) tell_macros(diags, loc);
}
