/* entry.h - the bytes of one stored entry: a header, a label, and a body that zstd made smaller. All of it is under a
 * checksum, which is looked at on every read. docs/cache.md describes the format. */
#ifndef QUERN_STORE_ENTRY_H
#define QUERN_STORE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "store/key.h"

enum { QN_ENTRY_VERSION = 1, QN_ENTRY_HEADER_BYTES = 112, QN_ENTRY_LABEL_LIMIT = 4096 };
#define QN_ENTRY_BODY_LIMIT (UINT64_C(1) << 30)

/* What an entry holds: part of its name, so that kinds never meet. */
typedef enum qn_entry_kind {
  QN_ENTRY_PROGRAM = 1,  /* what a device loads, and what is told of its kernels */
  QN_ENTRY_MANIFEST = 2, /* what a source has led to (manifest.h) */
  QN_ENTRY_ARTIFACT = 3  /* an output of `quern build` */
} qn_entry_kind;

typedef struct qn_entry_info {
  qn_key key;
  uint32_t kind;
  uint64_t stored_bytes;            /* of the body, as it is in the file */
  uint64_t raw_bytes;               /* of the body */
  char label[QN_ENTRY_LABEL_LIMIT]; /* for people: the program's name */
} qn_entry_info;

typedef enum qn_entry_fault {
  QN_ENTRY_SOUND,
  QN_ENTRY_DAMAGED, /* cut off, too long, another magic, a wrong checksum, a body that doesn't unpack */
  QN_ENTRY_OTHER_VERSION,
  QN_ENTRY_OTHER_KEY, /* a sound entry under a wrong name */
  QN_ENTRY_NO_MEMORY
} qn_entry_fault;

/* Appends the whole entry. `info` gives key, kind and label. False: no memory, or the body is over the limit. */
bool qn_entry_pack(const qn_entry_info *info, qn_sv body, qn_bytes *out);
/* Checks everything and appends the body to `out`, which on a fault is as before. `out` may be NULL: checks alone. */
qn_entry_fault qn_entry_unpack(qn_sv file, const qn_key *key, uint32_t kind, qn_bytes *out);
/* Reads header and label from a file's beginning; nothing of it is checked but its form. False: no entry. */
bool qn_entry_look(qn_sv head, qn_entry_info *out_info);

#endif
