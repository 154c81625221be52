#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failures ----------------------------------------------------------------------------------- */

/* Drivers say more to the context's callback than their codes do. It comes from any thread, up to the context's release. */
static void CL_CALLBACK hear(const char *text, const void *data, size_t size, void *user) {
  qn_adapter_device *device = user;
  (void)data;
  (void)size;
  if (!text) return;
  pthread_mutex_lock(&device->lock);
  snprintf(device->words, sizeof device->words, "%s", text);
  pthread_mutex_unlock(&device->lock);
  ocl_log(device->host, "%s: %s", device->found->info.name, text);
}

static bool is_consequence(const ocl_failure *failure) {
  return failure->code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

static void append_words(qn_adapter_device *device, ocl_failure *failure) {
  size_t at = strlen(failure->text);
  if (device->words[0]) snprintf(failure->text + at, sizeof failure->text - at, " (%s)", device->words);
}

void ocl_device_note_failure(qn_adapter_device *device, ocl_failure *failure) {
  pthread_mutex_lock(&device->lock);
  if (device->first.status == QN_OK) {
    append_words(device, failure);
    device->first = *failure;
  } else if (is_consequence(failure)) {
    *failure = device->first;
  }
  pthread_mutex_unlock(&device->lock);
}

void ocl_device_loss(qn_adapter_device *device, ocl_failure *out_failure) {
  pthread_mutex_lock(&device->lock);
  *out_failure = device->loss;
  pthread_mutex_unlock(&device->lock);
}

qn_status ocl_device_check(qn_adapter_device *device) {
  if (!atomic_load_explicit(&device->is_lost, memory_order_acquire)) return QN_OK;
  ocl_failure loss;
  ocl_device_loss(device, &loss);
  return ocl_tell(device->host, &loss);
}

/* What failed before it may be why. */
static void append_first(const qn_adapter_device *device, ocl_failure *loss) {
  size_t at = strlen(loss->text);
  if (device->first.status != QN_OK)
    snprintf(loss->text + at, sizeof loss->text - at, "; the first failure was: %.200s", device->first.text);
}

void ocl_device_lose(qn_adapter_device *device, cl_int code, const char *what) {
  ocl_failure loss;
  (void)!ocl_fail(&loss, QN_ERROR_DEVICE_LOST, code, "device '%s' is lost: %s", device->found->info.name, what);
  pthread_mutex_lock(&device->lock);
  if (device->loss.status == QN_OK) {
    append_words(device, &loss);
    append_first(device, &loss);
    device->loss = loss;
  }
  pthread_mutex_unlock(&device->lock);
  atomic_store_explicit(&device->is_lost, 1, memory_order_release);
}

void ocl_device_judge(qn_adapter_device *device, cl_int code, const char *what) {
  if (ocl_code_is_loss(code)) ocl_device_lose(device, code, what);
}

/* ---- Life --------------------------------------------------------------------------------------- */

static qn_status make_objects(qn_adapter_device *device) {
  cl_int code = CL_SUCCESS;
  cl_device_id id = device->found->id;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->found->platform, 0};
  device->context = device->cl->CreateContext(properties, 1, &id, hear, device, &code);
  if (!device->context) return ocl_refused(device->host, code, "no context for device '%s'", device->found->info.name);
  device->service = device->cl->CreateCommandQueue(device->context, id, 0, &code);
  if (device->service) return QN_OK;
  qn_status status = ocl_refused(device->host, code, "no command queue for device '%s'", device->found->info.name);
  device->cl->ReleaseContext(device->context);
  return status;
}

static void free_device(qn_adapter_device *device) {
  pthread_mutex_destroy(&device->service_lock);
  pthread_mutex_destroy(&device->lock);
  pthread_mutex_destroy(&device->order);
  free(device);
}

qn_status ocl_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  if (index >= instance->device_count)
    return ocl_error(instance->host, QN_ERROR_NOT_FOUND, "there is no device %u; there are %u", index,
                     instance->device_count);
  qn_adapter_device *device = calloc(1, sizeof *device);
  if (!device) return ocl_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
  device->host = instance->host;
  device->cl = &instance->cl;
  device->found = &instance->devices[index];
  pthread_mutex_init(&device->service_lock, NULL);
  pthread_mutex_init(&device->order, NULL);
  pthread_mutex_init(&device->lock, NULL);
  qn_status status = make_objects(device);
  if (status < 0) {
    free_device(device);
    return status;
  }
  ocl_compiles_open(device);
  *out_device = device;
  return QN_OK;
}

qn_status ocl_device_close(qn_adapter_device *device) {
  const qn_adapter_host *host = device->host;
  ocl_compiles_close(device);
  cl_int queue = device->cl->ReleaseCommandQueue(device->service);
  cl_int context = device->cl->ReleaseContext(device->context);
  bool was_lost = atomic_load(&device->is_lost);
  free_device(device);
  if (was_lost) return QN_OK; /* it was told; nothing more is to be had from the driver */
  if (queue != CL_SUCCESS) return ocl_refused(host, queue, "a command queue can't be released");
  if (context != CL_SUCCESS) return ocl_refused(host, context, "a context can't be released");
  return QN_OK;
}
