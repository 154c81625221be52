/* library.c - a library that implements webgpu.h, opened at run time, and which generation of the header it is of. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "trial.h"
#include "webgpu.h"

/* ---- Opening ------------------------------------------------------------------------------------ */

static const char *const usual_names[] = {"libwebgpu_dawn.so", "libwgpu_native.so"};

/* Never closed, and not unloaded with the adapter: drivers behind it have threads and exit handlers. */
static void *open_one(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

static qn_status open_named(qn_adapter_instance *instance, const char *path, void **out_library) {
  instance->is_named = true;
  *out_library = open_one(path);
  if (*out_library) return QN_OK;
  return wg_error(instance->host, QN_ERROR_NOT_FOUND, "QUERN_WEBGPU_LIBRARY names a library that can't be opened: %s",
                  dlerror());
}

static qn_status open_any(qn_adapter_instance *instance, void **out_library) {
  const char *path = instance->host->environment("QUERN_WEBGPU_LIBRARY");
  if (path && *path) return open_named(instance, path, out_library);
  for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++) {
    *out_library = open_one(usual_names[i]);
    if (*out_library) return QN_OK;
  }
  return wg_error(
      instance->host, QN_ERROR_NOT_FOUND,
      "no library that implements webgpu.h: neither %s nor %s is installed, and QUERN_WEBGPU_LIBRARY names none",
      usual_names[0], usual_names[1]);
}

/* ---- Which file it is --------------------------------------------------------------------------- */

typedef struct id_search {
  uintptr_t base;
  char *out;
  size_t capacity;
} id_search;

static void print_id(const unsigned char *bytes, size_t size, char *out, size_t capacity) {
  for (size_t i = 0; i < size && 2 * i + 2 < capacity; i++) (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void find_in_notes(const char *at, size_t size, const id_search *s) {
  while (size >= sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr) *note = (const void *)at;
    size_t name = (note->n_namesz + 3u) & ~(size_t)3, bytes = (note->n_descsz + 3u) & ~(size_t)3;
    size_t whole = sizeof *note + name + bytes;
    if (whole > size) return;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(at + sizeof *note, "GNU", 4) == 0)
      print_id((const unsigned char *)at + sizeof *note + name, note->n_descsz, s->out, s->capacity);
    at += whole;
    size -= whole;
  }
}

static int find_id(struct dl_phdr_info *info, size_t size, void *user) {
  const id_search *s = user;
  (void)size;
  if (info->dlpi_addr != s->base) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      find_in_notes((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, info->dlpi_phdr[i].p_memsz, s);
  return 1;
}

/* Its path, and its build id; "" for none. */
static void identify(qn_adapter_instance *instance, void *library, char id[64]) {
  struct link_map *map = NULL;
  id[0] = '\0';
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map) return;
  (void)snprintf(instance->library, sizeof instance->library, "%s", map->l_name);
  id_search s = {map->l_addr, id, 64};
  (void)dl_iterate_phdr(find_id, &s);
}

/* ---- Generations -------------------------------------------------------------------------------- */

static bool has_marks(void *library, const char *const *marks) {
  for (; *marks; marks++)
    if (!dlsym(library, *marks)) return false;
  return true;
}

static const wgl_shim *recognise(void *library) {
  const wgl_shim *const shims[] = {wgl_shim_dawn_2025(), wgl_shim_wgpu_2026()};
  for (size_t i = 0; i < sizeof shims / sizeof *shims; i++)
    if (has_marks(library, shims[i]->marks)) return shims[i];
  return NULL;
}

static qn_status load(qn_adapter_instance *instance, void *library) {
  const char *missing = NULL;
  char id[64];
  identify(instance, library, id);
  instance->shim = recognise(library);
  if (!instance->shim)
    return wg_error(instance->host, QN_ERROR_NOT_FOUND,
                    "%s (build id %s) is of no generation of webgpu.h that the adapter knows; it knows: %s; %s",
                    instance->library, *id ? id : "none", wgl_shim_dawn_2025()->name, wgl_shim_wgpu_2026()->name);
  instance->f = instance->shim->load(library, &missing);
  if (!instance->f && missing)
    return wg_error(instance->host, QN_ERROR_NOT_FOUND, "%s (build id %s) looks like %s and lacks %s",
                    instance->library, *id ? id : "none", instance->shim->name, missing);
  if (!instance->f) return wg_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a library's functions");
  wg_log(instance->host, "%s (build id %s) is taken for %s", instance->library, *id ? id : "none",
         instance->shim->name);
  return QN_OK;
}

void wg_library_close(qn_adapter_instance *instance) {
  if (instance->f) instance->shim->unload(instance->f);
  instance->f = NULL;
}

qn_status wg_library_open(qn_adapter_instance *instance) {
  const char *trial = instance->host->environment(WG_TRIAL_VARIABLE);
  void *library = NULL;
  qn_status status = open_any(instance, &library);
  if (status >= 0) status = load(instance, library);
  if (status >= 0) status = trial && *trial ? wg_trial_answer(instance, trial) : wg_trial_pass(instance);
  if (status < 0) wg_library_close(instance);
  return status;
}
