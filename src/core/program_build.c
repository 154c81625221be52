/* program_build.c - from OpenCL C to a program of a device. In this order, each only when the one before it knows nothing:
 *   the manifest in the store leads from the source's bytes to the program's key, and to what is told of its kernels (C1);
 *   the source is compiled to IR, whose text gives the key;
 *   the device's own cache has the program in memory (C2);
 *   the store has its code (C3);
 *   code is generated, loaded, and stored. */
#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/os/clock.h"
#include "base/os/environment.h"
#include "base/status.h"
#include "build_id.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/target/target.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/program.h"
#include "core/program_source.h"
#include "store/manifest.h"
#include "store/store.h"

/* How long one process waits for another that compiles the same. */
#define CROWD_PATIENCE_NS UINT64_C(30000000000)

/* One build. The module and all that it was made from live in `arena`, which ends with the build. */
typedef struct build {
  core_device *device;
  core_program *program;
  const qn_program_options *given;
  qn_store *store;
  qn_arena arena;
  qn_compile_options options;
  qn_sv source;
  qn_key lookup, key;
  qn_manifest seen;  /* what the compiler read */
  ir_module *module; /* NULL: not compiled, because the manifest knew */
  qn_bytes log;
  qn_bytes text; /* the module's canonical text */
  bool scalar;   /* QUERN_CPU_SCALAR=1: code without vectors, for benches and to tell a vectoriser's fault */
  bool is_from_store;
} build;

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program"); }

static const char *label(const build *b) { return b->given->file_name ? b->given->file_name : "<source>"; }

/* ---- Keys --------------------------------------------------------------------------------------- */

static qn_model model_of(const qn_adapter_device_info *info) {
  return (qn_model){.address_bits = info->address_bits,
                    .has_double = (info->features & QN_FEATURE_DOUBLE) != 0,
                    .has_half = (info->features & QN_FEATURE_HALF) != 0,
                    .has_int64_atomics = (info->features & QN_FEATURE_INT64_ATOMICS) != 0};
}

/* What shapes the code of every program of this device. */
static void add_device(qn_key_maker *maker, const build *b) {
  const qn_adapter_device_info *info = &b->device->info;
  const qn_model model = model_of(info);
  qn_key_add_str(maker, QN_BUILD_ID);
  qn_key_add_str(maker, info->code_kind == QN_CODE_ELF_OBJECT ? qn_target_llvm_id() : "");
  qn_key_add_u64(maker, info->code_kind);
  qn_key_add_str(maker, info->driver);
  qn_key_add_str(maker, info->target);
  qn_key_add_str(maker, info->target_cpu);
  qn_key_add_str(maker, info->target_features);
  qn_key_add_u64(maker, model.address_bits);
  qn_key_add_u64(maker,
                 (uint64_t)model.has_double | (uint64_t)model.has_half << 1 | (uint64_t)model.has_int64_atomics << 2);
  qn_key_add_u64(maker, b->scalar);
}

/* Of what is known before anything is read. The file's name is in diagnostics, in __FILE__, and where includes are looked
 * for. */
static void make_lookup_key(build *b) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "look-up");
  add_device(&maker, b);
  qn_key_add_str(&maker, label(b));
  qn_key_add_str(&maker, b->given->options ? b->given->options : "");
  qn_key_add_sv(&maker, b->source);
  qn_key_end(&maker, &b->lookup);
}

/* Options that shape code beyond what the IR's text shows. */
static uint64_t option_bits(const qn_compile_options *o) {
  return (uint64_t)o->fast_relaxed_math | (uint64_t)o->opt_disable << 1 | (uint64_t)o->denorms_are_zero << 2 |
         (uint64_t)o->finite_math_only << 3 | (uint64_t)o->unsafe_math << 4 | (uint64_t)o->no_signed_zeros << 5 |
         (uint64_t)o->mad_enable << 6 | (uint64_t)o->fp32_correctly_rounded_divide_sqrt << 7;
}

static qn_status make_key(build *b) {
  qn_key_maker maker;
  ir_print(b->module, &b->text);
  if (b->text.failed) return out_of_memory();
  qn_key_start(&maker);
  qn_key_add_str(&maker, "program");
  add_device(&maker, b);
  qn_key_add_u64(&maker, option_bits(&b->options));
  qn_key_add_sv(&maker, qn_bytes_view(&b->text));
  qn_key_end(&maker, &b->key);
  return QN_OK;
}

/* ---- Front end ---------------------------------------------------------------------------------- */

/* A copy, with the NUL behind it that the front end wants. */
static qn_status copy_source(build *b) {
  uint64_t size = b->given->source_bytes ? b->given->source_bytes : strlen(b->given->source);
  if (size > SIZE_MAX / 2) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "source_bytes is %llu", (unsigned long long)size);
  const char *copy = qn_arena_copy(&b->arena, qn_sv_make(b->given->source, (size_t)size));
  if (!copy) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a source of %llu bytes", (unsigned long long)size);
  b->source = qn_sv_make(copy, (size_t)size);
  return QN_OK;
}

static qn_status compile_source(build *b) {
  const pp_files files = {.user = &b->seen, .seen = qn_manifest_saw};
  const qn_compile_request request = {.source = b->source,
                                      .file_name = b->given->file_name,
                                      .options = &b->options,
                                      .model = model_of(&b->device->info),
                                      .files = &files};
  QN_TRY(qn_compile(&b->arena, &request, &b->module, &b->log));
  if (b->log.failed) return out_of_memory();
  QN_TRY(pass_access(b->module));
  return make_key(b);
}

/* True: the store knows what this source leads to. */
static bool ask_manifest(build *b) {
  qn_bytes own = {0};
  bool found = qn_manifest_get(b->store, &b->lookup, label(b), &b->key, &own);
  if (found && core_source_unpack(b->program, qn_bytes_view(&own)) < 0) {
    qn_store_reject(b->store, &b->lookup, QN_ENTRY_MANIFEST);
    found = false;
  }
  qn_bytes_free(&own);
  return found;
}

static void tell_manifest(build *b) {
  qn_bytes own = {0};
  core_source_pack(b->program, &own);
  if (!own.failed) qn_manifest_put(b->store, &b->lookup, label(b), &b->seen, &b->key, qn_bytes_view(&own));
  qn_bytes_free(&own);
}

/* ---- Code --------------------------------------------------------------------------------------- */

static qn_status generate_object(build *b, qn_bytes *out) {
  const qn_adapter_device_info *info = &b->device->info;
  const qn_target_options options = {.emit = QN_EMIT_OBJECT,
                                     .arch = info->target,
                                     .cpu = info->target_cpu,
                                     .features = info->target_features,
                                     .scalar = b->scalar,
                                     .opt_disable = b->options.opt_disable};
  QN_TRY(qn_prepare_cpu(b->module));
  qn_status status = qn_target_llvm(b->module, &options, out);
  core_exit_after_llvm();
  return status;
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

/* Loads code as the device's program. `kernels` was described in the binary's arena. */
static qn_status load(build *b, const qn_adapter_code *code, core_binary *binary) {
  binary->bytes = code->size_bytes;
  return b->device->table->program_create(b->device->native, code, &binary->native);
}

/* Whatever is wrong with what the store gave, the program is then compiled. */
static bool load_stored(build *b, core_binary *binary) {
  qn_bytes image = {0};
  qn_adapter_code code;
  qn_error_saved saved;
  if (qn_store_get(b->store, &b->key, QN_ENTRY_PROGRAM, label(b), &image) != QN_STORE_HIT) {
    qn_bytes_free(&image);
    return false;
  }
  qn_error_save(&saved);
  qn_status status = core_image_unpack(&binary->arena, qn_bytes_view(&image), &binary->kernels, &code);
  if (status >= 0 && binary->kernels.count != b->program->kernel_count)
    status = qn_error_set(QN_ERROR_DATA, "the cached program has other kernels than its source");
  if (status >= 0) status = load(b, &code, binary);
  if (status < 0) qn_store_reject(b->store, &b->key, QN_ENTRY_PROGRAM);
  qn_error_restore(&saved);
  qn_bytes_free(&image);
  b->is_from_store = status >= 0;
  return b->is_from_store;
}

/* The driver's own binary where it gives one, for it need not compile again; else the code. */
static void take_native(const build *b, const core_binary *binary, const qn_adapter_code *code, qn_bytes *bytes,
                        qn_adapter_code *out) {
  const qn_adapter_table *table = b->device->table;
  uint64_t size = 0;
  *out = *code;
  if (code->kind != QN_CODE_OPENCL_C || !table->program_binary) return;
  qn_error_saved saved;
  qn_error_save(&saved);
  qn_status status = table->program_binary(b->device->native, binary->native, 0, NULL, &size);
  if (status >= 0 && size > 0 && size < SIZE_MAX && qn_bytes_reserve(bytes, (size_t)size))
    status = table->program_binary(b->device->native, binary->native, size, bytes->data, &size);
  if (status >= 0 && bytes->data) {
    bytes->size = (size_t)size;
    *out =
        (qn_adapter_code){.struct_size = sizeof *out, .kind = QN_CODE_NATIVE, .bytes = bytes->data, .size_bytes = size};
  }
  qn_error_restore(&saved);
}

static void store_image(build *b, const core_binary *binary, const qn_adapter_code *code) {
  qn_bytes image = {0}, native = {0};
  qn_adapter_code best;
  if (b->store->settings.mode == QN_STORE_OFF) return;
  take_native(b, binary, code, &native, &best);
  core_image_pack(&binary->kernels, &best, &image);
  if (!image.failed) qn_store_put(b->store, &b->key, QN_ENTRY_PROGRAM, label(b), qn_bytes_view(&image));
  qn_bytes_free(&image);
  qn_bytes_free(&native);
}

static qn_status generate_and_load(build *b, core_binary *binary) {
  qn_bytes code = {0};
  if (!b->module) QN_TRY(compile_source(b)); /* the store has lost the code, and knows the rest */
  qn_status status = generate(b, &code);
  if (status >= 0 && code.failed) status = out_of_memory();
  if (status >= 0) status = core_kernels_describe(&binary->arena, b->module, &binary->kernels);
  const qn_adapter_code loaded = {
      .struct_size = sizeof loaded, .kind = b->device->info.code_kind, .bytes = code.data, .size_bytes = code.size};
  if (status >= 0) status = load(b, &loaded, binary);
  if (status >= 0) store_image(b, binary, &loaded);
  qn_bytes_free(&code);
  return status;
}

/* Called by the device's cache when it has no binary of the key. */
static qn_status make_binary(void *user, core_binary *binary) {
  build *b = user;
  qn_file_lock lock;
  if (load_stored(b, binary)) return QN_OK;
  bool waited = !qn_store_lock(b->store, &b->key, QN_POLL, &lock);
  if (waited) waited = qn_store_lock(b->store, &b->key, CROWD_PATIENCE_NS, &lock);
  qn_status status = waited && load_stored(b, binary) ? QN_OK : generate_and_load(b, binary);
  qn_file_lock_give(&lock);
  return status;
}

static void tell(build *b, bool hit) {
  char digits[13];
  qn_key_print(&b->key, digits, sizeof digits);
  if (hit) QN_LOG(CACHE, "hit %s %s: in memory of %s", label(b), digits, b->device->selector);
  if (!hit && !b->is_from_store) QN_LOG(CACHE, "compile %s %s: for %s", label(b), digits, b->device->selector);
  if (hit) atomic_fetch_add(&b->device->program_cache_hits, 1);
  if (!hit && !b->is_from_store) atomic_fetch_add(&b->device->programs_compiled, 1);
  b->program->cached = hit ? 1 : b->is_from_store ? 2 : 0;
}

static bool wants_scalar(void) {
  const char *value = qn_environment("QUERN_CPU_SCALAR");
  return value && strcmp(value, "1") == 0;
}

/* ---- Build -------------------------------------------------------------------------------------- */

static qn_status run(build *b) {
  bool hit = false;
  QN_TRY(qn_store_default(&b->store));
  QN_TRY(qn_compile_options_parse(&b->arena, b->given->options ? b->given->options : "", &b->options));
  QN_TRY(copy_source(b));
  make_lookup_key(b);
  bool is_known = ask_manifest(b);
  if (!is_known) {
    QN_TRY(compile_source(b));
    QN_TRY(core_source_describe(b->program, b->module, qn_bytes_view(&b->log)));
  }
  QN_TRY(core_program_cache_get(&b->device->programs, &b->key, make_binary, b, &b->program->binary, &hit));
  if (!is_known) tell_manifest(b);
  tell(b, hit);
  return QN_OK;
}

static qn_status run_to_end(build *b) {
  qn_arena_init(&b->arena, 0);
  qn_status status = run(b);
  if (b->module) ir_module_free(b->module);
  qn_manifest_free(&b->seen);
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
  build b = {.device = device, .program = program, .given = &options, .scalar = wants_scalar()};
  qn_status status = run_to_end(&b);
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
