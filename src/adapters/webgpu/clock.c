/* clock.c - time limits. */
#include <time.h>

#include "device.h"

#define PAUSE_NS 50000

uint64_t wg_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t wg_deadline(uint64_t timeout_ns) {
  uint64_t now = wg_now();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

bool wg_lock_before(pthread_mutex_t *lock, uint64_t deadline) {
  if (pthread_mutex_trylock(lock) == 0) return true;
  if (deadline == UINT64_MAX) return pthread_mutex_lock(lock) == 0;
  while (wg_now() < deadline) {
    const struct timespec pause = {0, PAUSE_NS};
    (void)nanosleep(&pause, NULL);
    if (pthread_mutex_trylock(lock) == 0) return true;
  }
  return false;
}
