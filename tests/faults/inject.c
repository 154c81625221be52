/* inject.c - system calls of the tested code that fail on command: what tests/unit/support/failing.h does for allocations,
 * with one count over all. The linker sends the calls of this program, the library's archive and the cpu adapter in it through
 * here. Each fails as the system lets it fail: its error number, nothing done. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/support/failing.h"

#define NAMES(...) __VA_ARGS__

/* X(result, name, parameters, arguments, what a failure returns, errno) */
#define CALLS(X)                                                                                                       \
  X(void *, mmap, NAMES(void *a, size_t b, int c, int d, int e, off_t f), NAMES(a, b, c, d, e, f), MAP_FAILED, ENOMEM) \
  X(int, mprotect, NAMES(void *a, size_t b, int c), NAMES(a, b, c), -1, ENOMEM)                                        \
  X(int, madvise, NAMES(void *a, size_t b, int c), NAMES(a, b, c), -1, EINVAL)                                         \
  X(int, pthread_create, NAMES(pthread_t *a, const pthread_attr_t *b, void *(*c)(void *), void *d), NAMES(a, b, c, d), \
    EAGAIN, 0)                                                                                                         \
  X(int, sched_getaffinity, NAMES(pid_t a, size_t b, cpu_set_t *c), NAMES(a, b, c), -1, EINVAL)                        \
  X(int, eventfd, NAMES(unsigned a, int b), NAMES(a, b), -1, EMFILE)                                                   \
  X(int, pipe2, NAMES(int a[2], int b), NAMES(a, b), -1, EMFILE)                                                       \
  X(int, posix_spawn,                                                                                                  \
    NAMES(pid_t *a, const char *b, const posix_spawn_file_actions_t *c, const posix_spawnattr_t *d, char *const e[],   \
          char *const f[]),                                                                                            \
    NAMES(a, b, c, d, e, f), EAGAIN, 0)                                                                                \
  X(void *, dlopen, NAMES(const char *a, int b), NAMES(a, b), NULL, 0)                                                 \
  X(ssize_t, read, NAMES(int a, void *b, size_t c), NAMES(a, b, c), -1, EIO)                                           \
  X(ssize_t, pread, NAMES(int a, void *b, size_t c, off_t d), NAMES(a, b, c, d), -1, EIO)                              \
  X(ssize_t, write, NAMES(int a, const void *b, size_t c), NAMES(a, b, c), -1, ENOSPC)                                 \
  X(ssize_t, pwrite, NAMES(int a, const void *b, size_t c, off_t d), NAMES(a, b, c, d), -1, ENOSPC)                    \
  X(int, fsync, NAMES(int a), NAMES(a), -1, EIO)                                                                       \
  X(int, ftruncate, NAMES(int a, off_t b), NAMES(a, b), -1, EIO)                                                       \
  X(int, fstat, NAMES(int a, struct stat *b), NAMES(a, b), -1, EIO)                                                    \
  X(int, stat, NAMES(const char *a, struct stat *b), NAMES(a, b), -1, EACCES)                                          \
  X(int, rename, NAMES(const char *a, const char *b), NAMES(a, b), -1, EROFS)                                          \
  X(int, mkdir, NAMES(const char *a, mode_t b), NAMES(a, b), -1, EROFS)                                                \
  X(DIR *, opendir, NAMES(const char *a), NAMES(a), NULL, EMFILE)                                                      \
  X(char *, realpath, NAMES(const char *a, char *b), NAMES(a, b), NULL, EACCES)                                        \
  X(int, clock_nanosleep, NAMES(clockid_t a, int b, const struct timespec *c, struct timespec *d), NAMES(a, b, c, d),  \
    EINTR, 0)

/* A sanitizer's runtime calls these itself, in the same program. */
#ifdef HAS_SANITIZER
#define CALLS_OF_THREADS(X)
#else
#define CALLS_OF_THREADS(X)                                                                      \
  X(int, pthread_attr_init, NAMES(pthread_attr_t *a), NAMES(a), ENOMEM, 0)                       \
  X(int, pthread_getattr_np, NAMES(pthread_t a, pthread_attr_t *b), NAMES(a, b), ENOMEM, 0)      \
  X(int, pthread_key_create, NAMES(pthread_key_t *a, void (*b)(void *)), NAMES(a, b), EAGAIN, 0) \
  X(int, pthread_setspecific, NAMES(pthread_key_t a, const void *b), NAMES(a, b), ENOMEM, 0)     \
  X(void *, dlsym, NAMES(void *a, const char *b), NAMES(a, b), NULL, 0)                          \
  X(int, dladdr, NAMES(const void *a, Dl_info *b), NAMES(a, b), 0, 0)
#endif

#define WRAP(result, name, parameters, arguments, value, error) \
  result __real_##name(parameters);                             \
  result __wrap_##name(parameters);                             \
  result __wrap_##name(parameters) {                            \
    if (!failing_now()) return __real_##name(arguments);        \
    if ((error) != 0) errno = (error);                          \
    return value;                                               \
  }
CALLS(WRAP)
CALLS_OF_THREADS(WRAP)

/* ---- Those with a varying list ------------------------------------------------------------------ */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (!failing_now()) return __real_open(path, flags, mode);
  errno = EMFILE;
  return -1;
}

/* A sleep on a futex may always end for no reason; a wake can't fail. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  bool sleeps = number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
  if (!sleeps || !failing_now()) return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  errno = EINTR;
  return -1;
}
