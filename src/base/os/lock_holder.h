/* lock_holder.h - who holds a lock, for people who wait for it. */
#ifndef QUERN_BASE_OS_LOCK_HOLDER_H
#define QUERN_BASE_OS_LOCK_HOLDER_H

#include <stddef.h>
#include <stdint.h>

#define QN_LOCK_WHOLE UINT64_MAX /* a lock on the whole file, of replace.h; else a byte of file_lock.h */

/* "process 1234 (quern)", or "another process" when the system doesn't tell. Looks at every process: for a wait that has
 * lasted already. */
void qn_lock_holder(const char *path, uint64_t byte, char *out, size_t capacity);

#endif
