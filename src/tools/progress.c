#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define SHOW_AFTER_NS UINT64_C(500000000)
#define SHOW_EVERY_NS UINT64_C(100000000)
#define BAR 30

uint64_t tool_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

progress progress_start(bool quiet) {
  progress p = {.on = !quiet && isatty(STDERR_FILENO), .start_ns = tool_now_ns()};
  return p;
}

void progress_show(progress *p, const char *what, uint64_t done, uint64_t all) {
  if (!p->on) return;
  uint64_t now = tool_now_ns();
  if (now - p->start_ns < SHOW_AFTER_NS || now - p->shown_ns < SHOW_EVERY_NS) return;
  p->shown_ns = now;
  char bar[BAR + 1];
  uint64_t full = all ? done * BAR / all : 0;
  memset(bar, '.', BAR);
  memset(bar, '#', (size_t)(full > BAR ? BAR : full));
  bar[BAR] = 0;
  double seconds = (double)(now - p->start_ns) * 1e-9;
  if (all > 1)
    fprintf(stderr, "\r%s [%s] %" PRIu64 "/%" PRIu64 " %.1f s ", what, bar, done, all, seconds);
  else
    fprintf(stderr, "\r%s %.1f s ", what, seconds);
  fflush(stderr);
}

void progress_end(progress *p) {
  if (p->on && p->shown_ns) fputs("\r\033[K", stderr);
  p->shown_ns = 0;
}
