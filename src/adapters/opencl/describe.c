/* describe.c - what a device is and can do. What a driver tells is believed only where its version has the question:
 * drivers answer others with rubbish, or crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "probe.h"

typedef struct asker {
  const ocl_functions *cl;
  cl_device_id id;
} asker;

/* ---- Questions ---------------------------------------------------------------------------------- */

static bool ask(const asker *a, cl_device_info what, void *out, size_t size) {
  return a->cl->GetDeviceInfo(a->id, what, size, out, NULL) == CL_SUCCESS;
}

static uint64_t ask_u64(const asker *a, cl_device_info what) {
  cl_ulong value = 0;
  return ask(a, what, &value, sizeof value) ? value : 0;
}

static uint32_t ask_u32(const asker *a, cl_device_info what) {
  cl_uint value = 0;
  return ask(a, what, &value, sizeof value) ? value : 0;
}

static uint64_t ask_size(const asker *a, cl_device_info what) {
  size_t value = 0;
  return ask(a, what, &value, sizeof value) ? value : 0;
}

static bool ask_bool(const asker *a, cl_device_info what) { return ask_u32(a, what) != 0; }

/* A text, cut to fit; "" when there is none. */
static void ask_text(const asker *a, cl_device_info what, char *out, size_t capacity) {
  size_t size = 0;
  out[0] = '\0';
  if (a->cl->GetDeviceInfo(a->id, what, 0, NULL, &size) != CL_SUCCESS || size == 0) return;
  char *text = calloc(1, size + 1);
  if (text && ask(a, what, text, size)) snprintf(out, capacity, "%s", text);
  free(text);
}

/* "OpenCL 3.0 anything" -> 300; 0 when it isn't that. */
static uint32_t version_of(const char *text) {
  unsigned major = 0, minor = 0;
  if (sscanf(text, "OpenCL %u.%u", &major, &minor) != 2 || major > 99 || minor > 9) return 0;
  return major * 100 + minor * 10;
}

static uint32_t platform_version(const asker *a, cl_platform_id platform) {
  char text[256] = "";
  if (a->cl->GetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text, text, NULL) != CL_SUCCESS) return 0;
  text[sizeof text - 1] = '\0';
  return version_of(text);
}

static bool has_word(const char *words, const char *word) {
  size_t size = strlen(word);
  for (const char *at = strstr(words, word); at; at = strstr(at + size, word))
    if ((at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) return true;
  return false;
}

/* ---- Answers ------------------------------------------------------------------------------------ */

static const char *check_usable(const asker *a, const ocl_found *found) {
  if (found->version < 120) return "has an OpenCL older than 1.2";
  if (!ask_bool(a, CL_DEVICE_AVAILABLE)) return "is not available";
  if (!ask_bool(a, CL_DEVICE_COMPILER_AVAILABLE)) return "comes without a compiler";
  if (!ask_bool(a, CL_DEVICE_ENDIAN_LITTLE)) return "is big-endian";
  uint32_t bits = ask_u32(a, CL_DEVICE_ADDRESS_BITS);
  if (bits != 32 && bits != 64) return "tells neither 32 nor 64 address bits";
  return NULL;
}

static uint32_t type_of(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_CPU) return QN_DEVICE_CPU;
  if (type & CL_DEVICE_TYPE_GPU) return QN_DEVICE_GPU;
  return QN_DEVICE_OTHER;
}

static void describe_shared_memory(const qn_adapter_instance *instance, const asker *a, ocl_found *found) {
  const ocl_functions *cl = &instance->cl;
  if (found->version < 200 || !cl->SVMAlloc || !cl->SVMFree || !cl->SetKernelArgSVMPointer) return;
  /* Memory of coarse grain is the host's only while it is mapped; ours is coherent between points. */
  found->has_svm = (ask_u64(a, CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
}

static uint64_t features_of(const qn_adapter_instance *instance, const asker *a, const ocl_found *found) {
  uint64_t features = QN_FEATURE_KERNELS;
  char extensions[4096];
  ask_text(a, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
  /* OpenCL 1.2 made double an optional part of the core, which some drivers have without telling the extension. */
  if (has_word(extensions, "cl_khr_fp64") || ask_u64(a, CL_DEVICE_DOUBLE_FP_CONFIG) != 0) features |= QN_FEATURE_DOUBLE;
  if (has_word(extensions, "cl_khr_fp16")) features |= QN_FEATURE_HALF;
  if (has_word(extensions, "cl_khr_int64_base_atomics") && has_word(extensions, "cl_khr_int64_extended_atomics"))
    features |= QN_FEATURE_INT64_ATOMICS;
  if (found->has_svm) features |= QN_FEATURE_SHARED_MEMORY;
  /* Each device is to have profiling; one whose timer has no resolution gives numbers that are no times (Mesa 22.3). */
  bool has_timer = ask_size(a, CL_DEVICE_PROFILING_TIMER_RESOLUTION) > 0;
  if (has_timer && ask_u64(a, CL_DEVICE_QUEUE_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE)
    features |= QN_FEATURE_TIMED_QUEUES;
  if (found->info.type == QN_DEVICE_CPU && ocl_probe_wrap(&instance->cl, found->id)) features |= QN_FEATURE_WRAP_HOST;
  return features;
}

static void describe_limits(const asker *a, qn_adapter_device_info *info) {
  size_t sizes[16] = {0};
  info->memory_bytes = ask_u64(a, CL_DEVICE_GLOBAL_MEM_SIZE);
  info->max_allocation_bytes = ask_u64(a, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info->local_memory_bytes = ask_u64(a, CL_DEVICE_LOCAL_MEM_SIZE);
  info->max_group_items = ask_size(a, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  info->max_argument_bytes = ask_size(a, CL_DEVICE_MAX_PARAMETER_SIZE);
  info->compute_units = ask_u32(a, CL_DEVICE_MAX_COMPUTE_UNITS);
  info->address_bits = ask_u32(a, CL_DEVICE_ADDRESS_BITS);
  info->allocation_alignment = ask_u32(a, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  info->buffer_alignment = 1; /* offsets are added in the kernel; that of the type is the core's to see to */
  (void)ask(a, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes, sizeof sizes); /* as many as the device has dimensions */
  for (int d = 0; d < 3; d++) info->max_local_size[d] = sizes[d] ? sizes[d] : 1;
  info->preferred_group_items = info->max_group_items < 256 ? (uint32_t)info->max_group_items : 256;
}

/* "Portable Computing Language 3.1, OpenCL 3.0" */
static void describe_driver(const asker *a, ocl_found *found, qn_adapter_device_info *info) {
  char platform[64] = "", version[64];
  if (a->cl->GetPlatformInfo(found->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL) != CL_SUCCESS)
    snprintf(platform, sizeof platform, "OpenCL");
  platform[sizeof platform - 1] = '\0';
  found->quirks = ocl_quirks_of(platform);
  if (info->local_memory_bytes > found->quirks->local_reserve) info->local_memory_bytes -= found->quirks->local_reserve;
  ask_text(a, CL_DRIVER_VERSION, version, sizeof version);
  snprintf(info->driver, sizeof info->driver, "%.50s %.50s, OpenCL %u.%u", platform, version, found->version / 100,
           found->version / 10 % 10);
}

const char *ocl_describe(const qn_adapter_instance *instance, ocl_found *found) {
  const asker a = {&instance->cl, found->id};
  qn_adapter_device_info *info = &found->info;
  char text[256];
  *info = (qn_adapter_device_info){.struct_size = sizeof *info,
                                   .failure_domain = QN_FAILURE_CONTEXT,
                                   .code_kind = QN_CODE_OPENCL_C,
                                   .target = "opencl"};
  ask_text(&a, CL_DEVICE_NAME, info->name, sizeof info->name);
  ask_text(&a, CL_DEVICE_VERSION, text, sizeof text);
  uint32_t device = version_of(text), platform = platform_version(&a, found->platform);
  found->version = device < platform ? device : platform;
  const char *wrong = check_usable(&a, found);
  if (wrong) return wrong;
  info->type = type_of(ask_u64(&a, CL_DEVICE_TYPE));
  describe_limits(&a, info);
  if (info->memory_bytes == 0 || info->max_group_items == 0) return "tells no limits";
  snprintf(info->target_cpu, sizeof info->target_cpu, "%u.%u", found->version / 100, found->version / 10 % 10);
  if (ask_u64(&a, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
    snprintf(info->target_features, sizeof info->target_features, "+fp32-correctly-rounded-divide-sqrt");
  describe_shared_memory(instance, &a, found);
  info->features = features_of(instance, &a, found);
  describe_driver(&a, found, info);
  return NULL;
}
