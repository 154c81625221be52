#include "core/program_make.h"

#include <string.h>

#include "base/log.h"
#include "base/os/environment.h"
#include "base/status.h"
#include "build_id.h"
#include "compiler/pass/pass.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "compiler/target/target.h"
#include "core/exit.h"
#include "core/ptx_code.h"
#include "core/wgsl_code.h"

/* How long one process waits for another that compiles the same. */
#define CROWD_PATIENCE_NS UINT64_C(30000000000)

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program"); }

qn_status core_make_begin(core_make *make, core_device *device, core_program *program, const char *label) {
  *make = (core_make){.device = device, .program = program, .label = label};
  QN_TRY(qn_environment_flag("QUERN_CPU_SCALAR", &make->scalar));
  QN_TRY(qn_store_default(&make->store));
  qn_arena_init(&make->arena, 0);
  return QN_OK;
}

void core_make_end(core_make *make) {
  if (make->module) ir_module_free(make->module);
  qn_bytes_free(&make->text);
  qn_arena_free(&make->arena);
}

/* ---- Keys --------------------------------------------------------------------------------------- */

qn_model core_make_model(const core_make *make) {
  const qn_adapter_device_info *info = &make->device->info;
  return (qn_model){.address_bits = info->address_bits,
                    .has_double = (info->features & QN_FEATURE_DOUBLE) != 0,
                    .has_half = (info->features & QN_FEATURE_HALF) != 0,
                    .has_int64_atomics = (info->features & QN_FEATURE_INT64_ATOMICS) != 0};
}

void core_make_add_device(const core_make *make, qn_key_maker *maker) {
  const qn_adapter_device_info *info = &make->device->info;
  const qn_model model = core_make_model(make);
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
  qn_key_add_u64(maker, make->scalar);
}

uint64_t core_option_bits(const qn_compile_options *o) {
  return (uint64_t)o->fast_relaxed_math | (uint64_t)o->opt_disable << 1 | (uint64_t)o->denorms_are_zero << 2 |
         (uint64_t)o->finite_math_only << 3 | (uint64_t)o->unsafe_math << 4 | (uint64_t)o->no_signed_zeros << 5 |
         (uint64_t)o->mad_enable << 6 | (uint64_t)o->fp32_correctly_rounded_divide_sqrt << 7;
}

qn_status core_make_key(core_make *make) {
  qn_key_maker maker;
  ir_print(make->module, &make->text);
  if (make->text.failed) return out_of_memory();
  qn_key_start(&maker);
  qn_key_add_str(&maker, "program");
  core_make_add_device(make, &maker);
  qn_key_add_u64(&maker, make->option_bits);
  qn_key_add_sv(&maker, qn_bytes_view(&make->text));
  qn_key_end(&maker, &make->key);
  return QN_OK;
}

/* ---- Code --------------------------------------------------------------------------------------- */

static qn_status generate_object(core_make *m, qn_bytes *out) {
  const qn_adapter_device_info *info = &m->device->info;
  const qn_target_options options = {.emit = QN_EMIT_OBJECT,
                                     .arch = info->target,
                                     .cpu = info->target_cpu,
                                     .features = info->target_features,
                                     .scalar = m->scalar,
                                     .opt_disable = (m->option_bits & CORE_OPTION_OPT_DISABLE) != 0};
  QN_TRY(qn_prepare_cpu(m->module));
  qn_status status = qn_target_llvm(m->module, &options, out);
  core_exit_after_llvm();
  return status;
}

static qn_status generate_opencl_c(core_make *m, qn_bytes *out) {
  const char *features = m->device->info.target_features;
  const qn_opencl_c_options options = {.adapter_entries = true,
                                       .rounded_divide_sqrt = strstr(features, QN_OPENCL_C_ROUNDED_DIVIDE_SQRT) != NULL,
                                       .opt_disable = (m->option_bits & CORE_OPTION_OPT_DISABLE) != 0};
  return qn_target_opencl_c(m->module, &options, out, &m->opencl_c);
}

/* Kernels are in the module's order in both. */
static qn_status describe_entries(const core_make *m, core_binary *binary) {
  for (uint32_t i = 0; i < m->opencl_c.kernel_count && i < binary->kernels.count; i++) {
    const qn_opencl_c_kernel *entry = &m->opencl_c.kernels[i];
    qn_adapter_kernel_description *description = &binary->kernels.items[i];
    description->symbol = qn_arena_copy(&binary->arena, qn_sv_from(entry->symbol));
    description->entry_flags = entry->takes_range ? QN_ENTRY_RANGE : 0;
    if (!description->symbol) return out_of_memory();
  }
  return QN_OK;
}

/* The text is as it was printed for the key; the layout is for what is told of local memory. */
static qn_status take_text(core_make *m, qn_bytes *out) {
  qn_bytes_append_sv(out, qn_bytes_view(&m->text));
  return pass_layout(m->module);
}

static qn_status generate(core_make *m, qn_bytes *out) {
  switch (m->device->info.code_kind) {
    case QN_CODE_ELF_OBJECT:
      return generate_object(m, out);
    case QN_CODE_IR:
      return take_text(m, out);
    case QN_CODE_OPENCL_C:
      return generate_opencl_c(m, out);
    default:
      QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s takes code of kind %u, which this library can't make",
              m->device->selector, m->device->info.code_kind);
  }
}

qn_status core_make_load(core_make *m, const qn_adapter_code *code, core_binary *binary) {
  uint64_t begin = core_trace_begin();
  binary->bytes = code->size_bytes;
  qn_status status = m->device->table->program_create(m->device->native, code, &binary->native);
  core_trace_end(begin, "compile", "load", m->label);
  return status;
}

static qn_status load_image(core_make *m, qn_sv image, core_binary *binary) {
  qn_adapter_code code;
  QN_TRY(core_image_unpack(&binary->arena, image, &binary->kernels, &code));
  if (binary->kernels.count != m->program->source.kernel_count)
    QN_FAIL(QN_ERROR_DATA, "the cached program has other kernels than its source");
  return core_make_load(m, &code, binary);
}

/* Whatever is wrong with what the store gave, the program is then compiled. */
static qn_store_answer load_stored(core_make *m, core_binary *binary) {
  qn_bytes image = {0};
  qn_error_saved saved;
  qn_store_answer answer = qn_store_look(m->store, &m->key, QN_ENTRY_PROGRAM, &image);
  qn_error_save(&saved);
  if (answer == QN_STORE_HIT && load_image(m, qn_bytes_view(&image), binary) < 0) answer = QN_STORE_DAMAGED;
  qn_error_restore(&saved);
  qn_bytes_free(&image);
  m->is_from_store = answer == QN_STORE_HIT;
  if (m->is_from_store) qn_store_used(m->store, &m->key, QN_ENTRY_PROGRAM, m->label, &m->before);
  return answer;
}

/* The driver's own binary where it gives one, for it need not compile again; else the code. */
static void take_native(const core_make *m, const core_binary *binary, const qn_adapter_code *code, qn_bytes *bytes,
                        qn_adapter_code *out) {
  const qn_adapter_table *table = m->device->table;
  uint64_t size = 0;
  *out = *code;
  if ((code->kind != QN_CODE_OPENCL_C && code->kind != QN_CODE_PTX) || !table->program_binary) return;
  qn_error_saved saved;
  qn_error_save(&saved);
  qn_status status = table->program_binary(m->device->native, binary->native, 0, NULL, &size);
  if (status >= 0 && size > 0 && size < SIZE_MAX && qn_bytes_reserve(bytes, (size_t)size))
    status = table->program_binary(m->device->native, binary->native, size, bytes->data, &size);
  if (status >= 0 && bytes->data) {
    bytes->size = (size_t)size;
    *out =
        (qn_adapter_code){.struct_size = sizeof *out, .kind = QN_CODE_NATIVE, .bytes = bytes->data, .size_bytes = size};
  }
  qn_error_restore(&saved);
}

static void store_image(core_make *m, const core_binary *binary, const qn_adapter_code *code) {
  qn_bytes image = {0}, native = {0};
  qn_adapter_code best;
  if (m->store->settings.mode == QN_STORE_OFF) return;
  take_native(m, binary, code, &native, &best);
  core_image_pack(&binary->kernels, &best, &image);
  if (!image.failed) qn_store_put(m->store, &m->key, QN_ENTRY_PROGRAM, m->label, qn_bytes_view(&image));
  qn_bytes_free(&image);
  qn_bytes_free(&native);
}

/* Code, and what launches need to know of it. */
static qn_status generate_described(core_make *m, core_binary *binary, qn_bytes *out) {
  if (m->device->info.code_kind == QN_CODE_WGSL)
    return core_wgsl_code(&binary->arena, m->module, qn_bytes_view(&m->text), m->option_bits, m->label, out,
                          &binary->kernels);
  if (m->device->info.code_kind == QN_CODE_PTX)
    return core_ptx_code(&binary->arena, m->module, m->device->info.target, m->option_bits, out, &binary->kernels);
  QN_TRY(generate(m, out));
  if (out->failed) return out_of_memory();
  QN_TRY(core_kernels_describe(&binary->arena, m->module, &binary->kernels));
  return describe_entries(m, binary);
}

static qn_status generate_and_load(core_make *m, core_binary *binary) {
  qn_bytes code = {0};
  if (!m->module) QN_TRY(m->compile(m)); /* the store has lost the code, and knows the rest */
  uint64_t begin = core_trace_begin();
  qn_status status = generate_described(m, binary, &code);
  core_trace_end(begin, "compile", "generate code", m->label);
  const qn_adapter_code loaded = {.struct_size = sizeof loaded,
                                  .kind = m->device->info.code_kind,
                                  .bytes = code.data,
                                  .size_bytes = code.size,
                                  .options = m->opencl_c.build_options};
  if (status >= 0) status = core_make_load(m, &loaded, binary);
  if (status >= 0) store_image(m, binary, &loaded);
  qn_bytes_free(&code);
  return status;
}

/* Another process may have made it since it was looked for: while this one waited, or in the moment before it had the lock. */
static qn_status make_alone(core_make *m, core_binary *binary) {
  qn_store_answer answer = load_stored(m, binary);
  if (answer == QN_STORE_HIT) return QN_OK;
  qn_store_missed(m->store, &m->key, QN_ENTRY_PROGRAM, m->label, &m->before, answer);
  return generate_and_load(m, binary);
}

/* Called by the device's cache when it has no binary of the key. */
static qn_status make_binary(void *user, core_binary *binary) {
  core_make *m = user;
  qn_file_lock lock;
  if (load_stored(m, binary) == QN_STORE_HIT) return QN_OK;
  (void)qn_store_lock(m->store, &m->key, CROWD_PATIENCE_NS, &lock);
  qn_status status = make_alone(m, binary);
  qn_file_lock_give(&lock);
  return status;
}

void core_make_tell(core_make *make, bool is_in_memory) {
  char digits[13];
  qn_key_print(&make->key, digits, sizeof digits);
  if (is_in_memory) QN_LOG(CACHE, "hit %s %s: in memory of %s", make->label, digits, make->device->selector);
  bool is_compiled = !is_in_memory && !make->is_from_store;
  core_trace_moment("cache", is_in_memory ? "hit in memory" : is_compiled ? "miss" : "hit on disk", make->label);
  if (is_compiled) QN_LOG(CACHE, "compile %s %s: for %s", make->label, digits, make->device->selector);
  if (is_in_memory) atomic_fetch_add(&make->device->program_cache_hits, 1);
  if (is_compiled) atomic_fetch_add(&make->device->programs_compiled, 1);
  make->program->cached = is_in_memory ? 1 : make->is_from_store ? 2 : 0;
}

qn_status core_make_binary(core_make *make) {
  bool hit = false;
  QN_TRY(core_program_cache_get(&make->device->programs, &make->key, make_binary, make, &make->program->binary, &hit));
  core_make_tell(make, hit);
  return QN_OK;
}
