/* suite_discovery.c - devices are listed, described, opened. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

static uint32_t device_count(const cts *c) {
  uint32_t count = 0;
  CTS_OK(qn_device_count(c->runtime, &count));
  return count;
}

static qn_device_info describe(const cts *c, uint32_t index) {
  qn_device_info info = QN_INIT(qn_device_info);
  CTS_OK(qn_device_describe(c->runtime, index, &info));
  return info;
}

static void same_info(const char *what, const qn_device_info *a, const qn_device_info *b) {
  char words[128];
  snprintf(words, sizeof words, "the description of %s, %s,", b->selector, what);
  CTS_BYTES(words, a, b, sizeof *a);
}

static void listed_once_as_opened(cts *c) {
  uint32_t found = 0, count = device_count(c);
  for (uint32_t i = 0; i < count; i++) {
    qn_device_info info = describe(c, i);
    if (strcmp(info.selector, c->info.selector) != 0) continue;
    found++;
    same_info("listed and opened", &info, &c->info);
  }
  CTS_SAME("how often the device's selector is listed", found, 1);
}

static void order_is_stable(cts *c) {
  enum { MOST = 64 };
  qn_device_info first[MOST];
  uint32_t count = device_count(c);
  for (uint32_t i = 0; i < count && i < MOST; i++) first[i] = describe(c, i);
  qn_runtime other = cts_runtime(c);
  uint32_t again = 0;
  CTS_OK(qn_device_count(other, &again));
  CTS_SAME("devices in another runtime", again, count);
  for (uint32_t i = 0; i < count && i < MOST; i++) {
    qn_device_info info = QN_INIT(qn_device_info);
    CTS_OK(qn_device_describe(other, i, &info));
    same_info("in another runtime", &info, &first[i]);
  }
}

static void adapter_is_listed(cts *c) {
  uint32_t count = 0;
  CTS_OK(qn_adapter_count(c->runtime, &count));
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    CTS_OK(qn_adapter_describe(c->runtime, i, &info));
    if (strcmp(info.name, c->info.adapter) != 0) {
      CTS_TRUE(info.loaded || *info.reason, "adapter '%s', which isn't loaded, has a reason", info.name);
      continue;
    }
    CTS_SAME("loaded", info.loaded, 1);
    CTS_SAME("length of the reason", strlen(info.reason), 0);
    return;
  }
  CTS_TRUE(false, "the adapter '%s' of the device is listed", c->info.adapter);
}

static bool is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

static void has_text(const char *what, const char *text, size_t room) {
  CTS_TRUE(memchr(text, 0, room) != NULL, "%s ends with a NUL", what);
  CTS_TRUE(*text != 0, "%s is not empty", what);
}

static void description_makes_sense(cts *c) {
  const qn_device_info *d = &c->info;
  has_text("selector", d->selector, sizeof d->selector);
  has_text("name", d->name, sizeof d->name);
  has_text("adapter", d->adapter, sizeof d->adapter);
  has_text("driver", d->driver, sizeof d->driver);
  CTS_TRUE(strncmp(d->selector, d->adapter, strlen(d->adapter)) == 0,
           "selector '%s' starts with the adapter's name '%s'", d->selector, d->adapter);
  CTS_TRUE(d->type >= QN_DEVICE_CPU && d->type <= QN_DEVICE_OTHER, "type %u is one of QN_DEVICE_", d->type);
  CTS_TRUE(d->address_bits == 32 || d->address_bits == 64, "address_bits %u is 32 or 64", d->address_bits);
  CTS_TRUE(d->memory_bytes > 0, "memory_bytes is not 0");
  CTS_TRUE(d->max_allocation_bytes > 0 && d->max_allocation_bytes <= d->memory_bytes,
           "max_allocation_bytes %llu is between 1 and memory_bytes %llu", (unsigned long long)d->max_allocation_bytes,
           (unsigned long long)d->memory_bytes);
  CTS_TRUE(is_power_of_two(d->buffer_alignment), "buffer_alignment %u is a power of two", d->buffer_alignment);
}

static void limits_are_what_kernels_need(cts *c) {
  const qn_device_info *d = &c->info;
  cts_program(c, "kernel void nothing(void) {}");
  CTS_TRUE(d->max_group_items > 0, "max_group_items is not 0");
  CTS_TRUE(d->compute_units > 0, "compute_units is not 0");
  CTS_TRUE(d->local_memory_bytes >= 1024, "local_memory_bytes %llu is 1,024 or more",
           (unsigned long long)d->local_memory_bytes);
  for (int i = 0; i < 3; i++) CTS_TRUE(d->max_local_size[i] > 0, "max_local_size[%d] is not 0", i);
  CTS_TRUE(d->sub_group_size == 0 || is_power_of_two(d->sub_group_size), "sub_group_size %u is 0 or a power of two",
           d->sub_group_size);
}

static void features_are_known(cts *c) {
  const uint64_t known = QN_FEATURE_KERNELS | QN_FEATURE_DOUBLE | QN_FEATURE_HALF | QN_FEATURE_INT64_ATOMICS |
                         QN_FEATURE_SHARED_MEMORY | QN_FEATURE_WRAP_HOST | QN_FEATURE_TIMED_QUEUES;
  CTS_SAME("features that quern.h doesn't name", c->info.features & ~known, 0);
  const uint64_t of_kernels = QN_FEATURE_DOUBLE | QN_FEATURE_HALF | QN_FEATURE_INT64_ATOMICS;
  if (!cts_has(c, QN_FEATURE_KERNELS))
    CTS_SAME("features of kernels without kernels", c->info.features & of_kernels, 0);
}

static void unknown_device_is_refused(cts *c) {
  qn_device device = NULL;
  char selector[128];
  CTS_FAILS(qn_device_open(c->runtime, "nosuch", &device), QN_ERROR_NOT_FOUND, c->info.adapter);
  snprintf(selector, sizeof selector, "%s:4000000", c->info.adapter);
  CTS_GIVES(qn_device_open(c->runtime, selector, &device), QN_ERROR_NOT_FOUND);
  snprintf(selector, sizeof selector, "%s:x", c->info.adapter);
  qn_status status = qn_device_open(c->runtime, selector, &device);
  CTS_TRUE(status == QN_ERROR_NOT_FOUND || status == QN_ERROR_INVALID_ARGUMENT, "opening '%s' fails, not: %s", selector,
           qn_status_name(status));
}

static void opens_many_times(cts *c) {
  enum { OPENINGS = 6 };
  qn_device devices[OPENINGS];
  unsigned char out[OPENINGS][64];
  for (int i = 0; i < OPENINGS; i++) {
    devices[i] = cts_device(c);
    for (int j = 0; j < i; j++) CTS_TRUE(devices[i] != devices[j], "each opening gives a handle of its own");
    qn_queue queue = cts_queue_on(c, devices[i]);
    qn_buffer buffer = cts_buffer_on(c, devices[i], 64);
    const qn_view view = cts_view(buffer, 0, QN_WHOLE);
    cts_fill(queue, buffer, (unsigned char)(i + 1));
    CTS_OK(qn_read(queue, &view, out[i], NULL));
    cts_finish(queue);
    CTS_FILLED("a buffer of one of several openings", out[i], (unsigned char)(i + 1), 64);
  }
}

static void openings_keep_their_objects(cts *c) {
  qn_device other = cts_device(c);
  qn_queue queue = cts_queue(c);
  qn_buffer theirs = cts_buffer_on(c, other, 64);
  const qn_view view = cts_view(theirs, 0, QN_WHOLE);
  CTS_GIVES(qn_fill(queue, &view, "x", 1, NULL), QN_ERROR_INVALID_ARGUMENT);
}

/* Opens, works and closes in a runtime of its own. */
static void live_once(cts *c, bool is_closed_by_release) {
  unsigned char out[256];
  qn_runtime runtime = cts_runtime(c);
  qn_device device = cts_device_in(c, runtime);
  qn_queue queue = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, sizeof out);
  cts_fill(queue, buffer, 7);
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("a buffer of a device that was opened again", out, 7, sizeof out);
  if (is_closed_by_release) {
    cts_drop(c, device);
    cts_drop(c, runtime);
    cts_drop(c, buffer);
    cts_drop(c, queue);
  } else {
    cts_close(c, runtime);
  }
}

static void opens_after_close(cts *c) {
  uint64_t rounds = cts_count(c, 15, 500);
  for (uint64_t i = 0; i < rounds; i++) live_once(c, i % 2);
}

static void two_runtimes_at_a_time(cts *c) {
  qn_runtime runtimes[2] = {cts_runtime(c), cts_runtime(c)};
  qn_queue queues[2];
  qn_buffer buffers[2];
  unsigned char out[2][4096];
  for (int i = 0; i < 2; i++) {
    qn_device device = cts_device_in(c, runtimes[i]);
    queues[i] = cts_queue_on(c, device);
    buffers[i] = cts_buffer_on(c, device, sizeof out[i]);
    cts_fill(queues[i], buffers[i], (unsigned char)(i + 1));
  }
  cts_get(queues[0], buffers[0], out[0], sizeof out[0]);
  cts_close(c, runtimes[0]);
  cts_get(queues[1], buffers[1], out[1], sizeof out[1]);
  for (int i = 0; i < 2; i++)
    CTS_FILLED("a buffer of one of two runtimes", out[i], (unsigned char)(i + 1), sizeof out[i]);
}

/* The founding report of the loader: an information query raised a count, so that nothing ended and what came next at the
 * same address was taken for what had been there. */
static void queries_change_no_count(cts *c) {
  qn_runtime runtime = cts_runtime(c);
  qn_device device = cts_device_in(c, runtime);
  for (int i = 0; i < 1000; i++) {
    qn_device_info info = QN_INIT(qn_device_info);
    uint64_t native = 0;
    CTS_OK(qn_device_query(device, &info));
    same_info("asked a thousand times", &info, &c->info);
    qn_status status = qn_native_handle(device, 0, &native);
    CTS_TRUE(status == QN_OK || status == QN_ERROR_UNSUPPORTED,
             "qn_native_handle gives a value or says UNSUPPORTED, not %s", qn_status_name(status));
  }
  cts_drop(c, device);
  CTS_GIVES(qn_release(device), QN_ERROR_INVALID_HANDLE);
  cts_close(c, runtime);
}

/* The text is this refusal's own, and not that of an error before. */
static void refuses_native(cts *c, const char *what, const void *handle) {
  static const uint32_t wrong[] = {1000, UINT32_MAX};
  qn_device other = NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint64_t native = 77;
    CTS_GIVES(qn_device_open(c->runtime, "no such device", &other), QN_ERROR_NOT_FOUND);
    CTS_GIVES(qn_native_handle(handle, wrong[i], &native), QN_ERROR_UNSUPPORTED);
    CTS_TRUE(qn_error_text()[0] && !strstr(qn_error_text(), "no such device"),
             "a native handle of a %s that isn't there is refused with a text of its own, not '%s'", what,
             qn_error_text());
    CTS_SAME("the number that a refusal leaves alone", native, 77);
  }
}

static void native_handles_are_refused(cts *c) {
  refuses_native(c, "device", c->device);
  refuses_native(c, "queue", cts_queue(c));
  refuses_native(c, "buffer", cts_buffer(c, 100));
  if (!(c->info.features & QN_FEATURE_KERNELS)) return;
  qn_program program = cts_program(c, "kernel void one(global int *a) { a[0] = 1; }");
  refuses_native(c, "program", program);
  refuses_native(c, "kernel", cts_kernel(c, program, "one"));
}

static const cts_test tests[] = {
    {"the_device_is_listed_once_as_it_opens", listed_once_as_opened, 0, 0,
     "quern.h: 'Devices of every adapter, in a stable order.'; adapter.h: device_describe gives the same at any time"},
    {"the_order_of_devices_is_stable", order_is_stable, 0, 0,
     "quern.h: 'Devices of every adapter, in a stable order.'; adapter.h: device_count and device_describe"},
    {"the_adapter_is_listed_as_loaded", adapter_is_listed, 0, 0, "quern.h: 'The adapters that were found'"},
    {"the_description_makes_sense", description_makes_sense, 0, 0,
     "quern.h: qn_device_info; adapter.h: device_describe fills in qn_adapter_device_info whole"},
    {"limits_are_what_kernels_need", limits_are_what_kernels_need, QN_FEATURE_KERNELS, 0,
     "quern.h: qn_device_info; adapter.h: qn_adapter_device_info"},
    {"features_are_known_ones", features_are_known, 0, 0, "quern.h: 'Feature bits of a device.'"},
    {"an_unknown_device_is_refused_and_the_text_lists_what_there_is", unknown_device_is_refused, 0, 0,
     "quern.h: 'NOT_FOUND (the text lists what there is)'"},
    {"a_device_opens_many_times", opens_many_times, 0, 0,
     "adapter.h: device_open may be called again for the same index; 'calls on different objects may run at the same "
     "time'"},
    {"openings_keep_their_objects_apart", openings_keep_their_objects, 0, 0,
     "quern.h: 'Copies take views of equal size that do not overlap, on one device.'"},
    {"a_device_opens_again_after_a_close", opens_after_close, 0, 0,
     "adapter.h: instance_open 'May be called again after a close or a failed open.'"},
    {"two_runtimes_have_the_device_at_a_time", two_runtimes_at_a_time, 0, 0,
     "quern.h: qn_runtime_open; adapter.h: no static state: an instance is opened for each runtime"},
    {"native_handles_that_are_not_there_are_refused_with_a_text", native_handles_are_refused, 0, 0,
     "adapter.h: 'a status below zero, with host->set_error called once to set the text'"},
    {"queries_change_no_count", queries_change_no_count, 0, 0,
     "quern.h: qn_release: 'at zero the handle is stale at once'; adapter.h: 'An adapter counts no references'"},
};

CTS_SUITE(discovery, "devices are listed, described and opened");
