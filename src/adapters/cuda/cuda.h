/* cuda.h - what every file of the adapter sees: the driver's functions, errors, an instance.
 *
 * The adapter counts nothing and has no static state. The driver's library is opened by each instance and never closed: it
 * keeps threads and exit handlers. */
#ifndef QUERN_ADAPTERS_CUDA_CUDA_H
#define QUERN_ADAPTERS_CUDA_CUDA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quern/adapter.h"
#include "symbols.h"

/* What is known of a device that was found and can be used. */
typedef struct cu_found {
  cu_id id;
  uint32_t capability; /* 90 for 9.0 */
  uint32_t grid[3];    /* most groups */
  bool has_words;      /* 64-bit stream memory operations */
  bool is_exclusive;   /* one process may use it */
  qn_adapter_device_info info;
} cu_found;

struct qn_adapter_instance {
  const qn_adapter_host *host;
  cu_functions cu;
  char driver[96]; /* "NVIDIA 580.65.06, CUDA 13.0" */
  cu_found *devices;
  uint32_t device_count;
};

/* ---- Errors ------------------------------------------------------------------------------------- */

/* What a driver's code means for the caller. QN_OK for CU_SUCCESS. */
qn_status cu_status_of(cu_result code);
/* The driver says with it that the context is gone, and returns the same from every call on it (a sticky error). */
bool cu_code_is_loss(cu_result code);

qn_status cu_error(const qn_adapter_host *host, qn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For a driver's refusal: "cuda: FORMAT: CUDA_ERROR_NAME (1), what to do". The status is that of the code. */
qn_status cu_refused(const qn_adapter_host *host, cu_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with another status than the code's own. */
qn_status cu_refused_as(const qn_adapter_host *host, qn_status status, cu_result code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cu_log(const qn_adapter_host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Why a command failed: told at once, or later by the queue. */
typedef struct cu_failure {
  qn_status status; /* QN_OK: nothing failed */
  cu_result code;   /* the driver's; CU_SUCCESS: it had no part in it */
  char text[512];
} cu_failure;

/* Fills in a failure; a code adds its name and what to do. Returns the status. */
qn_status cu_fail(cu_failure *failure, qn_status status, cu_result code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the calling thread's error. Returns the status. */
qn_status cu_tell(const qn_adapter_host *host, const cu_failure *failure);

/* "CUDA_ERROR_OUT_OF_MEMORY (2), what to do". */
void cu_print_code(cu_result code, char *out, size_t capacity);

/* ---- The library and what it offers ------------------------------------------------------------- */

/* Opens the library that QUERN_CUDA_LIBRARY names, else libcuda.so.1, and starts the driver. Errors: NOT_FOUND. */
qn_status cu_load(qn_adapter_instance *instance);
/* Finds the usable devices. Errors: NOT_FOUND, with what there is and why it can't be used. */
qn_status cu_find_devices(qn_adapter_instance *instance);

/* Fills in `found` for the device with that id. False: it can't be used, and `out_why` says why. */
bool cu_describe(const qn_adapter_instance *instance, cu_found *found, char *out_why, size_t capacity);

#endif
