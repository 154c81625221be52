/* fuzz_opencl_c.c - any bytes as the IR's text; of what the verifier accepts OpenCL C is made, which our own front end must
 * take: at most a limit of its own may be in the way. */
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/ir/ir.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "harness.h"

enum { MEMORY_LIMIT = 64 << 20, TEXT_LIMIT = 1 << 18 };

static const qn_model model = {64, true, true, true};

/* What sources may not have and the IR may: limits of the front end, and a barrier where not all items come to it. */
static const char *const limits[] = {"too large", "too many", "more than",      "at most", "deep",
                                     "barrier",   "half",     "private memory", "nesting"};

static bool is_limit(const char *error) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (strstr(error, limits[i])) return true;
  return false;
}

static void compile(qn_sv text) {
  qn_arena arena;
  ir_module *m = NULL;
  qn_arena_init(&arena, MEMORY_LIMIT);
  const qn_compile_request request = {.source = text, .file_name = "made.cl", .model = model};
  qn_status status = qn_compile(&arena, &request, &m, NULL);
  bool is_opencl_c = status != QN_ERROR_COMPILE || is_limit(qn_error_text());
  if (!is_opencl_c) fprintf(stderr, "%s\n%s\n", qn_error_text(), text.data);
  FUZZ_CHECK(is_opencl_c);
  FUZZ_CHECK(status != QN_ERROR_INTERNAL);
  if (m) ir_module_free(m);
  qn_arena_free(&arena);
}

static void emit(ir_module *m, bool for_adapter) {
  qn_bytes text = {0};
  qn_opencl_c_program program;
  const qn_opencl_c_options options = {.adapter_entries = for_adapter, .rounded_divide_sqrt = !for_adapter};
  qn_status status = qn_target_opencl_c(m, &options, &text, &program);
  if (status == QN_ERROR_INTERNAL) fprintf(stderr, "%s\n", qn_error_text());
  FUZZ_CHECK(status == QN_OK || status == QN_ERROR_COMPILE || status == QN_ERROR_OUT_OF_HOST_MEMORY ||
             status == QN_ERROR_LIMIT);
  if (status == QN_OK && text.size < TEXT_LIMIT) compile(qn_bytes_view(&text));
  qn_bytes_free(&text);
}

void fuzz_one(const char *text, size_t size) {
  for (int for_adapter = 0; for_adapter < 2; for_adapter++) {
    qn_arena arena;
    qn_arena_init(&arena, MEMORY_LIMIT);
    ir_module *m = ir_module_new(&arena, &model);
    if (m && ir_parse(m, qn_sv_make(text, size), "fuzz") == QN_OK && ir_verify(m) == QN_OK) emit(m, for_adapter);
    ir_module_free(m);
    qn_arena_free(&arena);
  }
}
