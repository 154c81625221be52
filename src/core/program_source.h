/* program_source.h - what a source tells of its kernels, for reflection; and the same as bytes, for the store. */
#ifndef QUERN_CORE_PROGRAM_SOURCE_H
#define QUERN_CORE_PROGRAM_SOURCE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/ir/ir.h"
#include "quern/quern.h"

/* A kernel as its source declares it. Programs that share a binary may still differ here: the binary doesn't know the
 * signs of integers, say. */
typedef struct core_kernel_source {
  const char *name;
  uint64_t required_local[3], hinted_local[3];
  qn_argument_info *arguments;
  uint32_t argument_count;
  uint32_t asked_dimensions; /* as in qn_kernel_info */
} core_kernel_source;

typedef struct core_source {
  core_kernel_source *kernels; /* in the order of the source */
  uint32_t kernel_count;
  const char *log; /* warnings; "" */
  uint64_t log_bytes;
} core_source;

/* Kernels that can be launched. */
static inline bool core_is_kernel(const ir_function *f) { return f->is_kernel && f->body; }
uint32_t core_count_kernels(const ir_module *module);

/* Everything lives in `arena`. Errors: LIMIT, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_source_describe(qn_arena *arena, const ir_module *module, qn_sv log, core_source *out);

void core_source_pack(const core_source *source, qn_bytes *out);
/* Errors: DATA when the bytes make no sense, OUT_OF_HOST_MEMORY; `out` is as it was then. */
QN_MUST_USE qn_status core_source_unpack(qn_arena *arena, qn_sv bytes, core_source *out);

#endif
