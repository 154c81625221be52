/* stage.h - a file that is written out of sight and then published under its name by a rename.
 *
 * While its writer lives the staged file is locked, so that a sweeper can tell those that were abandoned, whatever the
 * clock says. A writer that is killed leaves a staged file and never a partial one under the name. */
#ifndef QUERN_BASE_OS_STAGE_H
#define QUERN_BASE_OS_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct qn_stage {
  int file; /* -1: none */
  char path[4096];
} qn_stage;

/* Starts a staged file ".quern-...tmp" in `directory`, which must be in the file system of the name to come. Errors:
 * NOT_FOUND when there is no such directory, IO. */
QN_MUST_USE qn_status qn_stage_open(const char *directory, qn_stage *out_stage);
/* Errors: IO; discard it then. */
QN_MUST_USE qn_status qn_stage_write(qn_stage *stage, const void *data, size_t size);
/* Sets the time of last modification, nanoseconds since 1970. */
QN_MUST_USE qn_status qn_stage_set_time(qn_stage *stage, uint64_t ns);
/* Waits until the bytes are on the disk. On an error the staged file is gone. Errors: IO. */
QN_MUST_USE qn_status qn_stage_sync(qn_stage *stage);
/* Renames what was synced. On an error the staged file is gone and what had the name is as before. Errors: NOT_FOUND when the
 * directory isn't there, IO. */
QN_MUST_USE qn_status qn_stage_publish(qn_stage *stage, const char *path);
/* Nothing happens to one that was published. */
void qn_stage_discard(qn_stage *stage);

/* Removes what dead writers left in a directory. Returns how many. Errors are no matter: it costs room alone. */
uint32_t qn_stage_sweep(const char *directory);

#endif
