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
  _Atomic uint32_t users;   /* devices that are not destroyed yet, and calls that load adapters or open devices;
                               qn_runtime_close sleeps on it */
  qn_mutex lock;            /* the rest */
  qn_arena arena;
  char *adapter_path; /* as given; NULL: the environment */
  char *adapter_names;
  core_adapter_list adapters;
  core_refusal refusal; /* what closing devices and instances was refused */
} core_runtime;

/* Pins a runtime for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_runtime_pin(qn_runtime handle, core_runtime **out_runtime);

/* Locks the runtime for a call that loads adapters or opens a device, and counts it as a user: closing waits for it, within
 * closing's own time limit, before it takes the adapters away. Errors: CLOSED. */
QN_MUST_USE qn_status core_runtime_lock(core_runtime *runtime);
void core_runtime_unlock(core_runtime *runtime);
/* A device is a user for its whole life, from when it was opened under the lock. Its end is its last use of the runtime
 * before it drops its hold. */
void core_runtime_add_device(core_runtime *runtime);
void core_runtime_remove_device(core_runtime *runtime);

/* The adapters that there are; core_runtime_load_all loads those that may be used, trying out new ones in a child process.
 * Under the runtime's lock. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_runtime_adapters(core_runtime *runtime, core_adapter_list **out_list);
QN_MUST_USE qn_status core_runtime_load_all(core_runtime *runtime, core_adapter_list **out_list);

#endif
