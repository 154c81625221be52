/* webgpu.h - a WebGPU library called by hand, through the adapter's shim: its device and queue. */
#ifndef QUERN_BENCH_WEBGPU_H
#define QUERN_BENCH_WEBGPU_H

#include <stdbool.h>

#include "adapters/webgpu/shim.h"

typedef struct bench_webgpu {
  const wgl_shim *shim;
  wgl_functions *f;
  wgl_instance *instance;
  wgl_device *device;
  wgl_queue *queue;
  bool is_software;
  char name[256];
} bench_webgpu;

#define BENCH_WEBGPU(webgpu, function, ...) ((webgpu)->shim->function((webgpu)->f, __VA_ARGS__))

/* The library that QUERN_WEBGPU_LIBRARY names, which is Dawn, and its fast device. False: there is none. Errors that the library tells
 * later end the program. */
bool bench_webgpu_open(bench_webgpu *webgpu);

#endif
