#include "core/trace_file.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/os/output.h"
#include "base/status.h"

enum { FLUSH_BYTES = 1 << 18 };
static const char array_end[] = "\n]\n";

static struct {
  bool is_open;
  qn_output output;
  uint64_t size;   /* of the file, without the array's end */
  qn_bytes buffer; /* not written yet */
} file;

static char failure[256]; /* why it ended too soon; empty: it didn't, or that was told */

qn_status core_trace_file_take_failure(void) {
  if (!failure[0]) return QN_OK;
  qn_status status = qn_error_set(QN_ERROR_IO, "%s", failure);
  failure[0] = 0;
  return status;
}

bool core_trace_file_is_open(void) { return file.is_open; }
bool core_trace_file_is_dirty(void) { return file.buffer.size > 0; }

qn_status core_trace_file_open(const char *path) {
  QN_TRY(qn_output_open(path, &file.output));
  file.size = 0;
  file.is_open = true;
  return QN_OK;
}

void core_trace_file_close(void) {
  if (!file.is_open) return;
  qn_output_close(&file.output);
  qn_bytes_free(&file.buffer);
  file.is_open = false;
}

void core_trace_file_add(const qn_bytes *event) {
  if (!file.is_open || event->failed) return;
  bool is_first = file.size == 0 && file.buffer.size == 0;
  size_t before = file.buffer.size;
  qn_bytes_append_str(&file.buffer, is_first ? "[\n" : ",\n");
  qn_bytes_append_sv(&file.buffer, qn_bytes_view(event));
  if (file.buffer.failed) { /* no memory: this event is lost */
    file.buffer.size = before;
    file.buffer.failed = false;
  }
  if (file.buffer.size >= FLUSH_BYTES) core_trace_file_flush();
}

/* Events and the array's end in one piece; the next flush begins where the end stands. */
void core_trace_file_flush(void) {
  if (!file.is_open || file.buffer.size == 0) return;
  size_t events = file.buffer.size;
  qn_bytes_append_str(&file.buffer, array_end);
  if (file.buffer.failed) {
    file.buffer.size = events;
    file.buffer.failed = false;
    return;
  }
  qn_error_saved saved;
  qn_error_save(&saved);
  if (qn_output_write(&file.output, file.size, file.buffer.data, file.buffer.size) < 0) {
    QN_LOG(RUNTIME, "the trace ends: %s", qn_error_text());
    (void)snprintf(failure, sizeof failure, "the trace ends: %s", qn_error_text());
    qn_status status = file.size > 0 ? qn_output_write(&file.output, file.size, array_end, strlen(array_end)) : QN_OK;
    (void)status; /* the end overwrites what lies there already; cutting needs no space */
    qn_output_cut(&file.output, file.size > 0 ? file.size + strlen(array_end) : 0);
    core_trace_file_close();
  }
  qn_error_restore(&saved);
  file.size += events;
  file.buffer.size = 0;
}
