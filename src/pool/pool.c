#include "pool/pool.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/status.h"

/* Classes: sizes up to 2 KiB in steps of 256, then eight steps a factor of two. */
enum { STEP_LOG = 8, STEPS_LOG = 3, STEPS = 1 << STEPS_LOG };

static uint32_t log2_of(uint64_t value) { return 63u - (uint32_t)__builtin_clzll(value); }

/* The class of a size and the size of that class. QN_POOL_CLASSES and the size itself where there is none. */
static uint32_t class_of(uint64_t size, uint64_t *out_size) {
  uint64_t units = (size + (UINT64_C(1) << STEP_LOG) - 1) >> STEP_LOG; /* 1 or more */
  *out_size = size;
  if (units == 0 || units > UINT64_C(1) << 36) return QN_POOL_CLASSES;
  uint32_t shift = 0;
  if (units > STEPS) {
    shift = log2_of(units - 1) - STEPS_LOG;
    units = (units + (UINT64_C(1) << shift) - 1) >> shift;
  }
  /* Now units is 1 to STEPS, or STEPS + 1 to 2 * STEPS after a shift. */
  uint64_t index = shift * (uint64_t)STEPS + units - 1;
  if (index >= QN_POOL_CLASSES) return QN_POOL_CLASSES;
  *out_size = units << shift << STEP_LOG;
  return (uint32_t)index;
}

void qn_pool_init(qn_pool *pool, const qn_adapter_table *table, qn_adapter_device *device,
                  const qn_adapter_device_info *info) {
  *pool = (qn_pool){.table = table, .device = device};
  pool->alignment = info->allocation_alignment ? info->allocation_alignment : 1;
  pool->cache_limit = info->memory_bytes / 8;
  pool->class_limit = info->memory_bytes / 16;
}

static qn_pool_block *pop(qn_pool *pool, uint32_t kind, uint32_t class_) {
  if (class_ == QN_POOL_CLASSES) return NULL;
  qn_mutex_lock(&pool->lock);
  qn_pool_block *block = pool->free[kind][class_];
  if (block) {
    pool->free[kind][class_] = block->next;
    pool->cached -= block->size_bytes;
    pool->used += block->size_bytes;
  }
  qn_mutex_unlock(&pool->lock);
  return block;
}

static qn_status create(qn_pool *pool, const qn_adapter_memory_request *request, qn_pool_block *block) {
  block->info = (qn_adapter_memory_info){.struct_size = sizeof block->info};
  return pool->table->memory_create(pool->device, request, &block->memory, &block->info);
}

static qn_status create_or_trim(qn_pool *pool, const qn_adapter_memory_request *request, qn_pool_block *block) {
  qn_status status = create(pool, request, block);
  if (status != QN_ERROR_OUT_OF_MEMORY) return status;
  (void)!qn_pool_trim(pool); /* whether the driver has memory now is all that matters here */
  return create(pool, request, block);
}

qn_status qn_pool_take(qn_pool *pool, uint32_t kind, uint64_t size_bytes, void *host_pointer,
                       qn_pool_block **out_block) {
  uint64_t size = size_bytes;
  bool has_class = kind < QN_POOL_KINDS && size_bytes <= pool->class_limit;
  uint32_t class_ = has_class ? class_of(size_bytes, &size) : QN_POOL_CLASSES;
  qn_pool_block *block = pop(pool, kind, class_);
  if (block) {
    *out_block = block;
    return QN_OK;
  }
  block = calloc(1, sizeof *block);
  if (!block) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  qn_adapter_memory_request request = {.struct_size = sizeof request,
                                       .memory = kind,
                                       .size_bytes = size,
                                       .alignment = pool->alignment,
                                       .host_pointer = host_pointer};
  qn_status status = create_or_trim(pool, &request, block);
  if (status < 0) {
    free(block);
    return status;
  }
  block->kind = kind;
  block->class_ = class_;
  block->size_bytes = size;
  qn_mutex_lock(&pool->lock);
  pool->used += size;
  qn_mutex_unlock(&pool->lock);
  *out_block = block;
  return QN_OK;
}

static qn_status destroy(qn_pool *pool, qn_pool_block *block) {
  qn_status status = pool->table->memory_destroy(pool->device, block->memory);
  free(block);
  return status;
}

qn_status qn_pool_give(qn_pool *pool, qn_pool_block *block) {
  qn_mutex_lock(&pool->lock);
  pool->used -= block->size_bytes;
  bool keeps = block->class_ != QN_POOL_CLASSES && pool->cached + block->size_bytes <= pool->cache_limit;
  if (keeps) {
    block->next = pool->free[block->kind][block->class_];
    pool->free[block->kind][block->class_] = block;
    pool->cached += block->size_bytes;
  }
  qn_mutex_unlock(&pool->lock);
  return keeps ? QN_OK : destroy(pool, block);
}

/* Takes everything that is kept off the lists. */
static qn_pool_block *take_all(qn_pool *pool) {
  qn_pool_block *all = NULL;
  qn_mutex_lock(&pool->lock);
  for (uint32_t kind = 0; kind < QN_POOL_KINDS; kind++)
    for (uint32_t i = 0; i < QN_POOL_CLASSES; i++)
      while (pool->free[kind][i]) {
        qn_pool_block *block = pool->free[kind][i];
        pool->free[kind][i] = block->next;
        block->next = all;
        all = block;
      }
  pool->cached = 0;
  qn_mutex_unlock(&pool->lock);
  return all;
}

qn_status qn_pool_trim(qn_pool *pool) {
  qn_status first = QN_OK;
  qn_pool_block *block = take_all(pool);
  while (block) {
    qn_pool_block *next = block->next;
    qn_status status = destroy(pool, block);
    if (first == QN_OK && status < 0) first = status;
    block = next;
  }
  return first;
}

void qn_pool_query(qn_pool *pool, qn_pool_statistics *out_statistics) {
  qn_mutex_lock(&pool->lock);
  out_statistics->used = pool->used;
  out_statistics->cached = pool->cached;
  out_statistics->reserved = pool->used + pool->cached;
  qn_mutex_unlock(&pool->lock);
}
