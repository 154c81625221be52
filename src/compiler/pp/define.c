/* define.c - #define and #undef. */
#include "compiler/pp/state.h"

static pp_frame *frame_of(pp *p) { return &p->frames[p->frame_count - 1]; }
static bool is_punct(const pp_token *token, pp_punct punct) { return token->kind == PP_PUNCT && token->punct == punct; }

pp_name *pp_macro_name(pp *p, pp_token *out) {
  pp_lex(p, &frame_of(p)->lex, out);
  if (out->kind == PP_EOF)
    pp_error(p, out->loc, 1, "the macro's name is missing");
  else if (out->kind != PP_IDENT)
    pp_error(p, out->loc, out->length, "a macro's name must be an identifier");
  else if (out->name == p->name_defined)
    pp_error(p, out->loc, out->length, "'defined' can't be a macro's name");
  else
    return out->name;
  p->diags->names_lost++;
  return NULL;
}

/* ---- Parameters ----------------------------------------------------------------------------------- */

typedef struct parameters {
  pp_name **names;
  uint32_t count, capacity;
  bool is_variadic;
} parameters;

static bool add_parameter(pp *p, parameters *list, const pp_token *token, pp_name *name) {
  if (name->parameter) {
    pp_error(p, token->loc, token->length, "two parameters are named '%.*s'", QN_SV_ARG(name->text));
    return false;
  }
  if (!pp_charge(p, 1)) return false;
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
    pp_name **names = QN_ARENA_ARRAY(p->arena, pp_name *, capacity);
    if (!names) return pp_no_memory(p);
    if (list->count) memcpy(names, list->names, list->count * sizeof *names);
    list->names = names;
    list->capacity = capacity;
  }
  list->names[list->count++] = name;
  name->parameter = list->count;
  return true;
}

static bool parameter_fault(pp *p, const pp_token *at, const char *expected) {
  pp_error(p, at->loc, at->length ? at->length : 1, "expected %s in the parameters of a macro", expected);
  return false;
}

/* Behind '(': to the ')' that ends the list. "...", "rest...". */
static bool read_parameters(pp *p, parameters *list) {
  pp_lexer *lex = &frame_of(p)->lex;
  pp_token token;
  pp_lex(p, lex, &token);
  if (is_punct(&token, PP_P_RPAREN)) return true;
  for (;; pp_lex(p, lex, &token)) {
    if (is_punct(&token, PP_P_ELLIPSIS)) {
      list->is_variadic = true;
      if (!add_parameter(p, list, &token, p->name_va_args)) return false;
    } else {
      if (token.kind != PP_IDENT) return parameter_fault(p, &token, "a name");
      if (token.name == p->name_va_args) {
        pp_error(p, token.loc, token.length, "'__VA_ARGS__' can't be a parameter's name");
        return false;
      }
      if (!add_parameter(p, list, &token, token.name)) return false;
    }
    pp_lex(p, lex, &token);
    if (is_punct(&token, PP_P_ELLIPSIS) && !list->is_variadic) {
      list->is_variadic = true;
      pp_lex(p, lex, &token);
    }
    if (is_punct(&token, PP_P_RPAREN)) return true;
    if (list->is_variadic) return parameter_fault(p, &token, "')' behind '...'");
    if (!is_punct(&token, PP_P_COMMA)) return parameter_fault(p, &token, "',' or ')'");
  }
}

/* ---- The replacement list ------------------------------------------------------------------------- */

typedef struct replacement {
  pp_token *tokens;
  pp_part *parts;
  uint32_t count;
  bool is_plain; /* no parameters, no ## */
} replacement;

static uint32_t parameter_of(const pp_macro *macro, const pp_token *token) {
  return macro->is_function && token->kind == PP_IDENT ? token->name->parameter : 0;
}

/* Takes # and ## out of the line's tokens. */
static bool read_body(pp *p, pp_macro *macro, const pp_buffer *line, replacement *out) {
  out->tokens = QN_ARENA_ARRAY(p->arena, pp_token, line->count + 1);
  out->parts = QN_ARENA_ARRAY(p->arena, pp_part, line->count + 1);
  if (!out->tokens || !out->parts) return pp_no_memory(p);
  out->is_plain = true;
  for (uint32_t i = 0; i < line->count; i++) {
    const pp_token *token = &line->tokens[i];
    if (is_punct(token, PP_P_HASHHASH)) {
      if (out->count == 0 || i + 1 == line->count) {
        pp_error(p, token->loc, token->length, "'##' can't stand at %s of a macro", i ? "the end" : "the start");
        return false;
      }
      out->parts[out->count - 1].paste = true;
      out->is_plain = false;
      continue;
    }
    pp_token *to = &out->tokens[out->count];
    pp_part *part = &out->parts[out->count];
    *to = *token;
    if (is_punct(token, PP_P_HASH) && macro->is_function) {
      part->stringize = true;
      if (i + 1 == line->count || !parameter_of(macro, &line->tokens[i + 1])) {
        pp_error(p, token->loc, token->length, "'#' must be followed by a parameter of the macro");
        return false;
      }
      *to = line->tokens[++i];
      to->space_before = token->space_before;
    }
    if (token->kind == PP_IDENT && token->name == p->name_va_args && !(macro->is_function && token->name->parameter))
      pp_warning(p, token->loc, token->length, "'__VA_ARGS__' stands for something only in a macro with '...'");
    part->parameter = parameter_of(macro, to);
    if (part->parameter) out->is_plain = false;
    out->count++;
  }
  return true;
}

/* Which parameters are needed expanded: those that stand neither beside ## nor behind #. */
static bool find_expanding(pp *p, pp_macro *macro, const replacement *body) {
  macro->expands = QN_ARENA_ARRAY(p->arena, bool, macro->parameter_count + 1);
  if (!macro->expands) return pp_no_memory(p);
  for (uint32_t i = 0; i < body->count; i++) {
    const pp_part *part = &body->parts[i];
    bool pasted = part->paste || (i && body->parts[i - 1].paste);
    /* ", ## __VA_ARGS__" pastes nothing. */
    bool gnu = i && body->parts[i - 1].paste && is_punct(&body->tokens[i - 1], PP_P_COMMA) && macro->is_variadic &&
               part->parameter == macro->parameter_count;
    if (part->parameter && !part->stringize && (!pasted || gnu)) macro->expands[part->parameter - 1] = true;
  }
  return true;
}

/* ---- Definitions ---------------------------------------------------------------------------------- */

static bool same_part(const pp_macro *a, const pp_macro *b, uint32_t i) {
  if (!a->parts || !b->parts) return a->parts == b->parts;
  return a->parts[i].parameter == b->parts[i].parameter && a->parts[i].stringize == b->parts[i].stringize &&
         a->parts[i].paste == b->parts[i].paste;
}

static bool same_macro(const pp_macro *a, const pp_macro *b) {
  if (a->is_function != b->is_function || a->is_variadic != b->is_variadic || a->builtin != b->builtin ||
      a->parameter_count != b->parameter_count || a->token_count != b->token_count)
    return false;
  for (uint32_t i = 0; i < a->parameter_count; i++)
    if (a->parameters[i] != b->parameters[i]) return false;
  for (uint32_t i = 0; i < a->token_count; i++)
    if (!qn_sv_equal(a->tokens[i].text, b->tokens[i].text) || !same_part(a, b, i) ||
        (i && a->tokens[i].space_before != b->tokens[i].space_before))
      return false;
  return true;
}

static void warn_redefined(pp *p, const pp_macro *old, const pp_macro *new_macro) {
  if (old->is_predefined || same_macro(old, new_macro)) return;
  pp_warning(p, new_macro->loc, new_macro->length, "'%.*s' is defined again, differently%s",
             QN_SV_ARG(new_macro->name->text), old->loc ? "" : " from what is built in");
  if (old->loc) pp_note(p, old->loc, old->length, "the definition before is here");
}

/* Where the tokens are written, for notes. Without memory for it there are none. */
static qn_macro_places *make_places(pp *p, const pp_macro *macro) {
  qn_macro_places *places = QN_ARENA_NEW(p->arena, qn_macro_places);
  qn_loc *locs = QN_ARENA_ARRAY(p->arena, qn_loc, macro->token_count);
  uint32_t *lengths = QN_ARENA_ARRAY(p->arena, uint32_t, macro->token_count);
  if (!places || !locs || !lengths) return NULL;
  for (uint32_t i = 0; i < macro->token_count; i++) {
    locs[i] = macro->tokens[i].loc;
    lengths[i] = macro->tokens[i].length;
  }
  /* A name is followed by other characters of its source. */
  const char *name = qn_arena_copy(p->arena, macro->name->text);
  *places = (qn_macro_places){.name = name, .locs = locs, .lengths = lengths, .count = macro->token_count};
  return name ? places : NULL;
}

static bool finish_macro(pp *p, pp_macro *macro, const pp_buffer *line) {
  replacement body = {0};
  if (!read_body(p, macro, line, &body)) return false;
  if (body.count) body.tokens[0].space_before = false;
  macro->tokens = body.tokens;
  macro->parts = body.is_plain ? NULL : body.parts;
  macro->token_count = body.count;
  if (!macro->is_predefined && body.count) macro->places = make_places(p, macro);
  return find_expanding(p, macro, &body);
}

/* Behind the name: parameters and the replacement list. */
static bool read_macro(pp *p, pp_macro *macro, parameters *list) {
  pp_lexer *lex = &frame_of(p)->lex;
  macro->is_function = *lex->at == '(';
  if (macro->is_function) {
    pp_token open;
    pp_lex(p, lex, &open);
    if (!read_parameters(p, list)) return false;
    macro->parameters = list->names;
    macro->parameter_count = list->count;
    macro->is_variadic = list->is_variadic;
  }
  pp_buffer line = {0};
  bool right = pp_read_line(p, &line);
  if (right && !macro->is_function && line.count && !line.tokens[0].space_before)
    pp_warning(p, line.tokens[0].loc, 1, "white space is missing behind the macro's name");
  right = right && finish_macro(p, macro, &line);
  pp_buffer_release(p, &line);
  return right;
}

void pp_define(pp *p) {
  pp_token token;
  pp_name *name = pp_macro_name(p, &token);
  if (!name) return;
  pp_macro *macro = QN_ARENA_NEW(p->arena, pp_macro);
  if (!macro) {
    pp_no_memory(p);
    return;
  }
  *macro = (pp_macro){.name = name, .loc = token.loc, .length = token.length, .is_predefined = p->predefining};
  parameters list = {0};
  bool right = read_macro(p, macro, &list);
  for (uint32_t i = 0; i < list.count; i++) list.names[i]->parameter = 0;
  if (!right || !pp_alive(p)) return;
  if (name->macro) warn_redefined(p, name->macro, macro);
  name->macro = macro;
}

void pp_undef(pp *p) {
  pp_token token;
  pp_name *name = pp_macro_name(p, &token);
  if (!name) return;
  if (name->macro && name->macro->builtin)
    pp_warning(p, token.loc, token.length, "'%.*s' is built in", QN_SV_ARG(name->text));
  name->macro = NULL;
  pp_expect_line_end(p, "undef");
}

bool pp_define_builtins(pp *p) {
  static const struct {
    const char *name;
    pp_builtin builtin;
  } builtins[] = {{"__LINE__", PP_BUILTIN_LINE}, {"__FILE__", PP_BUILTIN_FILE},
                  {"__DATE__", PP_BUILTIN_DATE}, {"__COUNTER__", PP_BUILTIN_COUNTER},
                  {"__TIME__", PP_BUILTIN_TIME}, {"__has_include", PP_BUILTIN_HAS_INCLUDE}};
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
    pp_name *name = pp_intern_kept(p, qn_sv_from(builtins[i].name));
    pp_macro *macro = QN_ARENA_NEW(p->arena, pp_macro);
    if (!name || !macro) return pp_no_memory(p);
    *macro = (pp_macro){.name = name, .builtin = builtins[i].builtin};
    name->macro = macro;
  }
  return true;
}
