/* cpu_fixture.h - the cpu adapter through its own table: a host for it, objects compiled from C at test time, and short
 * ways to make kernels, memory and commands. For tests of the adapter alone: no core, no compiler of ours. */
#ifndef QUERN_TESTS_CPU_FIXTURE_H
#define QUERN_TESTS_CPU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quern/adapter.h"

/* Under a sanitizer too, too much memory is an error and not the end. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* ---- The host ----------------------------------------------------------------------------------- */

static _Thread_local char cpu_error_text[1024];
static _Thread_local qn_status cpu_error_status;
static qn_status fixture_set_error(qn_status status, int64_t code, const char *text) {
  (void)code;
  snprintf(cpu_error_text, sizeof cpu_error_text, "%s", text);
  cpu_error_status = status;
  return status;
}
static void fixture_log(const char *text) { (void)text; }
static const char *fixture_environment(const char *name) { return getenv(name); }
static const qn_adapter_host fixture_host = {sizeof fixture_host, QN_ADAPTER_ABI_VERSION, fixture_set_error,
                                             fixture_log, fixture_environment};

static const qn_adapter_table *cpu; /* the adapter's */
static qn_adapter_instance *instance;
static qn_adapter_device *device;

static inline void fixture_load(void) {
  void *library = dlopen(QUERN_BINARY_DIR "/libquern-adapter-cpu.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  qn_adapter_entry_fn entry;
  *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  assert_non_null(entry);
  cpu = entry(QN_ADAPTER_ABI_VERSION);
}

/* A device with `threads` workers. */
static inline void open_device(uint32_t threads) {
  char text[16];
  if (!cpu) fixture_load();
  snprintf(text, sizeof text, "%u", threads);
  setenv("QUERN_CPU_THREADS", text, 1);
  assert_int_equal(cpu->instance_open(&fixture_host, &instance), QN_OK);
  assert_int_equal(cpu->device_open(instance, 0, &device), QN_OK);
}
static inline void close_device(void) {
  assert_int_equal(cpu->device_close(device), QN_OK);
  assert_int_equal(cpu->instance_close(instance), QN_OK);
  device = NULL;
  instance = NULL;
}

/* ---- Objects ------------------------------------------------------------------------------------ */

typedef struct object {
  uint8_t *bytes;
  size_t size;
} object;

static inline object read_object(const char *path) {
  object o = {NULL, 0};
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  o.size = (size_t)ftell(file);
  rewind(file);
  o.bytes = malloc(o.size + 1);
  assert_non_null(o.bytes);
  assert_int_equal(fread(o.bytes, 1, o.size, file), o.size);
  fclose(file);
  return o;
}

/* Compiles C to an object with `command` ("gcc -O2 -fPIC"). bytes is NULL when there is no such compiler. */
static inline object compile_with(const char *command, const char *source) {
  char directory[] = "/tmp/quern-test-XXXXXX", path[64], output[64], line[512];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/k.c", directory);
  snprintf(output, sizeof output, "%s/k.o", directory);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("#include \"quern/adapter.h\"\n", file);
  fputs(source, file);
  fclose(file);
  snprintf(line, sizeof line, "%s -w -I%s/include -c %s -o %s", command, QUERN_SOURCE_DIR, path, output);
  int status = system(line);
  object o = {NULL, 0};
  bool missing = WIFEXITED(status) && WEXITSTATUS(status) == 127;
  if (status == 0) o = read_object(output);
  unlink(path);
  unlink(output);
  rmdir(directory);
  if (status != 0 && !missing) fail_msg("%s: exit status %d", line, status);
  return o;
}

/* What every test machine has. Outlined atomics would call the compiler's own library. */
#if defined(__aarch64__)
#define FIXTURE_FLAGS "-O2 -fPIC -ffreestanding -fno-stack-protector -mno-outline-atomics"
#else
#define FIXTURE_FLAGS "-O2 -fPIC -ffreestanding -fno-stack-protector"
#endif
static inline object compile(const char *source) {
  const char *compiler = getenv("CC");
  char command[256];
  snprintf(command, sizeof command, "%s " FIXTURE_FLAGS, compiler ? compiler : "cc");
  object o = compile_with(command, source);
  if (!o.bytes) fail_msg("no C compiler: %s", command);
  return o;
}

static inline qn_status load_object(const void *bytes, size_t size, qn_adapter_program **out) {
  qn_adapter_code code = {sizeof code, QN_CODE_ELF_OBJECT, bytes, size};
  return cpu->program_create(device, &code, out);
}
static inline qn_adapter_program *load(const char *source) {
  object o = compile(source);
  qn_adapter_program *program = NULL;
  if (load_object(o.bytes, o.size, &program) != QN_OK) fail_msg("%s", cpu_error_text);
  free(o.bytes);
  return program;
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

#define MAX_PARAMETERS 8
typedef struct kernel_shape {
  uint32_t count, kinds[MAX_PARAMETERS], sizes[MAX_PARAMETERS]; /* sizes of values */
  uint64_t static_local, scratch_per_item, scratch_per_group;
} kernel_shape;

/* Slots follow each other in steps of 8 bytes, or of the value's size rounded up to 8. */
static inline qn_adapter_kernel *make_kernel(qn_adapter_program *program, const char *symbol, const kernel_shape *s) {
  qn_adapter_parameter parameters[MAX_PARAMETERS] = {{0}};
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    parameters[i] = (qn_adapter_parameter){s->kinds[i], s->sizes[i], 0, at};
    at += s->kinds[i] == QN_ARGUMENT_VALUE ? (s->sizes[i] + 7) / 8 * 8 : 8;
  }
  qn_adapter_kernel_description d = {.struct_size = sizeof d,
                                     .parameter_count = s->count,
                                     .name = symbol,
                                     .symbol = symbol,
                                     .parameters = parameters,
                                     .argument_block_bytes = at,
                                     .static_local_bytes = s->static_local,
                                     .scratch_bytes_per_item = s->scratch_per_item,
                                     .scratch_bytes_per_group = s->scratch_per_group};
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  qn_adapter_kernel *kernel = NULL;
  if (cpu->kernel_create(device, program, &d, &kernel, &info) != QN_OK) fail_msg("%s", cpu_error_text);
  return kernel;
}

static inline qn_launch_argument buffer_argument(qn_adapter_memory *memory, uint64_t size) {
  return (qn_launch_argument){.kind = QN_ARGUMENT_BUFFER, .memory = memory, .size_bytes = size};
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

/* ---- Memory and queues -------------------------------------------------------------------------- */

static inline qn_adapter_memory *make_memory(uint64_t size, void *address_out) {
  qn_adapter_memory_request request = {.struct_size = sizeof request, .size_bytes = size};
  qn_adapter_memory_info info = {.struct_size = sizeof info};
  qn_adapter_memory *memory = NULL;
  if (cpu->memory_create(device, &request, &memory, &info) != QN_OK) fail_msg("%s", cpu_error_text);
  memcpy(address_out, &info.host_pointer, sizeof info.host_pointer);
  memset(info.host_pointer, 0, size);
  return memory;
}
static inline void drop_memory(qn_adapter_memory *memory) {
  assert_int_equal(cpu->memory_destroy(device, memory), QN_OK);
}

typedef struct stream {
  qn_adapter_queue *queue;
  uint64_t value; /* last submitted */
} stream;

static inline stream make_stream(uint64_t flags) {
  static _Atomic uint64_t id;
  qn_adapter_queue_options options = {.struct_size = sizeof options, .flags = flags, .id = ++id};
  stream s = {NULL, 0};
  if (cpu->queue_create(device, &options, &s.queue) != QN_OK) fail_msg("%s", cpu_error_text);
  return s;
}
static inline void drop_stream(stream *s) {
  if (cpu->queue_destroy(device, s->queue) != QN_OK) fail_msg("%s", cpu_error_text);
}
/* Submits one command, waiting while the queue is full. Returns its value. */
static inline uint64_t submit(stream *s, qn_adapter_command command) {
  command.struct_size = sizeof command;
  command.value = ++s->value;
  for (;;) {
    uint64_t completed; /* before: when the queue is full behind it, the next value is in flight or done */
    cpu->queue_completed(s->queue, &completed);
    qn_status status = cpu->queue_submit(s->queue, &command, 1);
    if (status == QN_OK) return s->value;
    if (status != QN_NOT_READY) fail_msg("%s", cpu_error_text);
    assert_int_equal(cpu->queue_wait(s->queue, completed + 1, QN_FOREVER), QN_OK);
  }
}
static inline uint64_t submit_launch(stream *s, const qn_launch_record *launch) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = launch});
}
static inline void finish(stream *s) {
  if (cpu->queue_wait(s->queue, s->value, QN_FOREVER) != QN_OK) fail_msg("%s", cpu_error_text);
}

#endif
