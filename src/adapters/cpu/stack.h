/* stack.h - the stacks that kernels run on. A kernel's frames are the topmost of such a stack, and inaccessible pages stand above
 * them and below: a kernel that overruns its private arrays damages no frame of the program's. What it leaves in registers that
 * belong to its caller is not believed either. */
#ifndef QUERN_ADAPTERS_CPU_STACK_H
#define QUERN_ADAPTERS_CPU_STACK_H

#include <stdbool.h>

#include "quern/adapter.h"

typedef struct cpu_stack {
  uint8_t *pages; /* NULL: none */
} cpu_stack;

/* False: no memory. */
bool cpu_stack_take(cpu_stack *out);
void cpu_stack_give(cpu_stack *stack);

/* Calls a kernel's entry on a stack that no other thread uses. Costs some nanoseconds. */
void cpu_stack_call(const cpu_stack *stack, qn_cpu_entry_fn entry, const qn_cpu_launch *launch,
                    const qn_cpu_group *group);

#endif
