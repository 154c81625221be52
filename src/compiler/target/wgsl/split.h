/* split.h - what WGSL has no type for becomes several values, in the IR: vectors of 8 and 16 lanes are 2 and 4 vectors of
 * four, vectors of 64-bit integers (and of halves where there is no half arithmetic) are scalars. */
#ifndef QUERN_COMPILER_TARGET_WGSL_SPLIT_H
#define QUERN_COMPILER_TARGET_WGSL_SPLIT_H

#include "compiler/ir/ir.h"

/* Lanes of a piece of a type that is split; 0: it stays whole. */
uint32_t wgsl_piece_lanes(const ir_module *m, const ir_type *type);
/* No function may have such a parameter or result. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status wgsl_split(ir_module *m);

#endif
