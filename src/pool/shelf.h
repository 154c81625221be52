/* shelf.h - free blocks of one queue, kind and class, by the value that they wait for.
 *
 * The queue itself takes the block that it gave last: O(1). Others take the one with the least value, for it is complete,
 * and known to them, first. Both ends of a sorted list serve that as long as blocks come back in the order of their values
 * or against it. One from the middle goes to a heap: O(1) to put, O(log n) in the mean to take. So no block is held back by
 * a slower one that was released before it (PyTorch's pull request 71745), and nothing is ever searched.
 */
#ifndef QUERN_POOL_SHELF_H
#define QUERN_POOL_SHELF_H

#include <stdbool.h>
#include <stdint.h>

#include "pool/block.h"

typedef struct qn_pool_shelf {
  qn_pool_block *first, *last; /* sorted, least first */
  qn_pool_block *late;         /* heap */
  qn_pool_block *shared;       /* heap of those that have points on other queues as well */
} qn_pool_shelf;

static inline bool qn_pool_shelf_is_empty(const qn_pool_shelf *shelf) {
  return !shelf->first && !shelf->late && !shelf->shared;
}

/* How many blocks were looked at is added to `visits`. */
void qn_pool_shelf_put(qn_pool_shelf *shelf, qn_pool_block *block, uint64_t *visits);
/* The queue's own, the one given last; NULL: none. */
qn_pool_block *qn_pool_shelf_take_last(qn_pool_shelf *shelf, uint64_t *visits);

/* The one with the least value among the queue's own or among the shared; NULL: none. */
qn_pool_block *qn_pool_shelf_least(const qn_pool_shelf *shelf, bool shared);
/* Takes what qn_pool_shelf_least gave. */
void qn_pool_shelf_take(qn_pool_shelf *shelf, qn_pool_block *least, uint64_t *visits);

/* Calls `each` for all; the order is none. */
typedef void (*qn_pool_block_fn)(void *user, qn_pool_block *block);
void qn_pool_shelf_each(const qn_pool_shelf *shelf, qn_pool_block_fn each, void *user);

#endif
