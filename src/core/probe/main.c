/* quern-probe LIBRARY - loads one adapter, opens an instance and counts its devices. Enumeration runs it before it loads
 * a library that it doesn't know, so that one which crashes takes only this process with it (A5). Exit status: 0 the
 * adapter works; 10 it says why it doesn't, so the library may load it and tell; anything else is not ours. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "quern/adapter.h"

enum { WORKS = 0, SAYS_WHY = 10, WRONG_USAGE = 2 };

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

static int try_table(const qn_adapter_table *table) {
  qn_adapter_instance *instance = NULL;
  uint32_t count = 0;
  if (!table || table->abi_version != QN_ADAPTER_ABI_VERSION || table->struct_size < sizeof *table) return SAYS_WHY;
  if (!table->instance_open || !table->device_count || !table->instance_close) return SAYS_WHY;
  if (table->instance_open(&host, &instance) < 0) return SAYS_WHY;
  qn_status counted = table->device_count(instance, &count);
  qn_status closed = table->instance_close(instance);
  return counted < 0 || closed < 0 ? SAYS_WHY : WORKS;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: quern-probe LIBRARY\n");
    return WRONG_USAGE;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return SAYS_WHY;
  qn_adapter_entry_fn entry;
  *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  if (!entry) return SAYS_WHY;
  int result = try_table(entry(QN_ADAPTER_ABI_VERSION));
  fflush(NULL);
  _Exit(result); /* exit handlers of drivers are not what is tried out */
}
