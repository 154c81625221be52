/* fuzz_front.c - the front end: any program either compiles to a module that the verifier accepts and whose text reads
 * back as itself, or is refused with an error. The first byte chooses the data model and the options. */
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "harness.h"

/* No file is ever read. */
static qn_status no_file(void *user, qn_arena *arena, const char *path, qn_sv *out) {
  (void)user, (void)arena, (void)path, (void)out;
  return QN_ERROR_NOT_FOUND;
}

static void check_text(ir_module *m) {
  qn_bytes first = {0}, second = {0};
  qn_arena arena;
  qn_arena_init(&arena, 0);
  ir_print(m, &first);
  ir_module *again = ir_module_new(&arena, &m->model);
  FUZZ_CHECK(again);
  qn_status status = ir_parse(again, qn_bytes_view(&first), "again");
  if (status < 0) fprintf(stderr, "%s\n%s\n", qn_error_text(), first.data);
  FUZZ_CHECK(status == QN_OK);
  ir_print(again, &second);
  FUZZ_CHECK(qn_sv_equal(qn_bytes_view(&first), qn_bytes_view(&second)));
  ir_module_free(again);
  qn_arena_free(&arena);
  qn_bytes_free(&first);
  qn_bytes_free(&second);
}

void fuzz_one(const char *text, size_t size) {
  char choice = 0;
  if (size > 0 && (unsigned char)text[0] < 32 && text[0] != '\n' && text[0] != '\t') {
    choice = text[0];
    text++, size--;
  }
  static const pp_files files = {.read = no_file};
  const qn_compile_options options = {.fast_relaxed_math = choice & 1};
  const qn_compile_request request = {.source = qn_sv_make(text, size),
                                      .file_name = "fuzz.cl",
                                      .options = &options,
                                      .model = {.address_bits = choice & 2 ? 32 : 64,
                                                .has_double = !(choice & 4),
                                                .has_half = choice & 16,
                                                .has_int64_atomics = true},
                                      .files = &files};
  qn_arena arena;
  qn_arena_init(&arena, (size_t)256 << 20);
  qn_bytes log = {0};
  ir_module *module = NULL;
  qn_status status = qn_compile(&arena, &request, &module, &log);
  bool is_expected = status == QN_OK || status == QN_ERROR_COMPILE || status == QN_ERROR_OUT_OF_HOST_MEMORY ||
                     status == QN_ERROR_LIMIT;
  if (!is_expected) fprintf(stderr, "%s\n", qn_error_text());
  FUZZ_CHECK(is_expected);
  if (status == QN_ERROR_COMPILE) FUZZ_CHECK(strstr(qn_error_text(), "error: "));
  if (status == QN_OK) {
    check_text(module);
    ir_module_free(module);
  }
  qn_bytes_free(&log);
  qn_arena_free(&arena);
}
