/* fused.c - whether a device's fma rounds once. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "memory.h"
#include "program.h"
#include "transfer.h"

/* Operands come from memory, so that nothing is computed when the pipeline is made. */
static const char text[] =
    "@group(0) @binding(1) var<storage, read_write> data: array<f32>;\n"
    "@compute @workgroup_size(4) fn run(@builtin(local_invocation_id) id: vec3<u32>) {\n"
    "  let i = id.x * 4u;\n"
    "  data[i + 3u] = fma(data[i], data[i + 1u], data[i + 2u]);\n"
    "}\n";

/* a, b, c, and a * b + c when it is rounded once; rounded twice, each sum is another number. */
static const uint32_t operands[16] = {0x3f800800, 0x3f800800, 0xbf801000, 0x33800000, 0x40400001, 0x40400001,
                                      0xc1100002, 0xb4fffffe, 0x3fc00001, 0x3fc00001, 0xc0100001, 0x34000001,
                                      0x3f800001, 0x3f800001, 0xbf800002, 0x28800000};

static qn_status make_pipeline(qn_adapter_device *device, wgl_layout **layout, wgl_pipeline **pipeline,
                               wg_failure *failure) {
  static const wgl_slot slot = {.binding = 1, .kind = WGL_BIND_WRITE, .least_bytes = 4};
  static const wg_text program = {text, sizeof text - 1};
  wgl_module *module = NULL;
  qn_status status = wg_module_create(device, &program, &module, failure);
  if (status < 0) return status;
  wg_scope_begin(device);
  *layout = WGL(device, layout_create, device->native, &slot, 1);
  const wgl_pipeline_request request = {
      .struct_size = sizeof request, .module = module, .layout = *layout, .entry = "run"};
  if (*layout) *pipeline = WGL(device, pipeline_create, device->native, &request);
  status = wg_scope_end(device, failure, "fma can't be tried out");
  WGL(device, module_release, module);
  if (status >= 0 && !*pipeline) status = wg_fail(failure, QN_ERROR_DEVICE, 0, "fma can't be tried out");
  return status;
}

static void run(qn_adapter_device *device, const qn_adapter_memory *memory, wgl_layout *layout,
                wgl_pipeline *pipeline) {
  static const uint32_t groups[3] = {1, 1, 1};
  const wgl_binding binding = {.binding = 1, .buffer = memory->buffer, .size_bytes = sizeof operands};
  wg_stream_write(device, memory->buffer, 0, operands, sizeof operands);
  wgl_group *group = WGL(device, group_create, device->native, layout, &binding, 1);
  if (!group) return;
  wg_stream_dispatch(device, pipeline, group, UINT32_MAX, groups);
  wg_stream_flush(device);
  WGL(device, group_release, group);
}

static qn_status try_it(qn_adapter_device *device, const qn_adapter_memory *memory) {
  wgl_layout *layout = NULL;
  wgl_pipeline *pipeline = NULL;
  wg_failure failure = {0};
  pthread_mutex_lock(&device->lock);
  qn_status status = make_pipeline(device, &layout, &pipeline, &failure);
  if (status >= 0) run(device, memory, layout, pipeline);
  if (pipeline) WGL(device, pipeline_release, pipeline);
  if (layout) WGL(device, layout_release, layout);
  pthread_mutex_unlock(&device->lock);
  return status < 0 ? wg_tell(device->host, &failure) : QN_OK;
}

static bool is_fused(const uint32_t *words) {
  for (int i = 0; i < 4; i++)
    if (words[4 * i + 3] != operands[4 * i + 3]) return false;
  return true;
}

static uint32_t known(qn_adapter_device *device) {
  pthread_mutex_lock(&device->lock);
  uint32_t fused = device->fused;
  pthread_mutex_unlock(&device->lock);
  return fused;
}

qn_status wg_fused_find(qn_adapter_device *device) {
  const qn_adapter_memory_request request = {
      .struct_size = sizeof request, .memory = QN_MEMORY_DEVICE, .size_bytes = sizeof operands, .alignment = 16};
  qn_adapter_memory_info info = {.struct_size = sizeof info};
  qn_adapter_memory *memory = NULL;
  void *words = NULL;
  if (known(device) != WG_FUSED_UNKNOWN) return QN_OK;
  qn_status status = wg_memory_create(device, &request, &memory, &info);
  if (status < 0) return status;
  status = try_it(device, memory);
  if (status >= 0) status = wg_memory_map(device, memory, 0, sizeof operands, QN_MAP_READ, &words);
  if (status >= 0) {
    pthread_mutex_lock(&device->lock);
    device->fused = is_fused(words) ? WG_FUSED_YES : WG_FUSED_NO;
    pthread_mutex_unlock(&device->lock);
    status = wg_memory_unmap(device, memory, words);
  }
  (void)!wg_memory_destroy(device, memory);
  return status;
}
