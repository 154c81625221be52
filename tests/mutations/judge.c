#include "judge.h"

#include <stdlib.h>

#include "base/os/clock.h"
#include "base/status.h"

/* Words that only a fault of the compiler's own can bring into a message. */
static const char *const inner_words[] = {"(null)",  "error type", "<error>", "''",     "PP_",
                                          "KW_",     "FRONT_",     "EXPR_",   "SYMBOL", "expected a name, but ' '",
                                          "internal"};

static const char *false_text(const char *message) {
  const char *end = strchr(message, '\n');
  for (size_t i = 0; i < sizeof inner_words / sizeof *inner_words; i++) {
    const char *found = strstr(message, inner_words[i]);
    if (found != NULL && (end == NULL || found < end)) return inner_words[i];
  }
  return NULL;
}

/* "FILE:LINE:COLUMN: error: MESSAGE" */
static void read_error(const char *file, const char *line, const char *message, verdict *out) {
  const char *fault = false_text(message);
  if (fault != NULL) out->fault = fault;
  if (out->errors++ > 0) return;
  out->first = message;
  size_t size = strlen(file);
  if (strncmp(line, file, size) != 0 || line[size] != ':') return;
  char *end;
  out->line = (uint32_t)strtoul(line + size + 1, &end, 10);
  out->column = *end == ':' ? (uint32_t)strtoul(end + 1, NULL, 10) : 1;
}

void judge(const char *file, qn_sv text, const kernel_setting *setting, verdict *out) {
  *out = (verdict){0};
  qn_arena arena;
  ir_module *module;
  qn_arena_init(&arena, 0);
  const qn_compile_request request = {
      .source = text, .file_name = file, .options = &setting->options, .model = setting->model};
  uint64_t start = qn_clock_ns();
  qn_status status = qn_compile(&arena, &request, &module, NULL);
  out->ns = qn_clock_ns() - start;
  if (status == QN_OK) ir_module_free(module);
  qn_arena_free(&arena);
  if (status == QN_OK) return;
  qn_bytes_append_str(&out->told, qn_error_text());
  if (status != QN_ERROR_COMPILE && status != QN_ERROR_INVALID_ARGUMENT) out->fault = "no error of the source";
  for (const char *line = out->told.data; line != NULL;) {
    const char *end = strchr(line, '\n'), *found = strstr(line, " error: ");
    if (found != NULL && (end == NULL || found < end) && line[0] != ' ') read_error(file, line, found + 8, out);
    line = end != NULL && end[1] != '\0' ? end + 1 : NULL;
  }
  if (out->errors == 0) out->fault = "no error was told";
}
