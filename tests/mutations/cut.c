#include "cut.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const cut_change_names[CUT_CHANGES] = {"delete", "double", "replace", "swap"};
const char *const cut_words[] = {"wrong", "7", "+", ")", "{", ";", "float", "return", "\"text\"", "(", "}", ",", "if"};
const size_t cut_word_count = sizeof cut_words / sizeof *cut_words;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* White space and comments; tells whether a line ended. */
static size_t skip_space(qn_sv text, size_t at, bool *ends_line) {
  for (;;) {
    if (at + 1 < text.size && text.data[at] == '\\' && text.data[at + 1] == '\n') {
      at += 2;
    } else if (at < text.size && isspace((unsigned char)text.data[at])) {
      *ends_line |= text.data[at++] == '\n';
    } else if (at + 1 < text.size && text.data[at] == '/' && text.data[at + 1] == '/') {
      while (at < text.size && text.data[at] != '\n') at++;
    } else if (at + 1 < text.size && text.data[at] == '/' && text.data[at + 1] == '*') {
      at += 2;
      while (at + 1 < text.size && !(text.data[at] == '*' && text.data[at + 1] == '/')) at++;
      at += 2;
    } else {
      return at;
    }
  }
}

static size_t quoted(qn_sv text, size_t at) {
  char quote = text.data[at++];
  while (at < text.size && text.data[at] != quote && text.data[at] != '\n') at += text.data[at] == '\\' ? 2 : 1;
  return at < text.size ? at + 1 : text.size;
}

static size_t number(qn_sv text, size_t at) {
  for (; at < text.size && (is_word(text.data[at]) || text.data[at] == '.'); at++) {
    bool is_exponent = strchr("eEpP", text.data[at]) != NULL && at + 1 < text.size;
    if (is_exponent && (text.data[at + 1] == '+' || text.data[at + 1] == '-')) at++;
  }
  return at;
}

static size_t punct(qn_sv text, size_t at) {
  static const char *const longer[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                       "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};
  for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
    size_t size = strlen(longer[i]);
    if (at + size <= text.size && memcmp(text.data + at, longer[i], size) == 0) return at + size;
  }
  return at + 1;
}

static size_t token_end(qn_sv text, size_t at, cut_kind *kind) {
  char c = text.data[at];
  bool is_fraction = c == '.' && at + 1 < text.size && isdigit((unsigned char)text.data[at + 1]);
  if (isdigit((unsigned char)c) || is_fraction) {
    *kind = CUT_NUMBER;
    return number(text, at);
  }
  if (is_word(c)) {
    *kind = CUT_NAME;
    while (at < text.size && is_word(text.data[at])) at++;
    return at;
  }
  *kind = c == '"' || c == '\'' ? CUT_QUOTED : CUT_PUNCT;
  return *kind == CUT_QUOTED ? quoted(text, at) : punct(text, at);
}

static bool add(cut *c, size_t *capacity, cut_token token) {
  if (c->count == *capacity) {
    *capacity = *capacity ? *capacity * 2 : 256;
    cut_token *grown = realloc(c->tokens, *capacity * sizeof *grown);
    if (grown == NULL) return false;
    c->tokens = grown;
  }
  c->tokens[c->count++] = token;
  return true;
}

bool cut_read(cut *out, qn_sv text) {
  *out = (cut){.text = text};
  size_t capacity = 0, at = 0, counted = 0;
  uint32_t line = 1, statement = 0, depth = 0;
  bool in_directive = false, starts_line = true;
  for (;;) {
    at = skip_space(text, at, &starts_line);
    if (at >= text.size) return true;
    for (; counted < at; counted++) line += text.data[counted] == '\n';
    char c = text.data[at];
    bool is_directive = starts_line && c == '#';
    if (starts_line && (in_directive || is_directive)) statement++;
    if (starts_line) in_directive = is_directive;
    cut_token token = {.in_directive = in_directive, .at = at, .line = line, .statement = statement};
    token.size = token_end(text, at, &token.kind) - at;
    if (!add(out, &capacity, token)) return false;
    if (c == '(') depth++;
    if (c == ')' && depth > 0) depth--;
    if (c == '{' || c == '}') depth = 0;
    if (c == '{' || c == '}' || (c == ';' && depth == 0)) statement++;
    at += token.size;
    starts_line = false;
  }
}

void cut_free(cut *c) {
  free(c->tokens);
  *c = (cut){0};
}

qn_sv cut_text(const cut *c, size_t index) {
  return qn_sv_make(c->text.data + c->tokens[index].at, c->tokens[index].size);
}

uint32_t cut_statement_at(const cut *c, uint32_t line, uint32_t column) {
  size_t at = 0;
  for (uint32_t l = 1; l < line && at < c->text.size; at++) l += c->text.data[at] == '\n';
  at += column - 1;
  uint32_t statement = 0;
  for (size_t i = 0; i < c->count && c->tokens[i].at <= at; i++) statement = c->tokens[i].statement;
  return statement;
}

bool cut_changed(const cut *c, size_t index, cut_change change, size_t word, qn_bytes *out) {
  cut_token t = c->tokens[index];
  qn_sv text = cut_text(c, index);
  size_t end = t.at + t.size;
  qn_bytes_append(out, c->text.data, t.at);
  switch (change) {
    case CUT_DOUBLE:
      qn_bytes_append_sv(out, text);
      qn_bytes_append_char(out, ' ');
      qn_bytes_append_sv(out, text);
      break;
    case CUT_REPLACE:
      if (qn_sv_is(text, cut_words[word])) return false;
      qn_bytes_printf(out, " %s ", cut_words[word]);
      break;
    case CUT_SWAP: {
      if (index + 1 == c->count || qn_sv_equal(text, cut_text(c, index + 1))) return false;
      qn_sv next = cut_text(c, index + 1);
      qn_bytes_append_sv(out, next);
      qn_bytes_append(out, c->text.data + end, c->tokens[index + 1].at - end);
      qn_bytes_append_char(out, ' ');
      qn_bytes_append_sv(out, text);
      end = c->tokens[index + 1].at + next.size;
      break;
    }
    default:
      qn_bytes_append_char(out, ' ');
      break;
  }
  qn_bytes_append(out, c->text.data + end, c->text.size - end);
  return true;
}
