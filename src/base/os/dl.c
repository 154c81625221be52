#include "base/os/dl.h"

#include <dlfcn.h>

#include "base/status.h"

static const char *reason(void) {
  const char *text = dlerror();
  return text ? text : "no reason given";
}

qn_status qn_library_open(const char *path, qn_library **out_library) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) QN_FAIL(QN_ERROR_NOT_FOUND, "the library '%s' can't be loaded: %s", path, reason());
  *out_library = (qn_library *)library;
  return QN_OK;
}

qn_status qn_library_symbol(qn_library *library, const char *path, const char *name, void **out_address) {
  dlerror();
  void *address = dlsym(library, name);
  if (!address) QN_FAIL(QN_ERROR_NOT_FOUND, "the library '%s' has no symbol '%s': %s", path, name, reason());
  *out_address = address;
  return QN_OK;
}

void *qn_program_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

void qn_library_close(qn_library *library) {
  if (library) dlclose(library);
}
