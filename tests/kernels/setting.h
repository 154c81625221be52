/* setting.h - what a kernel of the tests says in its first lines about how it is compiled:
 *   // options: -DX=1     compile options
 *   // model: 32 half     address bits; double (which is there unless it says nodouble), half, atomics64 */
#ifndef QUERN_TESTS_KERNELS_SETTING_H
#define QUERN_TESTS_KERNELS_SETTING_H

#include <string.h>

#include "compiler/compiler.h"

typedef struct kernel_setting {
  qn_compile_options options;
  qn_model model;
} kernel_setting;

/* The rest of a line "// KEY: ..." among the comments that the file starts with; NULL: there is none. */
static inline const char *kernel_header(qn_arena *arena, const char *text, const char *key) {
  for (const char *line = text; strncmp(line, "// ", 3) == 0;) {
    const char *end = strchr(line, '\n');
    size_t size = end ? (size_t)(end - line) : strlen(line);
    size_t key_size = strlen(key);
    if (size > 4 + key_size && strncmp(line + 3, key, key_size) == 0 && line[3 + key_size] == ':')
      return qn_arena_copy(arena, qn_sv_make(line + 4 + key_size, size - 4 - key_size));
    if (!end) break;
    line = end + 1;
  }
  return NULL;
}

static inline qn_status kernel_setting_read(qn_arena *arena, const char *text, kernel_setting *out) {
  const char *model = kernel_header(arena, text, "model");
  out->model = (qn_model){.address_bits = model && strstr(model, "32") ? 32 : 64,
                          .has_double = !(model && strstr(model, "nodouble")),
                          .has_half = model && strstr(model, "half"),
                          .has_int64_atomics = model && strstr(model, "atomics64")};
  return qn_compile_options_parse(arena, kernel_header(arena, text, "options"), &out->options);
}

#endif
