#ifndef QUERN_ADAPTERS_OPENCL_TRANSFER_H
#define QUERN_ADAPTERS_OPENCL_TRANSFER_H

#include "memory.h"
#include "place.h"

/* Enqueues a copy, fill, write or read. */
qn_status ocl_transfer(ocl_place *place, const qn_adapter_command *command);

#endif
