/* costs.c - measures what each function of quern.h costs its caller, and prints lines for test_costs.py, which compares them
 * with what the header promises:
 *
 *   cost NAME PHASE allocations locks system-calls driver-calls
 *
 * PHASE: first (the function's first call in this process), warm (the most of several later calls, each alone and with nothing
 * else to do), failure (a stale handle). `lock ADDRESS` tells which lock a launch takes, one line a queue. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/entries.h"
#include "interposer.h"

enum { WARM = 5, REPEATS = 20 };

/* ---- The world ---------------------------------------------------------------------------------- */

#define DEVICE "counting"

static struct {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue, timed;
  qn_device check; /* for images: what they hold suits it. Its driver's calls are not counted */
  qn_queue check_queue;
  qn_buffer check_buffer;
  qn_kernel check_kernel;
  qn_buffer buffer, other;
  qn_program program;
  qn_kernel kernel;
  qn_point done, timed_done;
  qn_artifact image;
  /* What a call made, or is to end. */
  const void *object;
  qn_runtime old;
  void *mapped;
  int32_t descriptor;
} w;

static qn_view view_of(qn_buffer buffer) { return test_view(buffer, 0, QN_WHOLE); }

/* Until all that was released is destroyed and the reaper sleeps again. */
static void settle(void) {
  OK(qn_queue_finish(w.queue, PATIENCE));
  for (int i = 0; i < 10000 && test_statistics(w.device).awaiting_release > 0; i++) usleep(1000);
  usleep(100);
}

static void finish(void) { OK(qn_queue_finish(w.queue, PATIENCE)); }

static void finish_check(void) { OK(qn_queue_finish(w.check_queue, PATIENCE)); }

static void drop(void) {
  if (w.object) OK(qn_release(w.object));
  w.object = NULL;
  settle();
}

/* What the queue's next buffer gets. */
static void drop_at_once(void) {
  if (w.object) OK(qn_release(w.object));
  w.object = NULL;
}

static void drop_device(void) {
  OK(qn_release(w.object));
  w.object = NULL;
  usleep(2000); /* the keeper closes it */
}

/* ---- Calls that need something made before, or ended after --------------------------------------- */

static void make_buffer(void) {
  qn_buffer buffer = test_buffer(w.device, 64);
  w.object = buffer;
}
static void make_queue(void) {
  qn_queue queue = test_queue(w.device);
  w.object = queue;
}
static void make_runtime(void) { OK(qn_runtime_open(NULL, &w.old)); }
static void map_buffer(void) {
  qn_view view = view_of(w.buffer);
  OK(qn_buffer_map(&view, QN_MAP_READ, QN_FOREVER, &w.mapped));
}
static void unmap_buffer(void) {
  if (w.mapped) OK(qn_buffer_unmap(w.buffer, w.mapped));
  w.mapped = NULL;
}
static void close_descriptor(void) {
  usleep(2000); /* the callback's thread is done with it */
  close(w.descriptor);
}
static void pause_for_callback(void) { usleep(2000); }
static void drop_retained(void) { OK(qn_release(w.buffer)); }
static void close_runtime(void) { OK(qn_runtime_close(w.old, PATIENCE)); }
static void fill_twice(void) {
  qn_view view = view_of(w.other);
  OK(qn_fill(w.timed, &view, "x", 1, NULL));
  OK(qn_fill(w.timed, &view, "x", 1, &w.timed_done));
  OK(qn_queue_finish(w.timed, PATIENCE));
}

/* ---- The table ---------------------------------------------------------------------------------- */

#define DO(name, expression) \
  static qn_status do_##name(void) { return expression; }
#define DO_NOTHING_FAILS(name, expression) \
  static qn_status do_##name(void) {       \
    (void)(expression);                    \
    return QN_OK;                          \
  }

static qn_device_info device_info = {.struct_size = sizeof device_info};
static qn_adapter_info adapter_info = {.struct_size = sizeof adapter_info};
static qn_device_statistics statistics = {.struct_size = sizeof statistics};
static qn_memory_statistics memory = {.struct_size = sizeof memory};
static qn_buffer_info buffer_info = {.struct_size = sizeof buffer_info};
static qn_program_info program_info = {.struct_size = sizeof program_info};
static qn_kernel_info kernel_info = {.struct_size = sizeof kernel_info};
static qn_argument_info argument_info = {.struct_size = sizeof argument_info};
static const qn_program_options program_options = {.struct_size = sizeof program_options, .source = entry_source};
static uint32_t number;
static uint64_t wide;
static int64_t elapsed_ns;
static char text[1 << 16];

static qn_status with_view(qn_status (*function)(const qn_view *view)) {
  qn_view view = view_of(w.buffer);
  return function(&view);
}
static qn_status fill_view(const qn_view *view) { return qn_fill(w.queue, view, "x", 1, NULL); }
static qn_status write_view(const qn_view *view) { return qn_write(w.queue, view, entry_source, NULL); }
static qn_status read_view(const qn_view *view) { return qn_read(w.queue, view, read_here, NULL); }
static qn_status create_for_queue(void) {
  const qn_buffer_options options = {.struct_size = sizeof options, .size_bytes = 64, .queue = w.queue};
  return qn_buffer_create(w.device, &options, (qn_buffer *)(void *)&w.object);
}
static qn_status map_view(const qn_view *view) { return qn_buffer_map(view, QN_MAP_READ, QN_FOREVER, &w.mapped); }
static qn_status copy_view(const qn_view *view) {
  qn_view source = view_of(w.other);
  return qn_copy(w.queue, view, &source, NULL);
}
static qn_status unmap_mapped(void) {
  void *mapped = w.mapped;
  w.mapped = NULL;
  return qn_buffer_unmap(w.buffer, mapped);
}
static qn_status release_object(void) {
  const void *object = w.object;
  w.object = NULL;
  return qn_release(object);
}

DO_NOTHING_FAILS(qn_version, qn_version())
DO_NOTHING_FAILS(qn_status_name, qn_status_name(QN_ERROR_LIMIT))
DO_NOTHING_FAILS(qn_error_text, qn_error_text())
DO_NOTHING_FAILS(qn_error_driver_code, qn_error_driver_code())
DO_NOTHING_FAILS(qn_here, (qn_here("file.c", 1), 0))
DO(qn_retain, qn_retain(w.buffer))
DO(qn_release, release_object())
DO(qn_handle_kind, qn_handle_kind(w.buffer, &number))
DO(qn_native_handle, qn_native_handle(w.buffer, 0, &wide))
DO(qn_runtime_open, qn_runtime_open(NULL, &w.old))
DO(qn_runtime_close, qn_runtime_close(w.old, PATIENCE))
DO(qn_adapter_count, qn_adapter_count(w.runtime, &number))
DO(qn_adapter_describe, qn_adapter_describe(w.runtime, 0, &adapter_info))
DO(qn_device_count, qn_device_count(w.runtime, &number))
DO(qn_device_describe, qn_device_describe(w.runtime, 0, &device_info))
DO(qn_device_open, qn_device_open(w.runtime, DEVICE, (qn_device *)(void *)&w.object))
DO(qn_device_query, qn_device_query(w.device, &device_info))
DO(qn_device_drain, qn_device_drain(w.device, PATIENCE))
DO(qn_device_statistics_get, qn_device_statistics_get(w.device, &statistics))
DO(qn_leak_report, qn_leak_report(text, sizeof text, &wide))
DO(qn_memory_configure, qn_memory_configure(w.device, NULL))
DO(qn_memory_trim, qn_memory_trim(w.device, QN_WHOLE, &wide))
DO(qn_memory_statistics_get, qn_memory_statistics_get(w.device, &memory))
DO(qn_memory_snapshot, qn_memory_snapshot(w.device, text, sizeof text, &wide))
DO(qn_queue_create, qn_queue_create(w.device, NULL, (qn_queue *)(void *)&w.object))
DO(qn_queue_last, qn_queue_last(w.queue, &w.done))
DO(qn_queue_wait, qn_queue_wait(w.queue, &w.done, 1))
DO(qn_queue_finish, qn_queue_finish(w.queue, QN_FOREVER))
DO(qn_queue_call, qn_queue_call(w.queue, NULL, call_nothing, NULL))
DO(qn_queue_descriptor, qn_queue_descriptor(w.queue, NULL, &w.descriptor))
DO(qn_point_wait, qn_point_wait(&w.done, QN_FOREVER))
DO(qn_point_elapsed, qn_point_elapsed(&w.timed_done, &w.timed_done, &elapsed_ns))
DO(qn_buffer_create, create_for_queue())
DO(qn_buffer_query, qn_buffer_query(w.buffer, &buffer_info))
DO(qn_buffer_map, with_view(map_view))
DO(qn_buffer_unmap, unmap_mapped())
DO(qn_copy, with_view(copy_view))
DO(qn_fill, with_view(fill_view))
DO(qn_write, with_view(write_view))
DO(qn_read, with_view(read_view))
DO(qn_program_build, qn_program_build(w.device, &program_options, (qn_program *)(void *)&w.object))
DO(qn_program_load, qn_program_load(w.check, w.image.bytes, w.image.size_bytes, (qn_program *)(void *)&w.object))
DO(qn_program_query, qn_program_query(w.program, &program_info))
DO(qn_program_log, qn_program_log(w.program, text, sizeof text))
DO(qn_program_kernel_name, qn_program_kernel_name(w.program, 0, text, sizeof text))
DO(qn_kernel_get, qn_kernel_get(w.program, "k", (qn_kernel *)(void *)&w.object))
DO(qn_kernel_query, qn_kernel_query(w.kernel, &kernel_info))
DO(qn_kernel_argument, qn_kernel_argument(w.kernel, 0, &argument_info))
DO(qn_launch, qn_launch(w.queue, w.kernel, QN_RANGE_1D(1), QN_ARGS(w.buffer), NULL))
DO(qn_launch_image,
   qn_launch_image(w.check_queue, w.image.bytes, w.image.size_bytes, 0, QN_RANGE_1D(1), QN_ARGS(w.check_buffer), NULL))

/* What qn_launch_image is compared with: the device's own part is the same. */
DO(launch_on_check, qn_launch(w.check_queue, w.check_kernel, QN_RANGE_1D(1), QN_ARGS(w.check_buffer), NULL))

typedef struct measure {
  const char *name;
  qn_status (*call)(void);
  void (*before)(void); /* each call, not measured; may be NULL */
  void (*after)(void);
} measure;

#define MEASURE(name, before, after) {#name, do_##name, before, after}
/* In the order in which a program would call them for the first time. Without any object: */
static const measure of_library[] = {
    MEASURE(qn_version, NULL, NULL),
    MEASURE(qn_status_name, NULL, NULL),
    MEASURE(qn_error_text, NULL, NULL),
    MEASURE(qn_error_driver_code, NULL, NULL),
    MEASURE(qn_here, NULL, NULL),
    MEASURE(qn_runtime_open, NULL, close_runtime),
    MEASURE(qn_runtime_close, make_runtime, NULL),
};
/* With a runtime: */
static const measure of_runtime[] = {
    MEASURE(qn_device_open, NULL, drop_device), MEASURE(qn_adapter_count, NULL, NULL),
    MEASURE(qn_adapter_describe, NULL, NULL),   MEASURE(qn_device_count, NULL, NULL),
    MEASURE(qn_device_describe, NULL, NULL),
};
/* With all objects: */
static const measure of_objects[] = {
    MEASURE(qn_device_query, NULL, NULL),
    MEASURE(qn_device_statistics_get, NULL, NULL),
    MEASURE(qn_queue_create, settle, drop),
    MEASURE(qn_buffer_create, NULL, drop_at_once),
    MEASURE(qn_retain, NULL, drop_retained),
    MEASURE(qn_release, make_buffer, settle),
    MEASURE(qn_release, make_queue, settle),
    MEASURE(qn_handle_kind, NULL, NULL),
    MEASURE(qn_native_handle, NULL, NULL),
    MEASURE(qn_buffer_query, NULL, NULL),
    MEASURE(qn_fill, finish, finish),
    MEASURE(qn_copy, finish, finish),
    MEASURE(qn_write, finish, finish),
    MEASURE(qn_read, finish, finish),
    MEASURE(qn_buffer_map, finish, unmap_buffer),
    MEASURE(qn_buffer_unmap, map_buffer, NULL),
    MEASURE(qn_memory_configure, settle, NULL),
    MEASURE(qn_memory_trim, settle, NULL),
    MEASURE(qn_memory_statistics_get, NULL, NULL),
    MEASURE(qn_memory_snapshot, NULL, NULL),
    MEASURE(qn_program_build, settle, drop),
    MEASURE(qn_program_load, settle, drop),
    MEASURE(qn_program_query, NULL, NULL),
    MEASURE(qn_program_log, NULL, NULL),
    MEASURE(qn_program_kernel_name, NULL, NULL),
    MEASURE(qn_kernel_get, settle, drop),
    MEASURE(qn_kernel_query, NULL, NULL),
    MEASURE(qn_kernel_argument, NULL, NULL),
    MEASURE(qn_launch, finish, finish),
    MEASURE(qn_launch_image, finish_check, finish_check),
    MEASURE(launch_on_check, finish_check, finish_check),
    MEASURE(qn_queue_last, finish, NULL),
    MEASURE(qn_queue_wait, finish, NULL),
    MEASURE(qn_queue_finish, finish, NULL),
    MEASURE(qn_point_wait, finish, NULL),
    MEASURE(qn_point_elapsed, fill_twice, NULL),
    MEASURE(qn_queue_call, finish, pause_for_callback),
    MEASURE(qn_queue_descriptor, finish, close_descriptor),
    MEASURE(qn_device_drain, settle, NULL),
};
/* In a process of its own, which looks for leaks. */
static const measure of_leaks[] = {MEASURE(qn_leak_report, NULL, NULL)};

/* ---- Measuring ---------------------------------------------------------------------------------- */

static void print_counts(const char *name, const char *phase, const cost_counts *c) {
  printf("cost %s %s %u %u %u %u\n", name, phase, c->allocations, c->locks, c->system_calls, c->driver_calls);
}

static cost_counts call_once(const measure *m) {
  if (m->before) m->before();
  costs_begin();
  qn_status status = m->call();
  cost_counts counts = costs_end();
  if (status != QN_OK) fail_msg("%s gave %s: %s", m->name, qn_status_name(status), qn_error_text());
  if (m->after) m->after();
  return counts;
}

static void raise_to(uint32_t *most, uint32_t n) { *most = *most > n ? *most : n; }

static void measure_function(const measure *m) {
  cost_counts first = call_once(m), most = {0};
  for (int i = 0; i < WARM; i++) call_once(m);
  for (int i = 0; i < REPEATS; i++) {
    cost_counts c = call_once(m);
    raise_to(&most.allocations, c.allocations);
    raise_to(&most.locks, c.locks);
    raise_to(&most.system_calls, c.system_calls);
    raise_to(&most.driver_calls, c.driver_calls);
  }
  print_counts(m->name, "first", &first);
  print_counts(m->name, "warm", &most);
}

#define MEASURE_ALL(table) measure_table((table), sizeof(table) / sizeof *(table))
static void measure_table(const measure *table, size_t count) {
  for (size_t i = 0; i < count; i++) measure_function(&table[i]);
}

static void make_objects(void) {
  qn_queue_options timed = QN_INIT(qn_queue_options);
  qn_build_options image = QN_INIT(qn_build_options);
  OK(qn_device_open(w.runtime, DEVICE, &w.device));
  w.queue = test_queue(w.device);
  timed.flags = QN_QUEUE_TIMED;
  OK(qn_queue_create(w.device, &timed, &w.timed));
  w.buffer = test_buffer(w.device, 64);
  w.other = test_buffer(w.device, 64);
  OK(qn_program_build(w.device, &program_options, &w.program));
  OK(qn_kernel_get(w.program, "k", &w.kernel));
  OK(qn_device_open(w.runtime, "check", &w.check));
  w.check_queue = test_queue(w.check);
  w.check_buffer = test_buffer(w.check, 64);
  qn_program program = NULL;
  OK(qn_program_build(w.check, &program_options, &program));
  OK(qn_kernel_get(program, "k", &w.check_kernel));
  image.kind = QN_ARTIFACT_IMAGE;
  image.source = entry_source;
  image.target = "opencl"; /* the IR alone */
  image.name = "costs";
  w.image = (qn_artifact)QN_INIT(qn_artifact);
  OK(qn_build(&image, &w.image));
}

static void measure_failures(const void *stale) {
  for (int i = 0; i < ENTRIES; i++) {
    costs_begin();
    qn_status status = entries[i].call(stale);
    cost_counts counts = costs_end();
    if (status == QN_OK) fail_msg("%s took a stale handle", entries[i].name);
    print_counts(entries[i].name, "failure", &counts);
  }
}

static void print_lock_of(qn_queue queue) {
  costs_begin();
  OK(qn_launch(queue, w.kernel, QN_RANGE_1D(1), QN_ARGS(w.buffer), NULL));
  (void)costs_end();
  OK(qn_queue_finish(queue, PATIENCE));
  costs_begin();
  OK(qn_launch(queue, w.kernel, QN_RANGE_1D(1), QN_ARGS(w.buffer), NULL)); /* the buffer is this queue's by now */
  cost_counts counts = costs_end();
  printf("lock %u %p\n", counts.locks, costs_last_lock());
  OK(qn_queue_finish(queue, PATIENCE));
}

static void measure_all(void) {
  MEASURE_ALL(of_library);
  OK(qn_runtime_open(NULL, &w.runtime));
  MEASURE_ALL(of_runtime);
  make_objects();
  MEASURE_ALL(of_objects);
  print_lock_of(w.queue);
  print_lock_of(test_queue(w.device));
}

static void measure_all_failures(void) {
  entries_open(DEVICE);
  qn_buffer stale = test_buffer(live.t.device, 64);
  OK(qn_release(stale));
  measure_failures(stale);
  entries_close();
}

int main(int count, char **arguments) {
  const char *mode = count == 2 ? arguments[1] : "";
  bool looks_for_leaks = strcmp(mode, "--leaks") == 0;
  setenv("QUERN_CHECK", looks_for_leaks ? "costs,leaks" : "costs", 1);
  setenv("QUERN_NULL", "kernels=1", 1);
  if (strcmp(mode, "--system") == 0) {
    costs_print_system();
  } else if (looks_for_leaks) {
    MEASURE_ALL(of_leaks);
  } else {
    measure_all();
    measure_all_failures();
    OK(qn_runtime_close(w.runtime, PATIENCE));
    qn_artifact_free(&w.image);
  }
  return 0;
}
