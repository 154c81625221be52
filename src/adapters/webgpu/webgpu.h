/* webgpu.h - what every file of the adapter sees: an instance, errors. Structs of the vendor's webgpu.h are in shim_*.c alone.
 *
 * The adapter counts nothing. The library is opened by each instance and never closed: it and its drivers keep threads and exit
 * handlers. */
#ifndef QUERN_ADAPTERS_WEBGPU_WEBGPU_H
#define QUERN_ADAPTERS_WEBGPU_WEBGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quern/adapter.h"
#include "shim.h"

/* What is known of a device that was found and can be used. */
typedef struct wg_found {
  uint32_t which; /* WGL_...: how to ask for it */
  wgl_description description;
  qn_adapter_device_info info;
} wg_found;

enum { WG_MOST_DEVICES = 2 }; /* webgpu.h gives the fast one and the frugal one, no list */

struct qn_adapter_instance {
  const qn_adapter_host *host;
  const wgl_shim *shim;
  wgl_functions *f;
  wgl_instance *native;
  bool is_named; /* the user has named the library, so that software will do */
  char library[512];
  wg_found devices[WG_MOST_DEVICES];
  uint32_t device_count;
  _Atomic uint32_t closing; /* WG_CLOSING_... */
};

enum { WG_CLOSING_NO = 0, WG_CLOSING_RUNS = 1, WG_CLOSING_DONE = 2 }; /* done: nothing of the library's is left */

/* A call of the library, for an object that has its shim. */
#define WGL(object, function, ...) ((object)->shim->function((object)->f, __VA_ARGS__))

/* ---- Errors (errors.c) -------------------------------------------------------------------------- */

/* Why something failed: told at once, or later by a queue. */
typedef struct wg_failure {
  qn_status status; /* QN_OK: nothing failed */
  uint32_t kind;    /* WGL_ERROR_..., the driver's code */
  char text[512];
} wg_failure;

/* Fills in a failure. Returns the status. */
qn_status wg_fail(wg_failure *failure, qn_status status, uint32_t kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the calling thread's error. Returns the status. */
qn_status wg_tell(const qn_adapter_host *host, const wg_failure *failure);
qn_status wg_error(const qn_adapter_host *host, qn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void wg_log(const qn_adapter_host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a kind of error means for the caller, when what was tried is right as far as the adapter knows. */
qn_status wg_status_of(uint32_t kind);

/* ---- Exit (exit.c) ------------------------------------------------------------------------------ */

/* Has `call` told when the process exits, before drivers' destructors; NULL: no longer, and it isn't being told. When it is refused,
 * exit is as it would be without us. */
void wg_exit_tell(const qn_adapter_host *host, void (*call)(void *user), void *user);
/* From such a call: from now on nothing is closed, and what another thread is closing is waited for. A GPU's driver takes its time to
 * destroy a device, and crashes when its own destructors run meanwhile. */
void wg_exit_begin(const _Atomic uint32_t *closing);
/* Marks that something is being closed. False: the process exits, and it stays as it is. */
bool wg_exit_allows_closing(_Atomic uint32_t *closing);

/* ---- Finding (library.c, devices.c) ------------------------------------------------------------- */

/* Opens the library, recognises its generation and has it tried out in a process of its own. Errors: NOT_FOUND. */
qn_status wg_library_open(qn_adapter_instance *instance);
void wg_library_close(qn_adapter_instance *instance);
/* Errors: NOT_FOUND, with what there is and why it isn't used. */
qn_status wg_find_devices(qn_adapter_instance *instance);

#endif
