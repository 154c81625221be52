/* keep.h - a store's upkeep: what is in it, keeping its size, checking it, emptying it. Entry bodies are read by
 * qn_store_verify alone. Each function may run beside any use of the store by other processes. */
#ifndef QUERN_STORE_KEEP_H
#define QUERN_STORE_KEEP_H

#include "store/store.h"

typedef struct qn_store_item {
  qn_key key;
  uint32_t kind;
  uint64_t file_bytes;
  uint64_t used_ns; /* of the last use, by the store's clock */
  bool is_obstacle; /* no entry: a directory where one would stand. Upkeep removes it, or tells that it can't */
} qn_store_item;

/* Calls `visit` for every entry, in the order of the keys, until it says false. Errors: IO, OUT_OF_HOST_MEMORY; an absent
 * directory has no entries. */
typedef bool (*qn_store_visit_fn)(void *user, const qn_store_item *item);
QN_MUST_USE qn_status qn_store_walk(qn_store *store, qn_store_visit_fn visit, void *user);

typedef struct qn_store_kept {
  uint64_t entries, bytes;                 /* that stay */
  uint64_t removed_entries, removed_bytes; /* evicted, or damaged */
  uint64_t swept;                          /* files of dead processes */
  uint64_t stuck;                          /* entries that could not be removed, and why the first could not */
  char stuck_reason[512];
} qn_store_kept;

/* What is in the store, by names and sizes alone. */
typedef struct qn_store_summary {
  struct {
    uint64_t entries, bytes;
  } kinds[QN_ENTRY_ARTIFACT + 1]; /* by qn_entry_kind; 0: others */
  uint64_t oldest_ns, newest_ns;  /* of the last uses, by the store's clock; 0 when there is no entry */
} qn_store_summary;
/* Errors: those of qn_store_walk. */
QN_MUST_USE qn_status qn_store_summarize(qn_store *store, qn_store_summary *out_summary);

/* Removes what was used longest ago until no more than max_bytes are left, sweeps, and counts anew what there is. When
 * another process is at it for longer than `patience_ns`: TIMEOUT. Errors: IO (also when an entry can't be removed: the others are
 * then), OUT_OF_HOST_MEMORY. A disk without room or inodes is no obstacle. */
QN_MUST_USE qn_status qn_store_prune(qn_store *store, uint64_t max_bytes, uint64_t patience_ns,
                                     qn_store_kept *out_kept);
/* After storing: prunes where the counters say that the size is over the store's limit, and the entries say so too, to 95 % of it;
 * looks again when done. Who finds another one at it may leave: it looks after that one's storing was counted. `is_counted`: false if it
 * wasn't; then the entries themselves are looked at. */
void qn_store_keep_size(qn_store *store, bool is_counted);
/* How long the following wait for another process's upkeep. */
#define QN_STORE_PATIENCE_NS UINT64_C(30000000000)
/* Reads every entry, removes those that are damaged. */
QN_MUST_USE qn_status qn_store_verify(qn_store *store, qn_store_kept *out_kept);
/* Removes every entry. The counters stay. */
QN_MUST_USE qn_status qn_store_clear(qn_store *store, qn_store_kept *out_kept);

#endif
