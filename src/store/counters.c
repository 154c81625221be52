#include "store/counters.h"

#include <blake2.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/file_lock.h"
#include "base/os/files.h"
#include "base/status.h"

enum { VERSION = 1, ROOM = 64, CHECKSUM_BYTES = 8 };
static const uint64_t magic = UINT64_C(0x51554e434f554e54);

/* As it is in the file, in this machine's byte order. There is room for counters to come, so that libraries of different
 * age share a file. */
typedef struct page {
  uint64_t magic;
  uint64_t version;
  uint64_t clock_ns;
  int64_t values[ROOM];
  unsigned char checksum[CHECKSUM_BYTES];
} page;
_Static_assert((int)QN_COUNTER_COUNT <= (int)ROOM, "a new version of the page is needed");

static void checksum(const page *p, unsigned char *out) {
  blake2b(out, p, NULL, CHECKSUM_BYTES, offsetof(page, checksum), 0);
}

static bool is_sound(const page *p, size_t size) {
  unsigned char sum[CHECKSUM_BYTES];
  if (size != sizeof *p || p->magic != magic || p->version != VERSION) return false;
  checksum(p, sum);
  return memcmp(sum, p->checksum, CHECKSUM_BYTES) == 0;
}

static bool is_file(const char *path) {
  qn_file_info info;
  return qn_file_query(path, &info) >= 0 && info.is_regular;
}

/* An empty file is a new one; a damaged one begins anew, and counts that. */
static qn_status read_or_begin(const char *path, const qn_file_lock *lock, bool was_damaged, page *out) {
  size_t size = 0;
  QN_TRY(qn_file_lock_read(lock, out, sizeof *out, &size));
  if (is_sound(out, size)) return QN_OK;
  if (!is_file(path)) QN_FAIL(QN_ERROR_IO, "'%s' is no file", path);
  *out = (page){.magic = magic, .version = VERSION};
  out->values[QN_COUNT_RESETS] = size > 0 || was_damaged;
  return QN_OK;
}

/* A pipe, a device or an empty directory in its place, whoever made it. */
static bool remove_obstacle(const char *path) {
  qn_file_info info;
  if (qn_file_query(path, &info) < 0 || info.is_regular) return false;
  return (info.is_directory ? qn_directory_remove(path) : qn_file_remove(path)) >= 0;
}

static void copy_out(const page *p, qn_counters *out) {
  out->clock_ns = p->clock_ns;
  memcpy(out->values, p->values, sizeof out->values);
}

/* One update. */
typedef struct update {
  const char *path;
  qn_counters_act_fn act;
  void *user;
  uint64_t timeout_ns;
  bool was_damaged;
} update;

static qn_status update_locked(const update *u, const qn_file_lock *lock, qn_counters *out) {
  page p;
  qn_counters change = {0};
  QN_TRY(read_or_begin(u->path, lock, u->was_damaged, &p));
  copy_out(&p, out);
  u->act(u->user, out, &change);
  uint64_t now = qn_clock_wall_ns();
  p.clock_ns = now > p.clock_ns ? now : p.clock_ns + 1;
  for (int i = 0; i < QN_COUNTER_COUNT; i++) p.values[i] += change.values[i];
  checksum(&p, p.checksum);
  QN_TRY(qn_file_lock_write(lock, &p, sizeof p));
  copy_out(&p, out);
  return QN_OK;
}

static qn_status run(const update *u, qn_counters *out) {
  qn_file_lock lock;
  QN_TRY(qn_file_lock_take(u->path, 0, u->timeout_ns, &lock));
  qn_status status = update_locked(u, &lock, out);
  qn_file_lock_give(&lock);
  return status;
}

qn_status qn_counters_update(const char *path, qn_counters_act_fn act, void *user, uint64_t timeout_ns,
                             qn_counters *out) {
  update u = {.path = path, .act = act, .user = user, .timeout_ns = timeout_ns};
  qn_status status = run(&u, out);
  if (status != QN_ERROR_IO || !remove_obstacle(path)) return status;
  u.was_damaged = true;
  return run(&u, out);
}

qn_status qn_counters_read(const char *path, qn_counters *out) {
  page p;
  size_t size = 0;
  qn_file_info info;
  QN_TRY(qn_file_query(path, &info));
  if (info.is_directory)
    QN_FAIL(QN_ERROR_DATA, "'%s' is a directory, and should be the file of the counters: remove it", path);
  if (info.is_regular) QN_TRY(qn_file_read_head(path, &p, sizeof p, &size));
  if (!is_sound(&p, size)) QN_FAIL(QN_ERROR_DATA, "'%s' is damaged; the next use of the cache begins it anew", path);
  copy_out(&p, out);
  return QN_OK;
}

/* ---- Names -------------------------------------------------------------------------------------- */

const char *qn_counter_name(qn_counter counter) {
  static const char *const names[] = {
#define QN_X(id, name, text) name,
      QN_COUNTERS(QN_X)
#undef QN_X
  };
  return names[counter];
}

const char *qn_counter_text(qn_counter counter) {
  static const char *const texts[] = {
#define QN_X(id, name, text) text,
      QN_COUNTERS(QN_X)
#undef QN_X
  };
  return texts[counter];
}
