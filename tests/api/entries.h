/* entries.h - every function of the public headers, with a call for each handle that it takes.
 *
 * A function that a header declares or libquern.so exports and the tables lack fails test_handles.c: give it a CALL and a
 * line in `entries` for each handle (also those inside structs), or a line in `plain` when it takes none. */
#ifndef QUERN_TEST_ENTRIES_H
#define QUERN_TEST_ENTRIES_H

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "quern/quern_build.h"
#include "support.h"

/* A live object of each kind, for the other arguments of a call. */
static struct {
  test_device t;
  qn_queue queue;
  qn_buffer buffer;
  qn_program program;
  qn_kernel kernel;
} live;

static const char entry_source[] =
    "/* 64 bytes and more, for the writes too */ kernel void k(global int *x) { x[get_global_id(0)] = 1; }\n";
static char read_here[64];

static inline void entries_open(const char *selector) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = entry_source;
  live.t = test_open(selector);
  live.queue = test_queue(live.t.device);
  live.buffer = test_buffer(live.t.device, 64);
  OK(qn_program_build(live.t.device, &o, &live.program));
  OK(qn_kernel_get(live.program, "k", &live.kernel));
}

static inline void entries_close(void) { test_close(&live.t); }

/* All that lives, by kind, children first. */
enum { LIVE_KINDS = 6 };
static inline void entries_live(const void *out[LIVE_KINDS]) {
  const void *all[LIVE_KINDS] = {live.kernel, live.program, live.buffer, live.queue, live.t.device, live.t.runtime};
  memcpy(out, all, sizeof all);
}
static const uint32_t live_kinds[LIVE_KINDS] = {QN_KIND_KERNEL, QN_KIND_PROGRAM, QN_KIND_BUFFER,
                                                QN_KIND_QUEUE,  QN_KIND_DEVICE,  QN_KIND_RUNTIME};

/* ---- Calls -------------------------------------------------------------------------------------- */

static inline const qn_view *as_view(const void *handle, qn_view *view) {
  *view = test_view((qn_buffer)handle, 0, QN_WHOLE);
  return view;
}

static inline void call_nothing(void *user, qn_status status) { (void)user, (void)status; }

/* `h` is the handle in question. What a call made is given back: the tables' calls leave nothing behind. */
#define CALL(name, expression)                                                     \
  static inline qn_status call_##name(const void *h) {                             \
    union {                                                                        \
      qn_adapter_info adapter;                                                     \
      qn_device_info device;                                                       \
      qn_device_statistics statistics;                                             \
      qn_memory_statistics memory;                                                 \
      qn_buffer_info buffer;                                                       \
      qn_program_info program;                                                     \
      qn_kernel_info kernel;                                                       \
      qn_argument_info argument;                                                   \
    } info = {.adapter = {.struct_size = sizeof info}};                            \
    qn_view view = {0}, own = {0};                                                 \
    qn_point point = {0, 0};                                                       \
    qn_argument argument = {0};                                                    \
    qn_buffer_options options = {.struct_size = sizeof options, .size_bytes = 8};  \
    void *mapped = NULL, *made = NULL;                                             \
    uint64_t value = 0;                                                            \
    uint32_t number = 0;                                                           \
    int32_t descriptor = -1;                                                       \
    char text[64] = "";                                                            \
    (void)info, (void)view, (void)own, (void)point, (void)argument, (void)options; \
    (void)mapped, (void)made, (void)value, (void)number, (void)text, (void)h;      \
    qn_status status = expression;                                                 \
    if (status == QN_OK && made) (void)qn_release(made);                           \
    if (status == QN_OK && mapped) (void)!qn_buffer_unmap((qn_buffer)h, mapped);   \
    if (descriptor >= 0) close(descriptor);                                        \
    return status;                                                                 \
  }

static const qn_program_options some_program = {.struct_size = sizeof some_program, .source = entry_source};
static const qn_range some_range = {.struct_size = sizeof some_range, .dimensions = 1, .global = {1, 1, 1}};
static const qn_build_options some_build = {
    .struct_size = sizeof some_build, .kind = QN_ARTIFACT_PREPROCESSED, .source = entry_source};

static inline const qn_buffer_options *for_queue(const void *queue, qn_buffer_options *options) {
  options->queue = (qn_queue)queue;
  return options;
}

static inline const qn_argument *as_argument(const void *buffer, qn_argument *argument) {
  *argument = qn_arg_buffer((qn_buffer)buffer);
  return argument;
}

CALL(qn_retain, (made = (void *)(uintptr_t)h, qn_retain(h)))
CALL(qn_release, qn_release(h))
CALL(qn_handle_kind, qn_handle_kind(h, &number))
CALL(qn_native_handle, qn_native_handle(h, 0, &value))
CALL(qn_runtime_close, qn_runtime_close((qn_runtime)h, QN_POLL))
CALL(qn_adapter_count, qn_adapter_count((qn_runtime)h, &number))
CALL(qn_adapter_describe, qn_adapter_describe((qn_runtime)h, 0, &info.adapter))
CALL(qn_device_count, qn_device_count((qn_runtime)h, &number))
CALL(qn_device_describe, qn_device_describe((qn_runtime)h, 0, &info.device))
CALL(qn_device_open, qn_device_open((qn_runtime)h, "null", (qn_device *)(void *)&made))
CALL(qn_device_query, qn_device_query((qn_device)h, &info.device))
CALL(qn_device_drain, qn_device_drain((qn_device)h, QN_POLL))
CALL(qn_device_statistics_get, qn_device_statistics_get((qn_device)h, &info.statistics))
CALL(qn_memory_configure, qn_memory_configure((qn_device)h, NULL))
CALL(qn_memory_trim, qn_memory_trim((qn_device)h, QN_WHOLE, &value))
CALL(qn_memory_statistics_get, qn_memory_statistics_get((qn_device)h, &info.memory))
CALL(qn_memory_snapshot, qn_memory_snapshot((qn_device)h, text, sizeof text, &value))
CALL(qn_queue_create, qn_queue_create((qn_device)h, NULL, (qn_queue *)(void *)&made))
CALL(qn_buffer_create, qn_buffer_create((qn_device)h, &options, (qn_buffer *)(void *)&made))
CALL(qn_buffer_create_queue, qn_buffer_create(live.t.device, for_queue(h, &options), (qn_buffer *)(void *)&made))
CALL(qn_program_build, qn_program_build((qn_device)h, &some_program, (qn_program *)(void *)&made))
CALL(qn_program_load, qn_program_load((qn_device)h, entry_source, sizeof entry_source, (qn_program *)(void *)&made))
CALL(qn_queue_last, qn_queue_last((qn_queue)h, &point))
CALL(qn_queue_wait, qn_queue_wait((qn_queue)h, &point, 1))
CALL(qn_queue_finish, qn_queue_finish((qn_queue)h, QN_POLL))
CALL(qn_queue_call, qn_queue_call((qn_queue)h, NULL, call_nothing, NULL))
CALL(qn_queue_descriptor, qn_queue_descriptor((qn_queue)h, NULL, &descriptor))
CALL(qn_buffer_query, qn_buffer_query((qn_buffer)h, &info.buffer))
CALL(qn_buffer_map, qn_buffer_map(as_view(h, &view), QN_MAP_READ, QN_FOREVER, &mapped))
CALL(qn_buffer_unmap, qn_buffer_unmap((qn_buffer)h, text))
CALL(qn_copy, qn_copy((qn_queue)h, as_view(live.buffer, &view), as_view(live.buffer, &own), &point))
CALL(qn_copy_target, qn_copy(live.queue, as_view(h, &view), as_view(live.buffer, &own), &point))
CALL(qn_copy_source, qn_copy(live.queue, as_view(live.buffer, &own), as_view(h, &view), &point))
CALL(qn_fill, qn_fill((qn_queue)h, as_view(live.buffer, &view), "x", 1, &point))
CALL(qn_fill_target, qn_fill(live.queue, as_view(h, &view), "x", 1, &point))
CALL(qn_write, qn_write((qn_queue)h, as_view(live.buffer, &view), entry_source, &point))
CALL(qn_write_target, qn_write(live.queue, as_view(h, &view), entry_source, &point))
CALL(qn_read, qn_read((qn_queue)h, as_view(live.buffer, &view), read_here, &point))
CALL(qn_read_source, qn_read(live.queue, as_view(h, &view), read_here, &point))
CALL(qn_program_query, qn_program_query((qn_program)h, &info.program))
CALL(qn_program_log, qn_program_log((qn_program)h, text, sizeof text))
CALL(qn_program_kernel_name, qn_program_kernel_name((qn_program)h, 0, text, sizeof text))
CALL(qn_kernel_get, qn_kernel_get((qn_program)h, "k", (qn_kernel *)(void *)&made))
CALL(qn_kernel_query, qn_kernel_query((qn_kernel)h, &info.kernel))
CALL(qn_kernel_argument, qn_kernel_argument((qn_kernel)h, 0, &info.argument))
CALL(qn_launch, qn_launch((qn_queue)h, live.kernel, &some_range, as_argument(live.buffer, &argument), 1, &point))
CALL(qn_launch_kernel, qn_launch(live.queue, (qn_kernel)h, &some_range, as_argument(live.buffer, &argument), 1, &point))
CALL(qn_launch_argument, qn_launch(live.queue, live.kernel, &some_range, as_argument(h, &argument), 1, &point))
CALL(qn_launch_image, qn_launch_image((qn_queue)h, entry_source, sizeof entry_source, 0, &some_range,
                                      as_argument(live.buffer, &argument), 1, &point))

/* ---- The tables --------------------------------------------------------------------------------- */

enum {
  TAKES_NULL = 1, /* NULL is no error there */
  ENDS = 2,       /* it may end the object */
  MAKES = 4,      /* it makes an object, or work */
  READS = 8,      /* a query: it changes nothing */
  JOINS = 16      /* the call names other objects too, which must be of the same runtime */
};

/* One handle of a function. `kind` is what it must be; QN_KIND_NONE: any. */
typedef struct entry {
  const char *name;
  qn_status (*call)(const void *h);
  uint32_t kind;
  uint32_t traits;
} entry;

#define ENTRY(name, kind, traits) {#name, call_##name, kind, traits}
#define ENTRY_ALSO(name, which, kind, traits) {#name, call_##name##_##which, kind, traits}
static const entry entries[] = {
    ENTRY(qn_retain, QN_KIND_NONE, 0),
    ENTRY(qn_release, QN_KIND_NONE, ENDS | TAKES_NULL),
    ENTRY(qn_handle_kind, QN_KIND_NONE, READS),
    ENTRY(qn_native_handle, QN_KIND_NONE, READS),
    ENTRY(qn_runtime_close, QN_KIND_RUNTIME, ENDS),
    ENTRY(qn_adapter_count, QN_KIND_RUNTIME, READS),
    ENTRY(qn_adapter_describe, QN_KIND_RUNTIME, READS),
    ENTRY(qn_device_count, QN_KIND_RUNTIME, READS),
    ENTRY(qn_device_describe, QN_KIND_RUNTIME, READS),
    ENTRY(qn_device_open, QN_KIND_RUNTIME, MAKES),
    ENTRY(qn_device_query, QN_KIND_DEVICE, READS),
    ENTRY(qn_device_drain, QN_KIND_DEVICE, 0),
    ENTRY(qn_device_statistics_get, QN_KIND_DEVICE, READS),
    ENTRY(qn_memory_configure, QN_KIND_DEVICE, 0),
    ENTRY(qn_memory_trim, QN_KIND_DEVICE, 0),
    ENTRY(qn_memory_statistics_get, QN_KIND_DEVICE, READS),
    ENTRY(qn_memory_snapshot, QN_KIND_DEVICE, READS),
    ENTRY(qn_queue_create, QN_KIND_DEVICE, MAKES),
    ENTRY(qn_buffer_create, QN_KIND_DEVICE, MAKES),
    ENTRY_ALSO(qn_buffer_create, queue, QN_KIND_QUEUE, MAKES | JOINS | TAKES_NULL),
    ENTRY(qn_program_build, QN_KIND_DEVICE, MAKES),
    ENTRY(qn_program_load, QN_KIND_DEVICE, MAKES),
    ENTRY(qn_queue_last, QN_KIND_QUEUE, READS),
    ENTRY(qn_queue_wait, QN_KIND_QUEUE, 0),
    ENTRY(qn_queue_finish, QN_KIND_QUEUE, READS),
    ENTRY(qn_queue_call, QN_KIND_QUEUE, MAKES),
    ENTRY(qn_queue_descriptor, QN_KIND_QUEUE, MAKES),
    ENTRY(qn_buffer_query, QN_KIND_BUFFER, READS),
    ENTRY(qn_buffer_map, QN_KIND_BUFFER, 0),
    ENTRY(qn_buffer_unmap, QN_KIND_BUFFER, 0),
    ENTRY(qn_copy, QN_KIND_QUEUE, MAKES | JOINS),
    ENTRY_ALSO(qn_copy, target, QN_KIND_BUFFER, MAKES | JOINS),
    ENTRY_ALSO(qn_copy, source, QN_KIND_BUFFER, MAKES | JOINS),
    ENTRY(qn_fill, QN_KIND_QUEUE, MAKES | JOINS),
    ENTRY_ALSO(qn_fill, target, QN_KIND_BUFFER, MAKES | JOINS),
    ENTRY(qn_write, QN_KIND_QUEUE, MAKES | JOINS),
    ENTRY_ALSO(qn_write, target, QN_KIND_BUFFER, MAKES | JOINS),
    ENTRY(qn_read, QN_KIND_QUEUE, MAKES | JOINS),
    ENTRY_ALSO(qn_read, source, QN_KIND_BUFFER, MAKES | JOINS),
    ENTRY(qn_program_query, QN_KIND_PROGRAM, READS),
    ENTRY(qn_program_log, QN_KIND_PROGRAM, READS),
    ENTRY(qn_program_kernel_name, QN_KIND_PROGRAM, READS),
    ENTRY(qn_kernel_get, QN_KIND_PROGRAM, MAKES),
    ENTRY(qn_kernel_query, QN_KIND_KERNEL, READS),
    ENTRY(qn_kernel_argument, QN_KIND_KERNEL, READS),
    ENTRY(qn_launch, QN_KIND_QUEUE, MAKES | JOINS),
    ENTRY_ALSO(qn_launch, kernel, QN_KIND_KERNEL, MAKES | JOINS),
    ENTRY(qn_launch_image, QN_KIND_QUEUE, MAKES),
    ENTRY_ALSO(qn_launch, argument, QN_KIND_BUFFER, MAKES | JOINS | TAKES_NULL),
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Functions without a handle. Those with a call give a status that says whether the library may be used. */
static qn_status open_another(void) {
  qn_runtime runtime = NULL;
  qn_status status = qn_runtime_open(NULL, &runtime);
  if (status == QN_OK) (void)qn_runtime_close(runtime, PATIENCE);
  return status;
}
static const qn_point nothing = {0, 0};
static qn_status wait_for_nothing(void) { return qn_point_wait(&nothing, QN_POLL); }
static qn_status time_nothing(void) {
  int64_t ns = 0;
  return qn_point_elapsed(&nothing, &nothing, &ns);
}
static qn_status build_something(void) {
  qn_artifact artifact = QN_INIT(qn_artifact);
  qn_status status = qn_build(&some_build, &artifact);
  qn_artifact_free(&artifact);
  return status;
}

static qn_status query_cache(void) {
  qn_cache_info cache = QN_INIT(qn_cache_info);
  return qn_cache_query(&cache);
}
static qn_status summarize_cache(void) {
  qn_cache_summary summary = QN_INIT(qn_cache_summary);
  return qn_cache_summarize(&summary);
}
static qn_status count_cache(void) {
  const char *name, *what;
  int64_t counted;
  return qn_cache_counter(0, &name, &what, &counted);
}
static qn_status read_size(void) {
  uint64_t bytes;
  return qn_cache_size("1.5G", &bytes);
}
static int32_t visit_nothing(void *user, const qn_cache_entry *visited) {
  (void)user;
  (void)visited;
  return 0;
}
static qn_status list_cache(void) { return qn_cache_list(visit_nothing, NULL); }

static const struct {
  const char *name;
  qn_status (*call)(void);
} plain[] = {
    {"qn_version", NULL},
    {"qn_status_name", NULL},
    {"qn_error_text", NULL},
    {"qn_error_driver_code", NULL},
    {"qn_here", NULL},
    {"qn_leak_report", NULL},
    {"qn_artifact_free", NULL},
    {"qn_runtime_open", open_another},
    {"qn_point_wait", wait_for_nothing},
    {"qn_point_elapsed", time_nothing},
    {"qn_build", build_something},
    {"qn_outputs_write", NULL}, /* these write files: tests/unit/test_outputs.c and test_store.c */
    {"qn_cache_verify", NULL},
    {"qn_cache_prune", NULL},
    {"qn_cache_clear", NULL},
    {"qn_cache_export", NULL},
    {"qn_cache_import", NULL},
    {"qn_cache_query", query_cache},
    {"qn_cache_summarize", summarize_cache},
    {"qn_cache_counter", count_cache},
    {"qn_cache_size", read_size},
    {"qn_cache_list", list_cache},
};
enum { PLAIN = sizeof plain / sizeof *plain };

static inline bool is_listed(const char *name, size_t length) {
  for (size_t i = 0; i < ENTRIES; i++)
    if (strlen(entries[i].name) == length && memcmp(entries[i].name, name, length) == 0) return true;
  for (size_t i = 0; i < PLAIN; i++)
    if (strlen(plain[i].name) == length && memcmp(plain[i].name, name, length) == 0) return true;
  return false;
}

#endif
