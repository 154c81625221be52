/* build.c - quern_build.h: artifacts without a device. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/target/target.h"
#include "core/exit.h"
#include "core/options.h"
#include "quern/quern_build.h"

typedef struct build_target {
  const char *name, *arch, *cpu;
} build_target;

/* "host" as cpu: the code generator asks the machine that it runs on. */
static const build_target targets[] = {
    {"x86-64-linux", "x86-64", "x86-64"},
    {"x86-64-v2-linux", "x86-64", "x86-64-v2"},
    {"x86-64-v3-linux", "x86-64", "x86-64-v3"},
    {"x86-64-v4-linux", "x86-64", "x86-64-v4"},
    {"aarch64-linux", "aarch64", "generic"},
#if defined(__x86_64__)
    {"host", "x86-64", "host"},
#elif defined(__aarch64__)
    {"host", "aarch64", "host"},
#endif
};

static qn_status find_target(const char *name, const build_target **out) {
  qn_bytes list = {0};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    if (strcmp(name, targets[i].name) == 0) {
      *out = &targets[i];
      qn_bytes_free(&list);
      return QN_OK;
    }
    qn_bytes_printf(&list, "%s%s", i ? ", " : "", targets[i].name);
  }
  qn_status status = qn_error_set(QN_ERROR_INVALID_ARGUMENT, "target '%s' is not known; there are: %s", name,
                                  list.failed ? "" : list.data);
  qn_bytes_free(&list);
  return status;
}

static qn_status emit_code(ir_module *m, const qn_build_options *o, const qn_compile_options *compile, qn_bytes *out) {
  const build_target *target = NULL;
  QN_TRY(find_target(o->target ? o->target : "host", &target));
  QN_TRY(qn_prepare_cpu(m));
  qn_target_options code = {.emit = o->kind == QN_ARTIFACT_OBJECT     ? QN_EMIT_OBJECT
                                    : o->kind == QN_ARTIFACT_ASSEMBLY ? QN_EMIT_ASSEMBLY
                                                                      : QN_EMIT_LLVM_IR,
                            .arch = target->arch,
                            .cpu = target->cpu,
                            .features = "",
                            .scalar = o->scalar != 0,
                            .opt_disable = compile->opt_disable};
  qn_status status = qn_target_llvm(m, &code, out);
  core_exit_after_llvm();
  return status;
}

static qn_status run_build(qn_arena *arena, const qn_build_options *o, qn_bytes *out, qn_bytes *log) {
  qn_compile_options compile = {0};
  QN_TRY(qn_compile_options_parse(arena, o->options ? o->options : "", &compile));
  uint64_t size = o->source_bytes ? o->source_bytes : strlen(o->source);
  char *source = qn_arena_copy(arena, qn_sv_make(o->source, (size_t)size)); /* with the NUL that the compiler wants */
  if (!source) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a source of %llu bytes", (unsigned long long)size);
  qn_compile_request request = {
      .source = qn_sv_make(source, (size_t)size), .file_name = o->file_name, .options = &compile};
  request.model = (qn_model){.address_bits = 64, .has_double = true, .has_int64_atomics = true};
  if (o->kind == QN_ARTIFACT_PREPROCESSED) return qn_preprocess(arena, &request, out, log);
  ir_module *m;
  QN_TRY(qn_compile(arena, &request, &m, log));
  qn_status status = QN_OK;
  if (o->kind == QN_ARTIFACT_IR)
    ir_print(m, out);
  else
    status = emit_code(m, o, &compile, out);
  ir_module_free(m);
  return status;
}

/* What the first version of qn_artifact had; without the log's field nobody could free the log. */
enum { SMALLEST_ARTIFACT = offsetof(qn_artifact, log_bytes) + sizeof(uint64_t) };

static qn_status check(const qn_build_options *given, qn_build_options *o, const qn_artifact *out) {
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options is NULL; a build needs a source");
  QN_TRY(CORE_OPTIONS_READ(o, given, "qn_build_options"));
  QN_TRY(core_info_check(out, "out_artifact"));
  if (out->struct_size < SMALLEST_ARTIFACT)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_artifact.struct_size is %u, it has %d bytes or more", out->struct_size,
            SMALLEST_ARTIFACT);
  if (!o->source) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.source is NULL");
  if (o->kind < QN_ARTIFACT_PREPROCESSED || o->kind > QN_ARTIFACT_OBJECT)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.kind %u is not known (1 to %d are)", o->kind, QN_ARTIFACT_OBJECT);
  return QN_OK;
}

/* The bytes and the log in blocks of their own, each with a NUL behind it. */
static qn_status fill_artifact(uint32_t kind, qn_bytes *out, qn_bytes *log, qn_artifact *artifact) {
  if (!out->data) qn_bytes_append(out, "", 0);
  if (!log->data) qn_bytes_append(log, "", 0);
  if (out->failed || log->failed || !out->data || !log->data)
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the artifact");
  const qn_artifact made = {.struct_size = sizeof made,
                            .kind = kind,
                            .bytes = out->data,
                            .size_bytes = out->size,
                            .log = log->data,
                            .log_bytes = log->size};
  CORE_INFO_WRITE(artifact, &made);
  return QN_OK;
}

static qn_status build(const qn_build_options *given, qn_artifact *out_artifact) {
  qn_build_options options;
  QN_TRY(check(given, &options, out_artifact));
  qn_arena arena;
  qn_bytes out = {0}, log = {0};
  qn_arena_init(&arena, 0);
  qn_status status = run_build(&arena, &options, &out, &log);
  if (status >= 0) status = fill_artifact(options.kind, &out, &log, out_artifact);
  qn_arena_free(&arena);
  if (status < 0) {
    qn_bytes_free(&out);
    qn_bytes_free(&log);
  }
  return status < 0 ? status : QN_OK;
}

qn_status qn_build(const qn_build_options *options, qn_artifact *out_artifact) {
  CORE_CALL(build(options, out_artifact));
}

void qn_artifact_free(qn_artifact *artifact) {
  if (!artifact) return;
  free((void *)(uintptr_t)artifact->bytes);
  free((void *)(uintptr_t)artifact->log);
  artifact->bytes = NULL;
  artifact->log = NULL;
  artifact->size_bytes = artifact->log_bytes = 0;
}
