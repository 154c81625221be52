/* substitute.c - a replacement list with its arguments put in: # and ##. */
#include "compiler/pp/state.h"

typedef struct state {
  pp *p;
  const pp_macro *macro;
  const pp_arguments *arguments;
  const pp_token *invocation;
  pp_use use;
  pp_buffer *out;
  bool left_is_empty; /* what stands left of a ## came to nothing */
} state;

typedef struct tokens {
  const pp_token *first;
  uint32_t count;
} tokens;

static bool is_comma(const pp_token *token) { return token->kind == PP_PUNCT && token->punct == PP_P_COMMA; }

/* ---- Text ----------------------------------------------------------------------------------------- */

static bool charge_text(pp *p, size_t size) { return pp_charge(p, size / PP_WORK_BYTES + 1); }

static size_t escape(char *to, qn_sv text) {
  size_t size = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] == '"' || text.data[i] == '\\') to[size++] = '\\';
    to[size++] = text.data[i];
  }
  return size;
}

qn_sv pp_quote(pp *p, qn_sv text) {
  char *quoted = qn_arena_alloc(p->arena, text.size * 2 + 3);
  if (!quoted) {
    pp_no_memory(p);
    return (qn_sv){0};
  }
  quoted[0] = '"';
  size_t size = 1 + escape(quoted + 1, text);
  quoted[size++] = '"';
  return qn_sv_make(quoted, size);
}

/* ---- # -------------------------------------------------------------------------------------------- */

static size_t string_bound(tokens argument) {
  size_t size = 3;
  for (uint32_t i = 0; i < argument.count; i++) size += argument.first[i].text.size * 2 + 1;
  return size;
}

/* Backslashes and quotes are escaped within literals only; a stray backslash at the end would swallow the quote. */
static size_t spell_string(char *to, tokens argument) {
  size_t size = 0;
  to[size++] = '"';
  for (uint32_t i = 0; i < argument.count; i++) {
    const pp_token *token = &argument.first[i];
    if (i && token->space_before) to[size++] = ' ';
    if (token->kind == PP_STRING || token->kind == PP_CHAR)
      size += escape(to + size, token->text);
    else {
      memcpy(to + size, token->text.data, token->text.size);
      size += token->text.size;
    }
  }
  size_t slashes = 0;
  while (slashes + 1 < size && to[size - 1 - slashes] == '\\') slashes++;
  if (slashes % 2) size--;
  to[size++] = '"';
  return size;
}

static bool stringize(state *s, tokens argument, pp_token *out) {
  size_t bound = string_bound(argument);
  if (bound > PP_STRING_BYTES) {
    pp_fatal(s->p, out->loc, out->length, "'#' makes a string of more than %u bytes", PP_STRING_BYTES / 2);
    return false;
  }
  if (!charge_text(s->p, bound)) return false;
  char *text = qn_arena_alloc(s->p->arena, bound);
  if (!text) return pp_no_memory(s->p);
  out->kind = PP_STRING;
  out->name = NULL;
  out->text = qn_sv_make(text, spell_string(text, argument));
  return true;
}

/* ---- ## ------------------------------------------------------------------------------------------- */

/* `left` becomes both. False: fatal; what can't be pasted is told, and stays two tokens. */
static bool paste(state *s, pp_token *left, const pp_token *right, bool *pasted) {
  pp *p = s->p;
  *pasted = false;
  size_t size = left->text.size + right->text.size;
  if (size > PP_PASTE_BYTES) {
    pp_fatal(p, s->invocation->loc, s->invocation->length, "'##' makes a token of more than %u bytes", PP_PASTE_BYTES);
    return false;
  }
  if (!charge_text(p, size)) return false;
  char *text = qn_arena_alloc(p->arena, size + 1);
  if (!text) return pp_no_memory(p);
  memcpy(text, left->text.data, left->text.size);
  memcpy(text + left->text.size, right->text.data, right->text.size);
  pp_token both;
  *pasted = pp_lex_whole(p, qn_sv_make(text, size), left->loc, &both);
  if (!*pasted) {
    if (!pp_alive(p)) return false;
    pp_tokens_lost(p);
    pp_error(p, s->invocation->loc, s->invocation->length, "'##' makes '%s', which is no token", text);
    return pp_alive(p);
  }
  both.space_before = left->space_before;
  both.length = left->length;
  *left = both;
  return true;
}

/* ---- The list ------------------------------------------------------------------------------------- */

static tokens argument_tokens(const state *s, uint32_t parameter, bool expanded) {
  const pp_argument *argument = &s->arguments->list[parameter - 1];
  bool is_raw = !expanded || argument->is_raw;
  const pp_buffer *from = is_raw ? &s->arguments->raw : &s->arguments->expanded;
  uint32_t start = is_raw ? argument->raw_start : argument->start, end = is_raw ? argument->raw_end : argument->end;
  return (tokens){from->tokens ? from->tokens + start : NULL, end - start};
}

/* Appends `list`; its first token stands as `space_before` says and joins what is left of a ##. */
static bool append(state *s, tokens list, bool space_before, bool pastes) {
  uint32_t i = 0;
  if (pastes && !s->left_is_empty && list.count) {
    bool pasted;
    if (!paste(s, &s->out->tokens[s->out->count - 1], &list.first[0], &pasted)) return false;
    if (pasted) i = 1;
  }
  for (; i < list.count; i++) {
    pp_token token = list.first[i];
    if (i == 0) token.space_before = space_before;
    if (!pp_charge(s->p, 1) || !pp_buffer_add(s->p, s->out, &token)) return false;
  }
  s->left_is_empty = list.count == 0 && (!pastes || s->left_is_empty);
  return true;
}

/* ", ## __VA_ARGS__": without variable arguments the comma goes, with them nothing is pasted. */
static bool is_gnu_comma(const state *s, uint32_t i) {
  const pp_macro *macro = s->macro;
  return macro->is_variadic && macro->parts[i].paste && is_comma(&macro->tokens[i]) && i + 1 < macro->token_count &&
         macro->parts[i + 1].parameter == macro->parameter_count && !macro->parts[i + 1].stringize;
}

/* The macro's own token, where it is used. */
static pp_token part_token(const state *s, uint32_t i) {
  pp_token token = s->macro->tokens[i];
  token.loc = s->use.first + s->use.step * i;
  token.length = s->use.length;
  return token;
}

static bool append_part(state *s, uint32_t i, bool pastes) {
  const pp_part *part = &s->macro->parts[i];
  pp_token token = part_token(s, i);
  if (part->stringize) {
    if (!stringize(s, argument_tokens(s, part->parameter, false), &token)) return false;
  } else if (part->parameter)
    return append(s, argument_tokens(s, part->parameter, !pastes && !part->paste), token.space_before, pastes);
  return append(s, (tokens){&token, 1}, token.space_before, pastes);
}

static bool append_gnu_comma(state *s, uint32_t i, bool pastes) {
  uint32_t last = s->macro->parameter_count;
  if (s->arguments->lacks_variable) {
    s->left_is_empty = !pastes || s->left_is_empty;
    return true;
  }
  pp_token comma = part_token(s, i);
  return append(s, (tokens){&comma, 1}, comma.space_before, pastes) &&
         append(s, argument_tokens(s, last, true), false, false);
}

bool pp_substitute(pp *p, const pp_macro *macro, const pp_arguments *arguments, const pp_token *invocation,
                   pp_buffer *out) {
  state s = {.p = p, .macro = macro, .arguments = arguments, .invocation = invocation, .out = out};
  s.use = pp_use_macro(p, macro, invocation);
  bool pastes = false;
  for (uint32_t i = 0; i < macro->token_count; i++) {
    bool is_gnu = is_gnu_comma(&s, i);
    if (is_gnu ? !append_gnu_comma(&s, i, pastes) : !append_part(&s, i, pastes)) return false;
    if (is_gnu) i++;
    pastes = macro->parts[i].paste;
  }
  return true;
}
