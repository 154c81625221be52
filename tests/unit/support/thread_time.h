/* thread_time.h - the processor's time that this thread has had: other work on the machine doesn't count. */
#ifndef QUERN_TEST_THREAD_TIME_H
#define QUERN_TEST_THREAD_TIME_H

#include <stdint.h>
#include <time.h>

static inline uint64_t thread_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
