/* param.c - generator parameters:  #pragma quern param(NAME, TYPE, DEFAULT, "what it is")
 *
 * NAME becomes a macro of the value that -P gives, or of DEFAULT, written as a constant of TYPE. The pragma stays in the
 * output: another compiler ignores it, so a portable file adds #ifndef NAME. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/os/text.h"
#include "compiler/pp/state.h"

typedef struct param_type {
  const char *name;
  bool is_float, is_signed;
  uint32_t bits;
  const char *suffix;
} param_type;

static const param_type types[] = {
    {"bool", false, false, 1, ""},   {"char", false, true, 8, ""},     {"uchar", false, false, 8, ""},
    {"short", false, true, 16, ""},  {"ushort", false, false, 16, ""}, {"int", false, true, 32, ""},
    {"uint", false, false, 32, "u"}, {"long", false, true, 64, "L"},   {"ulong", false, false, 64, "UL"},
    {"float", true, true, 32, "f"},  {"double", true, true, 64, ""},
};

static const param_type *find_type(qn_sv name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (qn_sv_is(name, types[i].name)) return &types[i];
  return NULL;
}

/* A constant that #if and the parser read alike; NULL: no value of the type. */
static const char *integer_text(pp *p, const param_type *type, qn_sv value) {
  int64_t number;
  uint64_t magnitude;
  if (type->bits == 1 && (qn_sv_is(value, "true") || qn_sv_is(value, "false"))) return value.data[0] == 't' ? "1" : "0";
  if (qn_sv_to_u64(value, &magnitude)) {
    if (magnitude > UINT64_MAX >> (64 - type->bits + type->is_signed)) return NULL;
    return qn_arena_printf(p->arena, "%llu%s", (unsigned long long)magnitude, type->suffix);
  }
  if (!type->is_signed || !qn_sv_to_i64(value, &number) || number < -(INT64_MAX >> (64 - type->bits)) - 1) return NULL;
  /* The lowest value has no literal of its own. */
  return qn_arena_printf(p->arena, "(%lld%s - 1)", (long long)(number + 1), type->suffix);
}

/* Whether a number's text has a digit that isn't 0 before its exponent. */
static bool says_more_than_zero(qn_sv text) {
  bool is_hex = memchr(text.data, 'x', text.size) || memchr(text.data, 'X', text.size);
  for (size_t i = 0; i < text.size && !strchr(is_hex ? "pP" : "eE", text.data[i]); i++)
    if (strchr(is_hex ? "123456789abcdefABCDEF" : "123456789", text.data[i])) return true;
  return false;
}

/* As `quern run --arg` reads it: one rounding, to the nearest; what is too large is no infinity, and what is too small no zero. */
static const char *float_text(pp *p, const param_type *type, qn_sv value) {
  double number;
  if (value.size > 1 && (value.data[value.size - 1] == 'f' || value.data[value.size - 1] == 'F') &&
      !memchr(value.data, 'x', value.size))
    value.size--;
  if (!qn_sv_to_f64(value, &number)) return NULL;
  const char *text = qn_arena_printf(p->arena, "%.*s", QN_SV_ARG(value));
  if (!text) return NULL;
  if (type->bits == 32) number = (double)qn_text_to_float(text, NULL);
  if (!isfinite(number) || (number == 0 && says_more_than_zero(value))) return NULL;
  return qn_arena_printf(p->arena, signbit(number) ? "(%a%s)" : "%a%s", number, type->suffix);
}

/* The value that -P gives; an empty view: none. */
static qn_sv given_value(const pp *p, qn_sv name) {
  qn_sv found = {0};
  for (uint32_t i = 0; i < p->options->parameter_count; i++) {
    qn_sv pair = qn_sv_from(p->options->parameters[i]);
    if (pair.size > name.size && qn_sv_starts_with(pair, name) && pair.data[name.size] == '=')
      found = qn_sv_make(pair.data + name.size + 1, pair.size - name.size - 1);
  }
  return found;
}

static bool is_punct(const pp_token *t, pp_punct punct) { return t->kind == PP_PUNCT && t->punct == punct; }

/* The tokens of param(...), taken apart. */
typedef struct pp_param_words {
  pp_token name, type, value;
  bool is_negative;
  const char *given; /* what -P said, once its words are checked; NULL: nothing */
} param_words;

static bool take_apart(const pp_token *t, uint32_t count, param_words *out) {
  if (count < 9 || !is_punct(&t[2], PP_P_LPAREN) || t[3].kind != PP_IDENT || !is_punct(&t[4], PP_P_COMMA) ||
      t[5].kind != PP_IDENT || !is_punct(&t[6], PP_P_COMMA))
    return false;
  out->given = NULL;
  out->is_negative = is_punct(&t[7], PP_P_MINUS);
  uint32_t at = 7 + out->is_negative;
  out->name = t[3];
  out->type = t[5];
  out->value = t[at];
  bool is_value = at < count && (t[at].kind == PP_NUMBER || t[at].kind == PP_IDENT);
  bool described = at + 3 < count && is_punct(&t[at + 1], PP_P_COMMA) && t[at + 2].kind == PP_STRING;
  uint32_t end = at + (described ? 3 : 1);
  return is_value && end + 1 == count && is_punct(&t[end], PP_P_RPAREN);
}

static bool tell_bad_value(pp *p, const param_words *w, qn_sv value, bool is_given) {
  p->diags->option_errors += is_given;
  const param_type *type = find_type(w->type.text);
  double number;
  bool is_small = type->is_float && qn_sv_to_f64(value, &number) && fabs(number) < 1;
  pp_error(p, w->name.loc, w->name.length, "%s '%.*s' of parameter '%.*s' is no %.*s%s",
           is_given ? "the value" : "the default", QN_SV_ARG(value), QN_SV_ARG(w->name.text), QN_SV_ARG(w->type.text),
           is_small ? ": it would become 0" : "");
  return false;
}

static const char *value_text(pp *p, const param_words *w, const param_type *type) {
  qn_sv given = given_value(p, w->name.text), value = w->value.text;
  bool is_given = given.data != NULL;
  if (is_given) {
    value = given;
  } else if (w->is_negative) {
    const char *text = qn_arena_printf(p->arena, "-%.*s", QN_SV_ARG(value));
    if (!text) return NULL;
    value = qn_sv_from(text);
  }
  const char *text = type->is_float ? float_text(p, type, value) : integer_text(p, type, value);
  if (!text) tell_bad_value(p, w, value, is_given);
  return text;
}

/* The same header again declares the same; another type or default would be lost without a word. */
static void check_again(pp *p, const param_words *first, const param_words *w) {
  if (qn_sv_equal(first->type.text, w->type.text) && qn_sv_equal(first->value.text, w->value.text) &&
      first->is_negative == w->is_negative)
    return;
  pp_error(p, w->name.loc, w->name.length,
           "parameter '%.*s' is declared twice, and not alike: %.*s %s%.*s, then %.*s %s%.*s", QN_SV_ARG(w->name.text),
           QN_SV_ARG(first->type.text), first->is_negative ? "-" : "", QN_SV_ARG(first->value.text),
           QN_SV_ARG(w->type.text), w->is_negative ? "-" : "", QN_SV_ARG(w->value.text));
  pp_note(p, first->name.loc, first->name.length, "it is declared here before");
}

bool pp_is_param(const pp_buffer *line) {
  return line->count >= 2 && qn_sv_is(line->tokens[0].text, "quern") && qn_sv_is(line->tokens[1].text, "param");
}

void pp_param(pp *p, const pp_buffer *line) {
  param_words w;
  const pp_token *first = &line->tokens[0];
  if (!take_apart(line->tokens, line->count, &w)) {
    pp_error(p, first->loc, first->length, "expected '#pragma quern param(NAME, TYPE, DEFAULT, \"what it is\")'");
    return;
  }
  const param_type *type = find_type(w.type.text);
  if (!type) {
    pp_error(p, w.type.loc, w.type.length,
             "parameter '%.*s' has type '%.*s'; parameters are bool, float, double, or integers from char to ulong",
             QN_SV_ARG(w.name.text), QN_SV_ARG(w.type.text));
    return;
  }
  if (w.name.name->param) {
    check_again(p, w.name.name->param, &w);
    return;
  }
  param_words *kept = QN_ARENA_NEW(p->arena, param_words);
  if (!kept) {
    pp_no_memory(p);
    return;
  }
  *kept = w;
  w.name.name->param = kept;
  if (p->params.size > 0) qn_bytes_append_str(&p->params, ", ");
  qn_bytes_append_sv(&p->params, w.name.text);
  if (p->params.failed) {
    pp_no_memory(p);
    return;
  }
  if (w.name.name->macro) {
    pp_error(p, w.name.loc, w.name.length, "parameter '%.*s' is a macro already; set it by -P, not by -D or #define",
             QN_SV_ARG(w.name.text));
    return;
  }
  const char *value = value_text(p, &w, type);
  if (!value) value = "0"; /* told: its uses are no further fault */
  const char *define = qn_arena_printf(p->arena, "#define %.*s %s\n", QN_SV_ARG(w.name.text), value);
  if (!define) {
    pp_no_memory(p);
    return;
  }
  pp_enter_string(p, "<parameter>", qn_sv_from(define));
}

static void tell_unknown(pp *p, const char *pair) {
  if (p->params.size == 0)
    pp_error(p, 0, 0, "-P %s: the source has no parameter; it declares them by '#pragma quern param'", pair);
  else
    pp_error(p, 0, 0, "-P %s: the source has no such parameter; it has: %.*s%s", pair,
             (int)(p->params.size < 500 ? p->params.size : 500), p->params.data, p->params.size < 500 ? "" : " ...");
}

/* The words of an option string may come from two places that know nothing of each other: neither value is the better. */
static void check_given(pp *p, param_words *param, const char *pair) {
  if (param->given && strcmp(param->given, pair) != 0) {
    p->diags->option_errors++;
    pp_error(p, 0, 0, "parameter '%.*s' is given twice: -P %s and -P %s", QN_SV_ARG(param->name.text), param->given,
             pair);
  }
  param->given = pair;
}

void pp_check_params(pp *p) {
  for (uint32_t i = 0; i < p->options->parameter_count; i++) {
    const char *pair = p->options->parameters[i], *equals = strchr(pair, '=');
    qn_sv name = equals ? qn_sv_make(pair, (size_t)(equals - pair)) : qn_sv_from(pair);
    const pp_name *known = pp_intern_kept(p, name);
    if (!known) return;
    if (!equals || !known->param) p->diags->option_errors++;
    if (!equals)
      pp_error(p, 0, 0, "-P %s: expected NAME=VALUE", pair);
    else if (!known->param)
      tell_unknown(p, pair);
    else
      check_given(p, known->param, pair);
  }
}
