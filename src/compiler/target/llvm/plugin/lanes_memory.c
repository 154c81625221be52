/* lanes_memory.c - the memory instructions: variables in registers, places in memory, copies, atomics. */
#include "lanes_place.h"

#define B (l->e->builder)

static access access_of(const ir_inst *inst, const ir_type *type) {
  bool packed = inst->op == IR_VLOAD || inst->op == IR_VSTORE;
  unsigned count = ir_lanes_of(type);
  uint64_t align = inst->imm ? inst->imm : type->align;
  if (packed) align = ir_elem_of(type)->align;
  return (access){
      .elem = ir_elem_of(type), .count = count, .room = count == 3 && !packed ? 4 : count, .align = (unsigned)align};
}

static void set_parts(lanes *l, ir_inst *inst, LLVMValueRef *parts) { lanes_info(l, inst)->parts = parts; }

static lane_var *register_of(const ir_inst *pointer) {
  lane_var *var = lanes_var(pointer);
  bool plain = var && var->layout == LAYOUT_REGISTER && var->ir->storage == IR_STORE_PLAIN;
  return plain ? var : NULL;
}

/* ---- Loads and stores
 * -------------------------------------------------------------------------------------------------- */

static LLVMValueRef read_slot(lanes *l, LLVMValueRef slot) {
  return LLVMBuildLoad2(B, LLVMGetAllocatedType(slot), slot, "");
}

static void load_register(lanes *l, ir_inst *inst, lane_var *var) {
  bool varying = var->shape.kind == SHAPE_VARYING;
  unsigned count = varying ? ir_lanes_of(inst->type) : 1;
  LLVMValueRef *parts = lanes_parts(l, count);
  if (!parts) return;
  for (unsigned c = 0; c < count; c++) parts[c] = read_slot(l, var->storage[c]);
  set_parts(l, inst, parts);
}

/* ---- Volatile: an access for each item, one after another
 * ---------------------------------------------------------------------------- */

static LLVMValueRef component(lanes *l, LLVMValueRef value, unsigned count, unsigned c) {
  return count == 1 ? value : LLVMBuildExtractElement(B, value, LLVMConstInt(l->e->i32, c, 0), "");
}

static void load_each(lanes *l, ir_inst *inst) {
  LLVMValueRef slots[16], pointers = lanes_pointers(l, inst->args[0]);
  LLVMTypeRef type = lanes_type(l, inst->type);
  unsigned count = ir_lanes_of(inst->type);
  LLVMValueRef *parts = lanes_parts(l, count);
  each_lane loop;
  if (!parts) return;
  for (unsigned c = 0; c < count; c++) {
    slots[c] = lanes_alloca(l, type);
    LLVMBuildStore(B, LLVMConstNull(type), slots[c]);
  }
  each_lane_open(l, &loop);
  LLVMValueRef value = emit_load(l->e, inst, LLVMBuildExtractElement(B, pointers, loop.lane, ""));
  for (unsigned c = 0; c < count; c++) {
    LLVMValueRef part = component(l, value, count, c);
    LLVMBuildStore(B, LLVMBuildInsertElement(B, read_slot(l, slots[c]), part, loop.lane, ""), slots[c]);
  }
  each_lane_close(l, &loop);
  for (unsigned c = 0; c < count; c++) parts[c] = read_slot(l, slots[c]);
  set_parts(l, inst, parts);
}

static LLVMValueRef value_of_lane(lanes *l, const ir_type *type, LLVMValueRef *parts, LLVMValueRef lane) {
  unsigned count = ir_lanes_of(type);
  if (count == 1) return LLVMBuildExtractElement(B, parts[0], lane, "");
  LLVMValueRef value = LLVMGetPoison(emit_type(l->e, type));
  for (unsigned c = 0; c < count; c++) {
    LLVMValueRef part = LLVMBuildExtractElement(B, parts[c], lane, "");
    value = LLVMBuildInsertElement(B, value, part, LLVMConstInt(l->e->i32, c, 0), "");
  }
  return value;
}

static void store_each(lanes *l, ir_inst *inst) {
  ir_inst *value = inst->args[1];
  LLVMValueRef parts[16], pointers = lanes_pointers(l, inst->args[0]);
  bool is_pointer = value->type->kind == IR_POINTER;
  for (unsigned c = 0; c < ir_lanes_of(value->type); c++)
    parts[c] = is_pointer ? lanes_pointers(l, value) : lanes_vector(l, value, c);
  each_lane loop;
  each_lane_open(l, &loop);
  LLVMValueRef one = value_of_lane(l, value->type, parts, loop.lane);
  emit_store(l->e, inst, LLVMBuildExtractElement(B, pointers, loop.lane, ""), one);
  each_lane_close(l, &loop);
}

void lanes_load(lanes *l, ir_inst *inst) {
  lane_var *var = register_of(inst->args[0]);
  if (var) {
    load_register(l, inst, var);
    return;
  }
  if (inst->flags & IR_VOLATILE) {
    load_each(l, inst);
    return;
  }
  access a = access_of(inst, inst->type);
  LLVMValueRef *parts = lanes_parts(l, a.count);
  if (!parts) return;
  if (lanes_info(l, inst)->shape.kind == SHAPE_UNIFORM)
    parts[0] = emit_load(l->e, inst, lanes_uniform(l, inst->args[0]));
  else
    place_load(l, lanes_place(l, inst->args[0]), &a, parts);
  set_parts(l, inst, parts);
}

static void store_register(lanes *l, ir_inst *inst, lane_var *var) {
  ir_inst *value = inst->args[1];
  if (var->shape.kind != SHAPE_VARYING) {
    bool wide = shape_is_wide(value->type, var->shape);
    LLVMValueRef store = LLVMBuildStore(B, lanes_base(l, value, wide), var->storage[0]);
    LLVMSetVolatile(store, stays_in_memory(inst->args[0]));
    return;
  }
  bool blend = l->mask && lanes_needs_blend(l, inst->parent, var->home);
  for (unsigned c = 0; c < ir_lanes_of(value->type); c++) {
    LLVMValueRef part = lanes_vector(l, value, c);
    if (blend) part = LLVMBuildSelect(B, l->mask, part, read_slot(l, var->storage[c]), "");
    LLVMBuildStore(B, part, var->storage[c]);
  }
}

void lanes_store(lanes *l, ir_inst *inst) {
  lane_var *var = register_of(inst->args[0]);
  if (var) {
    store_register(l, inst, var);
    return;
  }
  if (inst->flags & IR_VOLATILE) {
    store_each(l, inst);
    return;
  }
  ir_inst *pointer = inst->args[0], *value = inst->args[1];
  lane_var *root = lanes_root(l, pointer);
  bool one =
      !root && lanes_shape_of(l, pointer).kind == SHAPE_UNIFORM && lanes_shape_of(l, value).kind == SHAPE_UNIFORM;
  if (one) {
    emit_store(l->e, inst, lanes_uniform(l, pointer), lanes_uniform(l, value));
    return;
  }
  access a = access_of(inst, value->type);
  LLVMValueRef *parts = lanes_parts(l, a.count);
  if (!parts) return;
  for (unsigned c = 0; c < a.count; c++) parts[c] = lanes_vector(l, value, c);
  place_store(l, lanes_place(l, pointer), &a, parts, root && lanes_needs_blend(l, inst->parent, root->home));
}

/* ---- Copies
 * ---------------------------------------------------------------------------------------------------------------- */

enum { MOST_LEAVES = 64 };

static void copy_leaves(lanes *l, ir_inst *inst, const ir_type *type) {
  type_leaf leaves[MOST_LEAVES];
  uint64_t count = type_leaves(type, 0, leaves);
  place to = lanes_place(l, inst->args[0]), from = lanes_place(l, inst->args[1]);
  lane_var *root = to.var;
  bool blend = root && lanes_needs_blend(l, inst->parent, root->home);
  uint64_t align = inst->imm ? inst->imm : type->align;
  for (uint64_t i = 0; i < count; i++) {
    LLVMValueRef part;
    uint64_t natural = leaves[i].type->align;
    access a = {.elem = leaves[i].type, .count = 1, .room = 1, .align = (unsigned)(natural < align ? natural : align)};
    place source = place_at(l, from, leaves[i].offset), target = place_at(l, to, leaves[i].offset);
    if (!source.var && source.shape.kind == SHAPE_UNIFORM) {
      LLVMValueRef one = LLVMBuildLoad2(B, emit_memory_type(l->e, a.elem), source.base, "");
      LLVMSetAlignment(one, a.align);
      if (a.elem->kind == IR_BOOL) one = LLVMBuildTrunc(B, one, l->e->i1, "");
      part = lanes_spread(l, one);
    } else {
      place_load(l, source, &a, &part);
    }
    place_store(l, target, &a, &part, blend);
  }
}

static void copy_each(lanes *l, ir_inst *inst) {
  each_lane loop;
  LLVMValueRef to = lanes_pointers(l, inst->args[0]), from = lanes_pointers(l, inst->args[1]);
  each_lane_open(l, &loop);
  LLVMValueRef target = LLVMBuildExtractElement(B, to, loop.lane, "");
  LLVMValueRef source = LLVMBuildExtractElement(B, from, loop.lane, "");
  emit_copy(l->e, inst, target, source);
  each_lane_close(l, &loop);
}

void lanes_copy(lanes *l, ir_inst *inst) {
  const ir_type *type = inst->args[0]->type->elem;
  bool leaves = lanes_root(l, inst->args[0]) || lanes_root(l, inst->args[1]);
  bool one = !leaves && lanes_shape_of(l, inst->args[0]).kind == SHAPE_UNIFORM &&
             lanes_shape_of(l, inst->args[1]).kind == SHAPE_UNIFORM;
  if (inst->flags & IR_VOLATILE)
    copy_each(l, inst);
  else if (one)
    emit_copy(l->e, inst, lanes_uniform(l, inst->args[0]), lanes_uniform(l, inst->args[1]));
  else if (leaves || type_leaf_count(type) <= MOST_LEAVES)
    copy_leaves(l, inst, type);
  else
    copy_each(l, inst);
}

/* ---- Atomics
 * ------------------------------------------------------------------------------------------------------------------ */

typedef enum neutral { NEUTRAL_ZERO, NEUTRAL_ONES, NEUTRAL_LEAST, NEUTRAL_MOST } neutral;
typedef struct reduce_row {
  ir_rmw rmw;
  const char *intrinsic;
  neutral kind; /* what lanes that don't run give */
} reduce_row;

static const reduce_row reduce_rows[] = {
    {IR_RMW_ADD, "llvm.vector.reduce.add", NEUTRAL_ZERO},   {IR_RMW_SUB, "llvm.vector.reduce.add", NEUTRAL_ZERO},
    {IR_RMW_OR, "llvm.vector.reduce.or", NEUTRAL_ZERO},     {IR_RMW_XOR, "llvm.vector.reduce.xor", NEUTRAL_ZERO},
    {IR_RMW_AND, "llvm.vector.reduce.and", NEUTRAL_ONES},   {IR_RMW_UMAX, "llvm.vector.reduce.umax", NEUTRAL_ZERO},
    {IR_RMW_UMIN, "llvm.vector.reduce.umin", NEUTRAL_ONES}, {IR_RMW_SMAX, "llvm.vector.reduce.smax", NEUTRAL_LEAST},
    {IR_RMW_SMIN, "llvm.vector.reduce.smin", NEUTRAL_MOST},
};

static const reduce_row *find_reduction(lanes *l, const ir_inst *inst) {
  bool one = lanes_shape_of(l, inst->args[0]).kind == SHAPE_UNIFORM && !lanes_info(l, inst)->used;
  if (!one || inst->arg_count != 2 || inst->args[1]->type->kind != IR_INT) return NULL;
  for (size_t i = 0; i < sizeof reduce_rows / sizeof *reduce_rows; i++)
    if (reduce_rows[i].rmw == inst->u.atomic.rmw) return &reduce_rows[i];
  return NULL;
}

static uint64_t neutral_bits(const reduce_row *row, unsigned bits) {
  uint64_t top = 1ull << (bits - 1);
  switch (row->kind) {
    case NEUTRAL_ONES:
      return ~0ull;
    case NEUTRAL_LEAST:
      return top;
    case NEUTRAL_MOST:
      return top - 1;
    default:
      return 0;
  }
}

/* Many items on one counter whose old value nobody asks for: one addition of what they add together. */
static void reduced(lanes *l, ir_inst *inst, const reduce_row *row) {
  LLVMValueRef value = lanes_vector(l, inst->args[1], 0), args[2];
  LLVMTypeRef type = LLVMTypeOf(value);
  if (l->mask) value = LLVMBuildSelect(B, l->mask, value, int_splat(type, neutral_bits(row, elem_bits(type))), "");
  args[0] = lanes_uniform(l, inst->args[0]);
  args[1] = emit_intrinsic1(l->e, row->intrinsic, type, &value, 1);
  (void)emit_atomic(l->e, inst, args);
}

static LLVMValueRef operand_of_lane(lanes *l, ir_inst *operand, LLVMValueRef lane) {
  if (lanes_shape_of(l, operand).kind == SHAPE_UNIFORM) return lanes_uniform(l, operand);
  LLVMValueRef all = operand->type->kind == IR_POINTER ? lanes_pointers(l, operand) : lanes_vector(l, operand, 0);
  return LLVMBuildExtractElement(B, all, lane, "");
}

void lanes_atomic(lanes *l, ir_inst *inst) {
  const reduce_row *row = find_reduction(l, inst);
  LLVMValueRef args[3] = {NULL, NULL, NULL}, slot = NULL;
  bool gives = inst->type->kind != IR_VOID && lanes_info(l, inst)->used;
  each_lane loop;
  if (row) {
    reduced(l, inst, row);
    return;
  }
  if (gives) {
    LLVMTypeRef type = lanes_type(l, inst->type);
    slot = lanes_alloca(l, type);
    LLVMBuildStore(B, LLVMConstNull(type), slot);
  }
  each_lane_open(l, &loop);
  for (uint32_t i = 0; i < inst->arg_count && i < 3; i++) args[i] = operand_of_lane(l, inst->args[i], loop.lane);
  LLVMValueRef old = emit_atomic(l->e, inst, args);
  if (gives) LLVMBuildStore(B, LLVMBuildInsertElement(B, read_slot(l, slot), old, loop.lane, ""), slot);
  each_lane_close(l, &loop);
  if (!gives) return;
  LLVMValueRef *parts = lanes_parts(l, 1);
  if (parts) parts[0] = read_slot(l, slot);
  set_parts(l, inst, parts);
}
