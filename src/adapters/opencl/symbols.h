/* symbols.h - the functions that the adapter uses of libOpenCL.so.1, which is opened at run time, never linked. */
#ifndef QUERN_ADAPTERS_OPENCL_SYMBOLS_H
#define QUERN_ADAPTERS_OPENCL_SYMBOLS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: the one that every version has */
#include <CL/cl.h>

/* NEEDED(name): OpenCL 1.2, no adapter without it. NEWER(name): OpenCL 2.0; NULL when the loader is older, and not to be
 * called for a device of an older version even when it is there: the loader passes on to what the driver lacks. */
#define OCL_FUNCTIONS(NEEDED, NEWER) \
  NEEDED(GetPlatformIDs)             \
  NEEDED(GetPlatformInfo)            \
  NEEDED(GetDeviceIDs)               \
  NEEDED(GetDeviceInfo)              \
  NEEDED(CreateContext)              \
  NEEDED(ReleaseContext)             \
  NEEDED(CreateCommandQueue)         \
  NEEDED(ReleaseCommandQueue)        \
  NEEDED(CreateBuffer)               \
  NEEDED(ReleaseMemObject)           \
  NEEDED(CreateProgramWithSource)    \
  NEEDED(CreateProgramWithBinary)    \
  NEEDED(BuildProgram)               \
  NEEDED(GetProgramInfo)             \
  NEEDED(GetProgramBuildInfo)        \
  NEEDED(ReleaseProgram)             \
  NEEDED(CreateKernel)               \
  NEEDED(SetKernelArg)               \
  NEEDED(GetKernelInfo)              \
  NEEDED(GetKernelWorkGroupInfo)     \
  NEEDED(ReleaseKernel)              \
  NEEDED(EnqueueNDRangeKernel)       \
  NEEDED(EnqueueCopyBuffer)          \
  NEEDED(EnqueueFillBuffer)          \
  NEEDED(EnqueueReadBuffer)          \
  NEEDED(EnqueueWriteBuffer)         \
  NEEDED(EnqueueMapBuffer)           \
  NEEDED(EnqueueUnmapMemObject)      \
  NEEDED(EnqueueMarkerWithWaitList)  \
  NEEDED(EnqueueBarrierWithWaitList) \
  NEEDED(Flush)                      \
  NEEDED(Finish)                     \
  NEEDED(WaitForEvents)              \
  NEEDED(GetEventInfo)               \
  NEEDED(SetEventCallback)           \
  NEEDED(GetEventProfilingInfo)      \
  NEEDED(RetainEvent)                \
  NEEDED(ReleaseEvent)               \
  NEWER(SVMAlloc)                    \
  NEWER(SVMFree)                     \
  NEWER(SetKernelArgSVMPointer)

typedef struct ocl_functions {
#define OCL_X(name) __typeof__(&cl##name) name;
  OCL_FUNCTIONS(OCL_X, OCL_X)
#undef OCL_X
} ocl_functions;

#endif
