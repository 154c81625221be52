#include "base/os/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/lock_holder.h"
#include "base/status.h"
#include "base/waiting.h"

static qn_status fail(const qn_place *place, const char *name, const char *what, int error) {
  return qn_error_set(QN_ERROR_IO, "'%s/%s' can't be %s: %s", place->path, name, what, strerrordesc_np(error));
}

/* ---- The directory ------------------------------------------------------------------------------ */

static qn_status fail_busy(const char *path, uint64_t timeout_ns) {
  char holder[128];
  qn_lock_holder(path, QN_LOCK_WHOLE, holder, sizeof holder);
  QN_FAIL(QN_ERROR_TIMEOUT, "'%s' is in use by another build, %s; it was not free within %.1f s", path, holder,
          (double)timeout_ns / 1e9);
}

static void tell_wait(const char *path) {
  char holder[128];
  qn_lock_holder(path, QN_LOCK_WHOLE, holder, sizeof holder);
  qn_waiting_tell("%s, which builds into '%s'", holder, path);
}

qn_status qn_place_lock(qn_place *place, uint64_t timeout_ns) {
  uint64_t deadline = qn_clock_deadline(timeout_ns), quiet = qn_clock_deadline(QN_WAITING_QUIET_NS);
  while (flock(place->file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return QN_OK; /* a file system without locks: two builds at once are then on their own */
    if (qn_clock_left(deadline) == 0) return fail_busy(place->path, timeout_ns);
    if (quiet != 0 && qn_clock_left(quiet) == 0) {
      tell_wait(place->path);
      quiet = 0; /* once */
    }
    qn_clock_sleep(1000000);
  }
  place->is_locked = true;
  return QN_OK;
}

qn_status qn_place_open(const char *path, qn_place *out_place) {
  struct stat info;
  int file;
  do file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (file < 0 && errno == EINTR);
  if (file < 0 && errno == ENOTDIR) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "'%s' is not a directory", path);
  if (file < 0)
    QN_FAIL(errno == ENOENT ? QN_ERROR_NOT_FOUND : QN_ERROR_IO, "'%s' can't be opened: %s", path,
            strerrordesc_np(errno));
  if (fstat(file, &info) != 0) {
    int error = errno;
    close(file);
    QN_FAIL(QN_ERROR_IO, "'%s' can't be looked at: %s", path, strerrordesc_np(error));
  }
  *out_place = (qn_place){
      .file = file, .path = path, .device = (uint64_t)info.st_dev, .inode = (uint64_t)info.st_ino, .is_locked = false};
  return QN_OK;
}

int qn_place_order(const qn_place *a, const qn_place *b) {
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return (a->inode > b->inode) - (a->inode < b->inode);
}

void qn_place_close(qn_place *place) {
  close(place->file);
  place->file = -1;
}

/* ---- Looking ------------------------------------------------------------------------------------ */

static qn_place_id id_of(const struct stat *info) {
  return (qn_place_id){.device = (uint64_t)info->st_dev,
                       .inode = (uint64_t)info->st_ino,
                       .is_there = true,
                       .is_regular = S_ISREG(info->st_mode),
                       .is_link = S_ISLNK(info->st_mode),
                       .is_directory = S_ISDIR(info->st_mode)};
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

static int create(const qn_place *place, qn_place_use use, char out_name[QN_PLACE_NAME]) {
  int file;
  do {
    qn_place_name_make(use, out_name);
    file = open_in(place, out_name, O_RDWR | O_CREAT | O_EXCL, 0666);
  } while (file < 0 && errno == EEXIST);
  return file;
}

/* Owner, group and permissions of the old file, where it is one. Where the system doesn't let us give a file away, nobody gets more
 * by it than they had. */
static int copy_access(const qn_place *place, const char *like, int file) {
  struct stat old, now;
  if (fstatat(place->file, like, &old, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(old.st_mode)) return 0;
  if (fstat(file, &now) != 0) return errno;
  mode_t mode = old.st_mode & 07777;
  bool is_owner = old.st_uid == now.st_uid || fchown(file, old.st_uid, (gid_t)-1) == 0;
  bool is_group = old.st_gid == now.st_gid || fchown(file, (uid_t)-1, old.st_gid) == 0;
  if (!is_owner || !is_group) mode &= 0777;                          /* no program of another's */
  if (!is_group) mode = (mode & ~(mode_t)0070) | (mode & 0007) << 3; /* another group gets what everybody has */
  return fchmod(file, mode) == 0 ? 0 : errno;
}

qn_status qn_place_stage(const qn_place *place, const char *like, qn_sv bytes, char out_name[QN_PLACE_NAME],
                         qn_place_id *out_id) {
  struct stat info;
  int file = create(place, QN_PLACE_TEMPORARY, out_name);
  if (file < 0) return fail(place, like, "written", errno);
  int error = write_all(file, bytes);
  if (error == 0) error = copy_access(place, like, file);
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
  int file = create(place, QN_PLACE_TEMPORARY, out_name);
  if (file < 0) return fail(place, name, "kept", errno);
  int error = copy_into(place, name, file);
  if (error == 0) error = copy_access(place, name, file);
  int closing = close_file(file);
  if (error == 0) error = closing;
  if (error == 0) return QN_OK;
  unlinkat(place->file, out_name, 0);
  out_name[0] = '\0';
  return fail(place, name, "kept", error);
}

qn_status qn_place_keep(const qn_place *place, const char *name, char out_name[QN_PLACE_NAME]) {
  for (;;) {
    qn_place_name_make(QN_PLACE_TEMPORARY, out_name);
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

qn_status qn_place_check_replaceable(const qn_place *place, const char *name) {
  if (faccessat(place->file, name, W_OK, AT_EACCESS) == 0) return QN_OK;
  if (errno != EACCES) return fail(place, name, "replaced", errno);
  QN_FAIL(QN_ERROR_IO, "'%s/%s' can't be replaced: it is read-only for this user", place->path, name);
}

qn_status qn_place_check_writable(const qn_place *place, const char *name) {
  int file = open_in(place, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (file < 0) return fail(place, name, "written", errno);
  close(file);
  return QN_OK;
}

/* Cut only when all is written: what was there needs no new room, should the disk be full. */
qn_status qn_place_overwrite(const qn_place *place, const char *name, qn_sv bytes) {
  int file = open_in(place, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (file < 0) return fail(place, name, "written", errno);
  int error = write_all(file, bytes);
  if (error == 0 && ftruncate(file, (off_t)bytes.size) != 0) error = errno;
  if (error == 0) error = sync_file(file);
  int closing = close_file(file);
  if (error == 0) error = closing;
  if (error != 0) return fail(place, name, "written", error);
  if (qn_place_has(place, name, bytes)) return QN_OK;
  QN_FAIL(QN_ERROR_IO, "'%s/%s' was written and reads back as something else", place->path, name);
}

/* ---- To undo ------------------------------------------------------------------------------------ */

qn_status qn_place_write_undo(const qn_place *place, const char *name, qn_sv bytes, char out_name[QN_PLACE_NAME]) {
  int file = create(place, QN_PLACE_UNDO, out_name);
  if (file < 0) return fail(place, name, "kept", errno);
  int error = fchmod(file, 0600) == 0 ? write_all(file, bytes) : errno;
  if (error == 0) error = sync_file(file);
  int closing = close_file(file);
  if (error == 0) error = closing;
  if (error == 0) error = sync_file(place->file); /* its name, too */
  if (error == 0) return QN_OK;
  unlinkat(place->file, out_name, 0);
  out_name[0] = '\0';
  return fail(place, name, "kept", error);
}

static int append_all(int file, qn_bytes *out) {
  for (;;) {
    if (!qn_bytes_reserve(out, 65536)) return ENOMEM;
    ssize_t got = read(file, out->data + out->size, 65536);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? 0 : errno;
    out->size += (size_t)got;
    out->data[out->size] = '\0';
  }
}

qn_status qn_place_read(const qn_place *place, const char *name, qn_bytes *out) {
  struct stat info;
  size_t start = out->size;
  int file = open_in(place, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
  if (file < 0) return fail(place, name, "read", errno);
  int error = fstat(file, &info) != 0 ? errno : S_ISREG(info.st_mode) ? 0 : EINVAL;
  if (error == 0) error = append_all(file, out);
  close(file);
  if (error == 0) return QN_OK;
  if (out->data) {
    out->size = start;
    out->data[start] = '\0';
    out->failed = false;
  }
  if (error == ENOMEM) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to read '%s/%s'", place->path, name);
  return fail(place, name, "read", error);
}

/* ---- The rest ----------------------------------------------------------------------------------- */

qn_status qn_place_remove(const qn_place *place, const char *name) {
  return unlinkat(place->file, name, 0) == 0 ? QN_OK : fail(place, name, "removed", errno);
}

qn_status qn_place_touch(const qn_place *place, const char *name) {
  return utimensat(place->file, name, NULL, 0) == 0 ? QN_OK : fail(place, name, "given a time", errno);
}

/* A temporary file may be a second name of another user's; what is to undo is believed from this user alone. */
static bool is_ours(const qn_place *place, const char *name, qn_place_use use) {
  struct stat info;
  if (!qn_place_name_is(name, use) || fstatat(place->file, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return S_ISREG(info.st_mode) && (use == QN_PLACE_TEMPORARY || info.st_uid == geteuid());
}

void qn_place_each_left(const qn_place *place, qn_place_visit_fn visit, void *user) {
  if (!place->is_locked) return;
  int again = openat(place->file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the listing takes it over */
  DIR *directory = again < 0 ? NULL : fdopendir(again);
  if (!directory) {
    if (again >= 0) close(again);
    return;
  }
  for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
    if (is_ours(place, entry->d_name, QN_PLACE_TEMPORARY))
      visit(user, entry->d_name, QN_PLACE_TEMPORARY);
    else if (is_ours(place, entry->d_name, QN_PLACE_UNDO))
      visit(user, entry->d_name, QN_PLACE_UNDO);
  }
  closedir(directory);
}
