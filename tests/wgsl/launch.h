/* launch.h - OpenCL C to results by WGSL, on the library of webgpu.h, and by the interpreter with the same data model. */
#ifndef QUERN_TESTS_WGSL_LAUNCH_H
#define QUERN_TESTS_WGSL_LAUNCH_H

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/interp/interp.h"
#include "compiler/target/wgsl/wgsl.h"

typedef struct wgsl_made {
  qn_arena arena;
  qn_bytes text;
  qn_wgsl_program program;
  uint8_t **floats; /* by kernel and parameter: bits of the floats that it is of, or leads to; 0: none */
  void *module;     /* the library's; NULL until it is asked for */
} wgsl_made;

/* The model that WGSL has. */
qn_model wgsl_model(void);
/* `options` may be NULL. Errors as qn_compile's and qn_target_wgsl's. */
qn_status wgsl_make(wgsl_made *w, const char *source, const char *options, bool merged);
void wgsl_free(wgsl_made *w);
/* The library makes a module, and a pipeline of each kernel. Errors: COMPILE with its text. */
qn_status wgsl_check(wgsl_made *w);
/* Buffers are allocations of their own; of the merged text one may lie within another before it, and then shares its
 * binding. */
qn_status wgsl_launch(wgsl_made *w, const char *kernel, const interp_launch *launch);
/* The interpreter. */
qn_status wgsl_interpret(const char *source, const char *options, const char *kernel, const interp_launch *launch);

#endif
