#ifndef QUERN_ADAPTERS_CUDA_KERNEL_H
#define QUERN_ADAPTERS_CUDA_KERNEL_H

#include "program.h"
#include "queue.h"

struct qn_adapter_kernel {
  qn_adapter_device *device;
  cu_function function; /* the module's */
  char *name;           /* in the source, for texts */
  qn_adapter_parameter *parameters;
  uint32_t parameter_count;
  uint32_t static_bytes;      /* local memory that the function has itself */
  uint32_t front_bytes;       /* static local memory that stands in front of the arguments' in the dynamic */
  uint32_t most_dynamic;      /* dynamic local memory that the device has room for beside the static */
  _Atomic uint32_t is_raised; /* the function may have as much */
};

qn_status cu_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                           const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                           qn_adapter_kernel_info *out_info);
qn_status cu_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel);

/* Gives a launch to the queue's stream: one of the driver's, or several when the grid can't hold it (launch.c). *out_taken counts
 * what the driver took, also of a launch that fails. Entered. */
qn_status cu_kernel_launch(qn_adapter_queue *queue, const qn_launch_record *record, uint32_t *out_taken,
                           cu_failure *failure);

#endif
