#include "core/adapter_table.h"

#include <stdio.h>
#include <string.h>

/* The functions that every adapter must have; the others may be NULL. */
#define REQUIRED(X)  \
  X(instance_open)   \
  X(instance_close)  \
  X(device_count)    \
  X(device_describe) \
  X(device_open)     \
  X(device_close)    \
  X(memory_create)   \
  X(memory_destroy)  \
  X(program_create)  \
  X(program_destroy) \
  X(kernel_create)   \
  X(kernel_destroy)  \
  X(queue_create)    \
  X(queue_destroy)   \
  X(queue_submit)    \
  X(queue_completed) \
  X(queue_progress)  \
  X(queue_wait)

#define REFUSE(...)                       \
  do {                                    \
    snprintf(text, size, "" __VA_ARGS__); \
    return false;                         \
  } while (0)

bool core_adapter_table_is_usable(const qn_adapter_table *table, const char *name, char *text, size_t size) {
  if (!table) REFUSE("it gave no table of functions");
  if (table->abi_version != QN_ADAPTER_ABI_VERSION)
    REFUSE("it was built for version %u of the adapter interface, this library has version %u", table->abi_version,
           QN_ADAPTER_ABI_VERSION);
  if (table->struct_size < sizeof *table)
    REFUSE("its table has %u bytes, version %u of the adapter interface needs %zu", table->struct_size,
           QN_ADAPTER_ABI_VERSION, sizeof *table);
  if (!table->name || strcmp(table->name, name) != 0)
    REFUSE("it calls itself '%.100s', but its file is named for '%.100s'", table->name ? table->name : "", name);
#define QN_X(function) \
  if (!table->function) REFUSE("its table lacks the function %s", #function);
  REQUIRED(QN_X)
#undef QN_X
  return true;
}
