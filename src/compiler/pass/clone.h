/* clone.h - copies of instructions. `aux` of what is copied is its copy. */
#ifndef QUERN_COMPILER_PASS_CLONE_H
#define QUERN_COMPILER_PASS_CLONE_H

#include "compiler/ir/ir.h"

/* The operand in the copy: the copy of an instruction that was copied, else itself. */
ir_inst *clone_operand(ir_inst *x);
/* A copy without what its blocks hold (they are new and empty), at the builder's place, operands by clone_operand.
 * NULL: out of memory. */
ir_inst *clone_inst(ir_builder *b, ir_inst *inst);

#endif
