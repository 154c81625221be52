/* lanes_call.h - functions called by lanes. */
#ifndef QUERN_LLVM_LANES_CALL_H
#define QUERN_LLVM_LANES_CALL_H

#include "lanes.h"

/* Whether a call with uniform arguments gives all lanes one result and does the same for all: no item's own id and no
 * atomics in it. */
bool lanes_is_common(ir_function *f);
/* Defines what calls have asked for; calls from those too. */
void lanes_define_functions(emitter *e);

#endif
