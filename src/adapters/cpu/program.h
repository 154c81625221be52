/* program.h - a loaded object and its kernels. */
#ifndef QUERN_ADAPTERS_CPU_PROGRAM_H
#define QUERN_ADAPTERS_CPU_PROGRAM_H

#include <stdatomic.h>

#include "cpu.h"
#include "debug.h"
#include "image.h"

struct qn_adapter_program {
  const qn_adapter_host *host;
  cpu_image image;
  debug_entry *debug; /* may be NULL */
};

struct qn_adapter_kernel {
  const qn_adapter_host *host;
  qn_cpu_entry_fn entry;
  char *name;
  uint32_t parameter_count, local_count; /* parameters, and how many of them are local memory */
  uint64_t argument_block_bytes, static_local_bytes;
  uint64_t scratch_bytes_per_item, scratch_bytes_per_group;
  /* What a work-item took lately, in ticks times COST_SCALE; 0: not known. A guess that steers sharing, never a result.
   */
  _Atomic uint64_t item_cost;
  _Atomic uint64_t item_most; /* the most lately */
  qn_adapter_parameter parameters[];
};
#define COST_SCALE 1024

/* The table's functions. */
qn_status cpu_program_create(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program);
qn_status cpu_program_destroy(qn_adapter_device *device, qn_adapter_program *program);
qn_status cpu_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                            const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                            qn_adapter_kernel_info *out_info);
qn_status cpu_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel);

#endif
