/* pool.h - device memory in the order of streams: P1 to P5, above the adapter's plain allocate and free, for every adapter.
 *
 * A lane is a queue's part of the pool: the list that releases of its buffers push onto, without a lock, and shelves of
 * free blocks whose last points are the queue's. One more lane, `complete`, is nobody's: its blocks have no points that
 * matter any longer. A block is on the lane of the queue that it waits for, so nothing is ever searched: the queue itself
 * takes from its own lane, others look at the least value of each other lane.
 *
 * Locks: each lane's guards its shelves and counters. `lock` guards what concerns the driver: reserved memory, the list of
 * all blocks, options. No function of the adapter and none of `ops` is called under either. Two lanes are locked at a time
 * only by reports, in the order of the list of lanes, then `lock`.
 *
 * docs/memory.md tells how it is used, docs/decisions/pool.md why it is so.
 */
#ifndef QUERN_POOL_POOL_H
#define QUERN_POOL_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/os/thread.h"
#include "pool/block.h"
#include "pool/shelf.h"
#include "quern/adapter.h"

/* ---- What the pool asks its owner ---------------------------------------------------------------- */

typedef struct qn_pool_progress {
  uint64_t completed;    /* values up to this one are complete, done or failed; UINT64_MAX: the queue is gone */
  uint64_t failed_first; /* values from this one on have failed; 0: none has */
} qn_pool_progress;

enum { QN_POOL_KNOWN = 8 };

typedef struct qn_pool_ops {
  /* How far a queue is; asks the adapter at most once. */
  void (*progress)(uint64_t queue, qn_pool_progress *out_progress);
  /* The points that `queue` waits for before all that is recorded from now on: at most QN_POOL_KNOWN, one a queue. */
  uint32_t (*known)(uint64_t queue, qn_point *out_points);
  /* The lane of a queue; NULL when the queue has retired. */
  struct qn_pool_lane *(*lane)(uint64_t queue);
  /* Waits on the host. QN_ERROR_WOULD_BLOCK where that must not be. */
  qn_status (*wait)(const qn_point *point, uint64_t timeout_ns);
  /* QN_OK, or why this thread must not wait. */
  qn_status (*may_wait)(void);
  /* Memory for a block and what the owner keeps with it, all zero; NULL: none. */
  qn_pool_block *(*record_new)(void *user);
  void (*record_free)(void *user, qn_pool_block *block);
  /* A released block with needs_settling is about to be free. False: the owner keeps it for a while, and gives it with
   * qn_pool_give. */
  bool (*settle)(void *user, qn_pool_block *block);
  /* Destroys what is due outside of the pool; whether some of it still waits for work. */
  bool (*collect)(void *user);
  /* Whether no queue of the device has work in flight. */
  bool (*is_idle)(void *user);
  /* The driver refused to take memory back; the reason is the thread's error. The memory counts as gone. */
  void (*refused)(void *user, qn_status status);
} qn_pool_ops;

/* ---- Lanes and the pool --------------------------------------------------------------------------- */

enum { QN_POOL_WORDS = QN_POOL_CLASSES / 64 };

/* Type-stable: a lane's memory stays as long as its pool, for a block may name it as its home after the queue has gone. */
typedef struct qn_pool_lane {
  _Alignas(64) _Atomic(qn_pool_block *) released; /* anyone pushes; taken whole */
  _Alignas(64) qn_mutex lock;                     /* the rest */
  _Atomic uint64_t id;                            /* of the queue; 0: none */
  bool is_complete;                               /* the pool's lane of that name */
  uint64_t living; /* buffers that were made here, less those whose release was taken up */
  uint64_t free_bytes;
  uint64_t taken;  /* by requests that name the queue; of `complete`, by those that name none */
  uint64_t visits; /* blocks looked at, for tests */
  struct qn_pool_lane *next, *next_unused;
  _Atomic uint64_t filled[QN_POOL_KINDS][QN_POOL_WORDS]; /* a bit a shelf; read without the lock it is a hint */
  qn_pool_shelf shelves[QN_POOL_KINDS][QN_POOL_CLASSES];
} qn_pool_lane;

typedef struct qn_pool_options {
  uint64_t limit_bytes; /* of device and shared memory; QN_WHOLE: none */
  uint64_t keep_bytes;
  uint64_t wait_timeout_ns;
  uint32_t (*pressure)(void *user, uint64_t wanted_bytes);
  void *user;
} qn_pool_options;

/* Ways in which a block is obtained, in the order in which they are tried. The first, a block of the own queue, is counted
 * by the lanes. */
enum {
  QN_POOL_FROM_KNOWN,
  QN_POOL_FROM_COMPLETE,
  QN_POOL_FROM_NEW,
  QN_POOL_FROM_DEVICE_WAIT,
  QN_POOL_FROM_HOST_WAIT,
  QN_POOL_WAYS
};

typedef struct qn_pool {
  const qn_adapter_table *table;
  qn_adapter_device *device;
  const qn_pool_ops *ops;
  void *user; /* of ops */
  uint64_t alignment;
  uint64_t class_limit; /* larger blocks have their exact size and are not pooled */
  qn_pool_options defaults;
  qn_pool_lane *complete;
  _Atomic(qn_pool_lane *) lanes; /* all, `complete` last; only grows */
  _Atomic uint64_t from[QN_POOL_WAYS];
  _Atomic uint64_t pressure_calls, out_of_memory;
  _Atomic uint64_t reserved;                 /* changed under the lock */
  _Atomic uint64_t keep;                     /* options.keep_bytes, for releases */
  _Atomic uint64_t moves_begun, moves_ended; /* of blocks between two lists: pool/lane.h */

  qn_mutex lock; /* the rest */
  qn_pool_options options;
  uint32_t inside; /* threads inside the pressure callback */
  qn_cond is_left; /* one has left it */
  uint64_t limited, peak, wrapped, being_made;
  uint64_t driver_allocations, driver_frees, driver_refusals;
  qn_pool_block *all, *quarantined;
  uint64_t quarantined_bytes, leaving_bytes;
  qn_pool_lane *unused;   /* lanes of queues that are gone */
  uint64_t idle_bytes;    /* the least that was free since idle_since: what nobody needed */
  uint64_t idle_since_ns; /* 0: not begun */
} qn_pool;

/* Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_pool_open(qn_pool *pool, const qn_adapter_table *table, qn_adapter_device *device,
                                   const qn_adapter_device_info *info, const qn_pool_ops *ops, void *user);
/* Gives all back to the driver, also what is quarantined. No buffer lives and no queue. */
void qn_pool_close(qn_pool *pool);

/* A lane for a queue that is being made. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_pool_lane_open(qn_pool *pool, uint64_t queue, qn_pool_lane **out_lane);
/* The queue has retired: progress says so from now on, and ops->lane finds the lane no longer. Its blocks are everybody's
 * (P4). */
void qn_pool_lane_close(qn_pool *pool, qn_pool_lane *lane);

/* ---- Taking and giving ---------------------------------------------------------------------------- */

typedef struct qn_pool_request {
  uint32_t kind;   /* QN_MEMORY_... */
  bool has_failed; /* the lane's queue: then its blocks are not for the taking */
  uint64_t size_bytes;
  void *host_pointer;  /* QN_MEMORY_WRAP */
  qn_pool_lane *lane;  /* of the queue that will use it first; NULL: any */
  uint64_t timeout_ns; /* of the host wait; 0: the pool's */
} qn_pool_request;

/* A block of at least size_bytes; contents undefined. Its `uses` are what its next user must wait for; they are empty where
 * nothing has to be waited for. Blocks that the host reaches at an address of its own have none. Errors: OUT_OF_MEMORY,
 * the adapter's, OUT_OF_HOST_MEMORY, WOULD_BLOCK. */
QN_MUST_USE qn_status qn_pool_take(qn_pool *pool, const qn_pool_request *request, qn_pool_block **out_block);

/* Releases a pooled block, with the uses that it has: one push, no lock. It may be gone when this returns. */
static inline void qn_pool_release(qn_pool_block *block) {
  _Atomic(qn_pool_block *) *list = &block->home->released;
  qn_pool_block *head = atomic_load_explicit(list, memory_order_relaxed);
  do {
    block->next = head;
  } while (!atomic_compare_exchange_weak_explicit(list, &head, block, memory_order_release, memory_order_relaxed));
}
/* Whether so much is reserved that a release should see to it that qn_pool_tidy is called. */
static inline bool qn_pool_wants_tidying(const qn_pool *pool) {
  return atomic_load_explicit(&pool->reserved, memory_order_relaxed) >
         atomic_load_explicit(&pool->keep, memory_order_relaxed);
}
/* Makes a pooled block free that no list has, with the uses that it has: what qn_pool_release leads to. */
void qn_pool_give(qn_pool *pool, qn_pool_block *block);
/* Gives a block back to the driver that no list has and whose work is complete. */
void qn_pool_destroy(qn_pool *pool, qn_pool_block *block);
/* A block that isn't pooled was released, and its work is in flight: it counts as pending from now on. Again for every look. */
void qn_pool_leave(qn_pool *pool, qn_pool_block *block);
/* Its work is complete: it goes back to the driver; or into quarantine, when some of its work failed. Wrapped memory always goes: it
 * is the caller's. */
void qn_pool_end(qn_pool *pool, qn_pool_block *block);

/* ---- Upkeep ---------------------------------------------------------------------------------------- */

/* Takes up what was released, gives complete blocks back to the driver until `keep_bytes` of free ones are left. Returns
 * how many bytes went. */
uint64_t qn_pool_trim(qn_pool *pool, uint64_t keep_bytes);
/* Now and then: takes up what was released, and gives back free memory above options.keep_bytes that nobody has needed for a
 * second. Whether it should be called again soon. */
bool qn_pool_tidy(qn_pool *pool, uint64_t now_ns);
/* As much of trimming to 0 as can be done now; also frees quarantined blocks, when their queues are gone and no queue has work in
 * flight. Whether no free block is left: some may wait for work, *out_bytes of them, or be in the hands of another thread. */
QN_MUST_USE bool qn_pool_drain(qn_pool *pool, uint64_t *out_bytes);
/* Sets the options; waits until nobody is inside the old callback. Errors: WOULD_BLOCK inside the callback. */
QN_MUST_USE qn_status qn_pool_configure(qn_pool *pool, const qn_pool_options *options);

/* ---- Reports --------------------------------------------------------------------------------------- */

typedef struct qn_pool_statistics {
  uint64_t used, cached, pending, quarantined, reserved; /* reserved is the sum of the others (P3) */
  uint64_t limit, limited, peak, wrapped;
  uint64_t driver_allocations, driver_frees, driver_refusals;
  uint64_t from_own_queue, from[QN_POOL_WAYS];
  uint64_t pressure_calls, out_of_memory;
  uint64_t living; /* buffers */
  uint64_t visits;
} qn_pool_statistics;
/* Takes up what was released and looks which free blocks are complete. */
void qn_pool_query(qn_pool *pool, qn_pool_statistics *out_statistics);
/* The members of the snapshot's object that quern.h describes, without its braces. */
void qn_pool_snapshot(qn_pool *pool, qn_bytes *out);
/* Buffers whose release was not taken up yet or that live. */
uint64_t qn_pool_living(qn_pool *pool);
/* Walks over everything and compares, with all locks held. Errors: INTERNAL, with what is wrong. */
QN_MUST_USE qn_status qn_pool_check(qn_pool *pool);

#endif
