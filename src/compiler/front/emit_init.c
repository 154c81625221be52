#include "compiler/front/convert.h"
#include "compiler/front/emit.h"

/* Up to this many leaves are stored one by one; more come as a copy of a constant. */
enum { FEW_LEAVES = 16 };

/* How many scalars and vectors a type has, up to more than a few. */
static uint64_t leaf_count(const front_type *type) {
  if (type->kind == FRONT_ARRAY) {
    if (type->length > FEW_LEAVES) return FEW_LEAVES + 1;
    uint64_t each = leaf_count(type->elem);
    return each > FEW_LEAVES ? each : each * type->length;
  }
  if (type->kind != FRONT_RECORD) return 1;
  if (type->record->is_union) return FEW_LEAVES + 1;
  uint64_t count = 0;
  for (uint32_t i = 0; i < type->record->member_count && count <= FEW_LEAVES; i++) {
    count += leaf_count(type->record->members[i].type);
  }
  return count;
}

static const front_type *child_type(const front_type *type, uint64_t i) {
  return type->kind == FRONT_ARRAY ? type->elem : type->record->members[i].type;
}
static uint64_t child_total(const front_type *type) {
  return type->kind == FRONT_ARRAY ? type->length : type->record->member_count;
}

static ir_inst *child_pointer(front *f, const front_type *type, ir_inst *pointer, uint64_t i) {
  if (type->kind == FRONT_RECORD) return ir_field_at(&f->b, pointer, (uint32_t)i);
  return ir_index(&f->b, pointer, ir_const_int(f->m, ir_size_type(f->m), i));
}

/* A member of a packed record may be aligned less than its type. */
static front_place leaf_place(ir_inst *pointer, bool is_packed) {
  return (front_place){.kind = PLACE_MEMORY, .pointer = pointer, .align = is_packed ? 1 : 0};
}

static void store_leaf(front *f, front_expr *value, const front_type *type, ir_inst *pointer, bool is_packed) {
  front_place target = leaf_place(pointer, is_packed);
  if (front_is_aggregate(type)) {
    front_place source = front_emit_place(f, value);
    front_copy(f, &target, &source);
  } else {
    front_store(f, &target, front_emit_value(f, value));
  }
}

/* Every leaf by a store, zeros too. */
static void store_all(front *f, const front_init *init, const front_type *type, ir_inst *pointer, bool is_packed) {
  if (init != NULL && init->value != NULL) {
    store_leaf(f, init->value, type, pointer, is_packed);
    return;
  }
  if (!front_is_aggregate(type)) {
    front_place target = leaf_place(pointer, is_packed);
    front_store(f, &target, ir_zero(f->m, front_ir(f, type)));
    return;
  }
  if (type->kind == FRONT_RECORD) is_packed |= type->record->is_packed;
  for (uint64_t i = 0; i < child_total(type); i++) {
    const front_init *child = init != NULL && i < init->count ? init->children[i] : NULL;
    store_all(f, child, child_type(type, i), child_pointer(f, type, pointer, i), is_packed);
  }
}

/* ---- A constant image, then what isn't constant -------------------------------------------------------------------
 */

/* The constant part of an initialiser; what isn't constant is zero there. */
static ir_inst *constant_part(front *f, const front_init *init, const front_type *type) {
  ir_inst *zero = ir_zero(f->m, front_ir(f, type));
  if (init == NULL) return zero;
  if (init->value != NULL) {
    ir_inst *constant = front_is_aggregate(type) || front_is_pointer(type) ? NULL : front_fold(f, init->value);
    return constant != NULL ? constant : zero;
  }
  bool is_union = type->kind == FRONT_RECORD && type->record->is_union;
  uint64_t count = type->kind == FRONT_ARRAY || is_union ? init->count : child_total(type);
  ir_inst **parts = QN_ARENA_ARRAY(f->arena, ir_inst *, count + 1);
  if (parts == NULL) {
    f->failed = true;
    return zero;
  }
  for (uint64_t i = 0; i < count; i++) {
    const front_init *child = i < init->count ? init->children[i] : NULL;
    if (is_union && child == NULL) continue;
    ir_inst *part = constant_part(f, child, child_type(type, i));
    if (is_union) return ir_const_aggregate(f->m, front_ir(f, type), &part, 1);
    parts[i] = part;
  }
  return is_union ? zero : ir_const_aggregate(f->m, front_ir(f, type), parts, (uint32_t)count);
}

static bool is_folded(front *f, const front_init *init) {
  return !front_is_aggregate(init->type) && !front_is_pointer(init->type) && front_fold(f, init->value) != NULL;
}

static void store_rest(front *f, const front_init *init, const front_type *type, ir_inst *pointer, bool is_packed) {
  if (init->value != NULL) {
    if (!is_folded(f, init)) store_leaf(f, init->value, type, pointer, is_packed);
    return;
  }
  if (type->kind == FRONT_RECORD) is_packed |= type->record->is_packed;
  for (uint64_t i = 0; i < init->count; i++) {
    const front_init *child = init->children[i];
    if (child == NULL || (child->value != NULL && is_folded(f, child))) continue;
    store_rest(f, child, child_type(type, i), child_pointer(f, type, pointer, i), is_packed);
  }
}

void front_emit_init(front *f, const front_init *init, ir_inst *pointer) {
  const front_type *type = init->type;
  if (init->value != NULL || leaf_count(type) <= FEW_LEAVES) {
    store_all(f, init, type, pointer, false);
    return;
  }
  ir_inst *image = constant_part(f, init, type);
  ir_var *var = ir_var_constant(f->m, "initial", image->type, image);
  front_place target = {.kind = PLACE_MEMORY, .pointer = pointer};
  front_place source = {.kind = PLACE_MEMORY, .pointer = var->address};
  front_copy(f, &target, &source);
  store_rest(f, init, type, pointer, false);
}
