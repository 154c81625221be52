/* manifest.h - the look-up before parsing (C1): what a source has led to, and under which conditions.
 *
 * The look-up key is of what is known before anything is read: the source's bytes, the options, the target. A manifest
 * lists, for each result that was seen with it, the files that were read, with hashes of their contents, and the places
 * where one was looked for in vain. When all of that is so again, the result is the same again. The result is the key of
 * an entry, and bytes that belong to this source alone. A manifest keeps the last eight results. */
#ifndef QUERN_STORE_MANIFEST_H
#define QUERN_STORE_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "store/key.h"
#include "store/store.h"

/* What one compile has seen. Starts cleared. */
typedef struct qn_manifest {
  qn_bytes files; /* packed: path, found, hash */
  uint32_t count;
} qn_manifest;

/* Notes a file that was read, or looked for in vain. `manifest` is a qn_manifest: the preprocessor's callback. */
void qn_manifest_saw(void *manifest, const char *path, bool found, qn_sv text);
void qn_manifest_free(qn_manifest *manifest);

/* Adds a result to the look-up key's manifest. `label` is for people. */
void qn_manifest_put(qn_store *store, const qn_key *lookup, const char *label, const qn_manifest *seen,
                     const qn_key *result, qn_sv own);
/* The result whose conditions hold now; its bytes are appended to `out_own`, and the files that were read to `out_seen`, which
 * may be NULL. HIT, or why there is none: what the request it is for counts (store.h). One that is damaged is replaced by the put. */
qn_store_answer qn_manifest_get(qn_store *store, const qn_key *lookup, qn_key *out_result, qn_bytes *out_own,
                                qn_manifest *out_seen);
/* The paths of the files that were read, one a line. */
void qn_manifest_list(const qn_manifest *seen, qn_bytes *out);

#endif
