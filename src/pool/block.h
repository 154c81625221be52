/* block.h - a piece of device memory, and the points that used it last.
 *
 * A block is taken from the driver once and lives through many buffers. It carries its last points with it: they are the
 * tracking of the buffer that has it (core/tracking.h), they say who may have it next when that buffer is gone, and the
 * next buffer's tracking starts with them.
 */
#ifndef QUERN_POOL_BLOCK_H
#define QUERN_POOL_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "quern/adapter.h"

enum {
  QN_POOL_KINDS = 3,     /* QN_MEMORY_DEVICE, _HOST, _SHARED are pooled */
  QN_POOL_CLASSES = 256, /* sizes; pool/size_class.h */
  QN_POOL_READERS = 4,
  QN_POOL_POINTS = 1 + QN_POOL_READERS
};

/* The last writer, and who has read since. */
typedef struct qn_pool_uses {
  _Atomic uint64_t owner;            /* id of the queue that used it last; 0: none yet, and nothing else is set */
  qn_point writer;                   /* {0, 0}: none */
  qn_point readers[QN_POOL_READERS]; /* since the writer; one a queue. Each of them waited for the writer */
  uint32_t reader_count;
  /* The points are those of an untracked buffer that is gone: none says anything of another, and even who reads waits for all. */
  bool is_unordered;
} qn_pool_uses;

/* LEAVING: released and not pooled; it goes back to the driver when its work is complete. */
enum { QN_POOL_USED, QN_POOL_FREE, QN_POOL_QUARANTINED, QN_POOL_LEAVING, QN_POOL_STATES };

struct qn_pool_lane;

typedef struct qn_pool_block qn_pool_block;
struct qn_pool_block {
  qn_adapter_memory *memory;
  uint64_t size_bytes;       /* what it counts for */
  uint32_t kind;             /* QN_MEMORY_... */
  uint32_t class_;           /* QN_POOL_CLASSES: not pooled */
  struct qn_pool_lane *home; /* where its release is pushed */
  qn_pool_block *next;       /* on the one list, shelf or heap that it is on */
  qn_pool_block *previous;   /* shelf: below it */
  qn_pool_block *child;      /* heap */
  qn_point filed; /* free, leaving: the point that it waits for; value 0: none. Quarantined: the one that failed */
  _Atomic uint32_t state; /* QN_POOL_USED, ... */
  bool is_sole;           /* free: all of its points are on filed.queue */
  bool needs_settling;    /* the core has something to do between its release and its next use */
  qn_pool_uses uses;
  qn_adapter_memory_info info;
  const struct qn_place *place; /* where its buffer was made, when leaks are looked for; NULL else. The core's */
  qn_pool_block *all_next, *all_previous;
};

/* The points that are set; returns how many. */
uint32_t qn_pool_uses_points(const qn_pool_uses *uses, qn_point *points);
void qn_pool_uses_clear(qn_pool_uses *uses);

#endif
