#include "core/adapter_loader.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/os/dl.h"
#include "base/os/environment.h"
#include "base/os/files.h"
#include "base/os/thread.h"
#include "base/plugin_path.h"
#include "base/status.h"
#include "base/string_view.h"
#include "core/adapter_probe.h"
#include "core/adapter_table.h"
#include "core/check_adapter.h"
#include "core/exit.h"
#include "core/options.h"

#define PREFIX "libquern-adapter-"
#define SUFFIX ".so"

/* ---- What adapters get from us ------------------------------------------------------------------ */

static qn_status host_set_error(qn_status status, int64_t driver_code, const char *text) {
  return qn_error_set_driver(status, driver_code, "%s", text ? text : qn_status_name(status));
}

static void host_log(const char *text) { QN_LOG(ADAPTER, "%s", text ? text : ""); }

static const qn_adapter_host host = {.struct_size = sizeof host,
                                     .abi_version = QN_ADAPTER_ABI_VERSION,
                                     .set_error = host_set_error,
                                     .log = host_log,
                                     .environment = qn_environment,
                                     .at_exit = core_exit_tell};

/* ---- Tables ------------------------------------------------------------------------------------- */

static qn_status check_table(const qn_adapter_table *table, const char *name) {
  char text[512];
  if (!core_adapter_table_is_usable(table, name, text, sizeof text)) QN_FAIL(QN_ERROR_ABI, "%s", text);
  return QN_OK;
}

/* ---- Libraries: loaded once a process, never unloaded ------------------------------------------- */

typedef struct library {
  struct library *next;
  char path[512];
  const qn_adapter_table *table; /* NULL: it was refused when it was tried out, and is never loaded */
  char reason[512];
} library;

static qn_mutex libraries_lock;
static library *libraries;

static library *find_library(const char *path) {
  library *found = libraries;
  while (found && strcmp(found->path, path) != 0) found = found->next;
  return found;
}

static qn_status open_table(const char *path, const char *name, const qn_adapter_table **out_table) {
  qn_library *lib = NULL;
  qn_adapter_entry_fn entry = NULL;
  QN_TRY(qn_library_open(path, &lib));
  qn_status status = QN_LIBRARY_FUNCTION(lib, path, QN_ADAPTER_ENTRY_NAME, &entry);
  if (status < 0) {
    qn_library_close(lib); /* nothing of it has run but its constructors */
    return status;
  }
  *out_table = entry(QN_ADAPTER_ABI_VERSION);
  return check_table(*out_table, name);
}

static qn_status remember(const char *path, const qn_adapter_table *table, const char *reason) {
  library *made = calloc(1, sizeof *made);
  if (!made) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the record of an adapter");
  CORE_TEXT_COPY(made->path, path);
  CORE_TEXT_COPY(made->reason, reason);
  made->table = table;
  made->next = libraries;
  libraries = made;
  return QN_OK;
}

/* Opening a pipe or a device might never end. */
static qn_status check_file(const char *path) {
  qn_file_info info;
  QN_TRY(qn_file_query(path, &info));
  if (!info.is_regular)
    QN_FAIL(QN_ERROR_ABI, "%s can't be loaded: it is %s, not a file", path,
            info.is_directory ? "a directory" : "special");
  return QN_OK;
}

/* Under libraries_lock. */
static qn_status load_library(const char *path, const char *name, bool probe, const qn_adapter_table **out_table) {
  library *known = find_library(path);
  if (known && !known->table) QN_FAIL(QN_ERROR_ABI, "%s", known->reason);
  if (known) {
    *out_table = known->table;
    return QN_OK;
  }
  QN_TRY(check_file(path));
  if (probe && core_adapter_probe(path) == QN_ERROR_ABI) {
    qn_status status = remember(path, NULL, qn_error_text());
    return status < 0 ? status : QN_ERROR_ABI;
  }
  QN_TRY(open_table(path, name, out_table));
  QN_TRY(remember(path, *out_table, ""));
  QN_LOG(ADAPTER, "loaded %s", path);
  return QN_OK;
}

static qn_status get_table(const core_adapter *adapter, bool probe, const qn_adapter_table **out_table) {
  if (adapter->path[0] == '\0') return check_table(*out_table = adapter->table, adapter->name);
  qn_mutex_lock(&libraries_lock);
  qn_status status = load_library(adapter->path, adapter->name, probe, out_table);
  qn_mutex_unlock(&libraries_lock);
  return status;
}

/* Once for each table, after its first instance was opened: the vendor's library has registered its own exit handlers
 * by then, and ours must run before them. */
static void register_exit_once(const core_adapter *adapter) {
  static qn_mutex lock;
  static const qn_adapter_table *seen[64];
  qn_mutex_lock(&lock);
  size_t i = 0;
  while (i < 64 && seen[i] && seen[i] != adapter->table) i++;
  if (i < 64 && !seen[i]) {
    seen[i] = adapter->table;
    core_exit_register();
  }
  qn_mutex_unlock(&lock);
}

/* What this process lacks now it may have at the next try. */
static bool is_passing(qn_status status) { return status == QN_ERROR_OUT_OF_HOST_MEMORY || status == QN_ERROR_LIMIT; }

/* ---- Instances ---------------------------------------------------------------------------------- */

enum { MOST_DEVICES = 1024 };

static qn_status describe_devices(qn_arena *arena, core_adapter *adapter) {
  uint32_t count = 0;
  QN_TRY(adapter->table->device_count(adapter->instance, &count));
  if (count == 0) return QN_OK;
  if (count > MOST_DEVICES)
    QN_FAIL(QN_ERROR_ABI, "it says that it has %u devices; the limit is %d", count, MOST_DEVICES);
  adapter->devices = QN_ARENA_ARRAY(arena, qn_adapter_device_info, count);
  if (!adapter->devices) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the descriptions of %u devices", count);
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_device_info *info = &adapter->devices[i];
    info->struct_size = sizeof *info;
    QN_TRY(adapter->table->device_describe(adapter->instance, i, info));
    info->name[sizeof info->name - 1] = info->driver[sizeof info->driver - 1] = '\0';
    info->target[sizeof info->target - 1] = info->target_cpu[sizeof info->target_cpu - 1] = '\0';
    info->target_features[sizeof info->target_features - 1] = '\0';
  }
  adapter->device_count = count;
  return QN_OK;
}

/* An adapter that fails without a word must not be blamed in the words of an earlier error. */
static qn_status call_open(core_adapter *adapter) {
  qn_error_saved saved;
  qn_error_save(&saved);
  (void)!qn_error_set(QN_ERROR_INTERNAL, "its instance_open failed and gave no reason");
  qn_status status = adapter->table->instance_open(&host, &adapter->instance);
  if (status < 0)
    qn_error_forget(&saved);
  else
    qn_error_restore(&saved);
  return status;
}

static qn_status open_instance(qn_arena *arena, core_adapter *adapter) {
  QN_TRY(call_open(adapter));
  register_exit_once(adapter);
  if (!adapter->instance) QN_FAIL(QN_ERROR_ABI, "its instance_open succeeded and gave no instance");
  qn_status status = describe_devices(arena, adapter);
  if (status < 0) {
    qn_error_saved saved;
    qn_error_save(&saved);
    (void)!adapter->table->instance_close(adapter->instance); /* the first error is the one to tell */
    qn_error_restore(&saved);
    adapter->instance = NULL;
  }
  return status;
}

static qn_status failed(core_adapter *adapter, qn_status status) {
  CORE_TEXT_COPY(adapter->reason, qn_error_text());
  adapter->state = is_passing(status) ? CORE_ADAPTER_FOUND : CORE_ADAPTER_FAILED;
  QN_LOG(ADAPTER, "'%s' can't be used: %s", adapter->name, adapter->reason);
  qn_error_prefix("adapter '%s'%s%s: ", adapter->name, adapter->path[0] ? " in " : "", adapter->path);
  return status;
}

qn_status core_adapter_load(qn_arena *arena, core_adapter *adapter, bool probe) {
  if (adapter->state == CORE_ADAPTER_READY) return QN_OK;
  if (adapter->state == CORE_ADAPTER_REFUSED || (adapter->state == CORE_ADAPTER_FAILED && probe))
    QN_FAIL(QN_ERROR_NOT_FOUND, "adapter '%s'%s%s: %s", adapter->name, adapter->path[0] ? " in " : "", adapter->path,
            adapter->reason);
  qn_status status = get_table(adapter, probe, &adapter->table);
  if (status >= 0) status = open_instance(arena, adapter);
  if (status < 0) return failed(adapter, status);
  adapter->state = CORE_ADAPTER_READY;
  return QN_OK;
}

void core_adapters_close(core_adapter_list *list, core_refusal *refusal) {
  for (uint32_t i = 0; i < list->count; i++) {
    core_adapter *adapter = &list->items[i];
    if (adapter->instance) core_refusal_note(refusal, adapter->table->instance_close(adapter->instance), "instance");
    adapter->instance = NULL;
    adapter->state = CORE_ADAPTER_REFUSED;
    CORE_TEXT_COPY(adapter->reason, "the runtime is closed");
  }
}

/* ---- Scan --------------------------------------------------------------------------------------- */

enum { MOST_ADAPTERS = 64 };

static core_adapter *find_adapter(core_adapter_list *list, qn_sv name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (qn_sv_is(name, list->items[i].name)) return &list->items[i];
  return NULL;
}

/* A file that looks like an adapter and can't be named is listed all the same, by as much of its name as there is room for. */
static void add_nameless(core_adapter_list *list, qn_sv name, const char *path) {
  core_adapter *adapter = &list->items[list->count++];
  const int room = (int)sizeof adapter->name - 4;
  snprintf(adapter->name, sizeof adapter->name, "%.*s...", name.size < (size_t)room ? (int)name.size : room, name.data);
  CORE_TEXT_COPY(adapter->path, path);
  adapter->state = CORE_ADAPTER_REFUSED;
  snprintf(adapter->reason, sizeof adapter->reason,
           "an adapter's name, between " PREFIX " and " SUFFIX ", has 1 to %zu characters, and this one has %zu",
           sizeof adapter->name - 1, name.size);
}

/* NULL: there is one of this name already, or no room, or it is no name. */
static core_adapter *add_adapter(core_adapter_list *list, qn_sv name, const char *path) {
  if (list->count == MOST_ADAPTERS) return NULL;
  if (name.size == 0 || name.size >= sizeof list->items->name) {
    if (path[0] != '\0') add_nameless(list, name, path);
    return NULL;
  }
  if (strlen(path) >= sizeof list->items->path || find_adapter(list, name)) return NULL;
  core_adapter *adapter = &list->items[list->count++];
  memcpy(adapter->name, name.data, name.size);
  CORE_TEXT_COPY(adapter->path, path);
  return adapter;
}

static qn_status scan_directory(qn_arena *arena, core_adapter_list *list, const char *directory) {
  const char **names = NULL;
  size_t count = 0;
  qn_status status = qn_directory_list(arena, directory, &names, &count);
  if (is_passing(status)) return status; /* else adapters would be missing, and nobody would know why (L7) */
  if (status < 0) {
    QN_LOG(ADAPTER, "no adapters in %s: %s", directory, qn_error_text());
    return QN_OK; /* many of the places needn't be there */
  }
  for (size_t i = 0; i < count; i++) {
    qn_sv name = qn_sv_from(names[i]);
    if (!qn_sv_starts_with(name, QN_SV(PREFIX)) || !qn_sv_ends_with(name, QN_SV(SUFFIX))) continue;
    if (name.size < strlen(PREFIX SUFFIX)) continue;
    const char *path = qn_path_join(arena, qn_sv_from(directory), name);
    if (!path) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the list of adapters");
    add_adapter(list, qn_sv_make(name.data + strlen(PREFIX), name.size - strlen(PREFIX SUFFIX)), path);
  }
  return QN_OK;
}

/* Calls fn for each part of "a,b,c". */
static qn_status for_each_part(const char *text, char separator, qn_arena *arena, core_adapter_list *list,
                               qn_status (*fn)(qn_arena *, core_adapter_list *, const char *)) {
  const char stop[2] = {separator, '\0'};
  while (*text) {
    size_t size = strcspn(text, stop);
    char *part = qn_arena_copy(arena, qn_sv_make(text, size));
    if (!part) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the list of adapters");
    if (size > 0) QN_TRY(fn(arena, list, part));
    text += size;
    text += *text == separator;
  }
  return QN_OK;
}

static qn_status scan_own_directories(qn_arena *arena, core_adapter_list *list) {
  const char *places[QN_PLUGIN_PLACES];
  QN_TRY(qn_plugin_places(arena, places));
  for (int i = 0; i < QN_PLUGIN_PLACES; i++) QN_TRY(scan_directory(arena, list, places[i]));
  return QN_OK;
}

static qn_status allow(qn_arena *arena, core_adapter_list *list, const char *name) {
  (void)arena;
  core_adapter *adapter = find_adapter(list, qn_sv_from(name));
  if (!adapter) {
    adapter = add_adapter(list, qn_sv_from(name), "");
    if (!adapter) return QN_OK;
    adapter->state = CORE_ADAPTER_REFUSED;
    CORE_TEXT_COPY(adapter->reason,
                   "no file " PREFIX "*" SUFFIX " of this name was found where adapters are looked for");
  }
  adapter->is_allowed = true;
  return QN_OK;
}

static qn_status choose(qn_arena *arena, core_adapter_list *list, const char *names) {
  if (names) QN_TRY(for_each_part(names, ',', arena, list, allow));
  for (uint32_t i = 0; i < list->count; i++) {
    core_adapter *adapter = &list->items[i];
    if (!names) adapter->is_allowed = true;
    if (adapter->is_allowed || adapter->state == CORE_ADAPTER_REFUSED) continue;
    adapter->state = CORE_ADAPTER_REFUSED;
    CORE_TEXT_COPY(adapter->reason, "not among the adapters that the options or QUERN_ADAPTERS allow");
  }
  return QN_OK;
}

/* cpu first, then by name, what computes nothing useful last; stable whatever the directories give. */
static int order_of(const core_adapter *adapter) {
  if (strcmp(adapter->name, "cpu") == 0) return 0;
  if (strcmp(adapter->name, "null") == 0) return 3;
  return adapter->path[0] == '\0' && adapter->table ? 2 : 1;
}

static int compare(const void *a, const void *b) {
  const core_adapter *x = a, *y = b;
  int order = order_of(x) - order_of(y);
  return order != 0 ? order : strcmp(x->name, y->name);
}

static void add_built_in(core_adapter_list *list) {
  core_adapter *adapter = add_adapter(list, qn_sv_from(core_check_table.name), "");
  if (adapter) adapter->table = &core_check_table;
}

qn_status core_adapters_scan(qn_arena *arena, const char *path, const char *names, core_adapter_list *out_list) {
  core_adapter_list list = {.items = QN_ARENA_ARRAY(arena, core_adapter, MOST_ADAPTERS), .is_scanned = true};
  if (!list.items) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the list of adapters");
  qn_error_saved saved;
  qn_error_save(&saved); /* places that aren't there are no error */
  add_built_in(&list);
  if (!path) path = qn_environment("QUERN_ADAPTER_PATH");
  if (!names) names = qn_environment("QUERN_ADAPTERS");
  qn_status status = path ? for_each_part(path, ':', arena, &list, scan_directory) : scan_own_directories(arena, &list);
  if (status >= 0) status = choose(arena, &list, names);
  if (status < 0) {
    qn_error_forget(&saved);
    return status;
  }
  qn_error_restore(&saved);
  qsort(list.items, list.count, sizeof *list.items, compare);
  *out_list = list;
  return QN_OK;
}
