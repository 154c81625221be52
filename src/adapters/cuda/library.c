/* library.c - libcuda.so.1, opened at run time, and which driver it is of. */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

/* ---- Opening ------------------------------------------------------------------------------------ */

/* Never closed, and not unloaded with the adapter: it has threads and exit handlers. */
static void *open_library(const qn_adapter_host *host) {
  const char *path = host->environment("QUERN_CUDA_LIBRARY");
  bool is_named = path && *path;
  void *library = dlopen(is_named ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library) return library;
  (void)cu_error(host, QN_ERROR_NOT_FOUND, "%s: %s",
                 is_named ? "QUERN_CUDA_LIBRARY names a library that can't be opened"
                          : "no NVIDIA driver; it brings libcuda.so.1, and QUERN_CUDA_LIBRARY names another place",
                 dlerror());
  return NULL;
}

static qn_status lacks(const qn_adapter_host *host, const char *function) {
  return cu_error(host, QN_ERROR_NOT_FOUND,
                  "libcuda.so.1 has no function %s; the driver is older than CUDA 11.0, or it is none", function);
}

static qn_status find_functions(qn_adapter_instance *instance, void *library) {
  cu_functions *cu = &instance->cu;
#define NEWER(name, parameters) *(void **)&cu->name = dlsym(library, "cu" #name);
#define NEEDED(name, parameters) \
  NEWER(name, parameters)        \
  if (!cu->name) return lacks(instance->host, "cu" #name);
  CU_FUNCTIONS(NEEDED, NEWER)
#undef NEEDED
#undef NEWER
  return QN_OK;
}

/* ---- Which driver ------------------------------------------------------------------------------- */

/* The library's file ends with the driver's version: libcuda.so.580.65.06. It is a part of cache keys: the same CUDA comes with many
 * drivers, whose compilers differ. */
static bool version_of_file(void *library, char *out, size_t capacity) {
  struct link_map *map = NULL;
  char path[PATH_MAX];
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map || !realpath(map->l_name, path)) return false;
  const char *at = strstr(path, ".so.");
  if (!at || !isdigit((unsigned char)at[4]) || !strchr(at + 4, '.')) return false;
  snprintf(out, capacity, "%s", at + 4);
  return true;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul..." */
static bool version_of_module(char *out, size_t capacity) {
  char line[256], *save = NULL;
  FILE *file = fopen("/proc/driver/nvidia/version", "re");
  if (!file) return false;
  const char *got = fgets(line, sizeof line, file);
  (void)fclose(file);
  for (char *word = got ? strtok_r(line, " \t\n", &save) : NULL; word; word = strtok_r(NULL, " \t\n", &save)) {
    if (!isdigit((unsigned char)word[0]) || !strchr(word, '.')) continue;
    snprintf(out, capacity, "%s", word);
    return true;
  }
  return false;
}

enum { OLDEST = 11000 };

static qn_status identify(qn_adapter_instance *instance, void *library) {
  int version = 0;
  char driver[48] = "driver";
  cu_result code = instance->cu.DriverGetVersion(&version);
  if (code != CU_SUCCESS)
    return cu_refused_as(instance->host, QN_ERROR_NOT_FOUND, code, "the driver's version can't be asked");
  if (version < OLDEST)
    return cu_error(instance->host, QN_ERROR_NOT_FOUND,
                    "the driver is of CUDA %d.%d; 11.0 or newer is needed (driver 450 or newer)", version / 1000,
                    version % 1000 / 10);
  if (!version_of_file(library, driver, sizeof driver)) (void)version_of_module(driver, sizeof driver);
  snprintf(instance->driver, sizeof instance->driver, "NVIDIA %s, CUDA %d.%d", driver, version / 1000,
           version % 1000 / 10);
  return QN_OK;
}

qn_status cu_load(qn_adapter_instance *instance) {
  void *library = open_library(instance->host);
  if (!library) return QN_ERROR_NOT_FOUND;
  qn_status status = find_functions(instance, library);
  if (status >= 0) status = identify(instance, library);
  if (status < 0) return status;
  cu_result code = instance->cu.Init(0);
  if (code == CU_SUCCESS) return QN_OK;
  return cu_refused_as(instance->host, QN_ERROR_NOT_FOUND, code, "there is a driver (%s), which doesn't start",
                       instance->driver);
}
