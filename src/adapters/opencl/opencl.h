/* opencl.h - what every file of the adapter sees: the vendor's functions, errors, an instance.
 *
 * The adapter counts nothing and has no static state. The driver's library is opened by each instance and never closed:
 * drivers keep threads and exit handlers in it. */
#ifndef QUERN_ADAPTERS_OPENCL_OPENCL_H
#define QUERN_ADAPTERS_OPENCL_OPENCL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quern/adapter.h"
#include "symbols.h"

/* What a driver does otherwise than the specification has it, or better, and can't be asked for (quirks.c). */
typedef struct ocl_quirks {
  bool compiles_late;     /* at a launch, and dies when the process ends meanwhile (compiles.h) */
  bool starts_alone;      /* work begins without a flush; a finish is the cheapest wait */
  uint32_t id_bits;       /* of a global identifier, its offset included; 0: those of an address */
  uint32_t in_flight;     /* commands that it takes before a call blocks; 0: any number */
  uint32_t local_reserve; /* bytes of local memory that it tells and doesn't give */
} ocl_quirks;

/* What is known of a device that was found and can be used. */
typedef struct ocl_found {
  cl_platform_id platform;
  cl_device_id id;
  uint32_t version; /* 120, 200, 300: the least of platform's and device's */
  bool has_svm;     /* fine grain: host and device see it without a map */
  const ocl_quirks *quirks;
  qn_adapter_device_info info;
} ocl_found;

struct qn_adapter_instance {
  const qn_adapter_host *host;
  ocl_functions cl;
  ocl_found *devices;
  uint32_t device_count;
};

/* ---- Errors ------------------------------------------------------------------------------------- */

/* What a driver's code means for the caller. QN_OK for CL_SUCCESS. */
qn_status ocl_status_of(cl_int code);
/* The driver says with it that the context or the device is gone. */
bool ocl_code_is_loss(cl_int code);

qn_status ocl_error(const qn_adapter_host *host, qn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For a driver's refusal: "opencl: FORMAT: CL_NAME (-5), what to do". The status is that of the code. */
qn_status ocl_refused(const qn_adapter_host *host, cl_int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with another status than the code's own. */
qn_status ocl_refused_as(const qn_adapter_host *host, qn_status status, cl_int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ocl_log(const qn_adapter_host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Why a command failed: told at once, or later by the queue. */
typedef struct ocl_failure {
  qn_status status; /* QN_OK: nothing failed */
  cl_int code;      /* the driver's; CL_SUCCESS: it had no part in it */
  char text[512];
} ocl_failure;

/* Fills in a failure; a code adds its name and what to do. Returns the status. */
qn_status ocl_fail(ocl_failure *failure, qn_status status, cl_int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the calling thread's error. Returns the status. */
qn_status ocl_tell(const qn_adapter_host *host, const ocl_failure *failure);

/* "CL_OUT_OF_RESOURCES (-5), what to do". */
void ocl_print_code(cl_int code, char *out, size_t capacity);

/* ---- The library and what it offers ------------------------------------------------------------- */

/* Opens the library that QUERN_OPENCL_LIBRARY names, else libOpenCL.so.1. Errors: NOT_FOUND. */
qn_status ocl_load(const qn_adapter_host *host, ocl_functions *out_functions);
/* Finds the usable devices of all platforms. Errors: NOT_FOUND, with what there is and why it can't be used. */
qn_status ocl_find_devices(qn_adapter_instance *instance);

/* The platform's name tells the driver. Never NULL. */
const ocl_quirks *ocl_quirks_of(const char *platform);
/* Fills in `found` for a device. NULL, or why the device can't be used, in static storage. */
const char *ocl_describe(const qn_adapter_instance *instance, ocl_found *found);

#endif
