/* wgsl_code.h - code of the kind QN_CODE_WGSL: what an adapter is given, and what images hold. See docs/wgsl.md. */
#ifndef QUERN_CORE_WGSL_CODE_H
#define QUERN_CORE_WGSL_CODE_H

#include "core/program_image.h"

/* What images call its architecture. */
#define CORE_WGSL_ARCH "wgsl"

/* From a module of 32 address bits without double, which is changed, and its canonical text. `option_bits`: core_option_bits. Kernels' descriptions are in
 * `arena`; their symbols are entry points. Errors as qn_target_wgsl's. */
QN_MUST_USE qn_status core_wgsl_code(qn_arena *arena, ir_module *m, qn_sv ir_text, uint64_t option_bits,
                                     const char *label, qn_bytes *out, core_kernel_list *out_kernels);

#endif
