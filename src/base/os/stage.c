#include "base/os/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

static const char prefix[] = ".quern-", suffix[] = ".tmp";

static qn_status io_error(const char *what, const char *path, int error) {
  qn_status status = error == ENOENT || error == ENOTDIR ? QN_ERROR_NOT_FOUND : QN_ERROR_IO;
  return qn_error_set(status, "'%s' can't be %s: %s", path, what, strerrordesc_np(error));
}

/* A name that no other process or thread uses just now. */
static int next_name(char *out, size_t capacity, const char *directory) {
  static _Atomic uint32_t counter;
  uint32_t number = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  return snprintf(out, capacity, "%s/%s%ld-%" PRIu32 "%s", directory, prefix, (long)getpid(), number, suffix);
}

/* A sweeper may have come between the making and the locking: then the file has no name any longer. */
static bool is_ours(int file) {
  struct stat info;
  return flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &info) == 0 && info.st_nlink > 0;
}

qn_status qn_stage_open(const char *directory, qn_stage *out_stage) {
  for (;;) {
    int length = next_name(out_stage->path, sizeof out_stage->path, directory);
    if (length < 0 || (size_t)length >= sizeof out_stage->path) return io_error("written", directory, ENAMETOOLONG);
    int file = open(out_stage->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST && errno != EINTR) return io_error("written", directory, errno);
    if (file < 0) continue;
    if (is_ours(file)) {
      out_stage->file = file;
      return QN_OK;
    }
    close(file);
  }
}

qn_status qn_stage_write(qn_stage *stage, const void *data, size_t size) {
  const char *from = data;
  while (size > 0) {
    ssize_t done = write(stage->file, from, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return io_error("written", stage->path, errno);
    from += done;
    size -= (size_t)done;
  }
  return QN_OK;
}

qn_status qn_stage_set_time(qn_stage *stage, uint64_t ns) {
  struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  struct timespec both[2] = {time, time};
  return futimens(stage->file, both) == 0 ? QN_OK : io_error("given a time", stage->path, errno);
}

qn_status qn_stage_sync(qn_stage *stage) {
  if (fsync(stage->file) == 0 || errno == EINVAL || errno == EROFS) return QN_OK;
  int error = errno;
  qn_stage_discard(stage);
  return io_error("written", stage->path, error);
}

qn_status qn_stage_publish(qn_stage *stage, const char *path) {
  int error = rename(stage->path, path) != 0 ? errno : 0;
  if (error == 0) {
    close(stage->file); /* what can go wrong with the bytes has been told by fsync */
    stage->file = -1;
    return QN_OK;
  }
  qn_stage_discard(stage);
  return io_error("written", path, error);
}

void qn_stage_discard(qn_stage *stage) {
  if (stage->file < 0) return;
  unlink(stage->path); /* before the lock goes, so that no sweeper takes the name for abandoned */
  close(stage->file);
  stage->file = -1;
}

/* ---- Sweeping ----------------------------------------------------------------------------------- */

static bool is_staged_name(const char *name) {
  size_t length = strlen(name), tail = sizeof suffix - 1;
  return strncmp(name, prefix, sizeof prefix - 1) == 0 && length > tail && strcmp(name + length - tail, suffix) == 0;
}

static bool sweep_one(int directory, const char *name) {
  if (directory < 0) return false;
  int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  bool removed = flock(file, LOCK_EX | LOCK_NB) == 0 && unlinkat(directory, name, 0) == 0;
  close(file);
  return removed;
}

uint32_t qn_stage_sweep(const char *directory) {
  DIR *opened = opendir(directory);
  uint32_t swept = 0;
  if (!opened) return 0;
  for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened))
    if (is_staged_name(entry->d_name)) swept += sweep_one(dirfd(opened), entry->d_name);
  closedir(opened);
  return swept;
}
