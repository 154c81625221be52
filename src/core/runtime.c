#include "core/runtime.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "core/call.h"
#include "core/exit.h"
#include "core/leaks.h"
#include "core/options.h"
#include "core/reaper.h"
#include "core/trace.h"

/* ---- The object --------------------------------------------------------------------------------- */

static bool runtime_ready(core_object *object) {
  (void)object; /* its devices hold it: there are none any longer */
  return true;
}

static void runtime_destroy(core_object *object, core_refusal *refusal) {
  core_runtime *runtime = (core_runtime *)object;
  core_adapters_close(&runtime->adapters, refusal);
  qn_arena_free(&runtime->arena);
  free(runtime);
}

static const core_object_class runtime_class = {QN_KIND_RUNTIME, runtime_ready, runtime_destroy};

qn_status core_runtime_pin(qn_runtime handle, core_runtime **out_runtime) {
  void *object = NULL;
  QN_TRY(qn_handle_pin(handle, QN_KIND_RUNTIME, "runtime", &object));
  *out_runtime = object;
  return QN_OK;
}

/* ---- Users -------------------------------------------------------------------------------------- */

static void leave(core_runtime *runtime) {
  atomic_fetch_sub(&runtime->users, 1);
  if (atomic_load(&runtime->closing) != 0) qn_futex_wake(&runtime->users, UINT32_MAX);
}

qn_status core_runtime_lock(core_runtime *runtime) {
  /* The count first, the flag second, in the one total order: either who closes sees the count, or we see the flag. */
  atomic_fetch_add(&runtime->users, 1);
  if (atomic_load(&runtime->closing) != 0) {
    leave(runtime);
    QN_FAIL(QN_ERROR_CLOSED, "the runtime is being closed");
  }
  qn_mutex_lock(&runtime->lock);
  return QN_OK;
}

void core_runtime_unlock(core_runtime *runtime) {
  qn_mutex_unlock(&runtime->lock);
  leave(runtime);
}

void core_runtime_add_device(core_runtime *runtime) { atomic_fetch_add(&runtime->users, 1); }

void core_runtime_remove_device(core_runtime *runtime) { leave(runtime); }

/* ---- Opening ------------------------------------------------------------------------------------ */

static qn_once setup_once;
static _Atomic uint32_t last_owner;

static qn_status next_owner(uint32_t *out_owner) {
  uint32_t owner = atomic_load(&last_owner);
  do {
    if (owner == UINT32_MAX) QN_FAIL(QN_ERROR_LIMIT, "this process has opened %u runtimes, which is the limit", owner);
  } while (!atomic_compare_exchange_weak(&last_owner, &owner, owner + 1));
  *out_owner = owner + 1;
  return QN_OK;
}

static qn_status copy_text(qn_arena *arena, const char *text, char **out_text) {
  *out_text = text ? qn_arena_copy(arena, qn_sv_from(text)) : NULL;
  if (text && !*out_text) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the runtime's options");
  return QN_OK;
}

static qn_status fill_in(core_runtime *runtime, const qn_runtime_options *options) {
  QN_TRY(next_owner(&runtime->owner));
  qn_arena_init(&runtime->arena, 0);
  QN_TRY(copy_text(&runtime->arena, options->adapter_path, &runtime->adapter_path));
  return copy_text(&runtime->arena, options->adapters, &runtime->adapter_names);
}

static qn_status open_runtime(const qn_runtime_options *given, qn_runtime *out_runtime) {
  qn_runtime_options options;
  core_reaper *keeper = NULL;
  if (!out_runtime) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_runtime is NULL");
  QN_TRY(CORE_OPTIONS_READ(&options, given, "qn_runtime_options"));
  QN_TRY(core_reserved_check(options.reserved, "qn_runtime_options"));
  qn_once_run(&setup_once, core_object_setup);
  QN_TRY(core_keeper_get(&keeper));
  QN_TRY(core_trace_open());
  core_runtime *runtime = calloc(1, sizeof *runtime);
  if (!runtime) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a runtime");
  qn_status status = fill_in(runtime, &options);
  if (status < 0) {
    qn_arena_free(&runtime->arena);
    free(runtime);
    return status;
  }
  core_object_init(&runtime->object, &runtime_class, NULL, keeper);
  const void *handle = NULL;
  QN_TRY(core_object_publish(&runtime->object, runtime->owner, &runtime->closing, &handle));
  *out_runtime = (qn_runtime)handle;
  return QN_OK;
}

qn_status qn_runtime_open(const qn_runtime_options *options, qn_runtime *out_runtime) {
  CORE_CALL_MAKING(open_runtime(options, out_runtime));
}

/* ---- Closing ------------------------------------------------------------------------------------ */

static void revoke_children(const core_runtime *runtime) {
  static const uint32_t kinds[] = {QN_KIND_KERNEL, QN_KIND_PROGRAM, QN_KIND_BUFFER, QN_KIND_QUEUE, QN_KIND_DEVICE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) qn_handle_revoke_all(runtime->owner, kinds[i]);
}

/* Sleeps until the last device is destroyed and nobody is about to open another. */
static qn_status wait_for_users(core_runtime *runtime, uint64_t timeout_ns) {
  uint64_t deadline = timeout_ns == QN_POLL ? 0 : qn_clock_deadline(timeout_ns);
  for (;;) {
    uint32_t left = atomic_load(&runtime->users);
    if (left == 0) return QN_OK;
    uint64_t left_ns = timeout_ns == QN_POLL ? 0 : qn_clock_left(deadline);
    if (left_ns == 0)
      QN_FAIL(
          QN_ERROR_TIMEOUT,
          "%u devices still have work in flight or are being opened after %llu ns; every handle is stale, and the rest "
          "is freed when that work is complete",
          left, (unsigned long long)timeout_ns);
    qn_futex_wait(&runtime->users, left, left_ns);
  }
}

static qn_status take_refusal(core_runtime *runtime) {
  qn_mutex_lock(&runtime->lock);
  core_refusal refusal = runtime->refusal;
  runtime->refusal = (core_refusal){0};
  qn_mutex_unlock(&runtime->lock);
  if (refusal.status >= 0) return QN_OK;
  return qn_error_set_driver(refusal.status, refusal.driver_code, "%s", refusal.text);
}

static qn_status close_pinned(core_runtime *runtime, const void *handle, uint64_t timeout_ns) {
  QN_TRY(qn_handle_revoke(handle)); /* of two who close at a time, one goes on */
  atomic_fetch_add(&runtime->closing, 1);
  core_leaks_find(runtime->owner);
  revoke_children(runtime);
  qn_status status = wait_for_users(runtime, timeout_ns);
  if (status < 0) {
    atomic_store(&runtime->gave_up, 1);
    return status;
  }
  qn_mutex_lock(&runtime->lock);
  core_adapters_close(&runtime->adapters, &runtime->refusal);
  qn_mutex_unlock(&runtime->lock);
  return take_refusal(runtime);
}

static qn_status close(qn_runtime handle, uint64_t timeout_ns) {
  core_runtime *runtime = NULL;
  QN_TRY(core_may_wait("closing waits for the callbacks: it"));
  QN_TRY(core_runtime_pin(handle, &runtime));
  qn_status status = close_pinned(runtime, handle, timeout_ns);
  if (status < 0) { /* which is told, whatever becomes of the trace */
    qn_error_saved saved;
    qn_error_save(&saved);
    (void)!core_trace_flush();
    qn_error_restore(&saved);
  } else {
    status = core_trace_flush();
  }
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_runtime_close(qn_runtime runtime, uint64_t timeout_ns) { CORE_CALL(close(runtime, timeout_ns)); }

/* ---- Adapters ----------------------------------------------------------------------------------- */

qn_status core_runtime_adapters(core_runtime *runtime, core_adapter_list **out_list) {
  if (!runtime->adapters.is_scanned)
    QN_TRY(core_adapters_scan(&runtime->arena, runtime->adapter_path, runtime->adapter_names, &runtime->adapters));
  *out_list = &runtime->adapters;
  return QN_OK;
}

qn_status core_runtime_load_all(core_runtime *runtime, core_adapter_list **out_list) {
  QN_TRY(core_runtime_adapters(runtime, out_list));
  qn_error_saved saved;
  qn_error_save(&saved); /* an adapter that can't be used keeps the reason; enumeration itself succeeds */
  for (uint32_t i = 0; i < (*out_list)->count; i++)
    (void)!core_adapter_load(&runtime->arena, &(*out_list)->items[i], true);
  qn_error_restore(&saved);
  return QN_OK;
}

static void describe(const core_adapter *adapter, qn_adapter_info *info) {
  info->loaded = adapter->state == CORE_ADAPTER_READY;
  CORE_TEXT_COPY(info->name, adapter->name);
  CORE_TEXT_COPY(info->path, adapter->path);
  CORE_TEXT_COPY(info->reason, adapter->state == CORE_ADAPTER_READY ? "" : adapter->reason);
}

static qn_status count_locked(core_runtime *runtime, uint32_t *out_count) {
  core_adapter_list *list = NULL;
  QN_TRY(core_runtime_load_all(runtime, &list));
  *out_count = list->count;
  return QN_OK;
}

static qn_status adapter_count(qn_runtime handle, uint32_t *out_count) {
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

qn_status qn_adapter_count(qn_runtime runtime, uint32_t *out_count) { CORE_CALL(adapter_count(runtime, out_count)); }

static qn_status describe_locked(core_runtime *runtime, uint32_t index, qn_adapter_info *out_info) {
  core_adapter_list *list = NULL;
  QN_TRY(core_runtime_load_all(runtime, &list));
  if (index >= list->count) QN_FAIL(QN_ERROR_NOT_FOUND, "index is %u; there are %u adapters", index, list->count);
  qn_adapter_info info = {.struct_size = sizeof info};
  describe(&list->items[index], &info);
  CORE_INFO_WRITE(out_info, &info);
  return QN_OK;
}

static qn_status adapter_describe(qn_runtime handle, uint32_t index, qn_adapter_info *out_info) {
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

qn_status qn_adapter_describe(qn_runtime runtime, uint32_t index, qn_adapter_info *out_info) {
  CORE_CALL(adapter_describe(runtime, index, out_info));
}
