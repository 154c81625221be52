#include "core/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/handle.h"
#include "base/status.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/reaper.h"

/* ---- The object --------------------------------------------------------------------------------- */

static bool program_ready(core_object *object) {
  (void)object; /* its kernels hold it until their last launch is complete */
  return true;
}

static void program_destroy(core_object *object, core_refusal *refusal) {
  core_program *program = (core_program *)object;
  core_device *device = program->device;
  core_refusal_note(refusal, core_program_cache_put(&device->programs, program->binary), "program");
  qn_arena_free(&program->arena);
  free(program);
  core_object_drop(&device->object);
}

static const core_object_class program_class = {QN_KIND_PROGRAM, program_ready, program_destroy};

qn_status core_program_pin(qn_program handle, core_program **out_program) {
  void *object = NULL;
  QN_TRY(qn_handle_pin(handle, QN_KIND_PROGRAM, "program", &object));
  *out_program = object;
  return QN_OK;
}

core_program *core_program_new(core_device *device) {
  core_program *program = calloc(1, sizeof *program);
  if (!program) return NULL;
  program->device = device;
  program->source.log = "";
  qn_arena_init(&program->arena, 0);
  core_object_hold(&device->object);
  core_object_init(&program->object, &program_class, device, device->reaper);
  return program;
}

qn_status core_program_check_device(const core_device *device) {
  if (!(device->info.features & QN_FEATURE_KERNELS) || device->info.code_kind == QN_CODE_NONE)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "device %s runs no kernels", device->selector);
  return QN_OK;
}

void core_program_discard(core_program *program) {
  core_device *device = program->device;
  if (program->binary) {
    qn_error_saved saved;
    qn_error_save(&saved);
    (void)!core_program_cache_put(&device->programs, program->binary); /* the error that led here matters more */
    qn_error_restore(&saved);
  }
  qn_arena_free(&program->arena);
  free(program);
  core_object_drop(&device->object);
}

qn_status core_program_publish(core_program *program, qn_program *out_program) {
  const core_device *device = program->device;
  const void *handle = NULL;
  QN_TRY(core_object_publish(&program->object, device->runtime->owner, &device->runtime->closing, &handle));
  *out_program = (qn_program)handle;
  return QN_OK;
}

/* ---- Queries ------------------------------------------------------------------------------------ */

static qn_status query(qn_program handle, qn_program_info *out_info) {
  core_program *program = NULL;
  QN_TRY(core_info_check(out_info, "out_info"));
  QN_TRY(core_program_pin(handle, &program));
  const qn_program_info info = {.struct_size = sizeof info,
                                .kernel_count = program->source.kernel_count,
                                .compile_ns = program->compile_ns,
                                .log_bytes = program->source.log_bytes,
                                .cached = program->cached};
  CORE_INFO_WRITE(out_info, &info);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_program_query(qn_program program, qn_program_info *out_info) { CORE_CALL(query(program, out_info)); }

static qn_status check_buffer(const char *buffer, uint64_t capacity) {
  if (!buffer) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "buffer is NULL");
  if (capacity == 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "capacity is 0; there is no room for the NUL");
  return QN_OK;
}

static qn_status copy_log(qn_program handle, char *buffer, uint64_t capacity) {
  core_program *program = NULL;
  QN_TRY(check_buffer(buffer, capacity));
  QN_TRY(core_program_pin(handle, &program));
  core_text_copy(buffer, capacity, program->source.log);
  qn_handle_unpin(handle);
  return QN_OK;
}

qn_status qn_program_log(qn_program program, char *buffer, uint64_t capacity) {
  CORE_CALL(copy_log(program, buffer, capacity));
}

static qn_status copy_name(const core_program *program, uint32_t index, char *buffer, uint64_t capacity) {
  if (index >= program->source.kernel_count)
    QN_FAIL(QN_ERROR_NOT_FOUND, "index is %u; the program has %u kernels", index, program->source.kernel_count);
  core_text_copy(buffer, capacity, program->source.kernels[index].name);
  return QN_OK;
}

static qn_status kernel_name(qn_program handle, uint32_t index, char *buffer, uint64_t capacity) {
  core_program *program = NULL;
  QN_TRY(check_buffer(buffer, capacity));
  QN_TRY(core_program_pin(handle, &program));
  qn_status status = copy_name(program, index, buffer, capacity);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_program_kernel_name(qn_program program, uint32_t index, char *buffer, uint64_t capacity) {
  CORE_CALL(kernel_name(program, index, buffer, capacity));
}
