/* report.h - what a test leaves behind, and how it gets from the process that runs it to the one that watches. */
#ifndef QUERN_CTS_REPORT_H
#define QUERN_CTS_REPORT_H

#include <stdatomic.h>
#include <stdint.h>

#include "quern/quern.h"

enum { CTS_BEGINS = 1, CTS_PASSED = 2, CTS_FAILED = 3 };

/* A record of the pipe. Begin and end of each test; one writer. */
typedef struct cts_report {
  uint32_t outcome; /* CTS_BEGINS, CTS_PASSED, CTS_FAILED */
  int32_t status;   /* of the call that failed, QN_OK when none did */
  uint64_t features;
  uint64_t seed;
  uint64_t ns;
  uint64_t output_at; /* how much the process had printed when the test began */
  uint32_t round;
  uint32_t line; /* of the check that failed */
  char file[64];
  char selector[64];
  char test[128]; /* "suite.name" */
  char expected[1536];
  char came[4096];
} cts_report;

/* Memory that both see: it tells where a test was that crashed or hung. */
typedef struct cts_live {
  _Atomic uint32_t line; /* of the check that began last */
  uint32_t reserved;
} cts_live;

/* The running test's report, and the memory that is shared when somebody watches. */
void cts_check_start(cts_report *report, cts_live *live);
/* The first failure of a test is kept. */
void cts_note_failure(const char *file, int line, qn_status status, const char *expected, const char *came);

#endif
