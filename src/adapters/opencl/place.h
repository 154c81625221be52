/* place.h - where a command goes. */
#ifndef QUERN_ADAPTERS_OPENCL_PLACE_H
#define QUERN_ADAPTERS_OPENCL_PLACE_H

#include "opencl.h"

typedef struct ocl_place {
  const ocl_functions *cl;
  cl_command_queue queue;
  uint32_t number; /* of the queue; chooses a kernel's seat */

  /* Events that the command waits for: the first of its parts does, for the queue is in order. */
  const cl_event *waits;
  cl_uint wait_count;

  cl_event *event; /* of the last part; NULL: none is wanted */
  uint32_t
      taken; /* parts that the driver took, of a command that fails as well; 0 after a success: there was no work */
  ocl_failure *failure; /* filled in for a command that fails; no error is set for the thread */
} ocl_place;

/* The wait list for the next part. */
static inline cl_uint ocl_place_count(const ocl_place *place) { return place->taken == 0 ? place->wait_count : 0; }
static inline const cl_event *ocl_place_waits(const ocl_place *place) {
  return ocl_place_count(place) > 0 ? place->waits : NULL;
}

#endif
