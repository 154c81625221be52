/* condition.c - #if, #ifdef, #ifndef, #elif, #else, #endif: groups are read or skipped. */
#include "compiler/pp/state.h"

static pp_frame *frame_of(pp *p) { return &p->frames[p->frame_count - 1]; }

/* The innermost conditional of this file, NULL: none. */
static pp_conditional *innermost(pp *p) {
  return p->conditional_count > frame_of(p)->conditional_base ? &p->conditionals[p->conditional_count - 1] : NULL;
}

/* Whether the innermost conditional is the #ifndef that the file began with. */
static bool is_guard(pp *p) {
  return frame_of(p)->guard_state == PP_GUARD_IN && p->conditional_count == frame_of(p)->conditional_base + 1;
}

/* ---- Groups --------------------------------------------------------------------------------------- */

/* Whether the group behind an #else is to be read. */
static bool begin_else(pp *p, const pp_token *name) {
  pp_conditional *conditional = innermost(p);
  if (is_guard(p)) frame_of(p)->guard_state = PP_GUARD_NONE;
  bool reads = !conditional->taken;
  conditional->taken = true;
  if (conditional->else_loc) {
    pp_error(p, name->loc, name->length, "#else after #else");
    pp_note(p, conditional->else_loc, 1, "the first #else is here");
  } else
    conditional->else_loc = name->loc;
  pp_expect_line_end(p, "else");
  return reads;
}

/* Whether the group behind an #elif is to be read. Behind a group that was read it isn't even looked at. */
static bool begin_elif(pp *p, const pp_token *name) {
  pp_conditional *conditional = innermost(p);
  if (is_guard(p)) frame_of(p)->guard_state = PP_GUARD_NONE;
  if (conditional->else_loc) {
    pp_error(p, name->loc, name->length, "#elif after #else");
    pp_note(p, conditional->else_loc, 1, "the #else is here");
    return false;
  }
  if (conditional->taken) return false;
  conditional->taken = pp_condition(p, name);
  return conditional->taken;
}

static void end_conditional(pp *p) {
  if (is_guard(p)) frame_of(p)->guard_state = PP_GUARD_AFTER;
  p->conditional_count--;
  pp_expect_line_end(p, "endif");
}

/* ---- Skipping ------------------------------------------------------------------------------------- */

/* At the start of a skipped line: past "# name". */
static pp_directive skipped_directive(pp *p, pp_lexer *lex, pp_token *name) {
  pp_lex_blanks(p, lex);
  if (*lex->at != '#' && !(lex->at[0] == '%' && lex->at[1] == ':')) return PP_D_NONE;
  lex->at += *lex->at == '#' ? 1 : 2;
  pp_lex_blanks(p, lex);
  if (*lex->at < 'a' || *lex->at > 'z') return PP_D_NONE;
  lex->in_directive = true;
  pp_lex(p, lex, name);
  return name->kind == PP_IDENT ? (pp_directive)name->name->directive : PP_D_NONE;
}

/* To the #elif, #else or #endif that ends the group; PP_D_NONE: the file ends first. */
static pp_directive skip_group(pp *p, pp_token *name) {
  pp_lexer *lex = &frame_of(p)->lex;
  for (uint32_t depth = 0;;) {
    pp_lex_rest_of_line(lex);
    if (lex->at >= lex->end || !pp_alive(p)) return PP_D_NONE;
    lex->at++;
    pp_directive directive = skipped_directive(p, lex, name);
    if (directive == PP_D_IF || directive == PP_D_IFDEF || directive == PP_D_IFNDEF)
      depth++;
    else if (directive == PP_D_ENDIF && depth > 0)
      depth--;
    else if (depth == 0 && (directive == PP_D_ENDIF || directive == PP_D_ELSE || directive == PP_D_ELIF))
      return directive;
  }
}

/* To the group that is to be read, or past the #endif. */
static void skip(pp *p) {
  for (;;) {
    pp_token name;
    pp_directive directive = skip_group(p, &name);
    if (directive == PP_D_NONE) return;
    if (directive == PP_D_ENDIF) {
      end_conditional(p);
      return;
    }
    if (directive == PP_D_ELSE ? begin_else(p, &name) : begin_elif(p, &name)) return;
  }
}

/* ---- Directives ----------------------------------------------------------------------------------- */

static bool is_defined(pp *p, pp_directive directive) {
  pp_token token;
  pp_name *name = pp_macro_name(p, &token);
  if (!name) return false;
  pp_frame *frame = frame_of(p);
  if (directive == PP_D_IFNDEF && frame->guard_state == PP_GUARD_START) {
    frame->guard_state = PP_GUARD_IN;
    frame->guard = name;
  }
  pp_expect_line_end(p, pp_directive_texts[directive]);
  return (name->macro != NULL) == (directive == PP_D_IFDEF);
}

void pp_if(pp *p, pp_directive directive, const pp_token *name) {
  if (p->conditional_count == PP_CONDITIONAL_DEPTH) {
    pp_fatal(p, name->loc, name->length, "conditionals nested more than %d deep", PP_CONDITIONAL_DEPTH);
    return;
  }
  bool holds = directive == PP_D_IF ? pp_condition(p, name) : is_defined(p, directive);
  p->conditionals[p->conditional_count++] = (pp_conditional){.loc = name->loc, .taken = holds};
  if (!holds) skip(p);
}

void pp_else_or_elif(pp *p, pp_directive directive, const pp_token *name) {
  if (!innermost(p)) {
    if (p->diags->structure_lost) return;
    pp_error(p, name->loc, name->length, "#%s without #if", pp_directive_texts[directive]);
    return;
  }
  /* The group that ends here was read. */
  if (directive == PP_D_ELSE)
    begin_else(p, name);
  else
    begin_elif(p, name);
  skip(p);
}

void pp_endif(pp *p, const pp_token *name) {
  if (innermost(p))
    end_conditional(p);
  else if (!p->diags->structure_lost)
    pp_error(p, name->loc, name->length, "#endif without #if");
}

void pp_check_conditionals(pp *p) {
  for (; innermost(p); p->conditional_count--)
    if (!p->diags->structure_lost) pp_error(p, innermost(p)->loc, 1, "this conditional has no #endif");
}
