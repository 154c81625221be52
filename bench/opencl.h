/* opencl.h - the peer: an OpenCL implementation, through its loader, which is opened at run time. */
#ifndef QUERN_BENCH_OPENCL_H
#define QUERN_BENCH_OPENCL_H

#include <stdbool.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* X(name): the functions used, as members of `cl` without their prefix. */
#define OPENCL_FUNCTIONS(X)  \
  X(GetPlatformIDs)          \
  X(GetPlatformInfo)         \
  X(GetDeviceIDs)            \
  X(GetDeviceInfo)           \
  X(CreateContext)           \
  X(CreateCommandQueue)      \
  X(CreateBuffer)            \
  X(CreateProgramWithSource) \
  X(BuildProgram)            \
  X(GetProgramBuildInfo)     \
  X(CreateKernel)            \
  X(SetKernelArg)            \
  X(EnqueueNDRangeKernel)    \
  X(EnqueueReadBuffer)       \
  X(EnqueueCopyBuffer)       \
  X(EnqueueFillBuffer)       \
  X(EnqueueWriteBuffer)      \
  X(Finish)                  \
  X(ReleaseMemObject)        \
  X(ReleaseKernel)           \
  X(ReleaseProgram)          \
  X(ReleaseCommandQueue)     \
  X(ReleaseContext)

typedef struct opencl {
#define X(name) __typeof__(&cl##name) name;
  OPENCL_FUNCTIONS(X)
#undef X
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  char name[256]; /* platform and device */
} opencl;

/* Opens the first CPU device. False, with the reason on standard error, when there is none. */
bool opencl_open(opencl *cl);
/* The same with a device that somebody else has found, through the loader that this process has. */
bool opencl_open_device(opencl *cl, cl_device_id device);
/* Builds a program's kernel; ends the program with the build log when that fails. */
cl_kernel opencl_build(opencl *cl, const char *source, const char *options, const char *kernel);
/* Ends the program when a call failed. */
void opencl_check(cl_int status, const char *what);

#endif
