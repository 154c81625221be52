/* labels: threads */
/* L2 and L3 at the public interface: no entry point takes a handle that is stale, doubled, of another kind, foreign or
 * forged. The table below lists the entry points; one that the header declares and the table lacks fails the test. */
#include <stdbool.h>
#include <stdlib.h>

#include "support.h"

/* ---- The entry points --------------------------------------------------------------------------- */

/* A live object of each kind that the device can make, for the other arguments of a call. */
static struct {
  test_device t;
  qn_queue queue;
  qn_buffer buffer;
} live;

static const void *as_view(const void *handle, qn_view *view) {
  *view = test_view((qn_buffer)handle, 0, QN_WHOLE);
  return view;
}

#define CALL(name, expression)                          \
  static qn_status call_##name(const void *h) {         \
    union {                                             \
      qn_adapter_info adapter;                          \
      qn_device_info device;                            \
      qn_device_statistics statistics;                  \
      qn_buffer_info buffer;                            \
      qn_program_info program;                          \
      qn_kernel_info kernel;                            \
      qn_argument_info argument;                        \
    } info = {.adapter = {.struct_size = sizeof info}}; \
    qn_view view = {0}, own = {0};                      \
    qn_point point = {0, 0};                            \
    void *pointer = NULL;                               \
    uint64_t value = 0;                                 \
    uint32_t number = 0;                                \
    char text[64] = "";                                 \
    qn_device device = NULL;                            \
    qn_queue queue = NULL;                              \
    qn_buffer buffer = NULL;                            \
    qn_program program = NULL;                          \
    qn_kernel kernel = NULL;                            \
    (void)info, (void)view, (void)own, (void)point;     \
    (void)pointer, (void)value, (void)number;           \
    (void)text, (void)device, (void)queue;              \
    (void)buffer, (void)program, (void)kernel;          \
    return expression;                                  \
  }

static const qn_buffer_options some_buffer = {.struct_size = sizeof some_buffer, .size_bytes = 8};
static const qn_program_options some_program = {.struct_size = sizeof some_program, .source = "kernel void k() {}"};
static const qn_range some_range = {.struct_size = sizeof some_range, .dimensions = 1, .global = {1, 1, 1}};

CALL(qn_retain, qn_retain(h))
CALL(qn_release, qn_release(h))
CALL(qn_handle_kind, qn_handle_kind(h, &number))
CALL(qn_native_handle, qn_native_handle(h, 0, &value))
CALL(qn_runtime_close, qn_runtime_close((qn_runtime)h, QN_POLL))
CALL(qn_adapter_count, qn_adapter_count((qn_runtime)h, &number))
CALL(qn_adapter_describe, qn_adapter_describe((qn_runtime)h, 0, &info.adapter))
CALL(qn_device_count, qn_device_count((qn_runtime)h, &number))
CALL(qn_device_describe, qn_device_describe((qn_runtime)h, 0, &info.device))
CALL(qn_device_open, qn_device_open((qn_runtime)h, "null", &device))
CALL(qn_device_query, qn_device_query((qn_device)h, &info.device))
CALL(qn_device_drain, qn_device_drain((qn_device)h, QN_POLL))
CALL(qn_device_statistics_get, qn_device_statistics_get((qn_device)h, &info.statistics))
CALL(qn_queue_create, qn_queue_create((qn_device)h, NULL, &queue))
CALL(qn_buffer_create, qn_buffer_create((qn_device)h, &some_buffer, &buffer))
CALL(qn_program_build, qn_program_build((qn_device)h, &some_program, &program))
CALL(qn_queue_last, qn_queue_last((qn_queue)h, &point))
CALL(qn_queue_wait, qn_queue_wait((qn_queue)h, &point, 1))
CALL(qn_queue_finish, qn_queue_finish((qn_queue)h, QN_POLL))
CALL(qn_buffer_query, qn_buffer_query((qn_buffer)h, &info.buffer))
CALL(qn_buffer_map, qn_buffer_map(as_view(h, &view), QN_MAP_READ, QN_FOREVER, &pointer))
CALL(qn_buffer_unmap, qn_buffer_unmap((qn_buffer)h, text))
CALL(qn_copy, qn_copy((qn_queue)h, as_view(live.buffer, &view), as_view(live.buffer, &own), &point))
CALL(qn_copy_target, qn_copy(live.queue, as_view(h, &view), as_view(live.buffer, &own), &point))
CALL(qn_copy_source, qn_copy(live.queue, as_view(live.buffer, &own), as_view(h, &view), &point))
CALL(qn_fill, qn_fill((qn_queue)h, as_view(live.buffer, &view), "x", 1, &point))
CALL(qn_fill_target, qn_fill(live.queue, as_view(h, &view), "x", 1, &point))
CALL(qn_write, qn_write((qn_queue)h, as_view(live.buffer, &view), text, &point))
CALL(qn_write_target, qn_write(live.queue, as_view(h, &view), text, &point))
CALL(qn_read, qn_read((qn_queue)h, as_view(live.buffer, &view), text, &point))
CALL(qn_read_source, qn_read(live.queue, as_view(h, &view), text, &point))
CALL(qn_program_query, qn_program_query((qn_program)h, &info.program))
CALL(qn_program_log, qn_program_log((qn_program)h, text, sizeof text))
CALL(qn_program_kernel_name, qn_program_kernel_name((qn_program)h, 0, text, sizeof text))
CALL(qn_kernel_get, qn_kernel_get((qn_program)h, "k", &kernel))
CALL(qn_kernel_query, qn_kernel_query((qn_kernel)h, &info.kernel))
CALL(qn_kernel_argument, qn_kernel_argument((qn_kernel)h, 0, &info.argument))
CALL(qn_launch, qn_launch((qn_queue)h, NULL, &some_range, NULL, 0, &point))
CALL(qn_launch_kernel, qn_launch(live.queue, (qn_kernel)h, &some_range, NULL, 0, &point))

/* What `h` must be. QN_KIND_NONE: any kind will do. */
static const struct {
  const char *name;
  qn_status (*call)(const void *h);
  uint32_t kind;
  bool takes_null;
} entries[] = {
    {"qn_retain", call_qn_retain, QN_KIND_NONE, false},
    {"qn_release", call_qn_release, QN_KIND_NONE, true},
    {"qn_handle_kind", call_qn_handle_kind, QN_KIND_NONE, false},
    {"qn_native_handle", call_qn_native_handle, QN_KIND_NONE, false},
    {"qn_runtime_close", call_qn_runtime_close, QN_KIND_RUNTIME, false},
    {"qn_adapter_count", call_qn_adapter_count, QN_KIND_RUNTIME, false},
    {"qn_adapter_describe", call_qn_adapter_describe, QN_KIND_RUNTIME, false},
    {"qn_device_count", call_qn_device_count, QN_KIND_RUNTIME, false},
    {"qn_device_describe", call_qn_device_describe, QN_KIND_RUNTIME, false},
    {"qn_device_open", call_qn_device_open, QN_KIND_RUNTIME, false},
    {"qn_device_query", call_qn_device_query, QN_KIND_DEVICE, false},
    {"qn_device_drain", call_qn_device_drain, QN_KIND_DEVICE, false},
    {"qn_device_statistics_get", call_qn_device_statistics_get, QN_KIND_DEVICE, false},
    {"qn_queue_create", call_qn_queue_create, QN_KIND_DEVICE, false},
    {"qn_buffer_create", call_qn_buffer_create, QN_KIND_DEVICE, false},
    {"qn_program_build", call_qn_program_build, QN_KIND_DEVICE, false},
    {"qn_queue_last", call_qn_queue_last, QN_KIND_QUEUE, false},
    {"qn_queue_wait", call_qn_queue_wait, QN_KIND_QUEUE, false},
    {"qn_queue_finish", call_qn_queue_finish, QN_KIND_QUEUE, false},
    {"qn_buffer_query", call_qn_buffer_query, QN_KIND_BUFFER, false},
    {"qn_buffer_map", call_qn_buffer_map, QN_KIND_BUFFER, false},
    {"qn_buffer_unmap", call_qn_buffer_unmap, QN_KIND_BUFFER, false},
    {"qn_copy", call_qn_copy, QN_KIND_QUEUE, false},
    {"qn_copy", call_qn_copy_target, QN_KIND_BUFFER, false},
    {"qn_copy", call_qn_copy_source, QN_KIND_BUFFER, false},
    {"qn_fill", call_qn_fill, QN_KIND_QUEUE, false},
    {"qn_fill", call_qn_fill_target, QN_KIND_BUFFER, false},
    {"qn_write", call_qn_write, QN_KIND_QUEUE, false},
    {"qn_write", call_qn_write_target, QN_KIND_BUFFER, false},
    {"qn_read", call_qn_read, QN_KIND_QUEUE, false},
    {"qn_read", call_qn_read_source, QN_KIND_BUFFER, false},
    {"qn_program_query", call_qn_program_query, QN_KIND_PROGRAM, false},
    {"qn_program_log", call_qn_program_log, QN_KIND_PROGRAM, false},
    {"qn_program_kernel_name", call_qn_program_kernel_name, QN_KIND_PROGRAM, false},
    {"qn_kernel_get", call_qn_kernel_get, QN_KIND_PROGRAM, false},
    {"qn_kernel_query", call_qn_kernel_query, QN_KIND_KERNEL, false},
    {"qn_kernel_argument", call_qn_kernel_argument, QN_KIND_KERNEL, false},
    {"qn_launch", call_qn_launch, QN_KIND_QUEUE, false},
    {"qn_launch", call_qn_launch_kernel, QN_KIND_KERNEL, false},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Those that take no handle. */
static const char *const without_handle[] = {"qn_version",           "qn_status_name",  "qn_error_text",
                                             "qn_error_driver_code", "qn_runtime_open", "qn_point_wait",
                                             "qn_point_elapsed"};

static bool is_listed(const char *name, size_t length) {
  for (size_t i = 0; i < ENTRIES; i++)
    if (strlen(entries[i].name) == length && memcmp(entries[i].name, name, length) == 0) return true;
  for (size_t i = 0; i < sizeof without_handle / sizeof *without_handle; i++)
    if (strlen(without_handle[i]) == length && memcmp(without_handle[i], name, length) == 0) return true;
  return false;
}

static void test_L2_the_table_lists_every_entry_point(void **state) {
  (void)state;
  static char text[1 << 20];
  FILE *file = fopen(QUERN_SOURCE_DIR "/include/quern/quern.h", "rb");
  assert_non_null(file);
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  int count = 0;
  for (char *at = strstr(text, "\nQN_API "); at; at = strstr(at + 1, "\nQN_API ")) {
    char *name = strstr(at, "(");
    char *end = name;
    assert_non_null(name);
    while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9')) name--;
    if (!is_listed(name, (size_t)(end - name))) fail_msg("the table lacks %.*s", (int)(end - name), name);
    count++;
  }
  assert_true(count > 30);
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

static int set_up(void **state) {
  (void)state;
  live.t = test_open("null");
  live.queue = test_queue(live.t.device);
  live.buffer = test_buffer(live.t.device, 8);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_close(&live.t);
  return 0;
}

static void assert_refused_everywhere(const void *handle, const char *words) {
  for (size_t i = 0; i < ENTRIES; i++) {
    qn_status status = entries[i].call(handle);
    if (status != QN_ERROR_INVALID_HANDLE)
      fail_msg("%s(%p) gave %s: %s", entries[i].name, handle, qn_status_name(status), qn_error_text());
    if (!strstr(qn_error_text(), words))
      fail_msg("%s: the text '%s' lacks '%s'", entries[i].name, qn_error_text(), words);
  }
}

static void test_L2_stale_handles_are_refused_everywhere(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 8);
  const void *stale[] = {buffer, queue, t.device, t.runtime};
  for (size_t i = 0; i < 4; i++) OK(qn_release(stale[i]));
  for (size_t i = 0; i < 4; i++) {
    for (size_t e = 0; e < ENTRIES; e++) {
      qn_status status = entries[e].call(stale[i]);
      if (status != QN_ERROR_INVALID_HANDLE) fail_msg("%s gave %s", entries[e].name, qn_status_name(status));
    }
  }
}

static void test_L2_null_is_refused_everywhere_but_in_release(void **state) {
  (void)state;
  for (size_t i = 0; i < ENTRIES; i++) {
    qn_status status = entries[i].call(NULL);
    qn_status wanted = entries[i].takes_null ? QN_OK : QN_ERROR_INVALID_HANDLE;
    if (status != wanted) fail_msg("%s(NULL) gave %s: %s", entries[i].name, qn_status_name(status), qn_error_text());
  }
}

static void test_L2_foreign_addresses_are_refused_everywhere(void **state) {
  (void)state;
  int on_stack = 0;
  void *on_heap = malloc(100);
  assert_refused_everywhere(&on_stack, "not a handle");
  assert_refused_everywhere(on_heap, "not a handle");
  assert_refused_everywhere(on_heap ? (char *)on_heap + 1 : NULL, "not a handle");
  assert_refused_everywhere((const void *)UINTPTR_MAX, "not a handle");
  assert_refused_everywhere((const void *)(uintptr_t)8, "not a handle");
  free(on_heap);
}

static void test_L2_handles_of_another_kind_are_refused_everywhere(void **state) {
  (void)state;
  const struct {
    const void *handle;
    uint32_t kind;
  } others[] = {{live.t.runtime, QN_KIND_RUNTIME},
                {live.t.device, QN_KIND_DEVICE},
                {live.queue, QN_KIND_QUEUE},
                {live.buffer, QN_KIND_BUFFER}};
  for (size_t i = 0; i < 4; i++)
    for (size_t e = 0; e < ENTRIES; e++) {
      if (entries[e].kind == QN_KIND_NONE || entries[e].kind == others[i].kind) continue;
      qn_status status = entries[e].call(others[i].handle);
      if (status != QN_ERROR_INVALID_HANDLE || !strstr(qn_error_text(), ", not a "))
        fail_msg("%s gave %s: %s", entries[e].name, qn_status_name(status), qn_error_text());
    }
}

static void test_L2_a_million_forged_handles_are_refused(void **state) {
  (void)state;
  uint64_t random = 88172645463325252u;
  const void *bases[] = {live.t.runtime, live.t.device, live.queue, live.buffer};
  for (int i = 0; i < 1000000; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    uintptr_t bits = (uintptr_t)random;
    if (i % 3 == 0) bits = (uintptr_t)bases[random % 4] ^ ((uintptr_t)1 << (random >> 8) % (8 * sizeof bits));
    if (i % 3 == 1) bits &= ((uintptr_t)7 << (8 * sizeof bits - 4)) | ((uintptr_t)7 << 32) | 7; /* close to real ones */
    const void *forged = (const void *)bits;
    bool is_live = false;
    for (size_t j = 0; j < 4; j++) is_live |= forged == bases[j];
    if (is_live || !forged) continue;
    size_t e = (size_t)(random >> 20) % ENTRIES;
    qn_status status = entries[e].call(forged);
    if (status != QN_ERROR_INVALID_HANDLE)
      fail_msg("%s(%p) gave %s: %s", entries[e].name, forged, qn_status_name(status), qn_error_text());
  }
}

static void test_L3_no_query_changes_a_count(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 8);
  const void *all[] = {buffer, queue, t.device, t.runtime};
  static const char *const no_queries[] = {"qn_retain",       "qn_release",       "qn_runtime_close", "qn_device_open",
                                           "qn_queue_create", "qn_buffer_create", "qn_buffer_map"};
  for (size_t e = 0; e < ENTRIES; e++) {
    bool is_query = true;
    for (size_t i = 0; i < sizeof no_queries / sizeof *no_queries; i++)
      is_query &= strcmp(entries[e].name, no_queries[i]) != 0;
    for (size_t i = 0; i < 4 && is_query; i++)
      for (int round = 0; round < 1000; round++) {
        qn_status status = entries[e].call(all[i]);
        (void)status; /* what it says is another test's business */
      }
  }
  for (size_t i = 0; i < 4; i++) {
    OK(qn_release(all[i])); /* one release ends each */
    FAILS(qn_release(all[i]), QN_ERROR_INVALID_HANDLE, "stale");
  }
}

static void test_L3_a_surplus_release_takes_nothing_from_children(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  OK(qn_retain(t.device));
  OK(qn_release(t.device));
  OK(qn_release(t.device));
  for (int i = 0; i < 10; i++) FAILS(qn_release(t.device), QN_ERROR_INVALID_HANDLE, "stale");
  qn_buffer own = NULL;
  FAILS(qn_buffer_create(t.device, &some_buffer, &own), QN_ERROR_INVALID_HANDLE, "device");
  OK(qn_queue_finish(queue, SECOND)); /* the device lives on for the queue's sake */
  OK(qn_release(queue));
  OK(qn_runtime_close(t.runtime, SECOND));
}

static void kinds_are_told(void **state) {
  (void)state;
  uint32_t kind = 0;
  OK(qn_handle_kind(live.t.runtime, &kind));
  assert_int_equal(kind, QN_KIND_RUNTIME);
  OK(qn_handle_kind(live.t.device, &kind));
  assert_int_equal(kind, QN_KIND_DEVICE);
  OK(qn_handle_kind(live.queue, &kind));
  assert_int_equal(kind, QN_KIND_QUEUE);
  OK(qn_handle_kind(live.buffer, &kind));
  assert_int_equal(kind, QN_KIND_BUFFER);
  FAILS(qn_handle_kind(live.buffer, NULL), QN_ERROR_INVALID_ARGUMENT, "out_kind is NULL");
}

static void native_handles_are_told_where_there_are_some(void **state) {
  (void)state;
  uint64_t native = 0;
  OK(qn_native_handle(live.buffer, 0, &native));
  assert_true(native != 0);
  FAILS(qn_native_handle(live.buffer, 9, &native), QN_ERROR_UNSUPPORTED, "null");
  OK(qn_native_handle(live.queue, 0, &native));
  FAILS(qn_native_handle(live.queue, 9, &native), QN_ERROR_UNSUPPORTED, "null");
  FAILS(qn_native_handle(live.t.runtime, 0, &native), QN_ERROR_UNSUPPORTED, "runtime");
  FAILS(qn_native_handle(live.buffer, 0, NULL), QN_ERROR_INVALID_ARGUMENT, "out_native is NULL");
}

/* ---- Orders of release -------------------------------------------------------------------------- */

static void release_in_order(const int order[4]) {
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 16);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  qn_point point = {0, 0};
  for (int i = 0; i < 20; i++) OK(qn_fill(queue, &view, "x", 1, &point));
  const void *all[] = {t.runtime, t.device, queue, buffer};
  for (int i = 0; i < 4; i++) OK(qn_release(all[order[i]]));
  OK(qn_point_wait(&point, 10 * SECOND)); /* work in flight goes on to its end */
}

static void test_L3_every_order_of_release_is_right(void **state) {
  (void)state;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++)
      for (int c = 0; c < 4; c++) {
        if (a == b || a == c || b == c) continue;
        const int order[4] = {a, b, c, 6 - a - b - c};
        release_in_order(order);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L2_the_table_lists_every_entry_point),
      cmocka_unit_test(test_L2_stale_handles_are_refused_everywhere),
      cmocka_unit_test(test_L2_null_is_refused_everywhere_but_in_release),
      cmocka_unit_test(test_L2_foreign_addresses_are_refused_everywhere),
      cmocka_unit_test(test_L2_handles_of_another_kind_are_refused_everywhere),
      cmocka_unit_test(test_L2_a_million_forged_handles_are_refused),
      cmocka_unit_test(test_L3_no_query_changes_a_count),
      cmocka_unit_test(test_L3_a_surplus_release_takes_nothing_from_children),
      cmocka_unit_test(kinds_are_told),
      cmocka_unit_test(native_handles_are_told_where_there_are_some),
      cmocka_unit_test(test_L3_every_order_of_release_is_right),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
