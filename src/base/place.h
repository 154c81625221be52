/* place.h - where something was made: the place that qn_here told, else the call stack. With QUERN_CHECK=leaks alone. */
#ifndef QUERN_BASE_PLACE_H
#define QUERN_BASE_PLACE_H

#include <stdint.h>

#include "base/bytes.h"

typedef struct qn_place qn_place;

/* A public function that makes something begins; `caller` is its return address. Places that are taken until qn_place_end
 * are that of this call. What qn_here told is for this call alone. */
void qn_place_begin(const void *caller);
void qn_place_end(void);

/* The place of the call that the thread is in, on the heap; any number of them. NULL: the check is off, no memory, or no call
 * that makes something for the caller: what the library makes for itself has no place. Freed by free. */
qn_place *qn_place_take(void);

/* "main.c:12", or "program(main+0x23), libfoo.so(foo+0x1)", the innermost first. Nothing for NULL. */
void qn_place_print(const qn_place *place, qn_bytes *out);

#endif
