/* quern-probe LIBRARY - loads one adapter, opens an instance, describes its devices and closes it. Enumeration runs it before
 * it loads a library that it doesn't know, so that one which crashes or hangs takes only this process with it (A5). How it went
 * is told by one byte and, for a library that is no adapter of ours, a text (word.h); by the exit status to people: 0 the adapter works,
 * 1 it doesn't. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/adapter_table.h"
#include "core/probe/word.h"
#include "quern/adapter.h"

#define PREFIX "libquern-adapter-"
#define SUFFIX ".so"
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

static int try_instance(const qn_adapter_table *table) {
  qn_adapter_instance *instance = NULL;
  if (table->instance_open(&host, &instance) < 0) return PROBE_SAYS_WHY;
  qn_status described = describe_devices(table, instance);
  qn_status closed = table->instance_close(instance);
  return described < 0 || closed < 0 ? PROBE_SAYS_WHY : PROBE_WORKS;
}

/* Between libquern-adapter- and .so. */
static void name_of(const char *path, char *name, size_t size) {
  const char *file = strrchr(path, '/');
  file = file ? file + 1 : path;
  if (strncmp(file, PREFIX, strlen(PREFIX)) == 0) file += strlen(PREFIX);
  size_t length = strlen(file), tail = strlen(SUFFIX);
  if (length > tail && strcmp(file + length - tail, SUFFIX) == 0) length -= tail;
  snprintf(name, size, "%.*s", (int)length, file);
}

/* What can't be loaded here has run nothing, and may find in the program what it lacks here. */
static int try_library(const char *path, char *text, size_t size) {
  char name[256];
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return PROBE_SAYS_WHY;
  qn_adapter_entry_fn entry = NULL;
  dlerror();
  *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  if (!entry) {
    const char *reason = dlerror();
    snprintf(text, size, "the library '%s' has no symbol '" QN_ADAPTER_ENTRY_NAME "': %s", path,
             reason ? reason : "no reason given");
    return PROBE_REFUSED;
  }
  name_of(path, name, sizeof name);
  const qn_adapter_table *table = entry(QN_ADAPTER_ABI_VERSION);
  return core_adapter_table_is_usable(table, name, text, size) ? try_instance(table) : PROBE_REFUSED;
}

int main(int argc, char **argv) {
  char said[512] = "";
  if (argc != 2) {
    fprintf(stderr, "usage: quern-probe LIBRARY\n");
    return WRONG_USAGE;
  }
  int word = try_library(argv[1], said + 1, sizeof said - 1);
  said[0] = (char)word;
  size_t size = 1 + strlen(said + 1);
  fflush(NULL);
  if (write(PROBE_DESCRIPTOR, said, size) != (ssize_t)size)
    fprintf(stderr, "%s%s\n", word == PROBE_WORKS ? "it works" : "it does not work: ", said + 1);
  _Exit(word == PROBE_WORKS ? 0 : 1); /* exit handlers of drivers are not what is tried out */
}
