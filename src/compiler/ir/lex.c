#include "compiler/ir/lex.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }

bool ir_is_name(qn_sv text) {
  for (size_t i = 0; i < text.size; i++)
    if (!is_name(text.data[i])) return false;
  return text.size > 0;
}

static void skip_space(ir_lexer *l) {
  for (; l->at < l->end; l->at++) {
    char c = *l->at;
    if (c == ';')
      while (l->at + 1 < l->end && l->at[1] != '\n') l->at++;
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      return;
  }
}

static ir_token token(ir_lexer *l, ir_token_kind kind, const char *start, size_t prefix) {
  return (ir_token){kind, qn_sv_make(start + prefix, (size_t)(l->at - start) - prefix), start};
}

static ir_token number(ir_lexer *l, const char *start) {
  for (; l->at < l->end; l->at++) {
    char c = *l->at, before = l->at[-1];
    bool sign = (c == '+' || c == '-') && (before == 'p' || before == 'P' || before == 'e' || before == 'E');
    if (!is_name(c) && !sign) break;
  }
  return token(l, IR_T_NUMBER, start, 0);
}

static ir_token named(ir_lexer *l, ir_token_kind kind, const char *start) {
  while (l->at < l->end && is_name(*l->at)) l->at++;
  return token(l, l->at == start + 1 ? IR_T_BAD : kind, start, l->at == start + 1 ? 0 : 1);
}

static ir_token string(ir_lexer *l, const char *start) {
  while (l->at < l->end && *l->at != '"' && *l->at != '\n') l->at++;
  if (l->at == l->end || *l->at == '\n') return token(l, IR_T_BAD, start, 0);
  ir_token t = token(l, IR_T_STRING, start, 1);
  l->at++;
  return t;
}

ir_token ir_lex(ir_lexer *l) {
  skip_space(l);
  const char *start = l->at;
  if (start == l->end) return token(l, IR_T_END, start, 0);
  char c = *l->at++;
  if (is_letter(c)) {
    while (l->at < l->end && (is_name(*l->at) || *l->at == ':')) l->at++;
    /* "nan:0x..." is one word; the colon of "name:" is not part of it. */
    while (l->at[-1] == ':') l->at--;
    return token(l, IR_T_WORD, start, 0);
  }
  bool sign = c == '-' && l->at < l->end;
  if (is_digit(c) || (sign && (is_digit(*l->at) || is_letter(*l->at)))) return number(l, start); /* also -inf */
  if (c == '%') return named(l, IR_T_VALUE, start);
  if (c == '@') return named(l, IR_T_GLOBAL, start);
  if (c == '"') return string(l, start);
  for (const char *p = "{}()[],:=+."; *p; p++)
    if (c == *p) return token(l, IR_T_PUNCT, start, 0);
  return token(l, IR_T_BAD, start, 0);
}
