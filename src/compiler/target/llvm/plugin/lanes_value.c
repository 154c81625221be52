/* lanes_value.c - operands in the form that their user wants: one for all lanes, lane 0's, or one a lane. */
#include "lanes.h"

#define B (l->e->builder)

LLVMValueRef *lanes_parts(lanes *l, unsigned count) {
  LLVMValueRef *parts = QN_ARENA_ARRAY(&l->e->arena, LLVMValueRef, count ? count : 1);
  if (!parts) emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a value");
  return parts;
}

LLVMTypeRef lanes_type(lanes *l, const ir_type *type) {
  return LLVMVectorType(emit_type(l->e, ir_elem_of(type)), l->width);
}

LLVMTypeRef lanes_base_type(lanes *l, const ir_type *type, shape s) {
  return shape_is_wide(type, s) ? l->e->i64 : emit_type(l->e, type);
}

LLVMValueRef lanes_spread(lanes *l, LLVMValueRef scalar) { return splat(l->e, scalar, l->width); }

LLVMValueRef lanes_steps(lanes *l, LLVMTypeRef elem, int64_t stride) {
  LLVMValueRef steps[64];
  for (unsigned i = 0; i < l->width && i < 64; i++) steps[i] = LLVMConstInt(elem, (uint64_t)(stride * (int64_t)i), 1);
  return LLVMConstVector(steps, l->width);
}

/* The value as it was made: parts of an instruction or parameter. */
static LLVMValueRef *made_parts(lanes *l, ir_inst *value) {
  LLVMValueRef *parts = NULL;
  if (value->op == IR_PARAM && l->params)
    parts = l->param_parts[value->imm];
  else if (ir_op_table[value->op].cls != IR_CLASS_LEAF && lanes_info(l, value)->known)
    parts = lanes_info(l, value)->parts;
  return parts;
}

static bool is_lanes_value(lanes *l, const ir_inst *value) {
  if (value->op == IR_PARAM) return l->params != NULL;
  return ir_op_table[value->op].cls != IR_CLASS_LEAF && lanes_info(l, value)->known;
}

static LLVMValueRef missing(lanes *l, const ir_inst *value, LLVMTypeRef type) {
  emit_fail(l->e, QN_ERROR_INTERNAL, "in '%s': a value of '%s' is used before it is defined", l->f->name,
            ir_op_table[value->op].text);
  return LLVMGetPoison(type);
}

/* A private variable's storage as a pointer (layout whole), or its offset (layout leaf): 0. */
static LLVMValueRef variable_base(lanes *l, const lane_var *var) {
  if (var->layout != LAYOUT_WHOLE) return LLVMConstInt(l->e->i64, 0, 0);
  return var->storage ? var->storage[0] : LLVMGetPoison(l->e->ptr);
}

LLVMValueRef lanes_uniform(lanes *l, ir_inst *value) {
  lane_var *var = lanes_var(value);
  if (var) return variable_base(l, var);
  if (!is_lanes_value(l, value)) return emit_value(l->e, value);
  LLVMValueRef *parts = made_parts(l, value);
  return parts && parts[0] ? parts[0] : missing(l, value, emit_type(l->e, value->type));
}

LLVMValueRef lanes_base(lanes *l, ir_inst *value, bool wide) {
  shape s = lanes_shape_of(l, value);
  LLVMValueRef base = lanes_uniform(l, value);
  bool has_wide = shape_is_wide(value->type, s);
  if (has_wide && !wide) return LLVMBuildTrunc(B, base, emit_type(l->e, value->type), "");
  if (wide && !has_wide && LLVMTypeOf(base) != l->e->i64 && value->type->kind == IR_INT)
    return LLVMBuildSExt(B, base, l->e->i64, "");
  return base;
}

static LLVMValueRef spread_component(lanes *l, ir_inst *value, unsigned component) {
  LLVMValueRef whole = lanes_uniform(l, value);
  if (value->type->kind == IR_VECTOR)
    whole = LLVMBuildExtractElement(B, whole, LLVMConstInt(l->e->i32, component, 0), "");
  return lanes_spread(l, whole);
}

LLVMValueRef lanes_pointers(lanes *l, ir_inst *pointer) {
  shape s = lanes_shape_of(l, pointer);
  LLVMValueRef *parts = made_parts(l, pointer);
  if (s.kind == SHAPE_VARYING) return parts && parts[0] ? parts[0] : missing(l, pointer, lanes_type(l, pointer->type));
  LLVMValueRef base = lanes_uniform(l, pointer);
  if (s.kind == SHAPE_UNIFORM) return lanes_spread(l, base);
  LLVMValueRef steps = lanes_steps(l, l->e->i64, s.stride);
  return LLVMBuildInBoundsGEP2(B, l->e->i8, base, &steps, 1, "");
}

LLVMValueRef lanes_vector(lanes *l, ir_inst *value, unsigned component) {
  shape s = lanes_shape_of(l, value);
  if (s.kind == SHAPE_UNIFORM) return spread_component(l, value, component);
  if (s.kind == SHAPE_VARYING) {
    LLVMValueRef *parts = made_parts(l, value);
    return parts && parts[component] ? parts[component] : missing(l, value, lanes_type(l, value->type));
  }
  if (value->type->kind == IR_POINTER && !lanes_root(l, value)) return lanes_pointers(l, value);
  LLVMValueRef base = lanes_base(l, value, false);
  LLVMValueRef steps = lanes_steps(l, LLVMTypeOf(base), s.stride);
  return LLVMBuildAdd(B, lanes_spread(l, base), steps, "");
}

/* ---- Masks ---------------------------------------------------------------------------------------------------------
 */

LLVMValueRef lanes_full_mask(lanes *l) { return LLVMConstAllOnes(LLVMVectorType(l->e->i1, l->width)); }

LLVMValueRef lanes_mask(lanes *l) { return l->mask ? l->mask : lanes_full_mask(l); }

/* By select: what a lane that doesn't run thinks of the condition may be poison. */
LLVMValueRef lanes_and(lanes *l, LLVMValueRef mask, LLVMValueRef condition) {
  if (!mask) return condition;
  return LLVMBuildSelect(B, mask, condition, LLVMConstNull(LLVMTypeOf(mask)), "");
}

LLVMValueRef lanes_and_not(lanes *l, LLVMValueRef mask, LLVMValueRef condition) {
  return lanes_and(l, mask, LLVMBuildNot(B, condition, ""));
}

LLVMValueRef lanes_any(lanes *l, LLVMValueRef mask) {
  LLVMTypeRef bits = LLVMIntTypeInContext(l->e->context, l->width);
  return LLVMBuildICmp(B, LLVMIntNE, LLVMBuildBitCast(B, mask, bits, ""), LLVMConstNull(bits), "");
}

LLVMValueRef lanes_alloca(lanes *l, LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(B);
  at_entry(l->e);
  LLVMValueRef slot = LLVMBuildAlloca(B, type, "");
  LLVMPositionBuilderAtEnd(B, here);
  return slot;
}
