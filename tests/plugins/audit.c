/* audit.c - an adapter in front of another one that checks what the core does with it: every object is destroyed once, children
 * before parents, none while work in flight uses it; values rise by one; nothing is called with what is not there (L1, L4, L5).
 * The other one is named by QUERN_AUDIT (a path), else cpu. tests/api/audit.h reads what was found. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../api/audit.h"
#include "quern/adapter.h"

static const qn_adapter_table *inner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static audit_report report;

/* ---- Records ------------------------------------------------------------------------------------ */

typedef enum kind { INSTANCE, DEVICE, MEMORY, PROGRAM, KERNEL, QUEUE } kind;
static const char *const names[] = {"instance", "device", "memory", "program", "kernel", "queue"};

/* A value of a queue, which is named by its number: queues come and go at one address. */
typedef struct use {
  uint64_t queue, value;
} use;

typedef struct uses {
  use *items;
  uint32_t count, capacity;
} uses;

typedef struct record {
  struct record *next;
  kind kind;
  const void *object;
  struct record *parent;
  uint32_t children;
  uint64_t number;
  uint64_t submitted; /* a queue's last value */
  uses used_by;       /* of a memory or kernel: the last value of each queue */
  uses waits;         /* of a queue: for others' values, `own` beside them */
  uint64_t *own;
} record;

static record *records;
static uint64_t numbers;

__attribute__((format(printf, 1, 2))) static void violation(const char *format, ...) {
  va_list args;
  char text[256];
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "audit: %s\n", text);
  if (atomic_fetch_add(&report.violations, 1) == 0) memcpy(report.first, text, sizeof text);
}

static record *find(kind k, const void *object) {
  record *r = records;
  while (r && (r->kind != k || r->object != object)) r = r->next;
  return r;
}

static record *find_queue(uint64_t number) {
  record *r = records;
  while (r && r->number != number) r = r->next;
  return r;
}

/* What a call names must be there. */
static record *need(kind k, const void *object, const char *call) {
  record *r = find(k, object);
  if (!r) violation("%s of a %s that is not there", call, names[k]);
  return r;
}

static void add(kind k, const void *object, record *parent) {
  record *r = calloc(1, sizeof *r);
  if (!r) abort();
  if (find(k, object)) violation("a %s is made where one lives", names[k]);
  *r = (record){.next = records, .kind = k, .object = object, .parent = parent, .number = ++numbers};
  records = r;
  if (parent) parent->children++;
  atomic_fetch_add(&report.living[k], 1);
  atomic_fetch_add(&report.made, 1);
}

static void drop(record *gone) {
  record **at = &records;
  while (*at != gone) at = &(*at)->next;
  *at = gone->next;
  if (gone->children) violation("a %s ends and has %u children", names[gone->kind], gone->children);
  if (gone->parent) gone->parent->children--;
  atomic_fetch_sub(&report.living[gone->kind], 1);
  free(gone->used_by.items);
  free(gone->waits.items);
  free(gone->own);
  free(gone);
}

/* ---- Uses --------------------------------------------------------------------------------------- */

static void grow(uses *u) {
  if (u->count < u->capacity) return;
  u->capacity = u->capacity ? 2 * u->capacity : 8;
  u->items = realloc(u->items, u->capacity * sizeof *u->items);
  if (!u->items) abort();
}

static uint64_t completed(const record *queue) {
  uint64_t value = 0;
  (void)!inner->queue_completed((qn_adapter_queue *)(uintptr_t)queue->object, &value);
  return value;
}

/* A queue that is gone was complete when it went. */
static bool is_past(const use *u) {
  const record *queue = find_queue(u->queue);
  return !queue || completed(queue) >= u->value;
}

static void note_use(record *r, const record *queue, uint64_t value) {
  uses *u = &r->used_by;
  for (uint32_t i = 0; i < u->count; i++) {
    if (u->items[i].queue != queue->number) continue;
    u->items[i].value = value;
    return;
  }
  grow(u);
  u->items[u->count++] = (use){queue->number, value};
}

static void check_unused(const record *r) {
  for (uint32_t i = 0; i < r->used_by.count; i++)
    if (!is_past(&r->used_by.items[i])) violation("a %s ends and work in flight uses it", names[r->kind]);
}

/* Forgets waits that are past, when there are many. */
static void prune_waits(record *queue) {
  uint64_t done = completed(queue);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < queue->waits.count; i++) {
    if (queue->own[i] <= done) continue;
    queue->waits.items[kept] = queue->waits.items[i];
    queue->own[kept++] = queue->own[i];
  }
  queue->waits.count = kept;
}

static void note_wait(record *queue, const record *awaited, uint64_t value, uint64_t own) {
  if (queue->waits.count == queue->waits.capacity) prune_waits(queue);
  grow(&queue->waits);
  queue->own = realloc(queue->own, queue->waits.capacity * sizeof *queue->own);
  if (!queue->own) abort();
  queue->own[queue->waits.count] = own;
  queue->waits.items[queue->waits.count++] = (use){awaited->number, value};
}

static void check_not_awaited(const record *gone) {
  for (const record *q = records; q; q = q->next)
    for (uint32_t i = 0; q->kind == QUEUE && q != gone && i < q->waits.count; i++)
      if (q->waits.items[i].queue == gone->number && q->own[i] > completed(q))
        violation("a queue ends and another one has yet to wait for it");
}

/* ---- Instances and devices ---------------------------------------------------------------------- */

static qn_status instance_open(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  qn_status status = inner->instance_open(host, out_instance);
  pthread_mutex_lock(&lock);
  if (status >= 0) add(INSTANCE, *out_instance, NULL);
  pthread_mutex_unlock(&lock);
  return status;
}

static void end(kind k, const void *object, const char *call) {
  pthread_mutex_lock(&lock);
  record *r = need(k, object, call);
  if (r) drop(r);
  pthread_mutex_unlock(&lock);
}

static qn_status instance_close(qn_adapter_instance *instance) {
  end(INSTANCE, instance, "instance_close");
  return inner->instance_close(instance);
}

static qn_status device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  qn_status status = inner->device_open(instance, index, out_device);
  pthread_mutex_lock(&lock);
  record *parent = need(INSTANCE, instance, "device_open");
  if (status >= 0) add(DEVICE, *out_device, parent);
  pthread_mutex_unlock(&lock);
  return status;
}

static qn_status device_close(qn_adapter_device *device) {
  end(DEVICE, device, "device_close");
  return inner->device_close(device);
}

/* ---- Memory, programs, kernels ------------------------------------------------------------------ */

static void begin(kind k, const void *object, kind parent_kind, const void *parent, const char *call) {
  pthread_mutex_lock(&lock);
  record *p = need(parent_kind, parent, call);
  add(k, object, p);
  pthread_mutex_unlock(&lock);
}

static void end_unused(kind k, const void *object, const char *call) {
  pthread_mutex_lock(&lock);
  record *r = need(k, object, call);
  if (r) check_unused(r);
  if (r) drop(r);
  pthread_mutex_unlock(&lock);
}

static qn_status memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                               qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  qn_status status = inner->memory_create(device, request, out_memory, out_info);
  if (status >= 0) begin(MEMORY, *out_memory, DEVICE, device, "memory_create");
  return status;
}

static qn_status memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  end_unused(MEMORY, memory, "memory_destroy");
  return inner->memory_destroy(device, memory);
}

static qn_status program_create(qn_adapter_device *device, const qn_adapter_code *code,
                                qn_adapter_program **out_program) {
  qn_status status = inner->program_create(device, code, out_program);
  if (status >= 0) begin(PROGRAM, *out_program, DEVICE, device, "program_create");
  return status;
}

static qn_status program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  end(PROGRAM, program, "program_destroy");
  return inner->program_destroy(device, program);
}

static qn_status kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                               const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                               qn_adapter_kernel_info *out_info) {
  qn_status status = inner->kernel_create(device, program, description, out_kernel, out_info);
  if (status >= 0) begin(KERNEL, *out_kernel, PROGRAM, program, "kernel_create");
  return status;
}

static qn_status kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  end_unused(KERNEL, kernel, "kernel_destroy");
  return inner->kernel_destroy(device, kernel);
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static qn_status queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                              qn_adapter_queue **out_queue) {
  qn_status status = inner->queue_create(device, options, out_queue);
  if (status >= 0) begin(QUEUE, *out_queue, DEVICE, device, "queue_create");
  return status;
}

static qn_status queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue) {
  pthread_mutex_lock(&lock);
  record *r = need(QUEUE, queue, "queue_destroy");
  if (r) {
    if (completed(r) < r->submitted) violation("a queue ends and has work in flight");
    check_not_awaited(r);
    drop(r);
  }
  pthread_mutex_unlock(&lock);
  return inner->queue_destroy(device, queue);
}

static void check_memory(const qn_adapter_memory *memory, const record *device) {
  record *r = memory ? need(MEMORY, memory, "queue_submit") : NULL;
  if (r && r->parent != device) violation("memory of one device is used on another");
}

static void check_command(const record *queue, const qn_adapter_command *c, uint64_t value) {
  if (c->value != value)
    violation("value %llu is submitted after %llu", (unsigned long long)c->value, (unsigned long long)value - 1);
  check_memory(c->target, queue->parent);
  check_memory(c->source, queue->parent);
  if (c->kind == QN_COMMAND_WAIT) {
    const record *awaited = need(QUEUE, c->wait_queue, "a wait");
    if (awaited && c->wait_value > awaited->submitted) violation("a wait for a value that was not given out");
  }
  if (c->kind != QN_COMMAND_LAUNCH) return;
  need(KERNEL, c->launch->kernel, "a launch");
  for (uint32_t i = 0; i < c->launch->argument_count; i++) check_memory(c->launch->arguments[i].memory, queue->parent);
}

static void note_memory(const qn_adapter_memory *memory, const record *queue, uint64_t value) {
  record *r = memory ? find(MEMORY, memory) : NULL;
  if (r) note_use(r, queue, value);
}

static void note_command(record *queue, const qn_adapter_command *c) {
  note_memory(c->target, queue, c->value);
  note_memory(c->source, queue, c->value);
  if (c->kind == QN_COMMAND_WAIT) {
    const record *awaited = find(QUEUE, c->wait_queue);
    if (awaited) note_wait(queue, awaited, c->wait_value, c->value);
  }
  if (c->kind != QN_COMMAND_LAUNCH) return;
  record *kernel = find(KERNEL, c->launch->kernel);
  if (kernel) note_use(kernel, queue, c->value);
  for (uint32_t i = 0; i < c->launch->argument_count; i++) note_memory(c->launch->arguments[i].memory, queue, c->value);
}

/* The core gives nothing that a batch names away before the call has returned: noting it afterwards is early enough. */
static qn_status queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count) {
  pthread_mutex_lock(&lock);
  record *r = need(QUEUE, queue, "queue_submit");
  for (uint32_t i = 0; r && i < count; i++) check_command(r, &commands[i], r->submitted + 1 + i);
  pthread_mutex_unlock(&lock);
  qn_status status = inner->queue_submit(queue, commands, count);
  if (status != QN_OK || !r) return status;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; i++) note_command(r, &commands[i]);
  r->submitted += count;
  pthread_mutex_unlock(&lock);
  return status;
}

static void look_for_queue(const qn_adapter_queue *queue, const char *call) {
  pthread_mutex_lock(&lock);
  need(QUEUE, queue, call);
  pthread_mutex_unlock(&lock);
}

static qn_status queue_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  look_for_queue(queue, "queue_completed");
  return inner->queue_completed(queue, out_value);
}

static qn_status queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  look_for_queue(queue, "queue_progress");
  return inner->queue_progress(queue, out_progress);
}

static qn_status queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns) {
  look_for_queue(queue, "queue_wait");
  qn_status status = inner->queue_wait(queue, value, timeout_ns);
  look_for_queue(queue, "the end of queue_wait");
  return status;
}

static qn_status native(uint32_t object_kind, void *object, uint32_t which, uint64_t *out_native) {
  if (object_kind != QN_KIND_DEVICE || which != AUDIT_WHICH)
    return inner->native(object_kind, object, which, out_native);
  *out_native = (uint64_t)(uintptr_t)&report;
  return QN_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  static qn_adapter_table table;
  const char *path = getenv("QUERN_AUDIT");
  qn_adapter_entry_fn entry = NULL;
  void *library = dlopen(path ? path : AUDITED, RTLD_NOW | RTLD_LOCAL);
  if (library) *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  if (!entry) return NULL;
  inner = entry(abi_version);
  qn_adapter_table t = *inner;
  t.name = "audit";
  t.instance_open = instance_open;
  t.instance_close = instance_close;
  t.device_open = device_open;
  t.device_close = device_close;
  t.memory_create = memory_create;
  t.memory_destroy = memory_destroy;
  t.program_create = program_create;
  t.program_destroy = program_destroy;
  t.kernel_create = kernel_create;
  t.kernel_destroy = kernel_destroy;
  t.queue_create = queue_create;
  t.queue_destroy = queue_destroy;
  t.queue_submit = queue_submit;
  t.queue_completed = queue_completed;
  t.queue_progress = queue_progress;
  t.queue_wait = queue_wait;
  t.native = native;
  memcpy(&table, &t, sizeof t);
  return &table;
}
