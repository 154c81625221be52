/* buffer.h - buffers and views of them. */
#ifndef QUERN_CORE_BUFFER_H
#define QUERN_CORE_BUFFER_H

#include <stdint.h>

#include "base/os/thread.h"
#include "core/device.h"
#include "core/object.h"
#include "core/tracking.h"
#include "pool/pool.h"

/* A map that has not been taken back. */
typedef struct core_map {
  void *pointer;
  struct core_map *next;
} core_map;

typedef struct core_buffer {
  core_object object;
  core_device *device; /* held */
  qn_pool_block *block;
  uint64_t size_bytes;
  uint64_t flags;
  uint32_t memory;
  void *wrapped; /* QN_MEMORY_WRAP */
  core_tracking tracking;
  struct core_buffer *previous_wrap, *next_wrap; /* the device's list */

  qn_mutex map_lock;
  core_map *maps;

  bool is_fenced; /* the reaper's */
  core_fence fence;
} core_buffer;

/* Pins a buffer for a call; `what` names the argument. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_buffer_pin(qn_buffer handle, const char *what, core_buffer **out_buffer);

/* The bytes of a view that lie in its buffer. QN_WHOLE is put in numbers. Errors: INVALID_ARGUMENT, `what` named. */
QN_MUST_USE qn_status core_buffer_range(const core_buffer *buffer, uint64_t offset_bytes, uint64_t size_bytes,
                                        const char *what, uint64_t *out_size);

/* NULL for a buffer whose uses between queues the caller orders. */
static inline core_tracking *core_buffer_tracking(core_buffer *buffer) {
  return buffer->flags & QN_BUFFER_UNTRACKED ? NULL : &buffer->tracking;
}

#endif
