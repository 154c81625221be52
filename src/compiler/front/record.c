#include <string.h>

#include "compiler/front/convert.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

/* ---- Members -------------------------------------------------------------------------------------------- */

typedef struct member_list {
  front_member *items;
  uint32_t count, capacity;
  bool has_failed;
} member_list;

static bool add_member(front *f, member_list *list, front_member member) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity > 0 ? list->capacity * 2 : 8;
    front_member *items = QN_ARENA_ARRAY(f->arena, front_member, capacity);
    if (items == NULL) {
      f->failed = true;
      return false;
    }
    if (list->count > 0) memcpy(items, list->items, list->count * sizeof(items[0]));
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = member;
  return true;
}

static const front_type *array_base(const front_type *type) {
  while (type->kind == FRONT_ARRAY) type = type->elem;
  return type;
}

/* Why an object of a type can't be a member; NULL: it can. */
static const char *member_fault(const front_type *type) {
  if (type->kind == FRONT_FUNCTION) return "is a function; OpenCL C has no pointers to functions either";
  if (type->kind == FRONT_ARRAY && type->length == FRONT_UNKNOWN_LENGTH) return "is an array without a length";
  if (!front_is_complete(array_base(type))) return "has an incomplete type";
  if (type->space != IR_PRIVATE) return "can't have an address space: it lies where the whole struct lies";
  return NULL;
}

static void member_declarator(front *f, const front_specifiers *specifiers, member_list *list) {
  front_declarator d;
  if (!front_declarator_read(f, specifiers, NAME_NEEDED, &d)) {
    list->has_failed = true;
    return;
  }
  if (front_at(f, PP_P_COLON)) {
    front_syntax_error(f, "OpenCL C has no bit-fields: use masks and shifts");
    list->has_failed = true;
    return;
  }
  front_attributes_read(f, &d.attributes);
  front_attributes_merge(f, &d.attributes, &specifiers->attributes);
  if (d.type->kind == FRONT_ERROR) {
    list->has_failed = true;
    return;
  }
  const char *fault = member_fault(d.type);
  if (fault != NULL) {
    bool is_told = array_base(d.type)->kind == FRONT_RECORD && array_base(d.type)->record->is_failed;
    if (!is_told) front_error(f, d.loc, d.length, "member '%.*s' %s", QN_SV_ARG(d.name->text), fault);
    list->has_failed = true;
    return;
  }
  front_member member = {.name = d.name->text, .type = d.type, .loc = d.loc, .align = d.attributes.align};
  if (!add_member(f, list, member)) list->has_failed = true;
}

static void member_declaration_in_span(front *f, member_list *list) {
  front_specifiers specifiers;
  if (front_accept(f, PP_P_SEMI)) return;
  if (!front_specifiers_read(f, &specifiers)) {
    list->has_failed = true;
    front_recover(f);
    return;
  }
  if (specifiers.storage != STORAGE_NONE) {
    front_error(f, specifiers.loc, specifiers.length, "a member has no storage class");
  }
  if (front_at(f, PP_P_SEMI)) { /* an anonymous struct or union */
    const front_type *type = specifiers.type;
    if (type->kind == FRONT_RECORD && type->record->tag.size == 0 && type->record->is_complete) {
      if (!add_member(f, list, (front_member){.type = type, .loc = specifiers.loc})) list->has_failed = true;
    } else if (type->kind != FRONT_ERROR && type->kind != FRONT_RECORD) {
      front_warning(f, specifiers.loc, specifiers.length, "declaration of a member declares nothing");
    }
  } else {
    do {
      member_declarator(f, &specifiers, list);
    } while (!f->is_panicking && front_accept(f, PP_P_COMMA));
  }
  (void)front_expect(f, PP_P_SEMI, " after the member");
  front_recover(f);
}

static void member_declaration(front *f, member_list *list) {
  front_span outer = front_span_open(f);
  uint32_t errors = f->diags->errors;
  member_declaration_in_span(f, list);
  list->has_failed |= f->diags->errors > errors;
  front_span_close(f, outer);
}

/* Names of a record and of the anonymous ones within, counted or told. */
typedef struct member_names {
  qn_map seen; /* name -> member */
  bool has_duplicate;
} member_names;

static void enter_names(front *f, member_names *names, const front_member *members, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const front_member *m = &members[i];
    if (m->name.size == 0) {
      enter_names(f, names, m->type->record->members, m->type->record->member_count);
      continue;
    }
    const front_member *before = qn_map_get(&names->seen, m->name);
    if (before != NULL) {
      front_error(f, m->loc, (uint32_t)m->name.size, "duplicate member '%.*s'", QN_SV_ARG(m->name));
      front_note(f, before->loc, (uint32_t)m->name.size, "it is declared here before");
      names->has_duplicate = true;
    } else if (!qn_map_set(&names->seen, m->name, (void *)(uintptr_t)m)) {
      f->failed = true;
    }
  }
}

static bool has_duplicate_names(front *f, const member_list *list) {
  member_names names = {0};
  enter_names(f, &names, list->items, list->count);
  qn_map_free(&names.seen);
  return names.has_duplicate;
}

/* ---- Layout ------------------------------------------------------------------------------------------------ */

/* Each record within another one makes everything that follows types go one deeper. */
enum { RECORD_DEPTH_LIMIT = 64 };
#define RECORD_SIZE_LIMIT ((uint64_t)1 << 31)

static void lay_out(front *f, front_record *record) {
  uint32_t count = record->member_count;
  const ir_type **types = QN_ARENA_ARRAY(f->arena, const ir_type *, count + 1);
  const char **names = QN_ARENA_ARRAY(f->arena, const char *, count + 1);
  uint64_t *aligns = QN_ARENA_ARRAY(f->arena, uint64_t, count + 1);
  if (types == NULL || names == NULL || aligns == NULL) {
    f->failed = true;
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    const front_member *m = &record->members[i];
    types[i] = front_ir(f, m->type);
    names[i] = qn_arena_copy(f->arena, m->name.size > 0 ? m->name : QN_SV(""));
    aligns[i] = m->align;
    const front_type *base = array_base(m->type);
    record->holds_pointer |= base->kind == FRONT_POINTER || (base->kind == FRONT_RECORD && base->record->holds_pointer);
    record->holds_bool |= base->kind == FRONT_BOOL || (base->kind == FRONT_RECORD && base->record->holds_bool);
    if (names[i] == NULL) f->failed = true;
    uint32_t depth = m->type->kind == FRONT_RECORD ? m->type->record->depth : m->type->depth;
    if (depth >= record->depth) record->depth = depth + 1;
  }
  ir_struct_complete(f->m, record->ir, types, names, aligns, count, record->is_union, record->is_packed, record->align);
}

static void record_body(front *f, front_record *record, front_attributes *attributes) {
  qn_loc open = f->tok.pp.loc;
  record->is_begun = true;
  front_next(f);
  member_list list = {0};
  bool is_entered = front_enter(f);
  while (is_entered && !front_at_end(f) && !front_at(f, PP_P_RBRACE) && !front_at_outer(f)) {
    member_declaration(f, &list);
  }
  front_leave(f);
  if (!front_expect(f, PP_P_RBRACE, " at the end of the members")) list.has_failed = true;
  front_attributes_read(f, attributes);
  record->members = list.items;
  record->member_count = list.count;
  record->is_packed = attributes->is_packed;
  record->align = attributes->align;
  record->is_failed = list.has_failed || has_duplicate_names(f, &list);
  if (record->is_failed) return;
  if (list.count == 0) {
    front_error(f, open, 1, "a %s needs a member", record->is_union ? "union" : "struct");
    record->is_failed = true;
    return;
  }
  lay_out(f, record);
  if (record->depth > RECORD_DEPTH_LIMIT || record->ir->size >= RECORD_SIZE_LIMIT) {
    front_error(
        f, record->loc, 1,
        record->depth > RECORD_DEPTH_LIMIT ? "types are nested more than %d deep" : "the type is larger than %d GiB",
        record->depth > RECORD_DEPTH_LIMIT ? RECORD_DEPTH_LIMIT : 2);
    record->is_failed = true;
    return;
  }
  record->is_complete = true;
}

/* ---- struct and union ------------------------------------------------------------------------------------- */

static front_record *new_record(front *f, qn_sv tag, qn_loc loc, bool is_union) {
  front_record *record = QN_ARENA_NEW(f->arena, front_record);
  const char *name = tag.size > 0 ? qn_arena_copy(f->arena, tag) : is_union ? "union" : "struct";
  if (record == NULL || name == NULL) {
    f->failed = true;
    return NULL;
  }
  record->tag = tag;
  record->loc = loc;
  record->is_union = is_union;
  record->ir = ir_struct_new(f->m, name);
  return record;
}

/* The record that a tag names here: one that is visible, or a new one. `defines`: it must be of this scope. */
static front_record *tagged_record(front *f, const front_token *token, bool is_union, bool defines) {
  pp_name *name = token->pp.name;
  front_tag *tag = front_find_tag(f, name);
  bool is_here = tag != NULL && tag->scope == f->scope;
  if (tag != NULL && (is_here || !defines)) {
    if (!tag->is_enum && tag->record->is_union == is_union) return tag->record;
    if (is_here || !defines) {
      front_error(f, token->pp.loc, token->pp.length, "'%.*s' is declared as another kind of tag",
                  QN_SV_ARG(name->text));
      front_note(f, tag->loc, (uint32_t)name->text.size, "it is declared here");
      return NULL;
    }
  }
  tag = front_declare_tag(f, name, token->pp.loc);
  front_record *record = tag == NULL ? NULL : new_record(f, name->text, token->pp.loc, is_union);
  if (record != NULL) {
    tag->record = record;
    tag->type = front_record_type(f, record);
  }
  return record;
}

const front_type *front_record_specifier(front *f) {
  bool is_union = front_at_keyword(f, KW_UNION);
  front_token keyword = f->tok;
  front_next(f);
  front_attributes attributes = {0};
  front_attributes_read(f, &attributes);
  front_record *record;
  if (front_at_name(f)) {
    front_token name = f->tok;
    front_next(f);
    bool is_new = !front_at(f, PP_P_LBRACE) && front_find_tag(f, name.pp.name) == NULL;
    if (is_new && f->diags->errors > 0 && front_is_doubtful_name(f, name.pp.name)) {
      return front_error_type(f);
    }
    record = tagged_record(f, &name, is_union, front_at(f, PP_P_LBRACE) || front_at(f, PP_P_SEMI));
    if (record != NULL && front_at(f, PP_P_LBRACE) && record->is_begun) {
      if (!record->is_failed) {
        front_error(f, name.pp.loc, name.pp.length, "redefinition of '%.*s'", QN_SV_ARG(name.pp.text));
        front_note(f, record->loc, name.pp.length, "it is defined here before");
      }
      record = NULL;
    }
  } else if (front_at(f, PP_P_LBRACE)) {
    record = new_record(f, (qn_sv){NULL, 0}, keyword.pp.loc, is_union);
  } else {
    front_syntax_error(f, "expected a name or '{' after '%s'", is_union ? "union" : "struct");
    front_lose_name(f);
    return front_error_type(f);
  }
  if (record == NULL) {
    if (front_at(f, PP_P_LBRACE)) front_skip_brackets(f);
    return front_error_type(f);
  }
  if (front_at(f, PP_P_LBRACE)) record_body(f, record, &attributes);
  if (record->is_failed) return front_error_type(f); /* what is made of it is silent */
  return front_record_type(f, record);
}

/* ---- enum ----------------------------------------------------------------------------------------------------- */

static bool is_declared_here(front *f, pp_name *name) {
  front_symbol *before = front_find(f, name);
  return before != NULL && before->scope == f->scope;
}

/* What an enumeration's constants have been so far. Values past 32 bits are allowed, as in other compilers. */
typedef struct enum_values {
  uint64_t next; /* of the one that has no value given */
  bool next_is_unsigned;
  bool has_negative, is_wide; /* some don't fit into 32 bits */
} enum_values;

/* int where it fits, as C says, else the narrowest type that holds the value. */
static const front_type *enumerator_type(front *f, uint64_t bits, bool is_unsigned) {
  int64_t value = (int64_t)bits;
  bool is_positive = is_unsigned || value >= 0;
  if (is_positive && bits > UINT32_MAX) return front_int(f, 64, bits <= INT64_MAX);
  if (!is_positive && value < INT32_MIN) return front_int(f, 64, true);
  return front_int(f, 32, !is_positive || bits <= INT32_MAX);
}

/* One NAME [= value]. */
static void enumerator(front *f, enum_values *values) {
  if (!front_at_name(f)) {
    front_syntax_error(f, "expected the name of an enumeration's constant");
    return;
  }
  front_token name = f->tok;
  front_next(f);
  uint64_t bits = values->next;
  bool is_unsigned = values->next_is_unsigned;
  if (front_accept(f, PP_P_ASSIGN)) {
    front_expr *given = NULL;
    if (front_constant_expression(f, "an enumeration's constant", &given, &bits)) {
      is_unsigned = !given->type->is_signed;
    } else if (f->is_panicking) {
      return;
    } else {
      bits = values->next;
    }
  }
  const front_type *type = enumerator_type(f, bits, is_unsigned);
  if (is_declared_here(f, name.pp.name)) {
    front_error(f, name.pp.loc, name.pp.length, "redefinition of '%.*s'", QN_SV_ARG(name.pp.text));
  } else {
    front_symbol *symbol = front_declare(f, SYMBOL_ENUMERATOR, name.pp.name, name.pp.loc, name.pp.length, type);
    if (symbol != NULL) symbol->u.value = bits;
  }
  values->has_negative |= !is_unsigned && (int64_t)bits < 0;
  values->is_wide |= type->bits == 64;
  values->next = bits + 1;
  values->next_is_unsigned = is_unsigned;
}

static const front_type *enum_body(front *f) {
  enum_values values = {0};
  front_next(f);
  while (!f->is_panicking && !front_at(f, PP_P_RBRACE)) {
    enumerator(f, &values);
    if (!front_accept(f, PP_P_COMMA)) break;
  }
  if (!front_expect(f, PP_P_RBRACE, " at the end of the enumeration")) return front_error_type(f);
  return front_int(f, values.is_wide ? 64 : 32, values.has_negative);
}

const front_type *front_enum_specifier(front *f) {
  front_next(f);
  front_attributes attributes = {0};
  front_attributes_read(f, &attributes);
  front_tag *tag = NULL;
  front_token name = f->tok;
  if (front_at_name(f)) {
    front_next(f);
    tag = front_find_tag(f, name.pp.name);
    bool defines = front_at(f, PP_P_LBRACE);
    if (tag == NULL && !defines) {
      if (front_is_doubtful_name(f, name.pp.name)) return front_error_type(f);
      front_error(f, name.pp.loc, name.pp.length, "'enum %.*s' is not declared", QN_SV_ARG(name.pp.text));
      return front_error_type(f);
    }
    if (tag != NULL && (!defines || tag->scope == f->scope)) {
      if (tag->is_enum && !defines) return tag->type;
      front_error(f, name.pp.loc, name.pp.length, "'%.*s' is declared before as %s", QN_SV_ARG(name.pp.text),
                  tag->is_enum ? "an enumeration" : "another kind of tag");
      front_note(f, tag->loc, name.pp.length, "it is declared here");
      if (front_at(f, PP_P_LBRACE)) front_skip_brackets(f);
      return front_error_type(f);
    }
    tag = front_declare_tag(f, name.pp.name, name.pp.loc);
    if (tag == NULL) return front_error_type(f);
    tag->is_enum = true;
    tag->type = front_int(f, 32, false);
  }
  if (!front_at(f, PP_P_LBRACE)) {
    front_syntax_error(f, "expected a name or '{' after 'enum'");
    front_lose_name(f);
    return front_error_type(f);
  }
  const front_type *type = enum_body(f);
  if (tag != NULL) tag->type = type;
  front_attributes_read(f, &attributes);
  return type;
}
