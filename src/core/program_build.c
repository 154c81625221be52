/* program_build.c - from OpenCL C to a program of a device: compile, describe, look the key up, generate code, load. */
#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/os/clock.h"
#include "base/os/environment.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "build_id.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/target/target.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/program.h"
#include "core/tracking.h"
#include "store/key.h"

/* One build. The module and all that it was made from live in `arena`, which ends with the build. */
typedef struct build {
  core_device *device;
  core_program *program;
  qn_arena arena;
  qn_compile_options options;
  ir_module *module;
  qn_bytes log;
  qn_bytes text; /* the module's canonical text */
  bool scalar;   /* QUERN_CPU_SCALAR=1: code without vectors, for benches and to tell a vectoriser's fault */
} build;

/* ---- Front end ---------------------------------------------------------------------------------- */

static qn_model model_of(const qn_adapter_device_info *info) {
  return (qn_model){.address_bits = info->address_bits,
                    .has_double = (info->features & QN_FEATURE_DOUBLE) != 0,
                    .has_half = (info->features & QN_FEATURE_HALF) != 0,
                    .has_int64_atomics = (info->features & QN_FEATURE_INT64_ATOMICS) != 0};
}

/* A copy, with the NUL behind it that the front end wants. */
static qn_status copy_source(build *b, const qn_program_options *given, qn_sv *out) {
  uint64_t size = given->source_bytes ? given->source_bytes : strlen(given->source);
  if (size > SIZE_MAX / 2) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "source_bytes is %llu", (unsigned long long)size);
  const char *copy = qn_arena_copy(&b->arena, qn_sv_make(given->source, (size_t)size));
  if (!copy) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a source of %llu bytes", (unsigned long long)size);
  *out = qn_sv_make(copy, (size_t)size);
  return QN_OK;
}

static qn_status compile_source(build *b, const qn_program_options *given) {
  qn_compile_request request = {
      .file_name = given->file_name, .options = &b->options, .model = model_of(&b->device->info)};
  QN_TRY(qn_compile_options_parse(&b->arena, given->options ? given->options : "", &b->options));
  QN_TRY(copy_source(b, given, &request.source));
  QN_TRY(qn_compile(&b->arena, &request, &b->module, &b->log));
  return pass_access(b->module);
}

/* ---- What is told about kernels ----------------------------------------------------------------- */

static bool is_kernel(const ir_function *f) { return f->is_kernel && f->body; }

static uint32_t count_kernels(const ir_module *m) {
  uint32_t count = 0;
  for (const ir_function *f = m->functions; f; f = f->next) count += is_kernel(f);
  return count;
}

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program's description"); }

static qn_status describe_source(qn_arena *arena, const ir_function *f, core_kernel_source *out) {
  if (f->param_count > CORE_USES)
    QN_FAIL(QN_ERROR_LIMIT, "kernel '%s' has %u arguments; the limit is %d", f->name, f->param_count, CORE_USES);
  out->name = qn_arena_copy(arena, qn_sv_from(f->name));
  out->arguments = QN_ARENA_ARRAY(arena, qn_argument_info, f->param_count ? f->param_count : 1);
  if (!out->name || !out->arguments) return out_of_memory();
  out->argument_count = f->param_count;
  memcpy(out->required_local, f->required_local, sizeof out->required_local);
  memcpy(out->hinted_local, f->hinted_local, sizeof out->hinted_local);
  for (uint32_t i = 0; i < f->param_count; i++) {
    out->arguments[i].struct_size = sizeof out->arguments[i];
    QN_TRY(qn_reflect_argument(f, i, &out->arguments[i]));
  }
  return QN_OK;
}

static qn_status describe_sources(build *b) {
  core_program *program = b->program;
  uint32_t count = count_kernels(b->module), i = 0;
  program->kernels = QN_ARENA_ARRAY(&program->arena, core_kernel_source, count ? count : 1);
  if (!program->kernels) return out_of_memory();
  for (const ir_function *f = b->module->functions; f; f = f->next)
    if (is_kernel(f)) QN_TRY(describe_source(&program->arena, f, &program->kernels[i++]));
  return QN_OK;
}

static qn_status keep_log(build *b) {
  if (b->log.failed) return out_of_memory();
  if (b->log.size == 0) return QN_OK;
  const char *copy = qn_arena_copy(&b->program->arena, qn_bytes_view(&b->log));
  if (!copy) return out_of_memory();
  b->program->log = copy;
  b->program->log_bytes = b->log.size;
  return QN_OK;
}

/* ---- What launches need of the code ------------------------------------------------------------- */

static qn_status describe_parameters(qn_arena *arena, const ir_function *f, qn_adapter_kernel_description *out) {
  qn_adapter_parameter *parameters = QN_ARENA_ARRAY(arena, qn_adapter_parameter, f->param_count ? f->param_count : 1);
  if (!parameters) return out_of_memory();
  for (uint32_t i = 0; i < f->param_count; i++) {
    qn_argument_info info = {.struct_size = sizeof info};
    QN_TRY(qn_reflect_argument(f, i, &info));
    parameters[i] = (qn_adapter_parameter){.kind = info.kind,
                                           .size_bytes = info.kind == QN_ARGUMENT_VALUE ? info.element_bytes : 0,
                                           .alignment = info.element_align,
                                           .slot_offset = (uint32_t)qn_argument_offset(f, i)};
  }
  out->parameters = parameters;
  out->parameter_count = f->param_count;
  return QN_OK;
}

static qn_status describe_kernel(qn_arena *arena, const ir_function *f, qn_adapter_kernel_description *out) {
  *out = (qn_adapter_kernel_description){.struct_size = sizeof *out,
                                         .name = qn_arena_copy(arena, qn_sv_from(f->name)),
                                         .symbol = qn_arena_printf(arena, QN_KERNEL_SYMBOL_PREFIX "%s", f->name),
                                         .argument_block_bytes = qn_argument_block_bytes(f),
                                         .static_local_bytes = f->static_local_bytes,
                                         .scratch_bytes_per_item = f->scratch_bytes_per_item,
                                         .scratch_bytes_per_group = f->scratch_bytes_per_group};
  if (!out->name || !out->symbol) return out_of_memory();
  memcpy(out->required_local, f->required_local, sizeof out->required_local);
  return describe_parameters(arena, f, out);
}

static qn_status describe_kernels(const ir_module *m, core_binary *binary) {
  uint32_t count = count_kernels(m), i = 0;
  binary->kernels = QN_ARENA_ARRAY(&binary->arena, qn_adapter_kernel_description, count ? count : 1);
  if (!binary->kernels) return out_of_memory();
  for (const ir_function *f = m->functions; f; f = f->next)
    if (is_kernel(f)) QN_TRY(describe_kernel(&binary->arena, f, &binary->kernels[i++]));
  binary->kernel_count = count;
  return QN_OK;
}

/* ---- Code --------------------------------------------------------------------------------------- */

static qn_once llvm_loaded;

static qn_status generate_object(build *b, qn_bytes *out) {
  const qn_adapter_device_info *info = &b->device->info;
  const qn_target_options options = {.emit = QN_EMIT_OBJECT,
                                     .arch = info->target,
                                     .cpu = info->target_cpu,
                                     .features = info->target_features,
                                     .scalar = b->scalar,
                                     .opt_disable = b->options.opt_disable};
  QN_TRY(qn_prepare_cpu(b->module));
  QN_TRY(qn_target_llvm(b->module, &options, out));
  qn_once_run(&llvm_loaded, core_exit_register); /* LLVM's exit handlers are registered by now */
  return QN_OK;
}

/* The text is as it was printed for the key; the layout is for what is told of local memory. */
static qn_status take_text(build *b, qn_bytes *out) {
  qn_bytes_append_sv(out, qn_bytes_view(&b->text));
  return pass_layout(b->module);
}

static qn_status generate(build *b, qn_bytes *out) {
  switch (b->device->info.code_kind) {
    case QN_CODE_ELF_OBJECT:
      return generate_object(b, out);
    case QN_CODE_IR:
      return take_text(b, out);
    default:
      QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s takes code of kind %u, which this library can't make",
              b->device->selector, b->device->info.code_kind);
  }
}

/* Called by the cache when there is no binary of the key. */
static qn_status make_binary(void *user, core_binary *binary) {
  build *b = user;
  core_device *device = b->device;
  qn_bytes code = {0};
  qn_status status = generate(b, &code);
  if (status >= 0 && code.failed) status = out_of_memory();
  if (status >= 0) status = describe_kernels(b->module, binary);
  const qn_adapter_code loaded = {
      .struct_size = sizeof loaded, .kind = device->info.code_kind, .bytes = code.data, .size_bytes = code.size};
  if (status >= 0) status = device->table->program_create(device->native, &loaded, &binary->native);
  qn_bytes_free(&code);
  return status;
}

/* ---- Key ---------------------------------------------------------------------------------------- */

/* Options that shape code beyond what the IR's text shows. */
static uint64_t option_bits(const qn_compile_options *o) {
  return (uint64_t)o->fast_relaxed_math | (uint64_t)o->opt_disable << 1 | (uint64_t)o->denorms_are_zero << 2 |
         (uint64_t)o->finite_math_only << 3 | (uint64_t)o->unsafe_math << 4 | (uint64_t)o->no_signed_zeros << 5 |
         (uint64_t)o->mad_enable << 6 | (uint64_t)o->fp32_correctly_rounded_divide_sqrt << 7;
}

static qn_status make_key(build *b, qn_key *out_key) {
  const qn_adapter_device_info *info = &b->device->info;
  qn_key_maker maker;
  ir_print(b->module, &b->text);
  if (b->text.failed) return out_of_memory();
  qn_key_start(&maker);
  qn_key_add_str(&maker, QN_BUILD_ID);
  qn_key_add_u64(&maker, info->code_kind);
  qn_key_add_str(&maker, info->target);
  qn_key_add_str(&maker, info->target_cpu);
  qn_key_add_str(&maker, info->target_features);
  qn_key_add_u64(&maker, option_bits(&b->options));
  qn_key_add_u64(&maker, b->scalar);
  qn_key_add_sv(&maker, qn_bytes_view(&b->text));
  qn_key_end(&maker, out_key);
  return QN_OK;
}

static void tell(const build *b, const qn_key *key, bool hit) {
  char digits[13];
  qn_key_print(key, digits, sizeof digits);
  QN_LOG(CACHE, "%s program %s %s", hit ? "hit" : "compile", b->device->selector, digits);
  atomic_fetch_add(hit ? &b->device->program_cache_hits : &b->device->programs_compiled, 1);
}

static bool wants_scalar(void) {
  const char *value = qn_environment("QUERN_CPU_SCALAR");
  return value && strcmp(value, "1") == 0;
}

/* ---- Build -------------------------------------------------------------------------------------- */

static qn_status run(build *b, const qn_program_options *given) {
  qn_key key;
  bool hit = false;
  QN_TRY(compile_source(b, given));
  QN_TRY(describe_sources(b));
  QN_TRY(keep_log(b));
  QN_TRY(make_key(b, &key));
  QN_TRY(core_program_cache_get(&b->device->programs, &key, make_binary, b, &b->program->binary, &hit));
  b->program->cached = hit ? 1 : 0;
  tell(b, &key, hit);
  return QN_OK;
}

static qn_status run_to_end(build *b, const qn_program_options *given) {
  qn_arena_init(&b->arena, 0);
  qn_status status = run(b, given);
  if (b->module) ir_module_free(b->module);
  qn_bytes_free(&b->log);
  qn_bytes_free(&b->text);
  qn_arena_free(&b->arena);
  return status;
}

static qn_status check(const core_device *device, const qn_program_options *given, qn_program_options *out,
                       const qn_program *out_program) {
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options is NULL; a program needs a source");
  QN_TRY(CORE_OPTIONS_READ(out, given, "qn_program_options"));
  if (!out->source) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "options.source is NULL");
  if (!out_program) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_program is NULL");
  if (!(device->info.features & QN_FEATURE_KERNELS) || device->info.code_kind == QN_CODE_NONE)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s runs no kernels", device->selector);
  return QN_OK;
}

static qn_status build_on_device(core_device *device, const qn_program_options *given, qn_program *out_program) {
  qn_program_options options;
  uint64_t start = qn_clock_ns();
  QN_TRY(check(device, given, &options, out_program));
  core_device_collect(device);
  core_program *program = core_program_new(device);
  if (!program) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  build b = {.device = device, .program = program, .scalar = wants_scalar()};
  qn_status status = run_to_end(&b, &options);
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
