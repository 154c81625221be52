/* pool.h - device memory, kept by size for the next who asks: above the adapter's plain allocate and free, for every
 * adapter.
 *
 * A block that is given back has no work in flight any longer (the core's reaper sees to it), so any queue may have it
 * next. Blocks are kept in lists by memory kind and size class, eight classes to a factor of two: at most an eighth is
 * lost. Taking and giving are a lock and a list's head. Wrapped memory and blocks of more than a
 * sixteenth of the device's memory are not kept.
 */
#ifndef QUERN_POOL_POOL_H
#define QUERN_POOL_POOL_H

#include <stdint.h>

#include "base/os/thread.h"
#include "quern/adapter.h"

enum { QN_POOL_CLASSES = 256, QN_POOL_KINDS = 3 };

typedef struct qn_pool_block qn_pool_block;
struct qn_pool_block {
  qn_adapter_memory *memory;
  qn_adapter_memory_info info;
  uint32_t kind;       /* QN_MEMORY_... */
  uint32_t class_;     /* QN_POOL_CLASSES: not kept */
  uint64_t size_bytes; /* what it counts for */
  qn_pool_block *next;
};

typedef struct qn_pool {
  const qn_adapter_table *table;
  qn_adapter_device *device;
  uint64_t alignment;
  uint64_t cache_limit; /* bytes kept in all */
  uint64_t class_limit; /* larger blocks have their exact size and are not kept */
  qn_mutex lock;        /* the rest */
  qn_pool_block *free[QN_POOL_KINDS][QN_POOL_CLASSES];
  uint64_t used, cached; /* bytes */
} qn_pool;

void qn_pool_init(qn_pool *pool, const qn_adapter_table *table, qn_adapter_device *device,
                  const qn_adapter_device_info *info);

/* A block of at least size_bytes; contents undefined. `host_pointer` for QN_MEMORY_WRAP. When the adapter has no memory
 * left, what is kept goes back to it first. Errors: the adapter's, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_pool_take(qn_pool *pool, uint32_t kind, uint64_t size_bytes, void *host_pointer,
                                   qn_pool_block **out_block);
/* Gives a block back. Errors: what the adapter refused; the block is gone all the same. */
QN_MUST_USE qn_status qn_pool_give(qn_pool *pool, qn_pool_block *block);
/* Gives all that is kept back to the adapter. Errors: the first thing that it refused. */
QN_MUST_USE qn_status qn_pool_trim(qn_pool *pool);

typedef struct qn_pool_statistics {
  uint64_t used, cached, reserved; /* reserved = used + cached (P3) */
} qn_pool_statistics;
void qn_pool_query(qn_pool *pool, qn_pool_statistics *out_statistics);

#endif
