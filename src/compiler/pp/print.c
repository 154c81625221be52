/* print.c - preprocessed text: -E. */
#include "compiler/pp/state.h"

/* This many line ends are written out where a marker would do. */
#define BLANK_LINES 8

typedef struct printer {
  pp *p;
  qn_bytes *out;
  const char *file;
  uint32_t line;
  pp_token last; /* of the present line; PP_EOF: none */
} printer;

static bool is_word(const pp_token *token) { return token->kind == PP_IDENT || token->kind == PP_NUMBER; }

/* Whether the two would be read as something else without white space between them. Errs on the side of a blank. */
static bool would_join(const pp_token *left, const pp_token *right) {
  char a = left->text.size ? left->text.data[left->text.size - 1] : 0;
  char b = right->text.size ? right->text.data[0] : 0;
  if (is_word(left))
    return is_word(right) || right->kind == PP_STRING || right->kind == PP_CHAR ||
           (left->kind == PP_NUMBER && (b == '.' || ((b == '+' || b == '-') && strchr("eEpP", a))));
  if (left->kind == PP_OTHER || right->kind == PP_OTHER) return true;
  if (left->kind != PP_PUNCT) return false;
  if (a == '.' && right->kind == PP_NUMBER) return true;
  if (right->kind != PP_PUNCT) return false;
  return (a == b && strchr("+-<>&|#.=:", a)) || (b == '=' && strchr("=!<>+-*/%&|^", a)) || (a == '-' && b == '>') ||
         (a == '/' && (b == '/' || b == '*')) || (a == '<' && (b == ':' || b == '%')) || (a == ':' && b == '>') ||
         (a == '%' && (b == '>' || b == ':'));
}

static void write_marker(printer *w) {
  qn_bytes_printf(w->out, "# %u \"", w->line);
  for (const char *c = w->file; *c; c++) {
    if (*c == '"' || *c == '\\') qn_bytes_append_char(w->out, '\\');
    qn_bytes_append_char(w->out, *c);
  }
  qn_bytes_append_str(w->out, "\"\n");
}

/* Moves on to a token's line. */
static void go_to(printer *w, const qn_position *position, bool is_pragma) {
  if (w->last.kind != PP_EOF) {
    qn_bytes_append_char(w->out, '\n');
    w->line++;
    w->last.kind = PP_EOF;
  }
  bool same_file = w->file && strcmp(w->file, position->file) == 0;
  /* A _Pragma within a line. What follows it is on a line of its own, behind a marker. */
  if (same_file && is_pragma && position->line < w->line) return;
  if (same_file && position->line >= w->line && position->line - w->line <= BLANK_LINES) {
    for (; w->line < position->line; w->line++) qn_bytes_append_char(w->out, '\n');
    return;
  }
  w->file = position->file;
  w->line = position->line;
  write_marker(w);
}

static void write_token(printer *w, const pp_token *token) {
  bool is_pragma = token->kind == PP_PRAGMA;
  if (token->line_start || is_pragma || w->last.kind == PP_PRAGMA) {
    qn_position position = qn_sources_position(w->p->sources, token->loc);
    if (position.file) go_to(w, &position, is_pragma);
    if (!is_pragma && token->space_before)
      for (uint32_t i = 1; i < position.column && i < 80; i++) qn_bytes_append_char(w->out, ' ');
  } else if (w->last.kind != PP_EOF && (token->space_before || would_join(&w->last, token)))
    qn_bytes_append_char(w->out, ' ');
  if (is_pragma) qn_bytes_append_str(w->out, token->text.size ? "#pragma " : "#pragma");
  qn_bytes_append_sv(w->out, token->text);
  w->last = *token;
}

void pp_print(pp *p, qn_bytes *out) {
  printer w = {.p = p, .out = out};
  for (;;) {
    pp_token token = pp_next(p);
    if (token.kind == PP_EOF) break;
    write_token(&w, &token);
  }
  if (w.last.kind != PP_EOF) qn_bytes_append_char(out, '\n');
  if (out->failed) p->diags->out_of_memory = true;
}
