/* files.h - files, directories and paths. Every error text names the path and says what the system said. Beside the errors
 * that are named below each may be LIMIT (no descriptor is left) or OUT_OF_HOST_MEMORY. */
#ifndef QUERN_BASE_OS_FILES_H
#define QUERN_BASE_OS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/string_view.h"
#include "quern/quern.h"

/* Appends a whole regular file. Never blocks on a pipe or a device: those are refused. Errors: NOT_FOUND, IO,
 * LIMIT (larger than limit_bytes), OUT_OF_HOST_MEMORY. On an error `out` is as before. */
QN_MUST_USE qn_status qn_file_read(const char *path, uint64_t limit_bytes, qn_bytes *out);

/* The first bytes of a file, up to `capacity`. Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_file_read_head(const char *path, void *out, size_t capacity, size_t *out_size);

/* Replaces a file by a whole new one: temporary file beside it, fsync, rename. A reader sees the old file or the new
 * one. A link is followed; permissions of an old file are kept. What isn't a regular file (a device, a pipe) is written
 * in place. Errors: IO; nothing is left behind. */
QN_MUST_USE qn_status qn_file_write(const char *path, const void *data, size_t size);

typedef struct qn_file_info {
  uint64_t size_bytes;
  uint64_t modified_ns; /* since 1970 */
  uint64_t device, inode;
  uint32_t owner; /* user id */
  uint32_t mode;  /* permission bits */
  bool is_directory, is_regular;
} qn_file_info;

/* Follows links. Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_file_query(const char *path, qn_file_info *out_info);
bool qn_file_exists(const char *path);
/* Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_file_remove(const char *path);
/* An empty one. Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_directory_remove(const char *path);

/* Sets the time of last modification; of another user's file, that may be written to, to the present. Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_file_set_time(const char *path, uint64_t ns);

/* Adds permission bits. One that has them stays untouched, whoever owns it. Errors: NOT_FOUND, IO. */
QN_MUST_USE qn_status qn_file_add_mode(const char *path, uint32_t bits);

/* Names in a directory, sorted by byte, without "." and "..", in `arena`. Errors: NOT_FOUND, IO, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_directory_list(qn_arena *arena, const char *path, const char ***out_names, size_t *out_count);
/* With its parents; no error when it is there. Errors: INVALID_ARGUMENT when it, or a parent, is something else; IO. */
QN_MUST_USE qn_status qn_directory_make(const char *path);

/* "a" + "b" is "a/b"; an absolute name stands for itself. NULL: no memory. */
char *qn_path_join(qn_arena *arena, qn_sv directory, qn_sv name);
/* Views into `path`: "a/b.c" has "a" and "b.c"; "b" has "." and "b"; "/b" has "/" and "b". */
qn_sv qn_path_directory(qn_sv path);
qn_sv qn_path_name(qn_sv path);

/* The directory of the library (or program) that this code is in, absolute, links resolved. Errors: NOT_FOUND,
 * OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_path_of_library(qn_arena *arena, const char **out_directory);

#endif
