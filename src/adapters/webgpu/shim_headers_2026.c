/* shim_headers_2026.c - webgpu.h of webgpu-headers from July 2025 on, as wgpu-native of 2026 has it: instances are made from features,
 * features have CoreFeaturesAndLimits before them. Such a library may have a function of its own that looks what has come
 * (wgpuDevicePoll, of wgpu-native). */
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

typedef struct limits {
  void *next;
  uint32_t textures_and_groups[11]; /* maxTextureDimension1D to maxSamplersPerShaderStage */
  uint32_t max_storage_buffers, max_storage_textures, max_uniform_buffers;
  uint64_t max_uniform_binding_size, max_storage_binding_size;
  uint32_t min_uniform_offset_alignment, min_storage_offset_alignment, max_vertex_buffers;
  uint64_t max_buffer_size;
  uint32_t vertices_and_colors[5]; /* maxVertexAttributes to maxColorAttachmentBytesPerSample */
  uint32_t max_local_bytes, max_group_items, max_local_size[3], max_groups;
  uint32_t max_immediate_size;
} limits;

#define OWN_FUNCTIONS(X)                      \
  X(HasInstanceFeature, uint32_t, (uint32_t)) \
  X(DevicePoll, uint32_t, (wgl_device *, uint32_t, const uint64_t *))

enum { FEATURE_HALF = 11, TIMED_WAIT = 1 };
#define FEATURES_WANTED FEATURE_HALF

static uint32_t has_locks(struct wgl_functions *f, wgl_adapter *adapter);

#include "shim_body.h"

/* wgpu's objects may be used by any thread. */
static uint32_t has_locks(wgl_functions *f, wgl_adapter *adapter) {
  (void)adapter;
  return f->can_wait;
}

static wgl_instance *instance_open(wgl_functions *f) {
  static const uint32_t timed = TIMED_WAIT;
  f->can_wait = f->HasInstanceFeature(TIMED_WAIT);
  const instance_descriptor descriptor = {.feature_count = f->can_wait ? 1 : 0, .features = &timed};
  return f->CreateInstance(&descriptor);
}

static void poll(wgl_functions *f, wgl_instance *instance, wgl_device *device) {
  if (device) (void)f->DevicePoll(device, 0, NULL);
  f->InstanceProcessEvents(instance);
}

static qn_status wait_for_future(wgl_functions *f, wgl_instance *instance, wgl_device *device, uint64_t id,
                                 uint64_t timeout_ns) {
  (void)device;
  return f->can_wait ? wait_any(f, instance, id, timeout_ns) : QN_ERROR_UNSUPPORTED;
}

static const char *const marks[] = {"wgpuHasInstanceFeature", "wgpuGetInstanceFeatures", "wgpuDevicePoll", NULL};
static const wgl_shim shim = SHIM_TABLE("wgpu-native with webgpu.h of 2026", marks);

const wgl_shim *wgl_shim_headers_2026(void) { return &shim; }
