/* expand.c - where tokens come from, and macros' replacement.
 *
 * Each expansion is a context on a stack. A macro is active while its context is there, and a name of an active macro
 * that is read meanwhile is marked for good: that is the rule of C99 6.10.3.4, the way GCC and Clang do it. No sets of
 * names are kept, and a chain of any length costs no more than its tokens. */
#include <stdlib.h>

#include "compiler/pp/state.h"

/* ---- Buffers of tokens ---------------------------------------------------------------------------- */

static void take_spare(pp *p, pp_buffer *buffer) {
  if (p->spare_count == 0) return;
  *buffer = p->spare[--p->spare_count];
  buffer->count = 0;
}

bool pp_buffer_add(pp *p, pp_buffer *buffer, const pp_token *token) {
  if (buffer->capacity == 0) take_spare(p, buffer);
  if (++p->live_tokens > PP_LIVE_TOKENS) {
    pp_fatal(p, token->loc, token->length, "more than %u tokens in one expansion: do macros multiply?", PP_LIVE_TOKENS);
    return false;
  }
  if (!pp_grow(p, &buffer->tokens, &buffer->capacity, buffer->count, sizeof *buffer->tokens)) return false;
  buffer->tokens[buffer->count++] = *token;
  return true;
}

void pp_buffer_release(pp *p, pp_buffer *buffer) {
  p->live_tokens -= buffer->count < p->live_tokens ? buffer->count : p->live_tokens;
  if (buffer->capacity && buffer->capacity <= 4096 && p->spare_count < PP_SPARE_BUFFERS)
    p->spare[p->spare_count++] = *buffer;
  else
    free(buffer->tokens);
  *buffer = (pp_buffer){0};
}

/* ---- Contexts ------------------------------------------------------------------------------------- */

static pp_context *push(pp *p) {
  if (!pp_grow(p, &p->contexts, &p->context_capacity, p->context_count, sizeof *p->contexts)) return NULL;
  pp_context *context = &p->contexts[p->context_count++];
  *context = (pp_context){0};
  return context;
}

static void pop(pp *p) {
  pp_context *context = &p->contexts[--p->context_count];
  if (context->macro) context->macro->is_active = false;
  if (context->owned.capacity) pp_buffer_release(p, &context->owned);
  /* It was replaced by nothing. */
  if (context->is_first) {
    p->carry_space |= context->space_before;
    p->carry_line |= context->line_start;
    if (context->macro) {
      p->carry_nothing = true;
      p->last_nothing = context->macro;
    }
  }
}

bool pp_push_floor(pp *p, const pp_token *tokens, uint32_t count) {
  pp_context *context = push(p);
  if (!context) return false;
  context->at = tokens;
  context->end = tokens ? tokens + count : tokens;
  context->is_floor = true;
  return true;
}

void pp_drop_floor(pp *p) {
  while (!p->contexts[p->context_count - 1].is_floor) pop(p);
  pop(p);
  p->carry_space = p->carry_line = p->carry_nothing = false;
}

static void read_context(pp_context *context, pp_token *out) {
  *out = *context->at;
  if (context->use.first) {
    out->loc = context->use.first + context->use.step * (uint32_t)(context->at - context->macro->tokens);
    out->length = context->use.length;
  }
  context->at++;
  if (context->is_first) {
    out->space_before = context->space_before;
    out->line_start = context->line_start;
    context->is_first = false;
  }
}

/* ---- Reading -------------------------------------------------------------------------------------- */

static void read_file(pp *p, pp_token *out) {
  while (pp_alive(p)) {
    pp_frame *frame = &p->frames[p->frame_count - 1];
    pp_lex(p, &frame->lex, out);
    if (out->kind == PP_EOF) {
      /* The arguments of a macro don't go on behind an included file's end. */
      if (p->collecting || !pp_alive(p) || !pp_leave(p)) return;
    } else if (out->line_start && out->kind == PP_PUNCT && out->punct == PP_P_HASH) {
      pp_token hash = *out;
      if (pp_obey(p, &hash, out)) return;
    } else {
      if (frame->guard_state != PP_GUARD_IN) frame->guard_state = PP_GUARD_NONE;
      return;
    }
  }
  out->kind = PP_EOF;
}

void pp_read(pp *p, pp_token *out) {
  *out = (pp_token){.kind = PP_EOF};
  if (!pp_charge(p, 1)) return;
  for (;;) {
    pp_context *context = p->context_count ? &p->contexts[p->context_count - 1] : NULL;
    if (!context) {
      read_file(p, out);
      break;
    }
    if (context->at != context->end) {
      read_context(context, out);
      break;
    }
    if (context->is_floor) {
      out->kind = PP_EOF;
      return;
    }
    pop(p);
  }
  out->space_before |= p->carry_space;
  out->line_start |= p->carry_line;
  out->after_nothing = p->carry_nothing;
  p->carry_space = p->carry_line = p->carry_nothing = false;
  if (out->kind == PP_IDENT && out->name->macro && out->name->macro->is_active) out->no_expand = true;
}

/* Whether the next token is '('. Nothing is read. */
static bool sees_paren(const pp *p) {
  for (uint32_t i = p->context_count; i-- > 0;) {
    const pp_context *context = &p->contexts[i];
    if (context->at != context->end) return context->at->kind == PP_PUNCT && context->at->punct == PP_P_LPAREN;
    if (context->is_floor) return false;
  }
  return pp_lex_sees_paren(&p->frames[p->frame_count - 1].lex);
}

/* ---- Arguments ------------------------------------------------------------------------------------ */

static uint32_t argument_index(const pp_macro *macro, uint32_t given) {
  return given <= macro->parameter_count ? given : macro->parameter_count;
}

/* `errors`: what was told before the parenthesis. When the file is at its end too, what else could be told would come of this. */
static void tell_unclosed(pp *p, const pp_token *name, uint32_t errors) {
  if (!pp_alive(p)) return;
  pp_tokens_lost(p);
  if (p->diags->errors == errors)
    pp_error(p, name->loc, name->length, "the arguments of macro '%.*s' have no closing ')'", QN_SV_ARG(name->text));
  if (p->context_count == 0) qn_diags_stop(p->diags);
}

/* Reads from '(' to ')'. Commas separate, but not in parentheses or in the variable arguments. `given`: how many there
 * are. False: told. */
static bool read_arguments(pp *p, const pp_macro *macro, const pp_token *name, pp_arguments *out, uint32_t *out_given) {
  pp_token token;
  uint32_t errors = p->diags->errors;
  pp_read(p, &token); /* '(' */
  uint32_t given = 1, depth = 0;
  for (;;) {
    pp_read(p, &token);
    if (token.kind == PP_EOF) {
      tell_unclosed(p, name, errors);
      return false;
    }
    bool is_punct = token.kind == PP_PUNCT;
    if (is_punct && token.punct == PP_P_LPAREN) depth++;
    if (is_punct && token.punct == PP_P_RPAREN && depth-- == 0) break;
    if (is_punct && token.punct == PP_P_COMMA && depth == 0 &&
        !(macro->is_variadic && given == macro->parameter_count)) {
      if (given <= macro->parameter_count) out->list[given - 1].raw_end = out->raw.count;
      given++;
      if (given <= macro->parameter_count) out->list[given - 1].raw_start = out->raw.count;
      continue;
    }
    token.space_before |= token.line_start;
    token.line_start = false;
    /* Those that are too many are read past. */
    if (given <= macro->parameter_count || macro->parameter_count == 0)
      if (!pp_buffer_add(p, &out->raw, &token)) return false;
  }
  uint32_t last = argument_index(macro, given);
  if (last && given <= macro->parameter_count) out->list[last - 1].raw_end = out->raw.count;
  for (uint32_t i = last; i < macro->parameter_count; i++)
    out->list[i].raw_start = out->list[i].raw_end = out->raw.count;
  out->lacks_variable = given < macro->parameter_count || (given == 1 && out->raw.count == 0);
  *out_given = given;
  return true;
}

/* Missing arguments are taken as 0 and needless ones dropped, so that this stays the only error. */
static bool check_count(pp *p, const pp_macro *macro, const pp_token *name, pp_arguments *arguments, uint32_t given) {
  uint32_t wanted = macro->parameter_count;
  if (given == wanted || (macro->is_variadic && given + 1 == wanted)) return true;
  if (wanted == 0 && given == 1 && arguments->raw.count == 0) return true;
  uint32_t least = macro->is_variadic ? wanted - 1 : wanted;
  pp_tokens_lost(p);
  pp_error(p, name->loc, name->length, "macro '%.*s' takes %s%u argument%s, but %u %s given", QN_SV_ARG(name->text),
           macro->is_variadic ? "at least " : "", least, least == 1 ? "" : "s", given, given == 1 ? "is" : "are");
  if (macro->loc) pp_note(p, macro->loc, macro->length, "macro '%.*s' is defined here", QN_SV_ARG(name->text));
  pp_token zero = {.kind = PP_NUMBER, .loc = name->loc, .length = name->length, .text = QN_SV("0")};
  for (uint32_t i = given; i < least; i++) {
    arguments->list[i].raw_start = arguments->raw.count;
    if (!pp_buffer_add(p, &arguments->raw, &zero)) return false;
    arguments->list[i].raw_end = arguments->raw.count;
  }
  return pp_alive(p);
}

/* Whether expanding these tokens may change them. */
static bool has_macro(const pp_token *tokens, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (tokens[i].kind == PP_IDENT && tokens[i].name->macro && !tokens[i].no_expand) return true;
  return false;
}

bool pp_expand_tokens(pp *p, const pp_token *tokens, uint32_t count, pp_buffer *out) {
  if (!pp_push_floor(p, tokens, count)) return false;
  bool right = true;
  while (right) {
    pp_token token;
    pp_expand_next(p, &token);
    if (token.kind == PP_EOF) break;
    right = pp_buffer_add(p, out, &token);
  }
  pp_drop_floor(p);
  return right && pp_alive(p);
}

static bool expand_arguments(pp *p, const pp_macro *macro, const pp_token *name, pp_arguments *arguments) {
  if (p->argument_depth == PP_ARGUMENT_DEPTH) {
    pp_fatal(p, name->loc, name->length, "macro arguments nested more than %d deep", PP_ARGUMENT_DEPTH);
    return false;
  }
  bool right = true;
  p->argument_depth++;
  for (uint32_t i = 0; i < macro->parameter_count && right; i++) {
    pp_argument *argument = &arguments->list[i];
    const pp_token *tokens = arguments->raw.tokens ? arguments->raw.tokens + argument->raw_start : NULL;
    uint32_t count = argument->raw_end - argument->raw_start;
    argument->is_raw = !macro->expands[i] || !has_macro(tokens, count);
    argument->start = arguments->expanded.count;
    if (!argument->is_raw) right = pp_expand_tokens(p, tokens, count, &arguments->expanded);
    argument->end = arguments->expanded.count;
  }
  p->argument_depth--;
  return right;
}

/* ---- Macros --------------------------------------------------------------------------------------- */

pp_use pp_use_macro(pp *p, const pp_macro *macro, const pp_token *invocation) {
  pp_use use = {.first = invocation->loc, .length = invocation->length};
  qn_loc first = macro->places ? qn_sources_expand(p->sources, macro->places, invocation->loc, invocation->length) : 0;
  if (first) {
    use.first = first;
    use.step = 1;
  }
  return use;
}

static bool push_macro(pp *p, pp_macro *macro, const pp_token *name, pp_buffer *owned) {
  pp_context *context = push(p);
  if (!context) return false;
  context->macro = macro;
  context->is_first = true;
  context->space_before = name->space_before;
  context->line_start = name->line_start;
  if (owned) {
    context->owned = *owned;
    context->at = owned->tokens;
    context->end = owned->tokens ? owned->tokens + owned->count : NULL;
    *owned = (pp_buffer){0};
  } else {
    context->at = macro->tokens;
    context->end = macro->tokens + macro->token_count;
    context->use = pp_use_macro(p, macro, name);
  }
  macro->is_active = true;
  return true;
}

static bool push_substituted(pp *p, pp_macro *macro, const pp_arguments *arguments, const pp_token *name) {
  if (!macro->parts) return push_macro(p, macro, name, NULL);
  pp_buffer result = {0};
  bool right = pp_substitute(p, macro, arguments, name, &result) && push_macro(p, macro, name, &result);
  pp_buffer_release(p, &result);
  return right;
}

static bool call(pp *p, pp_macro *macro, const pp_token *name) {
  pp_argument few[8] = {{0}};
  pp_arguments arguments = {.list = few};
  if (macro->parameter_count > 8) {
    arguments.list = calloc(macro->parameter_count, sizeof(pp_argument));
    if (!arguments.list) return pp_no_memory(p);
  }
  uint32_t given = 0;
  p->collecting++;
  bool right = read_arguments(p, macro, name, &arguments, &given);
  p->collecting--;
  right = right && check_count(p, macro, name, &arguments, given) && expand_arguments(p, macro, name, &arguments);
  if (right) push_substituted(p, macro, &arguments, name);
  pp_buffer_release(p, &arguments.raw);
  pp_buffer_release(p, &arguments.expanded);
  if (arguments.list != few) free(arguments.list);
  return true;
}

static void make_text(pp *p, pp_token *token, pp_kind kind, const char *text) {
  if (!text) {
    pp_no_memory(p);
    return;
  }
  token->kind = (uint8_t)kind;
  token->name = NULL;
  token->text = qn_sv_from(text);
}

static void expand_builtin(pp *p, pp_builtin builtin, pp_token *token) {
  switch (builtin) {
    case PP_BUILTIN_LINE:
      make_text(p, token, PP_NUMBER, qn_arena_printf(p->arena, "%u", qn_sources_position(p->sources, token->loc).line));
      break;
    case PP_BUILTIN_FILE: {
      qn_sv quoted = pp_quote(p, qn_sv_from(qn_sources_position(p->sources, token->loc).file));
      make_text(p, token, PP_STRING, quoted.data);
      break;
    }
    case PP_BUILTIN_COUNTER:
      make_text(p, token, PP_NUMBER, qn_arena_printf(p->arena, "%llu", (unsigned long long)p->counter++));
      break;
    /* A program is the same whenever it is compiled: C99 6.10.8 allows any valid date and time. */
    case PP_BUILTIN_DATE:
      make_text(p, token, PP_STRING, "\"Jan  1 1970\"");
      break;
    case PP_BUILTIN_TIME:
      make_text(p, token, PP_STRING, "\"00:00:00\"");
      break;
    default:
      break;
  }
}

/* True: the macro was replaced and reading goes on in the replacement. False: `token` stays or became what it is. */
static bool replace(pp *p, pp_token *token, pp_macro *macro) {
  if (macro->builtin) {
    expand_builtin(p, macro->builtin, token);
    return false;
  }
  if (macro->is_function) return sees_paren(p) && call(p, macro, token);
  const pp_arguments none = {0};
  return push_substituted(p, macro, &none, token);
}

void pp_expand_next(pp *p, pp_token *out) {
  *out = (pp_token){0};
  do {
    pp_read(p, out);
  } while (out->kind == PP_IDENT && out->name->macro && !out->no_expand && replace(p, out, out->name->macro));
  if (!pp_alive(p)) out->kind = PP_EOF;
}
