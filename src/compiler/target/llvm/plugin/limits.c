/* limits.c - what keeps the code generator's time linear, after the optimiser: long blocks become several, and long
 * functions are taken as they are.
 *
 * Much of LLVM's code generator takes time that grows with the square of a basic block's length: the scheduler before and
 * after registers are given out, the combination of nodes around loads and stores, live ranges that are shrunk and split.
 * So a block is cut where it gets long. What stands between two parts must survive all that joins blocks: a branch whose
 * condition is read from the stack, as volatile, and is never true. */
#include "emit.h"

#define B (e->builder)

/* ---- How much an instruction is ---- */

static unsigned count_bits(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMHalfTypeKind:
      return elem_bits(type);
    case LLVMPointerTypeKind:
      return 64;
    case LLVMVectorTypeKind:
      return LLVMGetVectorSize(type) * count_bits(LLVMGetElementType(type));
    default:
      return 0;
  }
}

static bool is_taken_apart(LLVMValueRef inst, LLVMOpcode code) {
  return (code == LLVMUDiv || code == LLVMSDiv || code == LLVMURem || code == LLVMSRem) &&
         !LLVMIsConstant(LLVMGetOperand(inst, 1));
}

/* Roughly, in the machine's: a vector is as many as it takes registers; one that no machine divides is taken apart. */
static unsigned size_of(const emitter *e, LLVMValueRef inst) {
  LLVMTypeRef type = LLVMTypeOf(inst);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return 1;
  if (is_taken_apart(inst, LLVMGetInstructionOpcode(inst))) return 4 * LLVMGetVectorSize(type);
  unsigned bits = e->facts.wide512 ? 512 : e->facts.wide256 ? 256 : 128;
  return 1 + (count_bits(type) - 1) / bits;
}

/* ---- Blocks ---- */

typedef struct splitter {
  emitter *e;
  LLVMValueRef function;
  LLVMValueRef never; /* i8 on the stack, 0 */
  LLVMBasicBlockRef trap;
} splitter;

static void prepare(splitter *s) {
  emitter *e = s->e;
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(s->function);
  LLVMPositionBuilder(B, entry, LLVMGetFirstInstruction(entry));
  s->never = LLVMBuildAlloca(B, e->i8, "never");
  LLVMSetVolatile(LLVMBuildStore(B, LLVMConstInt(e->i8, 0, 0), s->never), 1);
  s->trap = LLVMAppendBasicBlockInContext(e->context, s->function, "");
  LLVMPositionBuilderAtEnd(B, s->trap);
  (void)emit_intrinsic(e, "llvm.trap", NULL, 0, NULL, 0);
  LLVMBuildUnreachable(B);
}

/* The first instruction of the second part; NULL: the block stays whole. Variables stay together at the start. */
static LLVMValueRef find_cut(const emitter *e, LLVMBasicBlockRef block) {
  LLVMValueRef cut = NULL, last = LLVMGetBasicBlockTerminator(block);
  unsigned size = 0, most = e->limits->block_size;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && i != last; i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i)) continue;
    if (LLVMIsAAllocaInst(i)) cut = NULL;
    if (size >= most && !cut) cut = i;
    size += size_of(e, i);
    /* A rest that is short is not worth a cut. */
    if (cut && size >= most + most / 4) return cut;
  }
  return NULL;
}

/* Moves what stands before `cut` into a new block before this one: so successors know the last part by the old name. */
static void cut_block(splitter *s, LLVMBasicBlockRef block, LLVMValueRef cut) {
  emitter *e = s->e;
  LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(e->context, block, "");
  LLVMPositionBuilderAtEnd(B, head);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i != cut; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(B, i);
  }
  /* Without its end the block has no successors, whose phis would be renamed as well. */
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  LLVMInstructionRemoveFromParent(end);
  LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(head));
  LLVMPositionBuilderAtEnd(B, block);
  LLVMInsertIntoBuilder(B, end);
  LLVMPositionBuilderAtEnd(B, head);
  LLVMValueRef never = LLVMBuildLoad2(B, e->i8, s->never, "");
  LLVMSetVolatile(never, 1);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntNE, never, LLVMConstInt(e->i8, 0, 0), ""), s->trap, block);
}

static void split_blocks(emitter *e, LLVMValueRef function) {
  splitter s = {.e = e, .function = function};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef cut = find_cut(e, block); cut; cut = find_cut(e, block)) {
      if (!s.never) prepare(&s);
      cut_block(&s, block, cut);
    }
  }
}

/* ---- Functions ---- */

/* Live ranges that are split, loops whose addresses are rewritten, copies that are followed: what these take grows with
 * the square of a function's length. */
static bool is_long(const emitter *e, LLVMValueRef function) {
  unsigned size = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) size += size_of(e, i);
    if (size > e->limits->function_size) return true;
  }
  return false;
}

static bool wants_haste(LLVMValueRef function) {
  return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, HASTE, sizeof HASTE - 1);
}

void limit_code(emitter *e) {
  static const char *const as_it_is[] = {"optnone", "noinline", NULL};
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
    if (is_long(e, f) || wants_haste(f)) add_attributes(e, f, as_it_is);
    split_blocks(e, f);
  }
}
