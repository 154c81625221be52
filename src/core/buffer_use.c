/* buffer_use.c - what the host does with a buffer: pins, ranges, queries and maps. */
#include <stdlib.h>
#include <string.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/reaper.h"

qn_status core_buffer_pin(qn_buffer handle, const char *what, core_buffer **out_buffer) {
  void *object = NULL;
  QN_TRY(qn_handle_pin(handle, QN_KIND_BUFFER, what, &object));
  *out_buffer = object;
  return QN_OK;
}

qn_status core_buffer_range(const core_buffer *buffer, uint64_t offset_bytes, uint64_t size_bytes, const char *what,
                            uint64_t *out_size) {
  if (offset_bytes > buffer->size_bytes)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s starts at byte %llu of a buffer of %llu bytes", what,
            (unsigned long long)offset_bytes, (unsigned long long)buffer->size_bytes);
  uint64_t left = buffer->size_bytes - offset_bytes;
  if (size_bytes != QN_WHOLE && size_bytes > left)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s has %llu bytes from byte %llu on, but the buffer has %llu bytes", what,
            (unsigned long long)size_bytes, (unsigned long long)offset_bytes, (unsigned long long)buffer->size_bytes);
  *out_size = size_bytes == QN_WHOLE ? left : size_bytes;
  return QN_OK;
}

/* ---- Query -------------------------------------------------------------------------------------- */

/* Device memory is reached by maps, even where the adapter has an address for it: what works on one device works on
 * all, and a map waits for the buffer's work. */
static void *host_pointer(const core_buffer *buffer) {
  return buffer->memory == QN_MEMORY_DEVICE ? NULL : buffer->block.info.host_pointer;
}

static qn_status query(qn_buffer handle, qn_buffer_info *out_info) {
  core_buffer *buffer = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(core_buffer_pin(handle, "buffer", &buffer));
  const qn_buffer_info info = {.struct_size = sizeof info,
                               .memory = buffer->memory,
                               .size_bytes = buffer->size_bytes,
                               .flags = buffer->flags,
                               .host_pointer = host_pointer(buffer)};
  CORE_INFO_WRITE(out_info, &info);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_buffer_query(qn_buffer buffer, qn_buffer_info *out_info) { CORE_CALL(query(buffer, out_info)); }

/* ---- Maps --------------------------------------------------------------------------------------- */

/* What a map waits for. For the work on an untracked buffer the caller has waited, but what the memory did before is not the
 * caller's to know. */
static uint32_t points_before(core_buffer *buffer, uint32_t access, qn_point *points) {
  const core_birth *birth = &buffer->birth;
  if (!(buffer->flags & QN_BUFFER_UNTRACKED))
    return core_tracking_points(&buffer->block.uses, access & QN_MAP_WRITE ? QN_ACCESS_WRITE : QN_ACCESS_READ, points);
  memcpy(points, birth->points, birth->count * sizeof *points);
  return birth->count;
}

static qn_status wait_for_work(core_buffer *buffer, uint32_t access, uint64_t timeout_ns) {
  qn_point points[QN_POOL_POINTS];
  uint32_t count = points_before(buffer, access, points);
  uint64_t deadline = timeout_ns == QN_POLL ? 0 : qn_clock_deadline(timeout_ns);
  for (uint32_t i = 0; i < count; i++) {
    qn_status status = core_point_wait(&points[i], timeout_ns == QN_POLL ? QN_POLL : qn_clock_left(deadline));
    if (status == QN_NOT_READY)
      QN_FAIL(QN_ERROR_TIMEOUT, "the buffer is in use by work in flight; give the map a time limit to wait for it");
    if (status < 0) return status;
  }
  return QN_OK;
}

/* The address of a map of no bytes, where memory has none of its own: there is nothing to read or write, and drivers refuse such maps. */
static const _Alignas(128) char no_bytes[128];

static bool is_in_adapter(const core_buffer *buffer, const void *pointer) {
  return !buffer->block.info.host_pointer && pointer != no_bytes;
}

static qn_status map_in_adapter(core_buffer *buffer, uint64_t offset, uint64_t size, uint32_t access,
                                void **out_pointer) {
  core_device *device = buffer->device;
  const qn_pool_block *block = &buffer->block;
  if (block->info.host_pointer) {
    *out_pointer = (char *)block->info.host_pointer + offset;
    return QN_OK;
  }
  if (size == 0) {
    *out_pointer = (void *)(uintptr_t)no_bytes;
    return QN_OK;
  }
  if (!device->table->memory_map || !device->table->memory_unmap)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s can't map this buffer; use qn_read and qn_write", device->selector);
  return device->table->memory_map(device->native, block->memory, offset, size, access, out_pointer);
}

static qn_status map_range(core_buffer *buffer, const qn_view *view, uint32_t access, uint64_t timeout_ns,
                           void **out_pointer) {
  uint64_t size = 0;
  QN_TRY(core_buffer_range(buffer, view->offset_bytes, view->size_bytes, "view", &size));
  QN_TRY(wait_for_work(buffer, access, timeout_ns));
  QN_TRY(core_failure_of_memory(&buffer->device->failures));
  core_map *map = malloc(sizeof *map);
  if (!map) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a map's record");
  void *pointer = NULL;
  qn_status status = map_in_adapter(buffer, view->offset_bytes, size, access, &pointer);
  if (status < 0) {
    free(map);
    return status;
  }
  map->pointer = pointer;
  qn_mutex_lock(&buffer->map_lock);
  map->next = buffer->maps;
  buffer->maps = map;
  qn_mutex_unlock(&buffer->map_lock); /* from here on it is any thread's that unmaps the same address */
  *out_pointer = pointer;
  return QN_OK;
}

static qn_status map(const qn_view *given, uint32_t access, uint64_t timeout_ns, void **out_pointer) {
  core_buffer *buffer = NULL;
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "view is NULL");
  if (!out_pointer) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_pointer is NULL");
  if (access == 0 || access & ~(uint32_t)(QN_MAP_READ | QN_MAP_WRITE))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "access is %u; it is QN_MAP_READ, QN_MAP_WRITE or both", access);
  const qn_view view = *given;
  QN_TRY(core_buffer_pin(view.buffer, "view.buffer", &buffer));
  qn_status status = map_range(buffer, &view, access, timeout_ns, out_pointer);
  qn_handle_unpin(view.buffer);
  return status;
}

qn_status qn_buffer_map(const qn_view *view, uint32_t access, uint64_t timeout_ns, void **out_pointer) {
  CORE_CALL(map(view, access, timeout_ns, out_pointer));
}

void core_buffer_unmap_all(core_buffer *buffer, core_refusal *refusal) {
  core_device *device = buffer->device;
  while (buffer->maps) {
    core_map *map = buffer->maps;
    buffer->maps = map->next;
    if (is_in_adapter(buffer, map->pointer))
      core_refusal_note(refusal, device->table->memory_unmap(device->native, buffer->block.memory, map->pointer),
                        "mapping");
    free(map);
  }
}

static core_map *take_map(core_buffer *buffer, const void *pointer) {
  qn_mutex_lock(&buffer->map_lock);
  core_map **at = &buffer->maps;
  while (*at && (*at)->pointer != pointer) at = &(*at)->next;
  core_map *map = *at;
  if (map) *at = map->next;
  qn_mutex_unlock(&buffer->map_lock);
  return map;
}

static qn_status unmap_pointer(core_buffer *buffer, void *pointer) {
  core_device *device = buffer->device;
  core_map *map = take_map(buffer, pointer);
  if (!map) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "pointer %p is not mapped (any longer) by this buffer", pointer);
  free(map);
  if (!is_in_adapter(buffer, pointer)) return QN_OK;
  return device->table->memory_unmap(device->native, buffer->block.memory, pointer);
}

static qn_status unmap(qn_buffer handle, void *pointer) {
  core_buffer *buffer = NULL;
  QN_TRY(core_buffer_pin(handle, "buffer", &buffer));
  qn_status status = unmap_pointer(buffer, pointer);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_buffer_unmap(qn_buffer buffer, void *pointer) { CORE_CALL(unmap(buffer, pointer)); }
