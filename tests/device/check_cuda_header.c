/* Compares the adapter's own declarations of the CUDA driver with the vendor's cuda.h; it is only compiled. */
#include <cuda.h>

#include "adapters/cuda/symbols.h"

/* ---- Numbers ------------------------------------------------------------------------------------ */

#define NUMBERS(X)                                                                           \
  X(CU_SUCCESS, CUDA_SUCCESS)                                                                \
  X(CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE)                                              \
  X(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY)                                              \
  X(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE)                                                      \
  X(CU_NOT_READY, CUDA_ERROR_NOT_READY)                                                      \
  X(CU_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)                  \
  X(CU_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                     \
  X(CU_MAX_BLOCK_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)                                     \
  X(CU_MAX_BLOCK_X + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)                                 \
  X(CU_MAX_GRID_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)                                       \
  X(CU_MAX_GRID_X + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)                                   \
  X(CU_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)             \
  X(CU_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE)                                             \
  X(CU_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)                            \
  X(CU_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)                                       \
  X(CU_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)                           \
  X(CU_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)                       \
  X(CU_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)                       \
  X(CU_MANAGED_MEMORY, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)                                   \
  X(CU_CONCURRENT_MANAGED_ACCESS, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)             \
  X(CU_REGISTERED_HOST_POINTER, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) \
  X(CU_SHARED_MEMORY_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)           \
  X(CU_HOST_REGISTER, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED)                           \
  X(CU_STREAM_WORDS, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS)                      \
  X(CU_MODE_PROHIBITED, CU_COMPUTEMODE_PROHIBITED)                                           \
  X(CU_MODE_EXCLUSIVE, CU_COMPUTEMODE_EXCLUSIVE_PROCESS)                                     \
  X(CU_FUNCTION_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                        \
  X(CU_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                                 \
  X(CU_FUNCTION_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)         \
  X(CU_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)                                \
  X(CU_POINTER_RANGE_START, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)                           \
  X(CU_POINTER_RANGE_SIZE, CU_POINTER_ATTRIBUTE_RANGE_SIZE)                                  \
  X(CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE)                                              \
  X(CU_HOST_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE)                                           \
  X(CU_HOST_DEVICE_MAP, CU_MEMHOSTALLOC_DEVICEMAP)                                           \
  X(CU_HOST_DEVICE_MAP, CU_MEMHOSTREGISTER_DEVICEMAP)                                        \
  X(CU_ATTACH_GLOBAL, CU_MEM_ATTACH_GLOBAL)                                                  \
  X(CU_STREAM_NON_BLOCKING_FLAG, CU_STREAM_NON_BLOCKING)                                     \
  X(CU_EVENT_TIMED, CU_EVENT_DEFAULT)                                                        \
  X(CU_EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING)                                             \
  X(CU_WAIT_GEQ, CU_STREAM_WAIT_VALUE_GEQ)                                                   \
  X(CU_JIT_PTX, CU_JIT_INPUT_PTX)                                                            \
  X(CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_BUFFER)                                                 \
  X(CU_JIT_INFO_LOG_SIZE, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)                                 \
  X(CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER)                                               \
  X(CU_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
#define X(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " isn't " #theirs);
NUMBERS(X)
#undef X

/* ---- Functions ---------------------------------------------------------------------------------- */

/* In their types. An enum is compatible with an unsigned int. */
#define cu_result CUresult
#define cu_id CUdevice
#define cu_pointer CUdeviceptr
#define cu_context CUcontext
#define cu_stream CUstream
#define cu_event CUevent
#define cu_module CUmodule
#define cu_function CUfunction
#define cu_link CUlinkState
#define cu_host_function CUhostFn
#define uint64_t cuuint64_t

/* The plain name is cuda.h's macro for the version that it declares: ours is to be the same. */
#define X(name, parameters)                           \
  extern CUresult(*const declared_##name) parameters; \
  CUresult(*const declared_##name) parameters = cu##name;
CU_FUNCTIONS(X, X)
