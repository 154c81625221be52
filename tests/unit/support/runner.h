/* runner.h - OpenCL C text to results, in the interpreter or as native code, without a runtime around it. */
#ifndef QUERN_TEST_RUNNER_H
#define QUERN_TEST_RUNNER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/interp/interp.h"
#include "compiler/ir/ir.h"
#include "object.h"

typedef struct runner {
  bool is_native;
  qn_arena arena;
  ir_module *module;
  qn_bytes code;
  test_object object;
} runner;

/* Whether this machine runs the native code that a runner makes (x86-64-v3). */
bool runner_has_native(void);
/* Compiles; `options` as for a build, may be NULL. Errors as qn_compile's and the code generator's. */
qn_status runner_open(runner *r, const char *source, const char *options, bool is_native);
void runner_close(runner *r);
/* Runs `items` work-items in groups of `local`, in one dimension; both are not 0 and local divides items. */
qn_status runner_run(runner *r, const char *kernel, uint64_t items, uint64_t local, const interp_argument *arguments,
                     uint32_t count);
static inline interp_argument runner_buffer(void *memory, uint64_t size_bytes) {
  return (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = memory, .size_bytes = size_bytes};
}

#endif
