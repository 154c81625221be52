#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/thread.h"

enum { FIXED_SIZE = QN_ERROR_FIXED };

/* `heap` is used for the text when it isn't NULL, else `fixed`. */
typedef struct thread_error {
  int64_t driver_code;
  char *heap;
  char fixed[FIXED_SIZE];
} thread_error;

static QN_THREAD_LOCAL thread_error current;

/* The heap block ends with the thread. Runs before the thread's local storage goes. */
static void end_of_thread(void *heap) {
  if (current.heap == heap) current.heap = NULL;
  free(heap);
}
static qn_thread_key heap_key = QN_THREAD_KEY(end_of_thread);

static void take_heap(char *text) {
  char *old = current.heap;
  if (!text && !old) return;
  if (!qn_thread_key_set(&heap_key, text) && text) {
    /* Nobody would free it at the thread's end: keep what fits. */
    qn_thread_key_set(&heap_key, NULL);
    free(text);
    text = NULL;
  }
  current.heap = text;
  free(old);
}

/* Cuts at a whole UTF-8 character. */
static void copy_cut(char fixed[FIXED_SIZE], const char *text, size_t length) {
  if (length > FIXED_SIZE - 1) {
    length = FIXED_SIZE - 1;
    while (length > 0 && ((unsigned char)text[length] & 0xc0u) == 0x80u) length--;
  }
  if (length > 0) memmove(fixed, text, length);
  fixed[length] = 0;
}

/* `text` may be the present text or a part of it. */
static void store(int64_t driver_code, const char *text, size_t length) {
  char *heap = NULL;
  if (length >= FIXED_SIZE) {
    heap = malloc(length + 1);
    if (heap) {
      memcpy(heap, text, length);
      heap[length] = 0;
    }
  }
  copy_cut(current.fixed, text, length);
  take_heap(heap);
  current.driver_code = driver_code;
}

qn_status qn_error_set_text(qn_status status, const char *text, uint64_t length) {
  store(0, text, (size_t)length);
  return status;
}

qn_status qn_error_setv(qn_status status, int64_t driver_code, const char *format, va_list args) {
  char buffer[FIXED_SIZE];
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(buffer, sizeof buffer, format, args);
  char *large = length >= FIXED_SIZE ? malloc((size_t)length + 1) : NULL;
  if (large) {
    vsnprintf(large, (size_t)length + 1, format, again);
    store(driver_code, large, (size_t)length);
    free(large);
  } else {
    if (length < 0) buffer[0] = 0;
    store(driver_code, buffer, strlen(buffer));
  }
  va_end(again);
  return status;
}

qn_status qn_error_set(qn_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status = qn_error_setv(status, 0, format, args);
  va_end(args);
  return status;
}

qn_status qn_error_set_driver(qn_status status, int64_t driver_code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status = qn_error_setv(status, driver_code, format, args);
  va_end(args);
  return status;
}

void qn_error_prefix(const char *format, ...) {
  char prefix[FIXED_SIZE];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(prefix, sizeof prefix, format, args);
  va_end(args);
  if (length <= 0) return;
  size_t front = (size_t)length < sizeof prefix ? (size_t)length : sizeof prefix - 1;
  const char *old = qn_error_text();
  size_t back = strlen(old);
  if (front + back < FIXED_SIZE) { /* it fits: nothing is allocated */
    memmove(current.fixed + front, old, back + 1);
    memcpy(current.fixed, prefix, front);
    take_heap(NULL);
    return;
  }
  char *both = malloc(front + back + 1);
  if (!both) return; /* the cause matters more than where it was met */
  memcpy(both, prefix, front);
  memcpy(both + front, old, back + 1);
  store(current.driver_code, both, front + back);
  free(both);
}

void qn_error_save(qn_error_saved *saved) {
  const char *text = qn_error_text();
  size_t length = strlen(text);
  saved->driver_code = current.driver_code;
  saved->heap = length < FIXED_SIZE ? NULL : strdup(text);
  copy_cut(saved->fixed, text, length);
}

void qn_error_restore(qn_error_saved *saved) {
  const char *text = saved->heap ? saved->heap : saved->fixed;
  store(saved->driver_code, text, strlen(text));
  qn_error_forget(saved);
}

void qn_error_forget(qn_error_saved *saved) {
  free(saved->heap);
  saved->heap = NULL;
}

/* ---- Public ---- */

const char *qn_error_text(void) { return current.heap ? current.heap : current.fixed; }

int64_t qn_error_driver_code(void) { return current.driver_code; }

const char *qn_status_name(qn_status status) {
  static const struct {
    qn_status value;
    const char *name;
  } names[] = {
#define QN_X(name, value, text) {value, #name},
      QN_STATUS_LIST(QN_X)
#undef QN_X
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].value == status) return names[i].name;
  return "unknown status";
}
