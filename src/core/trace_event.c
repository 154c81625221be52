#include "core/trace_event.h"

#include "base/json.h"
#include "core/trace_file.h"

qn_mutex core_trace_lock;
static qn_bytes scratch; /* used again for each event */

qn_bytes *core_trace_event_begin(char phase, const core_trace_track *track, const char *category, const char *name) {
  scratch.size = 0;
  scratch.failed = false;
  qn_bytes_printf(&scratch, "{\"ph\":\"%c\",\"pid\":%llu,\"tid\":%llu,\"name\":", phase,
                  (unsigned long long)track->process, (unsigned long long)track->thread);
  qn_json_append_text(&scratch, name);
  if (category) qn_bytes_printf(&scratch, ",\"cat\":\"%s\"", category);
  return &scratch;
}

void core_trace_event_time(qn_bytes *event, const char *key, int64_t ns) {
  uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
  qn_bytes_printf(event, ",\"%s\":%s%llu.%03u", key, ns < 0 ? "-" : "", (unsigned long long)(size / 1000),
                  (unsigned)(size % 1000));
}

void core_trace_event_end(qn_bytes *event) {
  qn_bytes_append_char(event, '}');
  core_trace_file_add(event);
}

void core_trace_event_name(const core_trace_track *track, const char *what, const char *name) {
  qn_bytes *event = core_trace_event_begin('M', track, NULL, what);
  qn_bytes_append_str(event, ",\"args\":{\"name\":");
  qn_json_append_text(event, name);
  qn_bytes_append_char(event, '}');
  core_trace_event_end(event);
}
