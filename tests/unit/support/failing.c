#include "failing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic bool armed, all_fail;
static _Atomic uint64_t left, failed;

void failing_start(uint64_t count, bool all) {
  left = count;
  all_fail = all;
  failed = 0;
  armed = true;
}

void failing_pause(void) { armed = false; }

uint64_t failing_stop(void) {
  armed = false;
  return failed;
}

bool failing_now(void) {
  if (!armed) return false;
  uint64_t now = left;
  while (now > 0)
    if (atomic_compare_exchange_weak(&left, &now, now - 1)) return false;
  if (atomic_fetch_add(&failed, 1) > 0 && !all_fail) {
    failed--;
    return false;
  }
  return true;
}

static bool fails(void) {
  if (!failing_now()) return false;
  errno = ENOMEM;
  return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
char *__wrap_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = __wrap_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}
