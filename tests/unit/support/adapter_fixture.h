/* adapter_fixture.h - an adapter through its own table: a host for it, and short ways to make programs, kernels, memory and
 * commands. No core, no compiler of ours. Before it is included,
 *   FIXTURE_ADAPTER   is the adapter's name, "opencl"
 *   FIXTURE_VARIABLE  the variable that names the driver's library, "QUERN_OPENCL_LIBRARY"
 *   FIXTURE_CODE      the kind of its programs, QN_CODE_OPENCL_C */
#ifndef QUERN_TESTS_ADAPTER_FIXTURE_H
#define QUERN_TESTS_ADAPTER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "quern/adapter.h"

/* Under a sanitizer too, too much memory is an error and not the end. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* ---- The host ----------------------------------------------------------------------------------- */

static _Thread_local char error_text[4096];
static _Thread_local qn_status error_status;
static _Thread_local int64_t error_code;
static const char *fixture_library; /* what FIXTURE_VARIABLE is for the adapter; NULL: the system's */

static qn_status fixture_set_error(qn_status status, int64_t code, const char *text) {
  snprintf(error_text, sizeof error_text, "%s", text);
  error_status = status;
  error_code = code;
  return status;
}
static void fixture_log(const char *text) {
  if (getenv("QUERN_LOG")) fprintf(stderr, "%s\n", text);
}
static const char *fixture_environment(const char *name) {
  if (strcmp(name, FIXTURE_VARIABLE) == 0 && fixture_library) return fixture_library;
  return getenv(name);
}
/* What the adapter wants to be called when the process exits: one call, and how often it was given. */
static void (*fixture_told)(void *user);
static void *fixture_told_user;
static _Atomic uint32_t fixture_tellings;

static qn_status fixture_at_exit(void (*call)(void *user), void *user) {
  fixture_told = call;
  fixture_told_user = user;
  fixture_tellings++;
  return QN_OK;
}
static const qn_adapter_host fixture_host = {.struct_size = sizeof fixture_host,
                                             .abi_version = QN_ADAPTER_ABI_VERSION,
                                             .set_error = fixture_set_error,
                                             .log = fixture_log,
                                             .environment = fixture_environment,
                                             .at_exit = fixture_at_exit};

static const qn_adapter_table *table; /* the adapter's */
static qn_adapter_instance *instance;
static qn_adapter_device *device;
static qn_adapter_device_info device_info;

static inline void fixture_load(void) {
  void *library = dlopen(QUERN_BINARY_DIR "/libquern-adapter-" FIXTURE_ADAPTER ".so", RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  qn_adapter_entry_fn entry;
  *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  assert_non_null(entry);
  table = entry(QN_ADAPTER_ABI_VERSION);
}

#define expect_ok(call)                                                                          \
  do {                                                                                           \
    if ((call) != QN_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", #call, error_text); /* cmocka says nothing of other threads */ \
      fail_msg("%s: %s", #call, error_text);                                                     \
    }                                                                                            \
  } while (0)

static inline void open_device(uint32_t index) {
  if (!instance) expect_ok(table->instance_open(&fixture_host, &instance));
  expect_ok(table->device_describe(instance, index, &device_info));
  expect_ok(table->device_open(instance, index, &device));
}
static inline void close_device(void) {
  expect_ok(table->device_close(device));
  device = NULL;
}
static inline void close_instance(void) {
  expect_ok(table->instance_close(instance));
  instance = NULL;
}

static inline uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static inline void sleep_ms(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

/* ---- Programs and kernels ----------------------------------------------------------------------- */

static inline qn_status try_program(uint32_t kind, const void *bytes, size_t size, qn_adapter_program **out) {
  const qn_adapter_code code = {.struct_size = sizeof code, .kind = kind, .bytes = bytes, .size_bytes = size};
  return table->program_create(device, &code, out);
}
static inline qn_adapter_program *make_program(const char *source) {
  qn_adapter_program *program = NULL;
  expect_ok(try_program(FIXTURE_CODE, source, strlen(source), &program));
  return program;
}

/* `shape`: a letter for each parameter: b a buffer, l local memory, 4 and 8 values of so many bytes, s one of 24; then r
 * when the entry takes the range. */
static inline qn_status try_kernel(qn_adapter_program *program, const char *name, const char *shape,
                                   qn_adapter_kernel **out, qn_adapter_kernel_info *info) {
  qn_adapter_parameter parameters[16] = {{0}};
  qn_adapter_kernel_description d = {.struct_size = sizeof d, .name = name, .symbol = name, .parameters = parameters};
  for (; *shape; shape++) {
    qn_adapter_parameter *p = &parameters[d.parameter_count];
    if (*shape == 'r') {
      d.entry_flags = QN_ENTRY_RANGE;
      continue;
    }
    p->alignment = *shape == 'l' ? 4 : 0;
    p->kind = *shape == 'b' ? QN_ARGUMENT_BUFFER : *shape == 'l' ? QN_ARGUMENT_LOCAL : QN_ARGUMENT_VALUE;
    p->size_bytes = *shape == '4' ? 4 : *shape == '8' ? 8 : *shape == 's' ? 24 : 0;
    d.parameter_count++;
  }
  *info = (qn_adapter_kernel_info){.struct_size = sizeof *info};
  return table->kernel_create(device, program, &d, out, info);
}
static inline qn_adapter_kernel *make_kernel(qn_adapter_program *program, const char *name, const char *shape) {
  qn_adapter_kernel *kernel = NULL;
  qn_adapter_kernel_info info;
  expect_ok(try_kernel(program, name, shape, &kernel, &info));
  return kernel;
}

static inline qn_launch_argument buffer_argument(qn_adapter_memory *memory, uint64_t offset) {
  return (qn_launch_argument){.kind = QN_ARGUMENT_BUFFER, .memory = memory, .offset_bytes = offset};
}
static inline qn_launch_argument value_argument(const void *bytes, uint64_t size) {
  return (qn_launch_argument){.kind = QN_ARGUMENT_VALUE, .bytes = bytes, .size_bytes = size};
}
static inline qn_launch_argument local_argument(uint64_t size) {
  return (qn_launch_argument){.kind = QN_ARGUMENT_LOCAL, .size_bytes = size};
}
static inline qn_launch_record launch_1d(qn_adapter_kernel *kernel, uint64_t global, uint64_t local,
                                         const qn_launch_argument *arguments, uint32_t count) {
  return (qn_launch_record){.struct_size = sizeof(qn_launch_record),
                            .dimensions = 1,
                            .global = {global, 1, 1},
                            .local = {local, 1, 1},
                            .kernel = kernel,
                            .arguments = arguments,
                            .argument_count = count};
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static inline qn_status try_memory(uint32_t kind, uint64_t size, void *host, qn_adapter_memory **out,
                                   qn_adapter_memory_info *info) {
  const qn_adapter_memory_request request = {
      .struct_size = sizeof request, .memory = kind, .size_bytes = size, .alignment = 1, .host_pointer = host};
  *info = (qn_adapter_memory_info){.struct_size = sizeof *info};
  return table->memory_create(device, &request, out, info);
}
static inline qn_adapter_memory *make_memory(uint64_t size) {
  qn_adapter_memory *memory = NULL;
  qn_adapter_memory_info info;
  expect_ok(try_memory(QN_MEMORY_DEVICE, size, NULL, &memory, &info));
  return memory;
}
static inline void drop_memory(qn_adapter_memory *memory) { expect_ok(table->memory_destroy(device, memory)); }

/* ---- Queues ------------------------------------------------------------------------------------- */

typedef struct stream {
  qn_adapter_queue *queue;
  uint64_t value; /* last submitted */
} stream;

static inline stream make_stream(uint64_t flags) {
  static _Atomic uint64_t id;
  const qn_adapter_queue_options options = {.struct_size = sizeof options, .flags = flags, .id = ++id};
  stream s = {NULL, 0};
  expect_ok(table->queue_create(device, &options, &s.queue));
  return s;
}
static inline void drop_stream(stream *s) { expect_ok(table->queue_destroy(device, s->queue)); }

static inline qn_status try_submit(stream *s, qn_adapter_command command) {
  command.struct_size = sizeof command;
  command.value = s->value + 1;
  qn_status status = table->queue_submit(s->queue, &command, 1);
  if (status == QN_OK) s->value++;
  return status;
}
/* Submits, waiting while the queue is full, as the core does. */
static inline uint64_t submit(stream *s, qn_adapter_command command) {
  for (;;) {
    uint64_t completed;
    qn_status status = try_submit(s, command);
    if (status == QN_OK) return s->value;
    if (status != QN_NOT_READY) fail_msg("%s", error_text);
    (void)!table->queue_completed(s->queue, &completed);
    if (completed < s->value) expect_ok(table->queue_wait(s->queue, completed + 1, QN_FOREVER));
  }
}
static inline uint64_t submit_launch(stream *s, const qn_launch_record *launch) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = launch});
}
static inline void finish(stream *s) { expect_ok(table->queue_wait(s->queue, s->value, QN_FOREVER)); }

static inline uint64_t write_memory(stream *s, qn_adapter_memory *target, uint64_t offset, const void *source,
                                    uint64_t size) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_WRITE,
                                        .target = target,
                                        .target_offset = offset,
                                        .size_bytes = size,
                                        .host = (void *)(uintptr_t)source});
}
static inline void read_memory(stream *s, qn_adapter_memory *source, uint64_t offset, void *target, uint64_t size) {
  submit(s,
         (qn_adapter_command){
             .kind = QN_COMMAND_READ, .source = source, .source_offset = offset, .size_bytes = size, .host = target});
  finish(s);
}
static inline uint64_t fill_memory(stream *s, qn_adapter_memory *target, uint64_t offset, uint64_t size,
                                   const void *pattern, uint64_t pattern_bytes) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_FILL,
                                        .target = target,
                                        .target_offset = offset,
                                        .size_bytes = size,
                                        .pattern = pattern,
                                        .pattern_bytes = pattern_bytes});
}
static inline uint64_t copy_memory(stream *s, qn_adapter_memory *target, uint64_t target_offset,
                                   qn_adapter_memory *source, uint64_t source_offset, uint64_t size) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_COPY,
                                        .target = target,
                                        .target_offset = target_offset,
                                        .source = source,
                                        .source_offset = source_offset,
                                        .size_bytes = size});
}
static inline uint64_t wait_for(stream *s, const stream *source, uint64_t value) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_WAIT, .wait_queue = source->queue, .wait_value = value});
}

#endif
