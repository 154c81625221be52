/* program_load.c - from an image to a program of a device: the best code in it that the device can run, or else code made
 * from its IR. */
#include <string.h>

#include "base/handle.h"
#include "base/os/clock.h"
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "core/exit.h"
#include "core/program_make.h"
#include "core/ptx_code.h"
#include "core/wgsl_code.h"
#include "store/image.h"

/* One load. `make` comes first: its `compile` finds the rest by it. */
typedef struct load {
  core_make make;
  qn_image image;
  const qn_image_model *model;
  const qn_image_code *code; /* NULL: from the IR */
} load;

/* ---- What suits the device ---------------------------------------------------------------------- */

/* Whether each "+feature" of the list is one of the device's. */
static bool has_features(const char *device, qn_sv wanted) {
  while (wanted.size > 0) {
    const char *comma = memchr(wanted.data, ',', wanted.size);
    size_t size = comma ? (size_t)(comma - wanted.data) : wanted.size;
    bool found = false;
    for (const char *at = device; at && *at && !found;) {
      const char *end = strchr(at, ',');
      size_t length = end ? (size_t)(end - at) : strlen(at);
      found = length == size && memcmp(at, wanted.data, size) == 0;
      at = end ? end + 1 : NULL;
    }
    if (!found) return false;
    wanted = qn_sv_make(wanted.data + size + (comma != NULL), wanted.size - size - (comma != NULL));
  }
  return true;
}

static uint32_t feature_bits(const qn_model *model) {
  return (uint32_t)model->has_double | (uint32_t)model->has_half << 1 | (uint32_t)model->has_int64_atomics << 2;
}

static bool model_suits(const qn_image_model *model, const qn_model *device) {
  return model->address_bits == device->address_bits && (model->features & ~feature_bits(device)) == 0;
}

static bool code_suits(const load *l, const qn_image_code *code) {
  const core_make *make = &l->make;
  const qn_adapter_device_info *info = &make->device->info;
  const qn_model model = core_make_model(make);
  if (info->code_kind == QN_CODE_WGSL)
    return qn_sv_is(code->arch, CORE_WGSL_ARCH) && model_suits(&l->image.models[code->model], &model);
  if (info->code_kind == QN_CODE_PTX)
    return qn_sv_is(code->arch, CORE_PTX_ARCH) && core_ptx_runs(info->target, code->cpu) &&
           model_suits(&l->image.models[code->model], &model);
  return info->code_kind == QN_CODE_ELF_OBJECT && !make->scalar && qn_sv_is(code->arch, info->target) &&
         has_features(info->target_features, code->features) && model_suits(&l->image.models[code->model], &model);
}

static qn_status nothing_suits(const load *l) {
  qn_bytes list = {0};
  for (uint32_t i = 0; i < l->image.model_count; i++) {
    const qn_image_model *m = &l->image.models[i];
    qn_bytes_printf(&list, "%s%u address bits%s%s%s", i ? "; " : "", m->address_bits,
                    m->features & 1 ? " with double" : "", m->features & 2 ? ", half" : "",
                    m->features & 4 ? ", 64-bit atomics" : "");
  }
  qn_status status = qn_error_set(QN_ERROR_UNSUPPORTED, "the image has nothing for device %s; it was made for: %s",
                                  l->make.device->selector, list.failed || list.size == 0 ? "nothing" : list.data);
  qn_bytes_free(&list);
  return status;
}

static qn_status choose(load *l) {
  const qn_model model = core_make_model(&l->make);
  for (uint32_t i = 0; i < l->image.code_count && !l->code; i++)
    if (code_suits(l, &l->image.codes[i])) l->code = &l->image.codes[i];
  if (l->code) l->model = &l->image.models[l->code->model];
  for (uint32_t i = 0; i < l->image.model_count && !l->model; i++)
    if (model_suits(&l->image.models[i], &model)) l->model = &l->image.models[i];
  return l->model ? QN_OK : nothing_suits(l);
}

/* ---- Code that is there ------------------------------------------------------------------------- */

static qn_status load_code(void *user, core_binary *binary) {
  load *l = user;
  qn_adapter_code code;
  QN_TRY(core_image_unpack(&binary->arena, l->code->bytes, &binary->kernels, &code));
  if (binary->kernels.count != l->make.program->source.kernel_count)
    QN_FAIL(QN_ERROR_DATA, "the image's code has other kernels than its source");
  return core_make_load(&l->make, &code, binary);
}

static qn_status take_code(load *l) {
  core_make *make = &l->make;
  qn_key_maker maker;
  bool hit = false;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "image");
  core_make_add_device(make, &maker);
  qn_key_add(&maker, l->image.id.bytes, QN_KEY_BYTES);
  qn_key_add_sv(&maker, l->code->target);
  qn_key_end(&maker, &make->key);
  QN_TRY(core_program_cache_get(&make->device->programs, &make->key, load_code, l, &make->program->binary, &hit));
  make->is_from_store = true; /* nothing was compiled */
  core_make_tell(make, hit);
  return QN_OK;
}

/* ---- Code from the IR --------------------------------------------------------------------------- */

static qn_status parse_ir(load *l) {
  core_make *make = &l->make;
  const qn_model model = {.address_bits = l->model->address_bits,
                          .has_double = (l->model->features & 1) != 0,
                          .has_half = (l->model->features & 2) != 0,
                          .has_int64_atomics = (l->model->features & 4) != 0};
  qn_bytes text = {0};
  make->module = ir_module_new(&make->arena, &model);
  qn_status status = make->module ? qn_image_ir(l->model, &text)
                                  : qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  if (status >= 0) status = ir_parse(make->module, qn_bytes_view(&text), make->label);
  if (status >= 0) status = ir_verify(make->module);
  qn_bytes_free(&text);
  return status;
}

static qn_status compile(core_make *make) {
  (void)make; /* the module is there: it gave the key */
  QN_FAIL(QN_ERROR_INTERNAL, "an image's IR was not read");
}

static qn_status take_ir(load *l) {
  core_make *make = &l->make;
  make->option_bits = l->model->options;
  make->compile = compile;
  QN_TRY(parse_ir(l));
  QN_TRY(core_make_key(make));
  return core_make_binary(make);
}

/* ---- Load --------------------------------------------------------------------------------------- */

static qn_status run(load *l, qn_sv bytes) {
  core_program *program = l->make.program;
  QN_TRY(qn_image_open(bytes, &l->image));
  QN_TRY(choose(l));
  QN_TRY(core_source_unpack(&program->arena, l->model->source, &program->source));
  return l->code ? take_code(l) : take_ir(l);
}

qn_status core_program_load(core_device *device, qn_sv image, qn_program *out_program) {
  uint64_t start = qn_clock_ns();
  load l = {0};
  QN_TRY(core_program_check_device(device));
  core_device_collect(device);
  core_program *program = core_program_new(device);
  if (!program) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  qn_status status = core_make_begin(&l.make, device, program, "<image>");
  if (status >= 0) {
    status = run(&l, image);
    core_make_end(&l.make);
  }
  if (status < 0) {
    core_program_discard(program);
    return status;
  }
  program->compile_ns = qn_clock_ns() - start;
  return core_program_publish(program, out_program);
}

static qn_status load_program(qn_device handle, const void *image, uint64_t image_bytes, qn_program *out_program) {
  core_device *device = NULL;
  if (!image) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "image is NULL");
  if (!out_program) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_program is NULL");
  if (image_bytes > SIZE_MAX / 2)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "image_bytes is %llu", (unsigned long long)image_bytes);
  QN_TRY(core_device_pin(handle, &device));
  qn_status status = core_program_load(device, qn_sv_make(image, (size_t)image_bytes), out_program);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_program_load(qn_device device, const void *image, uint64_t image_bytes, qn_program *out_program) {
  CORE_CALL_MAKING(load_program(device, image, image_bytes, out_program));
}
