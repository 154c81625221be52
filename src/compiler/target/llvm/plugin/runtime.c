/* runtime.c - functions that an object brings with it: arithmetic without an instruction, and the memory functions that
 * LLVM's code generator calls by name for large copies. All are local to the object. */
#include <string.h>

#include "runtime.h"

#define B (e->builder)

typedef struct runtime_row {
  const char *name;
  void (*build)(emitter *e, LLVMValueRef function);
  const char *intrinsics; /* what the code generator turns into calls of it: the start of their names */
} runtime_row;

static const runtime_row arithmetic[] = {{"quern.fma.f64", build_fma, NULL}, {"quern.fmod.f64", build_fmod, NULL}};
static const runtime_row memory[] = {{"memcpy", build_memcpy, "llvm.memcpy.p0"},
                                     {"memmove", build_memmove, "llvm.memmove.p0"},
                                     {"memset", build_memset, "llvm.memset.p0"}};

static LLVMValueRef define(emitter *e, const runtime_row *row, LLVMTypeRef type) {
  static const char *const attributes[] = {"nounwind", "no-builtins", "noinline", NULL};
  LLVMBasicBlockRef here = LLVMGetInsertBlock(B);
  LLVMValueRef function = LLVMAddFunction(e->module, row->name, type);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  add_attributes(e, function, attributes);
  LLVMPositionBuilderAtEnd(B, LLVMAppendBasicBlockInContext(e->context, function, ""));
  row->build(e, function);
  if (here) LLVMPositionBuilderAtEnd(B, here);
  e->has_helpers = true;
  return function;
}

LLVMValueRef runtime_function(emitter *e, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
  for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic && !function; i++)
    if (strcmp(arithmetic[i].name, name) == 0) function = define(e, &arithmetic[i], type);
  return function;
}

/* ---- Memory functions ----------------------------------------------------------------------------------------------
 */

enum { CHUNK_BYTES = 16 };

/* A loop over [0, count) in steps; `down` goes from the end. The body reads or writes at pointers plus the index. */
typedef struct byte_loop {
  LLVMTypeRef type;          /* of an access */
  LLVMValueRef from, to;     /* indices; from <= to, the distance is a multiple of the step */
  LLVMValueRef source, fill; /* one of them */
  LLVMValueRef target;
  uint64_t step;
  bool down;
} byte_loop;

static LLVMValueRef c64(emitter *e, uint64_t v) { return LLVMConstInt(e->i64, v, 0); }

static void move_at(emitter *e, const byte_loop *loop, LLVMValueRef index) {
  LLVMValueRef value = loop->fill;
  if (loop->source) {
    value = LLVMBuildLoad2(B, loop->type, LLVMBuildInBoundsGEP2(B, e->i8, loop->source, &index, 1, ""), "");
    LLVMSetAlignment(value, 1);
  }
  LLVMSetAlignment(LLVMBuildStore(B, value, LLVMBuildInBoundsGEP2(B, e->i8, loop->target, &index, 1, "")), 1);
}

static void build_loop(emitter *e, LLVMValueRef function, const byte_loop *loop) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(B);
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntEQ, loop->from, loop->to, ""), done, body);
  LLVMPositionBuilderAtEnd(B, body);
  LLVMValueRef index = LLVMBuildPhi(B, e->i64, "");
  LLVMValueRef first = loop->down ? loop->to : loop->from, last = loop->down ? loop->from : loop->to;
  LLVMValueRef step = c64(e, loop->down ? -loop->step : loop->step);
  LLVMValueRef next = LLVMBuildAdd(B, index, step, "");
  move_at(e, loop, loop->down ? next : index);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntEQ, next, last, ""), done, body);
  LLVMBasicBlockRef from[2] = {before, body};
  LLVMAddIncoming(index, (LLVMValueRef[2]){first, next}, from, 2);
  LLVMPositionBuilderAtEnd(B, done);
}

/* Chunks, then single bytes; downwards the bytes come first. */
static void build_move(emitter *e, LLVMValueRef function, LLVMValueRef source, LLVMValueRef fill, bool down) {
  LLVMValueRef count = LLVMGetParam(function, 2);
  LLVMValueRef whole = LLVMBuildAnd(B, count, c64(e, ~(uint64_t)(CHUNK_BYTES - 1)), "");
  byte_loop chunks = {.type = LLVMVectorType(e->i8, CHUNK_BYTES),
                      .from = c64(e, 0),
                      .to = whole,
                      .source = source,
                      .fill = fill ? splat(e, fill, CHUNK_BYTES) : NULL,
                      .target = LLVMGetParam(function, 0),
                      .step = CHUNK_BYTES,
                      .down = down};
  byte_loop bytes = chunks;
  bytes.type = e->i8;
  bytes.from = whole;
  bytes.to = count;
  bytes.fill = fill;
  bytes.step = 1;
  build_loop(e, function, down ? &bytes : &chunks);
  build_loop(e, function, down ? &chunks : &bytes);
  LLVMBuildRet(B, LLVMGetParam(function, 0));
}

void build_memcpy(emitter *e, LLVMValueRef function) {
  build_move(e, function, LLVMGetParam(function, 1), NULL, false);
}

void build_memset(emitter *e, LLVMValueRef function) {
  build_move(e, function, NULL, LLVMBuildTrunc(B, LLVMGetParam(function, 1), e->i8, ""), false);
}

/* A target inside the source is filled from its end. */
void build_memmove(emitter *e, LLVMValueRef function) {
  LLVMValueRef target = LLVMBuildPtrToInt(B, LLVMGetParam(function, 0), e->i64, "");
  LLVMValueRef source = LLVMBuildPtrToInt(B, LLVMGetParam(function, 1), e->i64, "");
  LLVMBasicBlockRef up = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBasicBlockRef down = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMValueRef distance = LLVMBuildSub(B, target, source, "");
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntULT, distance, LLVMGetParam(function, 2), ""), down, up);
  LLVMPositionBuilderAtEnd(B, up);
  build_move(e, function, LLVMGetParam(function, 1), NULL, false);
  LLVMPositionBuilderAtEnd(B, down);
  build_move(e, function, LLVMGetParam(function, 1), NULL, true);
}

static bool is_used(emitter *e, const char *start) {
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    if (strncmp(name, start, strlen(start)) == 0 && LLVMGetFirstUse(f)) return true;
  }
  return false;
}

bool runtime_add_memory_functions(emitter *e) {
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
    if (!is_used(e, memory[i].intrinsics)) continue;
    LLVMTypeRef second = memory[i].build == build_memset ? e->i32 : e->ptr;
    LLVMTypeRef params[3] = {e->ptr, second, e->i64};
    (void)define(e, &memory[i], LLVMFunctionType(e->ptr, params, 3, 0));
  }
  return e->status >= 0;
}
