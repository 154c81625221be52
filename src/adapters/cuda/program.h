#ifndef QUERN_ADAPTERS_CUDA_PROGRAM_H
#define QUERN_ADAPTERS_CUDA_PROGRAM_H

#include "device.h"

/* Loaded once; what the driver's compiler made is kept for the store. */
struct qn_adapter_program {
  qn_adapter_device *device;
  cu_module module;
  unsigned char *binary;
  uint64_t binary_size;
};

qn_status cu_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program);
qn_status cu_program_destroy(qn_adapter_device *device, qn_adapter_program *program);
qn_status cu_program_binary(qn_adapter_device *device, qn_adapter_program *program, uint64_t capacity, void *bytes,
                            uint64_t *out_size);

#endif
