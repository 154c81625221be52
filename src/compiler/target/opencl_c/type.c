/* type.c - types as OpenCL C spells them. */
#include <inttypes.h>
#include <string.h>

#include "compiler/target/opencl_c/emit.h"

static const char *keep(emitter *e, const char *text) {
  if (text) return text;
  e->failed = true;
  return "";
}

/* ---- Numbers ---- */

static const char *scalar_name(emitter *e, const ir_type *type, bool is_signed) {
  static const char *const ints[][2] = {
      [1] = {"uchar", "char"}, [2] = {"ushort", "short"}, [4] = {"uint", "int"}, [8] = {"ulong", "long"}};
  if (type->kind == IR_BOOL) return "bool";
  if (type->kind == IR_INT) return ints[type->bits / 8][is_signed];
  if (type->kind != IR_FLOAT) return "void";
  e->uses_double |= type->bits == 64;
  e->uses_half |= type->bits == 16;
  return type->bits == 16 ? "half" : type->bits == 32 ? "float" : "double";
}

const char *number_name(emitter *e, const ir_type *type, bool is_signed) {
  const char *name = scalar_name(e, ir_elem_of(type), is_signed);
  return type->kind == IR_VECTOR ? keep(e, qn_arena_printf(e->arena, "%s%u", name, type->count)) : name;
}

const char *mask_name(emitter *e, uint32_t lanes, uint32_t bits) {
  return number_name(e, ir_vector(e->m, ir_int(e->m, bits), lanes), true);
}

/* In memory a bool is a byte, and a half is its bits where there is no arithmetic of halves. */
static const ir_type *stored_type(emitter *e, const ir_type *type) {
  const ir_type *elem = ir_elem_of(type);
  if (elem->kind == IR_BOOL) return ir_with_elem(e->m, type, ir_int(e->m, 8));
  bool is_half = elem->kind == IR_FLOAT && elem->bits == 16;
  return is_half && !e->m->model.has_half ? ir_with_elem(e->m, type, ir_int(e->m, 16)) : type;
}

static bool stored_sign(const ir_type *type, bool is_signed) {
  return ir_elem_of(type)->kind == IR_INT ? is_signed : false;
}

const char *space_word(emitter *e, ir_space space) {
  static const char *const words[] = {
      [IR_PRIVATE] = "", [IR_GLOBAL] = "global ", [IR_CONSTANT] = "constant ", [IR_LOCAL] = "local "};
  if (space != IR_GENERIC) return words[space];
  emit_refuse(e, NULL, "pointers of the generic address space");
  return "";
}

/* ---- Definitions of our own ---- */

/* A definition is written apart, then put behind those that it needed, which are there by then. */
typedef struct definition {
  qn_bytes text;
  qn_bytes *out;
  uint32_t indent;
} definition;

static void begin(emitter *e, definition *d) {
  *d = (definition){.out = e->out, .indent = e->indent};
  e->out = &d->text;
  e->indent = 0;
}

static void end(emitter *e, definition *d) {
  e->out = d->out;
  e->indent = d->indent;
  qn_bytes_append_sv(&e->types, qn_bytes_view(&d->text));
  e->failed |= d->text.failed;
  qn_bytes_free(&d->text);
}

/* What tells a type of our own from others: how it is declared. */
static const char *key_of(emitter *e, const char *kind, const ir_type *type, bool is_signed) {
  definition d;
  begin(e, &d);
  put(e, kind);
  put_memory_declaration(e, type, is_signed, "", 0);
  const char *key = keep(e, qn_arena_copy(e->arena, qn_bytes_view(&d.text)));
  d.text.size = 0;
  end(e, &d);
  return key;
}

/* The type's name, for one of our own: "packed_float", "float4_16". */
static const char *word_for(emitter *e, const char *kind, const ir_type *type, bool is_signed) {
  if (type->kind == IR_ARRAY) {
    const char *elem = word_for(e, kind, type->elem, is_signed);
    return keep(e, qn_arena_printf(e->arena, "%s_%" PRIu64, elem, type->length));
  }
  const char *name = type->kind == IR_STRUCT    ? type->name
                     : type->kind == IR_POINTER ? "pointer"
                                                : number_name(e, stored_type(e, type), stored_sign(type, is_signed));
  return keep(e, qn_arena_printf(e->arena, "%s%s", kind, name));
}

static const char *remember(emitter *e, const char *key, const char *name) {
  if (!qn_map_set(&e->made, qn_sv_from(key), (void *)(uintptr_t)name)) e->failed = true;
  return name;
}

static const char *array_name(emitter *e, const ir_type *type, bool is_signed) {
  const char *key = key_of(e, "array ", type, is_signed);
  const char *known = qn_map_get(&e->made, qn_sv_from(key));
  if (known) return known;
  const char *name = remember(e, key, text_name_own(&e->names, word_for(e, "", type, is_signed)));
  definition d;
  begin(e, &d);
  put(e, "typedef ");
  put_memory_declaration(e, type, is_signed, name, 0);
  put(e, ";\n");
  end(e, &d);
  return name;
}

const char *wrapper_name(emitter *e, const ir_type *type, bool is_signed, bool is_packed) {
  const char *kind = is_packed ? "packed " : "whole ";
  const char *key = key_of(e, kind, type, is_signed);
  const char *known = qn_map_get(&e->made, qn_sv_from(key));
  if (known) return known;
  const char *word = word_for(e, is_packed ? "packed_" : "whole_", type, is_signed);
  const char *name = keep(e, qn_arena_printf(e->arena, "struct %s", text_name_own(&e->names, word)));
  remember(e, key, name);
  definition d;
  begin(e, &d);
  putf(e, "%s {\n  ", name);
  put_memory_declaration(e, type, is_signed, "value", 0);
  putf(e, ";\n}%s;\n", is_packed ? " __attribute__((packed))" : "");
  end(e, &d);
  return name;
}

/* ---- Structs ---- */

static bool has_field(const ir_type *type, const char *name) {
  for (uint32_t i = 0; i < type->field_count; i++)
    if (type->fields[i].name && strcmp(type->fields[i].name, name) == 0) return true;
  return false;
}

const char *field_name(emitter *e, const ir_type *type, uint32_t field) {
  const char *name = type->fields[field].name;
  if (name && *name && *name != '_' && !is_reserved_word(qn_sv_from(name))) return name;
  name = keep(e, qn_arena_printf(e->arena, "f%u", field));
  return has_field(type, name) ? keep(e, qn_arena_printf(e->arena, "%sfield_%u", e->names.prefix, field)) : name;
}

static void put_fields(emitter *e, const ir_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    put(e, "  ");
    put_memory_declaration(e, type->fields[i].type, text_field_is_signed(&e->signs, type, i), field_name(e, type, i),
                           type->fields[i].align);
    put(e, ";\n");
  }
}

static void put_attributes(emitter *e, const ir_type *type) {
  if (type->is_packed) put(e, " __attribute__((packed))");
  if (type->declared_align) putf(e, " __attribute__((aligned(%" PRIu64 ")))", type->declared_align);
}

/* The driver's compiler must lay it out as we do; if it doesn't, it says so here. */
static void put_size_check(emitter *e, const ir_type *type, const char *name) {
  const char *check = text_name_own(&e->names, keep(e, qn_arena_printf(e->arena, "size_of_%s", type->name)));
  putf(e, "typedef char %s[sizeof(%s) == %" PRIu64 " ? 1 : -1];\n", check, name, type->size);
}

/* A struct may hold pointers to itself: its name is known before its fields are. */
static const char *struct_name(emitter *e, const ir_type *type) {
  if (e->structs[type->id]) return e->structs[type->id];
  const char *word = type->is_union ? "union" : "struct";
  const char *name = keep(e, qn_arena_printf(e->arena, "%s %s", word, text_name_global(&e->names, type->name)));
  e->structs[type->id] = name;
  definition d;
  begin(e, &d);
  putf(e, "%s", name);
  if (type->is_complete) {
    put(e, " {\n");
    put_fields(e, type);
    put(e, "}");
    put_attributes(e, type);
  }
  put(e, ";\n");
  if (type->is_complete) put_size_check(e, type, name);
  end(e, &d);
  return name;
}

/* ---- All types ---- */

void put_memory_type(emitter *e, const ir_type *type, bool is_signed) {
  switch (type->kind) {
    case IR_STRUCT:
      put(e, struct_name(e, type));
      return;
    case IR_ARRAY:
      put(e, array_name(e, type, is_signed));
      return;
    case IR_POINTER:
      put_pointer_type(e, type, is_signed, "");
      return;
    default:
      put(e, number_name(e, stored_type(e, type), stored_sign(type, is_signed)));
  }
}

void put_pointer_type(emitter *e, const ir_type *type, bool is_signed, const char *word) {
  const ir_type *to = type->elem;
  const char *space = space_word(e, type->space);
  if (to->kind == IR_POINTER) { /* a star's qualifiers stand behind it */
    put_pointer_type(e, to, is_signed, "");
    putf(e, "%s%s%s*", space, word, *word ? " " : "");
    return;
  }
  putf(e, "%s%s%s", space, word, *word ? " " : "");
  put_memory_type(e, to, is_signed);
  put(e, " *");
}

const char *pointer_name(emitter *e, const ir_type *type, bool is_signed, bool is_const) {
  size_t start = e->out->size;
  put_pointer_type(e, type, is_signed, is_const ? "const" : "");
  const char *name = "";
  if (!e->out->failed) name = keep(e, qn_arena_copy(e->arena, qn_sv_make(e->out->data + start, e->out->size - start)));
  e->out->size = start;
  return name;
}

void put_value_type(emitter *e, const ir_type *type, bool is_signed, bool is_const, uint32_t mask) {
  if (type->kind == IR_POINTER)
    put_pointer_type(e, type, is_signed, is_const ? "const" : "");
  else if (type->kind == IR_VECTOR && type->elem->kind == IR_BOOL)
    put(e, mask_name(e, type->count, mask ? mask : 32));
  else
    put(e, number_name(e, type, is_signed));
}

void put_memory_declaration(emitter *e, const ir_type *type, bool is_signed, const char *name, uint64_t align) {
  put_variable_declaration(e, type, is_signed, IR_PRIVATE, name, align);
}

void put_variable_declaration(emitter *e, const ir_type *type, bool is_signed, ir_space space, const char *name,
                              uint64_t align) {
  const ir_type *elem = type;
  while (elem->kind == IR_ARRAY) elem = elem->elem;
  bool is_pointer = elem->kind == IR_POINTER; /* what is said of it stands behind its star */
  if (!is_pointer) put(e, space_word(e, space));
  put_memory_type(e, elem, is_signed);
  putf(e, "%s%s", is_pointer ? space_word(e, space) : " ", name);
  for (; type->kind == IR_ARRAY; type = type->elem) {
    if (type->length > 0)
      putf(e, "[%" PRIu64 "]", type->length);
    else
      put(e, "[]"); /* only pointed to */
  }
  if (align) putf(e, " __attribute__((aligned(%" PRIu64 ")))", align);
}
