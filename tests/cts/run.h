/* run.h - runs tests in other processes and watches them. */
#ifndef QUERN_CTS_RUN_H
#define QUERN_CTS_RUN_H

#include "gaps.h"
#include "options.h"
#include "result.h"

/* The devices that `options` names, asked in a process of its own; NULL after telling what is wrong. For free(). */
cts_device_row *cts_run_devices(const cts_options *options, uint32_t *out_count);
/* Each test in a process of its own. false: it could not be done, and is told. */
bool cts_run_apart(const cts_options *options, const cts_gaps *gaps, cts_results *results);
/* All tests in one process. */
bool cts_run_together(const cts_options *options, const cts_gaps *gaps, cts_results *results);

#endif
