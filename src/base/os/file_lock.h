/* file_lock.h - a lock between processes on one byte of a file. The system gives it back when its holder dies. It also
 * holds between threads of one process. On file systems without such locks taking one is an error. */
#ifndef QUERN_BASE_OS_FILE_LOCK_H
#define QUERN_BASE_OS_FILE_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct qn_file_lock {
  int file; /* -1: not held */
} qn_file_lock;

/* Takes the lock on byte `byte` (below 2^62) of `path`, a file that is made when it isn't there; its directory must be.
 * QN_POLL tries once. Errors: TIMEOUT, NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_file_lock_take(const char *path, uint64_t byte, uint64_t timeout_ns, qn_file_lock *out_lock);
/* Takes the lock of a directory, which needs no file to be made. Another lock than those on bytes. Errors: as above. */
QN_MUST_USE qn_status qn_directory_lock_take(const char *path, uint64_t timeout_ns, qn_file_lock *out_lock);
/* The locked file's first bytes. `out_size`: how many there were, up to `capacity`. Errors: IO. */
QN_MUST_USE qn_status qn_file_lock_read(const qn_file_lock *lock, void *out, size_t capacity, size_t *out_size);
QN_MUST_USE qn_status qn_file_lock_write(const qn_file_lock *lock, const void *data, size_t size);
/* Nothing happens to one that isn't held. */
void qn_file_lock_give(qn_file_lock *lock);

#endif
