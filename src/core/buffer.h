/* buffer.h - buffers and views of them.
 *
 * A buffer's record holds its block, and lives as long as the block does, through many buffers (pool/block.h). Between two of
 * them it lies in the pool, with its handle's slot, so that making and releasing one allocates nothing. The pool, and not each
 * buffer, holds the device (core/memory.h).
 *
 * Wrapped memory and very large blocks aren't pooled: such a buffer holds its device and ends by the reaper, like a queue.
 */
#ifndef QUERN_CORE_BUFFER_H
#define QUERN_CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/thread.h"
#include "core/device.h"
#include "core/object.h"
#include "core/tracking.h"
#include "core/uses.h"
#include "pool/pool.h"

/* A map that has not been taken back. */
typedef struct core_map {
  void *pointer;
  struct core_map *next;
} core_map;

typedef struct core_buffer {
  core_object object;
  core_device *device;
  const void *handle; /* of this buffer, or of the last one that the record was; NULL: none yet */
  uint64_t size_bytes;
  uint64_t flags;
  uint32_t memory;
  qn_pool_block block;

  qn_mutex map_lock;
  core_map *maps;

  core_uses uses; /* untracked */
  core_birth birth;

  void *wrapped;                                 /* QN_MEMORY_WRAP */
  struct core_buffer *previous_wrap, *next_wrap; /* the device's list */
} core_buffer;

/* Pins a buffer for a call; `what` names the argument. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_buffer_pin(qn_buffer handle, const char *what, core_buffer **out_buffer);

/* The bytes of a view that lie in its buffer. QN_WHOLE is put in numbers. Errors: INVALID_ARGUMENT, `what` named. */
QN_MUST_USE qn_status core_buffer_range(const core_buffer *buffer, uint64_t offset_bytes, uint64_t size_bytes,
                                        const char *what, uint64_t *out_size);

/* What a command does with a buffer. */
static inline void core_buffer_use(core_buffer *buffer, uint32_t access, core_use *out) {
  bool is_tracked = !(buffer->flags & QN_BUFFER_UNTRACKED);
  out->tracking = is_tracked ? &buffer->block.uses : NULL;
  out->access = access;
  out->uses = is_tracked ? NULL : &buffer->uses;
  out->birth = is_tracked ? NULL : &buffer->birth;
}

static inline core_buffer *core_buffer_of_block(qn_pool_block *block) {
  return (core_buffer *)(void *)((char *)block - offsetof(core_buffer, block));
}

/* ---- Lives of the record; for the pool's owner (core/memory.c) -------------------------------------- */

/* What handle.h calls at the end of a buffer. */
void core_buffer_is_dead(void *object);
/* What the pool calls (pool/pool.h). */
qn_pool_block *core_buffer_record_new(void *device);
void core_buffer_record_free(void *device, qn_pool_block *block);
bool core_buffer_settle(void *device, qn_pool_block *block);

/* Wrapped memory: two buffers over the same could not be ordered (P6), so the second is refused. Errors: INVALID_ARGUMENT. */
QN_MUST_USE qn_status core_buffer_check_wrap(core_device *device, void *pointer, uint64_t size_bytes);
QN_MUST_USE qn_status core_buffer_link_wrap(core_buffer *buffer);
void core_buffer_unlink_wrap(core_buffer *buffer);

/* Gives up all maps. What the driver refuses goes to `refusal`. */
void core_buffer_unmap_all(core_buffer *buffer, struct core_refusal *refusal);

#endif
