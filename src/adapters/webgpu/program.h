/* program.h - a program: a module, and the text for launches whose arguments share a block. */
#ifndef QUERN_ADAPTERS_WEBGPU_PROGRAM_H
#define QUERN_ADAPTERS_WEBGPU_PROGRAM_H

#include "record.h"

struct qn_adapter_program {
  qn_adapter_device *device;
  wgl_module *native;
  wg_record record; /* its texts are in `code` */
  char *code;
};

/* A module of a text. Under the device's lock. */
qn_status wg_module_create(qn_adapter_device *device, const wg_text *text, wgl_module **out, wg_failure *failure);

/* Whether the device's fma rounds once, which WGSL doesn't promise: tried out at the first program that asks. Under no lock. */
qn_status wg_fused_find(qn_adapter_device *device);

/* The table's. */
qn_status wg_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program);
qn_status wg_program_destroy(qn_adapter_device *device, qn_adapter_program *program);

#endif
