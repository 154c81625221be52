#include "interposer.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#endif

static _Thread_local struct {
  uint32_t is_on, depth; /* depth: inside the driver */
  cost_counts counts;
  const void *last_lock;
} mine;

static inline void count(uint32_t *number) {
  if (mine.is_on && mine.depth == 0) ++*number;
}

void costs_begin(void) {
  mine.counts = (cost_counts){0};
  mine.last_lock = NULL;
  mine.is_on = 1;
}

cost_counts costs_end(void) {
  mine.is_on = 0;
  return mine.counts;
}

const void *costs_last_lock(void) { return mine.last_lock; }

/* ---- Told by others ----------------------------------------------------------------------------- */

EXPORT void quern_lock_hook(const void *mutex);
EXPORT void quern_lock_hook(const void *mutex) {
  count(&mine.counts.locks);
  if (mine.is_on && mine.depth == 0) mine.last_lock = mutex;
}

EXPORT void quern_driver_hook(uint32_t enters);
EXPORT void quern_driver_hook(uint32_t enters) {
  if (enters) {
    count(&mine.counts.driver_calls);
    mine.depth++;
  } else {
    mine.depth--;
  }
}

/* ---- Allocations -------------------------------------------------------------------------------- */

/* The C library's own names: no look-up, which would allocate itself. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

EXPORT void *malloc(size_t size);
EXPORT void *malloc(size_t size) {
  count(&mine.counts.allocations);
  return __libc_malloc(size);
}
EXPORT void *calloc(size_t items, size_t size);
EXPORT void *calloc(size_t items, size_t size) {
  count(&mine.counts.allocations);
  return __libc_calloc(items, size);
}
EXPORT void *realloc(void *old, size_t size);
EXPORT void *realloc(void *old, size_t size) {
  count(&mine.counts.allocations);
  return __libc_realloc(old, size);
}
EXPORT void *aligned_alloc(size_t alignment, size_t size);
EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  count(&mine.counts.allocations);
  return __libc_memalign(alignment, size);
}

/* ---- Functions that enter the system ------------------------------------------------------------ */

/* All their arguments are integers and pointers, at most seven, so that one kind of function passes each of them on: on every
 * machine that this test runs on they travel in registers (the seventh, of syscall alone, on the stack), variable or not. */
// clang-format off: it can't decide
#define SYSTEM_FUNCTIONS(X)                                                                                           \
  X(chdir)                                                                                                            \
  X(chmod)                                                                                                            \
  X(clock_nanosleep)                                                                                                  \
  X(close)                                                                                                            \
  X(closedir)                                                                                                         \
  X(dlclose)                                                                                                          \
  X(dlopen)                                                                                                           \
  X(eventfd)                                                                                                          \
  X(fchmod)                                                                                                           \
  X(fchown)                                                                                                           \
  X(fcntl) X(fdopendir) X(flock) X(fork) X(fstat) X(fstatat) X(fsync) X(ftruncate) X(futimens) X(getcwd) X(getrandom) X(geteuid)   \
      X(getpid) X(kill) X(link) X(linkat) X(lseek) X(lstat) X(madvise) X(mkdir) X(mmap) X(mprotect) X(munmap)         \
          X(nanosleep) X(open) X(openat) X(opendir) X(pipe) X(pipe2) X(dup2) X(dup3) X(mkdirat) X(mkostemp) X(mremap) \
              X(msync) X(access) X(faccessat) X(getuid) X(getppid) X(socket) X(sendfile) X(copy_file_range) X(poll)   \
                  X(posix_spawn) X(pread) X(pthread_create) X(pthread_getname_np) X(pthread_join)                     \
                      X(pthread_setname_np) X(pthread_sigmask) X(pwrite) X(read) X(readdir) X(readlink) X(realpath)   \
                          X(rename) X(renameat) X(rmdir) X(sched_getaffinity) X(sched_yield) X(stat) X(syscall)       \
                              X(sysconf) X(unlink) X(unlinkat) X(utimensat) X(waitpid) X(write)
// clang-format on

typedef long (*any_function)(long, long, long, long, long, long, long);
enum {
#define X(name) AT_##name,
  SYSTEM_FUNCTIONS(X)
#undef X
      SYSTEM_COUNT
};
static const char *const names[] = {
#define X(name) #name,
    SYSTEM_FUNCTIONS(X)
#undef X
};
static any_function next[SYSTEM_COUNT];

static any_function find(int which) {
  if (!next[which]) next[which] = (any_function)(uintptr_t)dlsym(RTLD_NEXT, names[which]);
  return next[which];
}

__attribute__((constructor)) static void find_all(void) {
  for (int i = 0; i < SYSTEM_COUNT; i++) find(i);
}

/* Under names of their own here, so that no header's declaration is in the way. */
#define X(name)                                                                                      \
  EXPORT long forward_##name(long a, long b, long c, long d, long e, long f, long g) __asm__(#name); \
  EXPORT long forward_##name(long a, long b, long c, long d, long e, long f, long g) {               \
    count(&mine.counts.system_calls);                                                                \
    return find(AT_##name)(a, b, c, d, e, f, g);                                                     \
  }
SYSTEM_FUNCTIONS(X)
#undef X

void costs_print_system(void) {
  for (int i = 0; i < SYSTEM_COUNT; i++) puts(names[i]);
}
