/* program_image.h - a device's program as bytes: the code, and what launches need to know of it. */
#ifndef QUERN_CORE_PROGRAM_IMAGE_H
#define QUERN_CORE_PROGRAM_IMAGE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/ir/ir.h"
#include "quern/adapter.h"

/* `kernels` and all that they point to live in an arena. */
typedef struct core_kernel_list {
  qn_adapter_kernel_description *items; /* in the order of the source */
  uint32_t count;
} core_kernel_list;

/* From a module that is lowered for its target. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_kernels_describe(qn_arena *arena, const ir_module *module, core_kernel_list *out);

void core_image_pack(const core_kernel_list *kernels, const qn_adapter_code *code, qn_bytes *out);
/* `out_code` borrows from `bytes` and `arena`. Errors: DATA when the bytes make no sense, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_image_unpack(qn_arena *arena, qn_sv bytes, core_kernel_list *out, qn_adapter_code *out_code);

#endif
