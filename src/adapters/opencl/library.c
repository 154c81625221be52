/* library.c - libOpenCL.so.1, opened at run time. */
#include <dlfcn.h>

#include "opencl.h"

static qn_status lacks(const qn_adapter_host *host, const char *path, const char *function) {
  return ocl_error(host, QN_ERROR_NOT_FOUND,
                   "%s has no function %s; it is no OpenCL loader of version 1.2 or newer (Debian: ocl-icd-libopencl1)",
                   path, function);
}

qn_status ocl_load(const qn_adapter_host *host, ocl_functions *out) {
  const char *path = host->environment("QUERN_OPENCL_LIBRARY");
  if (!path || !*path) path = "libOpenCL.so.1";
  /* Never closed, and not unloaded with the adapter: drivers behind it have threads and exit handlers. */
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return ocl_error(host, QN_ERROR_NOT_FOUND, "no OpenCL loader: %s (Debian: ocl-icd-libopencl1)", dlerror());
#define NEWER(name) *(void **)&out->name = dlsym(library, "cl" #name);
#define NEEDED(name) \
  NEWER(name)        \
  if (!out->name) return lacks(host, path, "cl" #name);
  OCL_FUNCTIONS(NEEDED, NEWER)
#undef NEEDED
#undef NEWER
  return QN_OK;
}
