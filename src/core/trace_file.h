/* trace_file.h - the file of a trace: a JSON array that is whole after every flush, so that whatever ends the process, what was
 * flushed can be read. One trace a process; under the trace's lock. */
#ifndef QUERN_CORE_TRACE_FILE_H
#define QUERN_CORE_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "quern/quern.h"

/* Errors: IO. */
QN_MUST_USE qn_status core_trace_file_open(const char *path);
bool core_trace_file_is_open(void);
/* Adds an event, a JSON object. Flushes when a lot has gathered. */
void core_trace_file_add(const qn_bytes *event);
bool core_trace_file_is_dirty(void);
/* When it can't be written (a full disk), says so in the log, leaves what was whole, and closes. */
void core_trace_file_flush(void);
void core_trace_file_close(void);
/* Why it ended too soon, once. Errors: IO. */
QN_MUST_USE qn_status core_trace_file_take_failure(void);

#endif
