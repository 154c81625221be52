#include "base/waiting.h"

#include <stdarg.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/os/thread.h"

static QN_THREAD_LOCAL bool is_shown;

bool qn_waiting_is_shown(bool shown) {
  bool before = is_shown;
  is_shown = shown;
  return before;
}

void qn_waiting_tell(const char *format, ...) {
  qn_bytes text = {0};
  va_list args;
  if (!is_shown && !qn_log_on(QN_LOG_CACHE)) return;
  va_start(args, format);
  qn_bytes_append_str(&text, "waiting for ");
  qn_bytes_vprintf(&text, format, args);
  va_end(args);
  if (!text.failed && qn_log_on(QN_LOG_CACHE))
    qn_log_write(QN_LOG_CACHE, "%s", text.data);
  else if (!text.failed)
    qn_log_show("%s", text.data);
  qn_bytes_free(&text);
}
