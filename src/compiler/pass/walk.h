/* walk.h - what several passes need of the tree. */
#ifndef QUERN_COMPILER_PASS_WALK_H
#define QUERN_COMPILER_PASS_WALK_H

#include "compiler/ir/ir.h"

QN_MUST_USE qn_status walk_no_memory(void);
/* Takes variables whose aux is NULL out of the list. */
void walk_drop_vars(ir_var **list, ir_var **last);
/* Takes out functions that no kernel reaches by calls, and constants that nothing kept names. In a module without
 * kernels all functions stay. Uses `aux` of functions and constants. */
void walk_drop_unreached(ir_module *m);

#endif
