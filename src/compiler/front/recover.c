/* recover.c - see recover.h. */
#include "compiler/front/recover.h"

#include <string.h>

#include "compiler/front/parse.h"
#include "compiler/front/scope.h"

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

static bool is_known_value(front *f, pp_name *name) {
  const front_symbol *symbol = front_find(f, name);
  if (symbol == NULL || symbol->kind == SYMBOL_FUNCTION) return false;
  return symbol->kind != SYMBOL_OBJECT || symbol->u.object == NULL || symbol->u.object->type->kind != FRONT_ERROR;
}

/* Of the present span, which is damaged. */
static void doubt_names(front *f) {
  for (uint32_t i = f->recovery.span.first_name; i < f->recovery.name_count; i++) {
    if (!is_known_value(f, f->recovery.names[i])) f->recovery.names[i]->is_doubtful = true;
  }
}

front_span front_span_open(front *f) {
  front_recovery *r = &f->recovery;
  front_span outer = r->span;
  if (f->tok.pp.line_start) r->has_line_errors = false;
  uint32_t errors = r->has_line_errors ? r->line_errors : f->diags->errors;
  r->span = (front_span){.first_name = r->name_count, .errors = errors};
  return outer;
}

void front_span_close(front *f, front_span outer) {
  if (f->diags->errors > f->recovery.span.errors) {
    f->recovery.has_line_errors = true;
    f->recovery.line_errors = f->recovery.span.errors;
    doubt_names(f);
  }
  f->recovery.name_count = f->recovery.span.first_name;
  f->recovery.span = outer;
}

void front_pass_name(front *f, pp_name *name) {
  front_recovery *r = &f->recovery;
  if (r->name_count == r->name_capacity) {
    uint32_t capacity = r->name_capacity > 0 ? r->name_capacity * 2 : 64;
    pp_name **names = QN_ARENA_ARRAY(f->arena, pp_name *, capacity);
    if (names == NULL) {
      f->failed = true;
      return;
    }
    if (r->name_count > 0) memcpy(names, r->names, r->name_count * sizeof(names[0]));
    r->names = names;
    r->name_capacity = capacity;
  }
  r->names[r->name_count++] = name;
}

static bool is_doubtful(front *f, pp_name *name) {
  return name->is_doubtful && !is_known_value(f, name) && front_find_builtin(f, name) == NULL;
}

/* Whether a name that may be a macro or a type by right stands in the present span. */
static bool has_doubtful_name(front *f) {
  if (front_at_name(f) && is_doubtful(f, f->tok.pp.name)) return true;
  for (uint32_t i = f->recovery.span.first_name; i < f->recovery.name_count; i++) {
    if (is_doubtful(f, f->recovery.names[i])) return true;
  }
  return false;
}

void front_lose_name(front *f) {
  if (f->func != NULL) {
    f->recovery.names_lost++;
  } else {
    f->diags->names_lost++;
  }
}

bool front_is_doubtful_name(front *f, pp_name *name) {
  if (name->is_doubtful) return true;
  if (f->diags->errors == 0) return false;
  uint32_t *lost = f->recovery.names_lost > 0 ? &f->recovery.names_lost : &f->diags->names_lost;
  if (*lost == 0) return false;
  --*lost;
  name->is_doubtful = true;
  return true;
}

/* ---- What is no news --------------------------------------------------------------------------------------------- */

void front_damage(front *f) {
  f->recovery.is_damaged = true;
  f->diags->structure_lost = true;
}

void front_panic(front *f) {
  if (!f->is_panicking) f->recovery.is_past_end = false;
  f->is_panicking = true;
  front_damage(f);
}

/* A macro whose text ends too early, or is none, is told once. */
static bool is_of_told_macro(front *f) {
  bool is_told = qn_diag_is_told_place(f->diags, f->tok.pp.loc) || qn_diag_is_told_place(f->diags, f->last_loc);
  qn_loc loc;
  pp_name *nothing = f->tok.pp.after_nothing ? pp_last_nothing(f->p, &loc) : NULL;
  if (nothing == NULL) return is_told;
  is_told |= nothing->is_doubtful;
  nothing->is_doubtful = true;
  return is_told;
}

void front_told_syntax(front *f) {
  qn_diag_tell_place(f->diags, f->last_loc); /* that of the token itself came with the error */
  qn_loc loc = 0;
  const pp_name *name = f->tok.pp.after_nothing ? pp_last_nothing(f->p, &loc) : NULL;
  if (name == NULL || loc == 0) return;
  front_note(f, loc, (uint32_t)name->text.size, "macro '%.*s', which stands before it, expands to nothing",
             QN_SV_ARG(name->text));
}

bool front_is_old_news(front *f) {
  if (f->is_panicking) return true;
  bool is_of_macro = is_of_told_macro(f);
  if (f->diags->errors == 0) return false; /* silence is for what follows an error */
  bool is_old =
      is_of_macro || f->diags->tokens_lost || f->diags->errors > f->recovery.span.errors || has_doubtful_name(f);
  if (is_old) front_panic(f);
  return is_old;
}

bool front_is_half_news(front *f) {
  bool is_news = !f->recovery.span.is_half_told;
  f->recovery.span.is_half_told = true;
  return is_news;
}

bool front_is_structure_doubtful(const front *f) {
  if (f->diags->errors == 0) return false;
  return f->recovery.is_damaged || f->diags->tokens_lost || f->diags->errors > f->recovery.outermost_errors;
}

void front_structure_error(front *f, qn_loc loc, uint32_t length, const char *format, ...) {
  if (f->is_panicking || f->is_fatal || f->failed) return;
  bool is_told = front_is_structure_doubtful(f);
  front_panic(f);
  if (is_told) {
    f->diags->last_suppressed = true; /* notes, too */
    return;
  }
  va_list args;
  va_start(args, format);
  qn_diagv(f->diags, QN_ERROR, loc, length, format, args);
  va_end(args);
}

/* ---- Program scope ----------------------------------------------------------------------------------------------- */

void front_doubt_scope(front *f) {
  if (!f->recovery.is_damaged) return;
  for (const front_symbol *s = f->scope->symbols; s != NULL; s = s->next) s->name->is_doubtful = true;
}

static uint32_t column_of(front *f, qn_loc loc) { return qn_sources_position(f->diags->sources, loc).column; }

/* Whether the present token starts a line, and not further to the right. */
static bool is_left_of(front *f, qn_loc loc) {
  return f->tok.pp.line_start && column_of(f, f->tok.pp.loc) <= column_of(f, loc);
}

bool front_at_outer(front *f) {
  if (!f->recovery.is_damaged || !f->tok.pp.line_start) return false;
  if (!front_starts_type(f) && !front_at_keyword(f, KW_ATTRIBUTE)) return false;
  return f->tok.pp.loc != f->recovery.outermost && is_left_of(f, f->recovery.outermost);
}

void front_span_outermost(front *f) {
  if (f->recovery.is_damaged) {
    while (!front_at_end(f) && !front_at_outer(f)) front_next(f);
    doubt_names(f);
  }
  f->recovery.name_count = 0;
  f->recovery.names_lost = 0;
  f->recovery.is_line_damaged = false;
  bool is_trusted = f->diags->errors == f->recovery.span.errors || is_left_of(f, f->recovery.outermost);
  f->recovery.outermost_errors = is_trusted ? f->diags->errors : f->recovery.span.errors;
  f->recovery.span = (front_span){.errors = f->diags->errors};
  if (f->tok.pp.line_start || f->recovery.outermost == 0) f->recovery.outermost = f->tok.pp.loc;
  f->recovery.is_damaged = false;
}

/* ---- Skipping ---------------------------------------------------------------------------------------------------- */

void front_skip_brackets(front *f) {
  uint32_t open = 0;
  bool is_block = front_at(f, PP_P_LBRACE);
  do {
    bool is_over = front_at(f, PP_P_SEMI) || front_at(f, PP_P_LBRACE) || front_at(f, PP_P_RBRACE);
    if ((!is_block && is_over) || front_at_outer(f)) {
      front_panic(f);
      return;
    }
    if (front_at(f, PP_P_LPAREN) || front_at(f, PP_P_LBRACE) || front_at(f, PP_P_LBRACKET)) open++;
    if (front_at(f, PP_P_RPAREN) || front_at(f, PP_P_RBRACE) || front_at(f, PP_P_RBRACKET)) open--;
    front_next(f);
  } while (open > 0 && !front_at_end(f));
}

void front_recover(front *f) {
  if (!f->is_panicking || f->is_fatal) return;
  bool is_end = f->recovery.is_past_end;
  while (!is_end && !front_at_end(f) && !front_at(f, PP_P_RBRACE) && !front_at_outer(f)) {
    if (front_at(f, PP_P_LBRACE)) {
      front_skip_brackets(f);
      break;
    }
    is_end = front_at(f, PP_P_SEMI);
    front_next(f);
  }
  f->is_panicking = false;
  f->recovery.is_line_damaged = true;
  doubt_names(f);
}

void front_recover_header(front *f) {
  if (!f->is_panicking || f->is_fatal) return;
  uint32_t open = 0;
  while (!front_at_end(f) && !f->tok.pp.line_start && !front_at(f, PP_P_LBRACE) && !front_at(f, PP_P_RBRACE)) {
    if (front_at(f, PP_P_RPAREN) && open-- == 0) {
      front_next(f);
      break;
    }
    if (front_at(f, PP_P_LPAREN)) open++;
    front_next(f);
  }
  f->is_panicking = false;
  f->recovery.is_line_damaged = true;
  doubt_names(f);
}

bool front_at_damaged_line(front *f) {
  if (f->tok.pp.line_start) f->recovery.is_line_damaged = false;
  return f->recovery.is_line_damaged && !front_at(f, PP_P_LBRACE) && !front_at(f, PP_P_RBRACE) && !front_at_end(f);
}
