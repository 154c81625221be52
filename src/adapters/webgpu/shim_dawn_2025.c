/* shim_dawn_2025.c - Dawn with webgpu.h of May and June 2025: instances are made from capabilities and limits have four more fields
 * than webgpu-headers has. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim.h"

typedef struct capabilities {
  void *next;
  uint32_t can_wait; /* WaitAny takes a time limit */
  size_t max_waits;
} capabilities;

typedef struct instance_descriptor {
  void *next;
  capabilities capabilities;
} instance_descriptor;

#define OWN_LIMITS uint32_t of_other_stages[4];

struct wait_info;
#define OWN_FUNCTIONS(X)                                 \
  X(GetInstanceCapabilities, uint32_t, (capabilities *)) \
  X(InstanceWaitAny, uint32_t, (wgl_instance *, size_t, struct wait_info *, uint64_t))

/* The second one: Dawn locks the device itself ("implicit device synchronization"). */
enum { FEATURE_HALF = 10, FEATURE_LOCKS = 0x00050004 };
#define FILTERS FILTER_INTERNAL, FILTER_MEMORY, FILTER_VALIDATION
#define FEATURES_WANTED FEATURE_HALF, FEATURE_LOCKS

typedef struct wgl_functions functions;
static uint32_t has_locks(functions *f, wgl_adapter *adapter);

#include "shim_body.h"

static uint32_t has_locks(functions *f, wgl_adapter *adapter) {
  return f->AdapterHasFeature(adapter, FEATURE_LOCKS) != 0;
}

static wgl_instance *instance_open(wgl_functions *f) {
  capabilities can = {0};
  f->can_wait = f->GetInstanceCapabilities(&can) == SUCCESS && can.can_wait;
  const instance_descriptor descriptor = {.capabilities = {.can_wait = f->can_wait, .max_waits = can.max_waits}};
  return f->CreateInstance(&descriptor);
}

static void poll(wgl_functions *f, wgl_instance *instance, wgl_device *device) {
  (void)device;
  f->InstanceProcessEvents(instance);
}

typedef struct wait_info {
  future future;
  uint32_t is_completed;
} wait_info;

/* It tells what has come as poll does. */
static qn_status wait_for_future(wgl_functions *f, wgl_instance *instance, wgl_device *device, uint64_t id,
                                 uint64_t timeout_ns) {
  (void)device;
  wait_info info = {.future = {id}};
  if (!f->can_wait) return QN_ERROR_UNSUPPORTED;
  uint32_t status = f->InstanceWaitAny(instance, 1, &info, timeout_ns);
  if (status == SUCCESS) return QN_OK;
  return status == TIMED_OUT ? QN_NOT_READY : QN_ERROR_UNSUPPORTED;
}

static const char *const marks[] = {"wgpuGetInstanceCapabilities", "wgpuDeviceTick", "wgpuDeviceGetAdapterInfo", NULL};
static const wgl_shim shim = SHIM_TABLE("Dawn with webgpu.h of May 2025", marks, 0);

const wgl_shim *wgl_shim_dawn_2025(void) { return &shim; }
