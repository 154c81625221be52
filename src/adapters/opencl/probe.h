/* probe.h - what can only be found out by trying. */
#ifndef QUERN_ADAPTERS_OPENCL_PROBE_H
#define QUERN_ADAPTERS_OPENCL_PROBE_H

#include "opencl.h"

/* Whether a buffer over the host's memory (CL_MEM_USE_HOST_PTR) really is that memory: what the device writes is there,
 * and what the host writes is read, without a map. The specification allows a driver to work on a copy, and nothing in it
 * can be asked about that. */
bool ocl_probe_wrap(const ocl_functions *cl, cl_device_id device);

#endif
