#include "base/os/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/status.h"

/* Staged and kept files. No other part of Quern makes such names, and who holds the directory may remove them. */
static const char prefix[] = ".quern-output-";

static qn_status fail(const qn_place *place, const char *name, const char *what, int error) {
  return qn_error_set(QN_ERROR_IO, "'%s/%s' can't be %s: %s", place->path, name, what, strerrordesc_np(error));
}

/* ---- The directory ------------------------------------------------------------------------------ */

static qn_status lock(int file, const char *path, uint64_t timeout_ns) {
  uint64_t deadline = qn_clock_deadline(timeout_ns);
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return QN_OK; /* a file system without locks: two builds at once are then on their own */
    if (qn_clock_left(deadline) == 0)
      QN_FAIL(QN_ERROR_TIMEOUT, "'%s' is in use by another build; it was not free within %.1f s", path,
              (double)timeout_ns / 1e9);
    qn_clock_sleep(1000000);
  }
  return QN_OK;
}

qn_status qn_place_open(const char *path, uint64_t timeout_ns, qn_place *out_place) {
  int file;
  do file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (file < 0 && errno == EINTR);
  if (file < 0 && errno == ENOTDIR) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "'%s' is not a directory", path);
  if (file < 0)
    QN_FAIL(errno == ENOENT ? QN_ERROR_NOT_FOUND : QN_ERROR_IO, "'%s' can't be opened: %s", path,
            strerrordesc_np(errno));
  qn_status status = lock(file, path, timeout_ns);
  *out_place = (qn_place){file, path};
  if (status < 0) close(file);
  return status;
}

void qn_place_close(qn_place *place) {
  close(place->file);
  place->file = -1;
}

/* ---- Looking ------------------------------------------------------------------------------------ */

static qn_place_id id_of(const struct stat *info) {
  return (qn_place_id){(uint64_t)info->st_dev, (uint64_t)info->st_ino, true, S_ISREG(info->st_mode)};
}

qn_status qn_place_look(const qn_place *place, const char *name, qn_place_id *out_id) {
  struct stat info;
  *out_id = (qn_place_id){0};
  if (fstatat(place->file, name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
    *out_id = id_of(&info);
    return QN_OK;
  }
  return errno == ENOENT ? QN_OK : fail(place, name, "looked at", errno);
}

static int open_in(const qn_place *place, const char *name, int flags, mode_t mode) {
  int file;
  do file = openat(place->file, name, flags | O_CLOEXEC | O_NOCTTY, mode);
  while (file < 0 && errno == EINTR);
  return file;
}

static bool has_bytes(int file, qn_sv bytes) {
  char part[65536];
  size_t at = 0;
  for (;;) {
    ssize_t got = read(file, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 && at == bytes.size;
    if ((size_t)got > bytes.size - at || memcmp(bytes.data + at, part, (size_t)got) != 0) return false;
    at += (size_t)got;
  }
}

bool qn_place_has(const qn_place *place, const char *name, qn_sv bytes) {
  struct stat info;
  int file = open_in(place, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
  if (file < 0) return false;
  bool same = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size == bytes.size;
  same = same && has_bytes(file, bytes);
  close(file);
  return same;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static int write_all(int file, qn_sv bytes) {
  while (bytes.size > 0) {
    ssize_t done = write(file, bytes.data, bytes.size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes = qn_sv_make(bytes.data + done, bytes.size - (size_t)done);
  }
  return 0;
}

static int sync_file(int file) { return fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno; }

static int close_file(int file) { return close(file) == 0 || errno == EINTR ? 0 : errno; }

static void next_name(char out[QN_PLACE_NAME]) {
  static _Atomic uint32_t counter;
  uint32_t number = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  snprintf(out, QN_PLACE_NAME, "%s%ld-%" PRIu32, prefix, (long)getpid(), number);
}

static int create(const qn_place *place, char out_name[QN_PLACE_NAME]) {
  int file;
  do {
    next_name(out_name);
    file = open_in(place, out_name, O_RDWR | O_CREAT | O_EXCL, 0666);
  } while (file < 0 && errno == EEXIST);
  return file;
}

/* Permissions of the old file, where it is one. */
static int copy_mode(const qn_place *place, const char *like, int file) {
  struct stat info;
  if (fstatat(place->file, like, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return 0;
  return fchmod(file, info.st_mode & 07777) == 0 ? 0 : errno;
}

qn_status qn_place_stage(const qn_place *place, const char *like, qn_sv bytes, char out_name[QN_PLACE_NAME],
                         qn_place_id *out_id) {
  struct stat info;
  int file = create(place, out_name);
  if (file < 0) return fail(place, like, "written", errno);
  int error = write_all(file, bytes);
  if (error == 0) error = copy_mode(place, like, file);
  if (error == 0 && fstat(file, &info) != 0) error = errno;
  int closing = close_file(file);
  if (error == 0) error = closing;
  if (error == 0) {
    *out_id = id_of(&info);
    return QN_OK;
  }
  unlinkat(place->file, out_name, 0);
  out_name[0] = '\0';
  return fail(place, like, "written", error);
}

static int copy_all(int from, int to) {
  char part[65536];
  for (;;) {
    ssize_t got = read(from, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? 0 : errno;
    int error = write_all(to, qn_sv_make(part, (size_t)got));
    if (error != 0) return error;
  }
}

static int copy_into(const qn_place *place, const char *name, int to) {
  int from = open_in(place, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
  if (from < 0) return errno;
  int error = copy_all(from, to);
  close(from);
  return error;
}

static qn_status keep_copy(const qn_place *place, const char *name, char out_name[QN_PLACE_NAME]) {
  int file = create(place, out_name);
  if (file < 0) return fail(place, name, "kept", errno);
  int error = copy_into(place, name, file);
  if (error == 0) error = copy_mode(place, name, file);
  int closing = close_file(file);
  if (error == 0) error = closing;
  if (error == 0) return QN_OK;
  unlinkat(place->file, out_name, 0);
  out_name[0] = '\0';
  return fail(place, name, "kept", error);
}

qn_status qn_place_keep(const qn_place *place, const char *name, char out_name[QN_PLACE_NAME]) {
  for (;;) {
    next_name(out_name);
    if (linkat(place->file, name, place->file, out_name, 0) == 0) return QN_OK;
    if (errno != EEXIST) return keep_copy(place, name, out_name);
  }
}

qn_status qn_place_rename(const qn_place *place, const char *from, const char *to, bool *out_cannot_rename) {
  *out_cannot_rename = false;
  if (renameat(place->file, from, place->file, to) == 0) return QN_OK;
  *out_cannot_rename = errno == EBUSY || errno == EXDEV;
  return fail(place, to, "replaced", errno);
}

qn_status qn_place_check_writable(const qn_place *place, const char *name) {
  int file = open_in(place, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (file < 0) return fail(place, name, "written", errno);
  close(file);
  return QN_OK;
}

qn_status qn_place_overwrite(const qn_place *place, const char *name, qn_sv bytes) {
  int file = open_in(place, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0);
  if (file < 0) return fail(place, name, "written", errno);
  int error = write_all(file, bytes);
  if (error == 0) error = sync_file(file);
  int closing = close_file(file);
  if (error == 0) error = closing;
  if (error != 0) return fail(place, name, "written", error);
  if (qn_place_has(place, name, bytes)) return QN_OK;
  QN_FAIL(QN_ERROR_IO, "'%s/%s' was written and reads back as something else", place->path, name);
}

qn_status qn_place_overwrite_from(const qn_place *place, const char *name, const char *from) {
  int file = open_in(place, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0);
  if (file < 0) return fail(place, name, "written", errno);
  int error = copy_into(place, from, file);
  if (error == 0) error = sync_file(file);
  int closing = close_file(file);
  if (error == 0) error = closing;
  return error == 0 ? QN_OK : fail(place, name, "written", error);
}

qn_status qn_place_remove(const qn_place *place, const char *name) {
  return unlinkat(place->file, name, 0) == 0 ? QN_OK : fail(place, name, "removed", errno);
}

qn_status qn_place_touch(const qn_place *place, const char *name) {
  return utimensat(place->file, name, NULL, 0) == 0 ? QN_OK : fail(place, name, "given a time", errno);
}

void qn_place_sweep(const qn_place *place) {
  int again = openat(place->file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the listing takes it over */
  DIR *directory = again < 0 ? NULL : fdopendir(again);
  if (!directory) {
    if (again >= 0) close(again);
    return;
  }
  for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
    if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0) unlinkat(place->file, entry->d_name, 0);
  closedir(directory);
}
