/* program_build.c - from OpenCL C to a program of a device. In this order, each only when the one before it knows nothing:
 *   the manifest in the store leads from the source's bytes to the program's key, and to what is told of its kernels (C1);
 *   the source is compiled to IR, whose text gives the key;
 *   the device's own cache has the program in memory (C2);
 *   the store has its code (C3);
 *   code is generated, loaded, and stored. */
#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/program_make.h"
#include "store/manifest.h"

/* One build. `make` comes first: its `compile` finds the rest by it. */
typedef struct build {
  core_make make;
  const qn_program_options *given;
  qn_compile_options options;
  qn_sv source;
  qn_key lookup;
  qn_manifest seen; /* what the compiler read */
  qn_bytes log;
} build;

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program"); }

/* ---- Front end ---------------------------------------------------------------------------------- */

/* A copy, with the NUL behind it that the front end wants. */
static qn_status copy_source(build *b) {
  uint64_t size = b->given->source_bytes ? b->given->source_bytes : strlen(b->given->source);
  if (size > SIZE_MAX / 2) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "source_bytes is %llu", (unsigned long long)size);
  const char *copy = qn_arena_copy(&b->make.arena, qn_sv_make(b->given->source, (size_t)size));
  if (!copy) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a source of %llu bytes", (unsigned long long)size);
  b->source = qn_sv_make(copy, (size_t)size);
  return QN_OK;
}

static qn_status compile(core_make *make) {
  build *b = (build *)make;
  const pp_files files = {.user = &b->seen, .seen = qn_manifest_saw};
  const qn_compile_request request = {.source = b->source,
                                      .file_name = b->given->file_name,
                                      .options = &b->options,
                                      .model = core_make_model(make),
                                      .files = &files};
  uint64_t begin = core_trace_begin();
  qn_status status = qn_compile(&make->arena, &request, &make->module, &b->log);
  core_trace_end(begin, "compile", "front end", make->label);
  QN_TRY(status);
  if (b->log.failed) return out_of_memory();
  QN_TRY(pass_access(make->module));
  return core_make_key(make);
}

/* ---- The look-up before parsing ----------------------------------------------------------------- */

/* Of what is known before anything is read. The file's name is in diagnostics, in __FILE__, and where includes are looked
 * for. */
static void make_lookup_key(build *b) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "look-up");
  core_make_add_device(&b->make, &maker);
  qn_key_add_str(&maker, b->make.label);
  qn_key_add_str(&maker, b->given->options ? b->given->options : "");
  qn_key_add_sv(&maker, b->source);
  qn_key_end(&maker, &b->lookup);
}

/* True: the store knows what this source leads to. */
static bool ask_manifest(build *b) {
  qn_bytes own = {0};
  qn_error_saved saved;
  qn_error_save(&saved);
  core_program *program = b->make.program;
  qn_store_answer answer = qn_manifest_get(b->make.store, &b->lookup, &b->make.key, &own, NULL);
  if (answer == QN_STORE_HIT && core_source_unpack(&program->arena, qn_bytes_view(&own), &program->source) < 0)
    answer = QN_STORE_DAMAGED;
  qn_error_restore(&saved);
  qn_bytes_free(&own);
  b->make.before = (qn_store_before){true, b->lookup, answer};
  return answer == QN_STORE_HIT;
}

static void tell_manifest(build *b) {
  qn_bytes own = {0};
  core_source_pack(&b->make.program->source, &own);
  if (!own.failed)
    qn_manifest_put(b->make.store, &b->lookup, b->make.label, &b->seen, &b->make.key, qn_bytes_view(&own));
  qn_bytes_free(&own);
}

/* ---- Build -------------------------------------------------------------------------------------- */

static qn_status run(build *b) {
  core_make *make = &b->make;
  QN_TRY(qn_compile_options_parse(&make->arena, b->given->options ? b->given->options : "", &b->options));
  make->option_bits = core_option_bits(&b->options);
  QN_TRY(copy_source(b));
  make_lookup_key(b);
  bool is_known = ask_manifest(b);
  if (!is_known) {
    QN_TRY(compile(make));
    core_program *program = make->program;
    QN_TRY(core_source_describe(&program->arena, make->module, qn_bytes_view(&b->log), &program->source));
  }
  QN_TRY(core_make_binary(make));
  if (!is_known) tell_manifest(b);
  return QN_OK;
}

static qn_status run_to_end(core_device *device, core_program *program, const qn_program_options *given) {
  build b = {.given = given};
  QN_TRY(core_make_begin(&b.make, device, program, given->file_name ? given->file_name : "<source>"));
  b.make.compile = compile;
  uint64_t begin = core_trace_begin();
  qn_status status = run(&b);
  core_trace_end(begin, "compile", "build", b.make.label);
  core_make_end(&b.make);
  qn_manifest_free(&b.seen);
  qn_bytes_free(&b.log);
  return status;
}

static qn_status check(const core_device *device, const qn_program_options *given, qn_program_options *out,
                       const qn_program *out_program) {
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options is NULL; a program needs a source");
  QN_TRY(CORE_OPTIONS_READ(out, given, "qn_program_options"));
  QN_TRY(core_reserved_check(out->reserved, "qn_program_options"));
  if (!out->source) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.source is NULL");
  if (!out_program) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_program is NULL");
  return core_program_check_device(device);
}

static qn_status build_on_device(core_device *device, const qn_program_options *given, qn_program *out_program) {
  qn_program_options options;
  uint64_t start = qn_clock_ns();
  QN_TRY(check(device, given, &options, out_program));
  core_device_collect(device);
  core_program *program = core_program_new(device);
  if (!program) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  qn_status status = run_to_end(device, program, &options);
  if (status < 0) {
    core_program_discard(program);
    return status;
  }
  program->compile_ns = qn_clock_ns() - start;
  return core_program_publish(program, out_program);
}

static qn_status build_program(qn_device handle, const qn_program_options *options, qn_program *out_program) {
  core_device *device = NULL;
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = build_on_device(device, options, out_program);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_program_build(qn_device device, const qn_program_options *options, qn_program *out_program) {
  CORE_CALL_MAKING(build_program(device, options, out_program));
}
