/* objects.h - what a test made, and how it is given back. */
#ifndef QUERN_CTS_OBJECTS_H
#define QUERN_CTS_OBJECTS_H

#include <stdbool.h>

#include "cts.h"

typedef struct cts_objects cts_objects;

/* NULL: no memory. */
cts_objects *cts_objects_new(void);
/* Releases all handles in random order, waits until the devices hold nothing of them, closes the test's own runtimes, and
 * frees its memory. Fails the test (cts_note_failure) when something is refused, and when the test's device then has
 * other living objects than `before`. */
void cts_objects_end(cts *c, const qn_device_statistics *before);

/* With QUERN_CHECK=leaks: what closed runtimes left is a failure. */
void cts_check_leaks(const char *what);

#endif
