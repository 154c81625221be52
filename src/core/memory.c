#include "core/memory.h"

#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/call.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/queue.h"
#include "core/reaper.h"
#include "core/timeline.h"
#include "core/trace.h"

/* ---- What the pool asks --------------------------------------------------------------------------- */

static void progress(uint64_t queue, qn_pool_progress *out) {
  core_timeline_progress(queue, &out->completed, &out->failed_first);
}

static uint32_t known(uint64_t queue, qn_point *out_points) {
  core_timeline *t = core_timeline_begin_use(queue);
  uint32_t count = t ? core_known_at(&t->known, UINT64_MAX, out_points) : 0;
  if (t) core_timeline_end_use(t);
  return count;
}
_Static_assert((int)CORE_KNOWN_QUEUES <= (int)QN_POOL_KNOWN, "a queue's knowledge has room");

static qn_status may_wait(void) { return core_may_wait("memory is about to become free: the call"); }

static bool collect(void *given) {
  core_device *device = given;
  core_reaper_collect(device->reaper, UINT32_MAX);
  return core_reaper_count(device->reaper) != 0;
}

/* By a look at each queue; only what is quarantined needs it. */
static bool is_idle(void *given) {
  core_device *device = given;
  bool idle = true;
  qn_mutex_lock(&device->lock);
  for (core_queue *queue = device->queues; queue && idle; queue = queue->next) {
    core_timeline_refresh(queue->timeline);
    idle = atomic_load(&queue->timeline->completed) >= atomic_load(&queue->timeline->submitted);
  }
  qn_mutex_unlock(&device->lock);
  return idle;
}

static void refused(void *given, qn_status status) {
  core_device *device = given;
  qn_mutex_lock(&device->lock);
  core_refusal_note(&device->memory_refusal, status, "buffer");
  qn_mutex_unlock(&device->lock);
}

static const qn_pool_ops ops = {.progress = progress,
                                .known = known,
                                .lane = core_timeline_lane,
                                .wait = core_point_wait,
                                .may_wait = may_wait,
                                .record_new = core_buffer_record_new,
                                .record_free = core_buffer_record_free,
                                .settle = core_buffer_settle,
                                .collect = collect,
                                .is_idle = is_idle,
                                .refused = refused};

qn_status core_memory_refusal(core_device *device) {
  qn_mutex_lock(&device->lock);
  core_refusal refusal = device->memory_refusal;
  device->memory_refusal = (core_refusal){0};
  qn_mutex_unlock(&device->lock);
  if (refusal.status >= 0) return QN_OK;
  return qn_error_set_driver(refusal.status, refusal.driver_code, "%s", refusal.text);
}

void core_memory_unmap(core_device *device, core_buffer *buffer) {
  core_refusal refusal = {0};
  qn_error_saved saved;
  qn_error_save(&saved); /* who takes this up wants memory; the refusal is told by the next drain */
  core_buffer_unmap_all(buffer, &refusal);
  if (refusal.status < 0) {
    qn_mutex_lock(&device->lock);
    if (device->memory_refusal.status == QN_OK) device->memory_refusal = refusal;
    qn_mutex_unlock(&device->lock);
  }
  qn_error_restore(&saved);
}

/* ---- The pool and its device ---------------------------------------------------------------------- */

/* In builds that check invariants: what is wrong is an error of the call that looks. */
static qn_status check(core_device *device) {
#ifdef QUERN_CHECKS
  return qn_pool_check(&device->pool);
#else
  (void)device;
  return QN_OK;
#endif
}

static bool guard_ready(core_object *guard) {
  core_device *device = (core_device *)(void *)((char *)guard - offsetof(core_device, guard));
  return qn_pool_living(&device->pool) == 0;
}

static void guard_destroy(core_object *guard, core_refusal *refusal) {
  core_device *device = (core_device *)(void *)((char *)guard - offsetof(core_device, guard));
  (void)refusal;
  core_trace_memory(device);
  core_object_drop(&device->object);
}

static const core_object_class guard_class = {QN_KIND_NONE, guard_ready, guard_destroy};

qn_status core_memory_open(core_device *device) {
  return qn_pool_open(&device->pool, device->table, device->native, &device->info, &ops, device);
}

void core_memory_guard(core_device *device) {
  core_object_init(&device->guard, &guard_class, NULL, device->reaper);
  core_object_hold(&device->object);
}

void core_device_is_left(core_device *device) { core_object_drop(&device->guard); }

bool core_memory_tidy(void *given) {
  core_device *device = given;
  return qn_pool_tidy(&device->pool, qn_clock_ns());
}

#define SHORTEST_PAUSE_NS UINT64_C(20000)
#define LONGEST_PAUSE_NS UINT64_C(5000000)

qn_status core_memory_drain(core_device *device, uint64_t timeout_ns) {
  uint64_t deadline = timeout_ns == QN_POLL ? 0 : qn_clock_deadline(timeout_ns);
  for (uint64_t pause = SHORTEST_PAUSE_NS;; pause = pause < LONGEST_PAUSE_NS ? 2 * pause : pause) {
    uint64_t left = 0;
    bool is_done = qn_pool_drain(&device->pool, &left);
    core_trace_memory(device);
    if (is_done) return check(device);
    uint64_t left_ns = timeout_ns == QN_POLL ? 0 : qn_clock_left(deadline);
    if (left_ns == 0)
      QN_FAIL(QN_ERROR_TIMEOUT, "%llu bytes of released buffers are still in use by work in flight after %llu ns",
              (unsigned long long)left, (unsigned long long)timeout_ns);
    QN_TRY(core_may_wait("released buffers are still in use: the call"));
    qn_clock_sleep(pause < left_ns ? pause : left_ns);
  }
}

/* ---- Options -------------------------------------------------------------------------------------- */

static qn_status configure_device(core_device *device, const qn_memory_options *given) {
  qn_pool_options options = device->pool.defaults;
  if (given->limit_bytes != 0) options.limit_bytes = given->limit_bytes;
  if (given->keep_bytes != 0) options.keep_bytes = given->keep_bytes;
  if (given->wait_timeout_ns != 0) options.wait_timeout_ns = given->wait_timeout_ns;
  options.pressure = given->pressure;
  options.user = given->user;
  QN_TRY(qn_pool_configure(&device->pool, &options));
  return check(device);
}

static qn_status configure(qn_device handle, const qn_memory_options *given) {
  core_device *device = NULL;
  qn_memory_options options;
  QN_TRY(CORE_OPTIONS_READ(&options, given, "qn_memory_options"));
  QN_TRY(core_reserved_check(options.reserved, "qn_memory_options"));
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = configure_device(device, &options);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_memory_configure(qn_device device, const qn_memory_options *options) {
  CORE_CALL(configure(device, options));
}

/* ---- Trimming ------------------------------------------------------------------------------------- */

static qn_status trim(qn_device handle, uint64_t keep_bytes, uint64_t *out_freed_bytes) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  core_reaper_collect(device->reaper, UINT32_MAX);
  uint64_t freed = qn_pool_trim(&device->pool, keep_bytes);
  qn_status status = core_memory_refusal(device);
  if (status == QN_OK) status = check(device);
  if (status == QN_OK && out_freed_bytes) *out_freed_bytes = freed;
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_memory_trim(qn_device device, uint64_t keep_bytes, uint64_t *out_freed_bytes) {
  CORE_CALL(trim(device, keep_bytes, out_freed_bytes));
}

/* ---- Statistics ----------------------------------------------------------------------------------- */

static void fill_in(core_device *device, qn_memory_statistics *s) {
  qn_pool_statistics p;
  qn_pool_query(&device->pool, &p);
  *s = (qn_memory_statistics){.struct_size = sizeof *s,
                              .used_bytes = p.used,
                              .cached_bytes = p.cached,
                              .pending_bytes = p.pending,
                              .quarantined_bytes = p.quarantined,
                              .reserved_bytes = p.reserved,
                              .limit_bytes = p.limit,
                              .limited_bytes = p.limited,
                              .peak_reserved_bytes = p.peak,
                              .wrapped_bytes = p.wrapped,
                              .driver_allocations = p.driver_allocations,
                              .driver_frees = p.driver_frees,
                              .driver_refusals = p.driver_refusals,
                              .from_own_queue = p.from_own_queue,
                              .from_known = p.from[QN_POOL_FROM_KNOWN],
                              .from_complete = p.from[QN_POOL_FROM_COMPLETE],
                              .from_new = p.from[QN_POOL_FROM_NEW],
                              .from_device_wait = p.from[QN_POOL_FROM_DEVICE_WAIT],
                              .from_host_wait = p.from[QN_POOL_FROM_HOST_WAIT],
                              .pressure_calls = p.pressure_calls,
                              .out_of_memory = p.out_of_memory};
}

static qn_status statistics(qn_device handle, qn_memory_statistics *out_statistics) {
  core_device *device = NULL;
  qn_memory_statistics s;
  QN_TRY(core_info_check(out_statistics, "out_statistics"));
  QN_TRY(core_device_pin(handle, &device));
  fill_in(device, &s);
  qn_status status = check(device);
  if (status == QN_OK) CORE_INFO_WRITE(out_statistics, &s);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_memory_statistics_get(qn_device device, qn_memory_statistics *out_statistics) {
  CORE_CALL(statistics(device, out_statistics));
}

/* ---- Snapshot ------------------------------------------------------------------------------------- */

static qn_status copy_snapshot(core_device *device, char *buffer, uint64_t capacity, uint64_t *out_needed) {
  qn_bytes text = {0};
  qn_bytes_printf(&text, "{\"device\": \"%s\", ", device->selector);
  qn_pool_snapshot(&device->pool, &text);
  qn_bytes_append_str(&text, "}\n");
  qn_status status = QN_OK;
  if (text.failed) {
    status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a snapshot's text");
  } else {
    *out_needed = text.size + 1;
    if (*out_needed <= capacity) memcpy(buffer, text.data, text.size + 1);
  }
  qn_bytes_free(&text);
  return status;
}

static qn_status snapshot(qn_device handle, char *buffer, uint64_t capacity, uint64_t *out_needed) {
  core_device *device = NULL;
  if (!out_needed) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_needed is NULL");
  if (capacity > 0 && !buffer)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "buffer is NULL, with a capacity of %llu bytes", (unsigned long long)capacity);
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = copy_snapshot(device, buffer, capacity, out_needed);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_memory_snapshot(qn_device device, char *buffer, uint64_t capacity, uint64_t *out_needed) {
  CORE_CALL(snapshot(device, buffer, capacity, out_needed));
}
