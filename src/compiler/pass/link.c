/* link.c - pass link: brings in what a module calls and doesn't define. The library's table says what each entry needs,
 * so everything is known before anything is parsed, and the text is read in one go. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/lib/lib.h"
#include "compiler/pass/pass.h"

typedef struct linker {
  ir_module *m;
  uint8_t *wanted; /* by entry */
  uint16_t *queue;
  uint32_t queued;
} linker;

static void want(linker *l, uint32_t index) {
  if (l->wanted[index]) return;
  l->wanted[index] = 1;
  l->queue[l->queued++] = (uint16_t)index;
}

static qn_status want_called(linker *l) {
  for (ir_function *f = l->m->functions; f; f = f->next) {
    if (f->body) continue;
    int32_t index = qn_library_find(qn_sv_from(f->name));
    if (index < 0) QN_FAIL(QN_ERROR_COMPILE, "function '%s' is called but not defined", f->name);
    want(l, (uint32_t)index);
  }
  return QN_OK;
}

/* Whether an earlier link brought the entry in. */
static bool is_there(const linker *l, const qn_library_entry *entry) {
  if (!entry->is_constant) {
    ir_function *f = ir_function_find(l->m, qn_sv_from(entry->name));
    return f && f->body;
  }
  for (ir_var *v = l->m->constants; v; v = v->next)
    if (strcmp(v->name, entry->name) == 0) return true;
  return false;
}

/* Constants stand before the functions that name them. */
static void gather(const linker *l, bool constants, qn_bytes *text) {
  for (uint32_t i = 0; i < l->queued; i++) {
    const qn_library_entry *entry = &qn_library_entries[l->queue[i]];
    if (entry->is_constant == constants && !is_there(l, entry))
      qn_bytes_append_sv(text, qn_library_text(entry, l->m->model.address_bits));
  }
}

static qn_status read_wanted(linker *l) {
  for (uint32_t i = 0; i < l->queued; i++) {
    const uint16_t *needs = qn_library_entries[l->queue[i]].needs;
    for (; *needs != UINT16_MAX; needs++) want(l, *needs);
  }
  qn_bytes text = {0};
  qn_bytes_printf(&text, "quern 1 bits %" PRIu32 "\n", l->m->model.address_bits);
  gather(l, true, &text);
  gather(l, false, &text);
  qn_status status = text.failed ? qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while linking")
                                 : ir_parse(l->m, qn_bytes_view(&text), "library");
  qn_bytes_free(&text);
  return status;
}

qn_status pass_link(ir_module *m) {
  linker l = {.m = m};
  l.wanted = calloc(qn_library_count + 1, 1);
  l.queue = calloc(qn_library_count + 1, sizeof *l.queue);
  qn_status status = QN_OK;
  if (!l.wanted || !l.queue) {
    status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while linking");
  } else {
    status = want_called(&l);
  }
  if (status == QN_OK && l.queued) status = read_wanted(&l);
  free(l.wanted);
  free(l.queue);
  return status;
}
