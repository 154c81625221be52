#include "base/os/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/status.h"

/* The system can't wait with a limit, so a waiter asks again: at first after this long, then at growing distances. */
static const uint64_t first_pause_ns = 20000, last_pause_ns = 10000000;

static qn_status take_open(int file, const char *path, uint64_t byte, uint64_t timeout_ns) {
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
  uint64_t deadline = qn_clock_deadline(timeout_ns), pause = first_pause_ns;
  while (fcntl(file, F_OFD_SETLK, &range) != 0) {
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

qn_status qn_file_lock_take(const char *path, uint64_t byte, uint64_t timeout_ns, qn_file_lock *out_lock) {
  int file;
  do file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  while (file < 0 && errno == EINTR);
  if (file < 0)
    QN_FAIL(errno == ENOENT ? QN_ERROR_NOT_FOUND : QN_ERROR_IO, "'%s' can't be opened: %s", path,
            strerrordesc_np(errno));
  qn_status status = take_open(file, path, byte, timeout_ns);
  if (status < 0)
    close(file);
  else
    out_lock->file = file;
  return status;
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
