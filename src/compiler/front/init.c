/* init.c - initialisers of C99: braces that may be left out, designators, strings; vectors take as many scalars as they
 * have lanes. */
#include <string.h>

#include "compiler/front/convert.h"
#include "compiler/front/literal.h"
#include "compiler/front/operator.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

/* An expression that was read before it was known where it belongs: the first one behind left-out braces. */
typedef struct init_reader {
  front_expr *pending;
} init_reader;

#define ELEMENT_LIMIT ((uint64_t)1 << 22)

static front_init *element(front *f, init_reader *r, const front_type *type, bool is_listed);
static front_init *braced(front *f, const front_type *type);

static front_init *new_init(front *f, const front_type *type) {
  front_init *init = QN_ARENA_NEW(f->arena, front_init);
  if (init == NULL) {
    f->failed = true;
    return NULL;
  }
  init->type = type->plain;
  return init;
}

static front_init *leaf(front *f, const front_type *type, front_expr *value) {
  if (front_is_error(value)) return NULL;
  front_init *init = new_init(f, type);
  if (init != NULL) init->value = value;
  return init;
}

/* The place of a child; NULL: out of memory or beyond the limit, which is reported. */
static front_init **child_slot(front *f, front_init *init, uint64_t index) {
  if (index >= ELEMENT_LIMIT) {
    front_error(f, f->tok.pp.loc, f->tok.pp.length, "an initializer has more than %llu elements",
                (unsigned long long)ELEMENT_LIMIT);
    return NULL;
  }
  if (index >= init->capacity) {
    uint64_t capacity = init->capacity > 0 ? init->capacity * 2 : 4;
    while (capacity <= index) capacity *= 2;
    front_init **children = QN_ARENA_ARRAY(f->arena, front_init *, capacity);
    if (children == NULL) {
      f->failed = true;
      return NULL;
    }
    if (init->count > 0) memcpy(children, init->children, (size_t)init->count * sizeof(children[0]));
    init->children = children;
    init->capacity = capacity;
  }
  if (index >= init->count) init->count = index + 1;
  return &init->children[index];
}

/* How many children an aggregate has, and their types. */
static uint64_t child_count(const front_type *type) {
  return type->kind == FRONT_ARRAY ? type->length : type->record->is_union ? 1 : type->record->member_count;
}
static const front_type *child_type(const front_type *type, uint64_t index) {
  return type->kind == FRONT_ARRAY ? type->elem : type->record->members[index].type;
}

/* Sets a child. A union keeps the last one only. */
static bool set_child(front *f, front_init *init, uint64_t index, front_init *child) {
  if (child == NULL) return false;
  if (init->type->kind == FRONT_RECORD && init->type->record->is_union && init->count > 0) {
    memset(init->children, 0, (size_t)init->count * sizeof(init->children[0]));
  }
  front_init **slot = child_slot(f, init, index);
  if (slot == NULL) return false;
  *slot = child;
  return true;
}

static front_expr *take_expression(front *f, init_reader *r) {
  front_expr *e = r->pending;
  r->pending = NULL;
  return e != NULL ? e : front_assignment_expression(f);
}

/* Whether an element follows that isn't for the enclosing braces: a comma, then neither '}' nor a designator. */
static bool has_more(front *f) {
  if (f->is_panicking || !front_at(f, PP_P_COMMA)) return false;
  const front_token *next = front_peek(f);
  if (next->pp.kind != PP_PUNCT) return next->pp.kind != PP_EOF;
  return next->pp.punct != PP_P_RBRACE && next->pp.punct != PP_P_DOT && next->pp.punct != PP_P_LBRACKET;
}

/* ---- Strings and vectors ------------------------------------------------------------------------------------------
 */

static bool is_char_array(const front_type *type) {
  return type->kind == FRONT_ARRAY && type->elem->kind == FRONT_INT && type->elem->bits == 8;
}

static front_init *string_init(front *f, const front_type *type, const front_expr *string) {
  uint64_t size = string->u.string.size;
  if (type->length != FRONT_UNKNOWN_LENGTH && size > type->length) {
    front_error(f, string->loc, string->length, "the string has %llu characters, the array %llu elements",
                (unsigned long long)size, (unsigned long long)type->length);
    return NULL;
  }
  front_init *init = new_init(f, type);
  uint64_t count = size + (type->length > size ? 1 : 0);
  for (uint64_t i = 0; init != NULL && i < count; i++) {
    uint64_t c = i < size ? (uint64_t)(int64_t)(signed char)string->u.string.data[i] : 0;
    front_expr *value = front_expr_int(f, string->loc, string->length, type->elem->plain, c);
    if (!set_child(f, init, i, leaf(f, type->elem, value))) return NULL;
  }
  return init;
}

/* The lanes that aren't given are zero. */
static front_init *vector_from(front *f, qn_loc loc, const front_type *type, front_exprs *parts) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < parts->count; i++) {
    parts->items[i] = front_value(f, parts->items[i]);
    if (front_is_error(parts->items[i])) return NULL;
    lanes += front_lanes(parts->items[i]->type);
  }
  for (; lanes < type->lanes; lanes++) {
    front_expr *zero = front_convert(f, front_expr_int(f, loc, 1, front_int(f, 32, true), 0), type->elem);
    if (!front_exprs_add(f, parts, zero)) return NULL;
  }
  return leaf(f, type, front_vector_literal(f, loc, type, parts->items, parts->count));
}

/* Scalars of the enclosing list until the lanes are full. */
static front_init *vector_without_braces(front *f, init_reader *r, const front_type *type) {
  front_exprs parts = {0};
  qn_loc loc = f->tok.pp.loc;
  uint32_t lanes = 0;
  for (;;) {
    front_expr *e = front_value(f, take_expression(f, r));
    if (front_is_error(e) || !front_exprs_add(f, &parts, e)) return NULL;
    lanes += front_lanes(e->type);
    if (lanes >= type->lanes || !has_more(f)) break;
    front_next(f);
  }
  return vector_from(f, loc, type, &parts);
}

static front_init *braced_vector(front *f, const front_type *type) {
  front_exprs parts = {0};
  qn_loc loc = f->tok.pp.loc;
  while (!f->is_panicking && !front_at(f, PP_P_RBRACE)) {
    if (!front_exprs_add(f, &parts, front_assignment_expression(f))) return NULL;
    if (!front_accept(f, PP_P_COMMA)) break;
  }
  /* {v} with a whole vector is that vector. */
  if (parts.count == 1 && front_same(parts.items[0]->type, type)) return leaf(f, type, front_value(f, parts.items[0]));
  return f->is_panicking ? NULL : vector_from(f, loc, type, &parts);
}

/* ---- Elements -------------------------------------------------------------------------------------------------------
 */

/* The children of an aggregate whose braces are left out; the first expression may be pending. */
static front_init *without_braces(front *f, init_reader *r, const front_type *type) {
  front_init *init = new_init(f, type);
  uint64_t count = child_count(type);
  for (uint64_t i = 0; init != NULL && i < count; i++) {
    if (!set_child(f, init, i, element(f, r, child_type(type, i), true))) return NULL;
    if (i + 1 == count || !has_more(f)) break;
    front_next(f);
  }
  return init;
}

/* An aggregate or vector from an expression: as a whole, or as the first of its parts. */
static front_init *aggregate_element(front *f, init_reader *r, const front_type *type, bool is_listed) {
  front_expr *e = take_expression(f, r);
  if (front_is_error(e)) return NULL;
  if (is_char_array(type) && e->kind == EXPR_STRING) return string_init(f, type, e);
  if (type->kind == FRONT_RECORD && front_same(e->type, type)) {
    return e->kind == EXPR_LITERAL ? e->u.object->init : leaf(f, type, e);
  }
  if (type->kind == FRONT_ARRAY && e->kind == EXPR_LITERAL && front_same(e->type, type)) return e->u.object->init;
  if (front_is_vector(type)) {
    bool is_part = is_listed && front_is_arithmetic(e->type);
    r->pending = is_part ? e : NULL;
    if (is_part) return vector_without_braces(f, r, type);
    return leaf(f, type, front_convert_implicit(f, e, type, USE_INITIALIZE));
  }
  if (!is_listed) {
    front_error(f, e->loc, e->length, "initializing '%s' needs braces around its elements", front_type_text(f, type));
    return NULL;
  }
  r->pending = e;
  return without_braces(f, r, type);
}

static front_init *element(front *f, init_reader *r, const front_type *type, bool is_listed) {
  bool is_entered = front_enter(f);
  front_init *init = NULL;
  if (!is_entered) {
    init = NULL;
  } else if (r->pending == NULL && front_at(f, PP_P_LBRACE)) {
    init = braced(f, type);
  } else if (front_is_aggregate(type) || front_is_vector(type)) {
    init = aggregate_element(f, r, type, is_listed);
  } else {
    init = leaf(f, type, front_convert_implicit(f, take_expression(f, r), type, USE_INITIALIZE));
  }
  front_leave(f);
  return init;
}

/* ---- Designators
 * ------------------------------------------------------------------------------------------------------ */

/* Finds a member, through anonymous ones, and enters the path to it. Gives the slot's parent and index. */
static bool member_path(front *f, front_init **init, qn_sv name, uint64_t *index) {
  const front_record *record = (*init)->type->record;
  for (uint32_t i = 0; i < record->member_count; i++) {
    const front_member *m = &record->members[i];
    if (m->name.size > 0) {
      if (!qn_sv_equal(m->name, name)) continue;
      *index = i;
      return true;
    }
    front_init *probe = new_init(f, m->type);
    front_init *inner = probe;
    if (inner == NULL || !member_path(f, &inner, name, index)) continue;
    /* The anonymous member that is there already is kept: .x and .y may both be in it. */
    front_init *kept = i < (*init)->count ? (*init)->children[i] : NULL;
    if (kept == NULL) {
      if (!set_child(f, *init, i, probe)) return false;
    } else {
      inner = kept;
      if (!member_path(f, &inner, name, index)) return false;
    }
    *init = inner;
    return true;
  }
  return false;
}

static bool member_designator(front *f, front_init **init, uint64_t *index) {
  front_next(f);
  front_token name = f->tok;
  if (name.pp.kind != PP_IDENT) {
    front_syntax_error(f, "expected a member's name");
    return false;
  }
  front_next(f);
  const front_type *type = (*init)->type;
  if (type->kind != FRONT_RECORD || !member_path(f, init, name.pp.text, index)) {
    front_error(f, name.pp.loc, name.pp.length, "no member named '%.*s' in '%s'", QN_SV_ARG(name.pp.text),
                front_type_text(f, type));
    return false;
  }
  return true;
}

static bool index_designator(front *f, front_init *init, uint64_t *index) {
  front_next(f);
  front_expr *e;
  bool good = front_constant_expression(f, "a designated index", &e, index);
  if (!front_expect(f, PP_P_RBRACKET, "") || !good) return false;
  bool is_negative = e->type->is_signed && (int64_t)*index < 0;
  if (init->type->kind != FRONT_ARRAY || is_negative || *index >= init->type->length) {
    front_error(f, e->loc, e->length, "index %lld is outside of '%s'", (long long)*index,
                front_type_text(f, init->type));
    return false;
  }
  return true;
}

/* A chain of designators and its element. *top is the index in `init` itself, behind which the list goes on. */
static bool designated(front *f, init_reader *r, front_init *init, uint64_t *top) {
  bool is_first = true;
  uint64_t index = 0;
  while (front_at(f, PP_P_DOT) || front_at(f, PP_P_LBRACKET)) {
    if (!is_first) { /* go down, into what is there already */
      front_init *child = index < init->count ? init->children[index] : NULL;
      const front_type *type = child_type(init->type, index);
      if (child == NULL || child->value != NULL) {
        child = front_is_aggregate(type) ? new_init(f, type) : NULL;
        if (child == NULL) {
          front_syntax_error(f, "a designator needs a struct, a union or an array");
          return false;
        }
        if (!set_child(f, init, index, child)) return false;
      }
      init = child;
    }
    front_init *outer = init;
    bool good = front_at(f, PP_P_DOT) ? member_designator(f, &init, &index) : index_designator(f, init, &index);
    if (!good) return false;
    if (is_first) *top = outer == init ? index : outer->count - 1;
    is_first = false;
  }
  if (!front_expect(f, PP_P_ASSIGN, " after the designator")) return false;
  return set_child(f, init, index, element(f, r, child_type(init->type, index), true));
}

/* ---- Braces
 * -------------------------------------------------------------------------------------------------------------- */

static void excess(front *f, init_reader *r, bool *is_told) {
  qn_loc loc = f->tok.pp.loc;
  uint32_t length = f->tok.pp.length;
  if (front_at(f, PP_P_LBRACE)) {
    front_skip_brackets(f);
  } else {
    (void)take_expression(f, r);
  }
  if (!*is_told && !f->is_panicking)
    front_error(f, loc, length, "more elements in the initializer than it has room for");
  *is_told = true;
}

static front_init *braced_aggregate(front *f, const front_type *type) {
  front_init *init = new_init(f, type);
  init_reader r = {NULL};
  uint64_t index = 0, count = child_count(type);
  bool good = init != NULL, is_excess_told = false;
  while (good && !f->is_panicking && !front_at(f, PP_P_RBRACE) && !front_at_end(f)) {
    if (front_at(f, PP_P_DOT) || front_at(f, PP_P_LBRACKET)) {
      good = designated(f, &r, init, &index);
      index++;
    } else if (index >= count) {
      excess(f, &r, &is_excess_told);
    } else {
      good = set_child(f, init, index, element(f, &r, child_type(type, index), true));
      index++;
    }
    if (!front_accept(f, PP_P_COMMA)) break;
  }
  return good && !is_excess_told ? init : NULL;
}

/* Skips to the closing brace after an error that was told. */
static void skip_list(front *f) {
  while (!f->is_panicking && !front_at(f, PP_P_RBRACE) && !front_at(f, PP_P_SEMI) && !front_at_end(f)) {
    if (front_at(f, PP_P_LBRACE) || front_at(f, PP_P_LPAREN) || front_at(f, PP_P_LBRACKET)) {
      front_skip_brackets(f);
    } else {
      front_next(f);
    }
  }
}

static front_init *braced(front *f, const front_type *type) {
  front_init *init;
  init_reader r = {NULL};
  front_next(f);
  if (front_is_vector(type)) {
    init = braced_vector(f, type);
  } else if (is_char_array(type) && f->tok.pp.kind == PP_STRING) {
    init = string_init(f, type, front_string(f));
    (void)front_accept(f, PP_P_COMMA);
  } else if (front_is_aggregate(type)) {
    init = braced_aggregate(f, type);
  } else if (front_at(f, PP_P_RBRACE)) {
    front_error(f, f->tok.pp.loc, 1, "the initializer of '%s' is empty", front_type_text(f, type));
    init = NULL;
  } else {
    init = element(f, &r, type, true);
    (void)front_accept(f, PP_P_COMMA);
  }
  if (init == NULL) skip_list(f);
  return front_expect(f, PP_P_RBRACE, " at the end of the initializer") ? init : NULL;
}

front_init *front_initializer(front *f, const front_type **type) {
  init_reader r = {NULL};
  if ((*type)->kind == FRONT_ERROR) { /* told: read and forget */
    if (front_at(f, PP_P_LBRACE)) {
      front_skip_brackets(f);
    } else {
      (void)front_assignment_expression(f);
    }
    return NULL;
  }
  front_init *init = element(f, &r, *type, false);
  if (init != NULL && (*type)->kind == FRONT_ARRAY && (*type)->length == FRONT_UNKNOWN_LENGTH) {
    if (init->count == 0) {
      front_error(f, front_last_end(f), 1, "an array has at least one element");
      return NULL;
    }
    *type = front_array(f, (*type)->elem, init->count);
    init->type = (*type)->plain;
  }
  return init;
}

front_expr *front_compound_literal(front *f, qn_loc loc, const front_type *type) {
  type = type->plain;
  front_init *init = front_initializer(f, &type);
  if (init == NULL || type->kind == FRONT_ERROR) return front_expr_error(f, loc);
  if (!front_is_aggregate(type)) return init->value;
  front_object *object = QN_ARENA_NEW(f->arena, front_object);
  if (object == NULL) {
    f->failed = true;
    return front_expr_error(f, loc);
  }
  object->kind = OBJECT_PRIVATE;
  object->loc = loc;
  object->type = type;
  object->init = init;
  object->is_assigned = true;
  front_expr *e = front_expr_new(f, EXPR_LITERAL, loc, 1, type);
  e->is_lvalue = true;
  e->u.object = object;
  return e;
}

/* ---- Constants
 * --------------------------------------------------------------------------------------------------------------- */

static ir_inst *union_constant(front *f, const front_init *init, const front_type *type) {
  for (uint64_t i = 0; i < init->count; i++) {
    if (init->children[i] == NULL) continue;
    ir_inst *part = front_init_constant(f, init->children[i], child_type(type, i));
    return part == NULL ? NULL : ir_const_aggregate(f->m, front_ir(f, type), &part, 1);
  }
  return ir_zero(f->m, front_ir(f, type));
}

ir_inst *front_init_constant(front *f, const front_init *init, const front_type *type) {
  if (init == NULL) return ir_zero(f->m, front_ir(f, type));
  if (init->value != NULL) {
    ir_inst *constant = front_fold_initializer(f, init->value);
    if (constant == NULL) {
      front_error(f, init->value->loc, init->value->length, "the initializer isn't a constant");
    }
    return constant;
  }
  if (type->kind == FRONT_RECORD && type->record->is_union) return union_constant(f, init, type);
  uint64_t count = type->kind == FRONT_ARRAY ? init->count : type->record->member_count;
  ir_inst **parts = QN_ARENA_ARRAY(f->arena, ir_inst *, count + 1);
  if (parts == NULL) {
    f->failed = true;
    return NULL;
  }
  for (uint64_t i = 0; i < count; i++) {
    const front_init *child = i < init->count ? init->children[i] : NULL;
    parts[i] = front_init_constant(f, child, child_type(type, i));
    if (parts[i] == NULL) return NULL;
  }
  return ir_const_aggregate(f->m, front_ir(f, type), parts, (uint32_t)count);
}
