/* main.c - quern-cts, the conformance suite. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cts.h"
#include "helpers.h"
#include "options.h"
#include "result.h"
#include "run.h"
#include "worker.h"

static int no_test(void) {
  fputs("quern-cts: no test has such a name; quern-cts --list shows them\n", stderr);
  return CTS_EXIT_USAGE;
}

static bool any_is_chosen(const cts_options *options) {
  for (const cts_suite *const *suite = cts_suites; *suite; suite++)
    for (uint32_t i = 0; i < (*suite)->count; i++)
      if (cts_options_choose(options, (*suite)->name, (*suite)->tests[i].name)) return true;
  return false;
}

/* Watches the processes that run the tests; calls nothing of the library itself. */
static int watch(const cts_options *options, const cts_gaps *gaps) {
  uint32_t count = 0;
  if (!any_is_chosen(options)) return no_test();
  cts_device_row *devices = cts_run_devices(options, &count);
  if (!devices) return CTS_EXIT_USAGE;
  static cts_results results; /* to the end of the process */
  results = (cts_results){.devices = devices, .device_count = count, .options = options};
  bool done =
      options->is_one_process ? cts_run_together(options, gaps, &results) : cts_run_apart(options, gaps, &results);
  cts_results_end(&results);
  if (!done || results.failed > 0) return CTS_EXIT_FAILED;
  return results.passed + results.gaps > 0 ? CTS_EXIT_OK : no_test();
}

int main(int argc, char **argv) {
  static cts_options options;
  static cts_gaps gaps;
  int status = cts_options_read(argc, argv, &options);
  if (status >= 0) return status;
  cts_patience_ns = options.patience_ns;
  setenv("QUERN_CACHE", "off", 0); /* what is compiled is tested, and nobody's cache gets what tests make */
  if (options.is_list) {
    cts_print_list(&options);
    return CTS_EXIT_OK;
  }
  if (options.helper) return cts_helper_main(&options);
  if (options.is_describe) return cts_worker_describe(&options);
  if (options.one) return cts_worker_one(&options);
  if (!cts_gaps_load(&gaps, options.gap_files, options.gap_file_count)) return CTS_EXIT_USAGE;
  if (options.is_one_process && options.report_fd >= 0) return cts_worker_all(&options, &gaps);
  return watch(&options, &gaps);
}
