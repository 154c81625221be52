/* environment.h - environment variables. */
#ifndef QUERN_BASE_OS_ENVIRONMENT_H
#define QUERN_BASE_OS_ENVIRONMENT_H

#include <stdbool.h>

#include "quern/quern.h"

/* NULL when it isn't set or is empty: `NAME= command` takes a setting back. Valid until the program changes it. */
const char *qn_environment(const char *name);
/* A variable that is 1 or 0, or not set: false. Errors: INVALID_ARGUMENT, which names it. */
QN_MUST_USE qn_status qn_environment_flag(const char *name, bool *out);

#endif
