#include "pool/shelf.h"

#include <stddef.h>

/* ---- Heap: a pairing heap; `child` is the first child, `next` the next sibling, `previous` the one before or the parent */

static uint64_t value_of(const qn_pool_block *block) { return block->filed.value; }

static qn_pool_block *meld(qn_pool_block *a, qn_pool_block *b) {
  if (!a) return b;
  if (!b) return a;
  qn_pool_block *top = value_of(b) < value_of(a) ? b : a, *below = top == a ? b : a;
  below->next = top->child;
  below->previous = top;
  if (below->next) below->next->previous = below;
  top->child = below;
  top->next = top->previous = NULL;
  return top;
}

/* The children pairwise from the left, then the pairs from the right: that order makes the bound. */
static qn_pool_block *meld_all(qn_pool_block *children, uint64_t *visits) {
  qn_pool_block *pairs = NULL, *root = NULL;
  while (children) {
    qn_pool_block *a = children, *b = a->next;
    children = b ? b->next : NULL;
    a->next = a->previous = NULL;
    if (b) b->next = b->previous = NULL;
    qn_pool_block *pair = meld(a, b);
    pair->next = pairs;
    pairs = pair;
    ++*visits;
  }
  while (pairs) {
    qn_pool_block *next = pairs->next;
    pairs->next = NULL;
    root = meld(root, pairs);
    pairs = next;
    ++*visits;
  }
  return root;
}

static void push(qn_pool_block **heap, qn_pool_block *block) {
  block->child = block->next = block->previous = NULL;
  *heap = meld(*heap, block);
}

static qn_pool_block *pop(qn_pool_block **heap, uint64_t *visits) {
  qn_pool_block *top = *heap;
  *heap = meld_all(top->child, visits);
  return top;
}

static qn_pool_block *parent_of(qn_pool_block *block) {
  while (block->previous && block->previous->child != block) block = block->previous;
  return block->previous;
}

/* Without recursion, for a heap may be one long chain. */
static void each_of_heap(qn_pool_block *block, qn_pool_block_fn each, void *user) {
  while (block) {
    each(user, block);
    if (block->child) {
      block = block->child;
      continue;
    }
    while (block && !block->next) block = parent_of(block);
    if (block) block = block->next;
  }
}

/* ---- Shelf --------------------------------------------------------------------------------------- */

static void append(qn_pool_shelf *shelf, qn_pool_block *block) {
  block->next = NULL;
  block->previous = shelf->last;
  if (shelf->last)
    shelf->last->next = block;
  else
    shelf->first = block;
  shelf->last = block;
}

static void prepend(qn_pool_shelf *shelf, qn_pool_block *block) {
  block->previous = NULL;
  block->next = shelf->first;
  shelf->first->previous = block;
  shelf->first = block;
}

void qn_pool_shelf_put(qn_pool_shelf *shelf, qn_pool_block *block, uint64_t *visits) {
  ++*visits;
  if (!block->is_sole)
    push(&shelf->shared, block);
  else if (!shelf->last || value_of(block) >= value_of(shelf->last))
    append(shelf, block);
  else if (value_of(block) <= value_of(shelf->first))
    prepend(shelf, block);
  else
    push(&shelf->late, block);
}

static qn_pool_block *take_end(qn_pool_shelf *shelf) {
  qn_pool_block *block = shelf->last;
  shelf->last = block->previous;
  if (shelf->last)
    shelf->last->next = NULL;
  else
    shelf->first = NULL;
  return block;
}

qn_pool_block *qn_pool_shelf_take_last(qn_pool_shelf *shelf, uint64_t *visits) {
  ++*visits;
  if (shelf->last) return take_end(shelf);
  return shelf->late ? pop(&shelf->late, visits) : NULL;
}

qn_pool_block *qn_pool_shelf_least(const qn_pool_shelf *shelf, bool shared) {
  if (shared) return shelf->shared;
  if (!shelf->first || !shelf->late) return shelf->first ? shelf->first : shelf->late;
  return value_of(shelf->late) < value_of(shelf->first) ? shelf->late : shelf->first;
}

void qn_pool_shelf_take(qn_pool_shelf *shelf, qn_pool_block *least, uint64_t *visits) {
  ++*visits;
  if (least == shelf->shared) {
    pop(&shelf->shared, visits);
  } else if (least == shelf->late) {
    pop(&shelf->late, visits);
  } else {
    shelf->first = least->next;
    if (shelf->first)
      shelf->first->previous = NULL;
    else
      shelf->last = NULL;
  }
}

void qn_pool_shelf_each(const qn_pool_shelf *shelf, qn_pool_block_fn each, void *user) {
  for (qn_pool_block *block = shelf->first; block; block = block->next) each(user, block);
  each_of_heap(shelf->late, each, user);
  each_of_heap(shelf->shared, each, user);
}
