#include "core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/os/environment.h"
#include "base/status.h"
#include "base/string_view.h"
#include "core/exit.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/queue.h"
#include "core/reaper.h"

/* ---- Selectors ---------------------------------------------------------------------------------- */

/* A device among those of a runtime. */
typedef struct choice {
  core_adapter *adapter;
  uint32_t index;
} choice;

static void print_selector(const choice *c, char *out, size_t capacity) {
  snprintf(out, capacity, "%s:%u", c->adapter->name, c->index);
}

/* "cuda:1" -> "cuda" and 1; "cuda" -> 0. */
static qn_status parse_selector(const char *selector, qn_sv *out_name, uint32_t *out_index) {
  const char *colon = strchr(selector, ':');
  *out_name = qn_sv_make(selector, colon ? (size_t)(colon - selector) : strlen(selector));
  *out_index = 0;
  if (!colon) return QN_OK;
  uint64_t index = 0;
  const char *digits = colon + 1;
  size_t count = strspn(digits, "0123456789");
  if (count == 0 || digits[count] != '\0' || (count > 1 && digits[0] == '0'))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "selector '%s' has no number after ':'; write it as 'cpu' or 'cpu:0'", selector);
  if (!qn_sv_to_u64(qn_sv_from(digits), &index) || index > UINT32_MAX)
    QN_FAIL(QN_ERROR_NOT_FOUND, "there is no device '%s'; no adapter has that many", selector);
  *out_index = (uint32_t)index;
  return QN_OK;
}

static core_adapter *adapter_by_name(core_adapter_list *list, qn_sv name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (qn_sv_is(name, list->items[i].name)) return &list->items[i];
  return NULL;
}

/* "cpu, check, opencl (not usable: ...)" */
static void list_adapters(const core_adapter_list *list, char *out, size_t capacity) {
  size_t at = 0;
  for (uint32_t i = 0; i < list->count && at < capacity; i++) {
    const core_adapter *adapter = &list->items[i];
    bool is_refused = adapter->state == CORE_ADAPTER_REFUSED || adapter->state == CORE_ADAPTER_FAILED;
    int n = snprintf(out + at, capacity - at, "%s%s%s%.100s%s", i ? ", " : "", adapter->name,
                     is_refused ? " (not usable: " : "", is_refused ? adapter->reason : "", is_refused ? ")" : "");
    at += n > 0 ? (size_t)n : 0;
  }
}

/* Accelerators before processors, then what computes slowly, then what doesn't; among equals the first. */
static int rank_of(uint32_t type) {
  switch (type) {
    case QN_DEVICE_GPU:
      return 0;
    case QN_DEVICE_OTHER:
      return 1;
    case QN_DEVICE_CPU:
      return 2;
    case QN_DEVICE_CHECK:
      return 3;
    default:
      return 4;
  }
}

static qn_status choose_best(core_runtime *runtime, choice *out) {
  core_adapter_list *list = NULL;
  int best = 5;
  QN_TRY(core_runtime_load_all(runtime, &list));
  for (uint32_t i = 0; i < list->count; i++)
    for (uint32_t d = 0; d < list->items[i].device_count; d++) {
      int rank = rank_of(list->items[i].devices[d].type);
      if (rank >= best) continue;
      best = rank;
      *out = (choice){&list->items[i], d};
    }
  if (best == 5) QN_FAIL(QN_ERROR_NOT_FOUND, "no adapter has a device");
  return QN_OK;
}

static qn_status choose_named(core_runtime *runtime, const char *selector, choice *out) {
  core_adapter_list *list = NULL;
  qn_sv name;
  uint32_t index = 0;
  QN_TRY(parse_selector(selector, &name, &index));
  QN_TRY(core_runtime_adapters(runtime, &list));
  core_adapter *adapter = adapter_by_name(list, name);
  if (!adapter) {
    char there[768] = "";
    list_adapters(list, there, sizeof there);
    QN_FAIL(QN_ERROR_NOT_FOUND,
            "there is no device '%s'; there are adapters: %s (QUERN_ADAPTER_PATH says where more adapters are)",
            selector, there);
  }
  QN_TRY(core_adapter_load(&runtime->arena, adapter, false));
  if (index >= adapter->device_count)
    QN_FAIL(QN_ERROR_NOT_FOUND, "there is no device '%s'; adapter '%s' has %u device%s", selector, adapter->name,
            adapter->device_count, adapter->device_count == 1 ? "" : "s");
  *out = (choice){adapter, index};
  return QN_OK;
}

static qn_status choose(core_runtime *runtime, const char *selector, choice *out) {
  if (!selector) selector = qn_environment("QUERN_DEVICE");
  if (!selector) selector = "cpu";
  return strcmp(selector, "best") == 0 ? choose_best(runtime, out) : choose_named(runtime, selector, out);
}

/* ---- Descriptions ------------------------------------------------------------------------------- */

static void describe(const char *adapter, const char *selector, const qn_adapter_device_info *from,
                     qn_device_info *to) {
  *to = (qn_device_info){.struct_size = sizeof *to,
                         .type = from->type,
                         .features = from->features,
                         .memory_bytes = from->memory_bytes,
                         .max_allocation_bytes = from->max_allocation_bytes,
                         .local_memory_bytes = from->local_memory_bytes,
                         .max_group_items = from->max_group_items,
                         .compute_units = from->compute_units,
                         .address_bits = from->address_bits,
                         .buffer_alignment = from->buffer_alignment,
                         .sub_group_size = from->sub_group_size};
  memcpy(to->max_local_size, from->max_local_size, sizeof to->max_local_size);
  CORE_TEXT_COPY(to->selector, selector);
  CORE_TEXT_COPY(to->name, from->name);
  CORE_TEXT_COPY(to->adapter, adapter);
  CORE_TEXT_COPY(to->driver, from->driver);
}

static uint32_t count_devices(const core_adapter_list *list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < list->count; i++) count += list->items[i].device_count;
  return count;
}

static qn_status count_locked(core_runtime *runtime, uint32_t *out_count) {
  core_adapter_list *list = NULL;
  QN_TRY(core_runtime_load_all(runtime, &list));
  *out_count = count_devices(list);
  return QN_OK;
}

static qn_status device_count(qn_runtime handle, uint32_t *out_count) {
  core_runtime *runtime = NULL;
  if (!out_count) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_count is NULL");
  QN_TRY(core_runtime_pin(handle, &runtime));
  qn_status status = core_runtime_lock(runtime);
  if (status == QN_OK) {
    status = count_locked(runtime, out_count);
    core_runtime_unlock(runtime);
  }
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_device_count(qn_runtime runtime, uint32_t *out_count) { CORE_CALL(device_count(runtime, out_count)); }

static qn_status describe_locked(core_runtime *runtime, uint32_t index, qn_device_info *out_info) {
  core_adapter_list *list = NULL;
  QN_TRY(core_runtime_load_all(runtime, &list));
  uint32_t left = index;
  for (uint32_t i = 0; i < list->count; i++) {
    const choice c = {&list->items[i], left};
    if (left < c.adapter->device_count) {
      char selector[64];
      qn_device_info info;
      print_selector(&c, selector, sizeof selector);
      describe(c.adapter->name, selector, &c.adapter->devices[left], &info);
      CORE_INFO_WRITE(out_info, &info);
      return QN_OK;
    }
    left -= c.adapter->device_count;
  }
  QN_FAIL(QN_ERROR_NOT_FOUND, "index is %u; there are %u devices", index, count_devices(list));
}

static qn_status device_describe(qn_runtime handle, uint32_t index, qn_device_info *out_info) {
  core_runtime *runtime = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(core_runtime_pin(handle, &runtime));
  qn_status status = core_runtime_lock(runtime);
  if (status == QN_OK) {
    status = describe_locked(runtime, index, out_info);
    core_runtime_unlock(runtime);
  }
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_device_describe(qn_runtime runtime, uint32_t index, qn_device_info *out_info) {
  CORE_CALL(device_describe(runtime, index, out_info));
}

/* ---- The object --------------------------------------------------------------------------------- */

static bool device_ready(core_object *object) {
  (void)object; /* its children hold it: there are none any longer, and so no work */
  return true;
}

/* By the keeper: the device's own reaper has destroyed the last child and has nothing left; its thread may still look. */
static void device_destroy(core_object *object, core_refusal *refusal) {
  core_device *device = (core_device *)object;
  core_runtime *runtime = device->runtime;
  core_refusal first = {0};
  (void)refusal; /* closing the runtime tells it, not the keeper */
  core_refusal_note(&first, core_reaper_refusal(device->reaper), "child of the device");
  core_reaper_close(device->reaper);
  core_program_cache_close(&device->programs, &first);
  qn_pool_close(&device->pool);
  core_refusal_note(&first, core_memory_refusal(device), "buffer");
  core_refusal_note(&first, device->table->device_close(device->native), "device");
  qn_map_free(&device->name_table);
  qn_arena_free(&device->names);
  free(device);
  qn_mutex_lock(&runtime->lock);
  if (runtime->refusal.status == QN_OK) runtime->refusal = first;
  qn_mutex_unlock(&runtime->lock);
  core_runtime_remove_device(runtime);
  core_object_drop(&runtime->object);
}

static const core_object_class device_class = {QN_KIND_DEVICE, device_ready, device_destroy};

qn_status core_device_pin(qn_device handle, core_device **out_device) {
  void *object = NULL;
  QN_TRY(qn_handle_pin(handle, QN_KIND_DEVICE, "device", &object));
  *out_device = object;
  return QN_OK;
}

qn_status core_device_match(const core_device *own, const core_device *theirs, const char *what) {
  if (own == theirs) return QN_OK;
  if (own->runtime != theirs->runtime)
    QN_FAIL(QN_ERROR_INVALID_HANDLE, "%s is one of device %s, but of another runtime", what, theirs->selector);
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is one of device %s, but the call is for %s%s", what, theirs->selector,
          own->selector, strcmp(own->selector, theirs->selector) == 0 ? ", opened another time" : "");
}

static const char *add_name(core_device *device, const char *name) {
  char *copy = qn_arena_copy(&device->names, qn_sv_from(name));
  return copy && qn_map_set(&device->name_table, qn_sv_from(copy), copy) ? copy : "";
}

const char *core_device_name(core_device *device, const char *name) {
  qn_mutex_lock(&device->lock);
  const char *known = qn_map_get(&device->name_table, qn_sv_from(name));
  if (!known) known = add_name(device, name);
  qn_mutex_unlock(&device->lock);
  return known;
}

/* Old pending objects that one allocation looks at: enough to keep up, few enough not to be felt. */
enum { COLLECT_LIMIT = 16 };

void core_device_collect(core_device *device) { core_reaper_collect(device->reaper, COLLECT_LIMIT); }

/* ---- Opening ------------------------------------------------------------------------------------ */

/* The reaper's thread comes last: it looks after the rest. */
static qn_status open_reaper(core_device *device) {
  QN_TRY(core_memory_open(device));
  qn_status status = core_reaper_open("quern-reaper", core_memory_tidy, device, &device->reaper);
  if (status < 0) qn_pool_close(&device->pool);
  return status;
}

static qn_status open_native(core_device *device, const choice *c) {
  QN_TRY(c->adapter->table->device_open(c->adapter->instance, c->index, &device->native));
  qn_status status = open_reaper(device);
  if (status < 0) {
    qn_error_saved saved;
    qn_error_save(&saved);
    (void)!device->table->device_close(device->native);
    qn_error_restore(&saved);
  }
  return status;
}

static qn_status make_device(core_runtime *runtime, const choice *c, core_device **out_device) {
  core_device *device = calloc(1, sizeof *device);
  if (!device) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
  device->runtime = runtime;
  device->table = c->adapter->table;
  device->info = c->adapter->devices[c->index];
  device->failures.kind = device->info.failure_domain;
  print_selector(c, device->selector, sizeof device->selector);
  CORE_TEXT_COPY(device->adapter, c->adapter->name);
  qn_status status = open_native(device, c);
  if (status < 0) {
    free(device);
    return status;
  }
  qn_arena_init(&device->names, 0);
  core_program_cache_open(&device->programs, device->table, device->native);
  *out_device = device;
  return QN_OK;
}

/* Under the runtime's lock: closing waits until the device that comes out is counted. */
static qn_status open_locked(core_runtime *runtime, const char *selector, core_device **out_device) {
  choice c;
  QN_TRY(choose(runtime, selector, &c));
  QN_TRY(make_device(runtime, &c, out_device));
  core_runtime_add_device(runtime);
  core_object_hold(&runtime->object);
  return QN_OK;
}

static qn_status open_device(core_runtime *runtime, const char *selector, qn_device *out_device) {
  core_device *device = NULL;
  QN_TRY(core_runtime_lock(runtime));
  qn_status status = open_locked(runtime, selector, &device);
  core_runtime_unlock(runtime);
  if (status < 0) return status;
  const void *handle = NULL;
  core_object_init(&device->object, &device_class, NULL, runtime->object.reaper);
  core_memory_guard(device);
  core_object_hold(&device->object); /* for the next lines: it may be released as soon as it is known */
  qn_status published = core_object_publish(&device->object, runtime->owner, &runtime->closing, &handle);
  atomic_store_explicit(&device->handle, (uintptr_t)handle, memory_order_relaxed);
  core_object_drop(&device->object);
  QN_TRY(published);
  *out_device = (qn_device)handle;
  return QN_OK;
}

static qn_status device_open(qn_runtime handle, const char *selector, qn_device *out_device) {
  core_runtime *runtime = NULL;
  if (!out_device) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_device is NULL");
  QN_TRY(core_runtime_pin(handle, &runtime));
  uint64_t begin = core_trace_begin();
  qn_status status = open_device(runtime, selector, out_device);
  core_trace_end(begin, "device", "open device", selector);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_device_open(qn_runtime runtime, const char *selector, qn_device *out_device) {
  CORE_CALL_MAKING(device_open(runtime, selector, out_device));
}

/* ---- Queries ------------------------------------------------------------------------------------ */

static qn_status device_query(qn_device handle, qn_device_info *out_info) {
  core_device *device = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(core_device_pin(handle, &device));
  qn_device_info info;
  describe(device->adapter, device->selector, &device->info, &info);
  CORE_INFO_WRITE(out_info, &info);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_device_query(qn_device device, qn_device_info *out_info) { CORE_CALL(device_query(device, out_info)); }

static uint32_t living(const core_device *device, uint32_t kind) {
  return atomic_load_explicit(&device->living[kind], memory_order_relaxed);
}

/* Queues that were released and that a callback still holds: the reaper has not got them yet. One that is being made is
 * counted too, for a moment. */
static bool has_held_queues(core_device *device) {
  uint32_t count = 0;
  qn_mutex_lock(&device->lock);
  for (const core_queue *queue = device->queues; queue; queue = queue->next) count++;
  bool has = count > living(device, QN_KIND_QUEUE);
  qn_mutex_unlock(&device->lock);
  return has;
}

static qn_status drain_queues(core_device *device, uint64_t timeout_ns) {
  const uint64_t pause = 100000;
  uint64_t deadline = timeout_ns == QN_POLL ? 0 : qn_clock_deadline(timeout_ns);
  uint64_t left = timeout_ns;
  for (;;) {
    QN_TRY(core_reaper_drain(device->reaper, left));
    left = timeout_ns == QN_POLL ? 0 : qn_clock_left(deadline);
    if (!has_held_queues(device)) return core_reaper_drain(device->reaper, left); /* one may just have been let go */
    if (left == 0)
      QN_FAIL(QN_ERROR_TIMEOUT, "callbacks of released queues have not returned after %llu ns",
              (unsigned long long)timeout_ns);
    QN_TRY(core_may_wait("callbacks of released queues have not returned: the call"));
    qn_clock_sleep(pause < left ? pause : left);
  }
}

static qn_status drain(core_device *device, uint64_t timeout_ns) {
  uint64_t start = qn_clock_ns();
  QN_TRY(drain_queues(device, timeout_ns));
  QN_TRY(core_program_cache_trim(&device->programs));
  uint64_t spent = qn_clock_ns() - start;
  QN_TRY(core_memory_drain(device, timeout_ns == QN_FOREVER ? QN_FOREVER
                                   : spent < timeout_ns     ? timeout_ns - spent
                                                            : 0));
  QN_TRY(core_memory_refusal(device));
  return core_reaper_refusal(device->reaper);
}

static qn_status device_drain(qn_device handle, uint64_t timeout_ns) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = drain(device, timeout_ns);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_device_drain(qn_device device, uint64_t timeout_ns) { CORE_CALL(device_drain(device, timeout_ns)); }

static void count_commands(core_device *device, qn_device_statistics *s) {
  qn_mutex_lock(&device->lock);
  s->launches = device->launches;
  s->copies = device->copies;
  s->fills = device->fills;
  for (core_queue *queue = device->queues; queue; queue = queue->next) {
    qn_mutex_lock(&queue->timeline->lock);
    s->launches += queue->launches;
    s->copies += queue->copies;
    s->fills += queue->fills;
    qn_mutex_unlock(&queue->timeline->lock);
  }
  qn_mutex_unlock(&device->lock);
}

static qn_status gather(core_device *device, qn_device_statistics *s) {
  qn_pool_statistics pool;
  uint32_t cached = 0;
  QN_TRY(core_program_cache_count(&device->programs, &cached));
  qn_pool_query(&device->pool, &pool);
  *s = (qn_device_statistics){.struct_size = sizeof *s,
                              .queues = living(device, QN_KIND_QUEUE),
                              .buffers = living(device, QN_KIND_BUFFER) + (uint32_t)pool.living,
                              .programs = living(device, QN_KIND_PROGRAM),
                              .kernels = living(device, QN_KIND_KERNEL),
                              .awaiting_release = core_reaper_count(device->reaper),
                              .memory_used = pool.used,
                              .memory_cached = pool.reserved - pool.used,
                              .memory_reserved = pool.reserved,
                              .programs_compiled = atomic_load(&device->programs_compiled),
                              .program_cache_hits = atomic_load(&device->program_cache_hits),
                              .cached_programs = cached};
  count_commands(device, s);
  return QN_OK;
}

static qn_status statistics(qn_device handle, qn_device_statistics *out_statistics) {
  core_device *device = NULL;
  QN_TRY(core_info_check(out_statistics, "out_statistics"));
  QN_TRY(core_device_pin(handle, &device));
  qn_device_statistics s;
  qn_status status = gather(device, &s);
  if (status >= 0) CORE_INFO_WRITE(out_statistics, &s);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_device_statistics_get(qn_device device, qn_device_statistics *out_statistics) {
  CORE_CALL(statistics(device, out_statistics));
}
