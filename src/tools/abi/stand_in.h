/* stand_in.h - stand-ins for the C library's headers: the names of types that interfaces take from them, the same for each
 * target. What they declare is no part of an interface that is read. */
#ifndef QUERN_TOOLS_ABI_STAND_IN_H
#define QUERN_TOOLS_ABI_STAND_IN_H

#include <stdbool.h>

/* Makes a directory with them, for -idirafter; a signal that ends the program removes it. False: *out_error says why not. */
bool stand_in_make(const char **out_directory, const char **out_error);
/* Removes it, when there is one. */
void stand_in_remove(void);

#endif
