#include "core/buffer.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "core/call.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/queue.h"
#include "core/reaper.h"

/* ---- Wrapped memory ----------------------------------------------------------------------------- */

static bool overlaps(const core_buffer *a, const core_buffer *b) {
  uintptr_t a_first = (uintptr_t)a->wrapped, b_first = (uintptr_t)b->wrapped;
  return a_first < b_first + b->size_bytes && b_first < a_first + a->size_bytes;
}

/* Two buffers over the same memory could not be ordered (P6): the second one is refused. */
static qn_status link_wrap(core_device *device, core_buffer *buffer) {
  qn_mutex_lock(&device->lock);
  core_buffer *other = device->wraps;
  while (other && !overlaps(buffer, other)) other = other->next_wrap;
  if (!other) {
    buffer->next_wrap = device->wraps;
    if (buffer->next_wrap) buffer->next_wrap->previous_wrap = buffer;
    device->wraps = buffer;
  }
  qn_mutex_unlock(&device->lock);
  if (other)
    QN_FAIL(
        QN_ERROR_INVALID_ARGUMENT,
        "host_pointer %p with %llu bytes lies in memory that another buffer of %s wraps; release that one and wait for "
        "its work, or make views of one buffer",
        buffer->wrapped, (unsigned long long)buffer->size_bytes, device->selector);
  return QN_OK;
}

static void unlink_wrap(core_device *device, core_buffer *buffer) {
  qn_mutex_lock(&device->lock);
  if (buffer->next_wrap) buffer->next_wrap->previous_wrap = buffer->previous_wrap;
  if (buffer->previous_wrap) buffer->previous_wrap->next_wrap = buffer->next_wrap;
  if (device->wraps == buffer) device->wraps = buffer->next_wrap;
  qn_mutex_unlock(&device->lock);
}

/* ---- The object --------------------------------------------------------------------------------- */

static bool fence(core_buffer *buffer) {
  if (buffer->flags & QN_BUFFER_UNTRACKED) return core_device_fence(buffer->device, &buffer->fence);
  qn_point points[1 + CORE_READERS];
  uint32_t count = core_tracking_points(&buffer->tracking, QN_ACCESS_WRITE, points);
  for (uint32_t i = 0; i < count; i++) {
    if (core_fence_add(&buffer->fence, &points[i])) continue;
    core_fence_free(&buffer->fence);
    return false;
  }
  return true;
}

static bool buffer_ready(core_object *object) {
  core_buffer *buffer = (core_buffer *)object;
  if (!buffer->is_fenced) buffer->is_fenced = fence(buffer);
  return buffer->is_fenced && core_fence_is_passed(&buffer->fence);
}

static void unmap_all(core_buffer *buffer, core_refusal *refusal) {
  core_device *device = buffer->device;
  while (buffer->maps) {
    core_map *map = buffer->maps;
    buffer->maps = map->next;
    if (!buffer->block->info.host_pointer)
      core_refusal_note(refusal, device->table->memory_unmap(device->native, buffer->block->memory, map->pointer),
                        "mapping");
    free(map);
  }
}

static void buffer_destroy(core_object *object, core_refusal *refusal) {
  core_buffer *buffer = (core_buffer *)object;
  core_device *device = buffer->device;
  unmap_all(buffer, refusal);
  if (buffer->wrapped) unlink_wrap(device, buffer);
  core_refusal_note(refusal, qn_pool_give(&device->pool, buffer->block), "buffer");
  core_trace_memory(device);
  core_fence_free(&buffer->fence);
  free(buffer);
  core_object_drop(&device->object);
}

static const core_object_class buffer_class = {QN_KIND_BUFFER, buffer_ready, buffer_destroy};

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

/* ---- Creation ----------------------------------------------------------------------------------- */

static qn_status check_memory(const core_device *device, const qn_buffer_options *options) {
  uint64_t features = device->info.features;
  switch (options->memory) {
    case QN_MEMORY_DEVICE:
    case QN_MEMORY_HOST:
      return QN_OK;
    case QN_MEMORY_SHARED:
      if (features & QN_FEATURE_SHARED_MEMORY) return QN_OK;
      QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s has no shared memory", device->selector);
    case QN_MEMORY_WRAP:
      if (!(features & QN_FEATURE_WRAP_HOST))
        QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s can't wrap host memory; make a buffer and copy", device->selector);
      if (!options->host_pointer) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "host_pointer is NULL; QN_MEMORY_WRAP needs it");
      if ((uintptr_t)options->host_pointer + options->size_bytes < (uintptr_t)options->host_pointer)
        QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "host_pointer %p with size_bytes %llu goes past the end of memory",
                options->host_pointer, (unsigned long long)options->size_bytes);
      return QN_OK;
    default:
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "memory is %u, which is no QN_MEMORY_ kind", options->memory);
  }
}

static qn_status check_options(const core_device *device, const qn_buffer_options *options) {
  if (options->flags & ~QN_BUFFER_UNTRACKED)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "buffer options have unknown flags 0x%llx",
            (unsigned long long)(options->flags & ~QN_BUFFER_UNTRACKED));
  if (options->size_bytes == 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "size_bytes is 0; a buffer has 1 byte or more");
  QN_TRY(check_memory(device, options));
  if (options->memory != QN_MEMORY_WRAP && options->host_pointer)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "host_pointer is set; only QN_MEMORY_WRAP takes one");
  if (options->size_bytes > device->info.max_allocation_bytes)
    QN_FAIL(QN_ERROR_LIMIT, "size_bytes is %llu; device %s has at most %llu for one buffer",
            (unsigned long long)options->size_bytes, device->selector,
            (unsigned long long)device->info.max_allocation_bytes);
  return QN_OK;
}

/* When there is no memory, what is released but still in use may become free in a while. */
#define MEMORY_PATIENCE_NS UINT64_C(10000000000)

static qn_status take_block(core_device *device, core_buffer *buffer) {
  uint64_t deadline = 0;
  for (;;) {
    qn_status status = qn_pool_take(&device->pool, buffer->memory, buffer->size_bytes, buffer->wrapped, &buffer->block);
    if (status != QN_ERROR_OUT_OF_MEMORY || core_reaper_count(device->reaper) == 0) return status;
    QN_TRY(core_may_wait("memory is about to become free: the call"));
    if (deadline == 0) deadline = qn_clock_deadline(MEMORY_PATIENCE_NS);
    if (qn_clock_left(deadline) == 0) return status;
    qn_clock_sleep(1000000);
    core_reaper_collect(device->reaper, UINT32_MAX);
  }
}

static qn_status fill_in(core_device *device, core_buffer *buffer) {
  if (buffer->wrapped) QN_TRY(link_wrap(device, buffer));
  qn_status status = take_block(device, buffer);
  if (status < 0 && buffer->wrapped) unlink_wrap(device, buffer);
  return status;
}

static qn_status check_queue(const core_device *device, qn_queue handle) {
  core_queue *queue = NULL;
  if (!handle) return QN_OK;
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = core_device_match(device, queue->device, "queue");
  qn_handle_unpin(handle);
  return status;
}

static qn_status make_buffer(core_device *device, const qn_buffer_options *given, qn_buffer *out_buffer) {
  qn_buffer_options options;
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options is NULL; a buffer needs a size");
  QN_TRY(CORE_OPTIONS_READ(&options, given, "qn_buffer_options"));
  QN_TRY(check_options(device, &options));
  QN_TRY(check_queue(device, options.queue));
  if (!out_buffer) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_buffer is NULL");
  core_device_collect(device);
  core_buffer *buffer = calloc(1, sizeof *buffer);
  if (!buffer) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a buffer's record");
  buffer->device = device;
  buffer->size_bytes = options.size_bytes;
  buffer->flags = options.flags;
  buffer->memory = options.memory;
  buffer->wrapped = options.memory == QN_MEMORY_WRAP ? options.host_pointer : NULL;
  qn_status status = fill_in(device, buffer);
  if (status < 0) {
    free(buffer);
    return status;
  }
  core_trace_memory(device);
  core_object_hold(&device->object);
  core_object_init(&buffer->object, &buffer_class, device, device->reaper);
  const void *handle = NULL;
  QN_TRY(core_object_publish(&buffer->object, device->runtime->owner, &device->runtime->closing, &handle));
  *out_buffer = (qn_buffer)handle;
  return QN_OK;
}

static qn_status create(qn_device handle, const qn_buffer_options *options, qn_buffer *out_buffer) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = make_buffer(device, options, out_buffer);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_buffer_create(qn_device device, const qn_buffer_options *options, qn_buffer *out_buffer) {
  CORE_CALL_MAKING(create(device, options, out_buffer));
}

/* ---- Query -------------------------------------------------------------------------------------- */

/* Device memory is reached by maps, even where the adapter has an address for it: what works on one device works on
 * all, and a map waits for the buffer's work. */
static void *host_pointer(const core_buffer *buffer) {
  return buffer->memory == QN_MEMORY_DEVICE ? NULL : buffer->block->info.host_pointer;
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

static qn_status wait_for_work(core_buffer *buffer, uint32_t access, uint64_t timeout_ns) {
  if (buffer->flags & QN_BUFFER_UNTRACKED) return QN_OK; /* the caller has waited */
  qn_point points[1 + CORE_READERS];
  uint32_t count =
      core_tracking_points(&buffer->tracking, access & QN_MAP_WRITE ? QN_ACCESS_WRITE : QN_ACCESS_READ, points);
  uint64_t deadline = timeout_ns == QN_POLL ? 0 : qn_clock_deadline(timeout_ns);
  for (uint32_t i = 0; i < count; i++) {
    qn_status status = core_point_wait(&points[i], timeout_ns == QN_POLL ? QN_POLL : qn_clock_left(deadline));
    if (status == QN_NOT_READY)
      QN_FAIL(QN_ERROR_TIMEOUT, "the buffer is in use by work in flight; give the map a time limit to wait for it");
    if (status < 0) return status;
  }
  return QN_OK;
}

static qn_status map_in_adapter(core_buffer *buffer, uint64_t offset, uint64_t size, uint32_t access,
                                void **out_pointer) {
  core_device *device = buffer->device;
  qn_pool_block *block = buffer->block;
  if (block->info.host_pointer) {
    *out_pointer = (char *)block->info.host_pointer + offset;
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
  core_map *map = malloc(sizeof *map);
  if (!map) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a map's record");
  qn_status status = map_in_adapter(buffer, view->offset_bytes, size, access, &map->pointer);
  if (status < 0) {
    free(map);
    return status;
  }
  qn_mutex_lock(&buffer->map_lock);
  map->next = buffer->maps;
  buffer->maps = map;
  qn_mutex_unlock(&buffer->map_lock);
  *out_pointer = map->pointer;
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
  if (buffer->block->info.host_pointer) return QN_OK;
  return device->table->memory_unmap(device->native, buffer->block->memory, pointer);
}

static qn_status unmap(qn_buffer handle, void *pointer) {
  core_buffer *buffer = NULL;
  QN_TRY(core_buffer_pin(handle, "buffer", &buffer));
  qn_status status = unmap_pointer(buffer, pointer);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_buffer_unmap(qn_buffer buffer, void *pointer) { CORE_CALL(unmap(buffer, pointer)); }
