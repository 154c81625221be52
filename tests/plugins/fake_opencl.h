/* fake_opencl.h - what tests tell libquern-fake-opencl.so, an OpenCL loader and driver in one, and what it counts. It stands
 * in for libOpenCL.so.1 (QUERN_OPENCL_LIBRARY), does what drivers may do, and fails, hangs or is lost on command.
 *
 * Commands run in a thread of each queue, in order, once the queue is flushed. Objects are given the address that was freed
 * last. */
#ifndef QUERN_TESTS_FAKE_OPENCL_H
#define QUERN_TESTS_FAKE_OPENCL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_DEVICES = 4, FAKE_PLATFORMS = 4, FAKE_LAUNCHES = 64, FAKE_ARGUMENTS = 12 };

typedef struct fake_cl_device {
  const char *name, *version, *extensions; /* "OpenCL 1.2 fake" */
  uint64_t svm;                            /* capabilities; asking a device older than 2.0 is counted as wrong */
  bool no_compiler, not_available, big_endian, copies_wrapped, no_timer, is_gpu;
} fake_cl_device;

typedef struct fake_cl_platform {
  const char *name, *version;
  uint32_t device_count;
  fake_cl_device devices[FAKE_DEVICES];
} fake_cl_platform;

/* One enqueued kernel, as the driver got it. */
typedef struct fake_cl_launch {
  uint32_t dimensions, waits;
  uint64_t offset[3], global[3], local[3];
  uint64_t arguments[FAKE_ARGUMENTS]; /* the first 8 bytes of each; a cl_mem's address */
} fake_cl_launch;

/* Calls that can be made to fail: FAKE_NAME is clName. */
#define FAKE_CALLS(X)   \
  X(GetPlatformIDs)     \
  X(GetDeviceIDs)       \
  X(CreateContext)      \
  X(CreateCommandQueue) \
  X(CreateBuffer)       \
  X(CreateProgram)      \
  X(BuildProgram)       \
  X(CreateKernel)       \
  X(SetKernelArg)       \
  X(EnqueueNDRange)     \
  X(EnqueueTransfer)    \
  X(EnqueueMarker)      \
  X(EnqueueBarrier)     \
  X(EnqueueMap)         \
  X(EnqueueUnmap)       \
  X(Flush)              \
  X(Finish)             \
  X(Release)

enum {
#define X(name) FAKE_##name,
  FAKE_CALLS(X)
#undef X
      FAKE_CALL_COUNT
};

typedef struct fake_cl_control {
  uint32_t platform_count;
  fake_cl_platform platforms[FAKE_PLATFORMS];

  int32_t fail_code[FAKE_CALL_COUNT]; /* what the call returns once `fail_after` more have passed; 0: none */
  _Atomic uint64_t fail_after[FAKE_CALL_COUNT];
  _Atomic uint64_t calls[FAKE_CALL_COUNT];
  _Atomic uint32_t starts_alone; /* queues need no flush */
  _Atomic uint32_t holds;        /* queues stop before their next command */
  _Atomic uint32_t holds_by;     /* a queue stops before a launch that advances by so much; 0: none does */
  _Atomic uint32_t compiles;     /* launches that wait for nothing stay CL_SUBMITTED, as PoCL's while it compiles */
  _Atomic int32_t event_code; /* the next command that runs ends with this error; what follows on its queue with -14 */
  _Atomic uint32_t event_delay;    /* so many commands end well before that */
  _Atomic int32_t lost_code;       /* the device is lost: every enqueueing call returns it, every event ends with it */
  _Atomic uint32_t callbacks_lost; /* callbacks of events are taken and never called */
  _Atomic uint64_t callbacks;      /* called */
  const char *words;               /* told to the context's callback when a command fails */
  const char *log;                 /* of builds */
  char options[128];               /* of the last build */

  _Atomic uint64_t objects; /* living, of all kinds */
  _Atomic uint64_t events;  /* living */
  _Atomic uint64_t events_made;
  _Atomic uint64_t flushes_missed; /* an event of an unflushed command was waited for */
  _Atomic uint64_t wrong;          /* calls that no correct program makes; the first one's name: */
  char what[128];
  _Atomic uint32_t launch_count;
  fake_cl_launch launches[FAKE_LAUNCHES]; /* the last ones */
} fake_cl_control;

/* Exported by the library. */
typedef fake_cl_control *(*fake_cl_control_fn)(void);
#define FAKE_CL_CONTROL_NAME "fake_cl_get_control"

#endif
