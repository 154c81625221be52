/* check.c - the checks, and how the first that fails ends its thread. */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cts.h"
#include "report.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cts_report *current;
static cts_live *live;
static _Thread_local jmp_buf *target;

void cts_check_start(cts_report *report, cts_live *shared) {
  current = report;
  live = shared;
}

void cts_at(int line) {
  if (live) atomic_store_explicit(&live->line, (uint32_t)line, memory_order_relaxed);
}

/* ---- Failures ------------------------------------------------------------------------------------ */

static void copy_text(char *out, size_t size, const char *text) { snprintf(out, size, "%s", text); }

void cts_note_failure(const char *file, int line, qn_status status, const char *expected, const char *came) {
  const char *name = strrchr(file, '/');
  pthread_mutex_lock(&lock);
  if (current->outcome != CTS_FAILED) {
    current->outcome = CTS_FAILED;
    current->status = status;
    current->line = (uint32_t)line;
    copy_text(current->file, sizeof current->file, name ? name + 1 : file);
    copy_text(current->expected, sizeof current->expected, expected);
    copy_text(current->came, sizeof current->came, came);
  }
  pthread_mutex_unlock(&lock);
}

_Noreturn static void leave(void) {
  if (target) longjmp(*target, 1);
  fputs("quern-cts: a check failed outside of a test\n", stderr);
  abort();
}

_Noreturn void cts_fail(const char *file, int line, qn_status status, const char *expected, const char *came) {
  cts_note_failure(file, line, status, expected, came);
  leave();
}

_Noreturn void cts_fail_format(const char *file, int line, const char *came, const char *expected, ...) {
  char text[sizeof current->expected];
  va_list args;
  va_start(args, expected);
  vsnprintf(text, sizeof text, expected, args);
  va_end(args);
  cts_fail(file, line, QN_OK, text, came);
}

bool cts_guarded(void (*run)(void *user), void *user) {
  jmp_buf here;
  jmp_buf *before = target;
  target = &here;
  bool done = false;
  if (setjmp(here) == 0) {
    run(user);
    done = true;
  }
  target = before;
  return done;
}

/* ---- What is expected ----------------------------------------------------------------------------- */

void cts_expect_status(const char *file, int line, const char *call, qn_status came, qn_status wanted,
                       const char *words) {
  bool has_words = !words || strstr(qn_error_text(), words);
  if (came == wanted && has_words) return;
  char expected[1024], text[4096];
  snprintf(expected, sizeof expected, "%s gives %s%s%s%s", call, qn_status_name(wanted),
           words ? " with a text that has '" : "", words ? words : "", words ? "'" : "");
  if (came < 0) {
    int64_t code = qn_error_driver_code();
    int used = snprintf(text, sizeof text, "%s: %s", qn_status_name(came), qn_error_text());
    if (code != 0 && used > 0 && (size_t)used < sizeof text)
      snprintf(text + used, sizeof text - (size_t)used, " (the driver's code: %" PRId64 ")", code);
  } else {
    snprintf(text, sizeof text, "%s", qn_status_name(came));
  }
  cts_fail(file, line, came, expected, text);
}

void cts_expect_equal(const char *file, int line, const char *what, uint64_t came, uint64_t wanted) {
  if (came == wanted) return;
  char expected[1024], text[64];
  snprintf(expected, sizeof expected, "%s is %" PRIu64 " (0x%" PRIx64 ")", what, wanted, wanted);
  snprintf(text, sizeof text, "%" PRIu64 " (0x%" PRIx64 ")", came, came);
  cts_fail(file, line, QN_OK, expected, text);
}

/* "2a 2b 2c" of up to 16 bytes. */
static void hex(char *out, const unsigned char *bytes, uint64_t size) {
  *out = 0;
  for (uint64_t i = 0; i < size && i < 16; i++) out += sprintf(out, "%02x ", bytes[i]);
}

_Noreturn static void fail_bytes(const char *file, int line, const char *what, const unsigned char *came,
                                 const unsigned char *wanted, uint64_t at, uint64_t size, uint64_t count) {
  char expected[1024], text[256], bytes[64];
  uint64_t from = at & ~(uint64_t)15, left = size - from;
  hex(bytes, wanted, left);
  snprintf(expected, sizeof expected, "%s: at byte %" PRIu64 " of %" PRIu64 " 0x%02x (from byte %" PRIu64 ": %s)", what,
           at, size, wanted[at - from], from, bytes);
  hex(bytes, came + from, left);
  snprintf(text, sizeof text, "0x%02x (from byte %" PRIu64 ": %s); %" PRIu64 " bytes differ", came[at], from, bytes,
           count);
  cts_fail(file, line, QN_OK, expected, text);
}

void cts_expect_bytes(const char *file, int line, const char *what, const void *came, const void *wanted,
                      uint64_t size) {
  const unsigned char *a = came, *b = wanted;
  if (size == 0 || memcmp(a, b, (size_t)size) == 0) return;
  uint64_t at = 0, count = 0;
  while (a[at] == b[at]) at++;
  for (uint64_t i = at; i < size; i++) count += a[i] != b[i];
  fail_bytes(file, line, what, a, b + (at & ~(uint64_t)15), at, size, count);
}

void cts_expect_filled(const char *file, int line, const char *what, const void *came, unsigned char wanted,
                       uint64_t size) {
  const unsigned char *a = came;
  unsigned char row[16];
  uint64_t at = 0, count = 0;
  while (at < size && a[at] == wanted) at++;
  if (at == size) return;
  for (uint64_t i = at; i < size; i++) count += a[i] != wanted;
  memset(row, wanted, sizeof row);
  fail_bytes(file, line, what, a, row, at, size, count);
}

/* ---- Threads ------------------------------------------------------------------------------------- */

typedef struct worker {
  pthread_t thread;
  cts *c;
  uint32_t index;
  void (*run)(cts *c, uint32_t index, void *user);
  void *user;
} worker;

static void run_worker(void *user) {
  const worker *w = user;
  w->run(w->c, w->index, w->user);
}

static void *worker_main(void *user) {
  cts_guarded(run_worker, user);
  return NULL;
}

void cts_threads(cts *c, uint32_t count, void (*run)(cts *c, uint32_t index, void *user), void *user) {
  enum { MOST = 64 };
  worker workers[MOST];
  if (count > MOST) count = MOST;
  uint32_t started = 0;
  for (; started < count; started++) {
    workers[started] = (worker){.c = c, .index = started, .run = run, .user = user};
    if (pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]) != 0) break;
  }
  for (uint32_t i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
  if (started < count) cts_fail_format(CTS_HERE, "pthread_create failed", "%u threads start", count);
  if (current->outcome == CTS_FAILED) leave();
}
