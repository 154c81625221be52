/* transfer.h - entries in one file, for another machine. Each goes as it is in the store, with its checksum; the file has
 * one of its own at its end, so that a part of one is never taken for a whole. */
#ifndef QUERN_STORE_TRANSFER_H
#define QUERN_STORE_TRANSFER_H

#include "store/store.h"

/* Writes the entries whose key's digits begin with one of `names`, or whose label is one of them; count 0: all. Errors:
 * NOT_FOUND when a name names nothing, IO, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_store_export(qn_store *store, const char *path, const char *const *names, uint32_t count,
                                      uint64_t *out_entries);
/* Checks the whole file, then every entry, before the first is stored. They stay: when the store becomes too large, older
 * entries go. Errors: DATA, NOT_FOUND, IO, LIMIT when they are larger than the store may be, UNSUPPORTED when nothing may be
 * stored. */
QN_MUST_USE qn_status qn_store_import(qn_store *store, const char *path, uint64_t *out_entries);

#endif
