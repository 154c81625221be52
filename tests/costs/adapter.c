/* adapter.c - the adapter `counting`: passes every call on to `null`, and tells the program of each (quern_driver_hook). */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "quern/adapter.h"

static const qn_adapter_table *inner;
static void (*hook)(uint32_t enters);

/* Functions of the table take pointers and integers only (A1), at most eight. */
// clang-format off: it can't decide
#define FUNCTIONS(X)                                                                                      \
  X(instance_open)                                                                                        \
  X(instance_close)                                                                                       \
  X(device_count)                                                                                         \
  X(device_describe)                                                                                      \
  X(device_open)                                                                                          \
  X(device_close)                                                                                         \
  X(memory_create)                                                                                        \
  X(memory_destroy)                                                                                       \
  X(memory_map) X(memory_unmap) X(program_create) X(program_destroy) X(kernel_create) X(kernel_destroy)   \
      X(queue_create) X(queue_destroy) X(queue_submit) X(queue_completed) X(queue_progress) X(queue_wait) \
          X(queue_time) X(native) X(program_binary) X(queue_begin)
// clang-format on

typedef int64_t (*any_function)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

#define X(name)                                                                                            \
  static int64_t count_##name(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, \
                              int64_t h) {                                                                 \
    if (hook) hook(1);                                                                                     \
    int64_t result = ((any_function)(uintptr_t)inner->name)(a, b, c, d, e, f, g, h);                       \
    if (hook) hook(0);                                                                                     \
    return result;                                                                                         \
  }
FUNCTIONS(X)
#undef X

/* A function of the table that is not in the list would go uncounted. */
enum {
#define X(name) LISTED_##name,
  FUNCTIONS(X)
#undef X
      LISTED
};
_Static_assert(sizeof(qn_adapter_table) == offsetof(qn_adapter_table, instance_open) + 8 * LISTED,
               "every function of the table is counted");

static qn_adapter_table table;

static bool load_null(void) {
  void *library = dlopen(QUERN_BINARY_DIR "/libquern-adapter-null.so", RTLD_NOW | RTLD_LOCAL);
  qn_adapter_entry_fn entry = library ? (qn_adapter_entry_fn)(uintptr_t)dlsym(library, QN_ADAPTER_ENTRY_NAME) : NULL;
  inner = entry ? entry(QN_ADAPTER_ABI_VERSION) : NULL;
  return inner != NULL;
}

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version;
  if (!inner && !load_null()) return NULL;
  hook = (void (*)(uint32_t))(uintptr_t)dlsym(RTLD_DEFAULT, "quern_driver_hook");
  table = *inner;
  table.name = "counting";
  any_function function;
#define X(slot)                                      \
  if (inner->slot) {                                 \
    function = count_##slot;                         \
    memcpy(&table.slot, &function, sizeof function); \
  }
  FUNCTIONS(X)
#undef X
  return &table;
}
