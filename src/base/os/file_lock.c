#include "base/os/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/status.h"

/* The system can't wait with a limit, so a waiter asks again: at first after this long, then at growing distances. */
static const uint64_t first_pause_ns = 20000, last_pause_ns = 10000000;

/* One try of a lock: a byte of a file, or a directory. */
static bool try_byte(int file, uint64_t byte) {
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
  return fcntl(file, F_OFD_SETLK, &range) == 0;
}
static bool try_directory(int file, uint64_t byte) {
  (void)byte;
  return flock(file, LOCK_EX | LOCK_NB) == 0;
}

static qn_status wait_for(bool (*try)(int, uint64_t), int file, const char *path, uint64_t byte, uint64_t timeout_ns) {
  uint64_t deadline = qn_clock_deadline(timeout_ns), pause = first_pause_ns;
  while (!try(file, byte)) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EACCES)
      QN_FAIL(QN_ERROR_IO, "'%s' can't be locked: %s", path, strerrordesc_np(errno));
    uint64_t left = timeout_ns == QN_POLL ? 0 : qn_clock_left(deadline);
    if (left == 0) QN_FAIL(QN_ERROR_TIMEOUT, "'%s' is locked by another process", path);
    qn_clock_sleep(pause < left ? pause : left);
    if (pause < last_pause_ns) pause += pause / 2;
  }
  return QN_OK;
}

static qn_status open_for(const char *path, int flags, int *out_file) {
  do *out_file = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  while (*out_file < 0 && errno == EINTR);
  if (*out_file >= 0) return QN_OK;
  QN_FAIL(errno == ENOENT ? QN_ERROR_NOT_FOUND : QN_ERROR_IO, "'%s' can't be opened: %s", path, strerrordesc_np(errno));
}

static qn_status keep(int file, qn_status status, qn_file_lock *out_lock) {
  if (status < 0)
    close(file);
  else
    out_lock->file = file;
  return status;
}

qn_status qn_file_lock_take(const char *path, uint64_t byte, uint64_t timeout_ns, qn_file_lock *out_lock) {
  int file;
  QN_TRY(open_for(path, O_RDWR | O_CREAT, &file));
  return keep(file, wait_for(try_byte, file, path, byte, timeout_ns), out_lock);
}

qn_status qn_directory_lock_take(const char *path, uint64_t timeout_ns, qn_file_lock *out_lock) {
  int file;
  QN_TRY(open_for(path, O_RDONLY | O_DIRECTORY, &file));
  return keep(file, wait_for(try_directory, file, path, 0, timeout_ns), out_lock);
}

qn_status qn_file_lock_read(const qn_file_lock *lock, void *out, size_t capacity, size_t *out_size) {
  ssize_t got;
  do got = pread(lock->file, out, capacity, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) QN_FAIL(QN_ERROR_IO, "a locked file can't be read: %s", strerrordesc_np(errno));
  *out_size = (size_t)got;
  return QN_OK;
}

qn_status qn_file_lock_write(const qn_file_lock *lock, const void *data, size_t size) {
  ssize_t done;
  do done = pwrite(lock->file, data, size, 0);
  while (done < 0 && errno == EINTR);
  if (done < 0 || (size_t)done != size)
    QN_FAIL(QN_ERROR_IO, "a locked file can't be written: %s", strerrordesc_np(done < 0 ? errno : ENOSPC));
  return QN_OK;
}

void qn_file_lock_give(qn_file_lock *lock) {
  if (lock->file < 0) return;
  close(lock->file); /* the lock goes with the descriptor that took it */
  lock->file = -1;
}
