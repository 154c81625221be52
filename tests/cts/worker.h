/* worker.h - the process that runs tests: opens the devices, runs what it is told, and reports each test. */
#ifndef QUERN_CTS_WORKER_H
#define QUERN_CTS_WORKER_H

#include "gaps.h"
#include "options.h"

/* --one: one test. With nobody watching, what failed goes to standard error. Returns the exit status. */
int cts_worker_one(const cts_options *options);
/* --one-process: all chosen tests of all devices, round after round. */
int cts_worker_all(const cts_options *options, const cts_gaps *gaps);
/* Reports each device that `options` names, as a test "": selector, features; name and driver as `expected` and `came`. */
int cts_worker_describe(const cts_options *options);

#endif
