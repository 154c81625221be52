#include "compiler/ir/intern.h"

static uint64_t saturate(uint64_t size) { return size > IR_SIZE_LIMIT ? IR_SIZE_LIMIT : size; }

static uint64_t round_up(uint64_t size, uint64_t align) { return saturate((size + align - 1) / align * align); }

static uint64_t times(uint64_t size, uint64_t count) {
  return count && size > IR_SIZE_LIMIT / count ? IR_SIZE_LIMIT : size * count;
}

ir_type *ir_type_alloc(ir_module *m, ir_kind kind, uint64_t size, uint64_t align) {
  ir_type *t = ir_alloc(m, sizeof *t);
  if (!t) return NULL;
  t->kind = kind;
  t->size = size;
  t->align = align;
  t->is_complete = true;
  t->id = m->intern->next_type_id++;
  t->next = m->types;
  m->types = t;
  return t;
}

const ir_type *ir_void(ir_module *m) { return m->intern->void_type; }
const ir_type *ir_bool(ir_module *m) { return m->intern->bool_type; }

const ir_type *ir_int(ir_module *m, uint32_t bits) {
  const ir_type *const *ints = m->intern->ints;
  return bits <= 8 ? ints[0] : bits <= 16 ? ints[1] : bits <= 32 ? ints[2] : ints[3];
}

const ir_type *ir_float(ir_module *m, uint32_t bits) {
  const ir_type *const *floats = m->intern->floats;
  return bits <= 16 ? floats[0] : bits <= 32 ? floats[1] : floats[2];
}

/* The derived type like `key`, from the table or made with key's size and alignment. */
static const ir_type *derived(ir_module *m, const ir_type *key) {
  uint64_t hash = ir_mix(key->kind, (uint64_t)(uintptr_t)key->elem);
  hash = ir_mix(ir_mix(ir_mix(hash, (uint64_t)key->space), key->count), key->length);
  for (ir_node *n = ir_table_first(&m->intern->types, hash); n; n = n->next) {
    const ir_type *t = n->object;
    if (n->hash == hash && t->kind == key->kind && t->elem == key->elem && t->space == key->space &&
        t->count == key->count && t->length == key->length)
      return t;
  }
  ir_type *t = ir_type_alloc(m, key->kind, key->size, key->align);
  if (!t) return m->intern->void_type;
  t->elem = key->elem;
  t->space = key->space;
  t->count = key->count;
  t->length = key->length;
  t->holds_pointer = key->kind == IR_POINTER || (key->kind == IR_ARRAY && key->elem->holds_pointer);
  return ir_table_add(m, &m->intern->types, hash, t) ? t : m->intern->void_type;
}

const ir_type *ir_vector(ir_module *m, const ir_type *elem, uint32_t count) {
  uint64_t size = elem->size * (count == 3 ? 4 : count);
  return derived(m, &(ir_type){.kind = IR_VECTOR, .elem = elem, .count = count, .size = size, .align = size});
}

const ir_type *ir_pointer(ir_module *m, ir_space space, const ir_type *elem) {
  uint64_t size = m->model.address_bits / 8;
  return derived(m, &(ir_type){.kind = IR_POINTER, .space = space, .elem = elem, .size = size, .align = size});
}

const ir_type *ir_array(ir_module *m, const ir_type *elem, uint64_t length) {
  ir_type key = {.kind = IR_ARRAY, .elem = elem, .length = length, .align = elem->align};
  key.size = times(elem->size, length);
  return derived(m, &key);
}

ir_type *ir_struct_new(ir_module *m, const char *name) {
  const char *unique = ir_unique_name(m, m, name && *name ? name : "struct");
  ir_type *t = unique ? ir_type_alloc(m, IR_STRUCT, 0, 1) : NULL;
  if (!t) return m->intern->spare_struct;
  t->name = unique;
  t->is_complete = false;
  return t;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Places fields one after another, or all at 0; leaves size and alignment in `t`. */
static void place_fields(ir_type *t) {
  uint64_t at = 0, end = 0, align = 1;
  for (uint32_t i = 0; i < t->field_count; i++) {
    ir_field *field = &t->fields[i];
    uint64_t field_align = larger(t->is_packed ? 1 : field->type->align, field->align);
    align = larger(align, field_align);
    field->offset = t->is_union ? 0 : round_up(at, field_align);
    at = saturate(field->offset + field->type->size);
    end = larger(end, at);
  }
  t->align = larger(align, t->declared_align);
  t->size = round_up(end, t->align);
}

void ir_struct_complete(ir_module *m, ir_type *type, const ir_type *const *fields, const char *const *names,
                        const uint64_t *aligns, uint32_t count, bool is_union, bool is_packed, uint64_t align) {
  if (type == m->intern->spare_struct) return;
  type->fields = ir_alloc_array(m, sizeof *type->fields, count);
  if (!type->fields) return;
  for (uint32_t i = 0; i < count; i++) {
    const char *name = names && names[i] ? qn_arena_copy(m->arena, qn_sv_from(names[i])) : NULL;
    type->holds_pointer |= fields[i]->holds_pointer;
    type->fields[i] = (ir_field){.type = fields[i], .align = aligns ? aligns[i] : 0, .name = name};
  }
  type->field_count = count;
  type->is_union = is_union;
  type->is_packed = is_packed;
  type->declared_align = align;
  type->is_complete = true;
  type->id = m->intern->next_type_id++;
  place_fields(type);
}

const ir_type *ir_with_elem(ir_module *m, const ir_type *type, const ir_type *elem) {
  return type->kind == IR_VECTOR ? ir_vector(m, elem, type->count) : elem;
}

const ir_type *ir_bool_like(ir_module *m, const ir_type *type) { return ir_with_elem(m, type, ir_bool(m)); }

const ir_type *ir_size_type(ir_module *m) { return ir_int(m, m->model.address_bits); }
