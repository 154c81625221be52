/* runner.h - OpenCL C text to results, in the interpreter or as native code, without a runtime around it.
 *
 * QUERN_RUNNER=text: instead of native code, what the target opencl_c makes of the text is compiled by our own front end and runs
 * in the interpreter. QUERN_RUNNER=opencl: it runs on an OpenCL driver (driver.h). So that tests of what programs compute
 * are tests of that target too. */
#ifndef QUERN_TEST_RUNNER_H
#define QUERN_TEST_RUNNER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/interp/interp.h"
#include "compiler/ir/ir.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "driver.h"
#include "object.h"

/* SOURCE: on the driver, what it makes of the source itself. */
typedef enum runner_device { RUNNER_INTERP, RUNNER_NATIVE, RUNNER_TEXT, RUNNER_DRIVER, RUNNER_SOURCE } runner_device;

typedef struct runner {
  runner_device device;
  qn_arena arena;
  ir_module *module;
  qn_bytes code;
  test_object object;
  qn_opencl_c_program text; /* TEXT, DRIVER */
  driver_program *driver;
} runner;

/* What QUERN_RUNNER says: TEXT, DRIVER; INTERP when it isn't set. */
runner_device runner_other(void);

/* Whether this machine runs the native code that a runner makes (x86-64-v3); true with QUERN_RUNNER. */
bool runner_has_native(void);
/* Compiles; `options` as for a build, may be NULL. Errors as qn_compile's and the code generator's. */
qn_status runner_open(runner *r, const char *source, const char *options, bool is_native);
qn_status runner_open_on(runner *r, const char *source, const char *options, runner_device device);
void runner_close(runner *r);
/* Runs `items` work-items in groups of `local`, in one dimension; both are not 0 and local divides items. */
qn_status runner_run(runner *r, const char *kernel, uint64_t items, uint64_t local, const interp_argument *arguments,
                     uint32_t count);
/* Any range; not of native code. */
qn_status runner_launch(runner *r, const char *kernel, const interp_launch *launch);
static inline interp_argument runner_buffer(void *memory, uint64_t size_bytes) {
  return (interp_argument){.kind = QN_ARGUMENT_BUFFER, .memory = memory, .size_bytes = size_bytes};
}

#endif
