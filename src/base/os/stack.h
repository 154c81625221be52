/* stack.h - call stacks, for reports. Slow: for checks that are asked for. */
#ifndef QUERN_BASE_OS_STACK_H
#define QUERN_BASE_OS_STACK_H

#include <stdint.h>

#include "base/bytes.h"

/* Takes the calling thread's return addresses, the innermost first, from `from` outwards (all, where it isn't found). Returns
 * how many. The first call in a process may load a library. */
uint32_t qn_stack_take(void **frames, uint32_t capacity, const void *from);

/* Appends "file(function+0x12)", or "file+0x1234", which addr2line understands. */
void qn_stack_print_frame(const void *frame, qn_bytes *out);

#endif
