#include "base/os/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

static qn_status fail(const char *path, const char *why) {
  QN_FAIL(QN_ERROR_IO, "'%s' can't be written: %s", path, why);
}

/* Why an open descriptor won't do; NULL: it will. */
static const char *refuse(int descriptor) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return strerrordesc_np(errno);
  if (!S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode)) return "it is not a file";
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return "another process is writing it";
  return ftruncate(descriptor, 0) == 0 || !S_ISREG(info.st_mode) ? NULL : strerrordesc_np(errno);
}

qn_status qn_output_open(const char *path, qn_output *out) {
  /* Not to wait for a pipe's reader. */
  int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (descriptor < 0) return fail(path, strerrordesc_np(errno));
  const char *why = refuse(descriptor);
  if (why) {
    close(descriptor);
    return fail(path, why);
  }
  out->descriptor = descriptor;
  return QN_OK;
}

qn_status qn_output_write(const qn_output *output, uint64_t offset, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    ssize_t written = pwrite(output->descriptor, at, size, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) QN_FAIL(QN_ERROR_IO, "writing failed: %s", written < 0 ? strerrordesc_np(errno) : "no progress");
    at += written;
    offset += (uint64_t)written;
    size -= (size_t)written;
  }
  return QN_OK;
}

void qn_output_cut(const qn_output *output, uint64_t size) {
  int result = ftruncate(output->descriptor, (off_t)size);
  (void)result; /* it was an attempt to mend */
}

void qn_output_close(qn_output *output) {
  close(output->descriptor);
  output->descriptor = -1;
}
