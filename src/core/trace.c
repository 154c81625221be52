#include "core/trace.h"

#include <string.h>

#include "base/json.h"
#include "base/os/environment.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "core/exit.h"
#include "core/trace_event.h"
#include "core/trace_file.h"
#include "core/trace_queue.h"

_Atomic uint32_t core_trace_state;

/* How long the thread pauses: while a queue without times of its own has work, its pauses are the error of what is told. */
#define HOST_PAUSE_NS UINT64_C(200000)
#define DEVICE_PAUSE_NS UINT64_C(5000000)
#define FLUSH_PAUSE_NS UINT64_C(100000000)

static qn_thread collector; /* started once a process, never joined */
static _Atomic uint32_t bell, is_asleep;
static uint64_t flushed_ns; /* under the lock */

/* ---- Under the lock ----------------------------------------------------------------------------- */

/* Whether the trace is on: it may have ended since the caller looked. */
static bool lock(void) {
  qn_mutex_lock(&core_trace_lock);
  if (core_trace_file_is_open()) return true;
  qn_mutex_unlock(&core_trace_lock);
  return false;
}

/* Something may have been added: wakes the thread when it sleeps for good. */
static void unlock(void) {
  if (!core_trace_file_is_open()) atomic_store(&core_trace_state, 0); /* it could not be written */
  qn_mutex_unlock(&core_trace_lock);
  if (atomic_exchange(&is_asleep, 0) == 0) return;
  atomic_fetch_add(&bell, 1);
  qn_futex_wake(&bell, 1);
}

static void flush(void) {
  core_trace_file_flush();
  flushed_ns = qn_clock_ns();
}

/* ---- Slices and moments ------------------------------------------------------------------------- */

static core_trace_track track_of_thread(void) {
  static QN_THREAD_LOCAL uint64_t id; /* 0: the thread has not been named yet */
  if (id == 0) {
    char name[QN_THREAD_NAME];
    id = qn_thread_id();
    qn_thread_name(name);
    const core_trace_track track = {qn_process_id(), id};
    core_trace_event_name(&track, "thread_name", name);
  }
  return (core_trace_track){qn_process_id(), id};
}

static void append_detail(qn_bytes *event, const char *detail) {
  if (!detail) return;
  qn_bytes_append_str(event, ",\"args\":{\"detail\":");
  qn_json_append_text(event, detail);
  qn_bytes_append_char(event, '}');
}

void core_trace_slice(uint64_t begin_ns, const char *category, const char *name, const char *detail) {
  uint64_t now = qn_clock_ns();
  if (!lock()) return;
  const core_trace_track track = track_of_thread();
  qn_bytes *event = core_trace_event_begin('X', &track, category, name);
  core_trace_event_time(event, "ts", (int64_t)begin_ns);
  core_trace_event_time(event, "dur", (int64_t)(now - begin_ns));
  append_detail(event, detail);
  core_trace_event_end(event);
  unlock();
}

void core_trace_moment(const char *category, const char *name, const char *detail) {
  uint64_t now = qn_clock_ns();
  if (!core_trace_on() || !lock()) return;
  const core_trace_track track = track_of_thread();
  qn_bytes *event = core_trace_event_begin('i', &track, category, name);
  core_trace_event_time(event, "ts", (int64_t)now);
  qn_bytes_append_str(event, ",\"s\":\"t\"");
  append_detail(event, detail);
  core_trace_event_end(event);
  unlock();
}

/* ---- Queues ------------------------------------------------------------------------------------- */

void core_trace_memory(core_device *device) {
  if (!core_trace_on()) return;
  qn_pool_statistics memory;
  qn_pool_query(&device->pool, &memory);
  if (!lock()) return;
  core_trace_queue_memory(device, &memory);
  unlock();
}

void core_trace_queue_start(core_queue *queue) {
  if (!core_trace_on() || !lock()) return;
  core_trace_queue_begin(queue);
  unlock();
}

void core_trace_queue_stop(core_queue *queue) {
  if (!queue->trace.queue) return;
  qn_mutex_lock(&core_trace_lock);
  core_trace_queue_end(queue);
  unlock();
}

void core_trace_recorded(core_queue *queue, uint64_t begin_ns, const qn_adapter_command *command, const char *kernel) {
  if (!queue->trace.queue || !lock()) return;
  core_trace_queue_add(queue, begin_ns, command, kernel);
  unlock();
}

/* ---- The thread --------------------------------------------------------------------------------- */

static uint64_t pause_of(core_trace_pending pending) {
  if (pending.host) return HOST_PAUSE_NS;
  if (pending.device) return DEVICE_PAUSE_NS;
  return core_trace_file_is_dirty() ? FLUSH_PAUSE_NS : QN_FOREVER;
}

static uint64_t collect(void) {
  if (!lock()) return QN_FOREVER;
  core_trace_pending pending = core_trace_queues_collect();
  if (qn_clock_ns() - flushed_ns >= FLUSH_PAUSE_NS) flush();
  uint64_t pause = pause_of(pending);
  /* Under the lock, so that whoever adds something afterwards sees it. */
  if (pause == QN_FOREVER) atomic_store(&is_asleep, 1);
  if (!core_trace_file_is_open()) atomic_store(&core_trace_state, 0);
  qn_mutex_unlock(&core_trace_lock);
  return pause;
}

static void sleep_for_ever(void) {
  for (;;) qn_clock_sleep(UINT64_C(3600000000000));
}

static void work(void *unused) {
  (void)unused;
  for (;;) {
    uint32_t rung = atomic_load(&bell);
    if (core_enter() < 0) sleep_for_ever();
    uint64_t pause = collect();
    core_leave();
    qn_futex_wait(&bell, rung, pause);
  }
}

/* ---- Opening and closing ------------------------------------------------------------------------ */

/* "%p" is the process's number. */
static void expand(const char *path, qn_bytes *out) {
  for (const char *at = path; *at; at++) {
    bool is_number = at[0] == '%' && at[1] == 'p';
    if (is_number)
      qn_bytes_printf(out, "%llu", (unsigned long long)qn_process_id());
    else
      qn_bytes_append_char(out, *at);
    at += is_number;
  }
}

static qn_status open_file(const char *path) {
  qn_bytes expanded = {0};
  expand(path, &expanded);
  qn_status status = QN_OK;
  if (expanded.failed)
    status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the trace's path");
  else
    status = core_trace_file_open(expanded.data);
  qn_bytes_free(&expanded);
  if (status < 0) qn_error_prefix("QUERN_TRACE=%s: ", path);
  return status;
}

static qn_status start(const char *path) {
  QN_TRY(open_file(path));
  qn_status status = collector.native ? QN_OK : qn_thread_start(&collector, "quern-trace", work, NULL);
  if (status < 0) {
    core_trace_file_close();
    return status;
  }
  const core_trace_track process = {qn_process_id(), 0};
  core_trace_event_name(&process, "process_name", "host");
  atomic_store(&core_trace_state, 1);
  return QN_OK;
}

qn_status core_trace_open(void) {
  static bool was_opened; /* a trace that ended, for the disk was full, is not begun anew */
  const char *path = qn_environment("QUERN_TRACE");
  if (!path) return QN_OK;
  qn_mutex_lock(&core_trace_lock);
  qn_status status = was_opened ? QN_OK : start(path);
  was_opened = was_opened || status == QN_OK;
  qn_mutex_unlock(&core_trace_lock);
  return status;
}

qn_status core_trace_flush(void) {
  if (core_trace_on() && lock()) {
    (void)core_trace_queues_collect();
    flush();
    unlock();
  }
  if (!qn_environment("QUERN_TRACE")) return QN_OK;
  qn_mutex_lock(&core_trace_lock);
  qn_status status = core_trace_file_take_failure();
  qn_mutex_unlock(&core_trace_lock);
  if (status < 0) qn_error_prefix("QUERN_TRACE=%s: ", qn_environment("QUERN_TRACE"));
  return status;
}

/* ---- Exit --------------------------------------------------------------------------------------- */

/* Somebody may be in a driver that hangs, with the lock: then the file stays as it was flushed last. */
static bool lock_soon(void) {
  uint64_t deadline = qn_clock_deadline(UINT64_C(100000000));
  while (!qn_mutex_try_lock(&core_trace_lock)) {
    if (qn_clock_left(deadline) == 0) return false;
    qn_clock_sleep(100000);
  }
  return true;
}

void core_trace_exit_begin(void) {
  if (!core_trace_on() || !lock_soon()) return;
  (void)core_trace_queues_collect();
  qn_mutex_unlock(&core_trace_lock);
}

void core_trace_exit_end(void) {
  if (!core_trace_on() || !lock_soon()) return;
  atomic_store(&core_trace_state, 0);
  core_trace_queues_give_up();
  core_trace_file_flush();
  core_trace_file_close();
  qn_mutex_unlock(&core_trace_lock);
}
