/* store.h - the artifact store on disk (C3, C5, C6): bytes by key and kind, shared by processes.
 *
 * What it promises: a look-up gives the bytes that were stored under exactly this key and kind, or a miss with its reason.
 * Whatever state the directory is in (full, read-only, gone, damaged, being pruned or cleared by others) costs time and
 * never a result: no function below fails for it. All functions may be called from any thread of any process at once.
 *
 * Layout of the directory, whose version is the layout's:
 *   v1/ab/cdef...-KIND  an entry: the key in hexadecimal, its first byte the directory
 *   v1/new/             staged files (base/os/stage.h)
 *   v1/counters         counters.h
 *   v1/locks            one byte a lock: of the pruner, and of keys that are being compiled
 * An entry is published by a rename and never changed afterwards, but for its time of modification, which is that of its
 * last use by the store's clock.
 */
#ifndef QUERN_STORE_STORE_H
#define QUERN_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/os/file_lock.h"
#include "quern/quern.h"
#include "store/counters.h"
#include "store/entry.h"
#include "store/key.h"
#include "store/settings.h"

typedef struct qn_store {
  qn_store_settings settings; /* of the mode OFF when the directory may not be used */
  char path[3072];            /* DIRECTORY/v1 */
  char reason[512];           /* why it may not be used, else "" */
  uint32_t
      shared_mode; /* permissions of a directory that others may write to: its files get them; 0: it is ours alone */
  _Atomic uint32_t has_swept;
} qn_store;

typedef enum qn_store_answer {
  QN_STORE_HIT,
  QN_STORE_ABSENT,
  QN_STORE_DAMAGED,
  QN_STORE_OTHER_VERSION,
  QN_STORE_UNREADABLE,
  QN_STORE_RECACHED,
  QN_STORE_STALE, /* of a manifest: a file that the source reads has changed */
  QN_STORE_UNUSED /* the store is off */
} qn_store_answer;
/* "hit", "no entry", "damaged entry", ... */
const char *qn_store_answer_text(qn_store_answer answer);

/* Copies the settings' texts. Touches no file but the directory's owner. Errors: LIMIT for an endless path. A directory
 * that may not be used is no error: `reason` says why, and the mode is OFF. */
QN_MUST_USE qn_status qn_store_init(qn_store *store, const qn_store_settings *settings);

/* The process's store, from the environment, opened by the first call. Errors: those of qn_store_settings_read, each time. */
QN_MUST_USE qn_status qn_store_default(qn_store **out_store);

/* Looks up and appends the body to `out`. Neither a use nor counted: one of the next two says what became of it. */
qn_store_answer qn_store_look(qn_store *store, const qn_key *key, qn_entry_kind kind, qn_bytes *out);

/* What the look-up before parsing has said (manifest.h). A request is counted and told once, as a hit or as a miss with one reason. */
typedef struct qn_store_before {
  bool was_asked;
  qn_key key;
  qn_store_answer
      answer; /* HIT: it led to the entry. Else why not: the request's reason, where the entry has none of its own */
} qn_store_before;

/* Counts and tells of a hit that has been of use. `before` may be NULL. `label` is for the log. */
void qn_store_used(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label,
                   const qn_store_before *before);
/* Counts and tells of a miss. A damaged entry is removed. */
void qn_store_missed(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label,
                     const qn_store_before *before, qn_store_answer answer);
/* The entry was of use to a request that is counted elsewhere. */
void qn_store_stamp(qn_store *store, const qn_key *key, qn_entry_kind kind);

/* Looks up, counts and tells. */
qn_store_answer qn_store_get(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label, qn_bytes *out);

/* Stores `body`, in place of what was there, and prunes when the store has become too large. Returns whether it is there
 * now. `label` is for people. */
bool qn_store_put(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label, qn_sv body);

/* Takes the lock of a key between processes, so that one compiles and the others wait up to the limit for its entry. False:
 * not taken; go on without, for it spares work and guards nothing. Its holder's death gives it back. */
bool qn_store_lock(qn_store *store, const qn_key *key, uint64_t timeout_ns, qn_file_lock *out_lock);

/* ---- For the files of this folder ---- */

/* DIRECTORY/v1/ab/cdef...-KIND; false when it would be too long. */
bool qn_store_entry_path(const qn_store *store, const qn_key *key, uint32_t kind, char *out, size_t capacity);
/* Publishes a whole entry's bytes. Counts it as what `counted_as` says; out_bytes: the store's size then, 0 when it isn't known.
 * The size is the caller's to keep. Errors: IO, NOT_FOUND. */
QN_MUST_USE qn_status qn_store_publish(qn_store *store, const qn_key *key, uint32_t kind, qn_sv entry,
                                       qn_counter counted_as, uint64_t *out_bytes);
/* Calls `act` once, while nobody else counts, and counts what it says. When the counters can't be had for that long, it is called
 * all the same, with zeros, and nothing is counted. The time to stamp a used entry with, 0 when there is none. */
uint64_t qn_store_update(qn_store *store, qn_counters_act_fn act, void *user, uint64_t timeout_ns, qn_counters *out);
/* The same for what is known before. */
uint64_t qn_store_count(qn_store *store, const qn_counters *change, qn_counters *out);
static inline uint64_t qn_store_count_one(qn_store *store, qn_counter counter) {
  qn_counters change = {0}, after;
  change.values[counter] = 1;
  return qn_store_count(store, &change, &after);
}
/* Within an update: takes an entry's file away, and says what that changes. Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_store_remove_counted(const char *path, qn_counters *change);

#endif
