/* predefined.h - the macros that a program finds defined: OpenCL C 1.2, sections 6.10 and 6.12, and Quern's own. */
#ifndef QUERN_COMPILER_PREDEFINED_H
#define QUERN_COMPILER_PREDEFINED_H

#include "base/arena.h"
#include "compiler/compiler.h"

/* Lines of #define, as pp_options.predefined takes them. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_predefined_macros(qn_arena *arena, const qn_model *model, const qn_compile_options *options,
                                           qn_sv *out);

#endif
