#include "core/leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/map.h"
#include "base/os/thread.h"
#include "base/place.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/exit.h"
#include "core/kernel.h"

/* ---- Finding ------------------------------------------------------------------------------------ */

/* What was made at one place. */
typedef struct group {
  const char *text; /* "kernel 'saxpy'", a NUL, the place */
  uint64_t objects, counts, bytes;
  struct group *next;
} group;

typedef struct search {
  uint32_t kind;
  uint64_t objects;
  qn_arena arena;
  qn_map by_text;
  group *first, **tail;
} search;

static const char *const kind_names[] = {
    [QN_KIND_DEVICE] = "device",   [QN_KIND_QUEUE] = "queue",   [QN_KIND_BUFFER] = "buffer",
    [QN_KIND_PROGRAM] = "program", [QN_KIND_KERNEL] = "kernel",
};

static void describe(const core_object *object, uint32_t kind, qn_bytes *out) {
  qn_bytes_append_str(out, kind_names[kind]);
  if (kind == QN_KIND_DEVICE) qn_bytes_printf(out, " %s", ((const core_device *)(const void *)object)->selector);
  if (kind == QN_KIND_KERNEL) qn_bytes_printf(out, " '%s'", ((const core_kernel *)(const void *)object)->name);
  qn_bytes_append_char(out, '\0');
  qn_place_print(object->place, out);
}

/* NULL: no memory; then the object is counted, but not told. */
static group *group_of(search *s, qn_sv text) {
  group *known = qn_map_get(&s->by_text, text);
  if (known || !text.data) return known;
  group *made = QN_ARENA_NEW(&s->arena, group);
  char *copy = qn_arena_copy(&s->arena, text);
  if (!made || !copy || !qn_map_set(&s->by_text, qn_sv_make(copy, text.size), made)) return NULL;
  made->text = copy;
  *s->tail = made;
  s->tail = &made->next;
  return made;
}

static void note(void *user, void *object, uint64_t count) {
  search *s = user;
  qn_bytes text = {0};
  if (!((const core_object *)object)->place) return; /* the library's own */
  s->objects++;
  describe(object, s->kind, &text);
  group *g = text.failed ? NULL : group_of(s, qn_bytes_view(&text));
  qn_bytes_free(&text);
  if (!g) return;
  g->objects++;
  g->counts += count;
  if (s->kind == QN_KIND_BUFFER) g->bytes += ((const core_buffer *)object)->size_bytes;
}

/* Children first: that is the order in which they would be released. */
static void look_at_all(search *s, uint32_t owner) {
  static const uint32_t kinds[] = {QN_KIND_KERNEL, QN_KIND_PROGRAM, QN_KIND_BUFFER, QN_KIND_QUEUE, QN_KIND_DEVICE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    s->kind = kinds[i];
    qn_handle_visit(owner, s->kind, note, s);
  }
}

/* ---- Telling ------------------------------------------------------------------------------------ */

/* "3 x buffer, 4 counts, 12288 bytes: main.c:12" */
static void print_group(const group *g, qn_bytes *out) {
  const char *place = g->text + strlen(g->text) + 1;
  qn_bytes_printf(out, "%llu x %s", (unsigned long long)g->objects, g->text);
  if (g->counts != g->objects) qn_bytes_printf(out, ", %llu counts", (unsigned long long)g->counts);
  if (g->bytes) qn_bytes_printf(out, ", %llu bytes", (unsigned long long)g->bytes);
  qn_bytes_printf(out, ": %s\n", place);
}

/* What was found since it was last asked for. */
enum { REPORT_LIMIT = 1 << 18 };
static qn_mutex report_lock;
static qn_bytes report;
static uint64_t report_count;

static void tell(const search *s) {
  qn_bytes text = {0};
  for (const group *g = s->first; g; g = g->next) print_group(g, &text);
  qn_log_write(QN_LOG_RUNTIME, "%llu objects were not released when their runtime closed:\n%s",
               (unsigned long long)s->objects, text.failed || !text.data ? "(no memory to tell which)" : text.data);
  qn_mutex_lock(&report_lock);
  report_count += s->objects;
  if (!text.failed && report.size + text.size <= REPORT_LIMIT) qn_bytes_append_sv(&report, qn_bytes_view(&text));
  qn_mutex_unlock(&report_lock);
  qn_bytes_free(&text);
}

void core_leaks_find(uint32_t owner) {
  if (!qn_check_on(QN_CHECK_LEAKS)) return;
  search s = {.tail = &s.first};
  qn_arena_init(&s.arena, 0);
  look_at_all(&s, owner);
  if (s.objects > 0) tell(&s);
  qn_map_free(&s.by_text);
  qn_arena_free(&s.arena);
}

/* ---- The report --------------------------------------------------------------------------------- */

static void copy_report(char *text, uint64_t capacity) {
  if (capacity == 0) return;
  size_t size = report.size < capacity - 1 ? report.size : (size_t)capacity - 1;
  if (size) memcpy(text, report.data, size);
  text[size] = '\0';
}

static qn_status leak_report(char *text, uint64_t capacity, uint64_t *out_count) {
  if (!out_count) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_count is NULL");
  if (!text && capacity > 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "text is NULL, but capacity is not 0");
  if (!qn_check_on(QN_CHECK_LEAKS))
    QN_FAIL(QN_ERROR_UNSUPPORTED, "leaks are not looked for; set QUERN_CHECK=leaks before the process starts");
  qn_mutex_lock(&report_lock);
  copy_report(text, capacity);
  *out_count = report_count;
  report_count = 0;
  qn_bytes_free(&report);
  qn_mutex_unlock(&report_lock);
  return QN_OK;
}

qn_status qn_leak_report(char *text, uint64_t capacity, uint64_t *out_count) {
  CORE_CALL(leak_report(text, capacity, out_count));
}
