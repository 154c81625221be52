/* stage.h - how long each step of a compilation takes, a line each under QUERN_LOG=compile. */
#ifndef QUERN_BASE_STAGE_H
#define QUERN_BASE_STAGE_H

#include <stdint.h>

#include "base/log.h"
#include "base/os/clock.h"

/* 0 when nobody wants to know. */
static inline uint64_t qn_stage_start(void) { return qn_log_on(QN_LOG_COMPILE) ? qn_clock_ns() : 0; }

static inline void qn_stage_end(const char *name, uint64_t start) {
  if (start) QN_LOG(COMPILE, "%-20s %10.3f ms", name, (double)(qn_clock_ns() - start) / 1e6);
}

#endif
