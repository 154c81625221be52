/* program_source.h - what a source tells of its kernels, for reflection; and the same as bytes, for the store. */
#ifndef QUERN_CORE_PROGRAM_SOURCE_H
#define QUERN_CORE_PROGRAM_SOURCE_H

#include "base/bytes.h"
#include "compiler/ir/ir.h"
#include "core/program.h"

/* Kernels that can be launched, in the order of the source. */
static inline bool core_is_kernel(const ir_function *f) { return f->is_kernel && f->body; }
uint32_t core_count_kernels(const ir_module *module);

/* Fills in the program's kernels, their number and its log. Errors: LIMIT, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_source_describe(core_program *program, const ir_module *module, qn_sv log);

void core_source_pack(const core_program *program, qn_bytes *out);
/* Errors: DATA when the bytes make no sense, OUT_OF_HOST_MEMORY; the program has no kernels then. */
QN_MUST_USE qn_status core_source_unpack(core_program *program, qn_sv bytes);

#endif
