#include "store/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/os/files.h"
#include "base/os/replace.h"
#include "base/status.h"
#include "store/undo.h"

/* One output on its way. */
typedef struct move {
  qn_output_file *output;
  qn_place *place;            /* of the transaction's */
  char staged[QN_PLACE_NAME]; /* "": none, or in its place */
  char kept[QN_PLACE_NAME];   /* the old file's second name; "": there was none */
  char record[QN_PLACE_NAME]; /* not renamed but overwritten: what it held (undo.h); else "" */
  qn_place_id old, put;       /* what was there; what was put there */
  bool is_put;
} move;

typedef struct transaction {
  qn_place *places; /* each directory once, in the order of their locks */
  uint32_t place_count;
  move *moves;
  uint32_t count;
  bool touch;
} transaction;

/* ---- Names -------------------------------------------------------------------------------------- */

static qn_status check_names(const qn_output_file *outputs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const char *name = outputs[i].name;
    if (!name || !name[0] || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "'%s' is no name for an output: a file's name without '/' is wanted",
              name ? name : "");
  }
  return QN_OK;
}

static qn_status check_doubles(const transaction *t) {
  for (uint32_t i = 0; i < t->count; i++)
    for (uint32_t j = 0; j < i; j++)
      if (t->moves[i].place == t->moves[j].place && strcmp(t->moves[i].output->name, t->moves[j].output->name) == 0)
        QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "two outputs have the name '%s'", t->moves[i].output->name);
  return QN_OK;
}

/* ---- Directories -------------------------------------------------------------------------------- */

static qn_status make_directory(const char *directory) {
  qn_file_info info;
  if (qn_file_exists(directory)) {
    QN_TRY(qn_file_query(directory, &info));
    if (info.is_directory) return QN_OK;
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "the output directory '%s' is not a directory", directory);
  }
  return qn_directory_make(directory);
}

static qn_place *find_place(const transaction *t, const qn_place *like) {
  for (uint32_t i = 0; i < t->place_count; i++)
    if (qn_place_order(&t->places[i], like) == 0) return &t->places[i];
  return NULL;
}

/* A directory may have several names. */
static qn_status open_place(transaction *t, const char *directory) {
  qn_place place;
  for (uint32_t i = 0; i < t->place_count; i++)
    if (strcmp(t->places[i].path, directory) == 0) return QN_OK;
  QN_TRY(make_directory(directory));
  QN_TRY(qn_place_open(directory, &place));
  if (find_place(t, &place)) {
    qn_place_close(&place);
    return QN_OK;
  }
  t->places[t->place_count++] = place;
  return QN_OK;
}

static int by_order(const void *a, const void *b) { return qn_place_order(a, b); }

/* Where the output's own directory leads, now that all are open. */
static qn_status find_own_place(const transaction *t, const char *directory, move *m) {
  qn_place place;
  for (uint32_t i = 0; i < t->place_count && !m->place; i++)
    if (strcmp(t->places[i].path, directory) == 0) m->place = &t->places[i];
  if (m->place) return QN_OK;
  QN_TRY(qn_place_open(directory, &place));
  m->place = find_place(t, &place);
  qn_place_close(&place);
  if (!m->place) QN_FAIL(QN_ERROR_IO, "'%s' was replaced by another directory meanwhile", directory);
  return QN_OK;
}

static const char *directory_of(const qn_output_file *output, const char *usual) {
  return output->directory ? output->directory : usual;
}

static qn_status open_places(transaction *t, const char *directory, uint64_t patience_ns) {
  QN_TRY(open_place(t, directory));
  for (uint32_t i = 0; i < t->count; i++) QN_TRY(open_place(t, directory_of(t->moves[i].output, directory)));
  qsort(t->places, t->place_count, sizeof *t->places, by_order);
  for (uint32_t i = 0; i < t->count; i++)
    QN_TRY(find_own_place(t, directory_of(t->moves[i].output, directory), &t->moves[i]));
  QN_TRY(check_doubles(t));
  for (uint32_t i = 0; i < t->place_count; i++) QN_TRY(qn_place_lock(&t->places[i], patience_ns));
  return QN_OK;
}

/* ---- There -------------------------------------------------------------------------------------- */

/* A device or a pipe is not for us to remove; a directory that is in the way is told by the system. */
static qn_status check_kind(const move *m) {
  if (!m->old.is_there || m->old.is_regular || m->old.is_link || m->old.is_directory) return QN_OK;
  QN_FAIL(QN_ERROR_IO, "'%s/%s' can't be replaced: it is a device or a pipe, not a file", m->place->path,
          m->output->name);
}

/* Stages what differs from what is there. */
static qn_status stage(move *m) {
  qn_output_file *output = m->output;
  if (qn_place_has(m->place, output->name, output->bytes)) {
    output->state = QN_OUTPUT_STATE_SAME;
    return QN_OK;
  }
  QN_TRY(qn_place_look(m->place, output->name, &m->old));
  QN_TRY(check_kind(m));
  if (m->old.is_regular) QN_TRY(qn_place_check_replaceable(m->place, output->name));
  return qn_place_stage(m->place, output->name, output->bytes, m->staged, &m->put);
}

static qn_status overwrite(move *m) {
  QN_TRY(qn_place_check_writable(m->place, m->output->name)); /* or there is nothing to undo */
  QN_TRY(qn_undo_record(m->place, m->output->name, m->output->bytes, m->record));
  m->is_put = true; /* from the first byte on there is something to undo */
  m->put = m->old;
  return qn_place_overwrite(m->place, m->output->name, m->output->bytes);
}

static qn_status put(transaction *t, move *m) {
  bool cannot_rename = false;
  if (m->output->state == QN_OUTPUT_STATE_SAME) return t->touch ? qn_place_touch(m->place, m->output->name) : QN_OK;
  if (m->old.is_there && m->old.is_regular) QN_TRY(qn_place_keep(m->place, m->output->name, m->kept));
  qn_status status = qn_place_rename(m->place, m->staged, m->output->name, &cannot_rename);
  if (status < 0 && cannot_rename && m->old.is_regular) return overwrite(m);
  QN_TRY(status);
  m->is_put = true;
  m->staged[0] = '\0';
  return QN_OK;
}

/* Whether the names still stand for what was put there. */
static qn_status check(const move *m) {
  qn_place_id now;
  if (!m->is_put) return QN_OK;
  QN_TRY(qn_place_look(m->place, m->output->name, &now));
  if (qn_place_is_same(&now, &m->put)) return QN_OK;
  QN_FAIL(QN_ERROR_IO, "'%s/%s' was replaced by someone else meanwhile", m->place->path, m->output->name);
}

static qn_status go(transaction *t) {
  for (uint32_t i = 0; i < t->count; i++) QN_TRY(stage(&t->moves[i]));
  for (uint32_t i = 0; i < t->count; i++) QN_TRY(put(t, &t->moves[i]));
  for (uint32_t i = 0; i < t->count; i++) QN_TRY(check(&t->moves[i]));
  return QN_OK;
}

/* ---- And back ----------------------------------------------------------------------------------- */

static qn_status put_back(move *m) {
  qn_place_id now;
  bool cannot_rename;
  QN_TRY(qn_place_look(m->place, m->output->name, &now));
  if (!qn_place_is_same(&now, &m->put)) {
    if (!now.is_there) QN_FAIL(QN_ERROR_IO, "someone else removed it meanwhile");
    QN_FAIL(QN_ERROR_IO, "someone else replaced it meanwhile, and it was left alone");
  }
  if (m->record[0]) return qn_undo_restore(m->place, m->record);
  if (!m->kept[0]) return qn_place_remove(m->place, m->output->name);
  QN_TRY(qn_place_rename(m->place, m->kept, m->output->name, &cannot_rename));
  m->kept[0] = '\0';
  return QN_OK;
}

/* Undoes in reverse order. What can't be undone is appended to the first error's text, and its old bytes stay under the
 * kept name, which the text tells. */
static void undo(transaction *t, qn_bytes *states) {
  for (uint32_t i = t->count; i > 0; i--) {
    move *m = &t->moves[i - 1];
    m->output->state = QN_OUTPUT_STATE_OLD;
    if (!m->is_put || put_back(m) >= 0) continue;
    m->output->state = QN_OUTPUT_STATE_UNKNOWN;
    qn_bytes_printf(states, "\n'%s/%s' could not be put back: %s", m->place->path, m->output->name, qn_error_text());
    if (m->record[0])
      qn_bytes_printf(states, "; the next build into '%s' tries again, from '%s'", m->place->path, m->record);
    else if (m->kept[0])
      qn_bytes_printf(states, "; the old file is '%s/%s'", m->place->path, m->kept);
    m->kept[0] = m->record[0] = '\0'; /* stay */
  }
}

static qn_status fail_and_undo(transaction *t, qn_status status) {
  qn_bytes text = {0};
  qn_bytes_append_str(&text, qn_error_text());
  int64_t code = qn_error_driver_code();
  undo(t, &text);
  status = text.failed ? qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an error's text")
                       : qn_error_set_driver(status, code, "%s", text.data);
  qn_bytes_free(&text);
  return status;
}

/* Tried twice, for a signal or a busy file server may be in the way once. What stays even so is swept by the next call. */
static void remove_one(const move *m, const char *name) {
  if (name[0] && qn_place_remove(m->place, name) < 0) (void)!qn_place_remove(m->place, name);
}

static void remove_rest(transaction *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    const move *m = &t->moves[i];
    remove_one(m, m->staged);
    remove_one(m, m->kept);
    remove_one(m, m->record);
  }
}

/* ---- Whole -------------------------------------------------------------------------------------- */

static bool recover(const transaction *t) {
  bool has_records = false;
  for (uint32_t i = 0; i < t->place_count; i++) has_records |= qn_undo_recover(&t->places[i]);
  return has_records;
}

static qn_status run(transaction *t) {
  bool has_records = recover(t);
  qn_status status = go(t);
  if (status < 0) status = fail_and_undo(t, status);
  qn_error_saved saved;
  qn_error_save(&saved);
  remove_rest(t);
  qn_error_restore(&saved);
  for (uint32_t i = 0; i < t->count && status >= 0; i++) {
    move *m = &t->moves[i];
    if (m->is_put) m->output->state = QN_OUTPUT_STATE_NEW;
    if (has_records) qn_undo_forget(m->place, m->output->name);
  }
  return status;
}

static qn_status open_and_run(transaction *t, const char *directory, qn_output_file *outputs, uint64_t patience_ns) {
  t->moves = calloc(t->count ? t->count : 1, sizeof *t->moves);
  t->places = calloc((size_t)t->count + 1, sizeof *t->places);
  if (!t->moves || !t->places) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u outputs", t->count);
  for (uint32_t i = 0; i < t->count; i++) {
    t->moves[i].output = &outputs[i];
    outputs[i].state = QN_OUTPUT_STATE_OLD;
  }
  QN_TRY(open_places(t, directory, patience_ns));
  return run(t);
}

qn_status qn_outputs_replace(const char *directory, qn_output_file *outputs, uint32_t count, bool touch,
                             uint64_t patience_ns) {
  transaction t = {.count = count, .touch = touch};
  QN_TRY(check_names(outputs, count));
  qn_status status = open_and_run(&t, directory, outputs, patience_ns);
  for (uint32_t i = 0; i < t.place_count; i++) qn_place_close(&t.places[i]);
  free(t.places);
  free(t.moves);
  return status;
}
