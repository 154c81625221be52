/* device.h - an open device: it owns its reaper, its pool and its programs. */
#ifndef QUERN_CORE_DEVICE_H
#define QUERN_CORE_DEVICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/os/thread.h"
#include "core/object.h"
#include "core/program_cache.h"
#include "core/runtime.h"
#include "core/timeline.h"
#include "core/trace.h"
#include "pool/pool.h"
#include "quern/adapter.h"

struct core_queue;

typedef struct core_device {
  core_object object;
  core_runtime *runtime; /* held */
  const qn_adapter_table *table;
  qn_adapter_device *native;
  qn_adapter_device_info info;
  char adapter[32];
  char selector[64];
  core_failure_domain failures;
  _Atomic uintptr_t handle;
  core_reaper *reaper; /* of its children */
  qn_pool pool;
  core_object guard; /* core/memory.h */
  core_program_cache programs;
  core_trace_device trace;
  _Atomic uint32_t living[QN_KIND_KERNEL + 1]; /* children with a live handle, by kind; of buffers those not pooled */
  _Atomic uint64_t programs_compiled, program_cache_hits;

  qn_mutex lock;                    /* the rest */
  struct core_queue *queues;        /* those whose timelines are live */
  uint64_t launches, copies, fills; /* of queues that are no more */
  struct core_buffer *wraps;        /* buffers that wrap the caller's memory */
  core_refusal memory_refusal;      /* what the driver refused to take back of the pool */
  qn_arena names;                   /* of kernels, for texts; each once */
  qn_map name_table;
} core_device;

/* Pins a device for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_device_pin(qn_device handle, core_device **out_device);

/* Whether an object of `theirs` may be used in a call for `own`; `what` names it: "target". Errors: INVALID_HANDLE for
 * another runtime's, INVALID_ARGUMENT for another device's. */
QN_MUST_USE qn_status core_device_match(const core_device *own, const core_device *theirs, const char *what);

/* A copy of a name that lives as long as the device; "" when there is no memory. */
const char *core_device_name(core_device *device, const char *name);

/* Its handle is gone: lets go what the pool holds of it when the last buffer is gone too. */
void core_device_is_left(core_device *device);

/* Destroys what can be destroyed now, at a small cost. Before allocations. */
void core_device_collect(core_device *device);

#endif
