/* guard.c - private arrays that are overrun. In a function that has arrays on the stack the code generator puts them above all
 * else that it keeps there, and a word above them, which is looked at when the function returns. So elements behind an array's
 * end go to other arrays, then to that word, and not to counters and addresses: the function ends, and with a trap. */
#include <string.h>

#include "emit.h"

#define B (e->builder)

/* Not a secret, and no number that kernels are likely to write: both halves are NaNs, and no byte is 0. */
#define GUARD UINT64_C(0xffb7a5c3ff9d8be1)

static bool is_array(LLVMValueRef slot) {
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetAllocatedType(slot));
  return kind == LLVMArrayTypeKind || kind == LLVMStructTypeKind;
}

static bool has_arrays(LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
      if (LLVMGetInstructionOpcode(i) == LLVMAlloca && is_array(i)) return true;
  return false;
}

/* The code generator calls these by their names; they are the object's own, so that it asks for nothing from outside. */
static void define(emitter *e) {
  static const char flag[] = "stack-protector-guard";
  static const char *const attributes[] = {"nounwind", "noinline", "noreturn", "cold", NULL};
  LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorError, flag, sizeof flag - 1,
                    LLVMMDStringInContext2(e->context, "global", 6));
  LLVMValueRef guard = LLVMAddGlobal(e->module, e->i64, "__stack_chk_guard");
  LLVMSetInitializer(guard, LLVMConstInt(e->i64, GUARD, 0));
  LLVMSetGlobalConstant(guard, 1);
  LLVMSetLinkage(guard, LLVMInternalLinkage);
  LLVMValueRef fail = LLVMAddFunction(e->module, "__stack_chk_fail", LLVMFunctionType(e->void_type, NULL, 0, 0));
  LLVMSetLinkage(fail, LLVMInternalLinkage);
  add_attributes(e, fail, attributes);
  LLVMPositionBuilderAtEnd(B, LLVMAppendBasicBlockInContext(e->context, fail, ""));
  LLVMBuildUnreachable(B); /* becomes a trap with the others */
}

void guard_arrays(emitter *e) {
  static const char *const attributes[] = {"sspstrong", NULL};
  bool is_defined = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f)) {
    if (!has_arrays(f)) continue;
    add_attributes(e, f, attributes);
    if (!is_defined) define(e);
    is_defined = true;
  }
}
