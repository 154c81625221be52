/* shim_wgpu_2026.c - wgpu-native with webgpu.h of webgpu-headers in 2026 (PyPI wgpu 0.32): features have CoreFeaturesAndLimits before
 * them. Of the functions that it exports some abort when they are called, wgpuInstanceWaitAny and wgpuHasInstanceFeature among
 * them; it has one of its own that looks what has come, wgpuDevicePoll. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim.h"

typedef struct instance_descriptor {
  void *next;
  size_t feature_count;
  const uint32_t *features;
  const void *limits;
} instance_descriptor;

#define OWN_LIMITS

#define OWN_FUNCTIONS(X) X(DevicePoll, uint32_t, (wgl_device *, uint32_t, const uint64_t *))

enum { FEATURE_HALF = 11 };
#define FILTERS FILTER_MEMORY, FILTER_VALIDATION /* a scope for internal errors makes it abort */
#define FEATURES_WANTED FEATURE_HALF

static uint32_t has_locks(struct wgl_functions *f, wgl_adapter *adapter);

#include "shim_body.h"

/* Its objects may be used by any thread. */
static uint32_t has_locks(wgl_functions *f, wgl_adapter *adapter) {
  (void)f, (void)adapter;
  return 1;
}

static wgl_instance *instance_open(wgl_functions *f) {
  const instance_descriptor descriptor = {0};
  return f->CreateInstance(&descriptor);
}

static void poll(wgl_functions *f, wgl_instance *instance, wgl_device *device) {
  (void)instance;
  if (device) (void)f->DevicePoll(device, 0, NULL);
}

static qn_status wait_for_future(wgl_functions *f, wgl_instance *instance, wgl_device *device, uint64_t id,
                                 uint64_t timeout_ns) {
  (void)f, (void)instance, (void)device, (void)id, (void)timeout_ns;
  return QN_ERROR_UNSUPPORTED; /* it waits without a limit only */
}

static const char *const marks[] = {"wgpuGetInstanceFeatures", "wgpuDevicePoll", "wgpuGetVersion", NULL};
static const wgl_shim shim = SHIM_TABLE("wgpu-native with webgpu.h of 2026", marks, 1);

const wgl_shim *wgl_shim_wgpu_2026(void) { return &shim; }
