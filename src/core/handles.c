/* handles.c - the functions of the public interface that serve every kind of handle. */
#include "base/handle.h"
#include "base/status.h"
#include "core/exit.h"

uint32_t qn_version(void) { return QN_VERSION_MAJOR << 22 | QN_VERSION_MINOR << 12 | QN_VERSION_PATCH; }

qn_status qn_retain(const void *handle) { CORE_CALL(qn_handle_retain(handle)); }

/* Passes no gate: it never calls a driver, and a finalizer must be able to run at any time (L4). */
qn_status qn_release(const void *handle) {
  if (!handle || core_is_inert()) return QN_OK;
  return qn_handle_release(handle);
}

static qn_status kind_of(const void *handle, uint32_t *out_kind) {
  if (!out_kind) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_kind is NULL");
  return qn_handle_kind_of(handle, out_kind);
}

qn_status qn_handle_kind(const void *handle, uint32_t *out_kind) { CORE_CALL(kind_of(handle, out_kind)); }
