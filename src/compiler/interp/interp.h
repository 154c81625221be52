/* interp.h - executes IR slowly and exactly: the oracle that targets are compared with, and the device `check`.
 *
 * Work-items of a group run in turn until a barrier or the end; groups run in order. Addresses are the interpreter's own, and
 * every buffer, variable and local argument stands alone among them (space.h): an access outside of the object that a pointer was
 * made from is an error that names the object, and nothing outside is touched. A buffer's address has the alignment of its memory. */
#ifndef QUERN_COMPILER_INTERP_INTERP_H
#define QUERN_COMPILER_INTERP_INTERP_H

#include "compiler/ir/ir.h"

typedef struct interp_argument {
  uint32_t kind;       /* QN_ARGUMENT_... */
  const void *bytes;   /* value */
  void *memory;        /* buffer: its first byte, NULL: a null pointer */
  uint64_t size_bytes; /* value, buffer, local */
} interp_argument;

typedef struct interp_launch {
  uint32_t dimensions;
  uint64_t global[3], local[3], offset[3];
  const interp_argument *arguments;
  uint32_t argument_count;
  uint64_t step_limit; /* 0: none */
} interp_launch;

/* The module is linked (pass_link) and not split into regions; other launches of it may run at the same time.
 * Errors: DEVICE with the fault, LIMIT when the steps are used up, INVALID_ARGUMENT, OUT_OF_HOST_MEMORY. `out_steps`
 * may be NULL. */
QN_MUST_USE qn_status interp_run(const ir_function *kernel, const interp_launch *launch, uint64_t *out_steps);

#endif
