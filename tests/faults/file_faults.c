/* file_faults.c - a library to preload that makes the Nth file call of a program fail, or kills the program there.
 *
 *   QUERN_FAULT_UNDER=DIR   only calls on paths and descriptors under DIR count
 *   QUERN_FAULT_CALLS=a,b   only these calls; else all of: open write pwrite fsync close rename link unlink mkdir utime lock cut
 *   QUERN_FAULT_AT=N        the Nth that counts (from 1)
 *   QUERN_FAULT_DO=kill, or an errno's number; a write that fails or is killed so writes half of its bytes first, and a close closes
 *   QUERN_FAULT_COUNT=FILE  at the end, how many calls counted is written there
 *   QUERN_FAULT_ALWAYS=1    every call from the Nth on
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))find(#name))

static _Atomic unsigned count;
static _Atomic bool fired;

static void *find(const char *name) { return dlsym(RTLD_NEXT, name); }

static bool is_listed(const char *call) {
  const char *list = getenv("QUERN_FAULT_CALLS");
  size_t length = strlen(call);
  if (!list || !*list) return true;
  for (const char *at = list; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, call, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
    if (!strchr(at, ',')) return false;
  }
  return false;
}

static bool is_under(const char *path) {
  const char *under = getenv("QUERN_FAULT_UNDER");
  return !under || strncmp(path, under, strlen(under)) == 0;
}

static void path_of(int file, char *out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, out, PATH_MAX - 1);
  out[length < 0 ? 0 : length] = 0;
}

/* Whether this call is the one. */
static bool is_hit(const char *call, const char *path) {
  const char *at = getenv("QUERN_FAULT_AT"), *always = getenv("QUERN_FAULT_ALWAYS");
  if (!is_under(path) || !is_listed(call)) return false;
  unsigned number = atomic_fetch_add(&count, 1) + 1;
  unsigned wanted = at ? (unsigned)atoi(at) : 0;
  bool hits = wanted != 0 && (number == wanted || (always && number > wanted));
  if (hits) atomic_store(&fired, true);
  return hits;
}

static void fail_or_die(void) {
  const char *what = getenv("QUERN_FAULT_DO");
  if (what && strcmp(what, "kill") == 0) kill(getpid(), SIGKILL);
  errno = what ? atoi(what) : EIO;
}

/* Whether this call must fail; errno is set then. */
static bool must_fail(const char *call, const char *path) {
  if (!is_hit(call, path)) return false;
  fail_or_die();
  return true;
}

static bool must_fail_at(const char *call, int directory, const char *name) {
  char path[2 * PATH_MAX];
  if (name[0] == '/' || directory == AT_FDCWD) return must_fail(call, name);
  path_of(directory, path);
  size_t length = strlen(path);
  snprintf(path + length, sizeof path - length, "/%s", name);
  return must_fail(call, path);
}

static bool must_fail_file(const char *call, int file) {
  char path[PATH_MAX];
  int before = errno;
  path_of(file, path);
  bool fails = must_fail(call, path);
  if (!fails) errno = before;
  return fails;
}

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("QUERN_FAULT_COUNT");
  FILE *to = path ? REAL(fopen)(path, "w") : NULL;
  if (!to) return;
  fprintf(to, "%u %d\n", atomic_load(&count), atomic_load(&fired));
  fclose(to);
}

EXPORT int open(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
  va_end(args);
  return must_fail("open", path) ? -1 : REAL(open)(path, flags, mode);
}
EXPORT int openat(int directory, const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
  va_end(args);
  return must_fail_at("open", directory, path) ? -1 : REAL(openat)(directory, path, flags, mode);
}
EXPORT ssize_t write(int file, const void *data, size_t size) {
  char path[PATH_MAX];
  int before = errno;
  path_of(file, path);
  bool hits = is_hit("write", path);
  errno = before;
  if (!hits) return REAL(write)(file, data, size);
  if (size > 1) (void)!REAL(write)(file, data, size / 2);
  fail_or_die();
  return -1;
}
EXPORT ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  return must_fail_file("pwrite", file) ? -1 : REAL(pwrite)(file, data, size, at);
}
EXPORT int ftruncate(int file, off_t size) { return must_fail_file("cut", file) ? -1 : REAL(ftruncate)(file, size); }
EXPORT int fsync(int file) { return must_fail_file("fsync", file) ? -1 : REAL(fsync)(file); }
EXPORT int close(int file) {
  bool fails = must_fail_file("close", file);
  int error = errno, status = REAL(close)(file);
  if (!fails) return status;
  errno = error;
  return -1;
}
EXPORT int rename(const char *from, const char *to) { return must_fail("rename", to) ? -1 : REAL(rename)(from, to); }
EXPORT int renameat(int from_directory, const char *from, int to_directory, const char *to) {
  return must_fail_at("rename", to_directory, to) ? -1 : REAL(renameat)(from_directory, from, to_directory, to);
}
EXPORT int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
  return must_fail_at("link", to_directory, to) ? -1 : REAL(linkat)(from_directory, from, to_directory, to, flags);
}
EXPORT int unlink(const char *path) { return must_fail("unlink", path) ? -1 : REAL(unlink)(path); }
EXPORT int unlinkat(int directory, const char *path, int flags) {
  return must_fail_at("unlink", directory, path) ? -1 : REAL(unlinkat)(directory, path, flags);
}
EXPORT int mkdir(const char *path, mode_t mode) { return must_fail("mkdir", path) ? -1 : REAL(mkdir)(path, mode); }
EXPORT int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
  return must_fail_at("utime", directory, path) ? -1 : REAL(utimensat)(directory, path, times, flags);
}
EXPORT int flock(int file, int operation) { return must_fail_file("lock", file) ? -1 : REAL(flock)(file, operation); }
