#include "base/os/environment.h"

#include <stdlib.h>

const char *qn_environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : (const char *)0;
}
