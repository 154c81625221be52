/* ptx_code.h - code of the kind QN_CODE_PTX: what an adapter is given, and what images hold. */
#ifndef QUERN_CORE_PTX_CODE_H
#define QUERN_CORE_PTX_CODE_H

#include "core/program_image.h"

/* What images call its architecture; there the cpu is the target, "cuda-sm_80". */
#define CORE_PTX_ARCH "ptx"

/* From a module of 64 address bits, which is changed, for a target like "cuda-sm_80". `option_bits`: core_option_bits.
 * Kernels' descriptions are in `arena`; NULL: not asked for. Errors: UNSUPPORTED for a target that there is no PTX for; as
 * qn_target_ptx's. */
QN_MUST_USE qn_status core_ptx_code(qn_arena *arena, ir_module *m, const char *target, uint64_t option_bits,
                                    qn_bytes *out, core_kernel_list *out_kernels);
/* Whether a device of a target runs code that was made for another. */
bool core_ptx_runs(const char *device_target, qn_sv code_target);

#endif
