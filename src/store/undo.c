#include "store/undo.h"

#include <string.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/pack.h"
#include "base/status.h"
#include "store/key.h"

/* "QNUNDO1\n", then as base/pack.h has it the file's inode, name, old bytes and new ones; a hash over all that. */
static const char magic[8] = "QNUNDO1\n";

typedef struct record {
  uint64_t inode;
  qn_sv name, old_bytes, new_bytes;
} record;

static void hash_of(qn_sv bytes, qn_key *out) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_sv(&maker, bytes);
  qn_key_end(&maker, out);
}

static qn_status pack(const qn_place *place, const char *name, qn_sv bytes, qn_bytes *out) {
  qn_bytes old_bytes = {0};
  qn_place_id id;
  qn_key sum;
  QN_TRY(qn_place_look(place, name, &id));
  qn_status status = qn_place_read(place, name, &old_bytes);
  qn_bytes_append(out, magic, sizeof magic);
  qn_pack_u64(out, id.inode);
  qn_pack_text(out, qn_sv_from(name));
  qn_pack_text(out, qn_bytes_view(&old_bytes));
  qn_pack_text(out, bytes);
  hash_of(qn_bytes_view(out), &sum);
  qn_bytes_append(out, sum.bytes, sizeof sum.bytes);
  qn_bytes_free(&old_bytes);
  if (status >= 0 && out->failed) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to keep '%s/%s'", place->path, name);
  return status;
}

qn_status qn_undo_record(const qn_place *place, const char *name, qn_sv bytes, char out_record[QN_PLACE_NAME]) {
  qn_bytes packed = {0};
  qn_status status = pack(place, name, bytes, &packed);
  if (status >= 0) status = qn_place_write_undo(place, name, qn_bytes_view(&packed), out_record);
  qn_bytes_free(&packed);
  return status;
}

/* Views into `bytes`. False: no record, or not a whole one. */
static bool unpack(qn_sv bytes, record *out) {
  qn_key sum;
  if (bytes.size < sizeof magic + QN_KEY_BYTES || memcmp(bytes.data, magic, sizeof magic) != 0) return false;
  size_t size = bytes.size - QN_KEY_BYTES;
  hash_of(qn_sv_make(bytes.data, size), &sum);
  if (memcmp(sum.bytes, bytes.data + size, QN_KEY_BYTES) != 0) return false;
  qn_unpack from = qn_unpack_from(qn_sv_make(bytes.data + sizeof magic, size - sizeof magic));
  out->inode = qn_unpack_u64(&from);
  out->name = qn_unpack_text(&from);
  out->old_bytes = qn_unpack_text(&from);
  out->new_bytes = qn_unpack_text(&from);
  return qn_unpack_is_done(&from) && out->name.size > 0 && out->name.size < 256 &&
         !memchr(out->name.data, '/', out->name.size);
}

/* ---- One of this process ------------------------------------------------------------------------ */

static void copy_name(const record *r, char out[256]) {
  memcpy(out, r->name.data, r->name.size);
  out[r->name.size] = '\0';
}

qn_status qn_undo_restore(const qn_place *place, const char *name) {
  qn_bytes packed = {0};
  record r;
  char file[256];
  QN_TRY(qn_place_read(place, name, &packed));
  qn_status status = unpack(qn_bytes_view(&packed), &r) ? QN_OK : QN_ERROR_DATA;
  if (status < 0) status = qn_error_set(QN_ERROR_DATA, "'%s/%s' is damaged", place->path, name);
  if (status >= 0) {
    copy_name(&r, file);
    status = qn_place_overwrite(place, file, r.old_bytes);
  }
  qn_bytes_free(&packed);
  return status;
}

/* ---- Those of dead ones ------------------------------------------------------------------------- */

/* What the dead one may have left of a byte, or the disk of a machine that went down. */
static bool is_possible(const record *r, size_t at, char byte) {
  if (at < r->new_bytes.size && byte == r->new_bytes.data[at]) return true;
  if (at < r->old_bytes.size && byte == r->old_bytes.data[at]) return true;
  return byte == 0;
}

static bool is_torn(const record *r, qn_sv now) {
  size_t longest = r->old_bytes.size > r->new_bytes.size ? r->old_bytes.size : r->new_bytes.size;
  if (now.size > longest) return false;
  for (size_t i = 0; i < now.size; i++)
    if (!is_possible(r, i, now.data[i])) return false;
  return true;
}

typedef enum outcome { WHOLE, PUT_BACK, STAYS } outcome;

static outcome recover_file(const qn_place *place, const record *r) {
  char file[256];
  qn_place_id id;
  qn_bytes now = {0};
  copy_name(r, file);
  if (qn_place_look(place, file, &id) < 0 || !id.is_regular || id.inode != r->inode) return STAYS; /* unmounted, say */
  outcome result = STAYS;
  if (qn_place_read(place, file, &now) >= 0) {
    qn_sv view = qn_bytes_view(&now);
    bool is_left_alone = qn_sv_equal(view, r->new_bytes) || qn_sv_equal(view, r->old_bytes) || !is_torn(r, view);
    if (is_left_alone)
      result = WHOLE;
    else if (qn_place_overwrite(place, file, r->old_bytes) >= 0)
      result = PUT_BACK;
  }
  qn_bytes_free(&now);
  if (result == PUT_BACK)
    QN_LOG(CACHE, "'%s/%s' was torn by a killed build; its old bytes are back", place->path, file);
  return result;
}

typedef struct recoverer {
  const qn_place *place;
  bool has_left;
} recoverer;

static void recover_one(void *user, const char *name, qn_place_use use) {
  recoverer *re = user;
  if (use == QN_PLACE_TEMPORARY) {
    (void)!qn_place_remove(re->place, name);
    return;
  }
  qn_bytes packed = {0};
  record r;
  outcome result = STAYS;
  if (qn_place_read(re->place, name, &packed) >= 0) {
    bool is_whole = unpack(qn_bytes_view(&packed), &r); /* else nothing was changed yet */
    result = is_whole ? recover_file(re->place, &r) : WHOLE;
    if (result != STAYS) (void)!qn_place_remove(re->place, name);
  }
  re->has_left |= result == STAYS;
  qn_bytes_free(&packed);
}

bool qn_undo_recover(const qn_place *place) {
  qn_error_saved saved;
  recoverer re = {place, false};
  qn_error_save(&saved);
  qn_place_each_left(place, recover_one, &re);
  qn_error_restore(&saved);
  return re.has_left;
}

/* ---- Those that are of no use ------------------------------------------------------------------- */

typedef struct forgetter {
  const qn_place *place;
  const char *file;
} forgetter;

static void forget_one(void *user, const char *name, qn_place_use use) {
  const forgetter *f = user;
  if (use != QN_PLACE_UNDO) return;
  qn_bytes packed = {0};
  record r;
  bool is_of_file =
      qn_place_read(f->place, name, &packed) >= 0 && unpack(qn_bytes_view(&packed), &r) && qn_sv_is(r.name, f->file);
  qn_bytes_free(&packed);
  if (is_of_file) (void)!qn_place_remove(f->place, name);
}

void qn_undo_forget(const qn_place *place, const char *name) {
  qn_error_saved saved;
  forgetter f = {place, name};
  qn_error_save(&saved);
  qn_place_each_left(place, forget_one, &f);
  qn_error_restore(&saved);
}
