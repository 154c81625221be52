#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"

qn_status wg_module_create(qn_adapter_device *device, const wg_text *text, wgl_module **out, wg_failure *failure) {
  wg_scope_begin(device);
  wgl_module *module = WGL(device, module_create, device->native, text->bytes, text->size);
  qn_status status = wg_scope_end(device, failure, "the library refuses the program");
  if (status == QN_ERROR_DEVICE)
    status = failure->status = QN_ERROR_COMPILE; /* a fault of the text is one of its maker */
  if (status >= 0 && !module)
    status = wg_fail(failure, QN_ERROR_COMPILE, 0, "the library makes no module of the program");
  if (status < 0 && module) WGL(device, module_release, module);
  if (status >= 0) *out = module;
  return status;
}

static void free_program(qn_adapter_program *program) {
  wg_record_free(&program->record);
  free(program->code);
  free(program);
}

static qn_status check_code(const qn_adapter_device *device, const qn_adapter_code *code) {
  if (code->kind != QN_CODE_WGSL)
    return wg_error(device->host, QN_ERROR_UNSUPPORTED, "code of kind %u is no WGSL", code->kind);
  if (!code->bytes || code->size_bytes == 0 || code->size_bytes > UINT32_MAX)
    return wg_error(device->host, QN_ERROR_INVALID_ARGUMENT, "%llu bytes at %p are no program",
                    (unsigned long long)code->size_bytes, code->bytes);
  return QN_OK;
}

/* The code is borrowed for the call; the second text is wanted later. */
static qn_status read_code(const qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program *program) {
  program->code = malloc((size_t)code->size_bytes);
  if (!program->code) return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  memcpy(program->code, code->bytes, (size_t)code->size_bytes);
  qn_status status = wg_record_read(program->code, code->size_bytes, &program->record);
  if (status == QN_ERROR_DATA)
    return wg_error(device->host, status, "%llu bytes are no WGSL program, or a damaged one",
                    (unsigned long long)code->size_bytes);
  if (status < 0) return wg_error(device->host, status, "no memory for the record of a program");
  if (program->record.uses_half && !(device->found->info.features & QN_FEATURE_HALF))
    return wg_error(device->host, QN_ERROR_UNSUPPORTED,
                    "the program uses half arithmetic (shader-f16), which device '%s' hasn't",
                    device->found->info.name);
  return QN_OK;
}

static qn_status make_module(qn_adapter_device *device, qn_adapter_program *program) {
  wg_failure failure = {0};
  pthread_mutex_lock(&device->lock);
  qn_status status = wg_module_create(device, &program->record.plain, &program->native, &failure);
  pthread_mutex_unlock(&device->lock);
  return status < 0 ? wg_tell(device->host, &failure) : QN_OK;
}

qn_status wg_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program) {
  qn_status status = wg_device_check(device);
  if (status >= 0) status = check_code(device, code);
  if (status < 0) return status;
  qn_adapter_program *program = calloc(1, sizeof *program);
  if (!program) return wg_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  program->device = device;
  status = read_code(device, code, program);
  if (status >= 0 && program->record.uses_fused) status = wg_fused_find(device);
  if (status >= 0) status = make_module(device, program);
  if (status < 0)
    free_program(program);
  else
    *out_program = program;
  return status;
}

qn_status wg_program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  pthread_mutex_lock(&device->lock);
  WGL(device, module_release, program->native);
  pthread_mutex_unlock(&device->lock);
  free_program(program);
  return QN_OK;
}
