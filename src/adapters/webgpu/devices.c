/* devices.c - which devices a library has. webgpu.h gives one adapter a request: the fast one, and the frugal one when it is
 * another. Software is a device only when the user has named the library: nobody wants it by surprise. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "webgpu.h"

/* 32-bit addresses, of which the code keeps some for itself (QN_WGSL_FIRST_ADDRESS). */
#define MOST_BYTES ((UINT64_C(1) << 32) - (UINT64_C(1) << 28))
/* webgpu.h doesn't tell how much memory there is: so many times the largest buffer, as far as the machine goes for software. */
enum { BUFFERS_OF_MEMORY = 8 };

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t memory_of(const wgl_description *d, uint64_t largest) {
  uint64_t memory = largest * BUFFERS_OF_MEMORY;
  if (d->type != WGL_TYPE_SOFTWARE) return memory;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? smaller(memory, (uint64_t)pages * (uint64_t)page / 2) : memory;
}

static const char *backend_word(uint32_t backend) {
  static const char *const words[] = {"", "null", "WebGPU", "D3D11", "D3D12", "Metal", "Vulkan", "OpenGL", "OpenGL ES"};
  return backend < sizeof words / sizeof *words ? words[backend] : "";
}

static void describe_limits(const wgl_description *d, qn_adapter_device_info *info) {
  info->max_allocation_bytes = smaller(smaller(d->max_buffer_bytes, d->max_storage_bytes), MOST_BYTES) / 16 * 16;
  info->memory_bytes = memory_of(d, info->max_allocation_bytes);
  info->local_memory_bytes = d->max_local_bytes;
  info->max_group_items = d->max_group_items;
  for (int i = 0; i < 3; i++) info->max_local_size[i] = d->max_local_size[i];
  info->max_argument_bytes = smaller(d->max_uniform_bytes / 2, 4096);
  info->preferred_group_items = (uint32_t)smaller(d->max_group_items, 64);
}

static void describe(const qn_adapter_instance *instance, wg_found *found) {
  static const uint32_t types[] = {[WGL_TYPE_OTHER] = QN_DEVICE_OTHER,
                                   [WGL_TYPE_DISCRETE] = QN_DEVICE_GPU,
                                   [WGL_TYPE_INTEGRATED] = QN_DEVICE_GPU,
                                   [WGL_TYPE_SOFTWARE] = QN_DEVICE_CPU};
  const wgl_description *d = &found->description;
  found->info = (qn_adapter_device_info){.struct_size = sizeof found->info,
                                         .type = types[d->type],
                                         .failure_domain = QN_FAILURE_DEVICE,
                                         .code_kind = QN_CODE_WGSL,
                                         .features = QN_FEATURE_KERNELS | (d->has_half ? QN_FEATURE_HALF : 0),
                                         .compute_units = 1, /* not told */
                                         .address_bits = 32,
                                         .buffer_alignment = 1, /* offsets are added in the kernel */
                                         .allocation_alignment = 256};
  describe_limits(d, &found->info);
  (void)snprintf(found->info.name, sizeof found->info.name, "%.127s", *d->device ? d->device : d->description);
  (void)snprintf(found->info.driver, sizeof found->info.driver, "%.40s on %.10s, %.60s", instance->shim->name,
                 backend_word(d->backend), d->description);
}

/* Dawn has one that computes nothing, and gives it when there is no other. */
enum { NULL_BACKEND = 1 };

/* NULL, or why it isn't used. */
static const char *check_usable(const qn_adapter_instance *instance, const wgl_description *d) {
  if (d->backend == NULL_BACKEND)
    return "computes nothing: there is no driver (Vulkan's are registered in /etc/vulkan/icd.d)";
  if (d->type == WGL_TYPE_SOFTWARE && !instance->is_named)
    return "is software, which is used only when QUERN_WEBGPU_LIBRARY names the library";
  if (d->max_storage_buffers < 4 || d->max_group_items < 1 || d->max_buffer_bytes < 1 << 20)
    return "has limits that are too small";
  return NULL;
}

static bool is_known(const qn_adapter_instance *instance, const wgl_description *d) {
  for (uint32_t i = 0; i < instance->device_count; i++) {
    const wgl_description *known = &instance->devices[i].description;
    if (known->vendor_id == d->vendor_id && known->device_id == d->device_id && strcmp(known->device, d->device) == 0)
      return true;
  }
  return false;
}

/* `note` says why nothing came of it. */
static void look_for(qn_adapter_instance *instance, uint32_t which, char *note, size_t capacity) {
  char text[256] = "";
  wgl_description d;
  wgl_adapter *adapter = WGL(instance, adapter_request, instance->native, which, text, sizeof text);
  if (!adapter) {
    (void)snprintf(note, capacity, "it gives no adapter: %.200s", *text ? text : "no reason is told");
    return;
  }
  WGL(instance, adapter_describe, adapter, &d);
  WGL(instance, adapter_release, adapter);
  const char *wrong = check_usable(instance, &d);
  if (wrong) (void)snprintf(note, capacity, "the adapter '%.100s' %s", d.device, wrong);
  if (wrong || is_known(instance, &d)) return;
  wg_found *found = &instance->devices[instance->device_count++];
  *found = (wg_found){.which = which, .description = d};
  describe(instance, found);
}

qn_status wg_find_devices(qn_adapter_instance *instance) {
  char note[400] = "";
  look_for(instance, WGL_FAST, note, sizeof note);
  look_for(instance, WGL_FRUGAL, note, sizeof note);
  if (instance->device_count > 0) return QN_OK;
  return wg_error(instance->host, QN_ERROR_NOT_FOUND, "%s has no device that can be used: %s", instance->library, note);
}
