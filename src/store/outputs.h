/* outputs.h - the outputs of a build are a transaction (C4): all of them are replaced, or none is.
 *
 * The directory, or each of several, is locked against other builds. A file that we may not write is not replaced either, though a rename would do:
 * that is an error. Each output that differs from what is there is staged beside it, with the old file's owner, group and
 * permissions; the old file gets a second name until the last output is in its place. When one can't be put there, those before
 * it are put back: each only where the file is still the one that was put, so that nothing of another's is lost. After SIGKILL
 * every file is whole, old or new, and the next call sweeps what was left. Where a rename can't work but the file can be written
 * (a mount point), it is written and read back, under a record of what it held: should the process be killed just then, the next
 * call puts the old bytes back (undo.h). What others have in the directory is never touched, whatever it is called.
 */
#ifndef QUERN_STORE_OUTPUTS_H
#define QUERN_STORE_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_view.h"
#include "quern/quern.h"

typedef enum qn_output_state {
  QN_OUTPUT_STATE_OLD,    /* as it was before */
  QN_OUTPUT_STATE_SAME,   /* what was there had these bytes already and was left alone */
  QN_OUTPUT_STATE_NEW,    /* these bytes */
  QN_OUTPUT_STATE_UNKNOWN /* after a failure that could not be undone; the error text says what is there */
} qn_output_state;

typedef struct qn_output_file {
  const char *name; /* in the directory; no '/' */
  qn_sv bytes;
  const char *directory; /* NULL: that of the call */
  qn_output_state state; /* filled in */
} qn_output_file;

/* Makes the directories when they aren't there. What isn't a regular file is not replaced, but for links. `touch`: outputs that are the same get a new time. On success every output is
 * SAME or NEW; on an error all are OLD, or the text names each that is not. Errors: INVALID_ARGUMENT (a name, doubled or
 * not one; a directory that is none), IO (the path and the first reason), TIMEOUT (another build has a directory for
 * longer than `patience_ns`), OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_outputs_replace(const char *directory, qn_output_file *outputs, uint32_t count, bool touch,
                                         uint64_t patience_ns);

#endif
