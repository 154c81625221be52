/* hidden.h - names for files that stand beside an output while it is put in its place. A name carries a check of its own, and its
 * file is locked (flock) while the command lives that has it: what a killed command left is known by both, and swept. */
#ifndef QUERN_TOOLS_HIDDEN_H
#define QUERN_TOOLS_HIDDEN_H

#include <stdbool.h>

/* A new name in the directory of `place`, to be freed. */
char *hidden_name(const char *place);
/* Says that a file is in use by this command, as long as it is open. */
void hidden_lock(int file);
/* Removes what commands that are dead have left in the directory of `place`. */
void hidden_sweep(const char *place);

#endif
