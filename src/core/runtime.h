/* runtime.h - the runtime: which adapters there are, which of them are loaded, and the devices that are open. */
#ifndef QUERN_CORE_RUNTIME_H
#define QUERN_CORE_RUNTIME_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/os/thread.h"
#include "core/adapter_loader.h"
#include "core/object.h"
#include "quern/quern.h"

typedef struct core_runtime {
  core_object object;
  uint32_t owner;           /* its id in handle.h */
  _Atomic uint32_t closing; /* once 1, no object is made any longer */
  _Atomic uint32_t gave_up; /* closing has reached its time limit: callbacks are not waited for any longer */
  _Atomic uint32_t devices; /* open or not yet destroyed; qn_runtime_close sleeps on it */
  qn_mutex lock;            /* the rest */
  qn_arena arena;
  char *adapter_path; /* as given; NULL: the environment */
  char *adapter_names;
  core_adapter_list adapters;
  core_refusal refusal; /* what closing devices and instances was refused */
} core_runtime;

/* Pins a runtime for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_runtime_pin(qn_runtime handle, core_runtime **out_runtime);

/* The adapters that there are; core_runtime_load_all loads those that may be used, trying out new ones in a child process.
 * Under the runtime's lock. Errors: CLOSED, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_runtime_adapters(core_runtime *runtime, core_adapter_list **out_list);
QN_MUST_USE qn_status core_runtime_load_all(core_runtime *runtime, core_adapter_list **out_list);

/* A device has been destroyed: wakes who closes. Last use of the runtime by the device, before it drops its hold. */
void core_runtime_device_gone(core_runtime *runtime);

#endif
