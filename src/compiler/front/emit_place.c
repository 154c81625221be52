#include "compiler/front/emit.h"

/* ---- Variables ----------------------------------------------------------------------------------------------------
 */

ir_var *front_temporary(front *f, const char *name, const front_type *type) {
  return ir_var_private(f->b.f, name, front_ir(f, type));
}

static const char *name_of(front *f, const front_object *object) {
  const char *name = qn_arena_copy(f->arena, object->name.size > 0 ? object->name : QN_SV("tmp"));
  if (name == NULL) f->failed = true;
  return name != NULL ? name : "tmp";
}

ir_var *front_constant_var(front *f, front_object *object) {
  if (object->var == NULL) {
    object->var = ir_var_constant(f->m, name_of(f, object), front_ir(f, object->type), object->initial);
    object->var->align = object->align;
  }
  return object->var;
}

ir_var *front_string_var(front *f, const front_expr *e) {
  uint64_t size = e->type->length;
  ir_inst **parts = QN_ARENA_ARRAY(f->arena, ir_inst *, size);
  if (parts == NULL) {
    f->failed = f->m->failed = true;
    size = 0;
  }
  const ir_type *byte = ir_int(f->m, 8);
  for (uint64_t i = 0; i < size; i++) {
    unsigned char c = i < e->u.string.size ? (unsigned char)e->u.string.data[i] : 0;
    parts[i] = ir_const_int(f->m, byte, c);
  }
  const ir_type *type = front_ir(f, e->type);
  ir_inst *init = size > 0 ? ir_const_aggregate(f->m, type, parts, (uint32_t)size) : ir_zero(f->m, type);
  return ir_var_constant(f->m, "string", type, init);
}

static ir_var *object_var(front *f, front_object *object) {
  if (object->kind == OBJECT_CONSTANT) return front_constant_var(f, object);
  if (object->var != NULL) return object->var;
  const char *name = name_of(f, object);
  const ir_type *type = front_ir(f, object->type);
  object->var = object->kind == OBJECT_LOCAL ? ir_var_local(f->b.f, name, type) : ir_var_private(f->b.f, name, type);
  object->var->align = object->align;
  return object->var;
}

/* ---- Places
 * ------------------------------------------------------------------------------------------------------------ */

static front_place memory(ir_inst *pointer, const front_type *type) {
  return (front_place){.kind = PLACE_MEMORY, .pointer = pointer, .is_volatile = (type->quals & FRONT_VOLATILE) != 0};
}

static front_place object_place(front *f, const front_expr *e) {
  front_object *object = e->u.object;
  if (object->constant != NULL && (f->is_folding || !object->is_assigned))
    return (front_place){.kind = PLACE_VALUE, .value = object->constant};
  if (object->value != NULL) {
    if (object->type->kind == FRONT_RECORD) return memory(object->value, object->type); /* a byval parameter */
    return (front_place){.kind = PLACE_VALUE, .value = object->value};
  }
  return memory(object_var(f, object)->address, object->type);
}

/* The largest power of two that divides x, at most `limit`. */
static uint64_t divisor(uint64_t x, uint64_t limit) {
  uint64_t power = x & (~x + 1);
  return x == 0 || power > limit ? limit : power;
}

static front_place member_place(front *f, front_expr *e) {
  front_place outer = front_emit_place(f, e->a);
  const front_record *record = e->a->type->record;
  const ir_field *field = &record->ir->fields[e->u.member];
  front_place place = memory(ir_field_at(&f->b, outer.pointer, e->u.member), e->type);
  uint64_t known = outer.align != 0 ? outer.align : record->ir->align;
  uint64_t align = divisor(field->offset, known);
  if (align < field->type->align) place.align = align;
  place.is_volatile |= outer.is_volatile;
  return place;
}

/* Whether a pointer is an array's element by index, so that the path can go through the array. */
static bool is_array_element(const front_expr *pointer) {
  return pointer->kind == EXPR_POINTER_ADD && pointer->a->kind == EXPR_DECAY && pointer->op == OP_ADD;
}

/* An element's alignment in an array that is aligned less than its type. */
static uint64_t element_align(front *f, uint64_t known, const front_type *elem) {
  if (known == 0) return 0;
  uint64_t align = divisor(front_sizeof(f, elem), known);
  return align < front_alignof(f, elem) ? align : 0;
}

static front_place deref_place(front *f, front_expr *e) {
  front_expr *pointer = e->a;
  bool is_first = pointer->kind == EXPR_DECAY; /* *array */
  if (!is_first && !is_array_element(pointer)) return memory(front_emit_value(f, pointer), e->type);
  front_place array = front_emit_place(f, is_first ? pointer->a : pointer->a->a);
  ir_inst *index = is_first ? ir_const_int(f->m, ir_size_type(f->m), 0)
                            : front_emit_index(f, front_emit_value(f, pointer->b), pointer->b->type);
  f->b.loc = e->loc;
  front_place place = memory(ir_index(&f->b, array.pointer, index), e->type);
  place.align = element_align(f, array.align, e->type);
  place.is_volatile |= array.is_volatile;
  return place;
}

static front_place lanes_place(front *f, front_expr *e) {
  front_place vector = front_emit_place(f, e->a);
  if (e->kind == EXPR_LANE) {
    ir_inst *index = front_emit_value(f, e->b);
    if (vector.kind == PLACE_VALUE) {
      return (front_place){.kind = PLACE_VALUE, .value = ir_extract(&f->b, vector.value, index)};
    }
    vector.kind = PLACE_LANE;
    vector.index = index;
    return vector;
  }
  if (vector.kind == PLACE_VALUE) {
    return (front_place){.kind = PLACE_VALUE, .value = front_emit_lanes(f, vector.value, e)};
  }
  vector.kind = PLACE_LANES;
  vector.lanes = e;
  return vector;
}

/* A record that is chosen: copied into a variable. */
static front_place chosen_record(front *f, front_expr *e) {
  ir_var *var = front_temporary(f, "choice", e->type);
  ir_inst *branch = ir_if(&f->b, front_emit_truth(f, e->a));
  front_place target = memory(var->address, e->type->plain);
  if (f->m->failed) return target;
  for (int i = 0; i < 2; i++) {
    ir_block *outside = ir_into(&f->b, branch->u.ctrl.blocks[i]);
    front_place source = front_emit_place(f, i == 0 ? e->b : e->c);
    front_copy(f, &target, &source);
    ir_into(&f->b, outside);
  }
  return target;
}

static front_place literal_place(front *f, const front_expr *e) {
  ir_var *var = front_temporary(f, "literal", e->type);
  front_emit_init(f, e->u.object->init, var->address);
  return memory(var->address, e->type);
}

front_place front_emit_place(front *f, front_expr *e) {
  switch (e->kind) {
    case EXPR_OBJECT:
      return object_place(f, e);
    case EXPR_LITERAL:
      return literal_place(f, e);
    case EXPR_STRING:
      return memory(front_string_var(f, e)->address, e->type);
    case EXPR_DEREF:
      return deref_place(f, e);
    case EXPR_MEMBER:
      return member_place(f, e);
    case EXPR_SWIZZLE:
    case EXPR_LANE:
      return lanes_place(f, e);
    case EXPR_COMMA:
      front_emit_effect(f, e->a);
      return front_emit_place(f, e->b);
    case EXPR_ASSIGN:
      if (e->type->kind == FRONT_RECORD) {
        front_emit_effect(f, e);
        return front_emit_place(f, e->a);
      }
      break;
    case EXPR_CONDITIONAL:
      if (e->type->kind == FRONT_RECORD) return chosen_record(f, e);
      break;
    default:
      break;
  }
  ir_inst *value = front_emit_value(f, e);
  /* A call that returns a record gives the pointer to it. */
  if (e->type->kind == FRONT_RECORD) return memory(value, e->type);
  return (front_place){.kind = PLACE_VALUE, .value = value};
}

/* ---- Loads and stores
 * ------------------------------------------------------------------------------------------------ */

static ir_inst *note_access(const front_place *place, ir_inst *inst, uint64_t align) {
  if (inst->parent == NULL) return inst;
  inst->imm = align;
  if (place->is_volatile) inst->flags |= IR_VOLATILE;
  return inst;
}

ir_inst *front_emit_lanes(front *f, ir_inst *vector, const front_expr *swizzle) {
  uint32_t count = swizzle->u.swizzle.count;
  const uint8_t *lanes = swizzle->u.swizzle.lanes;
  if (f->m->failed) return vector;
  if (count == 1) {
    if (lanes[0] == FRONT_NO_LANE) return ir_undef(f->m, vector->type->elem);
    return ir_extract_at(&f->b, vector, lanes[0]);
  }
  int32_t mask[16];
  bool is_whole = count == vector->type->count;
  for (uint32_t i = 0; i < count; i++) {
    mask[i] = lanes[i] == FRONT_NO_LANE ? -1 : (int32_t)lanes[i];
    is_whole = is_whole && mask[i] == (int32_t)i;
  }
  return is_whole ? vector : ir_shuffle(&f->b, vector, vector, mask, count);
}

/* A pointer to one lane, and its alignment for an access. */
static ir_inst *lane_pointer(front *f, const front_place *place, ir_inst *index) {
  return ir_index(&f->b, place->pointer, index);
}
static uint64_t lane_align(const front_place *place) {
  const ir_type *elem = place->pointer->type->elem->elem;
  return place->align != 0 && place->align < elem->align ? place->align : 0;
}

static ir_inst *lane_number(front *f, uint32_t lane) { return ir_const_int(f->m, ir_int(f->m, 32), lane); }

/* Private vectors are read and written whole, so that they can live in registers; elsewhere other work-items may use
 * the other lanes. */
static bool is_private(const front_place *place) { return place->pointer->type->space == IR_PRIVATE; }

static ir_inst *load_whole(front *f, const front_place *place) {
  return note_access(place, ir_load(&f->b, place->pointer), place->align);
}

ir_inst *front_load(front *f, const front_place *place) {
  if (f->m->failed) return ir_undef(f->m, ir_int(f->m, 32));
  switch (place->kind) {
    case PLACE_VALUE:
      return place->value;
    case PLACE_MEMORY:
      return load_whole(f, place);
    case PLACE_LANES: {
      const front_expr *e = place->lanes;
      bool is_one = e->u.swizzle.count == 1 && e->u.swizzle.lanes[0] != FRONT_NO_LANE && !is_private(place);
      if (!is_one) return front_emit_lanes(f, load_whole(f, place), e);
      ir_inst *pointer = lane_pointer(f, place, lane_number(f, e->u.swizzle.lanes[0]));
      return note_access(place, ir_load(&f->b, pointer), lane_align(place));
    }
    default:
      if (is_private(place)) return ir_extract(&f->b, load_whole(f, place), place->index);
      return note_access(place, ir_load(&f->b, lane_pointer(f, place, place->index)), lane_align(place));
  }
}

static void store_lanes(front *f, const front_place *place, ir_inst *value) {
  uint32_t count = place->lanes->u.swizzle.count;
  const uint8_t *lanes = place->lanes->u.swizzle.lanes;
  ir_inst *whole = is_private(place) ? load_whole(f, place) : NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (lanes[i] == FRONT_NO_LANE) continue;
    ir_inst *scalar = count == 1 ? value : ir_extract_at(&f->b, value, i);
    ir_inst *number = lane_number(f, lanes[i]);
    if (whole != NULL) {
      whole = ir_insert(&f->b, whole, scalar, number);
    } else {
      (void)note_access(place, ir_store(&f->b, lane_pointer(f, place, number), scalar), lane_align(place));
    }
  }
  if (whole != NULL) (void)note_access(place, ir_store(&f->b, place->pointer, whole), place->align);
}

void front_store(front *f, const front_place *place, ir_inst *value) {
  if (f->m->failed) return;
  switch (place->kind) {
    case PLACE_VALUE:
      return; /* never an lvalue that is written */
    case PLACE_MEMORY:
      (void)note_access(place, ir_store(&f->b, place->pointer, value), place->align);
      return;
    case PLACE_LANES:
      store_lanes(f, place, value);
      return;
    case PLACE_LANE:
      if (is_private(place)) {
        ir_inst *whole = ir_insert(&f->b, load_whole(f, place), value, place->index);
        (void)note_access(place, ir_store(&f->b, place->pointer, whole), place->align);
      } else {
        (void)note_access(place, ir_store(&f->b, lane_pointer(f, place, place->index), value), lane_align(place));
      }
  }
}

void front_copy(front *f, const front_place *target, const front_place *source) {
  if (f->m->failed || target->pointer == source->pointer) return;
  uint64_t align = target->align;
  if (source->align != 0 && (align == 0 || source->align < align)) align = source->align;
  ir_inst *copy = ir_copy(&f->b, target->pointer, source->pointer);
  (void)note_access(target, copy, align);
  if (copy->parent != NULL && source->is_volatile) copy->flags |= IR_VOLATILE;
}
