#include "memory.h"

#include <stdlib.h>

/* ---- Create ------------------------------------------------------------------------------------- */

static const char *kind_word(uint32_t memory) {
  static const char *const words[] = {[QN_MEMORY_DEVICE] = "device",
                                      [QN_MEMORY_HOST] = "host",
                                      [QN_MEMORY_SHARED] = "shared",
                                      [QN_MEMORY_WRAP] = "wrapped"};
  return memory < sizeof words / sizeof *words ? words[memory] : "unknown";
}

static qn_status check_request(const qn_adapter_device *device, const qn_adapter_memory_request *request) {
  const qn_adapter_host *host = device->host;
  const qn_adapter_device_info *info = &device->found->info;
  unsigned long long size = request->size_bytes;
  if (request->memory > QN_MEMORY_WRAP)
    return ocl_error(host, QN_ERROR_INVALID_ARGUMENT, "there is no kind of memory %u", request->memory);
  if (size == 0) return ocl_error(host, QN_ERROR_INVALID_ARGUMENT, "a buffer has 1 byte or more");
  if (size > info->max_allocation_bytes || size > SIZE_MAX)
    return ocl_error(host, QN_ERROR_OUT_OF_MEMORY, "%llu bytes are asked for, a buffer has at most %llu", size,
                     (unsigned long long)info->max_allocation_bytes);
  if (request->alignment > info->allocation_alignment)
    return ocl_error(host, QN_ERROR_INVALID_ARGUMENT, "an alignment of %llu is asked for, the driver's is %u",
                     (unsigned long long)request->alignment, info->allocation_alignment);
  if (request->memory == QN_MEMORY_WRAP && !request->host_pointer)
    return ocl_error(host, QN_ERROR_INVALID_ARGUMENT, "wrapped memory needs its address");
  if (request->memory == QN_MEMORY_WRAP && !(info->features & QN_FEATURE_WRAP_HOST))
    return ocl_error(host, QN_ERROR_UNSUPPORTED,
                     "the driver works on a copy of wrapped memory; make a buffer and copy");
  if (request->memory == QN_MEMORY_SHARED && !device->found->has_svm)
    return ocl_error(host, QN_ERROR_UNSUPPORTED, "the device has no shared virtual memory");
  return QN_OK;
}

static qn_status take_shared(qn_adapter_device *device, const qn_adapter_memory_request *request,
                             qn_adapter_memory *memory) {
  cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
  memory->shared = device->cl->SVMAlloc(device->context, flags, (size_t)request->size_bytes, 0);
  if (memory->shared) return QN_OK;
  return ocl_error(device->host, QN_ERROR_OUT_OF_MEMORY, "no shared memory for %llu bytes",
                   (unsigned long long)request->size_bytes);
}

static qn_status take_buffer(qn_adapter_device *device, const qn_adapter_memory_request *request,
                             qn_adapter_memory *memory) {
  cl_int code = CL_SUCCESS;
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  void *over = request->memory == QN_MEMORY_WRAP ? request->host_pointer : memory->shared;
  if (over) flags |= CL_MEM_USE_HOST_PTR;
  if (request->memory == QN_MEMORY_HOST) flags |= CL_MEM_ALLOC_HOST_PTR;
  memory->buffer = device->cl->CreateBuffer(device->context, flags, (size_t)request->size_bytes, over, &code);
  if (memory->buffer) return QN_OK;
  ocl_device_judge(device, code, "a buffer can't be created");
  qn_status status = code == CL_OUT_OF_RESOURCES ? QN_ERROR_OUT_OF_MEMORY : ocl_status_of(code);
  return ocl_refused_as(device->host, status, code, "no %s memory for %llu bytes", kind_word(request->memory),
                        (unsigned long long)request->size_bytes);
}

static qn_status take(qn_adapter_device *device, const qn_adapter_memory_request *request, qn_adapter_memory *memory) {
  qn_status status = request->memory == QN_MEMORY_SHARED ? take_shared(device, request, memory) : QN_OK;
  if (status < 0) return status;
  status = take_buffer(device, request, memory);
  if (status < 0 && memory->shared) device->cl->SVMFree(device->context, memory->shared);
  return status;
}

/* Where the host reaches it without a map. */
static void *host_pointer(const qn_adapter_memory_request *request, const qn_adapter_memory *memory) {
  if (request->memory == QN_MEMORY_WRAP) return request->host_pointer;
  return memory->shared;
}

qn_status ocl_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                            qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  qn_status status = ocl_device_check(device);
  if (status >= 0) status = check_request(device, request);
  if (status < 0) return status;
  qn_adapter_memory *memory = calloc(1, sizeof *memory);
  if (!memory) return ocl_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a block's record");
  memory->device = device;
  status = take(device, request, memory);
  if (status < 0) {
    free(memory);
    return status;
  }
  memory->number = atomic_fetch_add_explicit(&device->last_memory, 1, memory_order_relaxed) + 1;
  out_info->native = (uint64_t)(uintptr_t)memory->buffer;
  out_info->size_bytes = request->size_bytes;
  out_info->host_pointer = host_pointer(request, memory);
  *out_memory = memory;
  return QN_OK;
}

qn_status ocl_memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  cl_int code = device->cl->ReleaseMemObject(memory->buffer);
  if (memory->shared) device->cl->SVMFree(device->context, memory->shared);
  free(memory);
  if (code == CL_SUCCESS || atomic_load(&device->is_lost)) return QN_OK;
  return ocl_refused(device->host, code, "a buffer can't be released");
}

/* ---- Map ---------------------------------------------------------------------------------------- */

/* An unmap names its map by the address alone, and maps of one range have one address: PoCL takes the first that it finds. So threads
 * that map and unmap one buffer end each other's maps, which does no harm as long as the driver knows all of them: but PoCL 3.1 adds a
 * map to its list before it puts the command on the queue, and an unmap by another thread in between ends a map that has yet to
 * run, which then writes to memory that is gone. With one command at a time, and one queue for all, no unmap is ahead of its
 * map. */
static void *enqueue_map(qn_adapter_device *device, cl_mem buffer, cl_map_flags flags, uint64_t offset, uint64_t size,
                         cl_event *event, cl_int *code) {
  pthread_mutex_lock(&device->service_lock);
  void *pointer = device->cl->EnqueueMapBuffer(device->service, buffer, CL_FALSE, flags, (size_t)offset, (size_t)size,
                                               0, NULL, event, code);
  pthread_mutex_unlock(&device->service_lock);
  return pointer;
}

static cl_int enqueue_unmap(qn_adapter_device *device, cl_mem buffer, void *pointer, cl_event *event) {
  pthread_mutex_lock(&device->service_lock);
  cl_int code = device->cl->EnqueueUnmapMemObject(device->service, buffer, pointer, 0, NULL, event);
  pthread_mutex_unlock(&device->service_lock);
  return code;
}

/* No command uses the range, so that a map is a short wait; but a device may hang on another queue's work, and a map has no
 * limit of its own. */
#define PATIENCE_NS UINT64_C(60000000000)

static qn_status settle(qn_adapter_device *device, cl_event event, const char *what) {
  cl_int state = CL_QUEUED;
  cl_int code = device->cl->Flush(device->service);
  qn_status status = QN_OK;
  ocl_event_ring(device, event);
  if (code == CL_SUCCESS) status = ocl_event_wait(device, event, ocl_deadline(PATIENCE_NS), &state);
  device->cl->ReleaseEvent(event);
  if (code == CL_SUCCESS && status == QN_OK && state < 0) code = state;
  if (code != CL_SUCCESS) {
    ocl_device_judge(device, code, what);
    return ocl_refused(device->host, code, "%s", what);
  }
  if (status == QN_OK) return QN_OK;
  status = ocl_device_check(device);
  if (status < 0) return status;
  return ocl_error(device->host, QN_ERROR_TIMEOUT, "%s within %llu s; the device seems to hang", what,
                   (unsigned long long)(PATIENCE_NS / 1000000000u));
}

static cl_map_flags map_flags(uint32_t access) {
  return (access & QN_MAP_READ ? CL_MAP_READ : 0) | (access & QN_MAP_WRITE ? CL_MAP_WRITE : 0);
}

qn_status ocl_memory_map(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                         uint64_t size_bytes, uint32_t access, void **out_pointer) {
  static const char what[] = "a buffer can't be mapped";
  cl_event event = NULL;
  cl_int code = CL_SUCCESS;
  qn_status status = ocl_device_check(device);
  if (status < 0) return status;
  void *pointer = enqueue_map(device, memory->buffer, map_flags(access), offset_bytes, size_bytes, &event, &code);
  if (code != CL_SUCCESS) {
    ocl_device_judge(device, code, what);
    return ocl_refused(device->host, code, "%s", what);
  }
  status = settle(device, event, what);
  if (status == QN_OK) *out_pointer = pointer;
  return status;
}

qn_status ocl_memory_unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer) {
  static const char what[] = "a buffer can't be unmapped";
  cl_event event = NULL;
  qn_status status = ocl_device_check(device);
  if (status < 0) return status;
  cl_int code = enqueue_unmap(device, memory->buffer, pointer, &event);
  if (code == CL_SUCCESS) return settle(device, event, what);
  ocl_device_judge(device, code, what);
  return ocl_refused(device->host, code, "%s", what);
}
