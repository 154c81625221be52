/* memory.c - loads, stores, copies, atomics. */
#include "emit.h"

LLVMValueRef emit_offset(emitter *e, LLVMValueRef pointer, uint64_t bytes) {
  LLVMValueRef offset = LLVMConstInt(e->i64, bytes, 0);
  return bytes ? LLVMBuildInBoundsGEP2(e->builder, e->i8, pointer, &offset, 1, "") : pointer;
}

/* Indices are signed, of any width. */
LLVMValueRef emit_elem(emitter *e, LLVMValueRef pointer, const ir_type *elem, LLVMValueRef index) {
  if (LLVMGetIntTypeWidth(LLVMTypeOf(index)) < 64) index = LLVMBuildSExt(e->builder, index, e->i64, "");
  LLVMTypeRef type = elem->kind == IR_VOID ? e->i8 : emit_memory_type(e, elem);
  return LLVMBuildInBoundsGEP2(e->builder, type, pointer, &index, 1, "");
}

/* ---- Loads and stores ------------------------------------------------------------------------------------ */

static const ir_type *value_type(const ir_inst *inst) {
  bool stores = inst->op == IR_STORE || inst->op == IR_VSTORE;
  return stores ? inst->args[1]->type : inst->type;
}

/* vload and vstore are aligned as an element. */
static unsigned access_align(const ir_inst *inst) {
  const ir_type *type = value_type(inst);
  bool packed = inst->op == IR_VLOAD || inst->op == IR_VSTORE;
  if (packed) return (unsigned)ir_elem_of(type)->align;
  return (unsigned)(inst->imm ? inst->imm : type->align);
}

/* A 3-vector in memory has room for 4; vload and vstore touch 3. */
static LLVMTypeRef access_type(emitter *e, const ir_inst *inst) {
  const ir_type *type = value_type(inst);
  bool packed = inst->op == IR_VLOAD || inst->op == IR_VSTORE;
  if (packed && type->kind == IR_VECTOR) return LLVMVectorType(emit_memory_type(e, type->elem), type->count);
  return emit_memory_type(e, type);
}

static LLVMValueRef resize(emitter *e, LLVMValueRef vector, unsigned lanes) {
  LLVMValueRef mask[16];
  unsigned have = lane_count(LLVMTypeOf(vector));
  if (have == lanes) return vector;
  for (unsigned i = 0; i < lanes; i++) mask[i] = i < have ? LLVMConstInt(e->i32, i, 0) : LLVMGetPoison(e->i32);
  return LLVMBuildShuffleVector(e->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(mask, lanes),
                                "");
}

LLVMValueRef emit_load(emitter *e, const ir_inst *inst, LLVMValueRef pointer) {
  LLVMTypeRef memory = access_type(e, inst);
  LLVMValueRef load = LLVMBuildLoad2(e->builder, memory, pointer, "");
  LLVMSetAlignment(load, access_align(inst));
  if (inst->flags & IR_VOLATILE) LLVMSetVolatile(load, 1);
  LLVMValueRef value = inst->type->kind == IR_VECTOR ? resize(e, load, inst->type->count) : load;
  if (ir_elem_of(inst->type)->kind == IR_BOOL) value = LLVMBuildTrunc(e->builder, value, emit_type(e, inst->type), "");
  return value;
}

void emit_store(emitter *e, const ir_inst *inst, LLVMValueRef pointer, LLVMValueRef value) {
  LLVMTypeRef memory = access_type(e, inst);
  const ir_type *type = inst->args[1]->type;
  if (ir_elem_of(type)->kind == IR_BOOL)
    value = LLVMBuildZExt(e->builder, value, with_elem(LLVMTypeOf(value), e->i8), "");
  if (type->kind == IR_VECTOR) value = resize(e, value, lane_count(memory));
  LLVMValueRef store = LLVMBuildStore(e->builder, value, pointer);
  LLVMSetAlignment(store, access_align(inst));
  if ((inst->flags & IR_VOLATILE) || stays_in_memory(inst->args[0])) LLVMSetVolatile(store, 1);
}

/* Large copies become calls of memcpy, which runtime.c defines in the object itself. */
void emit_copy(emitter *e, const ir_inst *inst, LLVMValueRef target, LLVMValueRef source) {
  const ir_type *type = inst->args[0]->type->elem;
  unsigned align = (unsigned)(inst->imm ? inst->imm : type->align);
  LLVMValueRef size = LLVMConstInt(e->i64, type->size, 0);
  LLVMValueRef copy = LLVMBuildMemCpy(e->builder, target, align, source, align, size);
  if (inst->flags & IR_VOLATILE) LLVMSetOperand(copy, 3, LLVMConstInt(e->i1, 1, 0));
}

/* Without this, variables that an item may read before it writes them would tie the items together. */
void emit_fresh(emitter *e, LLVMValueRef variable) {
  if (!LLVMIsAAllocaInst(variable)) return;
  LLVMTypeRef type = LLVMGetAllocatedType(variable);
  if (LLVMGetTypeKind(type) != LLVMArrayTypeKind) {
    LLVMBuildStore(e->builder, LLVMGetUndef(type), variable);
    return;
  }
  LLVMValueRef args[2] = {LLVMConstInt(e->i64, LLVMGetArrayLength2(type), 0), variable};
  (void)emit_intrinsic1(e, "llvm.lifetime.start", e->ptr, args, 2);
}

/* ---- Atomics ----------------------------------------------------------------------------------------------- */

static LLVMAtomicOrdering ordering(ir_order order) {
  switch (order) {
    case IR_RELAXED:
      return LLVMAtomicOrderingMonotonic;
    case IR_ACQUIRE:
      return LLVMAtomicOrderingAcquire;
    case IR_RELEASE:
      return LLVMAtomicOrderingRelease;
    case IR_ACQ_REL:
      return LLVMAtomicOrderingAcquireRelease;
    default:
      return LLVMAtomicOrderingSequentiallyConsistent;
  }
}

/* What a load, or a compare that fails, may have; and a store. */
static LLVMAtomicOrdering without(LLVMAtomicOrdering order, LLVMAtomicOrdering half, LLVMAtomicOrdering other) {
  if (order == half) return LLVMAtomicOrderingMonotonic;
  return order == LLVMAtomicOrderingAcquireRelease ? other : order;
}

static LLVMAtomicOrdering load_ordering(ir_order order) {
  return without(ordering(order), LLVMAtomicOrderingRelease, LLVMAtomicOrderingAcquire);
}

static LLVMAtomicOrdering store_ordering(ir_order order) {
  return without(ordering(order), LLVMAtomicOrderingAcquire, LLVMAtomicOrderingRelease);
}

static const LLVMAtomicRMWBinOp rmw_codes[IR_RMW_COUNT] = {
    [IR_RMW_XCHG] = LLVMAtomicRMWBinOpXchg, [IR_RMW_ADD] = LLVMAtomicRMWBinOpAdd,
    [IR_RMW_SUB] = LLVMAtomicRMWBinOpSub,   [IR_RMW_AND] = LLVMAtomicRMWBinOpAnd,
    [IR_RMW_OR] = LLVMAtomicRMWBinOpOr,     [IR_RMW_XOR] = LLVMAtomicRMWBinOpXor,
    [IR_RMW_SMIN] = LLVMAtomicRMWBinOpMin,  [IR_RMW_SMAX] = LLVMAtomicRMWBinOpMax,
    [IR_RMW_UMIN] = LLVMAtomicRMWBinOpUMin, [IR_RMW_UMAX] = LLVMAtomicRMWBinOpUMax,
    [IR_RMW_FADD] = LLVMAtomicRMWBinOpFAdd, [IR_RMW_FMIN] = LLVMAtomicRMWBinOpFMin,
    [IR_RMW_FMAX] = LLVMAtomicRMWBinOpFMax,
};

static LLVMValueRef compare_exchange(emitter *e, const ir_inst *inst, LLVMValueRef *args, unsigned align) {
  LLVMTypeRef type = LLVMTypeOf(args[1]), bits = int_like(type);
  LLVMValueRef expected = LLVMBuildBitCast(e->builder, args[1], bits, "");
  LLVMValueRef desired = LLVMBuildBitCast(e->builder, args[2], bits, "");
  LLVMValueRef pair = LLVMBuildAtomicCmpXchg(e->builder, args[0], expected, desired, ordering(inst->u.atomic.order),
                                             load_ordering(inst->u.atomic.order), 0);
  LLVMSetAlignment(pair, align);
  return LLVMBuildBitCast(e->builder, LLVMBuildExtractValue(e->builder, pair, 0, ""), type, "");
}

LLVMValueRef emit_atomic(emitter *e, const ir_inst *inst, LLVMValueRef *args) {
  const ir_type *type = inst->args[0]->type->elem;
  unsigned align = (unsigned)type->size;
  ir_order order = inst->u.atomic.order;
  LLVMValueRef value;
  switch (inst->u.atomic.rmw) {
    case IR_RMW_LOAD:
      value = LLVMBuildLoad2(e->builder, emit_type(e, type), args[0], "");
      LLVMSetOrdering(value, load_ordering(order));
      break;
    case IR_RMW_STORE:
      value = LLVMBuildStore(e->builder, args[1], args[0]);
      LLVMSetOrdering(value, store_ordering(order));
      break;
    case IR_RMW_CMPXCHG:
      return compare_exchange(e, inst, args, align);
    default:
      value = LLVMBuildAtomicRMW(e->builder, rmw_codes[inst->u.atomic.rmw], args[0], args[1], ordering(order), 0);
      break;
  }
  LLVMSetAlignment(value, align);
  return value;
}
