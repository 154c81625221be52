/* fake_cuda.h - what tests tell libquern-fake-cuda.so, a CUDA driver without a GPU, and what it counts. It stands in for libcuda.so.1
 * (QUERN_CUDA_LIBRARY), checks every call, and fails, hangs and loses its contexts on command.
 *
 * Device memory is the host's. Each stream has a thread, which runs what it was given in order. Kernels are those that
 * fake_cuda.c knows by name; a program's text decides which entries it has and what their parameters are. Addresses that were freed last
 * are given out first. */
#ifndef QUERN_TESTS_FAKE_CUDA_H
#define QUERN_TESTS_FAKE_CUDA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_DEVICES = 4, FAKE_LAUNCHES = 64, FAKE_PARAMETER_COUNT = 40, FAKE_PARAMETERS = 1024 };

typedef struct fake_cu_device {
  const char *name;
  uint32_t capability; /* 90 */
  uint32_t compute_mode;
  bool no_managed, no_register, no_words, no_peers;
  uint64_t memory_bytes; /* that can be allocated */
} fake_cu_device;

/* One launch, as the driver got it. */
typedef struct fake_cu_launch {
  char name[32];
  uint32_t grid[3], block[3], shared_bytes;
  uint32_t parameter_bytes[FAKE_PARAMETER_COUNT];
  unsigned char parameters[FAKE_PARAMETERS]; /* one behind the other */
} fake_cu_launch;

/* Calls that can be made to fail: FAKE_NAME is cuName. */
#define FAKE_CALLS(X)        \
  X(Init)                    \
  X(DriverGetVersion)        \
  X(DeviceGetCount)          \
  X(DeviceGet)               \
  X(DeviceGetName)           \
  X(DevicePrimaryCtxRetain)  \
  X(DevicePrimaryCtxRelease) \
  X(CtxPushCurrent)          \
  X(CtxEnablePeerAccess)     \
  X(MemAlloc)                \
  X(MemFree)                 \
  X(MemAllocManaged)         \
  X(MemHostAlloc)            \
  X(MemFreeHost)             \
  X(MemHostRegister)         \
  X(MemHostUnregister)       \
  X(MemHostGetDevicePointer) \
  X(PointerGetAttributes)    \
  X(MemcpyAsync)             \
  X(MemcpyPeerAsync)         \
  X(Memset)                  \
  X(StreamCreate)            \
  X(StreamDestroy)           \
  X(StreamQuery)             \
  X(StreamSynchronize)       \
  X(StreamWaitEvent)         \
  X(StreamWriteValue)        \
  X(StreamWaitValue)         \
  X(EventCreate)             \
  X(EventDestroy)            \
  X(EventRecord)             \
  X(EventQuery)              \
  X(EventElapsedTime)        \
  X(LaunchKernel)            \
  X(LaunchHostFunc)          \
  X(LinkCreate)              \
  X(LinkAddData)             \
  X(LinkComplete)            \
  X(ModuleLoadData)          \
  X(ModuleUnload)            \
  X(ModuleGetFunction)       \
  X(FuncGetAttribute)        \
  X(FuncSetAttribute)

enum {
#define X(name) FAKE_##name,
  FAKE_CALLS(X)
#undef X
      FAKE_CALL_COUNT
};

typedef struct fake_cu_control {
  int32_t version;   /* 13000 */
  int32_t init_code; /* of cuInit */
  uint32_t device_count;
  fake_cu_device devices[FAKE_DEVICES];

  int32_t fail_code[FAKE_CALL_COUNT]; /* what the call returns once `fail_after` more have passed; 0: none */
  _Atomic uint64_t fail_after[FAKE_CALL_COUNT];
  _Atomic uint64_t calls[FAKE_CALL_COUNT];
  _Atomic uint64_t any_after; /* the call after so many, of whatever kind, returns `any_code`, once */
  _Atomic int32_t any_code;
  _Atomic uint32_t holds;                /* streams stop before their next launch */
  _Atomic int32_t fault_code;            /* the next launch that runs ruins its context with this code */
  _Atomic int32_t spoiled[FAKE_DEVICES]; /* by a fault: the process gets no context of the device any more */
  _Atomic uint64_t clock_ns;             /* added to the time that events have */
  _Atomic uint32_t is_foreign_current;   /* threads have another context current, of somebody else */

  _Atomic uint64_t objects;       /* living, of all kinds, and blocks of memory */
  _Atomic uint64_t waits_on_host; /* copies for which a call waited for its stream */
  _Atomic uint64_t most_queued;   /* operations on one stream */
  _Atomic uint64_t wrong;         /* calls that no correct program makes; the first one's name: */
  char what[128];
  _Atomic uint32_t launch_count;
  fake_cu_launch launches[FAKE_LAUNCHES]; /* the last ones */
} fake_cu_control;

/* Exported by the library. */
typedef fake_cu_control *(*fake_cu_control_fn)(void);
#define FAKE_CU_CONTROL_NAME "fake_cu_get_control"

#endif
