#include "base/os/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

const char *qn_environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : (const char *)0;
}

qn_status qn_environment_flag(const char *name, bool *out) {
  const char *value = qn_environment(name);
  *out = value && strcmp(value, "1") == 0;
  if (!value || *out || strcmp(value, "0") == 0) return QN_OK;
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is '%s'; it can be 1 or 0", name, value);
}
