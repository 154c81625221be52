/* kernel.h - kernels of a program. */
#ifndef QUERN_CORE_KERNEL_H
#define QUERN_CORE_KERNEL_H

#include <stdint.h>

#include "core/object.h"
#include "core/program.h"
#include "core/uses.h"
#include "quern/adapter.h"

typedef struct core_kernel {
  core_object object;
  core_program *program;                            /* held */
  const core_kernel_source *source;                 /* the program's */
  const qn_adapter_kernel_description *description; /* the binary's */
  qn_adapter_kernel *native;
  uint64_t native_handle;
  uint64_t max_group_items;
  const char *name; /* lives as long as the device */

  core_uses uses; /* its last launches */
} core_kernel;

/* Pins a kernel for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_kernel_pin(qn_kernel handle, core_kernel **out_kernel);

/* qn_kernel_get within a call. */
QN_MUST_USE qn_status core_kernel_get(qn_program program, const char *name, qn_kernel *out_kernel);

#endif
