/* violation.c - what was done in the wrong order, kept for the test that asks. Of the whole library. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "inside.h"

enum { KEPT = 64, LENGTH = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count;
static char texts[KEPT][LENGTH];

void sim_violation(const char *format, ...) {
  va_list args;
  va_start(args, format);
  pthread_mutex_lock(&lock);
  if (count < KEPT) vsnprintf(texts[count], LENGTH, format, args);
  count++;
  pthread_mutex_unlock(&lock);
  va_end(args);
}

uint64_t sim_violation_count(void) {
  pthread_mutex_lock(&lock);
  uint64_t now = count;
  pthread_mutex_unlock(&lock);
  return now;
}

int32_t sim_violation_text(uint32_t index, char *text, uint64_t capacity) {
  pthread_mutex_lock(&lock);
  int32_t found = index < count && index < KEPT && capacity > 0;
  if (found) snprintf(text, (size_t)capacity, "%s", texts[index]);
  pthread_mutex_unlock(&lock);
  return found;
}

void sim_violations_forget(void) {
  pthread_mutex_lock(&lock);
  count = 0;
  pthread_mutex_unlock(&lock);
}
