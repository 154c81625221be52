/* switch.c - the branch of a switch. LLVM places blocks in time that is quadratic in how many one branch leads to: 2,000
 * cases took a second. So many cases are halved by comparisons until few enough are left; placement then takes a
 * twentieth, and the code is as fast. */
#include <stdlib.h>

#include "emit.h"

#define B (e->builder)

enum { MOST_CASES = 128 };

typedef struct switch_case {
  uint64_t value;
  LLVMBasicBlockRef block;
} switch_case;

LLVMBasicBlockRef *emit_case_blocks(emitter *e, const ir_inst *inst) {
  uint32_t count = inst->u.ctrl.block_count;
  LLVMBasicBlockRef *blocks = QN_ARENA_ARRAY(&e->arena, LLVMBasicBlockRef, count);
  if (!blocks) emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for code generation");
  for (uint32_t i = 0; blocks && i < count; i++) blocks[i] = new_block(e, "");
  return blocks;
}

static int by_value(const void *a, const void *b) {
  uint64_t x = ((const switch_case *)a)->value, y = ((const switch_case *)b)->value;
  return (x > y) - (x < y);
}

static void branch_among(emitter *e, LLVMValueRef value, const switch_case *cases, uint32_t count,
                         LLVMBasicBlockRef other) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (count <= MOST_CASES) {
    LLVMValueRef branch = LLVMBuildSwitch(B, value, other, count);
    for (uint32_t i = 0; i < count; i++) LLVMAddCase(branch, LLVMConstInt(type, cases[i].value, 0), cases[i].block);
    return;
  }
  uint32_t half = count / 2;
  LLVMBasicBlockRef low = new_block(e, ""), high = new_block(e, "");
  LLVMValueRef is_low = LLVMBuildICmp(B, LLVMIntULT, value, LLVMConstInt(type, cases[half].value, 0), "");
  LLVMBuildCondBr(B, is_low, low, high);
  at_block(e, low);
  branch_among(e, value, cases, half, other);
  at_block(e, high);
  branch_among(e, value, cases + half, count - half, other);
}

void emit_switch_branch(emitter *e, LLVMValueRef value, const uint64_t *cases, const LLVMBasicBlockRef *blocks,
                        uint32_t count, LLVMBasicBlockRef other) {
  switch_case *sorted = QN_ARENA_ARRAY(&e->arena, switch_case, count + 1);
  if (!sorted) {
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for code generation");
    return;
  }
  for (uint32_t i = 0; i < count; i++) sorted[i] = (switch_case){cases[i], blocks[i]};
  qsort(sorted, count, sizeof *sorted, by_value);
  branch_among(e, value, sorted, count, other);
}
