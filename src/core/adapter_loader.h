/* adapter_loader.h - finds adapters, loads them, and says of each one why it can't be used (A5, L7).
 *
 * Libraries are loaded once a process and never unloaded (L6): a runtime that is opened again finds them loaded. An
 * instance belongs to one runtime.
 */
#ifndef QUERN_CORE_ADAPTER_LOADER_H
#define QUERN_CORE_ADAPTER_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/reaper.h"
#include "quern/adapter.h"

typedef enum core_adapter_state {
  CORE_ADAPTER_FOUND,  /* not loaded yet */
  CORE_ADAPTER_READY,  /* open, its devices are known */
  CORE_ADAPTER_FAILED, /* tried, `reason` says what happened; tried again when it is named */
  CORE_ADAPTER_REFUSED /* `reason` says why */
} core_adapter_state;

typedef struct core_adapter {
  char name[32];
  char path[512]; /* "": built in */
  char reason[512];
  core_adapter_state state;
  bool is_allowed; /* by the options or the environment */
  const qn_adapter_table *table;
  qn_adapter_instance *instance;
  qn_adapter_device_info *devices; /* in the runtime's arena */
  uint32_t device_count;
} core_adapter;

typedef struct core_adapter_list {
  core_adapter *items; /* in the runtime's arena */
  uint32_t count;
  bool is_scanned;
} core_adapter_list;

/* Lists the adapters that there are: built-in ones and files libquern-adapter-NAME.so in the directories of `path`
 * (':' between; NULL: QUERN_ADAPTER_PATH, then beside the library and where it was installed). The first of a name is
 * taken. `names` (',' between; NULL: QUERN_ADAPTERS, then all) says which may be used; a name that isn't found is listed
 * too, with the reason. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_adapters_scan(qn_arena *arena, const char *path, const char *names,
                                         core_adapter_list *out_list);

/* Loads the library, checks its table, opens an instance, describes its devices, once. A library that isn't loaded yet is
 * first tried out in a child process when `probe` is set. Errors: whatever made it unusable, also kept as the reason. */
QN_MUST_USE qn_status core_adapter_load(qn_arena *arena, core_adapter *adapter, bool probe);

/* Closes the instances. */
void core_adapters_close(core_adapter_list *list, core_refusal *refusal);

#endif
