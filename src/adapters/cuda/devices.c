/* devices.c - which devices there are, and what they can do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

/* ---- What a device is --------------------------------------------------------------------------- */

static int ask(const qn_adapter_instance *instance, cu_id id, unsigned what) {
  int value = 0;
  return instance->cu.DeviceGetAttribute(&value, what, id) == CU_SUCCESS ? value : 0;
}

/* Targets of the compiler, in rising order; PTX of one runs on every later GPU. */
static const uint32_t targets[] = {70, 80, 90};

/* The nearest that is not above; 0: there is none. */
static uint32_t target_of(uint32_t capability) {
  uint32_t best = 0;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (targets[i] <= capability) best = targets[i];
  return best;
}

static bool is_usable(const qn_adapter_instance *instance, cu_found *found, char *out_why, size_t capacity) {
  int mode = ask(instance, found->id, CU_COMPUTE_MODE);
  found->capability =
      (uint32_t)(ask(instance, found->id, CU_CAPABILITY_MAJOR) * 10 + ask(instance, found->id, CU_CAPABILITY_MINOR));
  found->is_exclusive = mode == CU_MODE_EXCLUSIVE;
  if (target_of(found->capability) == 0)
    return snprintf(out_why, capacity, "has compute capability %u.%u; %u.%u or newer is needed", found->capability / 10,
                    found->capability % 10, targets[0] / 10, targets[0] % 10) < 0;
  if (mode == CU_MODE_PROHIBITED)
    return snprintf(out_why, capacity, "is in compute mode Prohibited; nvidia-smi -c DEFAULT as root lets it be used") <
           0;
  if (!ask(instance, found->id, CU_UNIFIED_ADDRESSING))
    return snprintf(out_why, capacity, "has no unified addressing") < 0;
  return true;
}

static uint64_t features_of(const qn_adapter_instance *instance, cu_id id) {
  uint64_t features =
      QN_FEATURE_KERNELS | QN_FEATURE_DOUBLE | QN_FEATURE_HALF | QN_FEATURE_INT64_ATOMICS | QN_FEATURE_TIMED_QUEUES;
  /* Where the host may not touch managed memory while any kernel runs, it isn't shared in our sense. */
  if (ask(instance, id, CU_MANAGED_MEMORY) && ask(instance, id, CU_CONCURRENT_MANAGED_ACCESS))
    features |= QN_FEATURE_SHARED_MEMORY;
  if (ask(instance, id, CU_HOST_REGISTER) && ask(instance, id, CU_REGISTERED_HOST_POINTER))
    features |= QN_FEATURE_WRAP_HOST;
  return features;
}

/* Parameters of a kernel have 4 KiB on every driver; a launch's range is one of them, aligned to 8. */
enum { PARAMETER_BYTES = 4096, RANGE_BYTES = (sizeof(qn_ptx_range) + 7) / 8 * 8 };
enum { BASE_ALIGNMENT = 256, PREFERRED_ITEMS = 256 };

static void describe_limits(const qn_adapter_instance *instance, cu_found *found) {
  qn_adapter_device_info *info = &found->info;
  size_t bytes = 0;
  if (instance->cu.DeviceTotalMem_v2(&bytes, found->id) == CU_SUCCESS) info->memory_bytes = bytes;
  info->max_allocation_bytes = info->memory_bytes;
  info->local_memory_bytes = (uint64_t)ask(instance, found->id, CU_SHARED_MEMORY_OPTIN);
  uint64_t plain = (uint64_t)ask(instance, found->id, CU_SHARED_MEMORY_PER_BLOCK);
  if (info->local_memory_bytes < plain) info->local_memory_bytes = plain;
  for (int d = 0; d < 3; d++) {
    info->max_local_size[d] = (uint64_t)ask(instance, found->id, CU_MAX_BLOCK_X + (unsigned)d);
    found->grid[d] = (uint32_t)ask(instance, found->id, CU_MAX_GRID_X + (unsigned)d);
  }
  info->max_group_items = (uint64_t)ask(instance, found->id, CU_MAX_THREADS_PER_BLOCK);
  info->max_argument_bytes = PARAMETER_BYTES - RANGE_BYTES;
  info->compute_units = (uint32_t)ask(instance, found->id, CU_MULTIPROCESSORS);
  info->address_bits = 64;
  info->buffer_alignment = 1; /* offsets are added to addresses; that of the type is the core's to see to */
  info->allocation_alignment = BASE_ALIGNMENT;
  info->sub_group_size = (uint32_t)ask(instance, found->id, CU_WARP_SIZE);
  info->preferred_group_items = PREFERRED_ITEMS;
}

bool cu_describe(const qn_adapter_instance *instance, cu_found *found, char *out_why, size_t capacity) {
  qn_adapter_device_info *info = &found->info;
  *info = (qn_adapter_device_info){.struct_size = sizeof *info,
                                   .type = QN_DEVICE_GPU,
                                   .failure_domain = QN_FAILURE_CONTEXT,
                                   .code_kind = QN_CODE_PTX};
  if (instance->cu.DeviceGetName(info->name, (int)sizeof info->name, found->id) != CU_SUCCESS)
    snprintf(info->name, sizeof info->name, "GPU %d", found->id);
  if (!is_usable(instance, found, out_why, capacity)) return false;
  describe_limits(instance, found);
  if (info->memory_bytes == 0 || info->max_group_items == 0 || found->grid[0] == 0)
    return snprintf(out_why, capacity, "tells no limits") < 0;
  info->features = features_of(instance, found->id);
  found->has_words = instance->cu.StreamWriteValue64_v2 && instance->cu.StreamWaitValue64_v2 &&
                     ask(instance, found->id, CU_STREAM_WORDS) != 0;
  snprintf(info->driver, sizeof info->driver, "%s", instance->driver);
  snprintf(info->target, sizeof info->target, "cuda-sm_%u", target_of(found->capability));
  /* The driver's compiler makes code for the GPU itself: what it made is kept under its name too. */
  snprintf(info->target_cpu, sizeof info->target_cpu, "sm_%u", found->capability);
  return true;
}

/* ---- All of them -------------------------------------------------------------------------------- */

/* Why devices are left out, told when none is left. */
typedef struct notes {
  char text[600];
} notes;

static void note(const qn_adapter_host *host, notes *n, const char *name, const char *why) {
  size_t at = strlen(n->text);
  cu_log(host, "device '%s' is left out: it %s", name, why);
  snprintf(n->text + at, sizeof n->text - at, "; '%s' %s", name, why);
}

static void add_device(qn_adapter_instance *instance, int ordinal, notes *n) {
  cu_found *found = &instance->devices[instance->device_count];
  char why[200] = "";
  *found = (cu_found){0};
  cu_result code = instance->cu.DeviceGet(&found->id, ordinal);
  if (code != CU_SUCCESS) {
    char name[32];
    snprintf(name, sizeof name, "GPU %d", ordinal);
    cu_print_code(code, why, sizeof why);
    note(instance->host, n, name, why);
  } else if (cu_describe(instance, found, why, sizeof why)) {
    instance->device_count++;
  } else {
    note(instance->host, n, found->info.name, why);
  }
}

enum { MOST_DEVICES = 64 };

qn_status cu_find_devices(qn_adapter_instance *instance) {
  notes n = {""};
  int count = 0;
  cu_result code = instance->cu.DeviceGetCount(&count);
  if (code == CU_SUCCESS && count == 0) code = CU_NO_DEVICE;
  if (code != CU_SUCCESS)
    return cu_refused_as(instance->host, QN_ERROR_NOT_FOUND, code, "there is a driver (%s) without a GPU",
                         instance->driver);
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  instance->devices = calloc((size_t)count, sizeof *instance->devices);
  if (!instance->devices)
    return cu_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the list of devices");
  for (int i = 0; i < count; i++) add_device(instance, i, &n);
  if (instance->device_count > 0) return QN_OK;
  free(instance->devices);
  instance->devices = NULL;
  return cu_error(instance->host, QN_ERROR_NOT_FOUND, "the driver (%s) has no GPU that can be used%s", instance->driver,
                  n.text);
}
