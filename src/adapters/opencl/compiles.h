/* compiles.h - what the driver compiles, and the end of the process.
 *
 * PoCL compiles a kernel for a group size at the first launch with it, in a thread of its own, by an LLVM that has destructors: a process that
 * ends meanwhile crashes. So launches for which the driver may yet compile are remembered until they run, and calls that compile
 * are counted. When the process ends, before destructors run, nothing of the kind begins any more, and what has begun is
 * waited for.
 *
 * Destructors run in the reverse order of their registration, and some of LLVM's are registered only while it first compiles. So our
 * call is renewed afterwards; and a device's first launch returns when its kernel is compiled, that no exit falls between.
 *
 * All this is for drivers of which quirks.c says that they compile late; with the others it does nothing. */
#ifndef QUERN_ADAPTERS_OPENCL_COMPILES_H
#define QUERN_ADAPTERS_OPENCL_COMPILES_H

#include <pthread.h>
#include <stdatomic.h>

#include "opencl.h"

typedef struct ocl_compiles {
  pthread_mutex_t lock;
  cl_event *events; /* of launches that don't run yet, as far as is known; in the order in which they were given */
  uint32_t count, capacity;
  uint32_t calls;              /* threads in a call of the driver that may compile */
  uint64_t ended;              /* calls that compiled, launches that ran */
  bool is_over;                /* the process ends */
  _Atomic uint32_t is_settled; /* the first launch has been waited for */
} ocl_compiles;

void ocl_compiles_open(qn_adapter_device *device);
/* No queue has work in flight. */
void ocl_compiles_close(qn_adapter_device *device);

/* Around a call of the driver that may compile. False: the process ends, and the driver must not be called. */
bool ocl_compiles_begin(qn_adapter_device *device);
/* `event`: of a launch that may be compiled for after the call; the caller keeps its count. NULL: there is none. */
void ocl_compiles_end(qn_adapter_device *device, cl_event event);

/* After commands were flushed: waits for the device's first launch. */
void ocl_compiles_settle(qn_adapter_device *device);

#endif
