/* fuzz_front.c - the front end: any program either compiles to a module that the verifier accepts and whose text reads
 * back as itself, or is refused with an error. The first byte chooses the data model and the options. */
#include <string.h>

#include "base/status.h"
#include "compiler/front/front.h"
#include "compiler/predefined.h"
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

/* Hostile macros may do this much; the limit itself has its tests. */
#define WORK 300000

typedef struct run {
  qn_arena arena;
  qn_sources sources;
  qn_diags diags;
  pp *pp;
  ir_module *module;
} run;

static qn_status compile(run *r, qn_sv text, const qn_model *model, const qn_compile_options *options) {
  static const pp_files files = {.read = no_file};
  pp_options read = {.files = &files, .work_limit = WORK};
  qn_arena_init(&r->arena, (size_t)256 << 20);
  qn_sources_init(&r->sources, &r->arena);
  qn_diags_init(&r->diags, &r->sources);
  QN_TRY(qn_predefined_macros(&r->arena, model, options, &read.predefined));
  qn_source_file *file = qn_sources_add(&r->sources, "fuzz.cl", text, 0);
  r->pp = file ? pp_open(&r->arena, &r->sources, &r->diags, file, &read) : NULL;
  r->module = ir_module_new(&r->arena, model);
  FUZZ_CHECK(r->pp && r->module);
  QN_TRY(front_parse(r->pp, &r->diags, options, r->module));
  return ir_verify(r->module);
}

void fuzz_one(const char *text, size_t size) {
  char choice = 0;
  if (size > 0 && (unsigned char)text[0] < 32 && text[0] != '\n' && text[0] != '\t') {
    choice = text[0];
    text++, size--;
  }
  const qn_compile_options options = {.fast_relaxed_math = choice & 1};
  const qn_model model = {.address_bits = choice & 2 ? 32 : 64,
                          .has_double = !(choice & 4),
                          .has_half = choice & 16,
                          .has_int64_atomics = true};
  run r = {0};
  qn_status status = compile(&r, qn_sv_make(text, size), &model, &options);
  bool is_expected = status == QN_OK || status == QN_ERROR_COMPILE || status == QN_ERROR_OUT_OF_HOST_MEMORY ||
                     status == QN_ERROR_LIMIT;
  if (!is_expected) fprintf(stderr, "%s\n", qn_error_text());
  FUZZ_CHECK(is_expected);
  FUZZ_CHECK((status == QN_ERROR_COMPILE) == (r.diags.errors > 0) || status == QN_ERROR_OUT_OF_HOST_MEMORY);
  FUZZ_CHECK(r.diags.errors <= 20);
  FUZZ_CHECK(!r.diags.structure_lost || r.diags.errors > 0); /* nothing is wrong in silence */
  if (status == QN_OK) check_text(r.module);
  pp_close(r.pp);
  ir_module_free(r.module);
  qn_diags_free(&r.diags);
  qn_arena_free(&r.arena);
}
