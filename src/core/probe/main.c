/* quern-probe LIBRARY - loads one adapter, opens an instance, describes its devices and closes it. Enumeration runs it before
 * it loads a library that it doesn't know, so that one which crashes or hangs takes only this process with it (A5). How it went
 * is told by one byte (word.h), by the exit status to people: 0 the adapter works, 1 it says why it doesn't. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/probe/word.h"
#include "quern/adapter.h"

enum { WRONG_USAGE = 2 };

/* A library that announces more devices than that is not asked about the rest. */
enum { MOST_DEVICES = 64 };

static qn_status set_error(qn_status status, int64_t driver_code, const char *text) {
  (void)driver_code;
  (void)text;
  return status;
}

static void log_nothing(const char *text) { (void)text; }

static const char *environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

static const qn_adapter_host host = {.struct_size = sizeof host,
                                     .abi_version = QN_ADAPTER_ABI_VERSION,
                                     .set_error = set_error,
                                     .log = log_nothing,
                                     .environment = environment};

static qn_status describe_devices(const qn_adapter_table *table, qn_adapter_instance *instance) {
  uint32_t count = 0;
  qn_status status = table->device_count(instance, &count);
  for (uint32_t i = 0; i < count && i < MOST_DEVICES && status >= 0; i++) {
    qn_adapter_device_info info = {.struct_size = sizeof info};
    status = table->device_describe(instance, i, &info);
  }
  return status;
}

static int try_table(const qn_adapter_table *table) {
  qn_adapter_instance *instance = NULL;
  if (!table || table->abi_version != QN_ADAPTER_ABI_VERSION || table->struct_size < sizeof *table)
    return PROBE_SAYS_WHY;
  if (!table->instance_open || !table->device_count || !table->device_describe || !table->instance_close)
    return PROBE_SAYS_WHY;
  if (table->instance_open(&host, &instance) < 0) return PROBE_SAYS_WHY;
  qn_status described = describe_devices(table, instance);
  qn_status closed = table->instance_close(instance);
  return described < 0 || closed < 0 ? PROBE_SAYS_WHY : PROBE_WORKS;
}

static int try_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  qn_adapter_entry_fn entry = NULL;
  if (library) *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  return entry ? try_table(entry(QN_ADAPTER_ABI_VERSION)) : PROBE_SAYS_WHY;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: quern-probe LIBRARY\n");
    return WRONG_USAGE;
  }
  int word = try_library(argv[1]);
  const char byte = (char)word;
  fflush(NULL);
  if (write(PROBE_DESCRIPTOR, &byte, 1) != 1)
    fprintf(stderr, "%s\n", word == PROBE_WORKS ? "it works" : "it does not work");
  _Exit(word == PROBE_WORKS ? 0 : 1); /* exit handlers of drivers are not what is tried out */
}
