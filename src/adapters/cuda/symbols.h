/* symbols.h - the functions that the adapter uses of libcuda.so.1, which is opened at run time, never linked. The declarations are
 * our own: nothing of the vendor's is needed to build. The numbers are those of the driver API's binary interface, which never
 * change; functions whose meaning once changed have a version in their name. tests/device/check_cuda_header.c compares all of it with a cuda.h. */
#ifndef QUERN_ADAPTERS_CUDA_SYMBOLS_H
#define QUERN_ADAPTERS_CUDA_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cu_result;
typedef int32_t cu_id;        /* of a device */
typedef uintptr_t cu_pointer; /* device memory */
typedef struct cu_context_object *cu_context;
typedef struct cu_stream_object *cu_stream;
typedef struct cu_event_object *cu_event;
typedef struct cu_module_object *cu_module;
typedef struct cu_function_object *cu_function;
typedef struct cu_link_object *cu_link;
typedef void (*cu_host_function)(void *user);

/* ---- Numbers ------------------------------------------------------------------------------------ */

enum {
  CU_SUCCESS = 0,
  CU_INVALID_VALUE = 1,
  CU_OUT_OF_MEMORY = 2,
  CU_NO_DEVICE = 100,
  CU_NOT_READY = 600,
  CU_PEER_ACCESS_ALREADY_ENABLED = 704,
  CU_FIRST_CAPTURE = 900, /* of a stream's capture; to the last */
  CU_LAST_CAPTURE = 908
};

/* Attributes of a device. */
enum {
  CU_MAX_THREADS_PER_BLOCK = 1,
  CU_MAX_BLOCK_X = 2, /* y and z follow */
  CU_MAX_GRID_X = 5,  /* y and z follow */
  CU_SHARED_MEMORY_PER_BLOCK = 8,
  CU_WARP_SIZE = 10,
  CU_MULTIPROCESSORS = 16,
  CU_COMPUTE_MODE = 20,
  CU_UNIFIED_ADDRESSING = 41,
  CU_CAPABILITY_MAJOR = 75,
  CU_CAPABILITY_MINOR = 76,
  CU_MANAGED_MEMORY = 83,
  CU_CONCURRENT_MANAGED_ACCESS = 89,
  CU_REGISTERED_HOST_POINTER = 91,
  CU_SHARED_MEMORY_OPTIN = 97,
  CU_HOST_REGISTER = 99,
  CU_STREAM_WORDS = 122 /* 64-bit stream memory operations */
};

enum { CU_MODE_PROHIBITED = 2, CU_MODE_EXCLUSIVE = 3 };

/* Attributes of a function. */
enum { CU_FUNCTION_MAX_THREADS = 0, CU_FUNCTION_SHARED = 1, CU_FUNCTION_MAX_DYNAMIC_SHARED = 8 };

/* Attributes of a pointer. */
enum { CU_POINTER_MEMORY_TYPE = 2, CU_POINTER_RANGE_START = 11, CU_POINTER_RANGE_SIZE = 12 };

enum { CU_HOST_PORTABLE = 1, CU_HOST_DEVICE_MAP = 2 };
enum { CU_ATTACH_GLOBAL = 1 };
enum { CU_STREAM_NON_BLOCKING_FLAG = 1 };
enum { CU_EVENT_TIMED = 0, CU_EVENT_NO_TIMING = 2 };
enum { CU_WAIT_GEQ = 0 };
enum { CU_JIT_PTX = 1 };
enum { CU_JIT_INFO_LOG = 3, CU_JIT_INFO_LOG_SIZE = 4, CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_SIZE = 6 };

/* ---- Functions ---------------------------------------------------------------------------------- */

/* NEEDED(name, parameters): in every driver of CUDA 11, no adapter without it. NEWER(name, parameters): NULL in an older driver.
 * Each has `cu` before its name. */
#define CU_FUNCTIONS(NEEDED, NEWER)                                                                                    \
  NEEDED(Init, (unsigned flags))                                                                                       \
  NEEDED(DriverGetVersion, (int *out))                                                                                 \
  NEEDED(DeviceGetCount, (int *out))                                                                                   \
  NEEDED(DeviceGet, (cu_id * out, int ordinal))                                                                        \
  NEEDED(DeviceGetName, (char *out, int capacity, cu_id device))                                                       \
  NEEDED(DeviceTotalMem_v2, (size_t *out, cu_id device))                                                               \
  NEEDED(DeviceGetAttribute, (int *out, unsigned what, cu_id device))                                                  \
  NEEDED(DeviceCanAccessPeer, (int *out, cu_id device, cu_id peer))                                                    \
  NEEDED(DevicePrimaryCtxRetain, (cu_context * out, cu_id device))                                                     \
  NEEDED(DevicePrimaryCtxRelease_v2, (cu_id device))                                                                   \
  NEEDED(CtxGetCurrent, (cu_context * out))                                                                            \
  NEEDED(CtxPushCurrent_v2, (cu_context context))                                                                      \
  NEEDED(CtxPopCurrent_v2, (cu_context * out))                                                                         \
  NEEDED(CtxEnablePeerAccess, (cu_context peer, unsigned flags))                                                       \
  NEEDED(MemAlloc_v2, (cu_pointer * out, size_t size))                                                                 \
  NEEDED(MemFree_v2, (cu_pointer pointer))                                                                             \
  NEEDED(MemAllocManaged, (cu_pointer * out, size_t size, unsigned flags))                                             \
  NEEDED(MemHostAlloc, (void **out, size_t size, unsigned flags))                                                      \
  NEEDED(MemFreeHost, (void *pointer))                                                                                 \
  NEEDED(MemHostRegister_v2, (void *pointer, size_t size, unsigned flags))                                             \
  NEEDED(MemHostUnregister, (void *pointer))                                                                           \
  NEEDED(MemHostGetDevicePointer_v2, (cu_pointer * out, void *pointer, unsigned flags))                                \
  NEEDED(PointerGetAttributes, (unsigned count, unsigned *what, void **out, cu_pointer pointer))                       \
  NEEDED(MemcpyAsync, (cu_pointer target, cu_pointer source, size_t size, cu_stream stream))                           \
  NEEDED(MemcpyPeerAsync, (cu_pointer target, cu_context target_context, cu_pointer source, cu_context source_context, \
                           size_t size, cu_stream stream))                                                             \
  NEEDED(MemsetD8Async, (cu_pointer target, unsigned char value, size_t count, cu_stream stream))                      \
  NEEDED(MemsetD16Async, (cu_pointer target, unsigned short value, size_t count, cu_stream stream))                    \
  NEEDED(MemsetD32Async, (cu_pointer target, unsigned value, size_t count, cu_stream stream))                          \
  NEEDED(MemsetD2D8Async,                                                                                              \
         (cu_pointer target, size_t pitch, unsigned char value, size_t width, size_t height, cu_stream stream))        \
  NEEDED(MemsetD2D16Async,                                                                                             \
         (cu_pointer target, size_t pitch, unsigned short value, size_t width, size_t height, cu_stream stream))       \
  NEEDED(MemsetD2D32Async,                                                                                             \
         (cu_pointer target, size_t pitch, unsigned value, size_t width, size_t height, cu_stream stream))             \
  NEEDED(StreamCreate, (cu_stream * out, unsigned flags))                                                              \
  NEEDED(StreamDestroy_v2, (cu_stream stream))                                                                         \
  NEEDED(StreamQuery, (cu_stream stream))                                                                              \
  NEEDED(StreamSynchronize, (cu_stream stream))                                                                        \
  NEEDED(StreamWaitEvent, (cu_stream stream, cu_event event, unsigned flags))                                          \
  NEEDED(EventCreate, (cu_event * out, unsigned flags))                                                                \
  NEEDED(EventDestroy_v2, (cu_event event))                                                                            \
  NEEDED(EventRecord, (cu_event event, cu_stream stream))                                                              \
  NEEDED(EventQuery, (cu_event event))                                                                                 \
  NEEDED(EventElapsedTime, (float *out_ms, cu_event from, cu_event to))                                                \
  NEEDED(LaunchKernel,                                                                                                 \
         (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
          unsigned block_z, unsigned shared_bytes, cu_stream stream, void **parameters, void **extra))                 \
  NEEDED(LaunchHostFunc, (cu_stream stream, cu_host_function function, void *user))                                    \
  NEEDED(LinkCreate_v2, (unsigned count, unsigned *options, void **values, cu_link *out))                              \
  NEEDED(LinkAddData_v2, (cu_link link, unsigned type, void *data, size_t size, const char *name, unsigned count,      \
                          unsigned *options, void **values))                                                           \
  NEEDED(LinkComplete, (cu_link link, void **out, size_t *out_size))                                                   \
  NEEDED(LinkDestroy, (cu_link link))                                                                                  \
  NEEDED(ModuleLoadData, (cu_module * out, const void *image))                                                         \
  NEEDED(ModuleUnload, (cu_module module))                                                                             \
  NEEDED(ModuleGetFunction, (cu_function * out, cu_module module, const char *name))                                   \
  NEEDED(FuncGetAttribute, (int *out, unsigned what, cu_function function))                                            \
  NEEDED(FuncSetAttribute, (cu_function function, unsigned what, int value))                                           \
  NEWER(StreamWriteValue64_v2, (cu_stream stream, cu_pointer address, uint64_t value, unsigned flags))                 \
  NEWER(StreamWaitValue64_v2, (cu_stream stream, cu_pointer address, uint64_t value, unsigned flags))

typedef struct cu_functions {
#define CU_X(name, parameters) cu_result(*name) parameters;
  CU_FUNCTIONS(CU_X, CU_X)
#undef CU_X
} cu_functions;

#endif
