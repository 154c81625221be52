#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/os/environment.h"
#include "base/os/text.h"
#include "base/os/thread.h"
#include "base/string_view.h"

static const char *const topic_names[] = {
#define QN_X(id, name) name,
    QN_LOG_TOPICS(QN_X)
#undef QN_X
};

static qn_once once;
static uint32_t topics_on; /* written once, inside `once` */

/* One write, so that lines of several threads and processes don't mix. A log that can't be written is no error. */
static void write_line(const char *text, size_t size) {
  int saved = errno;
  while (write(STDERR_FILENO, text, size) < 0 && errno == EINTR) continue;
  errno = saved;
}

static void complain(qn_sv unknown) {
  char line[512];
  int length = snprintf(line, sizeof line, "quern: QUERN_LOG has no topic '%.*s'; there are:",
                        (int)(unknown.size > 64 ? 64 : unknown.size), unknown.data);
  for (int i = 0; i < QN_LOG_TOPIC_COUNT; i++)
    length += snprintf(line + length, sizeof line - (size_t)length, " %s,", topic_names[i]);
  length += snprintf(line + length, sizeof line - (size_t)length, " all\n");
  write_line(line, (size_t)length);
}

static uint32_t topic_bits(qn_sv name) {
  if (name.size == 0) return 0;
  if (qn_sv_is(name, "all")) return UINT32_MAX;
  for (int i = 0; i < QN_LOG_TOPIC_COUNT; i++)
    if (qn_sv_is(name, topic_names[i])) return UINT32_C(1) << i;
  complain(name);
  return 0;
}

static void read_topics(void) {
  const char *at = qn_environment("QUERN_LOG");
  while (at && *at) {
    size_t size = strcspn(at, ",");
    topics_on |= topic_bits(qn_sv_make(at, size));
    at += size;
    at += *at == ',';
  }
}

bool qn_log_on(qn_log_topic topic) {
  qn_once_run(&once, read_topics);
  return (topics_on >> topic & 1u) != 0;
}

static void write_text(const char *before, const char *format, va_list args) {
  qn_bytes line = {0};
  qn_bytes_append_str(&line, before);
  qn_bytes_vprintf(&line, format, args);
  qn_bytes_append_char(&line, '\n');
  if (!line.failed) write_line(line.data, line.size);
  qn_bytes_free(&line);
}

void qn_log_write(qn_log_topic topic, const char *format, ...) {
  char before[64];
  snprintf(before, sizeof before, "quern: %s: ", topic_names[topic]);
  va_list args;
  va_start(args, format);
  write_text(before, format, args);
  va_end(args);
}

void qn_log_show(const char *format, ...) {
  va_list args;
  va_start(args, format);
  write_text("\r\033[Kquern: ", format, args);
  va_end(args);
}
