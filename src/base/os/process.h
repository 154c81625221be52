/* process.h - other programs. */
#ifndef QUERN_BASE_OS_PROCESS_H
#define QUERN_BASE_OS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct qn_process_end {
  int exit_status; /* when neither of the following */
  int signal;      /* 0: none */
  const char *signal_name;
  bool timed_out; /* it was killed */
} qn_process_end;

/* Runs a program (arguments[0] is its path; NULL ends them) with its input and output closed to it, and waits for its end.
 * Nothing but the program's own files is inherited. Errors: NOT_FOUND when it can't be started. */
QN_MUST_USE qn_status qn_process_run(const char *const *arguments, uint64_t timeout_ns, qn_process_end *out_end);

uint64_t qn_process_id(void);
/* The user whom the process acts for. */
uint32_t qn_process_user(void);

#endif
