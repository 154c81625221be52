/* process.h - other programs. */
#ifndef QUERN_BASE_OS_PROCESS_H
#define QUERN_BASE_OS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct qn_process_end {
  bool is_known;   /* false: somebody else took the end (the program ignores SIGCHLD, or waits for any child) */
  bool timed_out;  /* it was killed */
  int exit_status; /* when known, and neither timed out nor ended by a signal */
  int signal;      /* 0: none */
  const char *signal_name;
  int word; /* the byte that it wrote to descriptor QN_PROCESS_WORD, or -1: so it can tell how it went in any case */
  char text[512]; /* what followed the byte in the same write */
} qn_process_end;

enum { QN_PROCESS_WORD = 3 };

/* Runs a program (arguments[0] is its path; NULL ends them) with its input and output closed to it, and waits for its end.
 * Nothing but the program's own files and the descriptor for its word is inherited. Errors: NOT_FOUND when it can't be
 * started, LIMIT when there is no descriptor left, IO when its word can't be read. */
QN_MUST_USE qn_status qn_process_run(const char *const *arguments, uint64_t timeout_ns, qn_process_end *out_end);

uint64_t qn_process_id(void);
/* The user whom the process acts for. */
uint32_t qn_process_user(void);

#endif
