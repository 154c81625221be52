/* type.c - LLVM's types for the IR's, and helpers that treat scalars and vectors alike. */
#include "emit.h"

/* LLVM's own half would be converted by calls of functions where the machine can't, even to move it. */
LLVMTypeRef half_type(emitter *e) {
  return e->facts.half ? LLVMHalfTypeInContext(e->context) : LLVMInt16TypeInContext(e->context);
}

static LLVMTypeRef float_type(emitter *e, uint32_t bits) {
  switch (bits) {
    case 16:
      return half_type(e);
    case 32:
      return e->f32;
    default:
      return e->f64;
  }
}

LLVMTypeRef emit_type(emitter *e, const ir_type *type) {
  switch (type->kind) {
    case IR_VOID:
      return e->void_type;
    case IR_BOOL:
      return e->i1;
    case IR_INT:
      return LLVMIntTypeInContext(e->context, type->bits);
    case IR_FLOAT:
      return float_type(e, type->bits);
    case IR_VECTOR:
      return LLVMVectorType(emit_type(e, type->elem), type->count);
    case IR_POINTER:
      return e->ptr;
    case IR_ARRAY:
    case IR_STRUCT:
      return LLVMArrayType2(e->i8, type->size);
  }
  emit_fail(e, QN_ERROR_INTERNAL, "unknown kind of type %d", (int)type->kind);
  return e->i8;
}

LLVMTypeRef emit_memory_type(emitter *e, const ir_type *type) {
  if (type->kind == IR_BOOL) return e->i8;
  if (type->kind != IR_VECTOR) return emit_type(e, type);
  return LLVMVectorType(emit_memory_type(e, type->elem), type->count == 3 ? 4 : type->count);
}

LLVMTypeRef elem_type(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

unsigned lane_count(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

LLVMTypeRef with_elem(LLVMTypeRef type, LLVMTypeRef elem) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMVectorType(elem, LLVMGetVectorSize(type)) : elem;
}

unsigned elem_bits(LLVMTypeRef type) {
  LLVMTypeRef elem = elem_type(type);
  switch (LLVMGetTypeKind(elem)) {
    case LLVMIntegerTypeKind:
      return LLVMGetIntTypeWidth(elem);
    case LLVMHalfTypeKind:
      return 16;
    case LLVMFloatTypeKind:
      return 32;
    default:
      return 64;
  }
}

LLVMTypeRef int_like(LLVMTypeRef type) {
  return with_elem(type, LLVMIntTypeInContext(LLVMGetTypeContext(type), elem_bits(type)));
}

LLVMTypeRef int_with_bits(emitter *e, LLVMTypeRef type, unsigned bits) {
  return with_elem(type, LLVMIntTypeInContext(e->context, bits));
}

static LLVMValueRef constant_splat(LLVMTypeRef type, LLVMValueRef scalar) {
  LLVMValueRef parts[64];
  unsigned lanes = lane_count(type);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return scalar;
  for (unsigned i = 0; i < lanes && i < 64; i++) parts[i] = scalar;
  return LLVMConstVector(parts, lanes);
}

LLVMValueRef int_splat(LLVMTypeRef type, uint64_t value) {
  return constant_splat(type, LLVMConstInt(elem_type(type), value, 0));
}

LLVMValueRef float_splat(LLVMTypeRef type, double value) {
  return constant_splat(type, LLVMConstReal(elem_type(type), value));
}

LLVMValueRef splat(emitter *e, LLVMValueRef scalar, unsigned lanes) {
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), lanes);
  if (LLVMIsConstant(scalar)) return constant_splat(type, scalar);
  LLVMValueRef poison = LLVMGetPoison(type);
  LLVMValueRef one = LLVMBuildInsertElement(e->builder, poison, scalar, LLVMConstInt(e->i32, 0, 0), "");
  return LLVMBuildShuffleVector(e->builder, one, poison, LLVMConstNull(LLVMVectorType(e->i32, lanes)), "");
}
