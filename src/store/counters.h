/* counters.h - what all processes that use a store have done, in one small file (C5).
 *
 * The file also has the store's clock: a time that never goes back, whatever the system's clock does, so that "least
 * recently used" keeps its sense. What changes the size is done while the file is locked, so that two who store one key don't
 * count it twice. An update locks the file for some microseconds; one that can't have the lock within
 * its time limit is dropped: a hit is never worth a wait, what the size depends on is worth a short one. A damaged file starts anew.
 */
#ifndef QUERN_STORE_COUNTERS_H
#define QUERN_STORE_COUNTERS_H

#include <stdint.h>

#include "quern/quern.h"

/* X(ID, name, text): the order is the file's; new ones go to the end. */
#define QN_COUNTERS(X)                                                            \
  X(HITS, "hits", "entries found")                                                \
  X(MISSES_ABSENT, "misses_absent", "there was no entry")                         \
  X(MISSES_DAMAGED, "misses_damaged", "the entry was damaged, and was removed")   \
  X(MISSES_VERSION, "misses_version", "the entry was of another format")          \
  X(MISSES_UNREADABLE, "misses_unreadable", "the entry could not be read")        \
  X(MISSES_RECACHE, "misses_recache", "QUERN_CACHE=recache")                      \
  X(STORES, "stores", "entries written")                                          \
  X(STORES_FAILED, "stores_failed", "entries that could not be written")          \
  X(STORES_TOO_LARGE, "stores_too_large", "entries larger than the store may be") \
  X(EVICTIONS, "evictions", "entries removed to keep the size")                   \
  X(SWEPT, "swept", "files that dead processes had left")                         \
  X(IMPORTS, "imports", "entries that came with `quern cache import`")            \
  X(RESETS, "resets", "times that this file was damaged and began anew")          \
  X(BYTES, "bytes", "size of all entries")                                        \
  X(ENTRIES, "entries", "how many")                                               \
  X(MISSES_STALE, "misses_stale", "a file that the source reads had changed")     \
  X(CLEARED, "cleared", "entries removed by `quern cache clear`")

typedef enum qn_counter {
#define QN_X(id, name, text) QN_COUNT_##id,
  QN_COUNTERS(QN_X)
#undef QN_X
      QN_COUNTER_COUNT
} qn_counter;

typedef struct qn_counters {
  uint64_t clock_ns; /* the last time given out; nanoseconds since 1970 when the system's clock is right */
  int64_t values[QN_COUNTER_COUNT];
} qn_counters;

#define QN_COUNTERS_HIT_NS UINT64_C(20000000)
#define QN_COUNTERS_SIZE_NS UINT64_C(2000000000)
/* Does something while nobody else counts, and adds to `change` what that changed. `now`: what the file says. */
typedef void (*qn_counters_act_fn)(void *user, const qn_counters *now, qn_counters *change);
/* Calls `act` under the file's lock, counts what it says, and takes the next time. `out`: all of it afterwards. An absent or
 * damaged file starts from zero. Errors: TIMEOUT, NOT_FOUND, IO; nothing was counted then, and `act` may not have been called. */
QN_MUST_USE qn_status qn_counters_update(const char *path, qn_counters_act_fn act, void *user, uint64_t timeout_ns,
                                         qn_counters *out);
/* Errors: NOT_FOUND, DATA, IO. */
QN_MUST_USE qn_status qn_counters_read(const char *path, qn_counters *out);

/* "hits"; the text says what it counts. */
const char *qn_counter_name(qn_counter counter);
const char *qn_counter_text(qn_counter counter);

#endif
