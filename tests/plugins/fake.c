/* fake.c - an adapter for tests: its queues run when they are told to, and it fails on command. */
#include "../api/fake.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quern/adapter.h"

static const qn_adapter_host *host;
static fake_control control; /* one for the process: tests use one device at a time */

struct qn_adapter_instance {
  _Atomic uint32_t devices;
};

struct qn_adapter_memory {
  char *bytes;
};

typedef struct task {
  struct task *next;
  qn_adapter_command command;
  char pattern[128];
} task;

struct qn_adapter_queue {
  uint64_t id;
  pthread_mutex_t lock;
  task *first, **tail;
  uint32_t count;
  _Atomic uint64_t completed;
  _Atomic uint64_t failed_first;
};

static void called(void) {
  if (atomic_load(&control.watch) && pthread_equal(pthread_self(), control.watched))
    atomic_fetch_add(&control.watched_calls, 1);
}

static qn_status fail(qn_status status, int64_t code, const char *text) { return host->set_error(status, code, text); }

/* ---- Instance, device, memory ------------------------------------------------------------------- */

static void wait_while(const _Atomic uint32_t *blocks) {
  while (atomic_load(blocks)) {
    atomic_store(&control.blocked, 1);
    sched_yield();
  }
}

static qn_status instance_open(const qn_adapter_host *given, qn_adapter_instance **out_instance) {
  host = given;
  *out_instance = calloc(1, sizeof **out_instance);
  if (!*out_instance) abort();
  return QN_OK;
}
static qn_status instance_close(qn_adapter_instance *instance) {
  called();
  if (atomic_load(&instance->devices) != 0) atomic_fetch_add(&control.closed_over, 1);
  free(instance);
  return QN_OK;
}
static qn_status device_count(qn_adapter_instance *instance, uint32_t *out_count) {
  (void)instance;
  *out_count = 1;
  return QN_OK;
}
static qn_status device_describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  (void)instance, (void)index;
  *out_info = (qn_adapter_device_info){.struct_size = sizeof *out_info,
                                       .type = QN_DEVICE_SIMULATED,
                                       .failure_domain = QN_FAILURE_QUEUE,
                                       .memory_bytes = 1 << 16, /* so that blocks of 4 KiB and more are not kept */
                                       .max_allocation_bytes = 1 << 30,
                                       .max_local_size = {1, 1, 1},
                                       .max_group_items = 1,
                                       .compute_units = 1,
                                       .address_bits = 64,
                                       .buffer_alignment = 1,
                                       .allocation_alignment = 16,
                                       .name = "fake"};
  return QN_OK;
}
static qn_status device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  (void)index;
  wait_while(&control.block_open);
  atomic_fetch_add(&control.devices, 1);
  atomic_fetch_add(&instance->devices, 1);
  *out_device = (qn_adapter_device *)instance;
  return QN_OK;
}
static qn_status device_close(qn_adapter_device *device) {
  called();
  atomic_fetch_sub(&((qn_adapter_instance *)device)->devices, 1);
  atomic_fetch_sub(&control.devices, 1);
  return QN_OK;
}

static qn_status memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                               qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  (void)device;
  called();
  if (atomic_load(&control.no_memory)) return fail(QN_ERROR_OUT_OF_MEMORY, 2, "the fake has no memory");
  qn_adapter_memory *memory = malloc(sizeof *memory);
  if (memory) memory->bytes = malloc((size_t)request->size_bytes);
  if (!memory || !memory->bytes) abort();
  out_info->size_bytes = request->size_bytes;
  out_info->host_pointer = memory->bytes;
  atomic_fetch_add(&control.memories, 1);
  *out_memory = memory;
  return QN_OK;
}

static qn_status memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  (void)device;
  called();
  wait_while(&control.block_destroy);
  atomic_fetch_sub(&control.memories, 1);
  free(memory->bytes);
  free(memory);
  if (atomic_load(&control.refuse_destroy)) return fail(QN_ERROR_DEVICE, 700, "the fake refuses");
  return QN_OK;
}

/* ---- Programs: none ----------------------------------------------------------------------------- */

static qn_status program_create(qn_adapter_device *device, const qn_adapter_code *code,
                                qn_adapter_program **out_program) {
  (void)device, (void)code, (void)out_program;
  return fail(QN_ERROR_UNSUPPORTED, 0, "the fake runs no kernels");
}
static qn_status program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  (void)device, (void)program;
  return QN_OK;
}
static qn_status kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                               const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                               qn_adapter_kernel_info *out_info) {
  (void)device, (void)program, (void)description, (void)out_kernel, (void)out_info;
  return fail(QN_ERROR_UNSUPPORTED, 0, "the fake runs no kernels");
}
static qn_status kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  (void)device, (void)kernel;
  return QN_OK;
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static qn_status queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                              qn_adapter_queue **out_queue) {
  (void)device;
  qn_adapter_queue *queue = calloc(1, sizeof *queue);
  if (!queue) abort();
  queue->id = options->id;
  queue->tail = &queue->first;
  pthread_mutex_init(&queue->lock, NULL);
  atomic_fetch_add(&control.queues, 1);
  *out_queue = queue;
  return QN_OK;
}

static qn_status queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  (void)device;
  called();
  if (queue->first) abort(); /* the core promised that all is complete */
  pthread_mutex_destroy(&queue->lock);
  free(queue);
  atomic_fetch_sub(&control.queues, 1);
  return QN_OK;
}

static qn_status queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  called();
  if (atomic_load(&control.reject_submits)) {
    atomic_fetch_sub(&control.reject_submits, 1);
    return fail(QN_ERROR_DEVICE, 5, "the fake rejects this submission");
  }
  pthread_mutex_lock(&queue->lock);
  uint32_t capacity = atomic_load(&control.capacity);
  int is_full = capacity && queue->count + count > capacity;
  for (uint32_t i = 0; i < count && !is_full; i++) {
    task *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->command = commands[i];
    if (commands[i].pattern) memcpy(t->pattern, commands[i].pattern, (size_t)commands[i].pattern_bytes);
    *queue->tail = t;
    queue->tail = &t->next;
    queue->count++;
    if (commands[i].kind == QN_COMMAND_WAIT) atomic_fetch_add(&control.waits, 1);
  }
  pthread_mutex_unlock(&queue->lock);
  return is_full ? QN_NOT_READY : QN_OK;
}

static void run_queue(qn_adapter_queue *queue);

static int run_task(qn_adapter_queue *queue, const task *t) {
  const qn_adapter_command *c = &t->command;
  uint64_t fail_queue = atomic_load(&control.fail_queue);
  if (c->value == atomic_load(&control.fail_at) && (!fail_queue || fail_queue == queue->id)) {
    uint64_t none = 0;
    atomic_compare_exchange_strong(&queue->failed_first, &none, c->value);
    return 1;
  }
  if (c->kind == QN_COMMAND_WAIT) {
    run_queue(c->wait_queue);
    return atomic_load(&c->wait_queue->completed) >= c->wait_value;
  }
  if (atomic_load(&queue->failed_first)) return 1;
  for (uint64_t i = 0; c->kind == QN_COMMAND_FILL && i < c->size_bytes; i += c->pattern_bytes)
    memcpy(c->target->bytes + c->target_offset + i, t->pattern, (size_t)c->pattern_bytes);
  if (c->kind == QN_COMMAND_COPY)
    memcpy(c->target->bytes + c->target_offset, c->source->bytes + c->source_offset, (size_t)c->size_bytes);
  if (c->kind == QN_COMMAND_WRITE) memcpy(c->target->bytes + c->target_offset, c->host, (size_t)c->size_bytes);
  if (c->kind == QN_COMMAND_READ) memcpy(c->host, c->source->bytes + c->source_offset, (size_t)c->size_bytes);
  return 1;
}

/* Runs what is allowed, on whoever asks. */
static void run_queue(qn_adapter_queue *queue) {
  if (pthread_mutex_trylock(&queue->lock) != 0) return; /* somebody else is at it */
  uint64_t limit = queue->id == atomic_load(&control.open_queue) ? UINT64_MAX : atomic_load(&control.allowed);
  while (queue->first && queue->first->command.value <= limit) {
    task *t = queue->first;
    if (!run_task(queue, t)) break;
    queue->first = t->next;
    if (!queue->first) queue->tail = &queue->first;
    queue->count--;
    atomic_store(&queue->completed, t->command.value);
    free(t);
  }
  pthread_mutex_unlock(&queue->lock);
}

static qn_status queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  called();
  run_queue(queue);
  *out_value = atomic_load(&queue->completed);
  return atomic_load(&queue->failed_first) ? QN_ERROR_DEVICE : QN_OK;
}

static qn_status queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  called();
  out_progress->completed = atomic_load(&queue->completed);
  out_progress->failed_first = atomic_load(&queue->failed_first);
  if (out_progress->failed_first) {
    out_progress->cause = QN_ERROR_DEVICE_LOST;
    out_progress->driver_code = 999;
    strcpy(out_progress->text, "the fake fell over");
  }
  return QN_OK;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static qn_status queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  called();
  uint64_t start = now_ns();
  for (;;) {
    run_queue(queue);
    if (atomic_load(&queue->completed) >= value) return QN_OK;
    if (now_ns() - start >= timeout_ns) return fail(QN_ERROR_TIMEOUT, 0, "not complete");
    sched_yield();
  }
}

static qn_status native(uint32_t kind, void *object, uint32_t which, uint64_t *out_native) {
  (void)object;
  if (kind != QN_KIND_DEVICE || which != 0) return fail(QN_ERROR_UNSUPPORTED, 0, "the fake has no such thing");
  *out_native = (uint64_t)(uintptr_t)&control;
  return QN_OK;
}

static const qn_adapter_table table = {.struct_size = sizeof table,
                                       .abi_version = QN_ADAPTER_ABI_VERSION,
                                       .name = "fake",
                                       .description = "does as it is told",
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
                                       .native = native};

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version;
  return &table;
}
