/* result.h - what a test's run came to: report, ending and gaps together. */
#ifndef QUERN_CTS_RESULT_H
#define QUERN_CTS_RESULT_H

#include "child.h"
#include "gaps.h"
#include "options.h"
#include "plan.h"
#include "report.h"

typedef struct cts_device_row {
  char selector[64], name[128], driver[128];
  char text[384]; /* "selector/name/driver", what the gaps' patterns see */
  uint64_t features;
} cts_device_row;

typedef enum cts_verdict { CTS_VERDICT_PASS, CTS_VERDICT_FAIL, CTS_VERDICT_GAP } cts_verdict;

typedef struct cts_result {
  cts_verdict verdict;
  uint32_t device;  /* index of the row; UINT32_MAX: none */
  char test[128];   /* "suite.test" */
  const char *rule; /* NULL: not a test of a suite ("opening") */
  char where[96];   /* "suite_copies.c:120" */
  char expected[2048];
  char came[4352];
  const char *reason; /* of a gap */
  const char *gap_source;
  char *output; /* what the process printed; NULL */
  uint64_t ns, seed;
  uint32_t round;
} cts_result;

/* What is known of a run before the gaps are looked at. */
typedef enum cts_raw { CTS_RAW_PASSED, CTS_RAW_FAILED, CTS_RAW_CRASHED, CTS_RAW_HUNG, CTS_RAW_NOT_RUN } cts_raw;

/* Puts a report and an ending (NULL: the process lives on) into words, and judges by the gaps. `item` may be NULL. */
void cts_judge(const cts_gaps *gaps, const cts_device_row *devices, const cts_plan_item *item, const cts_report *report,
               const cts_ending *ending, cts_result *out);
/* A test that is not run because of a gap. */
void cts_judge_skipped(const cts_plan_item *item, const cts_gap *gap, cts_result *out);

/* ---- Printing ------------------------------------------------------------------------------------- */

typedef struct cts_results {
  cts_result **items;
  uint32_t count, room;
  uint32_t passed, failed, gaps;
  const cts_device_row *devices;
  uint32_t device_count;
  const cts_options *options;
} cts_results;

/* Keeps a copy, and prints its line, with what is wrong when it failed. */
bool cts_results_add(cts_results *results, const cts_result *result);
/* The table, the gaps, and the last line; or the JSON object. */
void cts_results_end(const cts_results *results);
/* --list */
void cts_print_list(const cts_options *options);

#endif
