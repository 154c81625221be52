/* build_image.c - images, and the artifacts that carry one. */
#include <string.h>

#include "base/os/files.h"
#include "base/status.h"
#include "compiler/artifact/artifact.h"
#include "compiler/target/ptx/ptx.h"
#include "core/build.h"
#include "core/program_image.h"
#include "core/program_make.h"
#include "core/ptx_code.h"
#include "core/wgsl_code.h"
#include "quern/adapter.h"

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an image"); }

/* ---- Options ------------------------------------------------------------------------------------ */

static qn_status add_target(core_build *b, qn_sv name) {
  core_build_target target;
  QN_TRY(core_build_target_find(name, &target));
  bool is_cuda = qn_ptx_target(name) != 0, wants_cuda = b->given.kind == QN_ARTIFACT_PTX;
  if (wants_cuda && !is_cuda)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "target '%s' has no PTX; " QN_PTX_TARGET_PREFIX "70 and the like have",
            target.name);
  if (is_cuda && !wants_cuda && !core_build_is_image(b->given.kind))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "target '%s' is for images and PTX", target.name);
  if (!target.arch && !is_cuda && !core_build_is_image(b->given.kind))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "target '%s' is for images: its code is made where they are loaded",
            target.name);
  for (uint32_t i = 0; i < b->target_count; i++)
    if (strcmp(b->targets[i].name, target.name) == 0) return QN_OK;
  if (b->target_count == QN_IMAGE_CODES) QN_FAIL(QN_ERROR_LIMIT, "more than %d targets", QN_IMAGE_CODES);
  /* The best first, for that is what a device takes. */
  uint32_t at = b->target_count++;
  for (; at > 0 && b->targets[at - 1].rank < target.rank; at--) b->targets[at] = b->targets[at - 1];
  b->targets[at] = target;
  return QN_OK;
}

/* Takes the next word of a list with commas; false: there is none. */
static bool take_word(qn_sv *rest, qn_sv *out) {
  if (rest->data == NULL) return false;
  const char *comma = rest->size > 0 ? memchr(rest->data, ',', rest->size) : NULL;
  size_t size = comma ? (size_t)(comma - rest->data) : rest->size;
  *out = qn_sv_make(rest->data, size);
  *rest = comma ? qn_sv_make(comma + 1, rest->size - size - 1) : (qn_sv){0};
  return true;
}

qn_status core_build_check_targets(const char *list) {
  qn_sv rest = qn_sv_from(list ? list : "host"), name;
  core_build_target target;
  while (take_word(&rest, &name)) QN_TRY(core_build_target_find(name, &target));
  return QN_OK;
}

qn_status core_build_read_targets(core_build *b) {
  const char *usual = b->given.kind == QN_ARTIFACT_PTX ? QN_PTX_TARGET_PREFIX "70" : "host";
  qn_sv rest = qn_sv_from(b->given.target ? b->given.target : usual), name;
  while (take_word(&rest, &name)) QN_TRY(add_target(b, name));
  if (b->target_count > 1 && !core_build_is_image(b->given.kind))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "this kind of artifact is of one target, and '%s' are %u", b->given.target,
            b->target_count);
  return QN_OK;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The file's name up to its first dot, made an identifier. */
static char *name_of_file(core_build *b) {
  qn_sv name = qn_path_name(qn_sv_from(b->given.file_name ? b->given.file_name : "kernels"));
  const char *dot = name.size > 1 ? memchr(name.data + 1, '.', name.size - 1) : NULL;
  qn_sv stem = qn_sv_make(name.data, dot ? (size_t)(dot - name.data) : name.size);
  bool starts_badly = stem.size == 0 || is_digit(stem.data[0]);
  char *copy = qn_arena_printf(&b->arena, "%s%.*s", starts_badly ? "_" : "", QN_SV_ARG(stem));
  for (char *at = copy; at && *at; at++)
    if (!is_letter(*at) && !is_digit(*at)) *at = '_';
  return copy;
}

qn_status core_build_read_name(core_build *b) {
  const char *name = b->given.name ? b->given.name : name_of_file(b);
  if (!name) return out_of_memory();
  bool good = is_letter(name[0]) && strlen(name) < 128;
  for (const char *at = name; *at; at++) good = good && (is_letter(*at) || is_digit(*at));
  if (!good) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "name '%s' is no C identifier of up to 127 letters", name);
  b->name = name;
  return QN_OK;
}

/* ---- The image ---------------------------------------------------------------------------------- */

/* One target's code with what launches need of it; appended to `out`. */
static qn_status make_code(core_build *b, const core_build_target *target, qn_bytes *out) {
  ir_module *m = NULL;
  qn_bytes object = {0};
  core_kernel_list kernels;
  QN_TRY(core_build_copy_module(b, &m));
  qn_status status = core_build_code(b, m, target, QN_ARTIFACT_CODE, &object);
  if (status >= 0) status = core_kernels_describe(&b->arena, m, &kernels);
  if (status >= 0) {
    const qn_adapter_code code = {
        .struct_size = sizeof code, .kind = QN_CODE_ELF_OBJECT, .bytes = object.data, .size_bytes = object.size};
    core_image_pack(&kernels, &code, out);
  }
  ir_module_free(m);
  qn_bytes_free(&object);
  return status;
}

static qn_status make_wgsl(core_build *b, qn_bytes *out) {
  qn_bytes bundle = {0};
  core_kernel_list kernels;
  const char *label = b->given.file_name ? b->given.file_name : "<source>";
  qn_status status = core_wgsl_code(&b->arena, b->small.module, qn_bytes_view(&b->small.text),
                                    core_option_bits(&b->options), label, &bundle, &kernels);
  if (status >= 0) {
    const qn_adapter_code code = {
        .struct_size = sizeof code, .kind = QN_CODE_WGSL, .bytes = bundle.data, .size_bytes = bundle.size};
    core_image_pack(&kernels, &code, out);
  }
  qn_bytes_free(&bundle);
  return status;
}

static qn_status make_ptx(core_build *b, const core_build_target *target, qn_bytes *out) {
  ir_module *m = NULL;
  qn_bytes text = {0};
  core_kernel_list kernels;
  QN_TRY(core_build_copy_module(b, &m));
  qn_status status = core_ptx_code(&b->arena, m, target->name, core_option_bits(&b->options), &text, &kernels);
  if (status >= 0) {
    const qn_adapter_code code = {
        .struct_size = sizeof code, .kind = QN_CODE_PTX, .bytes = text.data, .size_bytes = text.size};
    core_image_pack(&kernels, &code, out);
  }
  ir_module_free(m);
  qn_bytes_free(&text);
  return status;
}

static bool is_ptx(const core_build_target *target) { return qn_ptx_target(qn_sv_from(target->name)) != 0; }
static bool is_wgsl(const core_build_target *target) { return strcmp(target->name, "webgpu") == 0; }

bool core_build_has_wgsl(const core_build *b) {
  for (uint32_t i = 0; i < b->target_count; i++)
    if (is_wgsl(&b->targets[i])) return true;
  return false;
}

/* What the image says of a target's code. */
static qn_image_code describe_code(const core_build_target *target) {
  const char *name = target->name;
  if (is_wgsl(target))
    return (qn_image_code){.model = 1, .target = qn_sv_from(name), .arch = QN_SV(CORE_WGSL_ARCH), .cpu = QN_SV("")};
  if (is_ptx(target))
    return (qn_image_code){.target = qn_sv_from(name), .arch = QN_SV(CORE_PTX_ARCH), .cpu = qn_sv_from(name)};
  return (qn_image_code){.target = qn_sv_from(name),
                         .arch = qn_sv_from(target->arch),
                         .cpu = qn_sv_from(target->cpu),
                         .features = qn_sv_from(target->features)};
}

static qn_status make_one(core_build *b, const core_build_target *target, qn_bytes *out) {
  if (is_wgsl(target)) return make_wgsl(b, out);
  return is_ptx(target) ? make_ptx(b, target, out) : make_code(b, target, out);
}

static qn_status make_codes(core_build *b, qn_image *image, qn_bytes codes[QN_IMAGE_CODES]) {
  for (uint32_t i = 0; i < b->target_count; i++) {
    const core_build_target *target = &b->targets[i];
    if (!target->arch && !is_wgsl(target) && !is_ptx(target)) continue;
    uint32_t at = image->code_count++;
    QN_TRY(make_one(b, target, &codes[at]));
    if (codes[at].failed) return out_of_memory();
    image->codes[at] = describe_code(target);
    image->codes[at].bytes = qn_bytes_view(&codes[at]);
  }
  return QN_OK;
}

static void add_model(const core_build *b, const core_build_module *m, qn_image *image, qn_bytes *description) {
  const qn_model *model = &m->module->model;
  core_source_pack(&m->description, description);
  image->models[image->model_count++] =
      (qn_image_model){.address_bits = model->address_bits,
                       .features = (uint32_t)model->has_double | (uint32_t)model->has_half << 1 |
                                   (uint32_t)model->has_int64_atomics << 2,
                       .options = core_option_bits(&b->options),
                       .source = qn_bytes_view(description),
                       .ir = qn_bytes_view(&m->text)};
}

static qn_status make_image(core_build *b, qn_bytes *out) {
  qn_bytes codes[QN_IMAGE_CODES] = {{0}}, descriptions[2] = {{0}};
  qn_image image = {0};
  add_model(b, &b->usual, &image, &descriptions[0]);
  if (b->small.module) add_model(b, &b->small, &image, &descriptions[1]);
  qn_status status = descriptions[0].failed || descriptions[1].failed ? out_of_memory() : make_codes(b, &image, codes);
  if (status >= 0) qn_image_pack(&image, out);
  for (uint32_t i = 0; i < QN_IMAGE_CODES; i++) qn_bytes_free(&codes[i]);
  for (int i = 0; i < 2; i++) qn_bytes_free(&descriptions[i]);
  return status;
}

/* ---- What carries it ---------------------------------------------------------------------------- */

/* The machine of an object file: that of its targets, which must be of one. */
static qn_status find_machine(const core_build *b, qn_artifact_machine *out) {
  const core_build_target *first = NULL;
  for (uint32_t i = 0; i < b->target_count; i++) {
    const core_build_target *target = &b->targets[i];
    if (!target->arch) continue;
    if (first && first->machine != target->machine)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
              "an object is of one machine, and targets %s and %s are of two; an image may hold both", first->name,
              target->name);
    if (!first) first = target;
  }
  core_build_target host;
  if (!first) QN_TRY(core_build_target_find(QN_SV("host"), &host));
  *out = first ? first->machine : host.machine;
  return QN_OK;
}

static qn_status make_carrier(core_build *b) {
  qn_bytes image = {0};
  qn_artifact_data data = {.name = b->name};
  QN_TRY(find_machine(b, &data.machine));
  qn_status status = make_image(b, &image);
  data.bytes = qn_bytes_view(&image);
  if (status >= 0 && image.failed) status = out_of_memory();
  if (status >= 0 && b->given.kind == QN_ARTIFACT_OBJECT) qn_artifact_object(&data, &b->out);
  if (status >= 0 && b->given.kind == QN_ARTIFACT_STATIC_LIBRARY) qn_artifact_static_library(&data, &b->out);
  if (status >= 0 && b->given.kind == QN_ARTIFACT_SHARED_LIBRARY) qn_artifact_shared_library(&data, &b->out);
  qn_bytes_free(&image);
  return status;
}

static qn_status make_header(core_build *b) {
  uint32_t count = b->usual.description.kernel_count;
  qn_artifact_kernel *kernels = QN_ARENA_ARRAY(&b->arena, qn_artifact_kernel, count ? count : 1);
  if (!kernels) return out_of_memory();
  for (uint32_t i = 0; i < count; i++) {
    const core_kernel_source *k = &b->usual.description.kernels[i];
    kernels[i] = (qn_artifact_kernel){k->name, k->arguments, k->argument_count};
  }
  qn_artifact_header(b->name, kernels, count, &b->out);
  return QN_OK;
}

qn_status core_build_image(core_build *b) {
  if (b->given.kind == QN_ARTIFACT_IMAGE) return make_image(b, &b->out);
  return b->given.kind == QN_ARTIFACT_C_HEADER ? make_header(b) : make_carrier(b);
}
