#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PTX to a device binary --------------------------------------------------------------------- */

enum { LOG_BYTES = 16384 };

typedef struct compilation {
  cu_link link;
  char *text; /* the PTX with a NUL behind it, which the driver wants; the logs lie behind that */
  size_t size;
  char *errors, *notes;
} compilation;

static void end(const qn_adapter_device *device, compilation *c) {
  if (c->link) (void)device->cu->LinkDestroy(c->link);
  free(c->text);
}

static bool begin(compilation *c, const qn_adapter_code *code) {
  c->size = (size_t)code->size_bytes + 1;
  c->text = calloc(1, c->size + 2 * (size_t)LOG_BYTES);
  if (!c->text) return false;
  memcpy(c->text, code->bytes, (size_t)code->size_bytes);
  c->errors = c->text + c->size;
  c->notes = c->errors + LOG_BYTES;
  return true;
}

/* The binary is the link's, and goes with it. */
static cu_result compile(const qn_adapter_device *device, compilation *c, void **out_binary, size_t *out_size) {
  unsigned options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE, CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_SIZE};
  void *values[] = {c->errors, (void *)(uintptr_t)(LOG_BYTES - 1), c->notes, (void *)(uintptr_t)(LOG_BYTES - 1)};
  enum { OPTIONS = sizeof options / sizeof *options };
  cu_result code = device->cu->LinkCreate_v2(OPTIONS, options, values, &c->link);
  if (code == CU_SUCCESS)
    code = device->cu->LinkAddData_v2(c->link, CU_JIT_PTX, c->text, c->size, "quern", 0, NULL, NULL);
  if (code == CU_SUCCESS) code = device->cu->LinkComplete(c->link, out_binary, out_size);
  return code;
}

/* The compiler's words behind ours, whole: they name the line. */
static qn_status refuse(qn_adapter_device *device, const compilation *c, cu_result code) {
  char why[256];
  qn_status status = cu_status_of(code);
  if (status == QN_ERROR_INTERNAL || status == QN_ERROR_DATA) status = QN_ERROR_COMPILE;
  cu_device_judge(device, code, "a program can't be compiled");
  cu_print_code(code, why, sizeof why);
  size_t capacity = strlen(c->errors) + 512;
  char *text = malloc(capacity);
  if (!text) return cu_refused_as(device->host, status, code, "the driver's compiler refused the program");
  snprintf(text, capacity, "cuda: the driver's compiler refused the program: %s%s%s", why, *c->errors ? "\n" : "",
           c->errors);
  status = device->host->set_error(status, code, text);
  free(text);
  return status;
}

static qn_status keep_binary(const qn_adapter_device *device, qn_adapter_program *program, const void *binary,
                             size_t size) {
  program->binary = malloc(size ? size : 1);
  if (!program->binary) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device binary");
  memcpy(program->binary, binary, size);
  program->binary_size = size;
  return QN_OK;
}

static qn_status build_ptx(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program *program) {
  compilation c = {0};
  void *binary = NULL;
  size_t size = 0;
  if (!begin(&c, code)) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to compile a program");
  cu_result result = compile(device, &c, &binary, &size);
  if (result == CU_SUCCESS && *c.notes) cu_log(device->host, "the driver's compiler says: %s", c.notes);
  qn_status status = result == CU_SUCCESS ? keep_binary(device, program, binary, size) : refuse(device, &c, result);
  end(device, &c);
  return status;
}

/* ---- Load --------------------------------------------------------------------------------------- */

static qn_status load(qn_adapter_device *device, const void *binary, uint64_t size, qn_adapter_program *program) {
  cu_result code = device->cu->ModuleLoadData(&program->module, binary);
  if (code == CU_SUCCESS) return QN_OK;
  program->module = NULL;
  cu_device_judge(device, code, "a program can't be loaded");
  return cu_refused(device->host, code, "the driver doesn't load a device binary of %llu bytes for '%s' (%s)",
                    (unsigned long long)size, device->found->info.name, device->found->info.target_cpu);
}

/* A device binary is an ELF file; the driver is given no length, so that one which was cut must not reach it. */
static bool is_whole(const unsigned char *bytes, uint64_t size) {
  enum { HEADER = 64, SECTIONS = 40, SECTION_SIZE = 58, SECTION_COUNT = 60 };
  uint64_t at = 0;
  uint16_t each = 0, count = 0;
  if (size < HEADER || memcmp(bytes, "\177ELF", 4) != 0) return false;
  memcpy(&at, bytes + SECTIONS, sizeof at);
  memcpy(&each, bytes + SECTION_SIZE, sizeof each);
  memcpy(&count, bytes + SECTION_COUNT, sizeof count);
  return at <= size && (uint64_t)each * count <= size - at;
}

/* The driver reads it as an ELF file in memory, whose fields are aligned; what a store gives may begin anywhere. */
static qn_status load_binary(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program *program) {
  unsigned char *aligned = NULL;
  if (!is_whole(code->bytes, code->size_bytes))
    return cu_error(device->host, QN_ERROR_DATA, "%llu bytes are no device binary, or a part of one",
                    (unsigned long long)code->size_bytes);
  if ((uintptr_t)code->bytes % sizeof(uint64_t) == 0) return load(device, code->bytes, code->size_bytes, program);
  aligned = malloc((size_t)code->size_bytes);
  if (!aligned) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device binary");
  memcpy(aligned, code->bytes, (size_t)code->size_bytes);
  qn_status status = load(device, aligned, code->size_bytes, program);
  free(aligned);
  return status;
}

static qn_status make(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program *program) {
  if (!code->bytes || code->size_bytes == 0 || code->size_bytes >= SIZE_MAX / 2)
    return cu_error(device->host, QN_ERROR_INVALID_ARGUMENT, "%llu bytes of code at %p are no program",
                    (unsigned long long)code->size_bytes, code->bytes);
  if (code->kind == QN_CODE_PTX) {
    qn_status status = build_ptx(device, code, program);
    return status < 0 ? status : load(device, program->binary, program->binary_size, program);
  }
  if (code->kind != QN_CODE_NATIVE)
    return cu_error(device->host, QN_ERROR_UNSUPPORTED, "code of kind %u is neither PTX nor a device binary",
                    code->kind);
  return load_binary(device, code, program);
}

static cu_result drop(const qn_adapter_device *device, qn_adapter_program *program) {
  cu_result code = program->module ? device->cu->ModuleUnload(program->module) : CU_SUCCESS;
  free(program->binary);
  free(program);
  return code;
}

qn_status cu_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program) {
  qn_status status = cu_device_check(device);
  if (status < 0) return status;
  qn_adapter_program *program = calloc(1, sizeof *program);
  if (!program) return cu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  program->device = device;
  bool entered = cu_enter(device);
  status = make(device, code, program);
  if (status < 0) (void)drop(device, program);
  cu_leave(device, entered);
  if (status >= 0) *out_program = program;
  return status;
}

qn_status cu_program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  bool entered = cu_enter(device);
  cu_result code = drop(device, program);
  cu_leave(device, entered);
  if (code == CU_SUCCESS || cu_device_is_lost(device)) return QN_OK;
  cu_device_judge(device, code, "a program can't be unloaded");
  return cu_refused(device->host, code, "a program can't be unloaded");
}

/* ---- Binaries ----------------------------------------------------------------------------------- */

qn_status cu_program_binary(qn_adapter_device *device, qn_adapter_program *program, uint64_t capacity, void *bytes,
                            uint64_t *out_size) {
  if (!program->binary)
    return cu_error(device->host, QN_ERROR_UNSUPPORTED, "the program was loaded from a device binary already");
  if (program->binary_size <= capacity) memcpy(bytes, program->binary, (size_t)program->binary_size);
  *out_size = program->binary_size;
  return QN_OK;
}
