#include "core/check_adapter.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/pass/pass.h"
#include "core/check_queue.h"
#include "core/options.h"

/* Neither has a state. */
struct qn_adapter_instance {
  char nothing;
};
struct qn_adapter_device {
  char nothing;
};
static qn_adapter_instance the_instance;
static qn_adapter_device the_device;

struct qn_adapter_program {
  qn_arena arena;
  ir_module *module;
};

enum { ALIGNMENT = 128 };

/* ---- Instance and device ------------------------------------------------------------------------ */

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  (void)host; /* it is built in and speaks for itself */
  *out_instance = &the_instance;
  return QN_OK;
}

static qn_status instance_close(qn_adapter_instance *instance) {
  (void)instance;
  return QN_OK;
}

static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  (void)instance;
  *out_count = 1;
  return QN_OK;
}

static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  (void)instance;
  if (index != 0) QN_FAIL(QN_ERROR_NOT_FOUND, "adapter check has one device");
  *out_info = (qn_adapter_device_info){
      .struct_size = sizeof *out_info,
      .type = QN_DEVICE_CHECK,
      .failure_domain = QN_FAILURE_QUEUE,
      .code_kind = QN_CODE_IR,
      .features = QN_FEATURE_KERNELS | QN_FEATURE_DOUBLE | QN_FEATURE_INT64_ATOMICS | QN_FEATURE_SHARED_MEMORY |
                  QN_FEATURE_WRAP_HOST | QN_FEATURE_TIMED_QUEUES,
      .memory_bytes = UINT64_C(4) << 30,
      .max_allocation_bytes = UINT64_C(4) << 30,
      .local_memory_bytes = 64 << 10,
      .max_local_size = {4096, 4096, 4096},
      .max_group_items = 4096,
      .max_argument_bytes = 4096,
      .compute_units = 1,
      .address_bits = 64,
      .buffer_alignment = 1,
      .allocation_alignment = ALIGNMENT,
      .preferred_group_items = 64,
      .name = "interpreter",
      .driver = "Quern",
  };
  return QN_OK;
}

static qn_status device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  (void)instance;
  if (index != 0) QN_FAIL(QN_ERROR_NOT_FOUND, "adapter check has one device");
  *out_device = &the_device;
  return QN_OK;
}

static qn_status device_close(qn_adapter_device *device) {
  (void)device;
  return QN_OK;
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static char *allocate(uint64_t size) {
  uint64_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return whole < size || whole > SIZE_MAX / 2 ? NULL : aligned_alloc(ALIGNMENT, (size_t)whole);
}

static qn_status memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                               qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  (void)device;
  qn_adapter_memory *memory = calloc(1, sizeof *memory);
  if (!memory) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  memory->is_wrapped = request->memory == QN_MEMORY_WRAP;
  memory->size_bytes = request->size_bytes;
  memory->bytes = memory->is_wrapped ? request->host_pointer : allocate(request->size_bytes);
  if (!memory->bytes) {
    free(memory);
    QN_FAIL(QN_ERROR_OUT_OF_MEMORY, "no memory for a block of %llu bytes", (unsigned long long)request->size_bytes);
  }
  out_info->native = (uint64_t)(uintptr_t)memory->bytes;
  out_info->size_bytes = request->size_bytes;
  out_info->host_pointer = memory->bytes;
  *out_memory = memory;
  return QN_OK;
}

static qn_status memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  (void)device;
  if (!memory->is_wrapped) free(memory->bytes);
  free(memory);
  return QN_OK;
}

/* ---- Programs ----------------------------------------------------------------------------------- */

static qn_status parse(qn_adapter_program *program, const qn_adapter_code *code) {
  const qn_model model = {.address_bits = 64, .has_double = true, .has_int64_atomics = true};
  program->module = ir_module_new(&program->arena, &model);
  if (!program->module) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a module");
  QN_TRY(ir_parse(program->module, qn_sv_make(code->bytes, (size_t)code->size_bytes), "<ir>"));
  QN_TRY(pass_link(program->module));
  return ir_verify(program->module);
}

static void free_program(qn_adapter_program *program) {
  if (program->module) ir_module_free(program->module);
  qn_arena_free(&program->arena);
  free(program);
}

static qn_status program_create(qn_adapter_device *device, const qn_adapter_code *code,
                                qn_adapter_program **out_program) {
  (void)device;
  if (code->kind != QN_CODE_IR)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "device check takes IR text, not code of kind %u", code->kind);
  qn_adapter_program *program = calloc(1, sizeof *program);
  if (!program) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  qn_arena_init(&program->arena, 0);
  qn_status status = parse(program, code);
  if (status < 0) {
    free_program(program);
    return status;
  }
  *out_program = program;
  return QN_OK;
}

static qn_status program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  (void)device;
  free_program(program);
  return QN_OK;
}

static qn_status kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                               const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                               qn_adapter_kernel_info *out_info) {
  (void)device;
  const ir_function *function = ir_function_find(program->module, qn_sv_from(description->name));
  if (!function || !function->is_kernel)
    QN_FAIL(QN_ERROR_NOT_FOUND, "the program has no kernel '%s'", description->name);
  qn_adapter_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  kernel->function = function;
  out_info->native = (uint64_t)(uintptr_t)function;
  out_info->max_group_items = 0; /* the device's */
  *out_kernel = kernel;
  return QN_OK;
}

static qn_status kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  (void)device;
  free(kernel);
  return QN_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

const qn_adapter_table core_check_table = {.struct_size = sizeof core_check_table,
                                           .abi_version = QN_ADAPTER_ABI_VERSION,
                                           .name = "check",
                                           .description = "the interpreter: exact, slow, and watchful",
                                           .instance_open = instance_open,
                                           .instance_close = instance_close,
                                           .device_count = device_count,
                                           .device_describe = device_describe,
                                           .device_open = device_open,
                                           .device_close = device_close,
                                           .memory_create = memory_create,
                                           .memory_destroy = memory_destroy,
                                           .program_create = program_create,
                                           .program_destroy = program_destroy,
                                           .kernel_create = kernel_create,
                                           .kernel_destroy = kernel_destroy,
                                           .queue_create = check_queue_create,
                                           .queue_destroy = check_queue_destroy,
                                           .queue_submit = check_queue_submit,
                                           .queue_completed = check_queue_completed,
                                           .queue_progress = check_queue_progress,
                                           .queue_wait = check_queue_wait,
                                           .queue_time = check_queue_time,
                                           .queue_begin = check_queue_begin};
