/* status.h - error values with a text of the calling thread (L7).
 *
 * A function that fails calls QN_FAIL once, where the knowledge is: path, size, limit, the driver's code.
 * Callers pass the status up unchanged with QN_TRY and may put context before the text with
 * qn_error_prefix. Success touches nothing. The text is stored per thread: in a fixed part of 1 KiB, and
 * beyond that in a heap block that ends with the thread, so that diagnostics of any length fit.
 */
#ifndef QUERN_BASE_STATUS_H
#define QUERN_BASE_STATUS_H

#include <stdarg.h>
#include <stdint.h>

#include "quern/quern.h"

/* Sets the thread's text (printf style) and returns `status`. */
QN_MUST_USE qn_status qn_error_set(qn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
QN_MUST_USE qn_status qn_error_setv(qn_status status, int64_t driver_code, const char *format, va_list args);
/* The same with the driver's own code. */
QN_MUST_USE qn_status qn_error_set_driver(qn_status status, int64_t driver_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets a text that is already made, of any length. */
QN_MUST_USE qn_status qn_error_set_text(qn_status status, const char *text, uint64_t length);
/* Puts context before the present text. */
void qn_error_prefix(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Saves and restores what the thread has, for clean-up code that may fail itself. A text of the usual length allocates
 * nothing; a longer one is cut to that when there is no memory. */
enum { QN_ERROR_FIXED = 1024 };
typedef struct qn_error_saved {
  int64_t driver_code;
  char *heap; /* the text, or NULL: it is in `fixed` */
  char fixed[QN_ERROR_FIXED];
} qn_error_saved;
void qn_error_save(qn_error_saved *saved);
void qn_error_restore(qn_error_saved *saved);
void qn_error_forget(qn_error_saved *saved);

#define QN_FAIL(status, ...) return qn_error_set((status), __VA_ARGS__)
#define QN_TRY(expression)            \
  do {                                \
    qn_status qn_try_ = (expression); \
    if (qn_try_ < 0) return qn_try_;  \
  } while (0)
/* With a tail that undoes in reverse order. */
#define QN_TRY_GOTO(status, expression, label) \
  do {                                         \
    (status) = (expression);                   \
    if ((status) < 0) goto label;              \
  } while (0)

#endif
