/* memory.h - whole pages from the system. Sizes are rounded up to pages. */
#ifndef QUERN_BASE_OS_MEMORY_H
#define QUERN_BASE_OS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "quern/quern.h"

enum { QN_PAGES_NONE = 0, QN_PAGES_READ = 1, QN_PAGES_WRITE = 2, QN_PAGES_EXECUTE = 4 };

size_t qn_pages_size(void);
/* Zeroed pages with the given access. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_pages_map(size_t size, uint32_t access, void **out_address);
/* Errors: INTERNAL with the system's words (a policy may forbid code, say). */
QN_MUST_USE qn_status qn_pages_protect(void *address, size_t size, uint32_t access);
void qn_pages_unmap(void *address, size_t size);
/* Zeroed memory to read and write of a multiple of QN_LARGE_PAGE, aligned to that, in large pages where the system has
 * them: one page fault then brings 2 MiB, at a tenth of the cost of 512 small ones. NULL: the system refuses. */
#define QN_LARGE_PAGE ((size_t)2 << 20)
void *qn_large_pages_map(size_t size);
/* A forked child finds zeros there (MADV_WIPEONFORK). Errors: UNSUPPORTED. */
QN_MUST_USE qn_status qn_pages_wipe_on_fork(void *address, size_t size);

#endif
