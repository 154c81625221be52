/* driver.c - the side of the pool that faces the adapter: what is reserved, and giving it back. */
#include "base/log.h"
#include "base/status.h"
#include "pool/lane.h"

/* The limit is for what stands in the device's memory. */
static bool is_limited(uint32_t kind) { return kind == QN_MEMORY_DEVICE || kind == QN_MEMORY_SHARED; }

/* ---- Reserving ----------------------------------------------------------------------------------- */

/* Under the lock. */
static bool fits(const qn_pool *pool, uint64_t size) {
  uint64_t limit = pool->options.limit_bytes;
  return limit == QN_WHOLE || (pool->limited <= limit && size <= limit - pool->limited);
}

static void change_reserved(qn_pool *pool, uint32_t kind, uint64_t change) {
  if (kind == QN_MEMORY_WRAP) {
    pool->wrapped += change;
    return;
  }
  uint64_t reserved = atomic_load_explicit(&pool->reserved, memory_order_relaxed) + change;
  atomic_store_explicit(&pool->reserved, reserved, memory_order_relaxed);
  if (reserved > pool->peak) pool->peak = reserved;
  if (is_limited(kind)) pool->limited += change;
}

static bool reserve(qn_pool *pool, uint32_t kind, uint64_t size) {
  qn_mutex_lock(&pool->lock);
  bool is_allowed = !is_limited(kind) || fits(pool, size);
  if (is_allowed) {
    change_reserved(pool, kind, size);
    pool->being_made += kind == QN_MEMORY_WRAP ? 0 : size;
  }
  qn_mutex_unlock(&pool->lock);
  return is_allowed;
}

/* ---- Creating and destroying ---------------------------------------------------------------------- */

/* The end of making: `block` is NULL when it failed. */
static void is_made(qn_pool *pool, uint32_t kind, uint64_t size, qn_pool_block *block) {
  qn_mutex_lock(&pool->lock);
  pool->being_made -= kind == QN_MEMORY_WRAP ? 0 : size;
  if (!block) {
    change_reserved(pool, kind, (uint64_t)0 - size);
    qn_mutex_unlock(&pool->lock);
    return;
  }
  block->all_next = pool->all;
  if (pool->all) pool->all->all_previous = block;
  pool->all = block;
  pool->driver_allocations++;
  qn_mutex_unlock(&pool->lock);
}

static void unlink_block(qn_pool *pool, qn_pool_block *block, bool refused) {
  qn_mutex_lock(&pool->lock);
  if (block->all_next) block->all_next->all_previous = block->all_previous;
  if (block->all_previous)
    block->all_previous->all_next = block->all_next;
  else
    pool->all = block->all_next;
  if (atomic_load_explicit(&block->state, memory_order_relaxed) == QN_POOL_LEAVING)
    pool->leaving_bytes -= block->size_bytes;
  pool->driver_frees++;
  pool->driver_refusals += refused;
  change_reserved(pool, block->kind, (uint64_t)0 - block->size_bytes);
  qn_mutex_unlock(&pool->lock);
}

static qn_status create(qn_pool *pool, const qn_pool_request *request, uint64_t size, qn_pool_block *block) {
  const qn_adapter_memory_request asked = {.struct_size = sizeof asked,
                                           .memory = request->kind,
                                           .size_bytes = size,
                                           .alignment = pool->alignment,
                                           .host_pointer = request->host_pointer};
  block->info = (qn_adapter_memory_info){.struct_size = sizeof block->info};
  return pool->table->memory_create(pool->device, &asked, &block->memory, &block->info);
}

qn_status qn_pool_create(qn_pool *pool, const qn_pool_request *request, uint64_t size, uint32_t class_,
                         qn_pool_block **out_block) {
  if (!reserve(pool, request->kind, size)) return QN_NOT_READY;
  qn_pool_block *block = pool->ops->record_new(pool->user);
  qn_status status = block ? create(pool, request, size, block)
                           : qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  if (status < 0) {
    if (block) pool->ops->record_free(pool->user, block);
    is_made(pool, request->kind, size, NULL);
    return status;
  }
  block->kind = request->kind;
  block->class_ = class_;
  block->size_bytes = size;
  atomic_init(&block->state, QN_POOL_USED);
  is_made(pool, request->kind, size, block);
  *out_block = block;
  return QN_OK;
}

void qn_pool_destroy(qn_pool *pool, qn_pool_block *block) {
  qn_status status = pool->table->memory_destroy(pool->device, block->memory);
  if (status < 0) pool->ops->refused(pool->user, status);
  unlink_block(pool, block, status < 0);
  pool->ops->record_free(pool->user, block);
}

/* ---- Giving back ----------------------------------------------------------------------------------- */

/* The block that has been everybody's longest, of the largest class; give_back follows. NULL: there is none. */
static qn_pool_block *take_largest(qn_pool *pool, bool limited_only) {
  qn_pool_lane *lane = pool->complete;
  qn_pool_block *block = NULL;
  qn_mutex_lock(&lane->lock);
  for (uint32_t class_ = QN_POOL_CLASSES; class_ > 0 && !block; class_--)
    for (uint32_t kind = 0; kind < QN_POOL_KINDS && !block; kind++)
      if ((!limited_only || is_limited(kind)) && qn_pool_lane_has(lane, kind, class_ - 1))
        block = qn_pool_lane_least(lane, kind, class_ - 1, false);
  if (block) {
    qn_pool_lane_take(lane, block);
    qn_pool_move_begins(pool);
  }
  qn_mutex_unlock(&lane->lock);
  return block;
}

static void give_back(qn_pool *pool, qn_pool_block *block) {
  qn_pool_destroy(pool, block);
  qn_pool_move_ends(pool);
}

uint64_t qn_pool_limit(qn_pool *pool, uint32_t kind) {
  if (!is_limited(kind)) return QN_WHOLE;
  qn_mutex_lock(&pool->lock);
  uint64_t limit = pool->options.limit_bytes;
  qn_mutex_unlock(&pool->lock);
  return limit;
}

static bool has_room(qn_pool *pool, uint64_t size) {
  qn_mutex_lock(&pool->lock);
  bool has = fits(pool, size);
  qn_mutex_unlock(&pool->lock);
  return has;
}

void qn_pool_make_room(qn_pool *pool, uint64_t size, bool all) {
  qn_error_saved saved;
  qn_error_save(&saved); /* what is refused here is no error of the caller, who wants memory */
  qn_pool_drain_lanes(pool);
  qn_pool_harvest_all(pool);
  while (all || !has_room(pool, size)) {
    qn_pool_block *block = take_largest(pool, !all);
    if (!block) break;
    give_back(pool, block);
  }
  qn_error_restore(&saved);
}

uint64_t qn_pool_free_bytes(qn_pool *pool) {
  uint64_t sum = 0;
  for (qn_pool_lane *lane = qn_pool_lanes(pool); lane; lane = lane->next) {
    qn_mutex_lock(&lane->lock);
    sum += lane->free_bytes;
    qn_mutex_unlock(&lane->lock);
  }
  return sum;
}

uint64_t qn_pool_trim(qn_pool *pool, uint64_t keep_bytes) {
  uint64_t freed = 0;
  qn_pool_drain_lanes(pool);
  qn_pool_harvest_all(pool);
  for (uint64_t left = qn_pool_free_bytes(pool); left > keep_bytes;) {
    qn_pool_block *block = take_largest(pool, false);
    if (!block) break;
    left -= block->size_bytes < left ? block->size_bytes : left;
    freed += block->size_bytes;
    give_back(pool, block);
  }
  if (freed > 0) QN_LOG(MEMORY, "%llu bytes of free memory went back to the driver", (unsigned long long)freed);
  return freed;
}

#define IDLE_NS UINT64_C(1000000000)

/* How much free memory may stay. Under the lock. */
static uint64_t idle_target(qn_pool *pool, uint64_t free_now, uint64_t now_ns) {
  uint64_t target = QN_WHOLE, keep = pool->options.keep_bytes;
  bool begins = pool->idle_since_ns == 0;
  if (begins || free_now < pool->idle_bytes) pool->idle_bytes = free_now;
  if (begins) pool->idle_since_ns = now_ns;
  if (now_ns - pool->idle_since_ns >= IDLE_NS) {
    if (pool->idle_bytes > keep) target = free_now - (pool->idle_bytes - keep);
    pool->idle_bytes = free_now;
    pool->idle_since_ns = now_ns;
  }
  if (free_now <= keep) pool->idle_since_ns = 0;
  return target;
}

bool qn_pool_tidy(qn_pool *pool, uint64_t now_ns) {
  qn_pool_drain_lanes(pool);
  uint64_t free_now = qn_pool_free_bytes(pool);
  qn_mutex_lock(&pool->lock);
  uint64_t target = idle_target(pool, free_now, now_ns), keep = pool->options.keep_bytes;
  qn_mutex_unlock(&pool->lock);
  if (target != QN_WHOLE) qn_pool_trim(pool, target);
  return free_now > keep;
}
