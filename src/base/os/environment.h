/* environment.h - environment variables. */
#ifndef QUERN_BASE_OS_ENVIRONMENT_H
#define QUERN_BASE_OS_ENVIRONMENT_H

/* NULL when it isn't set or is empty: `NAME= command` takes a setting back. Valid until the program changes it. */
const char *qn_environment(const char *name);

#endif
