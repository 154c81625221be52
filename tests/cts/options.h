/* options.h - the command line of quern-cts. */
#ifndef QUERN_CTS_OPTIONS_H
#define QUERN_CTS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { CTS_PATTERNS = 128, CTS_DEVICES = 64 };

typedef struct cts_options {
  const char *devices;              /* as given: "all", "cpu", "cpu,null" */
  const char *suites[CTS_PATTERNS]; /* patterns with * */
  const char *tests[CTS_PATTERNS];
  const char *gap_files[CTS_PATTERNS];
  uint32_t suite_count, test_count, gap_file_count;
  bool is_list, is_json, is_long, is_one_process, is_verbose, is_shuffled, is_describe;
  const char *one;        /* a test to run in this process */
  const char *on;         /* --one: for this device of `devices`; NULL: the first */
  const char *helper;     /* helpers.h */
  int report_fd, live_fd; /* of the process that watches; -1: nobody */
  uint64_t seed;
  uint64_t rounds;
  uint64_t every;
  uint32_t jobs;
  uint64_t timeout_ns;  /* of a test */
  uint64_t patience_ns; /* of a wait within a test */
} cts_options;

/* Exit status: 0 all is well; 1 a test failed; 2 wrong usage, or no such device. */
enum { CTS_EXIT_OK = 0, CTS_EXIT_FAILED = 1, CTS_EXIT_USAGE = 2 };

/* Reads the command line. Returns -1 to go on, else the exit status. */
int cts_options_read(int argc, char **argv, cts_options *out);

/* Whether a test is chosen by --suite and --test. */
bool cts_options_choose(const cts_options *options, const char *suite, const char *test);

#endif
