/* builtin.h - the built-in functions of OpenCL C: a table (builtin.def), the choice of an overload, emission to IR.
 *
 * A call has two steps, because trees are typed before anything is emitted: resolve chooses and says what the arguments
 * must be converted to, emit writes instructions. Most built-ins are an IR operation or a few; the others are calls of
 * library functions ("sin.f32", compiler/lib), which pass_link brings in. */
#ifndef QUERN_COMPILER_FRONT_BUILTIN_H
#define QUERN_COMPILER_FRONT_BUILTIN_H

#include "compiler/front/state.h"

/* All overloads of one name. */
typedef struct front_builtin front_builtin;

/* NULL: no such built-in (or out of memory, which front.failed says). Families are found too: vload4, as_float2,
 * convert_uchar4_sat_rte. */
const front_builtin *front_builtin_find(front *f, qn_sv name);
/* Every name, for "did you mean"; of families each. */
void front_builtin_names(void (*fn)(void *user, qn_sv name), void *user);

/* Chooses the overload for argument types (decayed and unqualified, none is FRONT_ERROR) as OpenCL does: exact, then
 * promotion, then conversion, a scalar widened to a vector last; the best must be best in every argument. False: it has
 * reported at `loc`. */
bool front_builtin_resolve(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                           uint32_t count, front_overload *out);

/* Emits through f->b; args have the IR types of the overload's params. For void anything is returned. NULL: a bad
 * argument was reported. */
ir_inst *front_builtin_emit(front *f, const front_overload *overload, ir_inst *const *args);

#endif
