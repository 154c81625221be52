#ifndef QUERN_ADAPTERS_OPENCL_PROGRAM_H
#define QUERN_ADAPTERS_OPENCL_PROGRAM_H

#include "device.h"

struct qn_adapter_program {
  qn_adapter_device *device;
  cl_program native;
};

qn_status ocl_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program);
qn_status ocl_program_destroy(qn_adapter_device *device, qn_adapter_program *program);
qn_status ocl_program_binary(qn_adapter_device *device, qn_adapter_program *program, uint64_t capacity, void *bytes,
                             uint64_t *out_size);

#endif
