/* check.h - the end of a test by a check that fails. */
#ifndef QUERN_CTS_CHECK_H
#define QUERN_CTS_CHECK_H

#include <stdbool.h>

/* Runs a function that may fail a check; false when one did. */
bool cts_guarded(void (*run)(void *user), void *user);

#endif
