/* trace_event.h - one event of a trace as JSON. Under the trace's lock. */
#ifndef QUERN_CORE_TRACE_EVENT_H
#define QUERN_CORE_TRACE_EVENT_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/os/thread.h"

extern qn_mutex core_trace_lock;

/* Where an event belongs: the trace's processes are this one and each device, its threads are threads and queues. */
typedef struct core_trace_track {
  uint64_t process, thread;
} core_trace_track;

/* Begins an event of a phase: 'X' a slice, 'i' a moment, 'C' a counter, 'M' a name. `category` may be NULL. */
qn_bytes *core_trace_event_begin(char phase, const core_trace_track *track, const char *category, const char *name);
/* ,"ts":12.345 (microseconds) */
void core_trace_event_time(qn_bytes *event, const char *key, int64_t ns);
void core_trace_event_end(qn_bytes *event);

/* Names a process ("process_name") or a thread ("thread_name"). */
void core_trace_event_name(const core_trace_track *track, const char *what, const char *name);

#endif
