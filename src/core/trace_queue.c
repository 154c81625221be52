#include "core/trace_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/process.h"
#include "base/status.h"
#include "core/trace_event.h"

struct core_trace_command {
  uint64_t value, begin_ns, submitted_ns, bytes;
  const char *category, *name; /* of the kernel: it lives as long as the device */
  core_trace_command *next;
};

/* Commands that are not told yet, of all queues. What is in flight is bounded by the queues; this bounds them together. */
enum { COMMAND_LIMIT = 1 << 17 };
static uint32_t command_count;
static uint64_t dropped;
static core_trace_queue *queues;

/* ---- Devices ------------------------------------------------------------------------------------ */

/* Devices have numbers that no process of the system has. */
enum { FIRST_DEVICE = 1 << 30 };

static uint64_t process_of(core_device *device) {
  static uint32_t devices;
  if (device->trace.process == 0) {
    char name[256];
    device->trace.process = FIRST_DEVICE + devices++;
    snprintf(name, sizeof name, "device %s: %s", device->selector, device->info.name);
    const core_trace_track track = {device->trace.process, 0};
    core_trace_event_name(&track, "process_name", name);
  }
  return device->trace.process;
}

static bool can_time(const core_device *device) {
  return (device->info.features & QN_FEATURE_TIMED_QUEUES) != 0 && device->table->queue_time;
}

uint64_t core_trace_queue_flags(const core_device *device, uint64_t flags) {
  return core_trace_on() && can_time(device) ? flags | QN_QUEUE_TIMED : flags;
}

/* The first command that is told says how the device's clock differs from the host's: it began after it was submitted, and
 * ended before now. No difference at all when there may be none; else it began at once, for the device was idle. */
static void learn_clock(core_device *device, const core_trace_command *c, uint64_t begin, uint64_t end, uint64_t now) {
  int64_t low = (int64_t)(c->begin_ns - begin), high = (int64_t)(now - end);
  device->trace.offset_ns = low <= 0 && high >= 0 ? 0 : low;
  device->trace.has_clock = true;
}

void core_trace_queue_memory(core_device *device, const qn_pool_statistics *memory) {
  const core_trace_track track = {process_of(device), 0};
  qn_bytes *event = core_trace_event_begin('C', &track, "memory", "memory");
  core_trace_event_time(event, "ts", (int64_t)qn_clock_ns());
  qn_bytes_printf(event, ",\"args\":{\"used\":%llu,\"cached\":%llu}", (unsigned long long)memory->used,
                  (unsigned long long)(memory->reserved - memory->used));
  core_trace_event_end(event);
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static core_trace_track track_of(const core_trace_queue *q) {
  return (core_trace_track){process_of(q->queue->device), q->number};
}

void core_trace_queue_begin(core_queue *queue) {
  core_trace_queue *q = &queue->trace;
  core_device *device = queue->device;
  q->queue = queue;
  q->number = core_timeline_number(queue->timeline); /* while it is live */
  q->is_timed = can_time(device);
  q->tail = &q->first;
  q->next = queues;
  if (q->next) q->next->previous = q;
  queues = q;
  char name[64];
  const core_trace_track track = track_of(q);
  snprintf(name, sizeof name, "queue %llu%s", (unsigned long long)track.thread,
           q->is_timed ? "" : " (times of the host)");
  core_trace_event_name(&track, "thread_name", name);
}

/* ---- Commands ----------------------------------------------------------------------------------- */

static const struct {
  const char *category, *name;
} kinds[] = {
    [QN_COMMAND_LAUNCH] = {"launch", "a kernel"}, [QN_COMMAND_COPY] = {"copy", "copy"},
    [QN_COMMAND_FILL] = {"fill", "fill"},         [QN_COMMAND_WRITE] = {"copy", "write"},
    [QN_COMMAND_READ] = {"copy", "read"},
};

static core_trace_command *new_command(void) {
  if (command_count >= COMMAND_LIMIT) (void)core_trace_queues_collect();
  if (command_count >= COMMAND_LIMIT) return NULL;
  core_trace_command *command = malloc(sizeof *command);
  command_count += command != NULL;
  return command;
}

void core_trace_queue_add(core_queue *queue, uint64_t begin_ns, const qn_adapter_command *command, const char *kernel) {
  core_trace_queue *q = &queue->trace;
  bool is_told = command->kind < sizeof kinds / sizeof *kinds && kinds[command->kind].name;
  if (!is_told) return; /* waits and marks */
  core_trace_command *c = new_command();
  if (!c) {
    dropped++;
    return;
  }
  *c = (core_trace_command){.value = command->value,
                            .begin_ns = begin_ns,
                            .submitted_ns = qn_clock_ns(),
                            .bytes = command->size_bytes,
                            .category = kinds[command->kind].category,
                            .name = kernel ? kernel : kinds[command->kind].name};
  *q->tail = c;
  q->tail = &c->next;
}

/* ---- Telling ------------------------------------------------------------------------------------ */

static void append_details(qn_bytes *event, const core_trace_command *c, const char *clock, const char *state) {
  qn_bytes_printf(event, ",\"args\":{\"value\":%llu,\"clock\":\"%s\",\"state\":\"%s\"", (unsigned long long)c->value,
                  clock, state);
  core_trace_event_time(event, "submitted", (int64_t)c->submitted_ns);
  if (c->bytes) qn_bytes_printf(event, ",\"bytes\":%llu", (unsigned long long)c->bytes);
  qn_bytes_append_char(event, '}');
}

static void tell_slice(core_trace_queue *q, const core_trace_command *c, int64_t begin, int64_t end, const char *clock,
                       const char *state) {
  const core_trace_track track = track_of(q);
  qn_bytes *event = core_trace_event_begin('X', &track, c->category, c->name);
  core_trace_event_time(event, "ts", begin);
  core_trace_event_time(event, "dur", end > begin ? end - begin : 0);
  append_details(event, c, clock, state);
  core_trace_event_end(event);
}

/* When a value's work began: as the adapter tells; else the end of the value before, which the queue had to wait for. */
static qn_status begin_of(const core_trace_queue *q, uint64_t value, uint64_t *out_ns) {
  const core_timeline *t = q->queue->timeline;
  if (t->table->queue_begin) return t->table->queue_begin(t->queue, value, out_ns);
  return value > 1 ? t->table->queue_time(t->queue, value - 1, out_ns) : QN_NOT_READY;
}

static bool tell_by_device(core_trace_queue *q, const core_trace_command *c, uint64_t now) {
  const core_timeline *t = q->queue->timeline;
  core_device *device = q->queue->device;
  uint64_t begin = 0, end = 0;
  if (!q->is_timed || t->table->queue_time(t->queue, c->value, &end) != QN_OK) return false;
  if (begin_of(q, c->value, &begin) != QN_OK) begin = end;
  if (!device->trace.has_clock) learn_clock(device, c, begin, end, now);
  int64_t offset = device->trace.offset_ns;
  tell_slice(q, c, (int64_t)begin + offset, (int64_t)end + offset, "device", "done");
  q->seen_ns = (uint64_t)((int64_t)end + offset); /* should the next one have no times */
  return true;
}

/* From its submission, or the end of the one before, to now. */
static void tell_by_host(core_trace_queue *q, const core_trace_command *c, uint64_t now, const char *state) {
  uint64_t begin = c->submitted_ns > q->seen_ns ? c->submitted_ns : q->seen_ns;
  tell_slice(q, c, (int64_t)begin, (int64_t)(now > begin ? now : begin), "host", state);
  q->seen_ns = now > begin ? now : begin;
}

static void pop(core_trace_queue *q) {
  core_trace_command *c = q->first;
  q->first = c->next;
  if (!q->first) q->tail = &q->first;
  free(c);
  command_count--;
}

static void collect(core_trace_queue *q) {
  core_timeline *t = q->queue->timeline;
  core_timeline_refresh(t);
  uint64_t completed = atomic_load(&t->completed), failed_first = atomic_load(&t->failed_first), now = qn_clock_ns();
  for (; q->first; pop(q)) {
    uint64_t value = q->first->value;
    bool failed = failed_first != 0 && value >= failed_first;
    if (!failed && value > completed) return;
    if (failed || !tell_by_device(q, q->first, now)) tell_by_host(q, q->first, now, failed ? "failed" : "done");
  }
}

core_trace_pending core_trace_queues_collect(void) {
  core_trace_pending pending = {false, false};
  qn_error_saved saved;
  qn_error_save(&saved);
  for (core_trace_queue *q = queues; q; q = q->next) {
    if (q->first) collect(q);
    if (q->first && q->is_timed) pending.device = true;
    if (q->first && !q->is_timed) pending.host = true;
  }
  qn_error_restore(&saved);
  return pending;
}

static void give_up(core_trace_queue *q) {
  uint64_t now = qn_clock_ns();
  for (; q->first; pop(q)) tell_by_host(q, q->first, now, "unfinished");
}

static void tell_dropped(void) {
  if (dropped == 0) return;
  char text[80];
  const core_trace_track track = {qn_process_id(), 0};
  snprintf(text, sizeof text, "%llu commands are not in this trace", (unsigned long long)dropped);
  qn_bytes *event = core_trace_event_begin('i', &track, "trace", text);
  core_trace_event_time(event, "ts", (int64_t)qn_clock_ns());
  qn_bytes_append_str(event, ",\"s\":\"g\"");
  core_trace_event_end(event);
}

void core_trace_queues_give_up(void) {
  for (core_trace_queue *q = queues; q; q = q->next) give_up(q);
  tell_dropped();
}

void core_trace_queue_end(core_queue *queue) {
  core_trace_queue *q = &queue->trace;
  qn_error_saved saved;
  qn_error_save(&saved);
  collect(q);
  qn_error_restore(&saved);
  give_up(q); /* nothing is left, but for an adapter that lets queues go too early */
  if (q->next) q->next->previous = q->previous;
  if (q->previous) q->previous->next = q->next;
  if (queues == q) queues = q->next;
  q->queue = NULL;
}
