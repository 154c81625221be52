/* buffer_make.c - qn_buffer_create. With a queue that has a block of the size it takes a lock and allocates nothing. */
#include <stddef.h>

#include "base/handle.h"
#include "base/place.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/queue.h"
#include "core/reaper.h"
#include "core/trace.h"

/* ---- Options ------------------------------------------------------------------------------------- */

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
      if (options->size_bytes > UINTPTR_MAX - (uintptr_t)options->host_pointer)
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

/* ---- The record's new life ----------------------------------------------------------------------- */

/* What the memory did before is waited for by each queue that uses the buffer. */
static void be_untracked(core_buffer *buffer) {
  qn_pool_block *block = &buffer->block;
  buffer->birth.count = qn_pool_uses_points(&block->uses, buffer->birth.points);
  atomic_store_explicit(&buffer->birth.is_over, buffer->birth.count == 0, memory_order_relaxed);
  qn_pool_uses_clear(&block->uses);
  block->needs_settling = true;
}

static void begin_life(core_buffer *buffer, const qn_buffer_options *options) {
  qn_pool_block *block = &buffer->block;
  buffer->size_bytes = options->size_bytes;
  buffer->flags = options->flags;
  buffer->memory = options->memory;
  buffer->wrapped = options->memory == QN_MEMORY_WRAP ? options->host_pointer : NULL;
  block->needs_settling = false;
  if (options->flags & QN_BUFFER_UNTRACKED) be_untracked(buffer);
  buffer->object.place = qn_place_take();
  block->place = buffer->object.place;
  if (block->place) block->needs_settling = true;
}

/* The next handle of the record's slot, or the first one of another. */
static qn_status next_handle(core_buffer *buffer) {
  if (buffer->handle && qn_handle_renew(buffer->handle, &buffer->handle)) return QN_OK;
  core_device *device = buffer->device;
  buffer->handle = NULL;
  qn_status status = qn_handle_reserve(QN_KIND_BUFFER, device->runtime->owner, &buffer->handle);
  if (status != QN_ERROR_LIMIT) return status;
  qn_pool_trim(&device->pool, 0); /* free blocks keep slots too */
  return qn_handle_reserve(QN_KIND_BUFFER, device->runtime->owner, &buffer->handle);
}

/* From the announcement on other threads may use and release the buffer. */
static qn_status announce(core_buffer *buffer, qn_buffer *out_buffer) {
  qn_status status = next_handle(buffer);
  if (status < 0) {
    core_buffer_is_dead(buffer);
    return status;
  }
  const void *handle = buffer->handle;
  QN_TRY(core_object_announce(&buffer->object, handle, &buffer->device->runtime->closing));
  *out_buffer = (qn_buffer)handle;
  return QN_OK;
}

/* A buffer that isn't pooled: it holds the device. */
static qn_status hold(core_buffer *buffer) {
  core_device *device = buffer->device;
  qn_status status = buffer->wrapped ? core_buffer_link_wrap(buffer) : QN_OK;
  if (status < 0) {
    qn_pool_destroy(&device->pool, &buffer->block);
    return status;
  }
  core_object_hold(&device->object);
  atomic_fetch_add_explicit(&device->living[QN_KIND_BUFFER], 1, memory_order_relaxed);
  return QN_OK;
}

static qn_status make_buffer(core_device *device, const qn_buffer_options *options, core_queue *queue,
                             qn_buffer *out_buffer) {
  qn_pool_block *block = NULL;
  QN_TRY(check_options(device, options));
  if (!out_buffer) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_buffer is NULL");
  if (options->memory == QN_MEMORY_WRAP)
    QN_TRY(core_buffer_check_wrap(device, options->host_pointer, options->size_bytes));
  const qn_pool_request request = {
      .kind = options->memory,
      .has_failed = queue && atomic_load_explicit(&queue->timeline->failed_first, memory_order_relaxed) != 0,
      .size_bytes = options->size_bytes,
      .host_pointer = options->host_pointer,
      .lane = queue ? queue->lane : NULL,
      .timeout_ns = options->wait_timeout_ns};
  QN_TRY(qn_pool_take(&device->pool, &request, &block));
  core_buffer *buffer = core_buffer_of_block(block);
  begin_life(buffer, options);
  if (block->class_ == QN_POOL_CLASSES) QN_TRY(hold(buffer));
  QN_TRY(announce(buffer, out_buffer));
  core_trace_memory(device);
  return QN_OK;
}

/* ---- The call ------------------------------------------------------------------------------------ */

/* The queue keeps its device alive; that the device's handle is live is all that is left to see. */
static bool is_live_device(const core_queue *queue, qn_device handle) {
  return atomic_load_explicit(&queue->device->handle, memory_order_relaxed) == (uintptr_t)handle &&
         qn_handle_is_live(handle);
}

static qn_status make_for_any(qn_device handle, const qn_buffer_options *options, core_queue *queue,
                              qn_buffer *out_buffer) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = queue ? core_device_match(device, queue->device, "queue") : QN_OK;
  if (status == QN_OK) {
    core_device_collect(device);
    status = make_buffer(device, options, queue, out_buffer);
  }
  qn_handle_unpin(handle);
  return status;
}

static qn_status make_for_queue(qn_device handle, const qn_buffer_options *options, qn_buffer *out_buffer) {
  core_queue *queue = NULL;
  QN_TRY(core_queue_pin(options->queue, &queue));
  qn_status status = is_live_device(queue, handle) ? make_buffer(queue->device, options, queue, out_buffer)
                                                   : make_for_any(handle, options, queue, out_buffer);
  qn_handle_unpin(options->queue);
  return status;
}

static qn_status create(qn_device handle, const qn_buffer_options *given, qn_buffer *out_buffer) {
  qn_buffer_options options;
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options is NULL; a buffer needs a size");
  QN_TRY(CORE_OPTIONS_READ(&options, given, "qn_buffer_options"));
  return options.queue ? make_for_queue(handle, &options, out_buffer)
                       : make_for_any(handle, &options, NULL, out_buffer);
}

qn_status qn_buffer_create(qn_device device, const qn_buffer_options *options, qn_buffer *out_buffer) {
  CORE_CALL_MAKING(create(device, options, out_buffer));
}
