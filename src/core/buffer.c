/* buffer.c - the lives of a buffer's record. */
#include "core/buffer.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/status.h"
#include "core/memory.h"
#include "core/reaper.h"

static bool is_untracked(const core_buffer *buffer) { return (buffer->flags & QN_BUFFER_UNTRACKED) != 0; }
static bool is_pooled(const core_buffer *buffer) { return buffer->block.class_ != QN_POOL_CLASSES; }

/* ---- Wrapped memory ------------------------------------------------------------------------------ */

static bool overlaps(const core_buffer *a, uintptr_t b_first, uint64_t b_size) {
  uintptr_t a_first = (uintptr_t)a->wrapped;
  return a_first < b_first + b_size && b_first < a_first + a->size_bytes;
}

/* Under the device's lock. */
static bool is_wrapped(const core_device *device, const void *pointer, uint64_t size_bytes) {
  const core_buffer *other = device->wraps;
  while (other && !overlaps(other, (uintptr_t)pointer, size_bytes)) other = other->next_wrap;
  return other != NULL;
}

static qn_status is_taken(const core_device *device, const void *pointer, uint64_t size_bytes) {
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
          "host_pointer %p with %llu bytes lies in memory that another buffer of %s wraps; release that one and wait "
          "for its "
          "work, or make views of one buffer",
          pointer, (unsigned long long)size_bytes, device->selector);
}

qn_status core_buffer_check_wrap(core_device *device, void *pointer, uint64_t size_bytes) {
  qn_mutex_lock(&device->lock);
  bool taken = is_wrapped(device, pointer, size_bytes);
  qn_mutex_unlock(&device->lock);
  return taken ? is_taken(device, pointer, size_bytes) : QN_OK;
}

qn_status core_buffer_link_wrap(core_buffer *buffer) {
  core_device *device = buffer->device;
  qn_mutex_lock(&device->lock);
  bool taken = is_wrapped(device, buffer->wrapped, buffer->size_bytes);
  if (!taken) {
    buffer->next_wrap = device->wraps;
    if (buffer->next_wrap) buffer->next_wrap->previous_wrap = buffer;
    device->wraps = buffer;
  }
  qn_mutex_unlock(&device->lock);
  return taken ? is_taken(device, buffer->wrapped, buffer->size_bytes) : QN_OK;
}

void core_buffer_unlink_wrap(core_buffer *buffer) {
  core_device *device = buffer->device;
  qn_mutex_lock(&device->lock);
  if (buffer->next_wrap) buffer->next_wrap->previous_wrap = buffer->previous_wrap;
  if (buffer->previous_wrap) buffer->previous_wrap->next_wrap = buffer->next_wrap;
  if (device->wraps == buffer) device->wraps = buffer->next_wrap;
  qn_mutex_unlock(&device->lock);
}

/* ---- Points -------------------------------------------------------------------------------------- */

/* What a dead buffer's memory still waits for. An untracked one's uses waited for what was before it. */
static uint32_t last_points(core_buffer *buffer, qn_point *points, uint32_t capacity) {
  uint32_t count = core_uses_points(&buffer->uses, points, capacity);
  if (count > 0) return count;
  for (uint32_t i = 0; i < buffer->birth.count; i++) {
    core_point_state state = core_point_look(&buffer->birth.points[i]);
    if (state == CORE_POINT_PENDING || state == CORE_POINT_FAILED) points[count++] = buffer->birth.points[i];
  }
  return count;
}

/* Writes an untracked buffer's points into its block, for the next who has it. False: there are more than it has room
 * for. (Of points that failed, one is enough.) */
static bool write_points(core_buffer *buffer) {
  qn_point points[QN_POOL_POINTS];
  uint32_t count = last_points(buffer, points, QN_POOL_POINTS);
  qn_pool_uses *uses = &buffer->block.uses;
  if (count > QN_POOL_POINTS) {
    if (core_uses_is_pending(&buffer->uses)) return false;
    count = QN_POOL_POINTS;
  }
  qn_pool_uses_clear(uses);
  if (count > QN_POOL_READERS) uses->writer = points[--count];
  for (uint32_t i = 0; i < count; i++) uses->readers[i] = points[i];
  uses->reader_count = count;
  uses->is_unordered = true;
  if (count > 0) atomic_store_explicit(&uses->owner, points[count - 1].queue, memory_order_relaxed);
  core_uses_clear(&buffer->uses);
  return true;
}

static bool has_work(const core_buffer *buffer) {
  qn_point points[QN_POOL_POINTS];
  if (is_untracked(buffer)) return core_uses_is_pending(&buffer->uses); /* its memory was new: nothing was before */
  uint32_t count = qn_pool_uses_points(&buffer->block.uses, points);
  for (uint32_t i = 0; i < count; i++)
    if (core_point_is_in_flight(&points[i])) return true;
  return false;
}

/* ---- The end of a buffer ------------------------------------------------------------------------- */

/* One push, whichever way (L4). What is pooled goes to the pool at once, with its points. */
void core_buffer_is_dead(void *object) {
  core_buffer *buffer = object;
  core_reaper *reaper = buffer->object.reaper;
  if (!is_pooled(buffer)) {
    atomic_fetch_sub_explicit(&buffer->device->living[QN_KIND_BUFFER], 1, memory_order_relaxed);
    core_object_drop(&buffer->object);
    return;
  }
  if (buffer->maps) buffer->block.needs_settling = true;
  bool wakes = qn_pool_wants_tidying(&buffer->device->pool);
  qn_pool_release(&buffer->block); /* from here on it may be gone, and the device with it; the reaper stays */
  if (wakes) core_reaper_wake(reaper);
}

bool core_buffer_settle(void *given, qn_pool_block *block) {
  core_device *device = given;
  core_buffer *buffer = core_buffer_of_block(block);
  free(buffer->object.place);
  buffer->object.place = NULL;
  block->place = NULL;
  if (buffer->maps) core_memory_unmap(device, buffer);
  if (!is_untracked(buffer) || write_points(buffer)) return true;
  core_object_hold(&device->object);
  core_reaper_push(buffer->object.reaper, &buffer->object); /* until fewer of its queues are at work */
  return false;
}

/* By the reaper: of what isn't pooled, or has too many points for that. */
static bool buffer_ready(core_object *object) {
  core_buffer *buffer = (core_buffer *)object;
  if (is_pooled(buffer)) return write_points(buffer);
  if (!has_work(buffer)) return true;
  qn_pool_leave(&buffer->device->pool, &buffer->block);
  return false;
}

static void buffer_destroy(core_object *object, core_refusal *refusal) {
  core_buffer *buffer = (core_buffer *)object;
  core_device *device = buffer->device;
  if (is_pooled(buffer)) {
    qn_pool_give(&device->pool, &buffer->block);
  } else {
    core_buffer_unmap_all(buffer, refusal);
    if (buffer->wrapped) core_buffer_unlink_wrap(buffer);
    if (is_untracked(buffer)) (void)!write_points(buffer); /* some may have failed */
    qn_pool_end(&device->pool, &buffer->block);
  }
  core_object_drop(&device->object);
}

static const core_object_class buffer_class = {QN_KIND_BUFFER, buffer_ready, buffer_destroy};

/* ---- Records ------------------------------------------------------------------------------------- */

qn_pool_block *core_buffer_record_new(void *given) {
  core_device *device = given;
  core_buffer *buffer = calloc(1, sizeof *buffer);
  if (!buffer) return NULL;
  buffer->device = device;
  core_object_init(&buffer->object, &buffer_class, device, device->reaper);
  return &buffer->block;
}

void core_buffer_record_free(void *device, qn_pool_block *block) {
  core_buffer *buffer = core_buffer_of_block(block);
  (void)device;
  if (buffer->handle) qn_handle_give_up(buffer->handle);
  core_uses_clear(&buffer->uses);
  free(buffer);
}
