/* declarator.c - what stands around a declared name: pointers, arrays, parameters. Read inside out: each layer is put
 * into a list in the order in which it applies to the type of the specifiers. */
#include <string.h>

#include "compiler/front/convert.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

typedef enum layer_kind { LAYER_POINTER, LAYER_ARRAY, LAYER_FUNCTION } layer_kind;
typedef struct layer {
  layer_kind kind;
  qn_loc loc;
  uint32_t quals; /* pointer */
  ir_space space;
  uint64_t length; /* array */
  front_object **params;
  uint32_t param_count;
} layer;

enum { LAYER_LIMIT = 32, TYPE_DEPTH_LIMIT = 64 };
#define OBJECT_SIZE_LIMIT ((uint64_t)1 << 31)

typedef struct layers {
  layer items[LAYER_LIMIT];
  uint32_t count;
} layers;

static bool add_layer(front *f, layers *list, layer item) {
  if (list->count == LAYER_LIMIT) {
    front_syntax_error(f, "a declarator has more than %d pointers, arrays and parameter lists", LAYER_LIMIT);
    return false;
  }
  list->items[list->count++] = item;
  return true;
}

/* ---- Parameters ------------------------------------------------------------------------------------------------- */

/* The type name of a parameter for reflection: as in the source, without spaces and qualifiers, as clGetKernelArgInfo
 * gives it. */
static const char *parameter_type_name(front *f, const front_specifiers *specifiers, const front_type *type) {
  uint32_t stars = 0;
  while (type->kind == FRONT_POINTER) {
    type = type->elem;
    stars++;
  }
  qn_sv base = specifiers->spelled;
  if (base.size == 0 && type->kind == FRONT_RECORD) base = type->record->tag;
  if (base.size == 0) base = qn_sv_from(front_type_text(f, type->plain));
  char *text = qn_arena_printf(f->arena, "%.*s%.*s", QN_SV_ARG(base), (int)stars, "********************************");
  if (text == NULL) f->failed = true;
  return text;
}

static const front_type *adjusted_parameter(front *f, const front_declarator *d) {
  const front_type *type = d->type;
  if (type->kind == FRONT_ARRAY) return front_pointer(f, type->elem);
  if (type->kind == FRONT_ERROR) return type;
  const char *fault = NULL;
  if (type->kind == FRONT_FUNCTION) fault = "is a function; OpenCL C has no pointers to functions";
  if (type->kind == FRONT_VOID) fault = "has type void";
  if (type->space != IR_PRIVATE) fault = "can't have an address space; only what it points to can";
  if (fault != NULL) {
    front_error(f, d->loc, d->length, "a parameter %s", fault);
    return front_error_type(f);
  }
  return front_check_half(f, d->loc, d->length, type) ? type : front_error_type(f);
}

static front_object *parameter_declaration(front *f, uint32_t index) {
  front_specifiers specifiers;
  front_declarator d;
  if (!front_specifiers_read(f, &specifiers)) return NULL;
  if (!front_declarator_read(f, &specifiers, NAME_OPTIONAL, &d)) return NULL;
  front_attributes_read(f, &d.attributes);
  if (specifiers.storage != STORAGE_NONE) {
    front_error(f, specifiers.loc, specifiers.length, "a parameter has no storage class");
  }
  front_object *object = QN_ARENA_NEW(f->arena, front_object);
  if (object == NULL) {
    f->failed = true;
    return NULL;
  }
  object->kind = OBJECT_PARAM;
  object->index = index;
  object->loc = d.loc;
  object->length = d.length;
  if (d.name != NULL) object->name = d.name->text;
  object->name_entry = d.name;
  object->type = adjusted_parameter(f, &d);
  object->type_name = parameter_type_name(f, &specifiers, object->type);
  return object;
}

static bool is_void_alone(front *f) {
  if (!front_at_keyword(f, KW_VOID)) return false;
  const front_token *next = front_peek(f);
  return next->pp.kind == PP_PUNCT && next->pp.punct == PP_P_RPAREN;
}

enum { PARAMETER_LIMIT = 1024 };

/* Behind the opening parenthesis, to the closing one. */
static bool parameter_list(front *f, layer *out) {
  front_object **params = NULL;
  uint32_t count = 0, capacity = 0;
  if (is_void_alone(f)) front_next(f);
  bool is_open = !front_at(f, PP_P_RPAREN);
  while (is_open && !f->is_panicking) {
    if (front_at(f, PP_P_ELLIPSIS)) {
      front_syntax_error(f, "OpenCL C has no functions with a variable number of arguments");
      return false;
    }
    if (count == capacity) {
      capacity = capacity > 0 ? capacity * 2 : 8;
      front_object **grown = QN_ARENA_ARRAY(f->arena, front_object *, capacity);
      if (grown == NULL || count >= PARAMETER_LIMIT) {
        if (grown == NULL) f->failed = true;
        front_syntax_error(f, "a function has more than %d parameters", PARAMETER_LIMIT);
        return false;
      }
      if (count > 0) memcpy(grown, params, count * sizeof(params[0]));
      params = grown;
    }
    front_object *param = parameter_declaration(f, count);
    if (param == NULL) return false;
    params[count++] = param;
    is_open = front_accept(f, PP_P_COMMA);
  }
  out->params = params;
  out->param_count = count;
  return front_expect(f, PP_P_RPAREN, " after the parameters");
}

/* ---- Suffixes -----------------------------------------------------------------------------------------------------
 */

static bool array_suffix(front *f, layer *out) {
  out->kind = LAYER_ARRAY;
  out->length = FRONT_UNKNOWN_LENGTH;
  while (front_accept_keyword(f, KW_STATIC) || front_accept_keyword(f, KW_CONST) ||
         front_accept_keyword(f, KW_RESTRICT) || front_accept_keyword(f, KW_VOLATILE)) {
  }
  if (!front_at(f, PP_P_RBRACKET)) {
    front_expr *length;
    uint64_t value;
    if (!front_constant_expression(f, "the length of an array", &length, &value)) {
      out->length = 0; /* told */
    } else if (value == 0 || (length->type->is_signed && (int64_t)value < 0)) {
      front_error(f, length->loc, length->length, "an array has at least one element, not %lld", (long long)value);
      out->length = 0;
    } else {
      out->length = value;
    }
  }
  return front_expect(f, PP_P_RBRACKET, "");
}

static bool suffixes(front *f, layers *list) {
  layers found = {.count = 0};
  while (!f->is_panicking && (front_at(f, PP_P_LBRACKET) || front_at(f, PP_P_LPAREN))) {
    layer item = {.loc = f->tok.pp.loc, .kind = LAYER_FUNCTION};
    bool is_array = front_at(f, PP_P_LBRACKET);
    front_next(f);
    bool good = front_enter(f) && (is_array ? array_suffix(f, &item) : parameter_list(f, &item));
    front_leave(f);
    if (!good || !add_layer(f, &found, item)) return false;
  }
  for (uint32_t i = found.count; i > 0; i--) {
    if (!add_layer(f, list, found.items[i - 1])) return false;
  }
  return !f->is_panicking;
}

/* ---- Declarators ----------------------------------------------------------------------------------------------------
 */

static bool pointer_qualifier(front *f, layer *out) {
  switch ((front_keyword)f->tok.keyword) {
    case KW_CONST:
      out->quals |= FRONT_CONST;
      break;
    case KW_VOLATILE:
      out->quals |= FRONT_VOLATILE;
      break;
    case KW_RESTRICT:
      out->quals |= FRONT_RESTRICT;
      break;
    case KW_GLOBAL:
      out->space = IR_GLOBAL;
      break;
    case KW_LOCAL:
      out->space = IR_LOCAL;
      break;
    case KW_CONSTANT:
      out->space = IR_CONSTANT;
      break;
    case KW_PRIVATE:
      break;
    default:
      return false;
  }
  front_next(f);
  return true;
}

/* Whether '(' opens a declarator in parentheses, not the parameters of a function without a name. */
static bool is_nested(front *f, front_name_rule rule) {
  const front_token *next = front_peek(f);
  if (next->pp.kind == PP_IDENT)
    return next->keyword == KW_NONE && rule != NAME_FORBIDDEN && !front_token_starts_type(f, next);
  return next->pp.kind == PP_PUNCT &&
         (next->pp.punct == PP_P_STAR || next->pp.punct == PP_P_LPAREN || next->pp.punct == PP_P_LBRACKET);
}

static bool read_layers(front *f, front_name_rule rule, front_declarator *out, layers *list) {
  while (front_at(f, PP_P_STAR)) {
    layer item = {.loc = f->tok.pp.loc, .kind = LAYER_POINTER, .space = IR_PRIVATE};
    front_next(f);
    while (pointer_qualifier(f, &item)) {
    }
    if (front_at_keyword(f, KW_ATTRIBUTE)) front_attributes_read(f, &out->attributes);
    if (!add_layer(f, list, item)) return false;
  }
  if (front_at(f, PP_P_LPAREN) && is_nested(f, rule)) {
    front_next(f);
    layers *inner = QN_ARENA_NEW(f->arena, layers);
    if (inner == NULL) f->failed = true;
    bool good = front_enter(f) && inner != NULL && read_layers(f, rule, out, inner);
    front_leave(f);
    if (!good || !front_expect(f, PP_P_RPAREN, "") || !suffixes(f, list)) return false;
    for (uint32_t i = 0; i < inner->count; i++) {
      if (!add_layer(f, list, inner->items[i])) return false;
    }
    return true;
  }
  if (front_at_name(f) && rule != NAME_FORBIDDEN) {
    out->name = f->tok.pp.name;
    out->loc = f->tok.pp.loc;
    out->length = f->tok.pp.length;
    front_next(f);
  } else if (rule == NAME_NEEDED) {
    front_lose_name(f);
    if (f->last_space_word != NULL) {
      front_syntax_error(f, "expected a name, but '%.*s' is a keyword", QN_SV_ARG(f->last_space_word->text));
      f->told_keyword = f->last_space_word;
    } else if (f->tok.keyword != KW_NONE) {
      front_syntax_error(f, "expected a name, but '%.*s' is a keyword", QN_SV_ARG(f->tok.pp.text));
    } else {
      front_syntax_error(f, "expected a name");
    }
    return false;
  }
  return suffixes(f, list);
}

static const front_type *array_of(front *f, const layer *item, const front_type *elem) {
  if (item->length == 0) return front_error_type(f); /* told */
  const char *fault = NULL;
  if (elem->kind == FRONT_FUNCTION) fault = "an array can't have functions as elements";
  if (elem->kind == FRONT_ARRAY && elem->length == FRONT_UNKNOWN_LENGTH) {
    fault = "only the first length of an array may be left out";
  } else if (fault == NULL && !front_is_complete(elem)) {
    if (elem->kind == FRONT_RECORD && elem->record->is_failed) return front_error_type(f);
    fault = "the elements of an array have an incomplete type";
  }
  uint64_t size = fault == NULL ? front_sizeof(f, elem) : 1;
  if (fault == NULL && item->length != FRONT_UNKNOWN_LENGTH && size > 0 && item->length >= OBJECT_SIZE_LIMIT / size) {
    fault = "an array is larger than 2 GiB";
  }
  if (fault != NULL) {
    front_error(f, item->loc, 1, "%s", fault);
    return front_error_type(f);
  }
  return front_array(f, elem, item->length);
}

static const front_type *function_of(front *f, const layer *item, const front_type *result) {
  if (result->kind == FRONT_ARRAY || result->kind == FRONT_FUNCTION) {
    front_error(f, item->loc, 1, "a function can't return %s", result->kind == FRONT_ARRAY ? "an array" : "a function");
    return front_error_type(f);
  }
  const front_type **params = QN_ARENA_ARRAY(f->arena, const front_type *, item->param_count + 1);
  if (params == NULL) {
    f->failed = true;
    return front_error_type(f);
  }
  for (uint32_t i = 0; i < item->param_count; i++) {
    params[i] = item->params[i]->type->plain;
    if (params[i]->kind == FRONT_ERROR) return front_error_type(f);
  }
  return front_function_type(f, result->plain, params, item->param_count);
}

static const front_type *apply(front *f, const layer *item, const front_type *type) {
  if (type->kind == FRONT_ERROR) return type;
  switch (item->kind) {
    case LAYER_ARRAY:
      return array_of(f, item, type);
    case LAYER_FUNCTION:
      return function_of(f, item, type);
    default:
      break;
  }
  if (type->kind == FRONT_FUNCTION) {
    front_error(f, item->loc, 1, "OpenCL C has no pointers to functions");
    return front_error_type(f);
  }
  return front_qualify(f, front_pointer(f, type), item->quals, item->space);
}

bool front_declarator_read(front *f, const front_specifiers *specifiers, front_name_rule rule, front_declarator *out) {
  *out = (front_declarator){.loc = f->tok.pp.loc, .length = f->tok.pp.length, .type = specifiers->type};
  layers list = {.count = 0};
  bool good = front_enter(f) && read_layers(f, rule, out, &list);
  front_leave(f);
  if (!good) return false;
  for (uint32_t i = 0; i < list.count; i++) out->type = apply(f, &list.items[i], out->type);
  if (out->type->depth > TYPE_DEPTH_LIMIT) {
    front_error(f, out->loc, out->length, "a type is more than %d pointers and arrays deep", TYPE_DEPTH_LIMIT);
    out->type = front_error_type(f);
  }
  if (list.count > 0 && list.items[list.count - 1].kind == LAYER_FUNCTION) {
    out->is_function = true;
    out->params = list.items[list.count - 1].params;
    out->param_count = list.items[list.count - 1].param_count;
  }
  return true;
}

const front_type *front_type_name(front *f) {
  front_specifiers specifiers;
  front_declarator d;
  if (!front_specifiers_read(f, &specifiers)) return front_error_type(f);
  if (specifiers.storage != STORAGE_NONE || specifiers.is_kernel || specifiers.is_inline) {
    front_error(f, specifiers.loc, specifiers.length, "a type's name has no storage class");
  }
  if (!front_declarator_read(f, &specifiers, NAME_FORBIDDEN, &d)) return front_error_type(f);
  return d.type;
}
