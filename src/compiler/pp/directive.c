/* directive.c - lines that start with '#'. Conditionals stand in condition.c, definitions in define.c. */
#include "compiler/pp/state.h"

const char *const pp_directive_texts[PP_D_COUNT] = {
#define QN_X(id, text) [PP_D_##id] = text,
    PP_DIRECTIVES(QN_X)
#undef QN_X
};

static pp_frame *frame_of(pp *p) { return &p->frames[p->frame_count - 1]; }

void pp_expect_line_end(pp *p, const char *directive) {
  pp_token extra;
  pp_lex(p, &frame_of(p)->lex, &extra);
  if (extra.kind != PP_EOF) pp_warning(p, extra.loc, 1, "extra text after #%s", directive);
}

bool pp_read_line(pp *p, pp_buffer *out) {
  for (;;) {
    pp_token token;
    pp_lex(p, &frame_of(p)->lex, &token);
    if (token.kind == PP_EOF || !pp_alive(p)) return pp_alive(p);
    if (!pp_charge(p, 1) || !pp_buffer_add(p, out, &token)) return false;
  }
}

/* ---- #include ------------------------------------------------------------------------------------- */

/* Behind a header's name that stands in the text; 0: none. */
static const char *header_name_end(const pp_lexer *lex) {
  char close = *lex->at == '<' ? '>' : '"';
  if (*lex->at != '<' && *lex->at != '"') return NULL;
  for (const char *at = lex->at + 1; at < lex->end && *at != '\n'; at++)
    if (*at == close) return at + 1;
  return NULL;
}

typedef struct header_name {
  qn_sv name;
  bool angled;
  qn_loc loc;
  uint32_t length;
  bool is_told; /* what is wrong with it */
} header_name;

/* The spelling of what a macro made between < and >. */
static bool join_angled(pp *p, const pp_buffer *line, header_name *out) {
  qn_bytes name = {0};
  bool closed = false;
  for (uint32_t i = 1; i < line->count && !closed; i++) {
    const pp_token *token = &line->tokens[i];
    closed = token->kind == PP_PUNCT && token->punct == PP_P_GT;
    if (closed) break;
    if (token->space_before && i > 1) qn_bytes_append_char(&name, ' ');
    qn_bytes_append_sv(&name, token->text);
  }
  char *text = closed && !name.failed ? qn_arena_copy(p->arena, qn_bytes_view(&name)) : NULL;
  if (closed && !text) pp_no_memory(p);
  out->name = qn_sv_make(text, name.size);
  out->angled = true;
  qn_bytes_free(&name);
  return text != NULL;
}

static bool expanded_header_name(pp *p, header_name *out) {
  pp_buffer line = {0}, expanded = {0};
  bool found = false;
  if (pp_read_line(p, &line) && pp_expand_tokens(p, line.tokens, line.count, &expanded) && expanded.count) {
    const pp_token *first = &expanded.tokens[0];
    out->loc = first->loc;
    out->length = first->length;
    found = first->kind == PP_STRING && first->text.data[0] == '"';
    if (found)
      out->name = qn_sv_make(first->text.data + 1, first->text.size - 2);
    else if (first->kind == PP_PUNCT && first->punct == PP_P_LT)
      found = join_angled(p, &expanded, out);
  }
  pp_buffer_release(p, &line);
  pp_buffer_release(p, &expanded);
  return found;
}

/* After the directive's name. */
static bool read_header_name(pp *p, header_name *out) {
  pp_lexer *lex = &frame_of(p)->lex;
  pp_lex_blanks(p, lex);
  *out = (header_name){.loc = pp_lex_loc(lex), .length = 1};
  const char *end = header_name_end(lex);
  if (!end && (*lex->at == '<' || *lex->at == '"')) {
    pp_error(p, out->loc, 1, "the file name has no closing %c", *lex->at == '<' ? '>' : '"');
    out->is_told = true;
    return false;
  }
  if (!end) return expanded_header_name(p, out);
  out->angled = *lex->at == '<';
  out->length = (uint32_t)(end - lex->at);
  out->name = qn_sv_make(lex->at + 1, out->length - 2);
  lex->at = end;
  pp_expect_line_end(p, "include");
  return true;
}

static void include(pp *p, const pp_token *directive) {
  if (p->collecting) {
    pp_error(p, directive->loc, directive->length, "#include within a macro's arguments");
    return;
  }
  header_name header;
  bool found = read_header_name(p, &header);
  if (!pp_alive(p) || header.is_told) return;
  if (!found)
    pp_error(p, header.loc, header.length, "#include takes \"FILENAME\" or <FILENAME>");
  else if (header.name.size == 0)
    pp_error(p, header.loc, header.length, "#include of an empty file name");
  else
    pp_include(p, header.name, header.angled, header.loc, header.length);
}

/* ---- #line ---------------------------------------------------------------------------------------- */

static bool line_number(qn_sv text, uint32_t *out) {
  uint64_t value = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    value = value * 10 + (uint64_t)(text.data[i] - '0');
    if (value > INT32_MAX) return false;
  }
  *out = (uint32_t)value;
  return true;
}

/* The name in a string literal, its escapes undone; limited, as diagnostics repeat it. */
static const char *file_name(pp *p, qn_sv literal) {
  char *name = qn_arena_alloc(p->arena, literal.size);
  if (!name) {
    pp_no_memory(p);
    return NULL;
  }
  size_t size = 0;
  for (size_t i = 1; i + 1 < literal.size && size < 1024; i++) {
    if (literal.data[i] == '\\' && i + 2 < literal.size) i++;
    name[size++] = literal.data[i];
  }
  return name;
}

/* #line 12 "name", and the marker # 12 "name" 1 2 of preprocessed text; `tokens` starts with the number. */
static void renumber(pp *p, const pp_token *directive, const pp_token *tokens, uint32_t count, bool is_marker) {
  uint32_t number;
  if (count == 0 || tokens[0].kind != PP_NUMBER || !line_number(tokens[0].text, &number)) {
    const pp_token *at = count ? tokens : directive;
    pp_error(p, at->loc, at->length, "#line takes a number from 0 to 2147483647");
    return;
  }
  const char *name = NULL;
  if (count > 1) {
    if (tokens[1].kind != PP_STRING || tokens[1].text.data[0] != '"') {
      pp_error(p, tokens[1].loc, tokens[1].length, "#line takes a file name in quotes after the number");
      return;
    }
    name = file_name(p, tokens[1].text);
    if (!name) return;
  }
  if (count > 2 && !is_marker) pp_warning(p, tokens[2].loc, 1, "extra text after #line");
  pp_lexer lex = frame_of(p)->lex;
  pp_lex_rest_of_line(&lex);
  lex.at += lex.at < lex.end;
  if (!qn_sources_set_line(p->sources, pp_lex_loc(&lex), name, number)) pp_no_memory(p);
}

static void line(pp *p, const pp_token *directive) {
  pp_buffer written = {0}, expanded = {0};
  if (pp_read_line(p, &written) && pp_expand_tokens(p, written.tokens, written.count, &expanded))
    renumber(p, directive, expanded.tokens, expanded.count, false);
  pp_buffer_release(p, &written);
  pp_buffer_release(p, &expanded);
}

static void line_marker(pp *p, const pp_token *number) {
  pp_buffer rest = {0};
  if (pp_buffer_add(p, &rest, number) && pp_read_line(p, &rest)) renumber(p, number, rest.tokens, rest.count, true);
  pp_buffer_release(p, &rest);
}

/* ---- #error, #warning, #pragma -------------------------------------------------------------------- */

static qn_sv rest_of_line(pp_lexer *lex) {
  while (*lex->at == ' ' || *lex->at == '\t') lex->at++;
  const char *end = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
  if (!end) end = lex->end;
  qn_sv text = qn_sv_make(lex->at, (size_t)(end - lex->at));
  lex->at = end;
  while (text.size && strchr(" \t\r", text.data[text.size - 1])) text.size--;
  return text;
}

static void tell_user_message(pp *p, const pp_token *directive, bool is_error) {
  qn_sv text = rest_of_line(&frame_of(p)->lex);
  if (text.size == 0) text = is_error ? QN_SV("#error") : QN_SV("#warning");
  int size = text.size > 4096 ? 4096 : (int)text.size;
  if (is_error)
    pp_error(p, directive->loc, directive->length, "%.*s", size, text.data);
  else
    pp_warning(p, directive->loc, directive->length, "%.*s", size, text.data);
}

/* The line's tokens with one blank where there was white space. */
static qn_sv spell(pp *p, const pp_buffer *tokens) {
  size_t size = 1;
  for (uint32_t i = 0; i < tokens->count; i++) size += tokens->tokens[i].text.size + 1;
  char *text = qn_arena_alloc(p->arena, size), *to = text;
  if (!text) {
    pp_no_memory(p);
    return QN_SV("");
  }
  for (uint32_t i = 0; i < tokens->count; i++) {
    const pp_token *token = &tokens->tokens[i];
    if (i && token->space_before) *to++ = ' ';
    memcpy(to, token->text.data, token->text.size);
    to += token->text.size;
  }
  return qn_sv_make(text, (size_t)(to - text));
}

/* Gives a token, but not for `once`, which is obeyed here. */
static bool pragma(pp *p, const pp_token *hash, const pp_token *directive, pp_token *out) {
  pp_lexer *lex = &frame_of(p)->lex;
  pp_buffer line_tokens = {0};
  lex->quiet = true;
  bool right = pp_read_line(p, &line_tokens);
  lex->quiet = false;
  bool is_token = right;
  if (right && line_tokens.count && line_tokens.tokens[0].name == p->name_once) {
    pp_once(p);
    is_token = false;
  } else if (right && p->collecting) {
    pp_error(p, directive->loc, directive->length, "#pragma within a macro's arguments");
    is_token = false;
  }
  if (is_token) {
    *out = *hash;
    out->kind = PP_PRAGMA;
    out->punct = PP_P_NONE;
    out->text = spell(p, &line_tokens);
    if (line_tokens.count) {
      out->loc = line_tokens.tokens[0].loc;
      out->length = line_tokens.tokens[0].length;
    }
    if (pp_is_param(&line_tokens)) pp_param(p, &line_tokens);
  }
  pp_buffer_release(p, &line_tokens);
  return is_token;
}

/* ---- All of them ---------------------------------------------------------------------------------- */

static void tell_unknown(pp *p, const pp_token *name) {
  qn_sv best = {0};
  size_t best_distance = 3;
  for (uint32_t i = 1; i < PP_D_COUNT; i++) {
    size_t distance = qn_sv_distance(name->text, qn_sv_from(pp_directive_texts[i]));
    if (distance >= best_distance || distance >= name->text.size) continue;
    best_distance = distance;
    best = qn_sv_from(pp_directive_texts[i]);
  }
  if (best.size)
    pp_error(p, name->loc, name->length, "unknown directive '#%.*s'; did you mean '#%.*s'?", QN_SV_ARG(name->text),
             QN_SV_ARG(best));
  else
    pp_error(p, name->loc, name->length, "unknown directive '#%.*s'", QN_SV_ARG(name->text));
}

/* What may stand before #ifndef GUARD is #pragma once; anything else means that the file isn't guarded. */
static void watch_guard(pp_frame *frame, uint32_t directive) {
  if (frame->guard_state == PP_GUARD_AFTER ||
      (frame->guard_state == PP_GUARD_START && directive != PP_D_IFNDEF && directive != PP_D_PRAGMA))
    frame->guard_state = PP_GUARD_NONE;
}

static bool dispatch(pp *p, const pp_token *hash, const pp_token *name, pp_token *out) {
  pp_directive directive = (pp_directive)name->name->directive;
  watch_guard(frame_of(p), directive);
  switch (directive) {
    case PP_D_DEFINE:
      pp_define(p);
      break;
    case PP_D_UNDEF:
      pp_undef(p);
      break;
    case PP_D_INCLUDE:
      include(p, name);
      break;
    case PP_D_IF:
    case PP_D_IFDEF:
    case PP_D_IFNDEF:
      pp_if(p, directive, name);
      break;
    case PP_D_ELIF:
    case PP_D_ELSE:
      pp_else_or_elif(p, directive, name);
      break;
    case PP_D_ENDIF:
      pp_endif(p, name);
      break;
    case PP_D_LINE:
      line(p, name);
      break;
    case PP_D_ERROR:
    case PP_D_WARNING:
      tell_user_message(p, name, directive == PP_D_ERROR);
      break;
    case PP_D_PRAGMA:
      return pragma(p, hash, name, out);
    default:
      tell_unknown(p, name);
  }
  return false;
}

/* The names of a line that something was told about. */
static void doubt_names(pp *p, pp_lexer lex) {
  pp_token token;
  lex.quiet = true;
  for (pp_lex(p, &lex, &token); token.kind != PP_EOF; pp_lex(p, &lex, &token))
    if (token.kind == PP_IDENT) token.name->is_doubtful = true;
}

bool pp_obey(pp *p, const pp_token *hash, pp_token *out) {
  /* An #include pushes a frame: this one goes on behind its line later. */
  uint32_t index = p->frame_count - 1;
  pp_lexer *lex = &p->frames[index].lex;
  pp_token name;
  bool is_token = false;
  uint32_t errors = p->diags->errors;
  lex->in_directive = true;
  pp_lexer start = *lex;
  pp_lex(p, lex, &name);
  if (name.kind == PP_IDENT)
    is_token = dispatch(p, hash, &name, out);
  else if (name.kind == PP_NUMBER)
    line_marker(p, &name);
  else if (name.kind != PP_EOF)
    pp_error(p, name.loc, name.length, "a directive's name must follow '#'");
  if (p->diags->errors > errors && index + 1 == p->frame_count) {
    doubt_names(p, start);
    p->diags->structure_lost = true;
  }
  pp_lex_rest_of_line(lex);
  lex->in_directive = false;
  return is_token;
}
