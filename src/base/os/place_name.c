#include "base/os/place_name.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/os/clock.h"

/* ".quern-output-" USE RANDOM "-" CHECK: a letter, and two numbers of 16 digits. */
static const char prefix[] = ".quern-output-", uses[] = "tu";
enum { DIGITS = 16 };

static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
  return value ^ value >> 31;
}

static uint64_t check_of(uint64_t number, qn_place_use use) {
  return mix(mix(number ^ UINT64_C(0x717565726e2d6f75)) + (uint64_t)use);
}

/* Where the system has none the clock and the process do: making the file finds out whether the name was free. */
static uint64_t random_number(void) {
  static _Atomic uint64_t counter;
  uint64_t number;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == (ssize_t)sizeof number) return number;
  return mix(qn_clock_wall_ns()) ^ mix((uint64_t)getpid() << 32 | atomic_fetch_add(&counter, 1));
}

void qn_place_name_make(qn_place_use use, char out[QN_PLACE_NAME]) {
  uint64_t number = random_number();
  snprintf(out, QN_PLACE_NAME, "%s%c%0*" PRIx64 "-%0*" PRIx64, prefix, uses[use], DIGITS, number, DIGITS,
           check_of(number, use));
}

bool qn_place_name_is(const char *name, qn_place_use use) {
  char again[QN_PLACE_NAME];
  size_t at = sizeof prefix - 1;
  if (strncmp(name, prefix, at) != 0 || name[at] != uses[use]) return false;
  uint64_t number = strtoull(name + at + 1, NULL, 16);
  snprintf(again, sizeof again, "%s%c%0*" PRIx64 "-%0*" PRIx64, prefix, uses[use], DIGITS, number, DIGITS,
           check_of(number, use));
  return strcmp(name, again) == 0;
}
