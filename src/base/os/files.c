#include "base/os/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

/* What the process lacks is told apart from what is wrong with the file: it may be there at the next try. */
static qn_status status_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return QN_ERROR_NOT_FOUND;
    case EMFILE:
    case ENFILE:
      return QN_ERROR_LIMIT;
    case ENOMEM:
      return QN_ERROR_OUT_OF_HOST_MEMORY;
    default:
      return QN_ERROR_IO;
  }
}

static qn_status io_error(const char *what, const char *path, int error) {
  return qn_error_set(status_of(error), "'%s' can't be %s: %s", path, what, strerrordesc_np(error));
}

/* Where a link leads; "": it is none. */
static void read_link(const char *path, char *out, size_t capacity) {
  ssize_t length = readlink(path, out, capacity - 1);
  out[length < 0 ? 0 : length] = '\0';
}

/* ---- Reading ---- */

static int open_again(const char *path, int flags, mode_t mode) {
  int file;
  do file = open(path, flags | O_CLOEXEC, mode);
  while (file < 0 && errno == EINTR);
  return file;
}

static qn_status read_all(int file, const char *path, uint64_t limit_bytes, uint64_t expected, qn_bytes *out) {
  size_t start = out->size;
  /* The size is a hint: the file may grow or be of a kind that says 0. One byte more sees the end in one read. */
  size_t step = expected < SIZE_MAX / 2 ? (size_t)expected + 1 : SIZE_MAX / 2;
  for (;;) {
    if (!qn_bytes_reserve(out, step)) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to read '%s'", path);
    ssize_t got = read(file, out->data + out->size, step);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) return QN_OK;
    out->size += (size_t)got;
    out->data[out->size] = 0;
    if (out->size - start > limit_bytes)
      QN_FAIL(QN_ERROR_LIMIT, "'%s' is larger than the limit of %" PRIu64 " bytes", path, limit_bytes);
    step = (size_t)got < step ? step - (size_t)got : 65536;
  }
}

static qn_status read_open_file(int file, const char *path, uint64_t limit_bytes, qn_bytes *out) {
  struct stat info;
  if (fstat(file, &info) != 0) return io_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) return io_error("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) QN_FAIL(QN_ERROR_IO, "'%s' can't be read: it is not a regular file", path);
  if ((uint64_t)info.st_size > limit_bytes)
    QN_FAIL(QN_ERROR_LIMIT, "'%s' has %" PRIu64 " bytes, more than the limit of %" PRIu64, path, (uint64_t)info.st_size,
            limit_bytes);
  return read_all(file, path, limit_bytes, (uint64_t)info.st_size, out);
}

qn_status qn_file_read(const char *path, uint64_t limit_bytes, qn_bytes *out) {
  int file = open_again(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (file < 0) return io_error("opened", path, errno);
  size_t start = out->size;
  qn_status status = read_open_file(file, path, limit_bytes, out);
  close(file);
  if (status < 0 && out->data) {
    out->size = start;
    out->data[start] = 0;
    out->failed = false;
  }
  return status;
}

qn_status qn_file_read_head(const char *path, void *out, size_t capacity, size_t *out_size) {
  int file = open_again(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (file < 0) return io_error("opened", path, errno);
  ssize_t got;
  do got = read(file, out, capacity);
  while (got < 0 && errno == EINTR);
  int error = errno;
  close(file);
  if (got < 0) return io_error("read", path, error);
  *out_size = (size_t)got;
  return QN_OK;
}

/* ---- Writing ---- */

static int write_all(int file, const char *data, size_t size) {
  while (size > 0) {
    ssize_t done = write(file, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    data += done;
    size -= (size_t)done;
  }
  return 0;
}

static qn_status write_in_place(const char *path, const void *data, size_t size) {
  int file = open_again(path, O_WRONLY | O_NOCTTY, 0);
  if (file < 0) return io_error("opened for writing", path, errno);
  int error = write_all(file, data, size);
  if (close(file) != 0 && error == 0 && errno != EINTR) error = errno;
  return error == 0 ? QN_OK : io_error("written", path, error);
}

static int fill_temporary(int file, const struct stat *old, const void *data, size_t size) {
  int error = write_all(file, data, size);
  if (error == 0 && old && fchmod(file, old->st_mode & 07777) != 0) error = errno;
  if (error == 0 && fsync(file) != 0 && errno != EINVAL && errno != EROFS) error = errno;
  if (close(file) != 0 && error == 0 && errno != EINTR) error = errno;
  return error;
}

/* Beside the target, so that the rename stays in one file system; a name that no other process or thread uses. */
static void temporary_name(char *out, size_t capacity, const char *path) {
  static _Atomic uint32_t counter;
  qn_sv directory = qn_path_directory(qn_sv_from(path));
  uint32_t number = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  snprintf(out, capacity, "%.*s/.quern-%ld-%" PRIu32 ".tmp", QN_SV_ARG(directory), (long)getpid(), number);
}

static qn_status replace(const char *path, const struct stat *old, const void *data, size_t size) {
  char temporary[PATH_MAX + 64];
  int file;
  do {
    temporary_name(temporary, sizeof temporary, path);
    file = open_again(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return io_error("written", path, errno);
  int error = fill_temporary(file, old, data, size);
  if (error == 0 && rename(temporary, path) != 0) error = errno;
  if (error == 0) return QN_OK;
  unlink(temporary);
  return io_error("written", path, error);
}

qn_status qn_file_write(const char *path, const void *data, size_t size) {
  struct stat old;
  if (strlen(path) >= PATH_MAX) return io_error("written", path, ENAMETOOLONG);
  if (stat(path, &old) != 0) {
    char target[PATH_MAX];
    read_link(path, target, sizeof target);
    if (!target[0]) return replace(path, NULL, data, size);
    QN_FAIL(QN_ERROR_IO, "'%s' can't be written: it is a link to '%s', which is not there", path, target);
  }
  if (S_ISDIR(old.st_mode)) return io_error("written", path, EISDIR);
  if (!S_ISREG(old.st_mode)) return write_in_place(path, data, size);
  char resolved[PATH_MAX];
  if (!realpath(path, resolved)) return io_error("written", path, errno);
  return replace(resolved, &old, data, size);
}

/* ---- Queries ---- */

qn_status qn_file_query(const char *path, qn_file_info *out_info) {
  struct stat info;
  if (stat(path, &info) != 0) return io_error("found", path, errno);
  *out_info = (qn_file_info){
      .size_bytes = (uint64_t)info.st_size,
      .modified_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec,
      .device = (uint64_t)info.st_dev,
      .inode = (uint64_t)info.st_ino,
      .owner = (uint32_t)info.st_uid,
      .mode = (uint32_t)info.st_mode & 07777u,
      .is_directory = S_ISDIR(info.st_mode),
      .is_regular = S_ISREG(info.st_mode),
  };
  return QN_OK;
}

bool qn_file_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

qn_status qn_file_remove(const char *path) { return unlink(path) == 0 ? QN_OK : io_error("removed", path, errno); }

qn_status qn_directory_remove(const char *path) { return rmdir(path) == 0 ? QN_OK : io_error("removed", path, errno); }

qn_status qn_file_set_time(const char *path, uint64_t ns) {
  struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  struct timespec both[2] = {time, time};
  bool done = utimensat(AT_FDCWD, path, both, 0) == 0;
  if (!done && errno == EPERM)
    done = utimensat(AT_FDCWD, path, NULL, 0) == 0; /* another user's: the present is allowed */
  return done ? QN_OK : io_error("given a time", path, errno);
}

qn_status qn_file_add_mode(const char *path, uint32_t bits) {
  struct stat info;
  if (stat(path, &info) != 0) return io_error("found", path, errno);
  if ((info.st_mode & bits) == bits) return QN_OK;
  return chmod(path, (info.st_mode & 07777) | (mode_t)bits) == 0 ? QN_OK : io_error("shared", path, errno);
}

/* ---- Directories ---- */

typedef struct name_list {
  const char **names;
  size_t count, capacity;
} name_list;

static bool list_add(name_list *list, const char *name) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 32;
    const char **names = realloc(list->names, capacity * sizeof *names);
    if (!names) return false;
    list->names = names;
    list->capacity = capacity;
  }
  list->names[list->count++] = name;
  return true;
}

static int by_byte(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static qn_status read_names(qn_arena *arena, DIR *directory, const char *path, name_list *list) {
  for (;;) {
    errno = 0;
    struct dirent *entry = readdir(directory);
    if (!entry) return errno == 0 ? QN_OK : io_error("listed", path, errno);
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char *name = qn_arena_copy(arena, qn_sv_from(entry->d_name));
    if (!name || !list_add(list, name)) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to list '%s'", path);
  }
}

qn_status qn_directory_list(qn_arena *arena, const char *path, const char ***out_names, size_t *out_count) {
  DIR *directory = opendir(path);
  if (!directory) return io_error("listed", path, errno);
  name_list list = {0};
  qn_status status = read_names(arena, directory, path, &list);
  closedir(directory);
  const char **names = status < 0 ? NULL : QN_ARENA_ARRAY(arena, const char *, list.count + 1);
  if (status >= 0 && !names) status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to list '%s'", path);
  if (status >= 0) {
    if (list.count > 0) {
      qsort(list.names, list.count, sizeof *list.names, by_byte);
      memcpy(names, list.names, list.count * sizeof *names);
    }
    *out_names = names;
    *out_count = list.count;
  }
  free(list.names);
  return status;
}

static bool is_directory(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* 0, or why `path` is no directory. */
static int make_one(const char *path) {
  if (mkdir(path, 0777) == 0) return 0;
  int error = errno;
  if (is_directory(path)) return 0; /* it was there, or another process was quicker */
  return error == EEXIST ? ENOTDIR : error;
}

/* `part` is as far as it went. */
static qn_status tell_not_made(const char *path, const char *part, int error) {
  char target[PATH_MAX];
  bool is_whole = strcmp(path, part) == 0;
  if (error != ENOTDIR) QN_FAIL(QN_ERROR_IO, "the directory '%s' can't be made: %s", path, strerrordesc_np(error));
  read_link(part, target, sizeof target);
  if (target[0] && !qn_file_exists(part))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "the directory '%s' can't be made: '%s' is a link to '%s', which is not there",
            path, part, target);
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "the directory '%s' can't be made: %s%s%s not a directory", path,
          is_whole ? "it is" : "'", is_whole ? "" : part, is_whole ? "" : "' is");
}

qn_status qn_directory_make(const char *path) {
  char part[PATH_MAX];
  size_t length = strlen(path);
  int error = length == 0 ? ENOENT : length >= sizeof part ? ENAMETOOLONG : 0;
  for (size_t i = 1; i <= length && error == 0; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(part, path, i);
    part[i] = 0;
    error = make_one(part);
  }
  return error == 0 ? QN_OK : tell_not_made(path, part, error);
}

/* ---- Paths ---- */

char *qn_path_join(qn_arena *arena, qn_sv directory, qn_sv name) {
  if (directory.size == 0 || (name.size > 0 && name.data[0] == '/')) return qn_arena_copy(arena, name);
  const char *between = directory.data[directory.size - 1] == '/' ? "" : "/";
  size_t gap = strlen(between), size = directory.size + gap + name.size;
  char *path = size < directory.size ? NULL : qn_arena_alloc(arena, size + 1);
  if (!path) return NULL;
  memcpy(path, directory.data, directory.size);
  memcpy(path + directory.size, between, gap);
  if (name.size > 0) memcpy(path + directory.size + gap, name.data, name.size);
  return path;
}

/* One past the last slash; 0 when there is none. */
static size_t after_last_slash(qn_sv path) {
  size_t at = path.size;
  while (at > 0 && path.data[at - 1] != '/') at--;
  return at;
}

qn_sv qn_path_directory(qn_sv path) {
  size_t end = after_last_slash(path);
  if (end == 0) return QN_SV(".");
  while (end > 1 && path.data[end - 1] == '/') end--;
  return qn_sv_make(path.data, end);
}

qn_sv qn_path_name(qn_sv path) {
  size_t start = after_last_slash(path);
  return qn_sv_make(path.data ? path.data + start : "", path.size - start);
}

/* ---- This library ---- */

typedef struct module_search {
  uintptr_t address;
  char *path; /* PATH_MAX bytes; "": the program itself */
  bool found;
} module_search;

static bool covers(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && address - start < info->dlpi_phdr[i].p_memsz) return true;
  }
  return false;
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *given) {
  module_search *search = given;
  (void)size;
  if (!covers(info, search->address)) return 0;
  snprintf(search->path, PATH_MAX, "%s", info->dlpi_name ? info->dlpi_name : "");
  search->found = true;
  return 1;
}

qn_status qn_path_of_library(qn_arena *arena, const char **out_directory) {
  /* dladdr would give argv[0] for a program, which says nothing about where it is. */
  char path[PATH_MAX], resolved[PATH_MAX];
  module_search search = {.address = (uintptr_t)&qn_path_of_library, .path = path};
  dl_iterate_phdr(visit_module, &search);
  const char *file = search.found && path[0] ? path : "/proc/self/exe";
  if (!realpath(file, resolved)) return io_error("found", file, errno);
  char *directory = qn_arena_copy(arena, qn_path_directory(qn_sv_from(resolved)));
  if (!directory) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the path '%s'", resolved);
  *out_directory = directory;
  return QN_OK;
}
