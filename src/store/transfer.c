#include "store/transfer.h"

#include <string.h>

#include "base/log.h"
#include "base/os/files.h"
#include "base/pack.h"
#include "base/status.h"
#include "store/keep.h"

static const char magic[8] = "QNSTORE1";
enum { SHORTEST_PREFIX = 8 };
static const uint64_t file_limit = UINT64_C(1) << 34;

/* ---- Export ------------------------------------------------------------------------------------- */

typedef struct exporter {
  qn_store *store;
  const char *const *names;
  uint32_t count;
  uint64_t found[64]; /* a bit a name that has named something */
  uint64_t entries;
  qn_bytes out;
} exporter;

static bool is_named(const char *name, const char *digits, const char *label) {
  size_t length = strlen(name);
  /* An entry has no more of a label than it has room for. */
  return strncmp(name, label, QN_ENTRY_LABEL_LIMIT - 1) == 0 ||
         (length >= SHORTEST_PREFIX && strncmp(name, digits, length) == 0);
}

static bool is_wanted(exporter *e, const qn_store_item *item, const char *label) {
  char digits[QN_KEY_BYTES * 2 + 1];
  bool wanted = e->count == 0;
  qn_key_print(&item->key, digits, sizeof digits);
  for (uint32_t i = 0; i < e->count; i++) {
    if (!is_named(e->names[i], digits, label)) continue;
    e->found[i / 64] |= UINT64_C(1) << (i % 64);
    wanted = true;
  }
  return wanted;
}

static bool export_one(void *user, const qn_store_item *item) {
  exporter *e = user;
  if (item->is_obstacle) return true;
  char path[4096];
  qn_bytes file = {0};
  qn_entry_info info;
  if (!qn_store_entry_path(e->store, &item->key, item->kind, path, sizeof path)) return true;
  bool sound = qn_file_read(path, file_limit, &file) >= 0 &&
               qn_entry_unpack(qn_bytes_view(&file), &item->key, item->kind, NULL) == QN_ENTRY_SOUND &&
               qn_entry_look(qn_bytes_view(&file), &info);
  if (sound && is_wanted(e, item, info.label)) {
    qn_pack_text(&e->out, qn_bytes_view(&file));
    e->entries++;
  }
  qn_bytes_free(&file);
  return !e->out.failed;
}

static qn_status check_found(const exporter *e) {
  for (uint32_t i = 0; i < e->count; i++)
    if (!(e->found[i / 64] >> (i % 64) & 1))
      QN_FAIL(QN_ERROR_NOT_FOUND, "'%s' names no entry: a key's first %d digits or more, or a label, is wanted",
              e->names[i], SHORTEST_PREFIX);
  return QN_OK;
}

static void add_checksum(qn_bytes *out) {
  qn_key_maker maker;
  qn_key sum;
  qn_key_start(&maker);
  qn_key_add_sv(&maker, qn_bytes_view(out));
  qn_key_end(&maker, &sum);
  qn_bytes_append(out, sum.bytes, QN_KEY_BYTES);
}

qn_status qn_store_export(qn_store *store, const char *path, const char *const *names, uint32_t count,
                          uint64_t *out_entries) {
  exporter e = {.store = store, .names = names, .count = count};
  if (store->settings.mode == QN_STORE_OFF)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "the cache is off%s%s", store->reason[0] ? ": " : "", store->reason);
  if (count > 64 * 64) QN_FAIL(QN_ERROR_LIMIT, "%u names are more than %d", count, 64 * 64);
  qn_bytes_append(&e.out, magic, sizeof magic);
  qn_status status = qn_store_walk(store, export_one, &e);
  if (status >= 0) status = check_found(&e);
  add_checksum(&e.out);
  if (status >= 0 && e.out.failed) status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the entries");
  if (status >= 0) status = qn_file_write(path, e.out.data, e.out.size);
  qn_bytes_free(&e.out);
  if (status >= 0) *out_entries = e.entries;
  return status;
}

/* ---- Import ------------------------------------------------------------------------------------- */

static qn_status bad(const char *path, const char *why) {
  QN_FAIL(QN_ERROR_DATA, "'%s' can't be imported: %s", path, why);
}

/* The entries' part of a file that is whole. */
static qn_status check_file(const char *path, qn_sv file, qn_sv *out_entries) {
  qn_key_maker maker;
  qn_key sum;
  if (file.size < sizeof magic + QN_KEY_BYTES || memcmp(file.data, magic, sizeof magic) != 0)
    return bad(path, "it was not made by `quern cache export`");
  size_t size = file.size - QN_KEY_BYTES;
  qn_key_start(&maker);
  qn_key_add(&maker, file.data, size);
  qn_key_end(&maker, &sum);
  if (memcmp(sum.bytes, file.data + size, QN_KEY_BYTES) != 0) return bad(path, "it is damaged or cut off");
  *out_entries = qn_sv_make(file.data + sizeof magic, size - sizeof magic);
  return QN_OK;
}

static qn_status check_entries(const char *path, qn_sv entries, uint64_t *out_count, uint64_t *out_bytes) {
  qn_unpack from = qn_unpack_from(entries);
  *out_count = *out_bytes = 0;
  while (from.rest.size > 0 && !from.failed) {
    qn_sv entry = qn_unpack_text(&from);
    qn_entry_info info;
    qn_bytes body = {0};
    bool sound = !from.failed && qn_entry_look(entry, &info) &&
                 qn_entry_unpack(entry, &info.key, info.kind, &body) == QN_ENTRY_SOUND;
    qn_bytes_free(&body);
    if (!sound) return bad(path, "one of its entries is damaged or of another version");
    ++*out_count;
    *out_bytes += entry.size;
  }
  return from.failed ? bad(path, "it makes no sense") : QN_OK;
}

/* What would be evicted at once is not taken in. */
static qn_status check_size(const qn_store *store, const char *path, uint64_t bytes) {
  uint64_t max = store->settings.max_bytes;
  if (max == 0 || bytes <= max) return QN_OK;
  QN_FAIL(QN_ERROR_LIMIT,
          "'%s' can't be imported: its entries have %llu bytes, and the cache may have %llu; QUERN_CACHE_MAX_SIZE sets "
          "that, and "
          "`quern cache export FILE KEY...` takes some of the entries",
          path, (unsigned long long)bytes, (unsigned long long)max);
}

/* The size is kept when all are there: what goes then is older than every one of them. */
static void keep_size(qn_store *store, uint64_t bytes) {
  qn_store_kept kept;
  qn_error_saved saved;
  uint64_t max = store->settings.max_bytes;
  if (max == 0 || bytes <= max) return;
  qn_error_save(&saved);
  if (qn_store_prune(store, max, QN_STORE_PATIENCE_NS, &kept) < 0) QN_LOG(CACHE, "not pruned: %s", qn_error_text());
  qn_error_restore(&saved);
}

static qn_status store_entries(qn_store *store, qn_sv entries) {
  uint64_t bytes = 0;
  qn_unpack from = qn_unpack_from(entries);
  while (from.rest.size > 0) {
    qn_sv entry = qn_unpack_text(&from);
    qn_entry_info info;
    if (from.failed || !qn_entry_look(entry, &info)) break;
    QN_TRY(qn_store_publish(store, &info.key, info.kind, entry, QN_COUNT_IMPORTS, &bytes));
  }
  keep_size(store, bytes);
  return QN_OK;
}

qn_status qn_store_import(qn_store *store, const char *path, uint64_t *out_entries) {
  qn_bytes file = {0};
  qn_sv entries = {0};
  uint64_t count = 0, bytes = 0;
  if (store->settings.mode == QN_STORE_OFF || store->settings.mode == QN_STORE_READ)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "nothing may be written to the cache%s%s", store->reason[0] ? ": " : "",
            store->reason);
  qn_status status = qn_file_read(path, file_limit, &file);
  if (status >= 0) status = check_file(path, qn_bytes_view(&file), &entries);
  if (status >= 0) status = check_entries(path, entries, &count, &bytes);
  if (status >= 0) status = check_size(store, path, bytes);
  if (status >= 0) status = store_entries(store, entries);
  qn_bytes_free(&file);
  if (status >= 0) *out_entries = count;
  return status;
}
