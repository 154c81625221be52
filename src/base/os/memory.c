#include "base/os/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"

size_t qn_pages_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t whole_pages(size_t size) {
  size_t page = qn_pages_size();
  return (size + page - 1) & ~(page - 1);
}

static int protection(uint32_t access) {
  return (access & QN_PAGES_READ ? PROT_READ : 0) | (access & QN_PAGES_WRITE ? PROT_WRITE : 0) |
         (access & QN_PAGES_EXECUTE ? PROT_EXEC : 0);
}

qn_status qn_pages_map(size_t size, uint32_t access, void **out_address) {
  size_t whole = whole_pages(size);
  if (whole < size || whole == 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%zu bytes of pages can't be mapped", size);
  void *address = mmap(NULL, whole, protection(access), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "%zu bytes of pages can't be mapped: %s", whole, strerrordesc_np(errno));
  *out_address = address;
  return QN_OK;
}

qn_status qn_pages_protect(void *address, size_t size, uint32_t access) {
  if (mprotect(address, whole_pages(size), protection(access)) != 0)
    QN_FAIL(QN_ERROR_INTERNAL, "the access of %zu bytes of pages can't be made %s%s%s: %s", size,
            access & QN_PAGES_READ ? "r" : "-", access & QN_PAGES_WRITE ? "w" : "-",
            access & QN_PAGES_EXECUTE ? "x" : "-", strerrordesc_np(errno));
  return QN_OK;
}

void qn_pages_unmap(void *address, size_t size) {
  if (address) munmap(address, whole_pages(size));
}

/* The system aligns to small pages: more is mapped, and what stands over at both ends given back. */
void *qn_large_pages_map(size_t size) {
  if (size == 0 || size % QN_LARGE_PAGE != 0 || size > SIZE_MAX / 2) return NULL;
  size_t with_ends = size + QN_LARGE_PAGE;
  char *start = mmap(NULL, with_ends, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  size_t before = (size_t)(-(uintptr_t)start & (QN_LARGE_PAGE - 1)), after = QN_LARGE_PAGE - before;
  if (before > 0) munmap(start, before);
  if (after > 0) munmap(start + before + size, after);
  (void)madvise(start + before, size, MADV_HUGEPAGE); /* a hint: without large pages it serves as well */
  return start + before;
}

qn_status qn_pages_wipe_on_fork(void *address, size_t size) {
  if (madvise(address, whole_pages(size), MADV_WIPEONFORK) != 0)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "this system can't wipe pages at a fork: %s", strerrordesc_np(errno));
  return QN_OK;
}
