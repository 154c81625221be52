#include "store/store.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/os/clock.h"
#include "base/os/files.h"
#include "base/os/lock_holder.h"
#include "base/os/stage.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "base/waiting.h"
#include "store/keep.h"

enum { DIGITS = QN_KEY_BYTES * 2, LOGGED_DIGITS = 12 };
#define FILE_LIMIT (QN_ENTRY_BODY_LIMIT + 65536)

const char *qn_store_answer_text(qn_store_answer answer) {
  static const char *const texts[] = {"hit",
                                      "no entry",
                                      "damaged entry",
                                      "entry of another format",
                                      "unreadable entry",
                                      "QUERN_CACHE=recache",
                                      "a file that the source reads has changed",
                                      "the cache is off"};
  return texts[answer];
}

/* The verb first, then what it was about. */
static void tell(const char *verb, const qn_key *key, const char *label, const char *why) {
  char digits[LOGGED_DIGITS + 1];
  qn_key_print(key, digits, sizeof digits);
  QN_LOG(CACHE, "%s %s %s%s%s", verb, label[0] ? label : "-", digits, why[0] ? ": " : "", why);
}

static const char *kind_text(qn_entry_kind kind) {
  return kind == QN_ENTRY_PROGRAM ? "program" : kind == QN_ENTRY_MANIFEST ? "manifest" : "artifact";
}

/* ---- Opening ------------------------------------------------------------------------------------ */

/* Not to be used, for the reason in the error text. */
static void refuse(qn_store *store) {
  snprintf(store->reason, sizeof store->reason, "%s", qn_error_text());
  store->settings.mode = QN_STORE_OFF;
  QN_LOG(CACHE, "off: %s", store->reason);
}

/* Whoever may write to the directory may use what is in it: that is what its mode is for. */
static void read_sharing(qn_store *store, const char *directory) {
  qn_file_info info;
  if (store->settings.allows_others && qn_file_query(directory, &info) >= 0 && (info.mode & 022))
    store->shared_mode = info.mode & 0777u;
}

qn_status qn_store_init(qn_store *store, const qn_store_settings *settings) {
  *store = (qn_store){.settings = *settings};
  store->settings.directory = NULL; /* `path` has it */
  if (settings->mode == QN_STORE_OFF) return QN_OK;
  int length = snprintf(store->path, sizeof store->path, "%s/v1", settings->directory);
  if (length < 0 || (size_t)length >= sizeof store->path)
    QN_FAIL(QN_ERROR_LIMIT, "the cache directory's name has %zu bytes", strlen(settings->directory));
  qn_error_saved saved;
  qn_error_save(&saved);
  qn_status status = settings->allows_others ? QN_OK : qn_store_check_owner(settings->directory);
  if (status >= 0 && !settings->allows_others) status = qn_store_check_owner(store->path);
  if (status < 0) refuse(store);
  read_sharing(store, settings->directory);
  qn_error_restore(&saved);
  return QN_OK;
}

/* Set once, under the lock; a lack of memory is not kept. */
static struct {
  qn_mutex lock;
  _Atomic uint32_t is_open; /* or will never be: `status` */
  qn_status status;
  char text[512];
  qn_store store;
} process;

static qn_status open_process_store(void) {
  qn_arena arena;
  qn_store_settings settings;
  qn_arena_init(&arena, 0);
  qn_status status = qn_store_settings_read(&arena, &settings);
  if (status >= 0) status = qn_store_init(&process.store, &settings);
  qn_arena_free(&arena);
  return status;
}

static void open_default(void) {
  qn_mutex_lock(&process.lock);
  if (atomic_load_explicit(&process.is_open, memory_order_relaxed) == 0) {
    process.status = open_process_store();
    if (process.status < 0) snprintf(process.text, sizeof process.text, "%s", qn_error_text());
    bool stays = process.status != QN_ERROR_OUT_OF_HOST_MEMORY;
    atomic_store_explicit(&process.is_open, stays, memory_order_release);
  }
  qn_mutex_unlock(&process.lock);
}

qn_status qn_store_default(qn_store **out_store) {
  if (atomic_load_explicit(&process.is_open, memory_order_acquire) == 0) open_default();
  if (atomic_load_explicit(&process.is_open, memory_order_acquire) == 0)
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to open the cache");
  if (process.status < 0) QN_FAIL(process.status, "%s", process.text);
  *out_store = &process.store;
  return QN_OK;
}

/* ---- Paths -------------------------------------------------------------------------------------- */

bool qn_store_entry_path(const qn_store *store, const qn_key *key, uint32_t kind, char *out, size_t capacity) {
  char digits[DIGITS + 1];
  qn_key_print(key, digits, sizeof digits);
  int length = snprintf(out, capacity, "%s/%.2s/%s-%u", store->path, digits, digits + 2, kind);
  return length > 0 && (size_t)length < capacity;
}

static void path_in(const qn_store *store, const char *name, char *out, size_t capacity) {
  int length = snprintf(out, capacity, "%s/%s", store->path, name);
  if (length < 0 || (size_t)length >= capacity) out[0] = '\0';
}

static bool may_write(const qn_store *store) {
  return store->settings.mode == QN_STORE_WRITE || store->settings.mode == QN_STORE_RECACHE;
}

/* What was made here is others' too. Only its owner can do that; who isn't finds it done. */
static void share_file(const qn_store *store, const char *path) {
  if (store->shared_mode) (void)!qn_file_add_mode(path, store->shared_mode & 0666u);
}

static qn_status make_directory(const qn_store *store, const char *path) {
  QN_TRY(qn_directory_make(path));
  if (!store->shared_mode) return QN_OK;
  (void)!qn_file_add_mode(store->path, store->shared_mode);
  (void)!qn_file_add_mode(path, store->shared_mode);
  return QN_OK;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

/* An act that is called once, whatever becomes of the counting. */
typedef struct single {
  qn_counters_act_fn act;
  void *user;
  bool was_called;
} single;

static void act_once(void *user, const qn_counters *now, qn_counters *change) {
  single *s = user;
  if (s->was_called) return;
  s->was_called = true;
  s->act(s->user, now, change);
}

uint64_t qn_store_update(qn_store *store, qn_counters_act_fn act, void *user, uint64_t timeout_ns, qn_counters *out) {
  char path[4096];
  qn_error_saved saved;
  single s = {act, user, false};
  qn_counters uncounted = {0};
  *out = uncounted;
  if (!may_write(store)) return 0;
  qn_error_save(&saved);
  path_in(store, "counters", path, sizeof path);
  qn_status status = qn_counters_update(path, act_once, &s, timeout_ns, out);
  if (status == QN_ERROR_NOT_FOUND && make_directory(store, store->path) >= 0)
    status = qn_counters_update(path, act_once, &s, timeout_ns, out);
  if (status >= 0) share_file(store, path);
  if (status < 0) QN_LOG(CACHE, "not counted: %s", qn_error_text());
  qn_error_restore(&saved);
  if (status >= 0) return out->clock_ns;
  *out = uncounted;
  if (!s.was_called) act(user, out, &uncounted);
  return 0;
}

static void add_change(void *user, const qn_counters *now, qn_counters *change) {
  (void)now;
  *change = *(const qn_counters *)user;
}

uint64_t qn_store_count(qn_store *store, const qn_counters *change, qn_counters *out) {
  qn_counters copy = *change;
  return qn_store_update(store, add_change, &copy, QN_COUNTERS_HIT_NS, out);
}

/* ---- Looking up --------------------------------------------------------------------------------- */

static qn_counter counter_of(qn_store_answer answer) {
  switch (answer) {
    case QN_STORE_HIT:
      return QN_COUNT_HITS;
    case QN_STORE_DAMAGED:
      return QN_COUNT_MISSES_DAMAGED;
    case QN_STORE_OTHER_VERSION:
      return QN_COUNT_MISSES_VERSION;
    case QN_STORE_UNREADABLE:
      return QN_COUNT_MISSES_UNREADABLE;
    case QN_STORE_RECACHED:
      return QN_COUNT_MISSES_RECACHE;
    case QN_STORE_STALE:
      return QN_COUNT_MISSES_STALE;
    default:
      return QN_COUNT_MISSES_ABSENT;
  }
}

static qn_store_answer answer_of(qn_entry_fault fault) {
  switch (fault) {
    case QN_ENTRY_SOUND:
      return QN_STORE_HIT;
    case QN_ENTRY_OTHER_VERSION:
      return QN_STORE_OTHER_VERSION;
    case QN_ENTRY_NO_MEMORY:
      return QN_STORE_UNREADABLE;
    default:
      return QN_STORE_DAMAGED;
  }
}

static qn_store_answer read_entry(const char *path, const qn_key *key, uint32_t kind, qn_bytes *out) {
  qn_bytes file = {0};
  qn_status status = qn_file_read(path, FILE_LIMIT, &file);
  qn_store_answer answer = status == QN_ERROR_NOT_FOUND ? QN_STORE_ABSENT : QN_STORE_UNREADABLE;
  if (status >= 0) answer = answer_of(qn_entry_unpack(qn_bytes_view(&file), key, kind, out));
  qn_bytes_free(&file);
  return answer;
}

static uint64_t size_of(const char *path) {
  qn_file_info info;
  return qn_file_query(path, &info) >= 0 ? info.size_bytes : 0;
}

qn_status qn_store_remove_counted(const char *path, qn_counters *change) {
  uint64_t size = size_of(path);
  QN_TRY(qn_file_remove(path));
  change->values[QN_COUNT_ENTRIES]--;
  change->values[QN_COUNT_BYTES] -= (int64_t)size;
  return QN_OK;
}

/* An entry that must not be found again, and what else is to be counted. */
typedef struct removal {
  const char *path;
  qn_counter counted_as;
} removal;

/* Should another process have replaced it this moment, a good one goes: that costs a compile. */
static void remove_and_count(void *user, const qn_counters *now, qn_counters *change) {
  const removal *r = user;
  (void)now;
  change->values[r->counted_as]++;
  (void)!qn_store_remove_counted(r->path, change);
}

static void remove_entry(qn_store *store, const char *path, qn_counter counted_as) {
  qn_counters after;
  removal r = {path, counted_as};
  (void)qn_store_update(store, remove_and_count, &r, QN_COUNTERS_SIZE_NS, &after);
}

qn_store_answer qn_store_look(qn_store *store, const qn_key *key, qn_entry_kind kind, qn_bytes *out) {
  char path[4096];
  qn_error_saved saved;
  if (store->settings.mode == QN_STORE_OFF || !qn_store_entry_path(store, key, kind, path, sizeof path))
    return QN_STORE_UNUSED;
  if (store->settings.mode == QN_STORE_RECACHE) return QN_STORE_RECACHED;
  qn_error_save(&saved);
  qn_store_answer answer = read_entry(path, key, kind, out);
  qn_error_restore(&saved);
  return answer;
}

/* A lost use makes it look older. */
static void stamp(const qn_store *store, const qn_key *key, qn_entry_kind kind, uint64_t now) {
  char path[4096];
  if (now != 0 && qn_store_entry_path(store, key, kind, path, sizeof path)) (void)!qn_file_set_time(path, now);
}

void qn_store_used(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label,
                   const qn_store_before *before) {
  qn_error_saved saved;
  if (store->settings.mode == QN_STORE_OFF) return;
  tell("hit", key, label, kind_text(kind));
  qn_error_save(&saved);
  uint64_t now = qn_store_count_one(store, QN_COUNT_HITS);
  stamp(store, key, kind, now);
  if (before && before->was_asked && before->answer == QN_STORE_HIT) stamp(store, &before->key, QN_ENTRY_MANIFEST, now);
  qn_error_restore(&saved);
}

void qn_store_stamp(qn_store *store, const qn_key *key, qn_entry_kind kind) {
  const qn_counters nothing = {0};
  qn_counters after;
  qn_error_saved saved;
  qn_error_save(&saved);
  stamp(store, key, kind, qn_store_count(store, &nothing, &after));
  qn_error_restore(&saved);
}

void qn_store_missed(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label,
                     const qn_store_before *before, qn_store_answer answer) {
  char path[4096];
  qn_error_saved saved;
  if (answer == QN_STORE_UNUSED || !qn_store_entry_path(store, key, kind, path, sizeof path)) return;
  bool is_damaged = answer == QN_STORE_DAMAGED || answer == QN_STORE_OTHER_VERSION;
  if (answer == QN_STORE_ABSENT && before && before->was_asked && before->answer != QN_STORE_HIT)
    answer = before->answer;
  tell("miss", key, label, qn_store_answer_text(answer));
  qn_error_save(&saved);
  if (is_damaged)
    remove_entry(store, path, counter_of(answer));
  else
    (void)qn_store_count_one(store, counter_of(answer));
  qn_error_restore(&saved);
}

qn_store_answer qn_store_get(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label, qn_bytes *out) {
  qn_store_answer answer = qn_store_look(store, key, kind, out);
  if (answer == QN_STORE_HIT)
    qn_store_used(store, key, kind, label, NULL);
  else
    qn_store_missed(store, key, kind, label, NULL, answer);
  return answer;
}

/* ---- Storing ------------------------------------------------------------------------------------ */

static qn_status stage_entry(qn_store *store, qn_sv entry, qn_stage *stage) {
  char directory[4096];
  path_in(store, "new", directory, sizeof directory);
  qn_status status = qn_stage_open(directory, stage);
  if (status == QN_ERROR_NOT_FOUND) {
    QN_TRY(make_directory(store, directory));
    status = qn_stage_open(directory, stage);
  }
  QN_TRY(status);
  if (atomic_exchange(&store->has_swept, 1) == 0) {
    uint32_t swept = qn_stage_sweep(directory);
    qn_counters change = {0}, after;
    change.values[QN_COUNT_SWEPT] = swept;
    if (swept > 0) qn_store_count(store, &change, &after);
  }
  share_file(store, stage->path);
  status = qn_stage_write(stage, entry.data, entry.size);
  if (status < 0)
    qn_stage_discard(stage);
  else
    status = qn_stage_sync(stage);
  return status;
}

static qn_status make_directory_of(const qn_store *store, const char *path) {
  char directory[4096];
  qn_sv view = qn_path_directory(qn_sv_from(path));
  snprintf(directory, sizeof directory, "%.*s", QN_SV_ARG(view));
  return make_directory(store, directory);
}

/* What is renamed and counted while nobody else counts. */
typedef struct publication {
  qn_stage stage;
  const char *path;
  uint64_t size_bytes;
  qn_counter counted_as;
  qn_status status; /* of the renaming */
  qn_error_saved error;
} publication;

static void publish_and_count(void *user, const qn_counters *now, qn_counters *change) {
  publication *p = user;
  qn_file_info old;
  (void)now;
  bool is_new = !qn_file_exists(p->path);
  uint64_t old_bytes = !is_new && qn_file_query(p->path, &old) >= 0 ? old.size_bytes : 0;
  p->status = qn_stage_publish(&p->stage, p->path);
  if (p->status < 0) {
    qn_error_save(&p->error);
    return;
  }
  change->values[p->counted_as]++;
  change->values[QN_COUNT_ENTRIES] += is_new;
  change->values[QN_COUNT_BYTES] += (int64_t)p->size_bytes - (int64_t)old_bytes;
}

/* The directory of the entry may vanish at any time: when another process clears the store. */
static qn_status publish_once(qn_store *store, publication *p, qn_sv entry, uint64_t *out_now, qn_counters *out) {
  if (!qn_file_exists(p->path)) QN_TRY(make_directory_of(store, p->path));
  QN_TRY(stage_entry(store, entry, &p->stage));
  *out_now = qn_store_update(store, publish_and_count, p, QN_COUNTERS_SIZE_NS, out);
  if (p->status < 0) qn_error_restore(&p->error);
  return p->status;
}

qn_status qn_store_publish(qn_store *store, const qn_key *key, uint32_t kind, qn_sv entry, qn_counter counted_as,
                           uint64_t *out_bytes) {
  char path[4096];
  qn_counters after = {0};
  publication p = {.path = path, .size_bytes = entry.size, .counted_as = counted_as};
  uint64_t now = 0;
  *out_bytes = 0;
  if (!qn_store_entry_path(store, key, kind, path, sizeof path))
    QN_FAIL(QN_ERROR_LIMIT, "the cache directory's name is too long");
  qn_status status = publish_once(store, &p, entry, &now, &after);
  if (status == QN_ERROR_NOT_FOUND) status = publish_once(store, &p, entry, &now, &after);
  QN_TRY(status);
  if (now != 0) (void)!qn_file_set_time(path, now);
  if (now != 0 && after.values[QN_COUNT_BYTES] > 0) *out_bytes = (uint64_t)after.values[QN_COUNT_BYTES];
  return QN_OK;
}

static qn_status put(qn_store *store, const qn_entry_info *info, qn_sv body, qn_bytes *entry) {
  if (!qn_entry_pack(info, body, entry))
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an entry of %zu bytes", body.size);
  uint64_t max = store->settings.max_bytes;
  if (max != 0 && entry->size > max) {
    qn_store_count_one(store, QN_COUNT_STORES_TOO_LARGE);
    QN_FAIL(QN_ERROR_LIMIT, "the entry has %zu bytes, and the cache may have %llu", entry->size,
            (unsigned long long)max);
  }
  uint64_t bytes;
  qn_status status = qn_store_publish(store, &info->key, info->kind, qn_bytes_view(entry), QN_COUNT_STORES, &bytes);
  if (status < 0) qn_store_count_one(store, QN_COUNT_STORES_FAILED);
  if (status >= 0 && (bytes == 0 || bytes > max)) qn_store_keep_size(store, bytes != 0);
  return status;
}

bool qn_store_put(qn_store *store, const qn_key *key, qn_entry_kind kind, const char *label, qn_sv body) {
  if (!may_write(store)) return false;
  qn_error_saved saved;
  qn_bytes entry = {0};
  qn_entry_info info = {.key = *key, .kind = kind};
  snprintf(info.label, sizeof info.label, "%s", label);
  qn_error_save(&saved);
  qn_status status = put(store, &info, body, &entry);
  tell(status < 0 ? "not stored" : "store", key, label, status < 0 ? qn_error_text() : "");
  qn_bytes_free(&entry);
  qn_error_restore(&saved);
  return status >= 0;
}

/* ---- Locks -------------------------------------------------------------------------------------- */

/* Bytes above the pruner's; keys that share one wait for each other without need, which is rare. */
static uint64_t lock_byte(const qn_key *key) {
  uint64_t value = 0;
  for (int i = 0; i < 6; i++) value = value << 8 | key->bytes[i];
  return value + 1;
}

/* A wait is told after a moment. */
static qn_status take_lock(const char *path, const qn_key *key, uint64_t timeout_ns, qn_file_lock *out_lock) {
  char holder[128], digits[LOGGED_DIGITS + 1];
  if (timeout_ns <= QN_WAITING_QUIET_NS) return qn_file_lock_take(path, lock_byte(key), timeout_ns, out_lock);
  qn_status status = qn_file_lock_take(path, lock_byte(key), QN_WAITING_QUIET_NS, out_lock);
  if (status != QN_ERROR_TIMEOUT) return status;
  qn_lock_holder(path, lock_byte(key), holder, sizeof holder);
  qn_key_print(key, digits, sizeof digits);
  qn_waiting_tell("%s, which compiles the same: %s", holder, digits);
  return qn_file_lock_take(path, lock_byte(key), timeout_ns - QN_WAITING_QUIET_NS, out_lock);
}

bool qn_store_lock(qn_store *store, const qn_key *key, uint64_t timeout_ns, qn_file_lock *out_lock) {
  char path[4096];
  qn_error_saved saved;
  out_lock->file = -1;
  if (!may_write(store)) return false;
  qn_error_save(&saved);
  path_in(store, "locks", path, sizeof path);
  qn_status status = take_lock(path, key, timeout_ns, out_lock);
  if (status == QN_ERROR_NOT_FOUND && make_directory(store, store->path) >= 0)
    status = take_lock(path, key, timeout_ns, out_lock);
  if (status >= 0) share_file(store, path);
  if (status < 0) tell("no lock", key, "", qn_error_text());
  qn_error_restore(&saved);
  return status >= 0;
}
