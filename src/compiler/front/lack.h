/* lack.h - what of OpenCL C isn't here, by the names of its types, functions and constants. Each such feature is told once
 * in a program, where it is used first: everything else that hangs on it is no news. */
#ifndef QUERN_COMPILER_FRONT_LACK_H
#define QUERN_COMPILER_FRONT_LACK_H

#include "compiler/front/state.h"

/* Whether a name, which means nothing else, belongs to what isn't here. If so that is told, here or before. */
bool front_tell_lack(front *f, qn_loc loc, uint32_t length, qn_sv name);
/* Whether it is the name of a type that isn't here. */
bool front_is_lacking_type(qn_sv name);

#endif
