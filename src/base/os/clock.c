#include "base/os/clock.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

static uint64_t read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t); /* can't fail for these clocks */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t qn_clock_ns(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t qn_clock_wall_ns(void) { return read_clock(CLOCK_REALTIME); }

void qn_clock_sleep(uint64_t ns) {
  uint64_t end = qn_clock_deadline(ns);
  struct timespec until;
  until.tv_sec = (time_t)(end / 1000000000u > INT_MAX ? INT_MAX : end / 1000000000u);
  until.tv_nsec = (long)(end % 1000000000u);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}
