/* contract.c - stands between core and adapter when QUERN_NULL is set, and checks what adapter.h says that the core does: each
 * object that is handed over is one that this library made and has not destroyed, of the right kind and device; children
 * are destroyed before parents; one thread at a time submits to a queue; values rise by one; waits are for values that were
 * given out. What isn't so is a violation (control.h), and the call fails. Not part of the template. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "null.h"
#include "sim/inside.h"

static const qn_adapter_table *inner;
static const qn_adapter_host *_Atomic the_host;

/* ---- The objects that live ---------------------------------------------------------------------- */

enum { INSTANCE, DEVICE, MEMORY, PROGRAM, KERNEL, QUEUE };
static const char *const kind_names[] = {"an instance", "a device", "memory", "a program", "a kernel", "a queue"};

typedef struct object {
  struct object *next; /* of its bucket */
  const void *address;
  struct object *parent;
  uint32_t kind;
  uint32_t children;
  uint64_t submitted; /* a queue's values */
  bool is_submitting;
} object;

enum { BUCKETS = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static object *buckets[BUCKETS];

static object **bucket_of(const void *address) { return &buckets[((uintptr_t)address >> 7) % BUCKETS]; }

static object *find(const void *address) {
  object *o = *bucket_of(address);
  while (o && o->address != address) o = o->next;
  return o;
}

/* Under the lock. NULL and a violation when it is no such object, or not one of `parent` (when that isn't NULL). */
static object *expect(const char *function, uint32_t kind, const void *address, const object *parent) {
  object *o = find(address);
  if (!o)
    sim_violation("adapter %s, %s: %p was given as %s, but is no object of this adapter (any longer)", inner->name,
                  function, address, kind_names[kind]);
  else if (o->kind != kind)
    sim_violation("adapter %s, %s: %p was given as %s, but is %s", inner->name, function, address, kind_names[kind],
                  kind_names[o->kind]);
  else if (parent && o->parent != parent)
    sim_violation("adapter %s, %s: %p is %s of another parent than %p", inner->name, function, address,
                  kind_names[kind], parent->address);
  else
    return o;
  return NULL;
}

static qn_status broken(void) {
  const qn_adapter_host *host = atomic_load(&the_host);
  return host->set_error(QN_ERROR_INTERNAL, 0,
                         "the adapter was used against its contract; its list of violations tells how");
}

/* One object that a function is given. */
static bool is_known(const char *function, uint32_t kind, const void *address) {
  pthread_mutex_lock(&lock);
  bool known = expect(function, kind, address, NULL) != NULL;
  pthread_mutex_unlock(&lock);
  return known;
}

/* A child and its parent. */
static bool is_child(const char *function, uint32_t parent_kind, const void *parent, uint32_t kind, const void *child) {
  pthread_mutex_lock(&lock);
  const object *p = expect(function, parent_kind, parent, NULL);
  bool known = p && expect(function, kind, child, p);
  pthread_mutex_unlock(&lock);
  return known;
}

/* What a create function made. False: no memory for our record of it. */
static bool note(uint32_t kind, const void *address, const void *parent) {
  object *o = calloc(1, sizeof *o);
  if (!o) return false;
  pthread_mutex_lock(&lock);
  if (find(address)) sim_violation("adapter %s made %s at %p, where one lives", inner->name, kind_names[kind], address);
  *o = (object){.next = *bucket_of(address), .address = address, .kind = kind, .parent = find(parent)};
  if (o->parent) o->parent->children++;
  *bucket_of(address) = o;
  pthread_mutex_unlock(&lock);
  return true;
}

/* Takes an object off the list before it is destroyed: as soon as its memory is free, somebody else may have it. */
static bool forget(const char *function, uint32_t kind, const void *address, const void *parent) {
  pthread_mutex_lock(&lock);
  const object *p = parent ? find(parent) : NULL;
  object *o = expect(function, kind, address, p);
  if (o && o->children > 0)
    sim_violation("adapter %s, %s: %s is destroyed before its %u children", inner->name, function, kind_names[kind],
                  o->children);
  if (o) {
    object **at = bucket_of(address);
    while (*at != o) at = &(*at)->next;
    *at = o->next;
    if (o->parent) o->parent->children--;
  }
  pthread_mutex_unlock(&lock);
  free(o);
  return o != NULL;
}

/* ---- Instance, devices -------------------------------------------------------------------------- */

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  atomic_store(&the_host, host);
  qn_status status = inner->instance_open(host, out_instance);
  if (status == QN_OK && !note(INSTANCE, *out_instance, NULL)) {
    (void)inner->instance_close(*out_instance);
    return host->set_error(QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory to watch an instance");
  }
  return status;
}
static qn_status instance_close(qn_adapter_instance *instance) {
  return forget("instance_close", INSTANCE, instance, NULL) ? inner->instance_close(instance) : broken();
}
static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  return is_known("device_count", INSTANCE, instance) ? inner->device_count(instance, out_count) : broken();
}
static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  return is_known("device_describe", INSTANCE, instance) ? inner->device_describe(instance, index, out_info) : broken();
}

/* Ends a create function: notes what it made, or undoes it. */
#define NOTED(kind, made, parent, undo)                                                                       \
  do {                                                                                                        \
    if (status != QN_OK || note(kind, made, parent)) return status;                                           \
    (void)(undo);                                                                                             \
    return atomic_load(&the_host)->set_error(QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory to watch an object"); \
  } while (0)

static qn_status device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  if (!is_known("device_open", INSTANCE, instance)) return broken();
  qn_status status = inner->device_open(instance, index, out_device);
  NOTED(DEVICE, *out_device, instance, inner->device_close(*out_device));
}
static qn_status device_close(qn_adapter_device *device) {
  return forget("device_close", DEVICE, device, NULL) ? inner->device_close(device) : broken();
}

/* ---- Memory, programs, kernels ------------------------------------------------------------------ */

static qn_status memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                               qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  if (!is_known("memory_create", DEVICE, device)) return broken();
  qn_status status = inner->memory_create(device, request, out_memory, out_info);
  NOTED(MEMORY, *out_memory, device, inner->memory_destroy(device, *out_memory));
}
static qn_status memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  return forget("memory_destroy", MEMORY, memory, device) ? inner->memory_destroy(device, memory) : broken();
}

static qn_status program_create(qn_adapter_device *device, const qn_adapter_code *code,
                                qn_adapter_program **out_program) {
  if (!is_known("program_create", DEVICE, device)) return broken();
  qn_status status = inner->program_create(device, code, out_program);
  NOTED(PROGRAM, *out_program, device, inner->program_destroy(device, *out_program));
}
static qn_status program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  return forget("program_destroy", PROGRAM, program, device) ? inner->program_destroy(device, program) : broken();
}

static qn_status kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                               const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                               qn_adapter_kernel_info *out_info) {
  if (!is_child("kernel_create", DEVICE, device, PROGRAM, program)) return broken();
  qn_status status = inner->kernel_create(device, program, description, out_kernel, out_info);
  NOTED(KERNEL, *out_kernel, program, inner->kernel_destroy(device, *out_kernel));
}
static qn_status kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  (void)device;
  return forget("kernel_destroy", KERNEL, kernel, NULL) ? inner->kernel_destroy(device, kernel) : broken();
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static qn_status queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                              qn_adapter_queue **out_queue) {
  if (!is_known("queue_create", DEVICE, device)) return broken();
  qn_status status = inner->queue_create(device, options, out_queue);
  NOTED(QUEUE, *out_queue, device, inner->queue_destroy(device, *out_queue));
}
static qn_status queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  return forget("queue_destroy", QUEUE, queue, device) ? inner->queue_destroy(device, queue) : broken();
}

static bool memory_is_fine(const object *device, const qn_adapter_memory *memory) {
  return !memory || expect("queue_submit", MEMORY, memory, device);
}

static bool launch_is_fine(const object *device, const qn_launch_record *launch) {
  const object *kernel = expect("queue_submit", KERNEL, launch->kernel, NULL);
  bool is_fine = kernel && expect("queue_submit", PROGRAM, kernel->parent->address, device);
  for (uint32_t i = 0; i < launch->argument_count; i++)
    if (launch->arguments[i].kind == QN_ARGUMENT_BUFFER)
      is_fine = memory_is_fine(device, launch->arguments[i].memory) && is_fine;
  return is_fine;
}

static bool wait_is_fine(const object *queue, const qn_adapter_command *c) {
  const object *other = expect("queue_submit", QUEUE, c->wait_queue, queue->parent);
  if (!other) return false;
  if (other != queue && c->wait_value <= other->submitted) return true;
  sim_violation("adapter %s: a queue waits for value %llu of %s, which has %llu", inner->name,
                (unsigned long long)c->wait_value, other == queue ? "itself" : "another",
                (unsigned long long)other->submitted);
  return false;
}

static bool command_is_fine(const object *queue, const qn_adapter_command *c, uint64_t value) {
  bool is_fine = memory_is_fine(queue->parent, c->target) && memory_is_fine(queue->parent, c->source);
  if (c->kind == QN_COMMAND_LAUNCH) is_fine = launch_is_fine(queue->parent, c->launch) && is_fine;
  if (c->kind == QN_COMMAND_WAIT) is_fine = wait_is_fine(queue, c) && is_fine;
  if (c->value == value) return is_fine;
  sim_violation("adapter %s: a command has value %llu, and the one before it %llu", inner->name,
                (unsigned long long)c->value, (unsigned long long)value - 1);
  return false;
}

/* NULL, or the queue, into which nobody else may submit meanwhile. */
static object *begin_submit(const qn_adapter_queue *address, const qn_adapter_command *commands, uint32_t count) {
  pthread_mutex_lock(&lock);
  object *queue = expect("queue_submit", QUEUE, address, NULL);
  bool is_fine = queue != NULL;
  if (queue && queue->is_submitting)
    sim_violation("adapter %s, queue_submit: two threads submit to queue %p", inner->name, (const void *)address);
  for (uint32_t i = 0; queue && i < count; i++)
    is_fine = command_is_fine(queue, &commands[i], queue->submitted + i + 1) && is_fine;
  if (is_fine) queue->is_submitting = true;
  pthread_mutex_unlock(&lock);
  return is_fine ? queue : NULL;
}

static void end_submit(object *queue, uint32_t count, qn_status status) {
  pthread_mutex_lock(&lock);
  queue->is_submitting = false;
  if (status == QN_OK) queue->submitted += count;
  pthread_mutex_unlock(&lock);
}

static qn_status queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  object *o = begin_submit(queue, commands, count);
  if (!o) return broken();
  qn_status status = inner->queue_submit(queue, commands, count);
  end_submit(o, count, status);
  return status;
}

static qn_status queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  *out_value = 0;
  return is_known("queue_completed", QUEUE, queue) ? inner->queue_completed(queue, out_value) : broken();
}
static qn_status queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  return is_known("queue_progress", QUEUE, queue) ? inner->queue_progress(queue, out_progress) : broken();
}
static qn_status queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  return is_known("queue_wait", QUEUE, queue) ? inner->queue_wait(queue, value, timeout_ns) : broken();
}
static qn_status queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  return is_known("queue_time", QUEUE, queue) ? inner->queue_time(queue, value, out_ns) : broken();
}
static qn_status queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns) {
  return is_known("queue_begin", QUEUE, queue) ? inner->queue_begin(queue, value, out_ns) : broken();
}

static qn_status native(uint32_t kind, void *address, uint32_t which, uint64_t *out_native) {
  static const uint32_t kinds[] = {[QN_KIND_DEVICE] = DEVICE,
                                   [QN_KIND_QUEUE] = QUEUE,
                                   [QN_KIND_BUFFER] = MEMORY,
                                   [QN_KIND_PROGRAM] = PROGRAM,
                                   [QN_KIND_KERNEL] = KERNEL};
  return is_known("native", kinds[kind], address) ? inner->native(kind, address, which, out_native) : broken();
}

/* ---- The table ---------------------------------------------------------------------------------- */

static qn_adapter_table table;

const qn_adapter_table *null_contract(const qn_adapter_table *given) {
  inner = given;
  table = (qn_adapter_table){.struct_size = sizeof table,
                             .abi_version = given->abi_version,
                             .name = given->name,
                             .description = given->description,
                             .instance_open = instance_open,
                             .instance_close = instance_close,
                             .device_count = device_count,
                             .device_describe = device_describe,
                             .device_open = device_open,
                             .device_close = device_close,
                             .memory_create = memory_create,
                             .memory_destroy = memory_destroy,
                             .program_create = program_create,
                             .program_destroy = program_destroy,
                             .kernel_create = kernel_create,
                             .kernel_destroy = kernel_destroy,
                             .queue_create = queue_create,
                             .queue_destroy = queue_destroy,
                             .queue_submit = queue_submit,
                             .queue_completed = queue_completed,
                             .queue_progress = queue_progress,
                             .queue_wait = queue_wait,
                             .queue_time = queue_time,
                             .queue_begin = queue_begin,
                             .native = native};
  return &table;
}
