/* cache.c - quern_build.h: looking after the store. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/os/files.h"
#include "base/status.h"
#include "core/exit.h"
#include "core/options.h"
#include "quern/quern_build.h"
#include "store/keep.h"
#include "store/transfer.h"

/* ---- What it is --------------------------------------------------------------------------------- */

static qn_status query(qn_cache_info *out_info) {
  static const char *const modes[] = {"write", "read", "recache", "off"};
  qn_store *store = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(qn_store_default(&store));
  qn_cache_info info = {
      .struct_size = sizeof info, .counter_count = QN_COUNTER_COUNT, .max_bytes = store->settings.max_bytes};
  CORE_TEXT_COPY(info.directory, store->path);
  CORE_TEXT_COPY(info.mode, modes[store->settings.mode]);
  CORE_TEXT_COPY(info.reason, store->reason);
  CORE_INFO_WRITE(out_info, &info);
  return QN_OK;
}

qn_status qn_cache_query(qn_cache_info *out_info) { CORE_CALL(query(out_info)); }

static qn_status counter(uint32_t index, const char **out_name, const char **out_text, int64_t *out_value) {
  qn_store *store = NULL;
  qn_counters counters = {0};
  char path[4096];
  if (!out_name || !out_text || !out_value)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is NULL", !out_name ? "out_name" : !out_text ? "out_text" : "out_value");
  if (index >= QN_COUNTER_COUNT)
    QN_FAIL(QN_ERROR_NOT_FOUND, "index is %u; there are %d counters", index, QN_COUNTER_COUNT);
  QN_TRY(qn_store_default(&store));
  *out_name = qn_counter_name((qn_counter)index);
  *out_text = qn_counter_text((qn_counter)index);
  snprintf(path, sizeof path, "%s/counters", store->path);
  if (store->path[0] && qn_file_exists(path)) QN_TRY(qn_counters_read(path, &counters));
  *out_value = counters.values[index];
  return QN_OK;
}

qn_status qn_cache_counter(uint32_t index, const char **out_name, const char **out_text, int64_t *out_value) {
  CORE_CALL(counter(index, out_name, out_text, out_value));
}

static qn_status summarize(qn_cache_summary *out_summary) {
  qn_store *store = NULL;
  qn_store_summary s;
  QN_TRY(core_info_check(out_summary, "out_summary"));
  QN_TRY(qn_store_default(&store));
  QN_TRY(qn_store_summarize(store, &s));
  qn_cache_summary summary = {.struct_size = sizeof summary,
                              .programs = s.kinds[QN_ENTRY_PROGRAM].entries,
                              .program_bytes = s.kinds[QN_ENTRY_PROGRAM].bytes,
                              .manifests = s.kinds[QN_ENTRY_MANIFEST].entries,
                              .manifest_bytes = s.kinds[QN_ENTRY_MANIFEST].bytes,
                              .artifacts = s.kinds[QN_ENTRY_ARTIFACT].entries,
                              .artifact_bytes = s.kinds[QN_ENTRY_ARTIFACT].bytes,
                              .oldest_ns = s.oldest_ns,
                              .newest_ns = s.newest_ns};
  for (size_t i = 0; i < sizeof s.kinds / sizeof *s.kinds; i++) {
    summary.entries += s.kinds[i].entries;
    summary.bytes += s.kinds[i].bytes;
  }
  CORE_INFO_WRITE(out_summary, &summary);
  return QN_OK;
}

qn_status qn_cache_summarize(qn_cache_summary *out_summary) { CORE_CALL(summarize(out_summary)); }

/* ---- What is in it ------------------------------------------------------------------------------ */

typedef struct lister {
  qn_store *store;
  qn_cache_visit_fn visit;
  void *user;
} lister;

static void read_head(qn_store *store, const qn_store_item *item, qn_entry_info *out) {
  char path[4096], head[QN_ENTRY_HEADER_BYTES + QN_ENTRY_LABEL_LIMIT];
  size_t size = 0;
  *out = (qn_entry_info){0};
  if (!qn_store_entry_path(store, &item->key, item->kind, path, sizeof path)) return;
  if (qn_file_read_head(path, head, sizeof head, &size) >= 0) (void)qn_entry_look(qn_sv_make(head, size), out);
}

static bool list_one(void *user, const qn_store_item *item) {
  static const char *const kinds[] = {"", "program", "manifest", "artifact"};
  if (item->is_obstacle) return true;
  const lister *l = user;
  qn_entry_info info;
  read_head(l->store, item, &info);
  qn_cache_entry entry = {.struct_size = sizeof entry,
                          .whole_label = info.label,
                          .raw_bytes = info.raw_bytes,
                          .file_bytes = item->file_bytes,
                          .used_ns = item->used_ns};
  qn_key_print(&item->key, entry.key, sizeof entry.key);
  CORE_TEXT_COPY(entry.label, info.label);
  CORE_TEXT_COPY(entry.kind, item->kind < 4 ? kinds[item->kind] : "?");
  return l->visit(l->user, &entry) == 0;
}

static qn_status list(qn_cache_visit_fn visit, void *user) {
  lister l = {.visit = visit, .user = user};
  if (!visit) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "visit is NULL");
  QN_TRY(qn_store_default(&l.store));
  return qn_store_walk(l.store, list_one, &l);
}

qn_status qn_cache_list(qn_cache_visit_fn visit, void *user) { CORE_CALL(list(visit, user)); }

/* ---- Upkeep ------------------------------------------------------------------------------------- */

static qn_status write_result(const qn_store_kept *kept, qn_cache_result *out) {
  const qn_cache_result result = {.struct_size = sizeof result,
                                  .entries = kept->entries,
                                  .bytes = kept->bytes,
                                  .removed_entries = kept->removed_entries,
                                  .removed_bytes = kept->removed_bytes,
                                  .swept = kept->swept};
  CORE_INFO_WRITE(out, &result);
  return QN_OK;
}

static qn_status verify(qn_cache_result *out_result) {
  qn_store *store = NULL;
  qn_store_kept kept;
  QN_TRY(core_info_check(out_result, "out_result"));
  QN_TRY(qn_store_default(&store));
  QN_TRY(qn_store_verify(store, &kept));
  return write_result(&kept, out_result);
}

qn_status qn_cache_verify(qn_cache_result *out_result) { CORE_CALL(verify(out_result)); }

static qn_status prune(uint64_t max_bytes, qn_cache_result *out_result) {
  qn_store *store = NULL;
  qn_store_kept kept;
  QN_TRY(core_info_check(out_result, "out_result"));
  QN_TRY(qn_store_default(&store));
  uint64_t limit = store->settings.max_bytes ? store->settings.max_bytes : UINT64_MAX;
  QN_TRY(qn_store_prune(store, max_bytes == QN_WHOLE ? limit : max_bytes, QN_STORE_PATIENCE_NS, &kept));
  return write_result(&kept, out_result);
}

qn_status qn_cache_prune(uint64_t max_bytes, qn_cache_result *out_result) { CORE_CALL(prune(max_bytes, out_result)); }

static qn_status clear(qn_cache_result *out_result) {
  qn_store *store = NULL;
  qn_store_kept kept;
  QN_TRY(core_info_check(out_result, "out_result"));
  QN_TRY(qn_store_default(&store));
  QN_TRY(qn_store_clear(store, &kept));
  return write_result(&kept, out_result);
}

qn_status qn_cache_clear(qn_cache_result *out_result) { CORE_CALL(clear(out_result)); }

static qn_status read_size(const char *text, uint64_t *out_bytes) {
  if (!text) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "text is NULL");
  if (!out_bytes) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_bytes is NULL");
  return qn_size_parse(qn_sv_from(text), out_bytes);
}

qn_status qn_cache_size(const char *text, uint64_t *out_bytes) { CORE_CALL(read_size(text, out_bytes)); }

/* ---- To other machines -------------------------------------------------------------------------- */

static qn_status export_to(const char *path, const char *const *names, uint32_t count, uint64_t *out_entries) {
  qn_store *store = NULL;
  if (!path) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "path is NULL");
  if (!out_entries) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_entries is NULL");
  if (count > 0 && !names) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "names is NULL");
  for (uint32_t i = 0; i < count; i++)
    if (!names[i]) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "names[%u] is NULL", i);
  QN_TRY(qn_store_default(&store));
  return qn_store_export(store, path, names, count, out_entries);
}

qn_status qn_cache_export(const char *path, const char *const *names, uint32_t count, uint64_t *out_entries) {
  CORE_CALL(export_to(path, names, count, out_entries));
}

static qn_status import_from(const char *path, uint64_t *out_entries) {
  qn_store *store = NULL;
  if (!path) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "path is NULL");
  if (!out_entries) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_entries is NULL");
  QN_TRY(qn_store_default(&store));
  return qn_store_import(store, path, out_entries);
}

qn_status qn_cache_import(const char *path, uint64_t *out_entries) { CORE_CALL(import_from(path, out_entries)); }
