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

/* An empty file is a new one; a damaged one begins anew, and counts that. */
static qn_status read_or_begin(const qn_file_lock *lock, page *out) {
  size_t size = 0;
  QN_TRY(qn_file_lock_read(lock, out, sizeof *out, &size));
  if (is_sound(out, size)) return QN_OK;
  *out = (page){.magic = magic, .version = VERSION};
  out->values[QN_COUNT_RESETS] = size > 0;
  return QN_OK;
}

static void copy_out(const page *p, qn_counters *out) {
  out->clock_ns = p->clock_ns;
  memcpy(out->values, p->values, sizeof out->values);
}

static qn_status update_locked(const qn_file_lock *lock, qn_counters_act_fn act, void *user, qn_counters *out) {
  page p;
  qn_counters change = {0};
  QN_TRY(read_or_begin(lock, &p));
  copy_out(&p, out);
  act(user, out, &change);
  uint64_t now = qn_clock_wall_ns();
  p.clock_ns = now > p.clock_ns ? now : p.clock_ns + 1;
  for (int i = 0; i < QN_COUNTER_COUNT; i++) p.values[i] += change.values[i];
  checksum(&p, p.checksum);
  QN_TRY(qn_file_lock_write(lock, &p, sizeof p));
  copy_out(&p, out);
  return QN_OK;
}

qn_status qn_counters_update(const char *path, qn_counters_act_fn act, void *user, uint64_t timeout_ns,
                             qn_counters *out) {
  qn_file_lock lock;
  QN_TRY(qn_file_lock_take(path, 0, timeout_ns, &lock));
  qn_status status = update_locked(&lock, act, user, out);
  qn_file_lock_give(&lock);
  return status;
}

qn_status qn_counters_read(const char *path, qn_counters *out) {
  page p;
  size_t size = 0;
  QN_TRY(qn_file_read_head(path, &p, sizeof p, &size));
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
