/* llvm.h - IR text to code that runs, for tests of the LLVM target. */
#ifndef QUERN_TEST_LLVM_H
#define QUERN_TEST_LLVM_H

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/ir/ir.h"
#include "compiler/target/target.h"
#include "object.h"
#include "quern/adapter.h"

typedef struct test_code {
  qn_arena arena;
  ir_module *module;
  qn_bytes bytes;
  test_object object;
} test_code;

/* For a level of x86-64: "x86-64", "x86-64-v3", ...; in lanes even where one item after another is thought to be
 * quicker, so that their code is tested. */
qn_target_options test_llvm_options(const char *cpu);
int test_llvm_runs(const char *cpu); /* whether this machine runs code for it */
/* Parses, prepares nothing, emits, loads an object. A failure is told and fails the running test. */
void test_llvm_compile(test_code *code, const char *text, const qn_target_options *options);
/* The same from OpenCL C, through every pass that CPU code asks for. */
void test_llvm_compile_source(test_code *code, const char *source, const qn_target_options *options);
void test_llvm_free(test_code *code);
ir_function *test_llvm_kernel(const test_code *code, const char *name);
/* Runs every group of a range in order. `block` holds the arguments. */
void test_llvm_run(const test_code *code, const char *kernel, uint32_t dimensions, const uint64_t global[3],
                   const uint64_t local[3], const void *block);

#endif
