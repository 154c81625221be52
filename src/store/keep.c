#include "store/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/os/files.h"
#include "base/os/lock_holder.h"
#include "base/os/stage.h"
#include "base/status.h"
#include "base/waiting.h"

enum { DIGITS = QN_KEY_BYTES * 2, PRUNE_BYTE = 0 };

/* ---- Walking ------------------------------------------------------------------------------------ */

/* "ab" and "cdef...-KIND" make an item. */
static bool read_name(const char *shard, const char *name, qn_store_item *out) {
  char digits[DIGITS + 1];
  size_t length = strlen(name);
  if (strlen(shard) != 2 || length < DIGITS - 2 + 2 || length > DIGITS - 2 + 4 || name[DIGITS - 2] != '-') return false;
  memcpy(digits, shard, 2);
  memcpy(digits + 2, name, DIGITS - 2);
  digits[DIGITS] = '\0';
  if (!qn_key_read(digits, &out->key)) return false;
  char *end;
  unsigned long kind = strtoul(name + DIGITS - 2 + 1, &end, 10);
  out->kind = (uint32_t)kind;
  return *end == '\0' && kind > 0;
}

static qn_status walk_shard(qn_store *store, const char *shard, qn_store_visit_fn visit, void *user, bool *goes_on) {
  char path[4096];
  qn_arena arena;
  const char **names;
  size_t count = 0;
  if (snprintf(path, sizeof path, "%s/%s", store->path, shard) >= (int)sizeof path) return QN_OK;
  qn_arena_init(&arena, 0);
  qn_status status = qn_directory_list(&arena, path, &names, &count);
  if (status == QN_ERROR_NOT_FOUND) status = QN_OK; /* gone meanwhile */
  for (size_t i = 0; status >= 0 && i < count && *goes_on; i++) {
    qn_store_item item;
    qn_file_info info;
    if (!read_name(shard, names[i], &item)) continue;
    if (!qn_store_entry_path(store, &item.key, item.kind, path, sizeof path)) continue;
    if (qn_file_query(path, &info) < 0 || !(info.is_regular || info.is_directory)) continue;
    item.is_obstacle = info.is_directory;
    item.file_bytes = info.is_directory ? 0 : info.size_bytes;
    item.used_ns = info.modified_ns;
    *goes_on = visit(user, &item);
  }
  qn_arena_free(&arena);
  return status;
}

static qn_status walk(qn_store *store, qn_store_visit_fn visit, void *user) {
  qn_arena arena;
  const char **names;
  size_t count = 0;
  bool goes_on = true;
  qn_arena_init(&arena, 0);
  qn_status status = qn_directory_list(&arena, store->path, &names, &count);
  for (size_t i = 0; status >= 0 && i < count && goes_on; i++)
    if (strlen(names[i]) == 2) status = walk_shard(store, names[i], visit, user, &goes_on);
  qn_arena_free(&arena);
  return status == QN_ERROR_NOT_FOUND ? QN_OK : status;
}

qn_status qn_store_walk(qn_store *store, qn_store_visit_fn visit, void *user) {
  if (store->settings.mode == QN_STORE_OFF) return QN_OK;
  qn_error_saved saved;
  qn_error_save(&saved);
  qn_status status = walk(store, visit, user);
  if (status >= 0) qn_error_restore(&saved); /* what vanished meanwhile left a text */
  if (status < 0) qn_error_forget(&saved);
  return status;
}

/* ---- All items ---------------------------------------------------------------------------------- */

typedef struct item_list {
  qn_store_item *items;
  size_t count, capacity;
  size_t obstacles;
  uint64_t bytes;
  bool failed;
} item_list;

static bool collect(void *user, const qn_store_item *item) {
  item_list *list = user;
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 1024;
    qn_store_item *items = realloc(list->items, capacity * sizeof *items);
    if (!items) {
      list->failed = true;
      return false;
    }
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = *item;
  list->obstacles += item->is_obstacle;
  list->bytes += item->file_bytes;
  return true;
}

static qn_status collect_all(qn_store *store, item_list *list) {
  QN_TRY(qn_store_walk(store, collect, list));
  if (list->failed) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the list of %zu cache entries", list->count);
  return QN_OK;
}

/* ---- Summary ------------------------------------------------------------------------------------ */

static bool summarize_one(void *user, const qn_store_item *item) {
  qn_store_summary *summary = user;
  if (item->is_obstacle) return true;
  uint32_t kind = item->kind <= QN_ENTRY_ARTIFACT ? item->kind : 0;
  summary->kinds[kind].entries++;
  summary->kinds[kind].bytes += item->file_bytes;
  if (summary->oldest_ns == 0 || item->used_ns < summary->oldest_ns) summary->oldest_ns = item->used_ns;
  if (item->used_ns > summary->newest_ns) summary->newest_ns = item->used_ns;
  return true;
}

qn_status qn_store_summarize(qn_store *store, qn_store_summary *out_summary) {
  *out_summary = (qn_store_summary){0};
  return qn_store_walk(store, summarize_one, out_summary);
}

/* ---- One at a time ------------------------------------------------------------------------------ */

/* What one upkeep does. */
typedef struct upkeep {
  qn_store *store;
  qn_counter removed_as;
  qn_store_kept kept;
  qn_counters before;                     /* what the counters said */
  int64_t counted_entries, counted_bytes; /* of what it did since then */
  bool is_uncounted;                      /* the counters can't be had: they are not waited for again */
} upkeep;

typedef qn_status (*upkeep_fn)(upkeep *u, const void *user);

/* ---- Removing ----------------------------------------------------------------------------------- */

/* Others count between two batches, not within: a disk may need a millisecond for a file, and a hit waits for no more than twenty. */
enum { BATCH = 8 };

typedef struct batch {
  upkeep *u;
  const qn_store_item *items;
  size_t count;
} batch;

static void note_stuck(qn_store_kept *kept, qn_status status) {
  if (status != QN_ERROR_NOT_FOUND && kept->stuck++ == 0)
    snprintf(kept->stuck_reason, sizeof kept->stuck_reason, "%s", qn_error_text());
}

/* An entry that another has replaced since the walk may have another size now. */
static void remove_item(upkeep *u, const qn_store_item *item, qn_counters *change) {
  char path[4096];
  int64_t before = change->values[QN_COUNT_BYTES];
  if (!qn_store_entry_path(u->store, &item->key, item->kind, path, sizeof path)) return;
  qn_status status = item->is_obstacle ? qn_directory_remove(path) : qn_store_remove_counted(path, change);
  if (status < 0) note_stuck(&u->kept, status);
  if (status < 0 || item->is_obstacle) return;
  change->values[u->removed_as]++;
  u->kept.removed_entries++;
  u->kept.removed_bytes += (uint64_t)(before - change->values[QN_COUNT_BYTES]);
  u->kept.entries--;
  u->kept.bytes -= item->file_bytes;
}

static void remove_batch(void *user, const qn_counters *now, qn_counters *change) {
  batch *b = user;
  (void)now;
  for (size_t i = 0; i < b->count; i++) remove_item(b->u, &b->items[i], change);
  b->u->counted_entries += change->values[QN_COUNT_ENTRIES];
  b->u->counted_bytes += change->values[QN_COUNT_BYTES];
}

static void remove_items(upkeep *u, const qn_store_item *items, size_t count) {
  for (size_t at = 0; at < count; at += BATCH) {
    qn_counters after;
    batch b = {u, items + at, count - at < BATCH ? count - at : BATCH};
    uint64_t patience_ns = u->is_uncounted ? QN_POLL : QN_COUNTERS_SIZE_NS;
    u->is_uncounted = qn_store_update(u->store, remove_batch, &b, patience_ns, &after) == 0;
  }
}

/* ---- Counting anew ------------------------------------------------------------------------------ */

static void sweep(upkeep *u) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/new", u->store->path) < (int)sizeof path) u->kept.swept = qn_stage_sweep(path);
}

/* Makes the counters say what the walk has found, in case of a store that was killed before it counted. Where somebody else changed
 * something meanwhile, the walk may have seen it or not; what each has counted itself is right then. */
static void settle(void *user, const qn_counters *now, qn_counters *change) {
  static const qn_counter others[] = {QN_COUNT_STORES, QN_COUNT_IMPORTS, QN_COUNT_RESETS};
  const upkeep *u = user;
  const int64_t *is = now->values, *was = u->before.values;
  bool is_alone = is[QN_COUNT_ENTRIES] == was[QN_COUNT_ENTRIES] + u->counted_entries &&
                  is[QN_COUNT_BYTES] == was[QN_COUNT_BYTES] + u->counted_bytes;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) is_alone &= is[others[i]] == was[others[i]];
  change->values[QN_COUNT_SWEPT] = (int64_t)u->kept.swept;
  if (!is_alone && !u->is_uncounted) return;
  change->values[QN_COUNT_ENTRIES] = (int64_t)u->kept.entries - is[QN_COUNT_ENTRIES];
  change->values[QN_COUNT_BYTES] = (int64_t)u->kept.bytes - is[QN_COUNT_BYTES];
}

/* What the counters said before. Where they can't be written, on a full disk say, they can be read. */
static void read_counters(qn_store *store, qn_counters *out) {
  char path[4096];
  qn_counters nothing = {0};
  if (qn_store_count(store, &nothing, out) != 0) return;
  *out = nothing;
  if (snprintf(path, sizeof path, "%s/counters", store->path) < (int)sizeof path) (void)!qn_counters_read(path, out);
}

static qn_status check_may_keep(const qn_store *store) {
  if (store->settings.mode == QN_STORE_OFF)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "the cache is off%s%s", store->reason[0] ? ": " : "", store->reason);
  if (store->settings.mode == QN_STORE_READ)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "QUERN_CACHE=read: nothing is written to the cache, and nothing is removed from it");
  return QN_OK;
}

static qn_status tell_and_wait(const char *path, uint64_t patience_ns, qn_file_lock *lock) {
  char holder[128];
  qn_lock_holder(path, PRUNE_BYTE, holder, sizeof holder);
  qn_waiting_tell("%s, which prunes, clears or verifies the cache", holder);
  qn_status status = qn_file_lock_take(path, PRUNE_BYTE, patience_ns, lock);
  if (status != QN_ERROR_TIMEOUT) return status;
  QN_FAIL(QN_ERROR_TIMEOUT, "'%s' is locked by another process, %s, which prunes, clears or verifies the cache", path,
          holder);
}

/* A disk that is full may have no room for the file of the locks, and is what pruning is wanted for: the directory's own lock
 * needs none. Should one process have the one and another the other, both remove: that costs no more than time. */
static qn_status take_lock(const qn_store *store, uint64_t patience_ns, qn_file_lock *lock) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/locks", store->path) >= (int)sizeof path)
    QN_FAIL(QN_ERROR_LIMIT, "the cache directory's name is too long");
  bool is_long = patience_ns > QN_WAITING_QUIET_NS;
  qn_status status = qn_file_lock_take(path, PRUNE_BYTE, is_long ? QN_WAITING_QUIET_NS : patience_ns, lock);
  if (status == QN_ERROR_TIMEOUT && is_long) return tell_and_wait(path, patience_ns - QN_WAITING_QUIET_NS, lock);
  return status == QN_ERROR_IO ? qn_directory_lock_take(store->path, patience_ns, lock) : status;
}

static qn_status conclude(qn_store *store, const qn_store_kept *kept) {
  QN_LOG(CACHE, "kept %llu entries, %llu bytes; removed %llu entries", (unsigned long long)kept->entries,
         (unsigned long long)kept->bytes, (unsigned long long)kept->removed_entries);
  if (kept->stuck == 0) return QN_OK;
  QN_FAIL(QN_ERROR_IO, "%llu entries of '%s' can't be removed: %s", (unsigned long long)kept->stuck, store->path,
          kept->stuck_reason);
}

static qn_status keep(qn_store *store, upkeep_fn run, const void *user, qn_counter removed_as, uint64_t patience_ns,
                      qn_store_kept *out_kept) {
  qn_file_lock lock;
  qn_counters after;
  upkeep u = {.store = store, .removed_as = removed_as};
  *out_kept = u.kept;
  QN_TRY(check_may_keep(store));
  if (!qn_file_exists(store->path)) return QN_OK;
  QN_TRY(take_lock(store, patience_ns, &lock));
  read_counters(store, &u.before);
  qn_status status = run(&u, user);
  if (status >= 0) {
    sweep(&u);
    (void)qn_store_update(store, settle, &u, u.is_uncounted ? QN_POLL : QN_COUNTERS_SIZE_NS, &after);
    *out_kept = u.kept;
    status = conclude(store, &u.kept);
  }
  qn_file_lock_give(&lock);
  return status;
}

/* ---- Pruning ------------------------------------------------------------------------------------ */

static int by_use(const void *a, const void *b) {
  const qn_store_item *x = a, *y = b;
  if (x->used_ns != y->used_ns) return x->used_ns < y->used_ns ? -1 : 1;
  return memcmp(x->key.bytes, y->key.bytes, QN_KEY_BYTES);
}

/* How much may be there, and how much is left where it is more. */
typedef struct limits {
  uint64_t most, left;
} limits;

static void remove_obstacles(upkeep *u, const item_list *list) {
  for (size_t i = 0; i < list->count && list->obstacles > 0; i++)
    if (list->items[i].is_obstacle) remove_items(u, &list->items[i], 1);
}

/* Those that were used longest ago, until no more is left; what can't be removed makes others go. */
static void remove_oldest(upkeep *u, item_list *list, uint64_t left) {
  size_t at = 0;
  qsort(list->items, list->count, sizeof *list->items, by_use);
  while (at < list->count && u->kept.bytes > left) {
    size_t count = 0;
    for (uint64_t bytes = 0;
         at + count < list->count && u->kept.bytes - bytes > left && !list->items[at + count].is_obstacle; count++)
      bytes += list->items[at + count].file_bytes;
    remove_items(u, &list->items[at], count);
    at += count ? count : 1; /* an obstacle */
  }
}

static qn_status evict(upkeep *u, const void *user) {
  const limits *limit = user;
  item_list list = {0};
  qn_status status = collect_all(u->store, &list);
  u->kept.entries = list.count - list.obstacles;
  u->kept.bytes = list.bytes;
  remove_obstacles(u, &list);
  if (status >= 0 && list.bytes > limit->most) remove_oldest(u, &list, limit->left);
  free(list.items);
  return status;
}

qn_status qn_store_prune(qn_store *store, uint64_t max_bytes, uint64_t patience_ns, qn_store_kept *out_kept) {
  const limits limit = {max_bytes, max_bytes};
  return keep(store, evict, &limit, QN_COUNT_EVICTIONS, patience_ns, out_kept);
}

void qn_store_keep_size(qn_store *store, bool is_counted) {
  enum { ROUNDS = 100 }; /* more only while others store without an end, and they look too */
  uint64_t max = store->settings.max_bytes;
  const limits limit = {max, max - max / 20};
  bool is_over = !is_counted;
  for (int i = 0; i < ROUNDS && max != 0; i++) {
    qn_counters now;
    qn_store_kept kept;
    read_counters(store, &now);
    if (!is_over && now.values[QN_COUNT_BYTES] <= (int64_t)max) return;
    is_over = false;
    if (keep(store, evict, &limit, QN_COUNT_EVICTIONS, QN_POLL, &kept) < 0) return;
  }
}

/* ---- Verifying ---------------------------------------------------------------------------------- */

static bool verify_one(void *user, const qn_store_item *item) {
  upkeep *u = user;
  char path[4096];
  qn_bytes file = {0}, body = {0};
  if (item->is_obstacle) {
    remove_items(u, item, 1);
    return true;
  }
  u->kept.entries++;
  u->kept.bytes += item->file_bytes;
  if (!qn_store_entry_path(u->store, &item->key, item->kind, path, sizeof path)) return true;
  qn_status status = qn_file_read(path, QN_ENTRY_BODY_LIMIT, &file);
  qn_entry_fault fault = QN_ENTRY_SOUND; /* one that can't be read just now is not known to be damaged */
  if (status >= 0) fault = qn_entry_unpack(qn_bytes_view(&file), &item->key, item->kind, &body);
  if (fault != QN_ENTRY_SOUND && fault != QN_ENTRY_NO_MEMORY) remove_items(u, item, 1);
  qn_bytes_free(&file);
  qn_bytes_free(&body);
  return true;
}

static qn_status verify_all(upkeep *u, const void *user) {
  (void)user;
  return qn_store_walk(u->store, verify_one, u);
}

qn_status qn_store_verify(qn_store *store, qn_store_kept *out_kept) {
  return keep(store, verify_all, NULL, QN_COUNT_MISSES_DAMAGED, QN_STORE_PATIENCE_NS, out_kept);
}

/* ---- Clearing ----------------------------------------------------------------------------------- */

qn_status qn_store_clear(qn_store *store, qn_store_kept *out_kept) {
  const limits nothing = {0, 0};
  return keep(store, evict, &nothing, QN_COUNT_CLEARED, QN_STORE_PATIENCE_NS, out_kept);
}
