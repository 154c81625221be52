/* lex.c - characters to tokens. Spliced lines were joined before (file.c), so that nothing here knows of them but the
 * locations. */
#include "compiler/pp/state.h"

enum { BLANK = 1, LETTER = 2, DIGIT = 4 };

/* By character; what is not ASCII has no class. '$' is a letter, as in other compilers. */
/* clang-format off */
static const uint8_t classes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0,
    0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 2,
    0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0};
/* clang-format on */

static bool has_class(char c, uint8_t class) { return (classes[(unsigned char)c] & class) != 0; }

void pp_lexer_start(pp_lexer *lex, const pp_text *text, qn_loc base) {
  const char *start = text->clean.size ? text->clean.data : "";
  *lex = (pp_lexer){.at = start,
                    .start = start,
                    .end = start + text->clean.size,
                    .base = base,
                    .splice = text->splices,
                    .splice_end = text->splices ? text->splices + text->splice_count : NULL,
                    .line_start = true};
}

qn_loc pp_lex_loc(pp_lexer *lex) {
  uint32_t offset = (uint32_t)(lex->at - lex->start);
  while (lex->splice != lex->splice_end && lex->splice->offset <= offset) lex->removed = (lex->splice++)->removed;
  return lex->base + offset + lex->removed;
}

/* ---- Blanks and comments ------------------------------------------------------------------------- */

static const char *find_newline(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? newline : end;
}

/* Behind the comment that starts at `at`; NULL when nothing ends it. */
static const char *comment_end(const char *at, const char *end) {
  for (at += 2; (at = memchr(at, '*', (size_t)(end - at))) != NULL;)
    if (*++at == '/') return at + 1;
  return NULL;
}

static void skip_comment(pp *p, pp_lexer *lex) {
  const char *behind = comment_end(lex->at, lex->end);
  if (!behind) {
    /* All that followed is gone: what else could be told would come of this. */
    pp_fatal(p, pp_lex_loc(lex), 2, "unterminated /* comment");
    behind = lex->end;
  }
  lex->at = behind;
}

bool pp_lex_blanks(pp *p, pp_lexer *lex) {
  const char *from = lex->at;
  for (;;) {
    if (has_class(*lex->at, BLANK))
      lex->at++;
    else if (lex->at[0] == '/' && lex->at[1] == '*')
      skip_comment(p, lex);
    else if (lex->at[0] == '/' && lex->at[1] == '/')
      lex->at = find_newline(lex->at, lex->end);
    else
      return lex->at != from;
  }
}

bool pp_lex_sees_paren(const pp_lexer *lex) {
  for (const char *at = lex->at;;) {
    if (has_class(*at, BLANK) || (*at == '\n' && !lex->in_directive))
      at++;
    else if (at[0] == '/' && at[1] == '/')
      at = find_newline(at, lex->end);
    else if (at[0] == '/' && at[1] == '*') {
      at = comment_end(at, lex->end);
      if (!at) return false;
    } else
      return *at == '(';
  }
}

/* Past the quoted text that starts at *at. False: a newline or the end comes before the closing quote; *at is there. */
static bool skip_quoted(const char **at, const char *end) {
  const char *c = *at + 1;
  while (c < end && *c != **at && *c != '\n') c += c[0] == '\\' && c + 1 < end && c[1] != '\n' ? 2 : 1;
  bool closed = c < end && *c == **at;
  *at = c + closed;
  return closed;
}

void pp_lex_rest_of_line(pp_lexer *lex) {
  const char *at = lex->at;
  while (at < lex->end && *at != '\n') {
    if (*at == '"' || *at == '\'')
      skip_quoted(&at, lex->end);
    else if (at[0] == '/' && at[1] == '/')
      at = find_newline(at, lex->end);
    else if (at[0] == '/' && at[1] == '*') {
      at = comment_end(at, lex->end);
      if (!at) at = lex->end;
    } else
      at++;
  }
  lex->at = at;
}

/* ---- Tokens -------------------------------------------------------------------------------------- */

static void finish(pp_lexer *lex, pp_token *out, pp_kind kind, const char *behind) {
  out->kind = (uint8_t)kind;
  out->text = qn_sv_make(lex->at, (size_t)(behind - lex->at));
  out->length = (uint32_t)out->text.size;
  lex->at = behind;
}

/* Of an open literal, which reaches to the line's end: the end without the ");" that was not meant to be in it. */
static const char *meant_end(const char *first, const char *end) {
  const char *at = end;
  while (at > first && (has_class(at[-1], BLANK) || at[-1] == ';')) at--;
  while (at > first && (has_class(at[-1], BLANK) || at[-1] == ')')) at--;
  return memchr(at, ';', (size_t)(end - at)) ? at : end;
}

/* What an open literal took in may be code: names that it declares. */
static void doubt_words(pp *p, const char *at, const char *end) {
  while (at < end) {
    const char *word = at;
    while (at < end && has_class(*at, LETTER | DIGIT)) at++;
    if (at == word) {
      at++;
    } else if (has_class(*word, LETTER)) {
      pp_name *name = pp_intern_kept(p, qn_sv_make(word, (size_t)(at - word)));
      if (name) name->is_doubtful = true;
    }
  }
}

/* A character constant or string; `at` is its quote, which may stand behind a prefix. */
static void lex_quoted(pp *p, pp_lexer *lex, pp_token *out, const char *at) {
  char quote = *at;
  const char *first = at + 1;
  pp_kind kind = quote == '"' ? PP_STRING : PP_CHAR;
  bool closed = skip_quoted(&at, lex->end);
  if (closed || lex->quiet) {
    finish(lex, out, closed ? kind : PP_OTHER, at);
    return;
  }
  finish(lex, out, kind, meant_end(first, at));
  out->is_broken = true;
  pp_tokens_lost(p);
  pp_error(p, out->loc, 1, "missing terminating %c character", quote);
  doubt_words(p, first, lex->at);
  /* A whole one stands in, so that nobody stumbles over it again. */
  out->text = quote == '"' ? QN_SV("\"\"") : QN_SV("'0'");
}

static void lex_name(pp *p, pp_lexer *lex, pp_token *out) {
  const char *at = lex->at + 1;
  while (has_class(*at, LETTER | DIGIT)) at++;
  if ((*at == '"' || *at == '\'') && at - lex->at == 1 && *lex->at == 'L') {
    lex_quoted(p, lex, out, at);
    return;
  }
  finish(lex, out, PP_IDENT, at);
  out->name = pp_intern_kept(p, out->text);
  if (out->name)
    out->text = out->name->text;
  else
    out->kind = PP_EOF;
}

static void lex_number(pp_lexer *lex, pp_token *out) {
  const char *at = lex->at + 1;
  for (;; at++) {
    if ((*at == '+' || *at == '-') && strchr("eEpP", at[-1])) continue;
    if (!has_class(*at, LETTER | DIGIT) && *at != '.') break;
  }
  finish(lex, out, PP_NUMBER, at);
}

/* The longest punctuator at `c`: its length and meaning; 0: none. */
static uint32_t find_punct(const char *c, pp_punct *out) {
#define P(id, size) return *out = PP_P_##id, size
#define THEN(character, id) \
  if (c[1] == (character)) P(id, 2)
  switch (c[0]) {
    case '[':
      P(LBRACKET, 1);
    case ']':
      P(RBRACKET, 1);
    case '(':
      P(LPAREN, 1);
    case ')':
      P(RPAREN, 1);
    case '{':
      P(LBRACE, 1);
    case '}':
      P(RBRACE, 1);
    case '~':
      P(TILDE, 1);
    case '?':
      P(QUESTION, 1);
    case ';':
      P(SEMI, 1);
    case ',':
      P(COMMA, 1);
    case '.':
      if (c[1] == '.' && c[2] == '.') P(ELLIPSIS, 3);
      P(DOT, 1);
    case ':':
      THEN('>', RBRACKET);
      P(COLON, 1);
    case '#':
      THEN('#', HASHHASH);
      P(HASH, 1);
    case '=':
      THEN('=', EQ);
      P(ASSIGN, 1);
    case '!':
      THEN('=', NE);
      P(NOT, 1);
    case '*':
      THEN('=', MUL_ASSIGN);
      P(STAR, 1);
    case '/':
      THEN('=', DIV_ASSIGN);
      P(SLASH, 1);
    case '^':
      THEN('=', XOR_ASSIGN);
      P(CARET, 1);
    case '+':
      THEN('+', INC);
      THEN('=', ADD_ASSIGN);
      P(PLUS, 1);
    case '-':
      THEN('-', DEC);
      THEN('=', SUB_ASSIGN);
      THEN('>', ARROW);
      P(MINUS, 1);
    case '&':
      THEN('&', ANDAND);
      THEN('=', AND_ASSIGN);
      P(AMP, 1);
    case '|':
      THEN('|', OROR);
      THEN('=', OR_ASSIGN);
      P(PIPE, 1);
    case '%':
      if (c[1] == ':' && c[2] == '%' && c[3] == ':') P(HASHHASH, 4);
      THEN('=', MOD_ASSIGN);
      THEN('>', RBRACE);
      THEN(':', HASH);
      P(PERCENT, 1);
    case '<':
      if (c[1] == '<' && c[2] == '=') P(SHL_ASSIGN, 3);
      THEN('<', SHL);
      THEN('=', LE);
      THEN(':', LBRACKET);
      THEN('%', LBRACE);
      P(LT, 1);
    case '>':
      if (c[1] == '>' && c[2] == '=') P(SHR_ASSIGN, 3);
      THEN('>', SHR);
      THEN('=', GE);
      P(GT, 1);
    default:
      return 0;
  }
#undef THEN
#undef P
}

/* One stray character, or all of a run that is not ASCII. */
static void lex_other(pp_lexer *lex, pp_token *out) {
  const char *at = lex->at + 1;
  if ((unsigned char)*lex->at >= 0x80)
    while (at < lex->end && (unsigned char)*at >= 0x80) at++;
  finish(lex, out, PP_OTHER, at);
}

static void lex_nul(pp *p, pp_lexer *lex) {
  pp_text *text = p->frame_count ? p->frames[p->frame_count - 1].text : NULL;
  if (text && !text->has_nul) {
    text->has_nul = true;
    pp_warning(p, pp_lex_loc(lex), 1, "null characters are ignored");
  }
  lex->at++;
}

/* Up to the next token; false at the end of the file, or of the line in a directive. */
static bool skip_to_token(pp *p, pp_lexer *lex, pp_token *out) {
  for (;;) {
    out->space_before |= pp_lex_blanks(p, lex);
    char c = *lex->at;
    if (c == '\n') {
      if (lex->in_directive) return false;
      lex->at++;
      lex->line_start = true;
    } else if (c == 0) {
      if (lex->at >= lex->end) return false;
      out->space_before = true;
      lex_nul(p, lex);
    } else
      return true;
  }
}

void pp_lex(pp *p, pp_lexer *lex, pp_token *out) {
  *out = (pp_token){.kind = PP_EOF};
  bool found = skip_to_token(p, lex, out);
  out->line_start = lex->line_start;
  out->loc = pp_lex_loc(lex);
  if (!found) return;
  lex->line_start = false;
  char c = *lex->at;
  if (has_class(c, LETTER))
    lex_name(p, lex, out);
  else if (has_class(c, DIGIT) || (c == '.' && has_class(lex->at[1], DIGIT)))
    lex_number(lex, out);
  else if (c == '"' || c == '\'')
    lex_quoted(p, lex, out, lex->at);
  else {
    pp_punct punct;
    uint32_t size = find_punct(lex->at, &punct);
    if (size == 0)
      lex_other(lex, out);
    else {
      finish(lex, out, PP_PUNCT, lex->at + size);
      out->punct = (uint8_t)punct;
    }
  }
}

bool pp_lex_whole(pp *p, qn_sv text, qn_loc loc, pp_token *out) {
  /* No comment comes of pasting. */
  if (text.size > 1 && text.data[0] == '/' && (text.data[1] == '/' || text.data[1] == '*')) return false;
  pp_lexer lex = {
      .at = text.data, .start = text.data, .end = text.data + text.size, .in_directive = true, .quiet = true};
  pp_lex(p, &lex, out);
  out->loc = loc;
  out->line_start = false;
  return out->kind != PP_EOF && out->kind != PP_OTHER && !out->space_before && lex.at == lex.end;
}
