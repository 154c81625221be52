#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"

/* ---- Codes -------------------------------------------------------------------------------------- */

/* X(code, status, what to do): every code that a function of the table may return. */
/* No header names it. */
enum { NVIDIA_ILLEGAL_ACCESS = -9999 };

#define CODES(X)                                                                                                      \
  X(CL_DEVICE_NOT_FOUND, QN_ERROR_NOT_FOUND, "")                                                                      \
  X(CL_DEVICE_NOT_AVAILABLE, QN_ERROR_DEVICE_LOST, "the device is gone or in use by another process")                 \
  X(CL_COMPILER_NOT_AVAILABLE, QN_ERROR_UNSUPPORTED, "the driver has no compiler")                                    \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE, QN_ERROR_OUT_OF_MEMORY, "release buffers or take smaller ones")                 \
  X(CL_OUT_OF_RESOURCES, QN_ERROR_DEVICE,                                                                             \
    "the device ran out of memory or registers, or an earlier kernel accessed memory that isn't its own")             \
  X(CL_OUT_OF_HOST_MEMORY, QN_ERROR_OUT_OF_HOST_MEMORY, "")                                                           \
  X(CL_PROFILING_INFO_NOT_AVAILABLE, QN_ERROR_UNSUPPORTED, "the driver kept no time for the command")                 \
  X(CL_MEM_COPY_OVERLAP, QN_ERROR_INVALID_ARGUMENT, "the ranges overlap")                                             \
  X(CL_BUILD_PROGRAM_FAILURE, QN_ERROR_COMPILE, "")                                                                   \
  X(CL_MAP_FAILURE, QN_ERROR_DEVICE, "the driver can't map the buffer")                                               \
  X(CL_MISALIGNED_SUB_BUFFER_OFFSET, QN_ERROR_INTERNAL, "")                                                           \
  X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, QN_ERROR_DEVICE, "a command that this one waited for failed")       \
  X(CL_INVALID_VALUE, QN_ERROR_INTERNAL, "")                                                                          \
  X(CL_INVALID_DEVICE_TYPE, QN_ERROR_INTERNAL, "")                                                                    \
  X(CL_INVALID_PLATFORM, QN_ERROR_NOT_FOUND, "")                                                                      \
  X(CL_INVALID_DEVICE, QN_ERROR_DEVICE_LOST, "the driver doesn't know the device (any longer)")                       \
  X(CL_INVALID_CONTEXT, QN_ERROR_DEVICE_LOST, "the context is gone, after a kernel's fault or a reset of the device") \
  X(CL_INVALID_QUEUE_PROPERTIES, QN_ERROR_UNSUPPORTED, "")                                                            \
  X(CL_INVALID_COMMAND_QUEUE, QN_ERROR_DEVICE_LOST,                                                                   \
    "the queue is gone, after a kernel's fault or a reset of the device")                                             \
  X(CL_INVALID_HOST_PTR, QN_ERROR_INVALID_ARGUMENT, "")                                                               \
  X(CL_INVALID_MEM_OBJECT, QN_ERROR_INTERNAL, "")                                                                     \
  X(CL_INVALID_BINARY, QN_ERROR_DATA, "it was made by another driver, or it is damaged; build from source")           \
  X(CL_INVALID_BUILD_OPTIONS, QN_ERROR_COMPILE, "the driver's compiler doesn't know one of the options")              \
  X(CL_INVALID_PROGRAM, QN_ERROR_INTERNAL, "")                                                                        \
  X(CL_INVALID_PROGRAM_EXECUTABLE, QN_ERROR_INTERNAL, "")                                                             \
  X(CL_INVALID_KERNEL_NAME, QN_ERROR_NOT_FOUND, "")                                                                   \
  X(CL_INVALID_KERNEL_DEFINITION, QN_ERROR_INTERNAL, "")                                                              \
  X(CL_INVALID_KERNEL, QN_ERROR_INTERNAL, "")                                                                         \
  X(CL_INVALID_ARG_INDEX, QN_ERROR_INTERNAL, "")                                                                      \
  X(CL_INVALID_ARG_VALUE, QN_ERROR_INVALID_ARGUMENT, "")                                                              \
  X(CL_INVALID_ARG_SIZE, QN_ERROR_INVALID_ARGUMENT, "")                                                               \
  X(CL_INVALID_KERNEL_ARGS, QN_ERROR_INTERNAL, "")                                                                    \
  X(CL_INVALID_WORK_DIMENSION, QN_ERROR_INVALID_ARGUMENT, "")                                                         \
  X(CL_INVALID_WORK_GROUP_SIZE, QN_ERROR_INVALID_ARGUMENT, "the kernel can't have groups of this size; give smaller") \
  X(CL_INVALID_WORK_ITEM_SIZE, QN_ERROR_INVALID_ARGUMENT, "the group is too large in one dimension; give a smaller")  \
  X(CL_INVALID_GLOBAL_OFFSET, QN_ERROR_INVALID_ARGUMENT, "")                                                          \
  X(CL_INVALID_EVENT_WAIT_LIST, QN_ERROR_INTERNAL, "")                                                                \
  X(CL_INVALID_EVENT, QN_ERROR_INTERNAL, "")                                                                          \
  X(CL_INVALID_OPERATION, QN_ERROR_UNSUPPORTED, "the driver doesn't allow this")                                      \
  X(CL_INVALID_BUFFER_SIZE, QN_ERROR_LIMIT, "the driver has no buffers of this size")                                 \
  X(CL_INVALID_GLOBAL_WORK_SIZE, QN_ERROR_INVALID_ARGUMENT, "the device can't count so many work-items")              \
  X(NVIDIA_ILLEGAL_ACCESS, QN_ERROR_DEVICE_LOST,                                                                      \
    "a kernel read or wrote memory that isn't its own; the context is gone")

typedef struct code_entry {
  cl_int code;
  qn_status status;
  const char *name, *advice;
} code_entry;

static const code_entry codes[] = {
#define X(code, status, advice) {code, status, #code, advice},
    CODES(X)
#undef X
};

static const code_entry *find_code(cl_int code) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) return &codes[i];
  return NULL;
}

qn_status ocl_status_of(cl_int code) {
  const code_entry *entry = find_code(code);
  if (code >= 0) return QN_OK;
  return entry ? entry->status : QN_ERROR_DEVICE;
}

bool ocl_code_is_loss(cl_int code) { return ocl_status_of(code) == QN_ERROR_DEVICE_LOST; }

void ocl_print_code(cl_int code, char *out, size_t capacity) {
  const code_entry *entry = find_code(code);
  const char *advice = entry ? entry->advice : "a code of the driver's own";
  snprintf(out, capacity, "%s (%d)%s%s", entry ? entry->name : "error", code, *advice ? ", " : "", advice);
}

/* ---- Texts -------------------------------------------------------------------------------------- */

enum { TEXT = 1024 };

qn_status ocl_error(const qn_adapter_host *host, qn_status status, const char *format, ...) {
  char text[TEXT] = "opencl: ";
  size_t at = sizeof "opencl: " - 1;
  va_list args;
  va_start(args, format);
  vsnprintf(text + at, sizeof text - at, format, args);
  va_end(args);
  return host->set_error(status, 0, text);
}

static qn_status refuse(const qn_adapter_host *host, qn_status status, cl_int code, const char *format, va_list args) {
  char what[TEXT / 2], why[TEXT / 4], text[TEXT];
  vsnprintf(what, sizeof what, format, args);
  ocl_print_code(code, why, sizeof why);
  snprintf(text, sizeof text, "opencl: %s: %s", what, why);
  return host->set_error(status, code, text);
}

qn_status ocl_refused(const qn_adapter_host *host, cl_int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  qn_status status = refuse(host, ocl_status_of(code), code, format, args);
  va_end(args);
  return status;
}

qn_status ocl_refused_as(const qn_adapter_host *host, qn_status status, cl_int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status = refuse(host, status, code, format, args);
  va_end(args);
  return status;
}

qn_status ocl_fail(ocl_failure *failure, qn_status status, cl_int code, const char *format, ...) {
  char why[TEXT / 4];
  int at = snprintf(failure->text, sizeof failure->text, "opencl: ");
  va_list args;
  va_start(args, format);
  at += vsnprintf(failure->text + at, sizeof failure->text - (size_t)at, format, args);
  va_end(args);
  if (code != CL_SUCCESS && at > 0 && (size_t)at < sizeof failure->text) {
    ocl_print_code(code, why, sizeof why);
    snprintf(failure->text + at, sizeof failure->text - (size_t)at, ": %s", why);
  }
  failure->code = code;
  failure->status = status;
  return status;
}

qn_status ocl_tell(const qn_adapter_host *host, const ocl_failure *failure) {
  return host->set_error(failure->status, failure->code, failure->text);
}

void ocl_log(const qn_adapter_host *host, const char *format, ...) {
  char text[TEXT] = "opencl: ";
  size_t at = sizeof "opencl: " - 1;
  va_list args;
  va_start(args, format);
  vsnprintf(text + at, sizeof text - at, format, args);
  va_end(args);
  host->log(text);
}
