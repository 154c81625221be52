/* build.c - quern_build.h: artifacts without a device. Found in the store by the look-up before parsing, or by what the source
 * means; else made, and stored. */
#include "core/build.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/environment.h"
#include "base/status.h"
#include "base/waiting.h"
#include "build_id.h"
#include "compiler/pass/pass.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "compiler/target/target.h"
#include "compiler/target/wgsl/wgsl.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/program_make.h"
#include "core/ptx_code.h"

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the artifact"); }

static const char *label(const core_build *b) { return b->given.file_name ? b->given.file_name : "<source>"; }

static bool needs_llvm(const core_build *b) {
  uint32_t kind = b->given.kind;
  return kind != QN_ARTIFACT_PREPROCESSED && kind != QN_ARTIFACT_IR && kind != QN_ARTIFACT_C_HEADER &&
         kind != QN_ARTIFACT_OPENCL_C && kind != QN_ARTIFACT_WGSL && kind != QN_ARTIFACT_PTX;
}

static bool has_targets(const core_build *b) { return needs_llvm(b) || b->given.kind == QN_ARTIFACT_PTX; }

static const qn_model usual_model = {.address_bits = 64, .has_double = true, .has_int64_atomics = true};
static const qn_model small_model = {.address_bits = 32};

/* ---- Front end ---------------------------------------------------------------------------------- */

static qn_compile_request request_of(core_build *b, const qn_model *model, const pp_files *files) {
  return (qn_compile_request){.source = b->source,
                              .file_name = b->given.file_name,
                              .options = &b->options,
                              .model = *model,
                              .files = files,
                              .is_for_files = true};
}

static qn_status preprocess(core_build *b) {
  const pp_files files = {.user = &b->seen, .seen = qn_manifest_saw};
  const qn_compile_request request = request_of(b, &usual_model, &files);
  return qn_preprocess(&b->arena, &request, &b->out, &b->log);
}

static qn_status compile_model(core_build *b, const qn_model *model, core_build_module *out, qn_bytes *log) {
  const pp_files files = {.user = &b->seen, .seen = qn_manifest_saw};
  const qn_compile_request request = request_of(b, model, &files);
  QN_TRY(qn_compile(&b->arena, &request, &out->module, log));
  QN_TRY(pass_access(out->module));
  QN_TRY(core_source_describe(&b->arena, out->module, QN_SV(""), &out->description));
  ir_print(out->module, &out->text);
  return out->text.failed || log->failed ? out_of_memory() : QN_OK;
}

/* What is warned of is the same with both models. */
static qn_status compile(core_build *b) {
  qn_bytes again = {0};
  QN_TRY(compile_model(b, b->given.kind == QN_ARTIFACT_WGSL ? &small_model : &usual_model, &b->usual, &b->log));
  if (!core_build_has_wgsl(b)) return QN_OK;
  qn_status status = compile_model(b, &small_model, &b->small, &again);
  qn_bytes_free(&again);
  return status;
}

/* ---- Keys --------------------------------------------------------------------------------------- */

/* What shapes an artifact beside its source. */
static void add_form(qn_key_maker *maker, const core_build *b) {
  qn_key_add_str(maker, QN_BUILD_ID);
  qn_key_add_str(maker, needs_llvm(b) ? qn_target_llvm_id() : "");
  qn_key_add_u64(maker, b->given.kind);
  qn_key_add_u64(maker, b->given.scalar);
  qn_key_add_str(maker, b->name ? b->name : "");
  for (uint32_t i = 0; i < b->target_count; i++) {
    qn_key_add_str(maker, b->targets[i].name);
    qn_key_add_str(maker, b->targets[i].cpu ? b->targets[i].cpu : "");
  }
}

static void make_lookup_key(core_build *b) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "look-up of an artifact");
  add_form(&maker, b);
  qn_key_add_str(&maker, label(b));
  qn_key_add_str(&maker, b->given.options ? b->given.options : "");
  qn_key_add_sv(&maker, b->source);
  qn_key_end(&maker, &b->lookup);
}

/* With names and types of arguments, which the IR leaves out. */
static bool add_module(qn_key_maker *maker, const core_build_module *m) {
  qn_bytes description = {0};
  core_source_pack(&m->description, &description);
  qn_key_add_sv(maker, qn_bytes_view(&description));
  qn_key_add_sv(maker, qn_bytes_view(&m->text));
  bool failed = description.failed;
  qn_bytes_free(&description);
  return !failed;
}

static qn_status make_key(core_build *b) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "artifact");
  add_form(&maker, b);
  qn_key_add_u64(&maker, core_option_bits(&b->options));
  bool good = add_module(&maker, &b->usual) && (!b->small.module || add_module(&maker, &b->small));
  qn_key_end(&maker, &b->key);
  return good ? QN_OK : out_of_memory();
}

/* ---- Making ------------------------------------------------------------------------------------- */

qn_status core_build_copy_module(core_build *b, ir_module **out) {
  ir_module *m = ir_module_new(&b->arena, &b->usual.module->model);
  if (!m) return out_of_memory();
  qn_status status = ir_parse(m, qn_bytes_view(&b->usual.text), label(b));
  if (status < 0)
    ir_module_free(m);
  else
    *out = m;
  return status;
}

qn_status core_build_code(const core_build *b, ir_module *m, const core_build_target *target, uint32_t kind,
                          qn_bytes *out) {
  const qn_target_options options = {.emit = kind == QN_ARTIFACT_CODE       ? QN_EMIT_OBJECT
                                             : kind == QN_ARTIFACT_ASSEMBLY ? QN_EMIT_ASSEMBLY
                                                                            : QN_EMIT_LLVM_IR,
                                     .arch = target->arch,
                                     .cpu = target->cpu,
                                     .features = "",
                                     .scalar = b->given.scalar != 0,
                                     .opt_disable = b->options.opt_disable};
  QN_TRY(qn_prepare_cpu(m));
  qn_status status = qn_target_llvm(m, &options, out);
  core_exit_after_llvm();
  return status;
}

/* For people and other programs: kernels have the source's own parameters, and the text says how to build it. */
static qn_status make_opencl_c(core_build *b) {
  qn_opencl_c_program program;
  const qn_opencl_c_options options = {.rounded_divide_sqrt = true, .opt_disable = b->options.opt_disable};
  return qn_target_opencl_c(b->usual.module, &options, &b->out, &program);
}

static qn_status make_wgsl(core_build *b) {
  qn_wgsl_program program;
  const qn_wgsl_options options = {.rounded_divide_sqrt = b->options.fp32_correctly_rounded_divide_sqrt};
  return qn_target_wgsl(b->usual.module, &options, &b->out, &program);
}

static qn_status make_ptx(core_build *b) {
  return core_ptx_code(&b->arena, b->usual.module, b->targets[0].name, core_option_bits(&b->options), &b->out, NULL);
}

static qn_status make(core_build *b) {
  if (b->given.kind == QN_ARTIFACT_OPENCL_C) return make_opencl_c(b);
  if (b->given.kind == QN_ARTIFACT_WGSL) return make_wgsl(b);
  if (b->given.kind == QN_ARTIFACT_PTX) return make_ptx(b);
  if (b->given.kind == QN_ARTIFACT_IR) {
    qn_bytes_append_sv(&b->out, qn_bytes_view(&b->usual.text));
    return QN_OK;
  }
  if (core_build_is_image(b->given.kind)) return core_build_image(b);
  return core_build_code(b, b->usual.module, &b->targets[0], b->given.kind, &b->out);
}

/* ---- Finding ------------------------------------------------------------------------------------ */

/* A hit may be counted later: when its output is in place. */
static qn_store_answer find_entry(core_build *b) {
  qn_store_answer answer = qn_store_look(b->store, &b->key, QN_ENTRY_ARTIFACT, &b->out);
  b->is_found = answer == QN_STORE_HIT;
  if (!b->is_found) return answer;
  if (!(b->given.flags & QN_BUILD_DEFER_HIT))
    qn_store_used(b->store, &b->key, QN_ENTRY_ARTIFACT, label(b), &b->before);
  else if (b->before.answer == QN_STORE_HIT)
    qn_store_stamp(b->store, &b->lookup, QN_ENTRY_MANIFEST);
  return answer;
}

/* By what is known before anything is read. */
static bool find_early(core_build *b) {
  qn_store_answer answer = qn_manifest_get(b->store, &b->lookup, &b->key, &b->log, &b->seen);
  b->before = (qn_store_before){true, b->lookup, answer};
  if (answer == QN_STORE_HIT && find_entry(b) == QN_STORE_HIT) return true;
  qn_manifest_free(&b->seen);
  qn_bytes_free(&b->log);
  b->log = (qn_bytes){0};
  return false;
}

static qn_status make_and_store(core_build *b, qn_store_answer answer) {
  qn_store_missed(b->store, &b->key, QN_ENTRY_ARTIFACT, label(b), &b->before, answer);
  QN_TRY(make(b));
  if (b->out.failed) return out_of_memory();
  qn_store_put(b->store, &b->key, QN_ENTRY_ARTIFACT, label(b), qn_bytes_view(&b->out));
  return QN_OK;
}

/* How long one process waits for another that makes the same. */
#define CROWD_PATIENCE_NS UINT64_C(30000000000)

/* Of a crowd that wants one artifact one makes it. Whoever has the lock looks again. */
static qn_status make_alone(core_build *b) {
  qn_file_lock lock;
  (void)qn_store_lock(b->store, &b->key, CROWD_PATIENCE_NS, &lock);
  qn_store_answer answer = find_entry(b);
  qn_status status = answer == QN_STORE_HIT ? QN_OK : make_and_store(b, answer);
  qn_file_lock_give(&lock);
  return status;
}

static qn_status find_or_make(core_build *b) {
  make_lookup_key(b);
  if (find_early(b)) return QN_OK;
  QN_TRY(compile(b));
  QN_TRY(make_key(b));
  if (find_entry(b) != QN_STORE_HIT) QN_TRY(make_alone(b));
  qn_manifest_put(b->store, &b->lookup, label(b), &b->seen, &b->key, qn_bytes_view(&b->log));
  return QN_OK;
}

/* ---- One build ---------------------------------------------------------------------------------- */

static qn_status read_source(core_build *b) {
  uint64_t size = b->given.source_bytes ? b->given.source_bytes : strlen(b->given.source);
  if (size > SIZE_MAX / 2) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.source_bytes is %llu", (unsigned long long)size);
  char *copy =
      qn_arena_copy(&b->arena, qn_sv_make(b->given.source, (size_t)size)); /* with the NUL that the compiler wants */
  if (!copy) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a source of %llu bytes", (unsigned long long)size);
  b->source = qn_sv_make(copy, (size_t)size);
  return QN_OK;
}

/* The environment's word is for what devices run: here it counts as the option does. */
static qn_status read_scalar(core_build *b) {
  bool is_scalar = false;
  QN_TRY(qn_environment_flag("QUERN_CPU_SCALAR", &is_scalar));
  b->given.scalar |= is_scalar;
  return QN_OK;
}

static qn_status run(core_build *b) {
  QN_TRY(qn_store_default(&b->store));
  QN_TRY(read_scalar(b));
  QN_TRY(qn_compile_options_parse(&b->arena, b->given.options ? b->given.options : "", &b->options));
  QN_TRY(read_source(b));
  if (b->given.kind == QN_ARTIFACT_PREPROCESSED) return preprocess(b);
  QN_TRY(has_targets(b) ? core_build_read_targets(b) : core_build_check_targets(b->given.target));
  if (core_build_is_image(b->given.kind)) QN_TRY(core_build_read_name(b));
  return find_or_make(b);
}

/* A caller whose struct lacks a text's field could not free the text. */
enum { SMALLEST_ARTIFACT = offsetof(qn_artifact, dependency_bytes) + sizeof(uint64_t) };

static qn_status check(const qn_build_options *given, qn_build_options *o, const qn_artifact *out_artifact) {
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options is NULL; a build needs a source");
  if (!out_artifact) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_artifact is NULL");
  QN_TRY(CORE_OPTIONS_READ(o, given, "qn_build_options"));
  QN_TRY(core_reserved_check(o->reserved, "qn_build_options"));
  QN_TRY(core_info_check(out_artifact, "out_artifact"));
  if (out_artifact->struct_size < SMALLEST_ARTIFACT)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_artifact.struct_size is %u, it has %d bytes or more",
            out_artifact->struct_size, SMALLEST_ARTIFACT);
  if (!o->source) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.source is NULL");
  if (o->kind < QN_ARTIFACT_PREPROCESSED || o->kind > QN_ARTIFACT_PTX)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.kind %u is not known (1 to %d are)", o->kind, QN_ARTIFACT_PTX);
  return QN_OK;
}

/* The bytes and texts in blocks of their own, each with a NUL behind it. */
static qn_status fill_artifact(core_build *b, qn_bytes *files, qn_artifact *out) {
  qn_bytes *const parts[] = {&b->out, &b->log, files};
  for (size_t i = 0; i < 3; i++) {
    if (!parts[i]->data) qn_bytes_append(parts[i], "", 0);
    if (!parts[i]->data && !qn_bytes_reserve(parts[i], 1)) return out_of_memory();
    if (parts[i]->failed || !parts[i]->data) return out_of_memory();
    parts[i]->data[parts[i]->size] = '\0';
  }
  qn_artifact made = {.struct_size = sizeof made,
                      .kind = b->given.kind,
                      .bytes = b->out.data,
                      .size_bytes = b->out.size,
                      .log = b->log.data,
                      .log_bytes = b->log.size,
                      .dependencies = files->data,
                      .dependency_bytes = files->size,
                      .cached = b->is_found ? 2 : 0};
  if (b->given.kind != QN_ARTIFACT_PREPROCESSED) qn_key_print(&b->key, made.key, sizeof made.key);
  CORE_INFO_WRITE(out, &made);
  return QN_OK;
}

static qn_status build(const qn_build_options *given, qn_artifact *out_artifact) {
  core_build b = {0};
  qn_bytes files = {0};
  QN_TRY(check(given, &b.given, out_artifact));
  qn_arena_init(&b.arena, 0);
  bool before = qn_waiting_is_shown((b.given.flags & QN_BUILD_SHOW_WAITS) != 0);
  qn_status status = run(&b);
  (void)qn_waiting_is_shown(before);
  qn_manifest_list(&b.seen, &files);
  if (status >= 0) status = fill_artifact(&b, &files, out_artifact);
  if (b.usual.module) ir_module_free(b.usual.module);
  if (b.small.module) ir_module_free(b.small.module);
  qn_manifest_free(&b.seen);
  qn_bytes_free(&b.usual.text);
  qn_bytes_free(&b.small.text);
  qn_arena_free(&b.arena);
  if (status >= 0) return QN_OK;
  qn_bytes_free(&b.out);
  qn_bytes_free(&b.log);
  qn_bytes_free(&files);
  return status;
}

qn_status qn_build(const qn_build_options *options, qn_artifact *out_artifact) {
  CORE_CALL(build(options, out_artifact));
}

void qn_artifact_free(qn_artifact *artifact) {
  if (!artifact) return;
  free((void *)(uintptr_t)artifact->bytes);
  free((void *)(uintptr_t)artifact->log);
  free((void *)(uintptr_t)artifact->dependencies);
  artifact->bytes = NULL;
  artifact->log = artifact->dependencies = NULL;
  artifact->size_bytes = artifact->log_bytes = artifact->dependency_bytes = 0;
}
