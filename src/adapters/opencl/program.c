#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Building ----------------------------------------------------------------------------------- */

/* The build log, freed by the caller; NULL when there is none. */
static char *read_log(const qn_adapter_device *device, cl_program program) {
  size_t size = 0;
  cl_device_id id = device->found->id;
  if (device->cl->GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size <= 1)
    return NULL;
  char *log = calloc(1, size + 1);
  if (log && device->cl->GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS)
    return log;
  free(log);
  return NULL;
}

/* The driver's words behind ours, whole: it may take many lines to say what is wrong. */
static qn_status tell_log(const qn_adapter_host *host, qn_status status, cl_int code, const char *log) {
  char why[256];
  ocl_print_code(code, why, sizeof why);
  size_t capacity = strlen(log) + 512;
  char *text = malloc(capacity);
  if (!text) return ocl_refused_as(host, status, code, "the driver's compiler refused the program");
  snprintf(text, capacity, "opencl: the driver's compiler refused the program: %s\n%s", why, log);
  host->set_error(status, code, text);
  free(text);
  return status;
}

static qn_status build(qn_adapter_device *device, cl_program program, const char *options) {
  cl_device_id id = device->found->id;
  if (!ocl_compiles_begin(device)) return ocl_error(device->host, QN_ERROR_CLOSED, "the process is about to end");
  cl_int code = device->cl->BuildProgram(program, 1, &id, options, NULL, NULL);
  ocl_compiles_end(device, NULL);
  char *log = read_log(device, program);
  qn_status status = QN_OK;
  if (code == CL_SUCCESS && log) ocl_log(device->host, "the driver's compiler says: %s", log);
  if (code != CL_SUCCESS) {
    status = ocl_status_of(code);
    /* A fault of the text is one of its maker, unless the driver itself is in need. */
    if (status == QN_ERROR_INTERNAL || status == QN_ERROR_DEVICE) status = QN_ERROR_COMPILE;
    status = tell_log(device->host, status, code, log ? log : "(the driver gave no log)");
  }
  free(log);
  return status;
}

/* ---- Kinds of code ------------------------------------------------------------------------------ */

static qn_status build_source(qn_adapter_device *device, const qn_adapter_code *code, cl_program *out) {
  cl_int result = CL_SUCCESS;
  const char *text = code->bytes;
  size_t size = (size_t)code->size_bytes;
  *out = device->cl->CreateProgramWithSource(device->context, 1, &text, &size, &result);
  if (!*out) return ocl_refused(device->host, result, "no program from %zu bytes of OpenCL C", size);
  return build(device, *out, code->options ? code->options : "");
}

static qn_status build_binary(qn_adapter_device *device, const qn_adapter_code *code, cl_program *out) {
  cl_int result = CL_SUCCESS, of_binary = CL_SUCCESS;
  cl_device_id id = device->found->id;
  const unsigned char *bytes = code->bytes;
  size_t size = (size_t)code->size_bytes;
  *out = device->cl->CreateProgramWithBinary(device->context, 1, &id, &size, &bytes, &of_binary, &result);
  if (!*out) return ocl_refused(device->host, result, "no program from a device binary of %zu bytes", size);
  if (of_binary != CL_SUCCESS)
    return ocl_refused(device->host, of_binary, "the driver doesn't accept a device binary of %zu bytes", size);
  return build(device, *out, "");
}

static qn_status make(qn_adapter_device *device, const qn_adapter_code *code, cl_program *out) {
  if (!code->bytes || code->size_bytes == 0 || code->size_bytes > SIZE_MAX)
    return ocl_error(device->host, QN_ERROR_INVALID_ARGUMENT, "%llu bytes of code at %p are no program",
                     (unsigned long long)code->size_bytes, code->bytes);
  if (code->kind == QN_CODE_OPENCL_C) return build_source(device, code, out);
  if (code->kind == QN_CODE_NATIVE) return build_binary(device, code, out);
  return ocl_error(device->host, QN_ERROR_UNSUPPORTED, "code of kind %u is neither OpenCL C nor a device binary",
                   code->kind);
}

qn_status ocl_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program) {
  qn_status status = ocl_device_check(device);
  if (status < 0) return status;
  qn_adapter_program *program = calloc(1, sizeof *program);
  if (!program) return ocl_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  program->device = device;
  status = make(device, code, &program->native);
  if (status < 0) {
    if (program->native) device->cl->ReleaseProgram(program->native);
    free(program);
    return status;
  }
  *out_program = program;
  return QN_OK;
}

qn_status ocl_program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  cl_int code = device->cl->ReleaseProgram(program->native);
  free(program);
  if (code == CL_SUCCESS || atomic_load(&device->is_lost)) return QN_OK;
  return ocl_refused(device->host, code, "a program can't be released");
}

/* ---- Binaries ----------------------------------------------------------------------------------- */

static qn_status read_binary(qn_adapter_device *device, qn_adapter_program *program, uint64_t capacity, void *bytes,
                             uint64_t *out_size) {
  size_t size = 0;
  cl_int code = device->cl->GetProgramInfo(program->native, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
  if (code != CL_SUCCESS) return ocl_refused(device->host, code, "the size of a device binary can't be asked");
  if (size == 0)
    return ocl_error(device->host, QN_ERROR_UNSUPPORTED, "the driver gives no device binary of the program");
  if (size <= capacity) {
    unsigned char *into = bytes;
    code = device->cl->GetProgramInfo(program->native, CL_PROGRAM_BINARIES, sizeof into, &into, NULL);
    if (code != CL_SUCCESS) return ocl_refused(device->host, code, "a device binary of %zu bytes can't be read", size);
  }
  *out_size = size;
  return QN_OK;
}

/* PoCL compiles for it what no launch has asked for yet. */
qn_status ocl_program_binary(qn_adapter_device *device, qn_adapter_program *program, uint64_t capacity, void *bytes,
                             uint64_t *out_size) {
  if (!ocl_compiles_begin(device)) return ocl_error(device->host, QN_ERROR_CLOSED, "the process is about to end");
  qn_status status = read_binary(device, program, capacity, bytes, out_size);
  ocl_compiles_end(device, NULL);
  return status;
}
