#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "staging.h"
#include "words.h"
#include "wrap.h"

/* ---- Loss --------------------------------------------------------------------------------------- */

void cu_device_loss(qn_adapter_device *device, cu_failure *out_failure) {
  pthread_mutex_lock(&device->lock);
  *out_failure = device->loss;
  pthread_mutex_unlock(&device->lock);
}

qn_status cu_device_check(qn_adapter_device *device) {
  if (!cu_device_is_lost(device)) return QN_OK;
  cu_failure loss;
  cu_device_loss(device, &loss);
  return cu_tell(device->host, &loss);
}

void cu_device_lose(qn_adapter_device *device, cu_result code, const char *what) {
  cu_failure loss;
  (void)!cu_fail(&loss, QN_ERROR_DEVICE_LOST, code, "device '%s' is lost: %s", device->found->info.name, what);
  pthread_mutex_lock(&device->lock);
  if (device->loss.status == QN_OK) device->loss = loss;
  pthread_mutex_unlock(&device->lock);
  atomic_store_explicit(&device->is_lost, 1, memory_order_release);
}

void cu_device_judge(qn_adapter_device *device, cu_result code, const char *what) {
  if (cu_code_is_loss(code)) cu_device_lose(device, code, what);
}

/* ---- Life --------------------------------------------------------------------------------------- */

static qn_status retain_context(qn_adapter_device *device) {
  const cu_found *found = device->found;
  cu_result code = device->cu->DevicePrimaryCtxRetain(&device->context, found->id);
  if (code == CU_SUCCESS) return QN_OK;
  /* After a kernel's fault the driver gives the process no context of the GPU any more, not even to who had none. */
  if (cu_code_is_loss(code))
    return cu_refused(device->host, code,
                      "no context for device '%s': a fault before this has spoiled it for this process",
                      found->info.name);
  return cu_refused(device->host, code, "no context for device '%s'%s", found->info.name,
                    found->is_exclusive ? ", which is in compute mode Exclusive_Process: one process at a time" : "");
}

static qn_status make_service(qn_adapter_device *device) {
  bool entered = cu_enter(device);
  cu_result code = device->cu->StreamCreate(&device->service, CU_STREAM_NON_BLOCKING_FLAG);
  cu_leave(device, entered);
  if (code == CU_SUCCESS) return QN_OK;
  return cu_refused(device->host, code, "no stream for device '%s'", device->found->info.name);
}

static cu_result release_context(const qn_adapter_device *device) {
  return device->cu->DevicePrimaryCtxRelease_v2(device->found->id);
}

static qn_status make_objects(qn_adapter_device *device) {
  qn_status status = retain_context(device);
  if (status < 0) return status;
  status = make_service(device);
  if (status < 0) (void)release_context(device);
  return status;
}

static void free_device(qn_adapter_device *device) {
  pthread_mutex_destroy(&device->lock);
  free(device);
}

qn_status cu_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  if (index >= instance->device_count)
    return cu_error(instance->host, QN_ERROR_NOT_FOUND, "there is no device %u; there are %u", index,
                    instance->device_count);
  qn_adapter_device *device = calloc(1, sizeof *device);
  if (!device) return cu_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
  device->host = instance->host;
  device->cu = &instance->cu;
  device->found = &instance->devices[index];
  pthread_mutex_init(&device->lock, NULL);
  qn_status status = make_objects(device);
  if (status < 0) {
    free_device(device);
    return status;
  }
  *out_device = device;
  return QN_OK;
}

static void keep_first(cu_result *first, cu_result code) {
  if (*first == CU_SUCCESS) *first = code;
}

qn_status cu_device_close(qn_adapter_device *device) {
  const qn_adapter_host *host = device->host;
  cu_result code = CU_SUCCESS;
  bool entered = cu_enter(device);
  if (device->clock) keep_first(&code, device->cu->EventDestroy_v2(device->clock));
  keep_first(&code, device->cu->StreamDestroy_v2(device->service));
  keep_first(&code, cu_words_free(device));
  cu_leave(device, entered);
  keep_first(&code, release_context(device));
  cu_stagers_free_orphans(device);
  bool was_lost = cu_device_is_lost(device);
  free_device(device);
  if (was_lost || code == CU_SUCCESS) return QN_OK; /* the loss was told */
  return cu_refused(host, code, "a device can't be closed");
}

/* ---- Time limits -------------------------------------------------------------------------------- */

uint64_t cu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t cu_deadline(uint64_t timeout_ns) {
  uint64_t now = cu_now();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}
