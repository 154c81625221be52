/* kernel.h - kernels of a program. */
#ifndef QUERN_CORE_KERNEL_H
#define QUERN_CORE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/local_size.h"
#include "core/object.h"
#include "core/program.h"
#include "core/uses.h"
#include "quern/adapter.h"

/* What a launch asks of one argument: four of them are a cache line, where a qn_argument_info is several. */
typedef struct core_argument_rule {
  uint8_t kind;         /* QN_ARGUMENT_... */
  uint8_t element_type; /* QN_TYPE_... */
  uint8_t access;       /* QN_ACCESS_... of a buffer */
  bool is_scalar;
  uint32_t element_bytes;
  uint32_t alignment; /* of a view's start, or of local memory */
  uint32_t reserved;
} core_argument_rule;

typedef struct core_kernel {
  core_object object;
  core_program *program;                            /* held */
  const core_kernel_source *source;                 /* the program's */
  const qn_adapter_kernel_description *description; /* the binary's */
  qn_adapter_kernel *native;
  uint64_t native_handle;
  core_local_limits limits;
  const char *name; /* lives as long as the device */

  core_uses uses;             /* its last launches */
  core_argument_rule rules[]; /* by argument */
} core_kernel;

/* Pins a kernel for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_kernel_pin(qn_kernel handle, core_kernel **out_kernel);

/* qn_kernel_get within a call. */
QN_MUST_USE qn_status core_kernel_get(qn_program program, const char *name, qn_kernel *out_kernel);

#endif
