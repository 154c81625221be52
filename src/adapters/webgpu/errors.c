/* errors.c - texts of errors, and what kinds of them mean. */
#include <stdarg.h>
#include <stdio.h>

#include "webgpu.h"

enum { TEXT = 2048 };
#define PREFIX "webgpu: "

qn_status wg_status_of(uint32_t kind) {
  static const qn_status statuses[] = {[WGL_ERROR_NONE] = QN_OK,
                                       [WGL_ERROR_VALIDATION] = QN_ERROR_DEVICE,
                                       [WGL_ERROR_MEMORY] = QN_ERROR_OUT_OF_MEMORY,
                                       [WGL_ERROR_INTERNAL] = QN_ERROR_DEVICE,
                                       [WGL_ERROR_OTHER] = QN_ERROR_DEVICE};
  return kind < sizeof statuses / sizeof *statuses ? statuses[kind] : QN_ERROR_DEVICE;
}

static void print(char *text, size_t capacity, const char *format, va_list args) {
  int at = snprintf(text, capacity, PREFIX);
  if (at > 0 && (size_t)at < capacity) (void)vsnprintf(text + at, capacity - (size_t)at, format, args);
}

qn_status wg_fail(wg_failure *failure, qn_status status, uint32_t kind, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(failure->text, sizeof failure->text, format, args);
  va_end(args);
  failure->status = status;
  failure->kind = kind;
  return status;
}

qn_status wg_tell(const qn_adapter_host *host, const wg_failure *failure) {
  return host->set_error(failure->status, failure->kind, failure->text);
}

qn_status wg_error(const qn_adapter_host *host, qn_status status, const char *format, ...) {
  char text[TEXT];
  va_list args;
  va_start(args, format);
  print(text, sizeof text, format, args);
  va_end(args);
  return host->set_error(status, 0, text);
}

void wg_log(const qn_adapter_host *host, const char *format, ...) {
  char text[TEXT];
  va_list args;
  va_start(args, format);
  print(text, sizeof text, format, args);
  va_end(args);
  host->log(text);
}
