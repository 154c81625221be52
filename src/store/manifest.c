#include "store/manifest.h"

#include <string.h>

#include "base/os/files.h"
#include "base/pack.h"
#include "base/status.h"

enum { VERSION = 1, MOST_RESULTS = 8, FILE_BYTES = 8 + 4 + QN_KEY_BYTES, RESULT_BYTES = QN_KEY_BYTES + 4 + 8 };
static const uint64_t file_limit = UINT64_C(1) << 30;

static void hash_of(qn_sv text, qn_key *out) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_sv(&maker, text);
  qn_key_end(&maker, out);
}

static void pack_hash(qn_bytes *out, const qn_key *hash) { qn_bytes_append(out, hash->bytes, QN_KEY_BYTES); }

static void unpack_hash(qn_unpack *from, qn_key *out) {
  for (int i = 0; i < QN_KEY_BYTES; i += 4) {
    uint32_t part = qn_unpack_u32(from);
    for (int j = 0; j < 4; j++) out->bytes[i + j] = (unsigned char)(part >> (8 * j));
  }
}

/* ---- Seeing ------------------------------------------------------------------------------------- */

/* What has been seen before, in the same state: a source may be compiled for several models. */
static bool is_known(const qn_manifest *m, qn_sv path, bool found, const qn_key *hash) {
  qn_unpack from = qn_unpack_from(qn_bytes_view(&m->files));
  for (uint32_t i = 0; i < m->count && !from.failed; i++) {
    qn_key other;
    qn_sv seen = qn_unpack_text(&from);
    bool was_found = qn_unpack_u32(&from) != 0;
    unpack_hash(&from, &other);
    if (was_found == found && qn_sv_equal(seen, path) && memcmp(other.bytes, hash->bytes, QN_KEY_BYTES) == 0)
      return true;
  }
  return false;
}

void qn_manifest_saw(void *manifest, const char *path, bool found, qn_sv text) {
  qn_manifest *m = manifest;
  qn_key hash = {{0}};
  if (found) hash_of(text, &hash);
  if (is_known(m, qn_sv_from(path), found, &hash)) return;
  qn_pack_text(&m->files, qn_sv_from(path));
  qn_pack_u32(&m->files, found);
  pack_hash(&m->files, &hash);
  m->count++;
}

void qn_manifest_free(qn_manifest *manifest) {
  qn_bytes_free(&manifest->files);
  *manifest = (qn_manifest){0};
}

/* ---- One result --------------------------------------------------------------------------------- */

typedef struct result {
  qn_key key;
  qn_sv files, own;
  uint32_t file_count;
} result;

static result unpack_result(qn_unpack *from) {
  result r = {0};
  unpack_hash(from, &r.key);
  r.file_count = qn_unpack_u32(from);
  r.files = qn_unpack_text(from);
  r.own = qn_unpack_text(from);
  return r;
}

static void pack_result(qn_bytes *out, const result *r) {
  pack_hash(out, &r->key);
  qn_pack_u32(out, r->file_count);
  qn_pack_text(out, r->files);
  qn_pack_text(out, r->own);
}

static bool is_as_it_was(qn_arena *arena, qn_unpack *from) {
  qn_key expected, now;
  const char *path = qn_unpack_string(from, arena);
  bool found = qn_unpack_u32(from) != 0;
  unpack_hash(from, &expected);
  if (from->failed) return false;
  if (!found) return !qn_file_exists(path);
  qn_bytes text = {0};
  bool same = qn_file_read(path, file_limit, &text) >= 0;
  if (same) hash_of(qn_bytes_view(&text), &now);
  qn_bytes_free(&text);
  return same && memcmp(now.bytes, expected.bytes, QN_KEY_BYTES) == 0;
}

static bool holds_now(const result *r) {
  qn_arena arena;
  qn_unpack files = qn_unpack_from(r->files);
  bool holds = true;
  qn_arena_init(&arena, 0);
  for (uint32_t i = 0; i < r->file_count && holds; i++) holds = is_as_it_was(&arena, &files);
  qn_arena_free(&arena);
  return holds && qn_unpack_is_done(&files);
}

/* ---- Manifests ---------------------------------------------------------------------------------- */

/* The number of results; `from` stands at the first one. */
static uint32_t unpack_head(qn_unpack *from) {
  if (qn_unpack_u32(from) != VERSION) from->failed = true;
  uint32_t count = qn_unpack_count(from, RESULT_BYTES);
  if (count > MOST_RESULTS) from->failed = true;
  return from->failed ? 0 : count;
}

static bool is_same_result(const result *a, const result *b) {
  return qn_sv_equal(a->files, b->files) && a->file_count == b->file_count;
}

static void append_older(qn_bytes *out, qn_sv old, const result *newest, uint32_t *count) {
  qn_unpack from = qn_unpack_from(old);
  uint32_t results = unpack_head(&from);
  for (uint32_t i = 0; i < results && *count < MOST_RESULTS; i++) {
    result r = unpack_result(&from);
    if (from.failed || is_same_result(&r, newest)) continue;
    pack_result(out, &r);
    ++*count;
  }
}

void qn_manifest_put(qn_store *store, const qn_key *lookup, const char *label, const qn_manifest *seen,
                     const qn_key *key, qn_sv own) {
  qn_bytes old = {0}, results = {0}, all = {0};
  const result newest = {.key = *key, .files = qn_bytes_view(&seen->files), .own = own, .file_count = seen->count};
  uint32_t count = 1;
  if (seen->files.failed) return;
  (void)qn_store_look(store, lookup, QN_ENTRY_MANIFEST, &old);
  pack_result(&results, &newest);
  append_older(&results, qn_bytes_view(&old), &newest, &count);
  qn_pack_u32(&all, VERSION);
  qn_pack_u32(&all, count);
  qn_bytes_append_sv(&all, qn_bytes_view(&results));
  if (!results.failed && !all.failed) qn_store_put(store, lookup, QN_ENTRY_MANIFEST, label, qn_bytes_view(&all));
  qn_bytes_free(&old);
  qn_bytes_free(&results);
  qn_bytes_free(&all);
}

static bool take_result(const result *r, qn_key *out_result, qn_bytes *out_own, qn_manifest *out_seen) {
  *out_result = r->key;
  qn_bytes_append_sv(out_own, r->own);
  if (out_seen) {
    qn_bytes_append_sv(&out_seen->files, r->files);
    out_seen->count = r->file_count;
  }
  return !out_own->failed && (!out_seen || !out_seen->files.failed);
}

/* The first result that holds. */
static bool find_result(qn_unpack *from, qn_key *out_result, qn_bytes *out_own, qn_manifest *out_seen) {
  uint32_t count = unpack_head(from);
  for (uint32_t i = 0; i < count; i++) {
    result r = unpack_result(from);
    if (!from->failed && holds_now(&r)) return take_result(&r, out_result, out_own, out_seen);
  }
  return false;
}

static qn_store_answer look_into(qn_sv bytes, qn_key *out_result, qn_bytes *out_own, qn_manifest *out_seen) {
  qn_error_saved saved;
  qn_unpack from = qn_unpack_from(bytes);
  qn_error_save(&saved);
  bool is_found = find_result(&from, out_result, out_own, out_seen);
  qn_error_restore(&saved);
  return is_found ? QN_STORE_HIT : from.failed ? QN_STORE_DAMAGED : QN_STORE_STALE;
}

qn_store_answer qn_manifest_get(qn_store *store, const qn_key *lookup, qn_key *out_result, qn_bytes *out_own,
                                qn_manifest *out_seen) {
  qn_bytes bytes = {0};
  qn_store_answer answer = qn_store_look(store, lookup, QN_ENTRY_MANIFEST, &bytes);
  if (answer == QN_STORE_HIT) answer = look_into(qn_bytes_view(&bytes), out_result, out_own, out_seen);
  qn_bytes_free(&bytes);
  return answer;
}

void qn_manifest_list(const qn_manifest *seen, qn_bytes *out) {
  qn_unpack from = qn_unpack_from(qn_bytes_view(&seen->files));
  qn_key hash;
  for (uint32_t i = 0; i < seen->count && !from.failed; i++) {
    qn_sv path = qn_unpack_text(&from);
    bool found = qn_unpack_u32(&from) != 0;
    unpack_hash(&from, &hash);
    if (found && !from.failed) qn_bytes_printf(out, "%.*s\n", QN_SV_ARG(path));
  }
}
