#include "core/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/status.h"
#include "base/string_view.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/reaper.h"

/* ---- The object --------------------------------------------------------------------------------- */

/* Its last launch on each queue is complete. */
static bool kernel_ready(core_object *object) { return !core_uses_is_pending(&((core_kernel *)object)->uses); }

static void kernel_destroy(core_object *object, core_refusal *refusal) {
  core_kernel *kernel = (core_kernel *)object;
  core_program *program = kernel->program;
  core_device *device = program->device;
  core_refusal_note(refusal, device->table->kernel_destroy(device->native, kernel->native), "kernel");
  core_uses_clear(&kernel->uses);
  free(kernel);
  core_object_drop(&program->object);
}

static const core_object_class kernel_class = {QN_KIND_KERNEL, kernel_ready, kernel_destroy};

qn_status core_kernel_pin(qn_kernel handle, core_kernel **out_kernel) {
  void *object = NULL;
  QN_TRY(qn_handle_pin(handle, QN_KIND_KERNEL, "kernel", &object));
  *out_kernel = object;
  return QN_OK;
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static qn_status no_such_kernel(const core_program *program, const char *name) {
  qn_bytes names = {0};
  const char *nearest = NULL;
  size_t distance = strlen(name) / 2 + 1;
  for (uint32_t i = 0; i < program->source.kernel_count; i++) {
    const char *there = program->source.kernels[i].name;
    size_t d = qn_sv_distance(qn_sv_from(there), qn_sv_from(name));
    if (d < distance) distance = d, nearest = there;
    qn_bytes_printf(&names, "%s%s", i ? ", " : "", there);
  }
  const char *list = names.failed || names.size == 0 ? "none" : names.data;
  qn_status status = qn_error_set(QN_ERROR_NOT_FOUND, "the program has no kernel '%s'%s%s%s; there are: %s", name,
                                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "", list);
  qn_bytes_free(&names);
  return status;
}

static qn_status find(const core_program *program, const char *name, uint32_t *out_index) {
  for (uint32_t i = 0; i < program->source.kernel_count; i++) {
    if (strcmp(program->source.kernels[i].name, name) != 0) continue;
    *out_index = i;
    return QN_OK;
  }
  return no_such_kernel(program, name);
}

static qn_status create_native(core_kernel *kernel) {
  const core_program *program = kernel->program;
  const core_device *device = program->device;
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  QN_TRY(device->table->kernel_create(device->native, program->binary->native, kernel->description, &kernel->native,
                                      &info));
  kernel->native_handle = info.native;
  kernel->limits.max_group_items = info.max_group_items ? info.max_group_items : device->info.max_group_items;
  return QN_OK;
}

static uint8_t access_of(const qn_argument_info *info) {
  if (info->access != 0) return (uint8_t)info->access;
  return info->address_space == QN_SPACE_CONSTANT ? QN_ACCESS_READ : QN_ACCESS_READ | QN_ACCESS_WRITE;
}

static core_argument_rule rule_of(const core_device *device, const qn_argument_info *info) {
  uint32_t alignment = info->element_align;
  if (info->kind == QN_ARGUMENT_BUFFER && alignment < device->info.buffer_alignment)
    alignment = device->info.buffer_alignment;
  return (core_argument_rule){.kind = (uint8_t)info->kind,
                              .element_type = (uint8_t)info->element_type,
                              .access = access_of(info),
                              .is_scalar = info->vector_width == 1 && info->element_type != QN_TYPE_NONE,
                              .element_bytes = info->element_bytes,
                              .alignment = alignment ? alignment : 1};
}

/* What every launch asks. */
static void prepare(core_kernel *kernel, const core_device *device) {
  const core_kernel_source *source = kernel->source;
  core_local_limits *limits = &kernel->limits;
  limits->preferred_group_items = device->info.preferred_group_items;
  limits->compute_units = device->info.compute_units;
  memcpy(limits->max_local_size, device->info.max_local_size, sizeof limits->max_local_size);
  memcpy(limits->required, source->required_local, sizeof limits->required);
  memcpy(limits->hinted, source->hinted_local, sizeof limits->hinted);
  for (uint32_t i = 0; i < source->argument_count; i++) kernel->rules[i] = rule_of(device, &source->arguments[i]);
}

static qn_status make_kernel(core_program *program, const char *name, qn_kernel *out_kernel) {
  uint32_t index = 0;
  QN_TRY(find(program, name, &index));
  const core_kernel_source *source = &program->source.kernels[index];
  core_kernel *kernel = calloc(1, sizeof *kernel + source->argument_count * sizeof *kernel->rules);
  if (!kernel) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  core_device *device = program->device;
  kernel->program = program;
  kernel->source = source;
  kernel->description = &program->binary->kernels.items[index];
  kernel->name = core_device_name(device, name);
  prepare(kernel, device);
  qn_status status = create_native(kernel);
  if (status < 0) {
    free(kernel);
    return status;
  }
  core_object_hold(&program->object);
  core_object_init(&kernel->object, &kernel_class, device, device->reaper);
  const void *handle = NULL;
  QN_TRY(core_object_publish(&kernel->object, device->runtime->owner, &device->runtime->closing, &handle));
  *out_kernel = (qn_kernel)handle;
  return QN_OK;
}

qn_status core_kernel_get(qn_program handle, const char *name, qn_kernel *out_kernel) {
  core_program *program = NULL;
  if (!name) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "name is NULL");
  if (!out_kernel) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_kernel is NULL");
  QN_TRY(core_program_pin(handle, &program));
  qn_status status = make_kernel(program, name, out_kernel);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_kernel_get(qn_program program, const char *name, qn_kernel *out_kernel) {
  CORE_CALL_MAKING(core_kernel_get(program, name, out_kernel));
}

/* ---- Queries ------------------------------------------------------------------------------------ */

static qn_status query(qn_kernel handle, qn_kernel_info *out_info) {
  core_kernel *kernel = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(core_kernel_pin(handle, &kernel));
  const core_kernel_source *source = kernel->source;
  qn_kernel_info info = {.struct_size = sizeof info,
                         .argument_count = source->argument_count,
                         .max_group_items = kernel->limits.max_group_items,
                         .static_local_bytes = kernel->description->static_local_bytes,
                         .private_bytes_per_item = kernel->description->scratch_bytes_per_item,
                         .asked_dimensions = source->asked_dimensions};
  CORE_TEXT_COPY(info.name, source->name);
  memcpy(info.required_local, source->required_local, sizeof info.required_local);
  memcpy(info.hinted_local, source->hinted_local, sizeof info.hinted_local);
  CORE_INFO_WRITE(out_info, &info);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_kernel_query(qn_kernel kernel, qn_kernel_info *out_info) { CORE_CALL(query(kernel, out_info)); }

static qn_status copy_argument(const core_kernel_source *source, uint32_t index, qn_argument_info *out_info) {
  if (index >= source->argument_count)
    QN_FAIL(QN_ERROR_NOT_FOUND, "index is %u; kernel '%s' has %u arguments", index, source->name,
            source->argument_count);
  CORE_INFO_WRITE(out_info, &source->arguments[index]);
  return QN_OK;
}

static qn_status argument(qn_kernel handle, uint32_t index, qn_argument_info *out_info) {
  core_kernel *kernel = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(core_kernel_pin(handle, &kernel));
  qn_status status = copy_argument(kernel->source, index, out_info);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_kernel_argument(qn_kernel kernel, uint32_t index, qn_argument_info *out_info) {
  CORE_CALL(argument(kernel, index, out_info));
}
