/* pp.c - opening, closing, the stream that callers see; errors and limits. */
#include "compiler/pp/pp.h"

#include <stdlib.h>

#include "compiler/pp/state.h"

/* ---- Errors and limits ---------------------------------------------------------------------------- */

#define TELL(severity)                                       \
  va_list args;                                              \
  va_start(args, format);                                    \
  qn_diagv(p->diags, (severity), loc, length, format, args); \
  va_end(args)

void pp_error(pp *p, qn_loc loc, uint32_t length, const char *format, ...) { TELL(QN_ERROR); }
void pp_warning(pp *p, qn_loc loc, uint32_t length, const char *format, ...) { TELL(QN_WARNING); }
void pp_note(pp *p, qn_loc loc, uint32_t length, const char *format, ...) { TELL(QN_NOTE); }

void pp_fatal(pp *p, qn_loc loc, uint32_t length, const char *format, ...) {
  TELL(QN_ERROR);
  qn_diags_stop(p->diags);
}

bool pp_no_memory(pp *p) {
  p->diags->out_of_memory = true;
  p->done = true;
  return false;
}

bool pp_over_limit(pp *p) {
  if (pp_alive(p))
    pp_fatal(p, pp_here(p), 1, "the preprocessor's limit of %llu tokens was reached: do macros or includes multiply?",
             (unsigned long long)p->work_limit);
  return false;
}

qn_loc pp_here(const pp *p) {
  if (!p->frame_count) return 0;
  pp_lexer lex = p->frames[p->frame_count - 1].lex;
  return pp_lex_loc(&lex);
}

bool pp_grow(pp *p, void *array_pointer, uint32_t *capacity, uint32_t count, size_t item_size) {
  if (count < *capacity) return true;
  if (*capacity > UINT32_MAX / 2) return pp_no_memory(p);
  uint32_t wanted = *capacity ? *capacity * 2 : 16;
  void *old;
  memcpy(&old, array_pointer, sizeof old);
  void *bigger = realloc(old, wanted * item_size);
  if (!bigger) return pp_no_memory(p);
  memcpy(array_pointer, &bigger, sizeof bigger);
  *capacity = wanted;
  return true;
}

/* ---- Opening -------------------------------------------------------------------------------------- */

/* "NAME=VALUE" is "#define NAME VALUE", "NAME" has the value 1, "-NAME" is "#undef NAME". A line end becomes a blank:
 * one definition is one line. */
static void append_define(qn_bytes *out, const char *define) {
  bool is_undef = *define == '-';
  qn_bytes_append_str(out, is_undef ? "#undef " : "#define ");
  size_t start = out->size;
  qn_bytes_append_str(out, is_undef ? define + 1 : define);
  if (out->failed) return;
  for (char *c = out->data + start; *c; c++)
    if (*c == '\n' || *c == '\r') *c = ' ';
  char *equals = strchr(out->data + start, '=');
  if (equals)
    *equals = ' ';
  else if (!is_undef)
    qn_bytes_append_str(out, " 1");
  qn_bytes_append_char(out, '\n');
}

static bool enter_defines(pp *p) {
  if (p->options->define_count == 0) return true;
  qn_bytes lines = {0};
  for (uint32_t i = 0; i < p->options->define_count; i++) append_define(&lines, p->options->defines[i]);
  char *text = lines.failed ? NULL : qn_arena_copy(p->arena, qn_bytes_view(&lines));
  size_t size = lines.size;
  qn_bytes_free(&lines);
  return text ? pp_enter_string(p, "<command line>", qn_sv_make(text, size)) : pp_no_memory(p);
}

static bool enter_predefined(pp *p) {
  if (p->options->predefined.size == 0) return true;
  if (!pp_enter_string(p, "<built-in>", p->options->predefined)) return false;
  p->predefining = true;
  return true;
}

pp *pp_open(qn_arena *arena, qn_sources *sources, qn_diags *diags, qn_source_file *file, const pp_options *options) {
  static const pp_options none;
  pp *p = QN_ARENA_NEW(arena, pp);
  if (!p) return NULL;
  p->arena = arena;
  p->sources = sources;
  p->diags = diags;
  p->options = options ? options : &none;
  p->files = p->options->files;
  p->work_limit = p->options->work_limit ? p->options->work_limit : PP_WORK;
  /* The last one in is read first. */
  if (pp_names_open(p) && pp_define_builtins(p) && pp_enter_main(p, file) && enter_defines(p) && enter_predefined(p))
    return p;
  bool no_memory = diags->out_of_memory;
  if (!no_memory) return p; /* an error was told: the stream is at its end */
  pp_close(p);
  return NULL;
}

pp_name *pp_last_nothing(const pp *p, qn_loc *out_loc) {
  if (p->last_nothing == NULL) return NULL;
  *out_loc = p->last_nothing->loc;
  return p->last_nothing->name;
}

void pp_close(pp *p) {
  for (uint32_t i = 0; i < p->context_count; i++) free(p->contexts[i].owned.tokens);
  for (uint32_t i = 0; i < p->spare_count; i++) free(p->spare[i].tokens);
  free(p->contexts);
  free(p->names);
  free(p->once);
  qn_map_free(&p->texts);
  qn_bytes_free(&p->params);
  p->contexts = NULL;
  p->names = NULL;
  p->once = NULL;
  p->context_count = p->spare_count = 0;
  p->done = true;
}

/* ---- The stream ----------------------------------------------------------------------------------- */

/* What stands in the string of a _Pragma: without quotes and prefix, \" and \\ undone. */
static qn_sv unquote(pp *p, qn_sv literal) {
  if (literal.data[0] == 'L') literal = qn_sv_make(literal.data + 1, literal.size - 1);
  char *text = qn_arena_alloc(p->arena, literal.size);
  if (!text) {
    pp_no_memory(p);
    return QN_SV("");
  }
  size_t size = 0;
  for (size_t i = 1; i + 1 < literal.size; i++) {
    if (literal.data[i] == '\\' && i + 2 < literal.size && (literal.data[i + 1] == '"' || literal.data[i + 1] == '\\'))
      i++;
    text[size++] = literal.data[i];
  }
  return qn_sv_make(text, size);
}

/* _Pragma("text"): `token` is its name and becomes the pragma. */
static void read_pragma_operator(pp *p, pp_token *token) {
  pp_token open, string, close;
  pp_expand_next(p, &open);
  bool right = open.kind == PP_PUNCT && open.punct == PP_P_LPAREN;
  if (right) pp_expand_next(p, &string);
  right = right && string.kind == PP_STRING;
  if (right) pp_expand_next(p, &close);
  right = right && close.kind == PP_PUNCT && close.punct == PP_P_RPAREN;
  if (!right) {
    pp_error(p, token->loc, token->length, "_Pragma takes a string literal in parentheses");
    pp_expand_next(p, token);
    return;
  }
  token->kind = PP_PRAGMA;
  token->name = NULL;
  token->text = unquote(p, string.text);
}

void pp_take(pp *p, pp_token *out) {
  if (!pp_alive(p)) {
    *out = (pp_token){.kind = PP_EOF};
    return;
  }
  pp_expand_next(p, out);
  while (out->kind == PP_IDENT && out->name == p->name_pragma && pp_alive(p)) {
    read_pragma_operator(p, out);
    if (out->kind == PP_PRAGMA) break;
  }
  if (!pp_alive(p)) out->kind = PP_EOF;
  if (out->kind != PP_EOF) return;
  if (pp_alive(p)) pp_check_params(p);
  p->done = true;
}
