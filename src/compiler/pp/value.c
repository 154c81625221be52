/* value.c - the expression of an #if: integers of 64 bits, by C's rules. */
#include "compiler/pp/state.h"

typedef struct value {
  uint64_t bits;
  bool is_unsigned;
} value;

/* The expression's tokens, expanded, `defined` and __has_include already replaced by 1 or 0. */
typedef struct reader {
  pp *p;
  const pp_token *at, *end;
  pp_token line_end; /* what stands behind the last token */
  uint32_t depth;
  bool failed;
} reader;

static const pp_token *peek(const reader *r) { return r->at < r->end ? r->at : &r->line_end; }
static bool at_punct(const reader *r, pp_punct punct) {
  const pp_token *token = peek(r);
  return token->kind == PP_PUNCT && token->punct == punct;
}

/* Tells the first fault only. */
static void fail(reader *r, const pp_token *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void fail(reader *r, const pp_token *at, const char *format, ...) {
  if (r->failed) return;
  r->failed = true;
  va_list args;
  va_start(args, format);
  qn_diagv(r->p->diags, QN_ERROR, at->loc, at->length, format, args);
  va_end(args);
}

/* ---- Literals ------------------------------------------------------------------------------------- */

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/* u, l, ul, ll ... in either case; each once, the two l alike and together. */
static bool is_suffix(qn_sv text, bool *is_unsigned) {
  static const char *const suffixes[] = {"", "l", "L", "ll", "LL"};
  if (text.size && (text.data[0] == 'u' || text.data[0] == 'U')) {
    *is_unsigned = true;
    text = qn_sv_make(text.data + 1, text.size - 1);
  } else if (text.size && (text.data[text.size - 1] == 'u' || text.data[text.size - 1] == 'U')) {
    *is_unsigned = true;
    text.size--;
  }
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (qn_sv_is(text, suffixes[i])) return true;
  return false;
}

static bool looks_floating(qn_sv text) {
  bool hexadecimal = text.size > 1 && (text.data[1] == 'x' || text.data[1] == 'X');
  for (size_t i = 0; i < text.size; i++)
    if (text.data[i] == '.' || strchr(hexadecimal ? "pP" : "eE", text.data[i])) return true;
  return false;
}

static value number(reader *r, const pp_token *token) {
  qn_sv text = token->text;
  value result = {0};
  if (looks_floating(text)) {
    fail(r, token, "a floating-point number in #if: only integers are allowed");
    return result;
  }
  unsigned base = 10;
  size_t i = 0;
  if (text.size > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X')) {
    base = 16;
    i = 2;
  } else if (text.size > 2 && text.data[0] == '0' && (text.data[1] == 'b' || text.data[1] == 'B')) {
    base = 2;
    i = 2;
  } else if (text.data[0] == '0')
    base = 8;
  bool overflow = false;
  size_t first = i;
  for (; i < text.size && (unsigned)digit_value(text.data[i]) < base; i++) {
    overflow |= __builtin_mul_overflow(result.bits, (uint64_t)base, &result.bits);
    overflow |= __builtin_add_overflow(result.bits, (uint64_t)digit_value(text.data[i]), &result.bits);
  }
  if (i == first || !is_suffix(qn_sv_make(text.data + i, text.size - i), &result.is_unsigned))
    fail(r, token, "'%.*s' is not an integer", QN_SV_ARG(text));
  else if (overflow)
    fail(r, token, "'%.*s' does not fit into 64 bits", QN_SV_ARG(text));
  /* A decimal number too large for a signed one is taken as unsigned, as other compilers do. */
  if (result.bits > INT64_MAX) result.is_unsigned = true;
  return result;
}

/* One character or escape of a constant; moves *at on. */
static uint32_t character(const char **at, const char *end) {
  static const char names[] = "abefnrtv", values[] = "\a\b\033\f\n\r\t\v";
  const char *c = *at;
  uint32_t result = (unsigned char)*c++;
  if (result == '\\' && c < end) {
    const char *name = strchr(names, *c);
    result = (unsigned char)*c++;
    if (name && *name)
      result = (unsigned char)values[name - names];
    else if (result == 'x') {
      result = 0;
      while (c < end && digit_value(*c) < 16) result = result << 4 | (uint32_t)digit_value(*c++);
    } else if (result >= '0' && result <= '7') {
      result -= '0';
      for (int i = 0; i < 2 && c < end && *c >= '0' && *c <= '7'; i++) result = result << 3 | (uint32_t)(*c++ - '0');
    }
  }
  *at = c;
  return result;
}

/* char is signed in OpenCL C; of several characters each shifts the ones before it, as other compilers do. */
static value character_constant(reader *r, const pp_token *token) {
  const char *at = token->text.data, *end = at + token->text.size - 1;
  if (*at == 'L') at++;
  at++;
  if (at >= end) {
    fail(r, token, "an empty character constant");
    return (value){0};
  }
  bool is_single = true;
  uint32_t bits = character(&at, end) & 0xff;
  for (; at < end; is_single = false) bits = bits << 8 | (character(&at, end) & 0xff);
  return (value){.bits = (uint64_t)(int64_t)(is_single ? (int8_t)bits : (int32_t)bits)};
}

/* ---- Operators ------------------------------------------------------------------------------------ */

/* X(punctuator, precedence): higher binds tighter. */
static uint32_t precedence_of(const pp_token *token) {
  static const uint8_t precedences[] = {
      [PP_P_OROR] = 1, [PP_P_ANDAND] = 2, [PP_P_PIPE] = 3,  [PP_P_CARET] = 4, [PP_P_AMP] = 5,    [PP_P_EQ] = 6,
      [PP_P_NE] = 6,   [PP_P_LT] = 7,     [PP_P_GT] = 7,    [PP_P_LE] = 7,    [PP_P_GE] = 7,     [PP_P_SHL] = 8,
      [PP_P_SHR] = 8,  [PP_P_PLUS] = 9,   [PP_P_MINUS] = 9, [PP_P_STAR] = 10, [PP_P_SLASH] = 10, [PP_P_PERCENT] = 10};
  return token->kind == PP_PUNCT && token->punct < sizeof precedences ? precedences[token->punct] : 0;
}

/* Too large an amount shifts all out; a negative one shifts the other way, as GCC does. */
static uint64_t shift(value a, value b, bool left) {
  uint64_t amount = b.bits;
  if (!b.is_unsigned && (int64_t)b.bits < 0) {
    left = !left;
    amount = 0 - b.bits;
  }
  bool is_negative = !a.is_unsigned && (int64_t)a.bits < 0;
  if (amount > 63) return !left && is_negative ? UINT64_MAX : 0;
  if (left) return a.bits << amount;
  return is_negative ? ~(~a.bits >> amount) : a.bits >> amount;
}

static uint64_t divide(value a, value b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return remainder ? a.bits % b.bits : a.bits / b.bits;
  /* The most negative one by -1: its quotient wraps. */
  if (b.bits == UINT64_MAX) return remainder ? 0 : 0 - a.bits;
  int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
  return (uint64_t)(remainder ? x % y : x / y);
}

static bool less(value a, value b, bool is_unsigned) {
  return is_unsigned ? a.bits < b.bits : (int64_t)a.bits < (int64_t)b.bits;
}

static value apply(reader *r, const pp_token *operator, value a, value b, bool evaluated) {
  bool u = a.is_unsigned || b.is_unsigned;
  switch (operator->punct) {
    case PP_P_PIPE:
      return (value){a.bits | b.bits, u};
    case PP_P_CARET:
      return (value){a.bits ^ b.bits, u};
    case PP_P_AMP:
      return (value){a.bits & b.bits, u};
    case PP_P_PLUS:
      return (value){a.bits + b.bits, u};
    case PP_P_MINUS:
      return (value){a.bits - b.bits, u};
    case PP_P_STAR:
      return (value){a.bits * b.bits, u};
    case PP_P_SHL:
    case PP_P_SHR:
      return (value){shift(a, b, operator->punct == PP_P_SHL), a.is_unsigned};
    case PP_P_EQ:
      return (value){a.bits == b.bits, false};
    case PP_P_NE:
      return (value){a.bits != b.bits, false};
    case PP_P_LT:
      return (value){less(a, b, u), false};
    case PP_P_GT:
      return (value){less(b, a, u), false};
    case PP_P_LE:
      return (value){!less(b, a, u), false};
    case PP_P_GE:
      return (value){!less(a, b, u), false};
    default:
      break;
  }
  if (b.bits) return (value){divide(a, b, u, operator->punct == PP_P_PERCENT), u};
  if (evaluated) fail(r, operator, "division by zero in #if");
  return (value){0, u};
}

/* ---- Grammar -------------------------------------------------------------------------------------- */

static value conditional(reader *r, bool evaluated);

static bool enter(reader *r) {
  if (++r->depth <= PP_EXPRESSION_DEPTH) return true;
  fail(r, peek(r), "an #if nested more than %d deep", PP_EXPRESSION_DEPTH);
  return false;
}

static value parenthesized(reader *r, bool evaluated) {
  const pp_token *open = r->at;
  value result = {0};
  if (enter(r)) {
    r->at++;
    result = conditional(r, evaluated);
  }
  r->depth--;
  if (at_punct(r, PP_P_RPAREN))
    r->at++;
  else if (!r->failed) {
    fail(r, peek(r), "expected ')' in #if");
    pp_note(r->p, open->loc, open->length, "to match this '('");
  }
  return result;
}

/* An identifier that is no macro is 0. */
static value identifier(reader *r, const pp_token *token) {
  if (at_punct(r, PP_P_LPAREN)) fail(r, token, "the function-like macro '%.*s' is not defined", QN_SV_ARG(token->text));
  return (value){0};
}

static value primary(reader *r, bool evaluated) {
  const pp_token *token = peek(r);
  if (at_punct(r, PP_P_LPAREN)) return parenthesized(r, evaluated);
  if (token->kind == PP_EOF) {
    fail(r, token, "expected a value at the end of #if");
    return (value){0};
  }
  r->at++;
  switch (token->kind) {
    case PP_NUMBER:
      return number(r, token);
    case PP_CHAR:
      return character_constant(r, token);
    case PP_IDENT:
      return identifier(r, token);
    default:
      fail(r, token, "expected a value in #if, not '%.*s'", QN_SV_ARG(token->text));
      return (value){0};
  }
}

static value unary(reader *r, bool evaluated) {
  const pp_token *token = peek(r);
  bool is_operator =
      at_punct(r, PP_P_PLUS) || at_punct(r, PP_P_MINUS) || at_punct(r, PP_P_TILDE) || at_punct(r, PP_P_NOT);
  if (!is_operator) return primary(r, evaluated);
  value result = {0};
  if (enter(r)) {
    r->at++;
    result = unary(r, evaluated);
    switch (token->punct) {
      case PP_P_MINUS:
        result.bits = 0 - result.bits;
        break;
      case PP_P_TILDE:
        result.bits = ~result.bits;
        break;
      case PP_P_NOT:
        result = (value){.bits = result.bits == 0};
        break;
      default:
        break;
    }
  }
  r->depth--;
  return result;
}

static value binary(reader *r, uint32_t least, bool evaluated) {
  value left = unary(r, evaluated);
  for (;;) {
    const pp_token *operator= peek(r);
    uint32_t precedence = precedence_of(operator);
    if (precedence < least || precedence == 0 || r->failed) return left;
    r->at++;
    bool is_and = operator->punct == PP_P_ANDAND, is_or = operator->punct == PP_P_OROR;
    bool decided = (is_and && !left.bits) || (is_or && left.bits);
    value right = binary(r, precedence + 1, evaluated && !decided);
    if (is_and)
      left = (value){.bits = left.bits && right.bits};
    else if (is_or)
      left = (value){.bits = left.bits || right.bits};
    else
      left = apply(r, operator, left, right, evaluated);
  }
}

/* The two results of ?:, at the '?'. */
static value choice(reader *r, bool first, bool evaluated) {
  r->at++;
  value a = conditional(r, evaluated && first);
  if (at_punct(r, PP_P_COLON))
    r->at++;
  else
    fail(r, peek(r), "expected ':' in #if");
  value b = conditional(r, evaluated && !first);
  return (value){.bits = first ? a.bits : b.bits, .is_unsigned = a.is_unsigned || b.is_unsigned};
}

static value conditional(reader *r, bool evaluated) {
  value condition = binary(r, 1, evaluated);
  if (!at_punct(r, PP_P_QUESTION) || r->failed) return condition;
  if (enter(r)) condition = choice(r, condition.bits != 0, evaluated);
  r->depth--;
  return condition;
}

/* ---- Reading the line ----------------------------------------------------------------------------- */

static void make_number(pp_token *token, bool holds) {
  token->kind = PP_NUMBER;
  token->name = NULL;
  token->text = holds ? QN_SV("1") : QN_SV("0");
}

/* defined X, defined(X): the operands are not expanded. `token` becomes a number. */
static bool replace_defined(pp *p, pp_token *token) {
  pp_token name, close;
  pp_read(p, &name);
  bool in_parens = name.kind == PP_PUNCT && name.punct == PP_P_LPAREN;
  if (in_parens) pp_read(p, &name);
  if (name.kind != PP_IDENT) {
    pp_error(p, name.kind == PP_EOF ? token->loc : name.loc, 1, "'defined' takes a macro's name");
    return false;
  }
  if (in_parens) {
    pp_read(p, &close);
    if (close.kind != PP_PUNCT || close.punct != PP_P_RPAREN) {
      pp_error(p, close.kind == PP_EOF ? name.loc : close.loc, 1, "expected ')' after 'defined(%.*s'",
               QN_SV_ARG(name.text));
      return false;
    }
  }
  make_number(token, name.name->macro != NULL);
  return true;
}

/* __has_include("name") and (<name>), which a macro may give too. */
static bool replace_has_include(pp *p, pp_token *token) {
  pp_token part;
  qn_bytes name = {0};
  bool angled = false, found = false;
  pp_read(p, &part);
  bool right = part.kind == PP_PUNCT && part.punct == PP_P_LPAREN;
  if (right) {
    pp_expand_next(p, &part);
    if (part.kind == PP_STRING && part.text.data[0] == '"')
      qn_bytes_append(&name, part.text.data + 1, part.text.size - 2);
    else if ((angled = part.kind == PP_PUNCT && part.punct == PP_P_LT)) {
      pp_read(p, &part);
      for (; part.kind != PP_EOF && !(part.kind == PP_PUNCT && part.punct == PP_P_GT); pp_read(p, &part)) {
        if (part.space_before && name.size) qn_bytes_append_char(&name, ' ');
        qn_bytes_append_sv(&name, part.text);
      }
    }
    right = part.kind != PP_EOF && name.size;
    pp_read(p, &part);
    right = right && part.kind == PP_PUNCT && part.punct == PP_P_RPAREN;
  }
  if (name.failed)
    pp_no_memory(p);
  else if (!right)
    pp_error(p, token->loc, token->length, "__has_include takes (\"FILENAME\") or (<FILENAME>)");
  else
    found = pp_find(p, qn_bytes_view(&name), angled) != NULL;
  qn_bytes_free(&name);
  make_number(token, found);
  return right && pp_alive(p);
}

/* Appends the line, expanded, its own operators replaced. */
static bool expand_line(pp *p, const pp_buffer *line, pp_buffer *out) {
  bool right = pp_push_floor(p, line->tokens, line->count);
  if (!right) return false;
  for (;;) {
    pp_token token;
    pp_expand_next(p, &token);
    if (token.kind == PP_EOF) break;
    if (token.kind == PP_IDENT && token.name == p->name_defined)
      right = replace_defined(p, &token);
    else if (token.kind == PP_IDENT && token.name == p->name_has_include)
      right = replace_has_include(p, &token);
    right = right && pp_buffer_add(p, out, &token);
    if (!right) break;
  }
  pp_drop_floor(p);
  return right && pp_alive(p);
}

static bool evaluate(pp *p, const pp_token *directive, const pp_buffer *tokens) {
  if (tokens->count == 0) {
    pp_error(p, directive->loc, directive->length, "#%.*s without a value", QN_SV_ARG(directive->text));
    return false;
  }
  const pp_token *last = &tokens->tokens[tokens->count - 1];
  reader r = {.p = p, .at = tokens->tokens, .end = last + 1};
  r.line_end = (pp_token){.kind = PP_EOF, .loc = qn_sources_behind(p->sources, last->loc, last->length), .length = 1};
  value result = conditional(&r, true);
  if (r.at < r.end) fail(&r, r.at, "unexpected '%.*s' in #if", QN_SV_ARG(r.at->text));
  return !r.failed && result.bits;
}

bool pp_condition(pp *p, const pp_token *directive) {
  pp_buffer line = {0}, tokens = {0};
  bool holds = false;
  if (pp_read_line(p, &line) && expand_line(p, &line, &tokens)) holds = evaluate(p, directive, &tokens);
  pp_buffer_release(p, &line);
  pp_buffer_release(p, &tokens);
  return holds;
}
