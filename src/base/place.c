#include "base/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/os/stack.h"
#include "base/os/thread.h"
#include "quern/quern.h"

enum { FRAMES = 8, FILE_LIMIT = 512 };

struct qn_place {
  uint32_t line; /* 0: the frames count */
  uint32_t frame_count;
  void *frames[FRAMES];
  char file[];
};

/* What the thread was told. `file` is the caller's. */
static QN_THREAD_LOCAL struct {
  const char *file;
  uint32_t line;
  const void *caller;
} here;

void qn_here(const char *file, uint32_t line) {
  here.file = file;
  here.line = line;
}

void qn_place_begin(const void *caller) { here.caller = caller; }

void qn_place_end(void) {
  here.file = NULL;
  here.caller = NULL;
}

qn_place *qn_place_take(void) {
  if (!here.caller || !qn_check_on(QN_CHECK_LEAKS)) return NULL;
  size_t length = here.file ? strnlen(here.file, FILE_LIMIT) : 0;
  qn_place *place = calloc(1, sizeof *place + length + 1);
  if (!place) return NULL;
  if (here.file) {
    memcpy(place->file, here.file, length);
    place->line = here.line;
  } else {
    place->frame_count = qn_stack_take(place->frames, FRAMES, here.caller);
  }
  return place;
}

void qn_place_print(const qn_place *place, qn_bytes *out) {
  if (!place) return;
  if (place->frame_count == 0) qn_bytes_printf(out, "%s:%u", place->file, place->line);
  for (uint32_t i = 0; i < place->frame_count; i++) {
    if (i) qn_bytes_append_str(out, ", ");
    qn_stack_print_frame(place->frames[i], out);
  }
}
