/* growth.h - whether memory grows with work. What leaks grows in each window of it; a machine that stalls, an allocator's new
 * chunk or a driver's late thread grows one or two. So the middle one of all windows' growths is looked at. */
#ifndef QUERN_TESTS_GROWTH_H
#define QUERN_TESTS_GROWTH_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "process.h"

enum { GROWTH_WINDOWS = 5 };

typedef struct growth {
  uint64_t resident; /* when the window began */
  uint64_t by[GROWTH_WINDOWS];
  int count;
} growth;

/* Both when nothing is in flight. */
static inline growth growth_begin(void) { return (growth){.resident = resident_bytes()}; }
static inline void growth_end_window(growth *g) {
  uint64_t now = resident_bytes();
  g->by[g->count++] = now > g->resident ? now - g->resident : 0;
  g->resident = now;
}

static inline int growth_compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* After the last window. */
static inline uint64_t growth_middle(const growth *g, const char *what) {
  uint64_t sorted[GROWTH_WINDOWS];
  printf("resident memory grew, for each fifth of the %s, by", what);
  for (int i = 0; i < GROWTH_WINDOWS; i++) printf(" %" PRIu64, sorted[i] = g->by[i]);
  printf(" bytes\n");
  qsort(sorted, GROWTH_WINDOWS, sizeof *sorted, growth_compare);
  return sorted[GROWTH_WINDOWS / 2];
}

#endif
