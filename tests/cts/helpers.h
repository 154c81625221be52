/* helpers.h - what a test does in a process of its own (cts_run_helper): exit with work in flight, for example. */
#ifndef QUERN_CTS_HELPERS_H
#define QUERN_CTS_HELPERS_H

#include "options.h"

int cts_helper_main(const cts_options *options);

#endif
