/* constant.c - constants as values, and program-scope variables with their bytes. */
#include <inttypes.h>
#include <string.h>

#include "emit.h"

static LLVMValueRef scalar_constant(emitter *e, const ir_type *type, uint64_t bits) {
  if (type->kind == IR_POINTER) return LLVMConstNull(e->ptr);
  if (type->kind != IR_FLOAT) return LLVMConstInt(emit_type(e, type), bits, 0);
  return LLVMConstBitCast(LLVMConstInt(LLVMIntTypeInContext(e->context, type->bits), bits, 0), emit_type(e, type));
}

static LLVMValueRef vector_constant(emitter *e, const ir_inst *leaf) {
  LLVMValueRef parts[16];
  for (uint32_t i = 0; i < leaf->arg_count && i < 16; i++) parts[i] = emit_constant(e, leaf->args[i]);
  return LLVMConstVector(parts, leaf->arg_count);
}

LLVMValueRef emit_constant(emitter *e, const ir_inst *leaf) {
  LLVMTypeRef type = emit_type(e, leaf->type);
  switch (leaf->op) {
    case IR_CONST:
      return scalar_constant(e, leaf->type, leaf->imm);
    case IR_AGGREGATE:
      if (leaf->type->kind == IR_VECTOR) return vector_constant(e, leaf);
      emit_fail(e, QN_ERROR_INTERNAL, "an aggregate stands as a value");
      return LLVMConstNull(type);
    default:
      return LLVMConstNull(type); /* zero; undef: any value, the same at each use */
  }
}

/* ---- Bytes of initialisers: packed structs whose size is the type's, with padding spelt out. ---- */

typedef struct parts {
  LLVMValueRef *items;
  unsigned count, capacity;
  uint64_t size; /* bytes so far */
} parts;

static LLVMValueRef memory_constant(emitter *e, const ir_inst *init);

static void part_push(emitter *e, parts *p, LLVMValueRef value, uint64_t size) {
  if (p->count >= p->capacity) {
    emit_fail(e, QN_ERROR_INTERNAL, "more parts in an initialiser than its type has");
    return;
  }
  p->items[p->count++] = value;
  p->size += size;
}

static void part_pad(emitter *e, parts *p, uint64_t offset) {
  if (offset <= p->size) return;
  part_push(e, p, LLVMConstNull(LLVMArrayType2(e->i8, offset - p->size)), offset - p->size);
}

static bool is_simple(const ir_type *type) {
  return type->kind == IR_BOOL || type->kind == IR_INT || type->kind == IR_FLOAT || type->kind == IR_VECTOR;
}

static bool parts_open(emitter *e, parts *p, uint32_t count) {
  *p = (parts){.items = QN_ARENA_ARRAY(&e->arena, LLVMValueRef, (size_t)count + 1), .capacity = count};
  if (!p->items) emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for an initialiser");
  return p->items != NULL;
}

static LLVMValueRef array_constant(emitter *e, const ir_inst *init) {
  const ir_type *elem = init->type->elem;
  parts p;
  if (!parts_open(e, &p, init->arg_count + 1)) return LLVMConstNull(emit_memory_type(e, init->type));
  for (uint32_t i = 0; i < init->arg_count; i++) part_push(e, &p, memory_constant(e, init->args[i]), elem->size);
  if (is_simple(elem) && init->arg_count == init->type->length)
    return LLVMConstArray2(emit_memory_type(e, elem), p.items, p.count);
  part_pad(e, &p, init->type->size);
  return LLVMConstStructInContext(e->context, p.items, p.count, 1);
}

static LLVMValueRef struct_constant(emitter *e, const ir_inst *init) {
  const ir_type *type = init->type;
  parts p;
  if (!parts_open(e, &p, 2 * init->arg_count + 1)) return LLVMConstNull(emit_memory_type(e, type));
  for (uint32_t i = 0; i < init->arg_count && i < type->field_count; i++) {
    part_pad(e, &p, type->fields[i].offset);
    part_push(e, &p, memory_constant(e, init->args[i]), init->args[i]->type->size);
  }
  part_pad(e, &p, type->size);
  return LLVMConstStructInContext(e->context, p.items, p.count, 1);
}

static LLVMValueRef memory_vector(emitter *e, const ir_inst *init) {
  LLVMValueRef items[16];
  LLVMTypeRef type = emit_memory_type(e, init->type);
  unsigned lanes = lane_count(type);
  for (unsigned i = 0; i < lanes; i++)
    items[i] = i < init->arg_count ? memory_constant(e, init->args[i]) : LLVMConstNull(elem_type(type));
  return LLVMConstVector(items, lanes);
}

static LLVMValueRef address_constant(emitter *e, const ir_inst *leaf) {
  LLVMValueRef base = leaf->u.var->aux;
  LLVMValueRef offset = LLVMConstInt(e->i64, leaf->imm, 0);
  if (!base) {
    emit_fail(e, QN_ERROR_INTERNAL, "the address of '%s' stands in an initialiser", leaf->u.var->name);
    return LLVMConstNull(e->ptr);
  }
  return leaf->imm ? LLVMConstGEP2(e->i8, base, &offset, 1) : base;
}

/* Its LLVM type has the size of the IR's type. */
static LLVMValueRef memory_constant(emitter *e, const ir_inst *init) {
  switch (init->op) {
    case IR_ADDRESS:
      return address_constant(e, init);
    case IR_CONST:
      if (init->type->kind == IR_BOOL) return LLVMConstInt(e->i8, init->imm & 1, 0);
      return scalar_constant(e, init->type, init->imm);
    case IR_AGGREGATE:
      if (init->type->kind == IR_VECTOR) return memory_vector(e, init);
      return init->type->kind == IR_ARRAY ? array_constant(e, init) : struct_constant(e, init);
    default:
      return LLVMConstNull(emit_memory_type(e, init->type));
  }
}

void emit_constants(emitter *e) {
  /* All names first: an initialiser may hold another's address. */
  for (ir_var *var = e->m->constants; var; var = var->next) {
    LLVMTypeRef bytes = LLVMArrayType2(e->i8, var->type->size);
    var->aux = LLVMAddGlobal(e->module, bytes, "");
  }
  for (ir_var *var = e->m->constants; var; var = var->next) {
    LLVMValueRef value = memory_constant(e, var->init);
    LLVMValueRef global = LLVMAddGlobal(e->module, LLVMTypeOf(value), "");
    uint64_t align = var->align ? var->align : var->type->align;
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, (unsigned)align);
    LLVMReplaceAllUsesWith(var->aux, global);
    LLVMDeleteGlobal(var->aux);
    var->aux = global;
  }
}
