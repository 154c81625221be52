/* fuzz_wgsl.c - any bytes as the IR's text; of what the verifier accepts WGSL is made, both texts of it, twice alike; its record
 * comes back from its bytes. Then the same bytes as a record. */
#include <string.h>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/target/wgsl/wgsl.h"
#include "harness.h"

enum { MEMORY_LIMIT = 64 << 20 };

static const qn_model model = {.address_bits = 32, .has_half = true};

static bool is_told(qn_status status) {
  return status == QN_OK || status == QN_ERROR_COMPILE || status == QN_ERROR_OUT_OF_HOST_MEMORY ||
         status == QN_ERROR_LIMIT;
}

static void read_record(qn_arena *arena, const qn_wgsl_program *program) {
  qn_bytes record = {0}, again = {0};
  qn_wgsl_program back;
  qn_wgsl_pack(program, &record);
  qn_status status = record.failed ? QN_ERROR_OUT_OF_HOST_MEMORY : qn_wgsl_unpack(qn_bytes_view(&record), arena, &back);
  FUZZ_CHECK(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
  if (status == QN_OK) {
    qn_wgsl_pack(&back, &again);
    FUZZ_CHECK(again.failed || (again.size == record.size && memcmp(again.data, record.data, record.size) == 0));
  }
  qn_bytes_free(&record);
  qn_bytes_free(&again);
}

static qn_status emit(const char *ir, size_t size, bool merged, qn_bytes *out) {
  qn_arena arena;
  qn_wgsl_program program;
  qn_arena_init(&arena, MEMORY_LIMIT);
  ir_module *m = ir_module_new(&arena, &model);
  qn_status status = QN_ERROR_OUT_OF_HOST_MEMORY;
  bool is_good = m && ir_parse(m, qn_sv_make(ir, size), "fuzz") == QN_OK && ir_verify(m) == QN_OK;
  if (is_good && m->model.address_bits == 32) {
    status = qn_target_wgsl(m, &(qn_wgsl_options){.merged = merged}, out, &program);
    if (!is_told(status)) fprintf(stderr, "%s\n", qn_error_text());
    FUZZ_CHECK(is_told(status));
    if (status == QN_OK) read_record(&arena, &program);
  }
  if (m) ir_module_free(m);
  qn_arena_free(&arena);
  return status;
}

static void unpack(const char *bytes, size_t size) {
  qn_arena arena;
  qn_wgsl_program program;
  qn_arena_init(&arena, MEMORY_LIMIT);
  qn_status status = qn_wgsl_unpack(qn_sv_make(bytes, size), &arena, &program);
  FUZZ_CHECK(status == QN_OK || status == QN_ERROR_DATA || status == QN_ERROR_OUT_OF_HOST_MEMORY);
  qn_arena_free(&arena);
}

void fuzz_one(const char *text, size_t size) {
  qn_bytes first = {0}, second = {0}, merged = {0};
  qn_status status = emit(text, size, false, &first);
  if (status == QN_OK && emit(text, size, false, &second) == QN_OK)
    FUZZ_CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
  if (status == QN_OK) (void)emit(text, size, true, &merged);
  qn_bytes_free(&first);
  qn_bytes_free(&second);
  qn_bytes_free(&merged);
  unpack(text, size);
}
