#include "compiler/front/convert.h"
#include "compiler/front/operator.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/split.h"
#include "compiler/front/token.h"

/* ---- Names that are declared again ---------------------------------------------------------------------------- */

/* Reports when a name is taken in this scope. */
static bool is_taken(front *f, const front_declarator *d) {
  front_symbol *before = front_find(f, d->name);
  if (before == NULL || before->scope != f->scope) return false;
  /* Told of the same declaration; or braces are wrong, and scopes with them. */
  if (f->diags->errors > f->recovery.span.errors || f->recovery.is_damaged) return true;
  front_error(f, d->loc, d->length, "redefinition of '%.*s'", QN_SV_ARG(d->name->text));
  front_note(f, before->loc, before->length, "it is declared here before");
  return true;
}

static void declare_typedef(front *f, const front_declarator *d) {
  front_symbol *before = front_find(f, d->name);
  if (before != NULL && before->scope == f->scope && before->kind == SYMBOL_TYPEDEF) {
    if (before->type == d->type || d->type->kind == FRONT_ERROR) return;
    front_error(f, d->loc, d->length, "'%.*s' is defined as another type before: '%s', now '%s'",
                QN_SV_ARG(d->name->text), front_type_text(f, before->type), front_type_text(f, d->type));
    front_note(f, before->loc, before->length, "it is defined here");
    return;
  }
  if (is_taken(f, d)) return;
  /* A struct without a tag is called by its typedef. */
  if (d->type->kind == FRONT_RECORD && d->type->record->tag.size == 0) d->type->record->tag = d->name->text;
  front_symbol *symbol = front_declare(f, SYMBOL_TYPEDEF, d->name, d->loc, d->length, d->type);
  if (symbol != NULL) symbol->align = d->attributes.align;
}

/* ---- Objects ------------------------------------------------------------------------------------------------------
 */

/* What kind of object a declaration makes, by where it stands and its address space. Reports what can't be. */
static bool object_kind(front *f, const front_specifiers *s, const front_declarator *d, front_object_kind *kind) {
  bool is_program = f->func == NULL;
  const char *fault = NULL;
  *kind = OBJECT_PRIVATE;
  switch (d->type->space) {
    case IR_CONSTANT:
      *kind = OBJECT_CONSTANT;
      break;
    case IR_LOCAL:
      *kind = OBJECT_LOCAL;
      if (f->func != NULL) f->func->has_local = true;
      if (is_program || !f->func->is_kernel) fault = "__local variables are declared in a kernel's body";
      break;
    case IR_PRIVATE:
      if (!is_program) break;
      *kind = OBJECT_CONSTANT;
      if (!(d->type->quals & FRONT_CONST)) fault = "a variable of program scope must be __constant";
      break;
    default:
      fault = "a variable can't lie in __global memory; only what a pointer points to can";
      break;
  }
  if (fault == NULL && !is_program && s->storage == STORAGE_STATIC && *kind != OBJECT_CONSTANT) {
    fault = "a variable within a function can't be static; make it __constant or pass a buffer";
  }
  if (fault == NULL && s->storage == STORAGE_EXTERN)
    fault = "extern variables are not supported: a program is one source";
  if (fault == NULL) return true;
  if (!front_is_structure_doubtful(f)) front_error(f, d->loc, d->length, "%s", fault);
  if (is_program) front_damage(f); /* a function may have ended too early */
  return false;
}

static bool check_object_type(front *f, const front_declarator *d, bool has_init) {
  const front_type *type = d->type;
  if (type->kind == FRONT_ARRAY && type->length == FRONT_UNKNOWN_LENGTH && has_init) return true;
  if (front_is_complete(type)) return front_check_half(f, d->loc, d->length, type);
  if (type->kind == FRONT_RECORD && type->record->is_failed) return false;
  const char *why = type->kind == FRONT_ARRAY ? "it needs a length or an initializer" : "the type is incomplete";
  front_error(f, d->loc, d->length, "variable '%.*s' can't have type '%s': %s", QN_SV_ARG(d->name->text),
              front_type_text(f, type), why);
  return false;
}

/* What a program's constants may take: the code carries them. */
#define CONSTANT_LIMIT (UINT64_C(64) << 20)

static bool check_constant_size(front *f, const front_declarator *d, front_object_kind kind) {
  bool has_size = kind == OBJECT_CONSTANT && front_is_complete(d->type);
  if (!has_size || front_sizeof(f, d->type) <= CONSTANT_LIMIT) return true;
  front_error(f, d->loc, d->length, "constant '%.*s' has %llu bytes; the limit is 64 MiB: pass it as a buffer",
              QN_SV_ARG(d->name->text), (unsigned long long)front_sizeof(f, d->type));
  return false;
}

static front_object *new_object(front *f, front_object_kind kind, const front_declarator *d) {
  front_object *object = QN_ARENA_NEW(f->arena, front_object);
  if (object == NULL) {
    f->failed = true;
    return NULL;
  }
  object->kind = kind;
  object->name = d->name->text;
  object->loc = d->loc;
  object->length = d->length;
  object->type = d->type;
  object->align = d->attributes.align;
  return object;
}

static void note_value(front *f, front_object *object) {
  front_init *init = object->init;
  if (init == NULL || init->value == NULL) return;
  if (front_holds_item(init->value)) object->item_value = init->value;
  bool is_fixed =
      (object->type->quals & (FRONT_CONST | FRONT_VOLATILE)) == FRONT_CONST || object->kind == OBJECT_CONSTANT;
  if (is_fixed && front_is_numeric(object->type)) object->constant = front_fold(f, init->value);
}

static void read_initializer(front *f, front_object *object, front_symbol *symbol) {
  if (object->kind == OBJECT_LOCAL) {
    front_error(f, f->tok.pp.loc, f->tok.pp.length,
                "a __local variable has no initializer: each group would race to write it");
  }
  const front_type *type = object->type;
  object->init = front_initializer(f, &type);
  object->type = type;
  symbol->type = type;
  if (object->init == NULL) {
    object->is_failed = true;
    if (type->kind == FRONT_ARRAY && type->length == FRONT_UNKNOWN_LENGTH) object->type = front_error_type(f);
    return;
  }
  if (object->kind == OBJECT_CONSTANT) {
    object->initial = front_init_constant(f, object->init, object->type);
    object->is_failed = object->initial == NULL;
  }
  note_value(f, object);
}

/* `good`: nothing was reported of it. NULL: reported, or nothing to do. */
static front_object *declare_object(front *f, const front_specifiers *s, const front_declarator *d, bool good) {
  front_object_kind kind = OBJECT_PRIVATE;
  bool has_init = front_at(f, PP_P_ASSIGN);
  front_declarator object_declarator = *d;
  good = good && d->type->kind != FRONT_ERROR && !is_taken(f, d) && object_kind(f, s, d, &kind) &&
         check_object_type(f, d, has_init) && check_constant_size(f, d, kind);
  if (!good) object_declarator.type = front_error_type(f);
  if (kind == OBJECT_CONSTANT && good) {
    object_declarator.type = front_qualify(f, d->type, FRONT_CONST, IR_CONSTANT);
  }
  front_object *object = new_object(f, kind, &object_declarator);
  if (object == NULL) return NULL;
  front_symbol *symbol = front_declare(f, SYMBOL_OBJECT, d->name, d->loc, d->length, object->type);
  if (symbol == NULL) return NULL;
  symbol->u.object = object;
  if (front_accept(f, PP_P_ASSIGN)) {
    read_initializer(f, object, symbol);
  } else if (kind == OBJECT_CONSTANT && good) {
    front_error(f, d->loc, d->length, "constant '%.*s' needs an initializer", QN_SV_ARG(d->name->text));
  }
  return good && object->type->kind != FRONT_ERROR ? object : NULL;
}

/* ---- Declarations
 * ---------------------------------------------------------------------------------------------------- */

/* False: reported. */
static bool check_words(front *f, const front_specifiers *s) {
  if (s->is_kernel) {
    front_error(f, s->loc, s->length, "only a function can be a kernel");
    front_damage(f);
  } else if (s->is_inline) {
    front_error(f, s->loc, s->length, "only a function can be inline");
  }
  return !s->is_kernel && !s->is_inline;
}

static void add_object_statement(front *f, front_object *object, front_stmt ***tail) {
  if (object == NULL || tail == NULL) return;
  front_stmt *stmt = front_stmt_new(f, STMT_DECL, object->loc);
  if (stmt == NULL) return;
  stmt->object = object;
  **tail = stmt;
  *tail = &stmt->next;
}

/* static_assert(constant, "message"); at the word. */
static void static_assertion(front *f) {
  front_token word = f->tok;
  front_next(f);
  if (!front_expect(f, PP_P_LPAREN, " after static_assert")) return;
  uint64_t value = 1;
  bool good = front_constant_expression(f, "an assertion", NULL, &value);
  qn_sv message = {"", 0};
  if (front_accept(f, PP_P_COMMA) && f->tok.pp.kind == PP_STRING) {
    message = f->tok.pp.text;
    while (f->tok.pp.kind == PP_STRING) front_next(f);
  }
  if (!front_expect(f, PP_P_RPAREN, "") || !front_expect(f, PP_P_SEMI, " after static_assert")) return;
  if (good && value == 0) {
    front_error(f, word.pp.loc, word.pp.length, "static assertion failed%s%.*s", message.size > 0 ? ": " : "",
                QN_SV_ARG(message));
  }
}

/* for (int i = 0, i < 3, ...): behind the comma the name just declared is used, so a ';' was meant. */
static bool is_semicolon_meant(front *f, const front_declarator *last) {
  if (!front_at_name(f) || f->tok.pp.name != last->name) return false;
  const front_token *next = front_peek(f);
  static const pp_punct declares[] = {PP_P_ASSIGN, PP_P_COMMA, PP_P_SEMI, PP_P_LBRACKET, PP_P_LPAREN, PP_P_RPAREN};
  for (size_t i = 0; i < sizeof(declares) / sizeof(declares[0]); i++) {
    if (next->pp.kind != PP_PUNCT || next->pp.punct == declares[i]) return false;
  }
  return true;
}

/* The declarators of a declaration, with `tail` for the statements of a function or NULL. *last: the last object. True: no semicolon
 * comes: it was a function's definition, or a comma stood in its place and was told. */
static bool declarators(front *f, const front_specifiers *s, front_stmt ***tail, front_object **last) {
  for (bool is_first = true;; is_first = false) {
    front_declarator d;
    if (!front_declarator_read(f, s, NAME_NEEDED, &d)) return false;
    if (front_at_keyword(f, KW_ASM)) front_syntax_error(f, "assembly is not supported");
    front_attributes_read(f, &d.attributes);
    front_attributes attributes = s->attributes;
    front_attributes_merge(f, &attributes, &d.attributes);
    d.attributes = attributes;
    if (s->storage == STORAGE_TYPEDEF) {
      (void)check_words(f, s);
      declare_typedef(f, &d);
    } else if (d.is_function || d.type->kind == FRONT_FUNCTION) {
      bool is_definition = is_first && front_at(f, PP_P_LBRACE);
      if (is_definition && f->func != NULL) {
        front_structure_error(f, d.loc, d.length,
                              "a function can't be defined within another one: does a '}' miss before it?");
        front_end(f);
        return true;
      }
      front_function(f, s, &d);
      if (is_definition) return true;
    } else {
      *last = declare_object(f, s, &d, check_words(f, s));
      add_object_statement(f, *last, tail);
    }
    if (f->is_panicking || !front_at(f, PP_P_COMMA)) return false;
    qn_loc comma = f->tok.pp.loc;
    front_next(f);
    if (is_semicolon_meant(f, &d)) {
      front_error(f, comma, 1, "expected ';' after the declaration, not ','");
      return true;
    }
  }
}

static void declaration(front *f, front_stmt ***tail) {
  if (front_at_keyword(f, KW_STATIC_ASSERT)) {
    static_assertion(f);
    front_recover(f);
    return;
  }
  front_specifiers s;
  if (!front_specifiers_read(f, &s)) {
    front_recover(f);
    return;
  }
  if (front_at(f, PP_P_SEMI)) {
    if (check_words(f, &s) && !s.declares) {
      front_warning(f, s.loc, s.length, "a declaration without a name");
      front_lose_name(f);
    }
    front_next(f);
    return;
  }
  /* struct s {...} and the next declaration: only the ';' misses. */
  if (s.record_end != 0 && f->tok.keyword != KW_NONE && front_starts_type(f)) {
    if (f->diags->errors == f->recovery.span.errors) front_error(f, s.record_end, 1, "expected ';' behind the '}'");
    return;
  }
  front_object *last = NULL;
  if (!declarators(f, &s, tail, &last)) {
    /* What follows an unknown type may be no declaration at all: it has been reported. */
    if (s.is_unknown && !front_at(f, PP_P_SEMI)) front_panic(f);
    bool is_damaged = f->is_panicking;
    is_damaged |= !front_expect(f, PP_P_SEMI, " after the declaration");
    if (is_damaged && last != NULL) last->type = front_error_type(f); /* more of it was to come */
  }
  front_recover(f);
}

void front_local_declaration(front *f, front_stmt ***tail) { declaration(f, tail); }

static bool starts_statement(const front *f) {
  static const front_keyword words[] = {KW_IF,   KW_ELSE,    KW_FOR,   KW_WHILE,    KW_DO,     KW_SWITCH,
                                        KW_CASE, KW_DEFAULT, KW_BREAK, KW_CONTINUE, KW_RETURN, KW_GOTO};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    if (front_at_keyword(f, words[i])) return true;
  }
  return false;
}

void front_external_declaration(front *f) {
  front_span_outermost(f);
  if (front_at_end(f) || front_accept(f, PP_P_SEMI)) return;
  if (front_at(f, PP_P_RBRACE)) {
    front_structure_error(f, f->tok.pp.loc, 1, "a '}' without its '{'");
    front_next(f);
    f->is_panicking = false;
    return;
  }
  /* A statement: what is told once goes for all of it. */
  if (starts_statement(f)) {
    front_structure_error(f, f->tok.pp.loc, f->tok.pp.length, "'%.*s' can only stand in a function",
                          QN_SV_ARG(f->tok.pp.text));
    front_lose_name(f); /* that of the function that it may have stood in */
    front_recover(f);
    return;
  }
  declaration(f, NULL);
}
