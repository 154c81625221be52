/* liar.c - an adapter that does one thing wrong, to try out the conformance suite: each fault must be found.
 *
 * It stands in front of another adapter's library, QUERN_LIAR_ADAPTER, and hands everything on but what the fault named by
 * QUERN_LIAR changes. "none": nothing. test_liar.py knows which tests must find which fault.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quern/adapter.h"

static const qn_adapter_table *real;
static qn_adapter_table table;
static const qn_adapter_host *the_host;

static qn_status refuse(const char *text) { return the_host->set_error(QN_ERROR_DEVICE, 13, text); }

static qn_status open_instance(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  the_host = host;
  return real->instance_open(host, out_instance);
}

/* ---- Queues: what was submitted and waited for ------------------------------------------------------ */

typedef struct known_queue {
  qn_adapter_queue *queue;
  uint64_t submitted, waited;
  uint32_t commands;
} known_queue;

enum { QUEUES = 512 };
static known_queue known[QUEUES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. A queue that is new takes a free place. */
static known_queue *find(qn_adapter_queue *queue) {
  known_queue *place = NULL;
  for (int i = 0; i < QUEUES; i++) {
    if (known[i].queue == queue) return &known[i];
    if (!known[i].queue && !place) place = &known[i];
  }
  if (!place) abort();
  *place = (known_queue){.queue = queue};
  return place;
}

static uint32_t note_submitted(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  pthread_mutex_lock(&lock);
  known_queue *k = find(queue);
  k->submitted = commands[count - 1].value;
  uint32_t number = k->commands += count;
  pthread_mutex_unlock(&lock);
  return number;
}

static qn_status destroy_queue(qn_adapter_device *device, qn_adapter_queue *queue) {
  pthread_mutex_lock(&lock);
  find(queue)->queue = NULL;
  pthread_mutex_unlock(&lock);
  return real->queue_destroy(device, queue);
}

/* ---- Faults of commands: each changes a copy -------------------------------------------------------- */

enum { MOST = 64 };
static void (*change)(qn_adapter_command *command, qn_launch_record *record, qn_launch_argument *arguments);

static qn_status submit_changed(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  qn_adapter_command changed[MOST];
  qn_launch_record record;
  qn_launch_argument arguments[256];
  if (count > MOST) return real->queue_submit(queue, commands, count);
  for (uint32_t i = 0; i < count; i++) {
    changed[i] = commands[i];
    const qn_launch_record *launch = commands[i].launch;
    if (launch) { /* one a batch, at its end */
      record = *launch;
      memcpy(arguments, launch->arguments, launch->argument_count * sizeof *arguments);
      record.arguments = arguments;
      changed[i].launch = &record;
    }
    change(&changed[i], &record, arguments);
  }
  qn_status status = real->queue_submit(queue, changed, count);
  if (status == QN_OK) note_submitted(queue, commands, count);
  return status;
}

static void make_mark(qn_adapter_command *c) { c->kind = QN_COMMAND_MARK; }

static void lose_copies(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  static _Atomic uint32_t number;
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_COPY && ++number % 7 == 0) make_mark(c);
}
static void shorten_copies(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_COPY && c->size_bytes > 65536) c->size_bytes &= ~UINT64_C(63);
}
static void align_fills(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_FILL) c->target_offset -= c->target_offset % c->pattern_bytes;
}
static void narrow_fills(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_FILL && c->pattern_bytes > 16) c->pattern_bytes = 16;
}
static void read_too_much(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_READ && c->size_bytes > 900 && c->source_offset > 0) c->source_offset--, c->size_bytes++;
}
static void write_at_start(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_WRITE) c->target_offset = 0;
}
static void forget_waits(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)r;
  (void)a;
  if (c->kind == QN_COMMAND_WAIT) make_mark(c);
}
static void forget_offset(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)a;
  if (c->launch) memset(r->offset, 0, sizeof r->offset);
}
static void whole_groups_only(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)a;
  if (c->launch && r->local[0] < r->global[0]) r->global[0] -= r->global[0] % r->local[0];
}
static void swap_dimensions(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)a;
  if (!c->launch || r->dimensions < 2) return;
  uint64_t x[2] = {r->global[0], r->local[0]};
  r->global[0] = r->global[1];
  r->local[0] = r->local[1];
  r->global[1] = x[0];
  r->local[1] = x[1];
}
static void groups_of_one(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  (void)a;
  if (c->launch) r->local[0] = r->local[1] = r->local[2] = 1;
}
static void forget_buffer_offsets(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  for (uint32_t i = 0; c->launch && i < r->argument_count; i++) a[i].offset_bytes = 0;
}
static void no_null_buffers(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  for (uint32_t i = 1; c->launch && i < r->argument_count; i++)
    if (a[i].kind == QN_ARGUMENT_BUFFER && !a[i].memory) a[i].memory = a[0].memory;
}
static uint64_t narrowed[256];
static void narrow_values(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  for (uint32_t i = 0; c->launch && i < r->argument_count; i++) {
    if (a[i].kind != QN_ARGUMENT_VALUE || a[i].size_bytes != 8) continue;
    narrowed[i] = 0;
    memcpy(&narrowed[i], a[i].bytes, 4);
    a[i].bytes = &narrowed[i];
  }
}
static const void *first_bytes; /* borrowed too long */
static void keep_values(qn_adapter_command *c, qn_launch_record *r, qn_launch_argument *a) {
  static uint64_t kept[32];
  for (uint32_t i = 0; c->launch && i < r->argument_count; i++) {
    if (a[i].kind != QN_ARGUMENT_VALUE || a[i].size_bytes != 64) continue;
    if (!first_bytes) first_bytes = memcpy(kept, a[i].bytes, 64);
    a[i].bytes = first_bytes;
  }
}

/* ---- Faults of queues ------------------------------------------------------------------------------ */

static qn_status submit_noted(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  qn_status status = real->queue_submit(queue, commands, count);
  if (status == QN_OK) note_submitted(queue, commands, count);
  return status;
}

static qn_status completed_early(qn_adapter_queue *queue, uint64_t *out_value) {
  pthread_mutex_lock(&lock);
  *out_value = find(queue)->submitted;
  pthread_mutex_unlock(&lock);
  return QN_OK;
}

static qn_status wait_noted(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  qn_status status = real->queue_wait(queue, value, timeout_ns);
  pthread_mutex_lock(&lock);
  known_queue *k = find(queue);
  if (status == QN_OK && k->waited < value) k->waited = value;
  pthread_mutex_unlock(&lock);
  return status;
}

/* Nothing is complete before somebody has waited for it. */
static qn_status completed_when_waited(qn_adapter_queue *queue, uint64_t *out_value) {
  pthread_mutex_lock(&lock);
  *out_value = find(queue)->waited;
  pthread_mutex_unlock(&lock);
  return QN_OK;
}
static qn_status progress_when_waited(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  qn_status status = real->queue_progress(queue, out_progress);
  pthread_mutex_lock(&lock);
  out_progress->completed = find(queue)->waited;
  pthread_mutex_unlock(&lock);
  return status;
}

static qn_status wait_for_ever(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  (void)timeout_ns;
  return real->queue_wait(queue, value, QN_FOREVER);
}
static qn_status wait_never(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  (void)queue;
  (void)value;
  (void)timeout_ns;
  return the_host->set_error(QN_ERROR_TIMEOUT, 0, "not now");
}
static qn_status submit_and_wait(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  qn_status status = real->queue_submit(queue, commands, count);
  return status == QN_OK ? real->queue_wait(queue, commands[count - 1].value, QN_FOREVER) : status;
}
static qn_status refuse_some_submissions(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  static _Atomic uint32_t number;
  return ++number % 50 == 0 ? refuse("the liar doesn't feel like it") : real->queue_submit(queue, commands, count);
}
static qn_status submit_and_die(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  if (commands[count - 1].kind == QN_COMMAND_COPY) raise(SIGSEGV);
  return real->queue_submit(queue, commands, count);
}
static qn_status submit_and_exit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  if (commands[count - 1].kind == QN_COMMAND_COPY) _exit(0);
  return real->queue_submit(queue, commands, count);
}
static qn_status submit_and_hang(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  while (commands[count - 1].kind == QN_COMMAND_COPY) pause();
  return real->queue_submit(queue, commands, count);
}
static qn_status constant_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  qn_status status = real->queue_time(queue, value, out_ns);
  *out_ns = 1000;
  return status;
}
static qn_status time_backwards(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  qn_status status = real->queue_time(queue, value, out_ns);
  *out_ns = UINT64_MAX / 2 - *out_ns;
  return status;
}
static qn_status keep_queue(qn_adapter_device *device, qn_adapter_queue *queue) {
  (void)device;
  (void)queue;
  return refuse("the liar keeps its queues");
}

/* ---- Faults of devices and memory -------------------------------------------------------------------- */

static qn_status describe_otherwise(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  static _Atomic uint32_t times;
  qn_status status = real->device_describe(instance, index, out_info);
  snprintf(out_info->name, sizeof out_info->name, "device of many names, %u", ++times);
  return status;
}
static qn_status describe_without_driver(qn_adapter_instance *instance, uint32_t index,
                                         qn_adapter_device_info *out_info) {
  qn_status status = real->device_describe(instance, index, out_info);
  out_info->driver[0] = 0;
  return status;
}
static qn_status describe_without_shared(qn_adapter_instance *instance, uint32_t index,
                                         qn_adapter_device_info *out_info) {
  qn_status status = real->device_describe(instance, index, out_info);
  out_info->features &= ~(QN_FEATURE_SHARED_MEMORY);
  return status;
}
static qn_status describe_with_wrong_features(qn_adapter_instance *instance, uint32_t index,
                                              qn_adapter_device_info *out_info) {
  qn_status status = real->device_describe(instance, index, out_info);
  out_info->features |= UINT64_C(1) << 40;
  return status;
}
static qn_status describe_larger_groups(qn_adapter_instance *instance, uint32_t index,
                                        qn_adapter_device_info *out_info) {
  qn_status status = real->device_describe(instance, index, out_info);
  out_info->max_group_items *= 2;
  out_info->max_local_size[0] *= 2;
  return status;
}
static qn_status kernels_of_larger_groups(qn_adapter_device *device, qn_adapter_program *program,
                                          const qn_adapter_kernel_description *description,
                                          qn_adapter_kernel **out_kernel, qn_adapter_kernel_info *out_info) {
  qn_status status = real->kernel_create(device, program, description, out_kernel, out_info);
  out_info->max_group_items *= 2;
  return status;
}
static qn_status open_once(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  static _Atomic uint32_t times;
  the_host = host;
  return ++times > 1 ? refuse("the liar opens once") : real->instance_open(host, out_instance);
}
static qn_status keep_memory(qn_adapter_device *device, qn_adapter_memory *memory) {
  (void)device;
  (void)memory;
  return refuse("the liar keeps its memory");
}
static qn_status unreachable_memory(qn_adapter_device *device, const qn_adapter_memory_request *request,
                                    qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  qn_status status = real->memory_create(device, request, out_memory, out_info);
  if (request->memory != QN_MEMORY_SHARED) out_info->host_pointer = NULL;
  return status;
}
/* What is mapped is told by `native`, which the real adapter gives as an address. */
static qn_status map_start(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                           uint64_t size_bytes, uint32_t access, void **out_pointer) {
  uint64_t address = 0;
  (void)device;
  (void)offset_bytes;
  (void)size_bytes;
  (void)access;
  qn_status status = real->native(QN_KIND_BUFFER, memory, 0, &address);
  *out_pointer = (void *)(uintptr_t)address;
  return status;
}
static qn_status map_right(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                           uint64_t size_bytes, uint32_t access, void **out_pointer) {
  qn_status status = map_start(device, memory, 0, size_bytes, access, out_pointer);
  *out_pointer = (char *)*out_pointer + offset_bytes;
  return status;
}
/* Writes are lost: the map is a copy. */
static qn_status map_a_copy(qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
                            uint64_t size_bytes, uint32_t access, void **out_pointer) {
  qn_status status = map_right(device, memory, offset_bytes, size_bytes, access, out_pointer);
  void *copy = malloc(size_bytes ? size_bytes : 1);
  if (status == QN_OK && copy) *out_pointer = memcpy(copy, *out_pointer, size_bytes);
  return status;
}
static qn_status unmap(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer) {
  (void)device;
  (void)memory;
  (void)pointer;
  return QN_OK;
}
static qn_status unmap_a_copy(qn_adapter_device *device, qn_adapter_memory *memory, void *pointer) {
  free(pointer);
  return unmap(device, memory, pointer);
}

/* ---- Faults of programs ----------------------------------------------------------------------------- */

static qn_adapter_program *first_program;
static qn_status one_program(qn_adapter_device *device, const qn_adapter_code *code, qn_adapter_program **out_program) {
  qn_status status = QN_OK;
  if (!first_program) status = real->program_create(device, code, &first_program);
  *out_program = first_program;
  return status;
}
static qn_status keep_program(qn_adapter_device *device, qn_adapter_program *program) {
  (void)device;
  (void)program;
  return QN_OK;
}
static void say_goodbye(void) { raise(SIGSEGV); }
static qn_status open_with_destructor(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  static _Atomic uint32_t times;
  if (times++ == 0) atexit(say_goodbye);
  return open_instance(host, out_instance);
}

/* ---- The table ---------------------------------------------------------------------------------- */

static void nothing(void) {}
#define CHANGES(name)                    \
  static void install_##name(void) {     \
    change = name;                       \
    table.queue_submit = submit_changed; \
  }
#define REPLACES(name, function) \
  static void install_##name(void) { table.function = name; }
CHANGES(lose_copies)
CHANGES(shorten_copies)
CHANGES(align_fills)
CHANGES(narrow_fills)
CHANGES(read_too_much)
CHANGES(write_at_start)
CHANGES(forget_waits)
CHANGES(forget_offset)
CHANGES(whole_groups_only)
CHANGES(swap_dimensions)
CHANGES(groups_of_one)
CHANGES(forget_buffer_offsets)
CHANGES(no_null_buffers)
CHANGES(narrow_values)
CHANGES(keep_values)
REPLACES(wait_for_ever, queue_wait)
REPLACES(wait_never, queue_wait)
REPLACES(submit_and_wait, queue_submit)
REPLACES(refuse_some_submissions, queue_submit)
REPLACES(submit_and_die, queue_submit)
REPLACES(submit_and_exit, queue_submit)
REPLACES(submit_and_hang, queue_submit)
REPLACES(constant_time, queue_time)
REPLACES(time_backwards, queue_time)
REPLACES(keep_queue, queue_destroy)
REPLACES(describe_otherwise, device_describe)
REPLACES(describe_without_driver, device_describe)
REPLACES(describe_without_shared, device_describe)
REPLACES(describe_with_wrong_features, device_describe)
REPLACES(open_once, instance_open)
REPLACES(open_with_destructor, instance_open)
REPLACES(keep_memory, memory_destroy)
static void install_completed_early(void) {
  table.queue_submit = submit_noted;
  table.queue_completed = completed_early;
}
static void install_completed_when_waited(void) {
  table.queue_wait = wait_noted;
  table.queue_completed = completed_when_waited;
  table.queue_progress = progress_when_waited;
}
static void install_maps(void) {
  table.memory_create = unreachable_memory;
  table.memory_map = map_right;
  table.memory_unmap = unmap;
}
static void install_map_start(void) {
  install_maps();
  table.memory_map = map_start;
}
static void install_map_a_copy(void) {
  install_maps();
  table.memory_map = map_a_copy;
  table.memory_unmap = unmap_a_copy;
}
static void install_larger_groups(void) {
  table.device_describe = describe_larger_groups;
  table.kernel_create = kernels_of_larger_groups;
}
static void install_one_program(void) {
  table.program_create = one_program;
  table.program_destroy = keep_program;
}

#define FAULT(name) {#name, install_##name}
static const struct fault {
  const char *name;
  void (*install)(void);
} faults[] = {{"none", nothing},
              FAULT(lose_copies),
              FAULT(shorten_copies),
              FAULT(align_fills),
              FAULT(narrow_fills),
              FAULT(read_too_much),
              FAULT(write_at_start),
              FAULT(forget_waits),
              FAULT(forget_offset),
              FAULT(whole_groups_only),
              FAULT(swap_dimensions),
              FAULT(groups_of_one),
              FAULT(forget_buffer_offsets),
              FAULT(no_null_buffers),
              FAULT(narrow_values),
              FAULT(keep_values),
              FAULT(completed_early),
              FAULT(completed_when_waited),
              FAULT(wait_for_ever),
              FAULT(wait_never),
              FAULT(submit_and_wait),
              FAULT(refuse_some_submissions),
              FAULT(submit_and_die),
              FAULT(submit_and_exit),
              FAULT(submit_and_hang),
              FAULT(constant_time),
              FAULT(time_backwards),
              FAULT(keep_queue),
              FAULT(describe_otherwise),
              FAULT(describe_without_driver),
              FAULT(describe_without_shared),
              FAULT(describe_with_wrong_features),
              FAULT(larger_groups),
              FAULT(open_once),
              FAULT(open_with_destructor),
              FAULT(keep_memory),
              FAULT(maps),
              FAULT(map_start),
              FAULT(map_a_copy),
              FAULT(one_program)};

static bool load(void) {
  const char *path = getenv("QUERN_LIAR_ADAPTER"), *name = getenv("QUERN_LIAR");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  void *symbol = library ? dlsym(library, QN_ADAPTER_ENTRY_NAME) : NULL;
  qn_adapter_entry_fn entry = NULL;
  memcpy(&entry, &symbol, sizeof entry);
  real = entry ? entry(QN_ADAPTER_ABI_VERSION) : NULL;
  if (!real || real->struct_size < sizeof table) return false;
  table = *real;
  table.name = "liar";
  table.instance_open = open_instance;
  table.queue_destroy = destroy_queue;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (!strcmp(faults[i].name, name ? name : "none")) return faults[i].install(), true;
  return false;
}

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  static bool done, good;
  (void)abi_version;
  if (!done) good = load();
  done = true;
  return good ? &table : NULL;
}
