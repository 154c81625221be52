/* program.c - programs and kernels. The device runs no code: programs are refused, unless the setting `kernels` has it take them
 * and mix each launch's arguments in place of its kernel, so that tests of the order of launches can be made (sim/mix.h). */
#include <string.h>

#include "null.h"
#include "sim/mix.h"

/* A real adapter hands `code` to the driver and tells what the driver's compiler said. */
qn_status null_program_create(qn_adapter_device *device, const qn_adapter_code *code,
                              qn_adapter_program **out_program) {
  const qn_adapter_host *host = device->instance->host;
  (void)code;
  if (!sim_driver_settings(device->instance->driver)->kernels)
    return null_error(host, QN_ERROR_UNSUPPORTED, "the adapter null runs no kernels");
  qn_adapter_program *program = NULL_NEW(device, qn_adapter_program);
  if (!program) return null_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
  program->device = device;
  *out_program = program;
  return QN_OK;
}

qn_status null_program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  NULL_DELETE(device, program);
  return QN_OK;
}

qn_status null_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                             const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                             qn_adapter_kernel_info *out_info) {
  (void)program;
  qn_adapter_kernel *kernel = NULL_NEW(device, qn_adapter_kernel);
  if (!kernel) return null_error(device->instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  kernel->device = device;
  kernel->key = sim_mix_bytes(0, description->name, strlen(description->name));
  out_info->max_group_items = 1024;
  *out_kernel = kernel;
  return QN_OK;
}

qn_status null_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  NULL_DELETE(device, kernel);
  return QN_OK;
}
