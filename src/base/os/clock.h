/* clock.h - time in nanoseconds. A deadline is a monotonic time; QN_FOREVER is never reached. */
#ifndef QUERN_BASE_OS_CLOCK_H
#define QUERN_BASE_OS_CLOCK_H

#include <stdint.h>

#include "quern/quern.h"

/* Monotonic, since some start; the same clock in every process. */
uint64_t qn_clock_ns(void);
/* Since 1970, for time stamps that others see. */
uint64_t qn_clock_wall_ns(void);
void qn_clock_sleep(uint64_t ns);

/* now + timeout; stays QN_FOREVER and never overflows. */
static inline uint64_t qn_clock_deadline(uint64_t timeout_ns) {
  uint64_t now = qn_clock_ns();
  return timeout_ns >= QN_FOREVER - now ? QN_FOREVER : now + timeout_ns;
}
/* What is left until a deadline: 0 when it has passed. */
static inline uint64_t qn_clock_left(uint64_t deadline_ns) {
  if (deadline_ns == QN_FOREVER) return QN_FOREVER;
  uint64_t now = qn_clock_ns();
  return now >= deadline_ns ? 0 : deadline_ns - now;
}

#endif
