/* compiler.c - from text to a checked module, or to preprocessed text: the steps of a compilation. */
#include "compiler/compiler.h"

#include "base/stage.h"
#include "base/status.h"
#include "compiler/front/front.h"
#include "compiler/predefined.h"

/* One compilation: what lives from the first byte to the last diagnostic. */
typedef struct job {
  qn_arena *arena;
  const qn_compile_options *options;
  qn_sources sources;
  qn_diags diags;
  pp_options pp_options;
  pp *pp;
  bool is_for_files;
} job;

static qn_status no_memory(const char *what) { return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory %s", what); }

static void close_job(job *j) {
  if (j->pp) pp_close(j->pp);
  qn_diags_free(&j->diags);
}

static qn_status open_preprocessor(job *j, const qn_compile_request *request) {
  qn_sv predefined;
  QN_TRY(qn_predefined_macros(j->arena, &request->model, j->options, &predefined));
  j->pp_options = (pp_options){.include_dirs = j->options->include_dirs,
                               .include_dir_count = j->options->include_dir_count,
                               .defines = j->options->defines,
                               .define_count = j->options->define_count,
                               .parameters = j->options->parameters,
                               .parameter_count = j->options->parameter_count,
                               .predefined = predefined,
                               .files = request->files};
  const char *name = request->file_name ? request->file_name : "<source>";
  if (request->source.size >= UINT32_C(1) << 30)
    QN_FAIL(QN_ERROR_COMPILE, "%s: error: the source is larger than 1 GiB\n", name);
  qn_source_file *file = qn_sources_add(&j->sources, name, request->source, 0);
  j->pp = file ? pp_open(j->arena, &j->sources, &j->diags, file, &j->pp_options) : NULL;
  return j->pp ? QN_OK : no_memory("for the preprocessor");
}

static qn_status open_job(job *j, qn_arena *arena, const qn_compile_request *request) {
  static const qn_compile_options none;
  *j = (job){
      .arena = arena, .options = request->options ? request->options : &none, .is_for_files = request->is_for_files};
  qn_sources_init(&j->sources, arena);
  qn_diags_init(&j->diags, &j->sources);
  j->diags.no_warnings = j->options->no_warnings;
  j->diags.warnings_as_errors = j->options->warnings_as_errors;
  qn_status status = open_preprocessor(j, request);
  if (status < 0) close_job(j);
  return status;
}

/* The outcome by what was told: errors become the error text, warnings go to `log`. */
static qn_status conclude(job *j, qn_bytes *log) {
  if (j->diags.out_of_memory || j->diags.text.failed) return no_memory("to compile");
  uint32_t usage_errors = j->diags.option_errors + (j->is_for_files ? j->diags.twin_kernels : 0);
  bool is_usage = j->diags.errors > 0 && j->diags.errors == usage_errors;
  if (j->diags.errors)
    return qn_error_set_text(is_usage ? QN_ERROR_INVALID_ARGUMENT : QN_ERROR_COMPILE, j->diags.text.data,
                             j->diags.text.size);
  if (!log) return QN_OK;
  qn_bytes_append_sv(log, qn_bytes_view(&j->diags.text));
  return log->failed ? no_memory("for the compiler's log") : QN_OK;
}

qn_status qn_preprocess(qn_arena *arena, const qn_compile_request *request, qn_bytes *out, qn_bytes *log) {
  job j;
  QN_TRY(open_job(&j, arena, request));
  pp_print(j.pp, out);
  qn_status status = conclude(&j, log);
  close_job(&j);
  return status;
}

/* Parses into `m`, whose text the caller checks and keeps. */
static qn_status parse(job *j, ir_module *m, qn_bytes *log) {
  uint64_t start = qn_stage_start();
  qn_status status = front_parse(j->pp, &j->diags, j->options, m);
  qn_stage_end("front end", start);
  if (status == QN_OK || status == QN_ERROR_COMPILE) {
    qn_status told = conclude(j, log);
    if (told < 0) return told;
  }
  if (status < 0) return status;
  start = qn_stage_start();
  status = ir_verify(m);
  qn_stage_end("verifier", start);
  return status;
}

/* For diagnostics of targets. */
static qn_status keep_sources(const job *j, ir_module *m) {
  m->sources = QN_ARENA_NEW(j->arena, qn_sources);
  if (!m->sources) return no_memory("for the sources");
  *m->sources = j->sources;
  return QN_OK;
}

qn_status qn_compile(qn_arena *arena, const qn_compile_request *request, ir_module **out_module, qn_bytes *log) {
  job j;
  *out_module = NULL;
  QN_TRY(open_job(&j, arena, request));
  ir_module *m = ir_module_new(arena, &request->model);
  qn_status status = m ? parse(&j, m, log) : no_memory("for the module");
  if (status >= 0) status = keep_sources(&j, m);
  close_job(&j);
  if (status < 0) {
    if (m) ir_module_free(m);
    return status;
  }
  *out_module = m;
  return QN_OK;
}
