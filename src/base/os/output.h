/* output.h - a file that a running process writes piece by piece, alone. */
#ifndef QUERN_BASE_OS_OUTPUT_H
#define QUERN_BASE_OS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct qn_output {
  int32_t descriptor;
} qn_output;

/* Makes the file, or empties it. It is closed in programs that are started. Errors: IO, also when another process has it open
 * in this way, and for what isn't a file (a directory, a pipe). */
QN_MUST_USE qn_status qn_output_open(const char *path, qn_output *out);
/* Writes at an offset, over what is there. Errors: IO. */
QN_MUST_USE qn_status qn_output_write(const qn_output *output, uint64_t offset, const void *data, size_t size);
/* Cuts the file. */
void qn_output_cut(const qn_output *output, uint64_t size);
void qn_output_close(qn_output *output);

#endif
