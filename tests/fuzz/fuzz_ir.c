/* fuzz_ir.c - any bytes as the IR's text. What parses must print to a text that parses to the same text; what the verifier
 * accepts goes through the passes, and must be accepted after each. */
#include <string.h>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/pass/pass.h"
#include "harness.h"

enum { MEMORY_LIMIT = 64 << 20 };

static const qn_model model = {64, true, true, true};

static qn_status inline_all(ir_module *m) { return pass_inline(m, true); }

static qn_status (*const passes[])(ir_module *m) = {pass_simplify, pass_access,  inline_all,
                                                    pass_layout,   pass_regions, pass_simplify};

static void run_passes(ir_module *m) {
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    qn_status status = passes[i](m);
    if (status == QN_ERROR_OUT_OF_HOST_MEMORY || status == QN_ERROR_LIMIT) return;
    FUZZ_CHECK(status == QN_OK);
    status = ir_verify(m);
    if (status == QN_ERROR_INTERNAL) fprintf(stderr, "pass %zu: %s\n", i, qn_error_text());
    FUZZ_CHECK(status != QN_ERROR_INTERNAL);
    if (status != QN_OK) return;
  }
}

static void check_again(qn_sv text) {
  qn_arena arena;
  qn_bytes again = {0};
  qn_arena_init(&arena, MEMORY_LIMIT);
  ir_module *m = ir_module_new(&arena, &model);
  if (m) {
    qn_status status = ir_parse(m, text, "again");
    if (status == QN_ERROR_DATA) fprintf(stderr, "%s\n", qn_error_text());
    FUZZ_CHECK(status != QN_ERROR_DATA);
    if (status == QN_OK) ir_print(m, &again);
    if (status == QN_OK && !again.failed) FUZZ_CHECK(qn_sv_equal(text, qn_bytes_view(&again)));
  }
  ir_module_free(m);
  qn_arena_free(&arena);
  qn_bytes_free(&again);
}

void fuzz_one(const char *text, size_t size) {
  qn_arena arena;
  qn_arena_init(&arena, MEMORY_LIMIT);
  ir_module *m = ir_module_new(&arena, &model);
  if (m && ir_parse(m, qn_sv_make(text, size), "fuzz") == QN_OK) {
    qn_bytes printed = {0};
    ir_print(m, &printed);
    if (!printed.failed) check_again(qn_bytes_view(&printed));
    qn_bytes_free(&printed);
    if (ir_verify(m) == QN_OK) run_passes(m);
  }
  ir_module_free(m);
  qn_arena_free(&arena);
}
