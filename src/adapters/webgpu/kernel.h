/* kernel.h - a kernel, and what was made of it.
 *
 * Group sizes and lengths of local arguments are constants of a pipeline, so a kernel has as many pipelines as it is launched with
 * different ones. A variant is the text that they are made of: the program's own, or one where arguments that share a block share a
 * binding. */
#ifndef QUERN_ADAPTERS_WEBGPU_KERNEL_H
#define QUERN_ADAPTERS_WEBGPU_KERNEL_H

#include "groups.h"
#include "memory.h"
#include "program.h"

enum { WG_MOST_PIPELINES = 64, WG_MOST_VARIANTS = 32 };

typedef struct wg_pipelined {
  struct wg_pipelined *next;
  wgl_pipeline *native;
  uint32_t key[]; /* group size, then lengths of local arguments in units */
} wg_pipelined;

typedef struct wg_variant {
  struct wg_variant *next;
  wgl_module *module; /* the program's, or its own when `is_merged` */
  wgl_layout *layout;
  wg_pipelined *pipelines; /* used last comes first */
  wg_groups groups;
  bool is_merged;
  uint32_t holders[]; /* of each parameter: whose binding it uses */
} wg_variant;

struct qn_adapter_kernel {
  qn_adapter_device *device;
  const qn_adapter_program *program; /* outlives the kernel */
  const wg_entry *entry;             /* the program's */
  qn_adapter_parameter *parameters;
  wg_variant *variants; /* used last comes first */
  uint32_t key_count;   /* words of a pipeline's key */
  /* Room for a launch, under the device's lock. */
  uint32_t *holders, *key;
  uint64_t *numbers;
  wgl_constant *constants;
  wgl_binding *bindings;
};

/* Under the device's lock. The variant for kernel->holders, the pipeline for kernel->key. */
qn_status wg_variant_find(qn_adapter_kernel *kernel, wg_variant **out, wg_failure *failure);
qn_status wg_pipeline_find(qn_adapter_kernel *kernel, wg_variant *variant, wgl_pipeline **out, wg_failure *failure);
void wg_variants_close(qn_adapter_kernel *kernel);

/* Records a launch: one dispatch, or several where the last group of a dimension is smaller, or groups are many. Nothing is
 * recorded when it fails; with `dry` nothing is recorded at all. Under the device's lock. */
qn_status wg_launch(qn_adapter_device *device, const qn_launch_record *record, bool dry, wg_failure *failure);

/* The table's. */
qn_status wg_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                           const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                           qn_adapter_kernel_info *out_info);
qn_status wg_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel);

#endif
