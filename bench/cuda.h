/* cuda.h - the peer: the CUDA driver itself, called by hand in the context that Quern's device has. */
#ifndef QUERN_BENCH_CUDA_H
#define QUERN_BENCH_CUDA_H

#include <stdbool.h>

#include "adapters/cuda/symbols.h"
#include "quern/quern.h"

/* What the bench alone calls. */
typedef struct cuda_more {
  cu_result (*MemAllocAsync)(cu_pointer *out, size_t size, cu_stream stream);
  cu_result (*MemFreeAsync)(cu_pointer pointer, cu_stream stream);
  cu_result (*MemcpyHtoD_v2)(cu_pointer target, const void *source, size_t size);
  cu_result (*MemcpyDtoH_v2)(void *target, cu_pointer source, size_t size);
} cuda_more;

typedef struct cuda {
  cu_functions cu;
  cuda_more more;
  cu_context context;
  cu_stream stream;
} cuda;

/* Opens the library that the adapter opens. False: there is none. */
bool cuda_open(cuda *c, qn_device device);
/* The driver's calls are made between these two, which make the device's context current in this thread. */
void cuda_enter(const cuda *c);
void cuda_leave(const cuda *c);
/* Ends the program when a call failed. */
void cuda_check(cu_result code, const char *what);

#endif
