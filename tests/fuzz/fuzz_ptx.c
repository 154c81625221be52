/* fuzz_ptx.c - any bytes as the IR's text; of what the verifier accepts PTX is made, twice alike, with all that the target's passes
 * do verified. */
#include <string.h>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/target/ptx/ptx.h"
#include "harness.h"

enum { MEMORY_LIMIT = 64 << 20 };

static const qn_model model = {.address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};

static bool is_told(qn_status status) {
  return status == QN_OK || status == QN_ERROR_COMPILE || status == QN_ERROR_OUT_OF_HOST_MEMORY ||
         status == QN_ERROR_LIMIT;
}

static qn_status emit(const char *ir, size_t size, const qn_ptx_options *options, qn_bytes *out) {
  qn_arena arena;
  qn_ptx_program program;
  qn_arena_init(&arena, MEMORY_LIMIT);
  ir_module *m = ir_module_new(&arena, &model);
  qn_status status = QN_ERROR_OUT_OF_HOST_MEMORY;
  bool is_good = m && ir_parse(m, qn_sv_make(ir, size), "fuzz") == QN_OK && ir_verify(m) == QN_OK;
  if (is_good && m->model.address_bits == 64) {
    status = qn_target_ptx(m, options, out, &program);
    if (!is_told(status)) fprintf(stderr, "%s\n", qn_error_text());
    FUZZ_CHECK(is_told(status));
    if (status == QN_OK) FUZZ_CHECK(ir_verify(m) == QN_OK);
  }
  if (m) ir_module_free(m);
  qn_arena_free(&arena);
  return status;
}

void fuzz_one(const char *text, size_t size) {
  const qn_ptx_options usual = {.sm = 80}, exact = {.sm = 90, .rounded_divide_sqrt = true, .opt_disable = true};
  qn_bytes first = {0}, second = {0}, other = {0};
  qn_status status = emit(text, size, &usual, &first);
  if (status == QN_OK && emit(text, size, &usual, &second) == QN_OK)
    FUZZ_CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
  if (status == QN_OK) (void)emit(text, size, &exact, &other);
  qn_bytes_free(&first);
  qn_bytes_free(&second);
  qn_bytes_free(&other);
}
