#include "compiler/front/convert.h"
#include "compiler/front/lack.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

/* ---- Words of basic types: "unsigned long int" in any order ------------------------------------------------ */

typedef struct type_words {
  uint8_t is_signed, is_unsigned, is_short, is_long, is_int, is_char, is_float, is_double, is_void, is_bool;
} type_words;

static uint8_t *type_word(type_words *words, front_keyword keyword) {
  switch (keyword) {
    case KW_SIGNED:
      return &words->is_signed;
    case KW_UNSIGNED:
      return &words->is_unsigned;
    case KW_SHORT:
      return &words->is_short;
    case KW_LONG:
      return &words->is_long;
    case KW_INT:
      return &words->is_int;
    case KW_CHAR:
      return &words->is_char;
    case KW_FLOAT:
      return &words->is_float;
    case KW_DOUBLE:
      return &words->is_double;
    case KW_VOID:
      return &words->is_void;
    case KW_BOOL:
      return &words->is_bool;
    default:
      return NULL;
  }
}

/* NULL: the words don't go together. */
static const front_type *words_type(front *f, const type_words *w) {
  int others = w->is_float + w->is_double + w->is_void + w->is_bool;
  int integers = w->is_signed + w->is_unsigned + w->is_short + w->is_long + w->is_int + w->is_char;
  bool is_repeated = w->is_signed > 1 || w->is_unsigned > 1 || w->is_short > 1 || w->is_long > 2 || w->is_int > 1 ||
                     w->is_char > 1 || (w->is_signed && w->is_unsigned) || (w->is_short && w->is_long) ||
                     (w->is_char && (w->is_short || w->is_long || w->is_int));
  if (is_repeated || others > 1 || (others && integers)) return NULL;
  if (w->is_float) return front_float(f, 32);
  if (w->is_double) return front_float(f, 64);
  if (w->is_void) return front_void(f);
  if (w->is_bool) return front_bool(f);
  return front_int(f, w->is_char ? 8 : w->is_short ? 16 : w->is_long ? 64 : 32, !w->is_unsigned);
}

/* ---- What may start a declaration --------------------------------------------------------------------------- */

bool front_token_starts_type(front *f, const front_token *token) {
  if (token->pp.kind != PP_IDENT) return false;
  switch ((front_keyword)token->keyword) {
    case KW_NONE: {
      const front_symbol *symbol = front_find(f, token->pp.name);
      return symbol != NULL ? symbol->kind == SYMBOL_TYPEDEF : front_is_lacking_type(token->pp.text);
    }
    case KW_STRUCT:
    case KW_UNION:
    case KW_ENUM:
    case KW_TYPEDEF:
    case KW_STATIC:
    case KW_EXTERN:
    case KW_REGISTER:
    case KW_AUTO:
    case KW_CONST:
    case KW_VOLATILE:
    case KW_RESTRICT:
    case KW_GLOBAL:
    case KW_LOCAL:
    case KW_CONSTANT:
    case KW_PRIVATE:
    case KW_GENERIC:
    case KW_READ_ONLY:
    case KW_WRITE_ONLY:
    case KW_READ_WRITE:
    case KW_INLINE:
    case KW_KERNEL:
    case KW_TYPEOF:
    case KW_COMPLEX:
    case KW_IMAGINARY:
      return true;
    default: {
      type_words none;
      return type_word(&none, (front_keyword)token->keyword) != NULL;
    }
  }
}

bool front_starts_type(front *f) { return front_token_starts_type(f, &f->tok); }

static bool is_punct(const front_token *token, pp_punct punct) {
  return token->pp.kind == PP_PUNCT && token->pp.punct == punct;
}

static bool is_qualifier(const front_token *token) {
  return token->keyword == KW_CONST || token->keyword == KW_VOLATILE || token->keyword == KW_RESTRICT;
}

static bool is_name(const front_token *token) { return token->pp.kind == PP_IDENT && token->keyword == KW_NONE; }

static bool is_unknown(front *f, const front_token *token) {
  return is_name(token) && front_find(f, token->pp.name) == NULL && front_find_builtin(f, token->pp.name) == NULL;
}

/* Stars and qualifiers from `distance` on, as far as is looked; gives the distance behind them. */
static uint32_t behind_stars(front *f, uint32_t distance) {
  while (distance + 2 < FRONT_AHEAD &&
         (is_punct(front_peek_at(f, distance), PP_P_STAR) || is_qualifier(front_peek_at(f, distance))))
    distance++;
  return distance;
}

/* `X * a` is a product too, where `a` is known; nothing is assigned to one. */
static bool is_declared(front *f, uint32_t distance) {
  const front_token *name = front_peek_at(f, distance), *next = front_peek_at(f, distance + 1);
  if (!is_name(name)) return false;
  return is_punct(next, PP_P_ASSIGN) ||
         (is_unknown(f, name) &&
          (is_punct(next, PP_P_SEMI) || is_punct(next, PP_P_COMMA) || is_punct(next, PP_P_LBRACKET)));
}

bool front_at_unknown_type(front *f) {
  if (!is_unknown(f, &f->tok)) return false;
  if (is_name(front_peek(f))) return true;
  uint32_t behind = behind_stars(f, 0);
  return behind > 0 && (is_qualifier(front_peek_at(f, behind - 1)) || is_declared(f, behind));
}

/* A name alone in parentheses is a type when an operand follows that no operator stands before. */
bool front_at_unknown_type_in_parentheses(front *f) {
  if (!front_at(f, PP_P_LPAREN) || !is_unknown(f, front_peek(f))) return false;
  uint32_t behind = behind_stars(f, 1);
  if (!is_punct(front_peek_at(f, behind), PP_P_RPAREN)) return false;
  if (behind > 1) return true;
  const front_token *operand = front_peek_at(f, behind + 1);
  return is_name(operand) || operand->pp.kind == PP_NUMBER || is_punct(operand, PP_P_LPAREN);
}

/* ---- Specifiers ------------------------------------------------------------------------------------------------ */

typedef struct specifier_state {
  type_words words;
  bool has_words;
  const front_type *type; /* not by words */
  uint32_t quals;
  ir_space space;
  bool has_space;
} specifier_state;

static void set_space(front *f, specifier_state *s, ir_space space) {
  if (s->has_space && s->space != space) {
    front_error(f, f->tok.pp.loc, f->tok.pp.length, "a type lies in one address space only");
  }
  s->space = space;
  s->has_space = true;
}

static void set_storage(front *f, front_specifiers *out, front_storage storage) {
  if (out->storage != STORAGE_NONE && out->storage != storage) {
    front_error(f, f->tok.pp.loc, f->tok.pp.length, "more than one storage class in a declaration");
  }
  out->storage = storage;
}

/* Qualifiers, address spaces, storage classes and other words that aren't types. False: the token is none of them. */
static bool plain_word(front *f, front_specifiers *out, specifier_state *s) {
  switch ((front_keyword)f->tok.keyword) {
    case KW_CONST:
      s->quals |= FRONT_CONST;
      break;
    case KW_VOLATILE:
      s->quals |= FRONT_VOLATILE;
      break;
    case KW_RESTRICT:
      s->quals |= FRONT_RESTRICT;
      break;
    case KW_GLOBAL:
      set_space(f, s, IR_GLOBAL);
      break;
    case KW_LOCAL:
      set_space(f, s, IR_LOCAL);
      break;
    case KW_CONSTANT:
      set_space(f, s, IR_CONSTANT);
      break;
    case KW_PRIVATE:
      set_space(f, s, IR_PRIVATE);
      break;
    case KW_GENERIC:
      front_error(f, f->tok.pp.loc, f->tok.pp.length,
                  "the generic address space is not supported: name __global, __local, __constant or __private");
      break;
    case KW_TYPEDEF:
      set_storage(f, out, STORAGE_TYPEDEF);
      break;
    case KW_STATIC:
      set_storage(f, out, STORAGE_STATIC);
      break;
    case KW_EXTERN:
      set_storage(f, out, STORAGE_EXTERN);
      break;
    case KW_INLINE:
      out->is_inline = true;
      break;
    case KW_KERNEL:
      out->is_kernel = true;
      break;
    case KW_REGISTER:
    case KW_AUTO:
    case KW_EXTENSION:
    case KW_READ_ONLY:
    case KW_WRITE_ONLY:
    case KW_READ_WRITE:
      break;
    default:
      return false;
  }
  front_next(f);
  return true;
}

/* typeof(type) or typeof(expression). */
static const front_type *typeof_specifier(front *f) {
  front_next(f);
  if (!front_expect(f, PP_P_LPAREN, " after typeof")) return front_error_type(f);
  const front_type *type = front_starts_type(f) ? front_type_name(f) : front_expression(f)->type;
  return front_expect(f, PP_P_RPAREN, "") ? type : front_error_type(f);
}

/* A type that isn't here, at its name. */
static const front_type *lacking_type(front *f) {
  bool is_pipe = qn_sv_is(f->tok.pp.text, "pipe");
  (void)front_tell_lack(f, f->tok.pp.loc, f->tok.pp.length, f->tok.pp.text);
  front_next(f);
  front_specifiers packet;
  if (is_pipe && front_starts_type(f)) {
    if (front_enter(f)) (void)front_specifiers_read(f, &packet);
    front_leave(f);
  }
  return front_error_type(f);
}

static const front_type *named_type(front *f, front_specifiers *out) {
  front_symbol *symbol = front_find(f, f->tok.pp.name);
  if (symbol == NULL && front_is_lacking_type(f->tok.pp.text)) return lacking_type(f);
  if (symbol == NULL || symbol->kind != SYMBOL_TYPEDEF) return NULL;
  out->spelled = f->tok.pp.text;
  if (symbol->align > out->attributes.align) out->attributes.align = symbol->align;
  front_next(f);
  return symbol->type;
}

static void note_record_end(front *f, front_specifiers *out) {
  if (f->last_is_brace) out->record_end = front_last_end(f);
}

/* A word that makes the type. False: the token is none. */
static bool type_specifier(front *f, front_specifiers *out, specifier_state *s) {
  if (f->tok.pp.kind != PP_IDENT) return false;
  uint8_t *word = type_word(&s->words, (front_keyword)f->tok.keyword);
  if (word != NULL) {
    if (s->type != NULL) return false;
    if (*word < 3) ++*word;
    s->has_words = true;
    front_next(f);
    return true;
  }
  if (s->type != NULL || s->has_words) return false;
  switch ((front_keyword)f->tok.keyword) {
    case KW_NONE:
      s->type = named_type(f, out);
      return s->type != NULL;
    case KW_STRUCT:
    case KW_UNION:
      s->type = front_record_specifier(f);
      note_record_end(f, out);
      out->declares = true;
      return true;
    case KW_ENUM:
      s->type = front_enum_specifier(f);
      note_record_end(f, out);
      out->declares = true;
      return true;
    case KW_TYPEOF:
      s->type = typeof_specifier(f);
      return true;
    case KW_COMPLEX:
    case KW_IMAGINARY:
      front_error(f, f->tok.pp.loc, f->tok.pp.length, "OpenCL C has no complex numbers");
      front_next(f);
      s->type = front_error_type(f);
      return true;
    default:
      return false;
  }
}

/* Whether a name that is no type stands where one was meant: another name, a '*' or a parenthesis comes next. */
static bool is_meant_as_type(front *f) {
  if (!front_at_name(f)) return false;
  const front_token *next = front_peek(f);
  return next->pp.kind == PP_IDENT || is_punct(next, PP_P_STAR) || is_punct(next, PP_P_RPAREN);
}

/* No type where one is needed. True: the name is taken as a type that was reported, so that what it declares is known. */
static bool unknown_type(front *f, front_specifiers *out) {
  if (!front_at_name(f)) {
    front_syntax_error(f, "expected a type");
    return false;
  }
  bool goes_on = is_meant_as_type(f);
  front_name *entry = f->tok.pp.name->declarations;
  bool is_told = (f->func == NULL && front_is_structure_doubtful(f)) || front_is_doubtful_name(f, f->tok.pp.name) ||
                 (goes_on && entry != NULL && entry->is_told);
  qn_sv near = front_nearest_name(f, f->tok.pp.text, NAMES_OF_TYPES);
  static const char text[] = "unknown type name '%.*s'%s%.*s%s";
  const char *question = near.size > 0 ? "; did you mean '" : "", *end = near.size > 0 ? "'?" : "";
  if (is_told)
    front_panic(f);
  else if (f->func != NULL && is_punct(front_peek(f), PP_P_RPAREN)) /* within an expression whose syntax is right */
    front_error(f, f->tok.pp.loc, f->tok.pp.length, text, QN_SV_ARG(f->tok.pp.text), question, QN_SV_ARG(near), end);
  else
    front_syntax_error(f, text, QN_SV_ARG(f->tok.pp.text), question, QN_SV_ARG(near), end);
  if (!goes_on) return false;
  if (entry != NULL) entry->is_told = true;
  f->is_panicking = f->is_fatal;
  front_next(f);
  out->type = front_error_type(f);
  out->is_unknown = true;
  return true;
}

static bool uses_double(const front_type *type) {
  const front_type *elem = front_elem(type);
  return elem->kind == FRONT_FLOAT && elem->bits == 64;
}

static const front_type *finished_type(front *f, const front_specifiers *out, const specifier_state *s) {
  const front_type *type = s->type;
  if (s->has_words) {
    type = words_type(f, &s->words);
    if (type == NULL) {
      front_error(f, out->loc, out->length, "these words don't make a type together");
      return front_error_type(f);
    }
  }
  if (uses_double(type) && !f->m->model.has_double) {
    front_error(f, out->loc, out->length, "the device has no type 'double' (cl_khr_fp64)");
    return front_error_type(f);
  }
  return front_qualify(f, type, s->quals, s->space);
}

bool front_specifiers_read(front *f, front_specifiers *out) {
  *out = (front_specifiers){.loc = f->tok.pp.loc, .length = f->tok.pp.length};
  specifier_state s = {.space = IR_PRIVATE};
  while (!f->is_panicking) {
    if (front_at_keyword(f, KW_ATTRIBUTE)) {
      front_attributes_read(f, &out->attributes);
      continue;
    }
    qn_loc loc = f->tok.pp.loc;
    uint32_t length = f->tok.pp.length;
    if (plain_word(f, out, &s)) continue;
    if (!type_specifier(f, out, &s)) break;
    out->loc = loc; /* errors about the type point at its last word */
    out->length = length;
  }
  if (f->is_panicking) return false;
  if (s.type == NULL && !s.has_words) return unknown_type(f, out);
  out->type = finished_type(f, out, &s);
  return true;
}
