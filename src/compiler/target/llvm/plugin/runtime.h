/* runtime.h - functions that an object brings with it, built when they are asked for. Each builder fills a function
 * whose entry block the emitter's builder stands in. */
#ifndef QUERN_LLVM_RUNTIME_H
#define QUERN_LLVM_RUNTIME_H

#include "emit.h"

void build_fma(emitter *e, LLVMValueRef function);  /* f64 (f64, f64, f64) */
void build_fmod(emitter *e, LLVMValueRef function); /* f64 (f64, f64) */
void build_memcpy(emitter *e, LLVMValueRef function);
void build_memmove(emitter *e, LLVMValueRef function);
void build_memset(emitter *e, LLVMValueRef function);

#endif
