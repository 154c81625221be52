/* replace.h - what a transaction over the files of one directory needs of the system. Names are relative to the opened
 * directory. Every error text names the path and says what the system said. Files are written as a compiler writes its
 * outputs: a killed process leaves them whole; nothing waits for the disk, save where a file is overwritten. */
#ifndef QUERN_BASE_OS_REPLACE_H
#define QUERN_BASE_OS_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/os/place_name.h"
#include "base/string_view.h"
#include "quern/quern.h"

/* A directory. */
typedef struct qn_place {
  int file;
  const char *path; /* borrowed */
  uint64_t device, inode;
  bool is_locked; /* by us, and its file system has locks */
} qn_place;
/* Errors: NOT_FOUND, INVALID_ARGUMENT when it is no directory, IO. */
QN_MUST_USE qn_status qn_place_open(const char *path, qn_place *out_place);
/* Locks it against everyone else who does. A wait is told after a moment (waiting.h). Who needs several places locks each
 * directory once, and in the order of qn_place_order, lest two wait for each other. Errors: TIMEOUT. */
QN_MUST_USE qn_status qn_place_lock(qn_place *place, uint64_t timeout_ns);
/* < 0, 0: one directory, > 0. */
int qn_place_order(const qn_place *a, const qn_place *b);
void qn_place_close(qn_place *place);

/* Which file a name stands for. */
typedef struct qn_place_id {
  uint64_t device, inode;
  bool is_there, is_regular, is_link, is_directory;
} qn_place_id;
/* Doesn't follow links. Errors: IO. */
QN_MUST_USE qn_status qn_place_look(const qn_place *place, const char *name, qn_place_id *out_id);
static inline bool qn_place_is_same(const qn_place_id *a, const qn_place_id *b) {
  return a->is_there && b->is_there && a->device == b->device && a->inode == b->inode;
}

/* Whether a regular file has exactly these bytes. Anything else, and an error, is no. */
bool qn_place_has(const qn_place *place, const char *name, qn_sv bytes);
/* A new file under a name that nobody else uses (out_name); owner, group and permissions as those of `like` when that
 * is there, as far as the system lets us. Errors: IO; nothing is left. */
QN_MUST_USE qn_status qn_place_stage(const qn_place *place, const char *like, qn_sv bytes, char out_name[QN_PLACE_NAME],
                                     qn_place_id *out_id);
/* A second name (out_name) for a file: a hard link, or a copy where there can be none. Errors: IO. */
QN_MUST_USE qn_status qn_place_keep(const qn_place *place, const char *name, char out_name[QN_PLACE_NAME]);
/* Errors: IO. `out_cannot_rename`: the place of `to` can't be renamed to, but may be written. */
QN_MUST_USE qn_status qn_place_rename(const qn_place *place, const char *from, const char *to, bool *out_cannot_rename);
/* Errors: IO when a file that is there may not be written by us: whoever made it so meant it, though a rename would do. */
QN_MUST_USE qn_status qn_place_check_replaceable(const qn_place *place, const char *name);
/* Errors: IO when a file that is there can't be opened for writing. */
QN_MUST_USE qn_status qn_place_check_writable(const qn_place *place, const char *name);
/* Overwrites a file that is there and reads it back. A process that is killed in it leaves a mixture of old bytes and new ones.
 * Errors: IO. */
QN_MUST_USE qn_status qn_place_overwrite(const qn_place *place, const char *name, qn_sv bytes);
/* A new file (out_name) that stays when the process dies, on the disk when this returns. Errors: IO; nothing is left. */
QN_MUST_USE qn_status qn_place_write_undo(const qn_place *place, const char *name, qn_sv bytes,
                                          char out_name[QN_PLACE_NAME]);
/* Appends a regular file. Errors: IO, OUT_OF_HOST_MEMORY; `out` is as before then. */
QN_MUST_USE qn_status qn_place_read(const qn_place *place, const char *name, qn_bytes *out);
QN_MUST_USE qn_status qn_place_remove(const qn_place *place, const char *name);
/* Gives a file the present time. */
QN_MUST_USE qn_status qn_place_touch(const qn_place *place, const char *name);
/* Calls `visit` for each file that a dead transaction left: ours by its name and its kind, while the directory's lock says that
 * no transaction lives. `visit` may remove it. */
typedef void (*qn_place_visit_fn)(void *user, const char *name, qn_place_use use);
void qn_place_each_left(const qn_place *place, qn_place_visit_fn visit, void *user);

#endif
