/* memory.c - the public side of a device's pool: options, trimming, statistics, snapshot. */
#include <stdio.h>

#include "base/handle.h"
#include "base/status.h"
#include "core/device.h"
#include "core/exit.h"
#include "core/options.h"

static qn_status configure(qn_device handle, const qn_memory_options *given) {
  core_device *device = NULL;
  qn_memory_options options;
  QN_TRY(CORE_OPTIONS_READ(&options, given, "qn_memory_options"));
  QN_TRY(core_device_pin(handle, &device));
  qn_handle_unpin(handle);
  QN_FAIL(QN_ERROR_UNSUPPORTED, "the pool has no options yet");
}

qn_status qn_memory_configure(qn_device device, const qn_memory_options *options) {
  CORE_CALL(configure(device, options));
}

static uint64_t cached_bytes(core_device *device) {
  qn_pool_statistics pool;
  qn_pool_query(&device->pool, &pool);
  return pool.cached;
}

static qn_status trim(qn_device handle, uint64_t keep_bytes, uint64_t *out_freed_bytes) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  core_device_collect(device);
  uint64_t before = cached_bytes(device);
  qn_status status = before > keep_bytes ? qn_pool_trim(&device->pool) : QN_OK;
  uint64_t after = cached_bytes(device);
  if (out_freed_bytes) *out_freed_bytes = before > after ? before - after : 0;
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_memory_trim(qn_device device, uint64_t keep_bytes, uint64_t *out_freed_bytes) {
  CORE_CALL(trim(device, keep_bytes, out_freed_bytes));
}

static qn_status statistics(qn_device handle, qn_memory_statistics *out_statistics) {
  core_device *device = NULL;
  QN_TRY(core_info_check(out_statistics, "out_statistics"));
  QN_TRY(core_device_pin(handle, &device));
  qn_pool_statistics pool;
  qn_pool_query(&device->pool, &pool);
  const qn_memory_statistics s = {.struct_size = sizeof s,
                                  .used_bytes = pool.used,
                                  .cached_bytes = pool.cached,
                                  .reserved_bytes = pool.reserved,
                                  .limit_bytes = QN_WHOLE};
  CORE_INFO_WRITE(out_statistics, &s);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_memory_statistics_get(qn_device device, qn_memory_statistics *out_statistics) {
  CORE_CALL(statistics(device, out_statistics));
}

static qn_status snapshot(qn_device handle, char *buffer, uint64_t capacity, uint64_t *out_needed) {
  core_device *device = NULL;
  char text[256];
  if (!out_needed) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_needed is NULL");
  if (capacity > 0 && !buffer)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "buffer is NULL with a capacity of %llu bytes", (unsigned long long)capacity);
  QN_TRY(core_device_pin(handle, &device));
  qn_pool_statistics pool;
  qn_pool_query(&device->pool, &pool);
  int length = snprintf(text, sizeof text, "{\"device\": \"%s\", \"reserved\": %llu, \"used\": %llu, \"cached\": %llu}",
                        device->selector, (unsigned long long)pool.reserved, (unsigned long long)pool.used,
                        (unsigned long long)pool.cached);
  *out_needed = (uint64_t)length + 1;
  if (*out_needed <= capacity) snprintf(buffer, capacity, "%s", text);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_memory_snapshot(qn_device device, char *buffer, uint64_t capacity, uint64_t *out_needed) {
  CORE_CALL(snapshot(device, buffer, capacity, out_needed));
}
