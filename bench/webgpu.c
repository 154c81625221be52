#include "webgpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static void hear_error(void *user, uint32_t kind, const char *text, uint64_t size) {
  (void)user;
  bench_fail("WebGPU tells an error of kind %u: %.*s", kind, (int)size, text);
}
static void hear_loss(void *user, const char *text, uint64_t size) {
  (void)user;
  bench_fail("WebGPU has lost the device: %.*s", (int)size, text);
}
static const wgl_watch watch = {.struct_size = sizeof watch, .on_error = hear_error, .on_lost = hear_loss};

bool bench_webgpu_open(bench_webgpu *w) {
  const char *path = getenv("QUERN_WEBGPU_LIBRARY"), *missing = NULL;
  char text[256] = "";
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  w->shim = wgl_shim_dawn_2025();
  w->f = library ? w->shim->load(library, &missing) : NULL;
  if (!w->f) return false;
  w->instance = w->shim->instance_open(w->f);
  wgl_adapter *adapter =
      w->instance ? BENCH_WEBGPU(w, adapter_request, w->instance, WGL_FAST, text, sizeof text) : NULL;
  if (!adapter) return false;
  wgl_description d = {.struct_size = sizeof d};
  BENCH_WEBGPU(w, adapter_describe, adapter, &d);
  w->is_software = d.type == WGL_TYPE_SOFTWARE;
  (void)snprintf(w->name, sizeof w->name, "%.120s, %.120s", *d.device ? d.device : d.description, w->shim->name);
  w->device = BENCH_WEBGPU(w, device_open, w->instance, adapter, &watch, text, sizeof text);
  if (!w->device) return false;
  w->queue = BENCH_WEBGPU(w, device_queue, w->device);
  return true;
}
