#include "compiler/front/literal.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/os/text.h"
#include "compiler/front/convert.h"
#include "compiler/front/token.h"

/* ---- Numbers ---------------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static front_expr *bad_number(front *f, const front_token *token, const char *what) {
  front_error(f, token->pp.loc, token->pp.length, "%s '%.*s'", what, QN_SV_ARG(token->pp.text));
  return front_expr_error(f, token->pp.loc);
}

static bool is_hex(qn_sv text) { return text.size > 2 && text.data[0] == '0' && lower(text.data[1]) == 'x'; }

static bool is_floating(qn_sv text) {
  bool hex = is_hex(text);
  for (size_t i = 0; i < text.size; i++) {
    char c = lower(text.data[i]);
    if (c == '.' || (hex ? c == 'p' : c == 'e')) return true;
  }
  return false;
}

static front_expr *float_literal(front *f, const front_token *token) {
  qn_sv text = token->pp.text;
  char last = lower(text.data[text.size - 1]);
  bool has_suffix =
      last == 'h' || last == 'l' ||
      (last == 'f' && (!is_hex(text) || memchr(text.data, 'p', text.size) || memchr(text.data, 'P', text.size)));
  char *copy = qn_arena_copy(f->arena, qn_sv_make(text.data, text.size - has_suffix));
  if (copy == NULL) {
    f->failed = true;
    return front_expr_error(f, token->pp.loc);
  }
  bool is_float = last == 'f' && has_suffix;
  if (!has_suffix && (!f->m->model.has_double || f->options->single_precision_constant)) is_float = true;
  char *end;
  double value = is_float ? (double)qn_text_to_float(copy, &end) : qn_text_to_double(copy, &end);
  if (*end != 0 || (is_hex(text) && !strpbrk(copy, "pP"))) return bad_number(f, token, "invalid number");
  const front_type *type = front_float(f, last == 'h' && has_suffix ? 16 : is_float ? 32 : 64);
  if (isinf(value)) {
    front_warning(f, token->pp.loc, token->pp.length, "'%.*s' is too large for a %s: it becomes infinity",
                  QN_SV_ARG(text), is_float ? "float" : "double");
  }
  if (!front_check_half(f, token->pp.loc, token->pp.length, type)) return front_expr_error(f, token->pp.loc);
  front_expr *e = front_expr_new(f, EXPR_CONST, token->pp.loc, token->pp.length, type);
  e->u.constant = ir_const_float(f->m, front_ir(f, type), value);
  return e;
}

/* Reads u, l, ll in either case and order. False: something else. */
static bool integer_suffix(qn_sv suffix, bool *is_unsigned, bool *is_long) {
  size_t at = 0;
  while (at < suffix.size) {
    char c = suffix.data[at];
    if (lower(c) == 'u' && !*is_unsigned) {
      *is_unsigned = true;
      at++;
    } else if (lower(c) == 'l' && !*is_long) {
      *is_long = true;
      at += at + 1 < suffix.size && suffix.data[at + 1] == c ? 2 : 1;
    } else {
      return false;
    }
  }
  return true;
}

static const front_type *integer_type(front *f, uint64_t value, bool is_decimal, bool is_unsigned, bool is_long) {
  bool may_be_unsigned = is_unsigned || !is_decimal;
  if (!is_long && !is_unsigned && value <= INT32_MAX) return front_int(f, 32, true);
  if (!is_long && may_be_unsigned && value <= UINT32_MAX) return front_int(f, 32, false);
  if (!is_unsigned && value <= INT64_MAX) return front_int(f, 64, true);
  return front_int(f, 64, false);
}

static front_expr *integer_literal(front *f, const front_token *token) {
  qn_sv text = token->pp.text;
  uint32_t radix = 10;
  size_t at = 0;
  if (is_hex(text)) {
    radix = 16;
    at = 2;
  } else if (text.size > 2 && text.data[0] == '0' && lower(text.data[1]) == 'b') {
    radix = 2;
    at = 2;
  } else if (text.size > 1 && text.data[0] == '0') {
    radix = 8;
    at = 1;
  }
  uint64_t value = 0;
  size_t digits = 0;
  for (; at < text.size && digit_value(text.data[at]) < (radix == 16 ? 16 : 10); at++, digits++) {
    uint64_t digit = (uint64_t)digit_value(text.data[at]);
    if (digit >= radix) return bad_number(f, token, radix == 8 ? "invalid octal number" : "invalid binary number");
    if (value > (UINT64_MAX - digit) / radix) return bad_number(f, token, "integer is larger than 64 bits:");
    value = value * radix + digit;
  }
  bool is_unsigned = false, is_long = false;
  qn_sv suffix = qn_sv_make(text.data + at, text.size - at);
  if ((digits == 0 && radix != 8) || !integer_suffix(suffix, &is_unsigned, &is_long)) {
    return bad_number(f, token, "invalid suffix or digit in number");
  }
  const front_type *type = integer_type(f, value, radix == 10, is_unsigned, is_long);
  if (radix == 10 && !is_unsigned && value > INT64_MAX) {
    front_warning(f, token->pp.loc, token->pp.length, "integer is too large for a signed type; taken as ulong");
  }
  return front_expr_int(f, token->pp.loc, token->pp.length, type, value);
}

/* "1f" is no number of C, but is written. */
static bool is_integer_with_f(qn_sv text) {
  if (is_hex(text) || text.size < 2 || lower(text.data[text.size - 1]) != 'f') return false;
  for (size_t i = 0; i + 1 < text.size; i++) {
    if (!is_digit(text.data[i])) return false;
  }
  return true;
}

front_expr *front_number(front *f) {
  front_token token = f->tok;
  front_next(f);
  if (is_integer_with_f(token.pp.text)) {
    return bad_number(f, &token, "a float needs a point, as in 1.0f; invalid number");
  }
  return is_floating(token.pp.text) ? float_literal(f, &token) : integer_literal(f, &token);
}

/* ---- Characters and strings --------------------------------------------------------------------------- */

/* One character or escape at *at, within a quoted text that ends at `end`. False: reported. */
static bool read_char(front *f, const front_token *token, const char **at, const char *end, unsigned *out) {
  static const char names[] = "abfnrtv\\'\"?";
  static const char values[] = "\a\b\f\n\r\t\v\\'\"?";
  const char *p = *at;
  if (*p != '\\') {
    *out = (unsigned char)*p;
    *at = p + 1;
    return true;
  }
  p++;
  const char *name = p < end && *p != 0 ? strchr(names, *p) : NULL;
  unsigned value = 0;
  if (name != NULL) {
    value = (unsigned char)values[name - names];
    p++;
  } else if (p < end && *p == 'x' && p + 1 < end && digit_value(p[1]) < 16) {
    for (p++; p < end && digit_value(*p) < 16; p++) value = (value * 16 + (unsigned)digit_value(*p)) & 0xfff;
  } else if (p < end && *p >= '0' && *p <= '7') {
    for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++, p++) value = value * 8 + (unsigned)(*p - '0');
  } else {
    front_error(f, token->pp.loc, token->pp.length, "unknown escape sequence in %.*s", QN_SV_ARG(token->pp.text));
    return false;
  }
  if (value > 255) {
    front_error(f, token->pp.loc, token->pp.length, "escape sequence in %.*s is larger than a character",
                QN_SV_ARG(token->pp.text));
    return false;
  }
  *at = p;
  *out = value;
  return true;
}

/* The text between the quotes; a prefix like L stays in front of them. */
static bool inner_text(front *f, const front_token *token, char quote, const char **begin, const char **end) {
  qn_sv text = token->pp.text;
  if (text.size < 2 || text.data[0] != quote || text.data[text.size - 1] != quote) {
    front_error(f, token->pp.loc, token->pp.length, "wide and prefixed literals don't exist in OpenCL C");
    return false;
  }
  *begin = text.data + 1;
  *end = text.data + text.size - 1;
  return true;
}

front_expr *front_character(front *f) {
  front_token token = f->tok;
  front_next(f);
  const char *at, *end;
  if (token.pp.is_broken || !inner_text(f, &token, '\'', &at, &end)) return front_expr_error(f, token.pp.loc);
  if (at == end) {
    front_error(f, token.pp.loc, token.pp.length, "a character constant is empty");
    return front_expr_error(f, token.pp.loc);
  }
  uint32_t value = 0, count = 0;
  unsigned c = 0;
  for (; at < end; count++) {
    if (!read_char(f, &token, &at, end, &c)) return front_expr_error(f, token.pp.loc);
    value = value << 8 | c;
  }
  if (count == 1) value = (uint32_t)(int32_t)(int8_t)c;
  if (count > 4) {
    front_error(f, token.pp.loc, token.pp.length, "character constant is longer than an int");
    return front_expr_error(f, token.pp.loc);
  }
  return front_expr_int(f, token.pp.loc, token.pp.length, front_int(f, 32, true), value);
}

static bool append_string(front *f, const front_token *token, qn_bytes *out) {
  const char *at, *end;
  if (token->pp.is_broken || !inner_text(f, token, '"', &at, &end)) return false;
  while (at < end) {
    unsigned c;
    if (!read_char(f, token, &at, end, &c)) return false;
    qn_bytes_append_char(out, (char)c);
  }
  return true;
}

front_expr *front_string(front *f) {
  front_token first = f->tok;
  qn_bytes bytes = {0};
  bool good = true;
  while (f->tok.pp.kind == PP_STRING) {
    good = good && append_string(f, &f->tok, &bytes);
    front_next(f);
  }
  qn_sv text = qn_bytes_view(&bytes);
  char *copy = bytes.failed ? NULL : qn_arena_copy(f->arena, text.size > 0 ? text : QN_SV(""));
  size_t size = bytes.size;
  qn_bytes_free(&bytes);
  if (copy == NULL) f->failed = true;
  if (copy == NULL || !good) return front_expr_error(f, first.pp.loc);
  const front_type *element = front_qualify(f, front_int(f, 8, true), FRONT_CONST, IR_CONSTANT);
  front_expr *e = front_expr_new(f, EXPR_STRING, first.pp.loc, first.pp.length, front_array(f, element, size + 1));
  e->is_lvalue = true;
  e->u.string = qn_sv_make(copy, size);
  return e;
}
