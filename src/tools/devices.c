/* devices.c - `quern devices`: what there is, and why the rest isn't. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"
#include "tool.h"

static const char help[] =
    "quern devices [-v] [--json]   list the devices that kernels can run on\n"
    "\n"
    "  -v       also each device's properties, and each adapter: where it is, or why it did not load\n"
    "  --json   one JSON object: {\"devices\": [...], \"adapters\": [...]}\n"
    "\n"
    "The first column is what -d takes. QUERN_ADAPTERS=cpu,null chooses adapters, QUERN_ADAPTER_PATH says where they "
    "are.\n"
    "\n"
    "Examples\n"
    "  quern devices -v\n"
    "  QUERN_ADAPTERS=cpu quern devices --json\n";

static const char *type_name(uint32_t type) {
  static const char *const names[] = {"?", "cpu", "gpu", "check", "simulated", "other"};
  return names[type < 6 ? type : 0];
}

static void print_device(const qn_device_info *d, bool verbose) {
  printf("%-12s %s\n", d->selector, d->name);
  if (!verbose) return;
  printf("             type %s, adapter %s, driver %s\n", type_name(d->type), d->adapter, d->driver);
  printf("             %u compute units, %" PRIu64 " MiB of memory, %" PRIu64 " KiB local, groups of up to %" PRIu64
         " items, %u-bit\n",
         d->compute_units, d->memory_bytes >> 20, d->local_memory_bytes >> 10, d->max_group_items, d->address_bits);
  printf("             kernels %s, double %s, half %s, 64-bit atomics %s\n",
         d->features & QN_FEATURE_KERNELS ? "yes" : "no", d->features & QN_FEATURE_DOUBLE ? "yes" : "no",
         d->features & QN_FEATURE_HALF ? "yes" : "no", d->features & QN_FEATURE_INT64_ATOMICS ? "yes" : "no");
}

static void json_device(json *j, const qn_device_info *d) {
  json_open(j, NULL, '{');
  json_string(j, "selector", d->selector);
  json_string(j, "name", d->name);
  json_string(j, "adapter", d->adapter);
  json_string(j, "type", type_name(d->type));
  json_string(j, "driver", d->driver);
  json_u64(j, "compute_units", d->compute_units);
  json_u64(j, "memory_bytes", d->memory_bytes);
  json_u64(j, "local_memory_bytes", d->local_memory_bytes);
  json_u64(j, "max_group_items", d->max_group_items);
  json_u64(j, "address_bits", d->address_bits);
  json_bool(j, "kernels", (d->features & QN_FEATURE_KERNELS) != 0);
  json_bool(j, "double", (d->features & QN_FEATURE_DOUBLE) != 0);
  json_bool(j, "half", (d->features & QN_FEATURE_HALF) != 0);
  json_bool(j, "int64_atomics", (d->features & QN_FEATURE_INT64_ATOMICS) != 0);
  json_close(j, '}');
}

static void json_adapter(json *j, const qn_adapter_info *a) {
  json_open(j, NULL, '{');
  json_string(j, "name", a->name);
  json_bool(j, "loaded", a->loaded != 0);
  json_string(j, "path", a->path);
  json_string(j, "reason", a->reason);
  json_close(j, '}');
}

/* Of a driver's library, it may have several lines. */
static void print_reason(const char *reason) {
  char *lines = text_lines(reason), *rest = lines;
  for (char *line = strsep(&rest, "\n"); rest; line = strsep(&rest, "\n")) printf("%-17s %s\n", "", line);
  free(lines);
}

/* Which, where and why. */
static void print_adapter(const qn_adapter_info *info) {
  const char *place = info->path[0] ? info->path : info->loaded ? "the library itself" : "";
  if (info->loaded) {
    printf("%-17s loaded from %s\n", info->name, place);
    return;
  }
  printf("%-17s not loaded%s%s\n", info->name, place[0] ? " from " : "", place);
  print_reason(info->reason);
}

static tool_status list(qn_runtime runtime, bool verbose, bool as_json) {
  uint32_t devices = 0, adapters = 0;
  json j = {stdout, false};
  qn_status status = qn_device_count(runtime, &devices);
  if (status >= 0) status = qn_adapter_count(runtime, &adapters);
  if (status < 0) return tool_library_error(status, "devices");
  if (as_json) json_open(&j, NULL, '{'), json_open(&j, "devices", '[');
  for (uint32_t i = 0; i < devices; i++) {
    qn_device_info info = QN_INIT(qn_device_info);
    if ((status = qn_device_describe(runtime, i, &info)) < 0) return tool_library_error(status, "device %u", i);
    if (as_json)
      json_device(&j, &info);
    else
      print_device(&info, verbose);
  }
  if (as_json)
    json_close(&j, ']'), json_open(&j, "adapters", '[');
  else if (verbose)
    puts("adapters");
  for (uint32_t i = 0; i < adapters && (as_json || verbose); i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    if ((status = qn_adapter_describe(runtime, i, &info)) < 0) return tool_library_error(status, "adapter %u", i);
    if (as_json)
      json_adapter(&j, &info);
    else
      print_adapter(&info);
  }
  if (as_json) json_close(&j, ']'), json_close(&j, '}'), putchar('\n');
  return TOOL_OK;
}

int command_devices(int argc, char **argv) {
  bool verbose = false, as_json = false;
  qn_runtime runtime;
  tool_command = "quern devices";
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "--verbose"))
      verbose = true;
    else if (!strcmp(argv[i], "--json"))
      as_json = true;
    else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
      return fputs(help, stdout) < 0;
    else
      return tool_error(TOOL_USAGE, "unknown word '%s'; quern devices --help shows what there is", argv[i]);
  }
  qn_status status = qn_runtime_open(NULL, &runtime);
  if (status < 0) return tool_library_error(status, "starting");
  tool_status result = list(runtime, verbose, as_json);
  status = qn_runtime_close(runtime, QN_FOREVER);
  if (status < 0 && result == TOOL_OK) result = tool_library_error(status, "closing");
  return (int)result;
}
