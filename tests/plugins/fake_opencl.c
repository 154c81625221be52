/* An OpenCL loader and driver in one, for tests of the opencl adapter: see fake_opencl.h. */
#pragma GCC visibility push(default)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#pragma GCC visibility pop

#include "fake_opencl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static fake_cl_control control;
__attribute__((visibility("default"))) fake_cl_control *fake_cl_get_control(void);
fake_cl_control *fake_cl_get_control(void) { return &control; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the free lists and of control.what */

static void wrong(const char *what) {
  pthread_mutex_lock(&lock);
  if (control.wrong == 0) snprintf(control.what, sizeof control.what, "%s", what);
  control.wrong++;
  pthread_mutex_unlock(&lock);
}

/* The code that a call is told to fail with, or CL_SUCCESS. */
static cl_int called(int call) {
  uint64_t before = control.fail_after[call];
  control.calls[call]++;
  if (control.fail_code[call] == 0) return CL_SUCCESS;
  while (before > 0)
    if (atomic_compare_exchange_weak(&control.fail_after[call], &before, before - 1)) return CL_SUCCESS;
  return control.fail_code[call];
}

static void pause_us(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

static cl_ulong now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (cl_ulong)t.tv_sec * 1000000000u + (cl_ulong)t.tv_nsec;
}

/* ---- Objects ------------------------------------------------------------------------------------ */

typedef enum kind { CONTEXT = 1, QUEUE, MEMORY, PROGRAM, KERNEL, EVENT, KINDS } kind;

typedef struct object {
  _Atomic uint32_t kind; /* 0: freed */
  _Atomic uint32_t refs;
  uint64_t serial;
  struct object *next_free;
} object;

struct _cl_context {
  object o;
  const fake_cl_device *device;
  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
  void *user;
};

struct _cl_mem {
  object o;
  size_t size;
  unsigned char *bytes;
  bool is_own;
  _Atomic uint32_t at_map; /* a thread is within a call that maps or unmaps it */
};

struct _cl_program {
  object o;
  char *text;
  size_t size;
};

struct _cl_event {
  object o;
  cl_command_queue queue;
  _Atomic cl_int state;
  uint64_t number; /* of its command on the queue */
  cl_ulong start, end;
  pthread_mutex_t lock; /* the rest */
  bool is_over;
  void(CL_CALLBACK *callback)(cl_event, cl_int, void *);
  void *user;
};

static object *free_objects[KINDS];
static uint64_t last_serial;

static void *make(kind k, size_t size) {
  pthread_mutex_lock(&lock);
  object *o = free_objects[k];
  if (o) free_objects[k] = o->next_free;
  uint64_t serial = ++last_serial;
  pthread_mutex_unlock(&lock);
  if (!o) o = malloc(size);
  if (!o) abort();
  memset(o, 0, size);
  o->kind = k;
  o->refs = 1;
  o->serial = serial;
  control.objects++;
  if (k == EVENT) {
    control.events++;
    control.events_made++;
  }
  return o;
}

static bool is_alive(const void *given, kind k) {
  const object *o = given;
  if (o && o->kind == k && o->refs > 0) return true;
  wrong("an object that is none (any longer)");
  return false;
}

/* Whether that was the last count; then the object is the caller's to end. */
static bool drop(void *given, kind k) {
  return is_alive(given, k) && atomic_fetch_sub(&((object *)given)->refs, 1) == 1;
}

static void unmake(void *given) {
  object *o = given;
  kind k = (kind)o->kind;
  o->kind = 0;
  control.objects--;
  if (k == EVENT) control.events--;
  pthread_mutex_lock(&lock);
  o->next_free = free_objects[k];
  free_objects[k] = o;
  pthread_mutex_unlock(&lock);
}

/* ---- Platforms and devices ---------------------------------------------------------------------- */

static cl_int give(const void *value, size_t value_size, size_t size, void *out, size_t *size_ret) {
  if (size_ret) *size_ret = value_size;
  if (out && size < value_size) return CL_INVALID_VALUE;
  if (out) memcpy(out, value, value_size);
  return CL_SUCCESS;
}
static cl_int give_text(const char *text, size_t size, void *out, size_t *size_ret) {
  return give(text, strlen(text) + 1, size, out, size_ret);
}

cl_int clGetPlatformIDs(cl_uint capacity, cl_platform_id *ids, cl_uint *count) {
  cl_int code = called(FAKE_GetPlatformIDs);
  if (code) return code;
  if (count) *count = control.platform_count;
  for (cl_uint i = 0; ids && i < capacity && i < control.platform_count; i++)
    ids[i] = (cl_platform_id)&control.platforms[i];
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t size, void *out, size_t *size_ret) {
  const fake_cl_platform *p = (const fake_cl_platform *)id;
  if (what == CL_PLATFORM_NAME) return give_text(p->name, size, out, size_ret);
  if (what == CL_PLATFORM_VERSION) return give_text(p->version, size, out, size_ret);
  return CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint capacity, cl_device_id *ids, cl_uint *count) {
  fake_cl_platform *p = (fake_cl_platform *)id;
  (void)type;
  cl_int code = called(FAKE_GetDeviceIDs);
  if (code) return code;
  if (p->device_count == 0) return CL_DEVICE_NOT_FOUND;
  if (count) *count = p->device_count;
  for (cl_uint i = 0; ids && i < capacity && i < p->device_count; i++) ids[i] = (cl_device_id)&p->devices[i];
  return CL_SUCCESS;
}

static bool is_older_than_2(const fake_cl_device *d) { return strncmp(d->version, "OpenCL 1", 8) == 0; }

static cl_int number_of(const fake_cl_device *d, cl_device_info what, cl_ulong *out, size_t *size) {
  *size = sizeof(cl_uint);
  switch (what) {
    case CL_DEVICE_AVAILABLE:
      return *out = !d->not_available, CL_SUCCESS;
    case CL_DEVICE_COMPILER_AVAILABLE:
      return *out = !d->no_compiler, CL_SUCCESS;
    case CL_DEVICE_ENDIAN_LITTLE:
      return *out = !d->big_endian, CL_SUCCESS;
    case CL_DEVICE_ADDRESS_BITS:
      return *out = 64, CL_SUCCESS;
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return *out = 3, CL_SUCCESS;
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return *out = 1024, CL_SUCCESS;
    default:
      break;
  }
  *size = sizeof(cl_ulong); /* and size_t */
  switch (what) {
    case CL_DEVICE_TYPE:
      return *out = d->is_gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU, CL_SUCCESS;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return *out = 1 << 30, CL_SUCCESS;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return *out = 1 << 28, CL_SUCCESS;
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return *out = 32 << 10, CL_SUCCESS;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return *out = 512, CL_SUCCESS;
    case CL_DEVICE_MAX_PARAMETER_SIZE:
      return *out = 1024, CL_SUCCESS;
    case CL_DEVICE_DOUBLE_FP_CONFIG:
    case CL_DEVICE_SINGLE_FP_CONFIG:
      return *out = 0, CL_SUCCESS;
    case CL_DEVICE_QUEUE_PROPERTIES:
      return *out = CL_QUEUE_PROFILING_ENABLE, CL_SUCCESS;
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
      return *out = !d->no_timer, CL_SUCCESS;
    case CL_DEVICE_SVM_CAPABILITIES:
      if (is_older_than_2(d)) wrong("a device older than 2.0 is asked for shared virtual memory");
      return *out = d->svm, CL_SUCCESS;
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *out, size_t *size_ret) {
  const fake_cl_device *d = (const fake_cl_device *)id;
  const size_t items[3] = {512, 256, 64};
  cl_ulong number = 0;
  size_t number_size = 0;
  switch (what) {
    case CL_DEVICE_NAME:
      return give_text(d->name, size, out, size_ret);
    case CL_DEVICE_VERSION:
      return give_text(d->version, size, out, size_ret);
    case CL_DEVICE_EXTENSIONS:
      return give_text(d->extensions ? d->extensions : "", size, out, size_ret);
    case CL_DRIVER_VERSION:
      return give_text("17.4", size, out, size_ret);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return give(items, sizeof items, size, out, size_ret);
    default:
      break;
  }
  cl_int code = number_of(d, what, &number, &number_size);
  return code == CL_SUCCESS ? give(&number, number_size, size, out, size_ret) : code;
}

/* ---- Contexts and memory ------------------------------------------------------------------------ */

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                           cl_int *code) {
  (void)properties;
  if (count != 1) wrong("a context of several devices");
  *code = called(FAKE_CreateContext);
  if (*code) return NULL;
  cl_context c = make(CONTEXT, sizeof *c);
  c->device = (const fake_cl_device *)devices[0];
  c->notify = notify;
  c->user = user;
  return c;
}

cl_int clReleaseContext(cl_context c) {
  cl_int code = called(FAKE_Release);
  if (drop(c, CONTEXT)) unmake(c);
  return code;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *code) {
  *code = called(FAKE_CreateBuffer);
  if (*code == CL_SUCCESS && control.lost_code) *code = control.lost_code;
  if (*code == CL_SUCCESS && !(flags & CL_MEM_USE_HOST_PTR) != !host) *code = CL_INVALID_HOST_PTR;
  if (*code) return NULL;
  cl_mem m = make(MEMORY, sizeof *m);
  m->size = size;
  m->is_own = !host || c->device->copies_wrapped;
  m->bytes = m->is_own ? malloc(size) : host;
  if (!m->bytes) abort();
  if (m->is_own && host) memcpy(m->bytes, host, size);
  return m;
}

cl_int clReleaseMemObject(cl_mem m) {
  cl_int code = called(FAKE_Release);
  if (!drop(m, MEMORY)) return code;
  if (m->is_own) free(m->bytes);
  unmake(m);
  return code;
}

void *clSVMAlloc(cl_context c, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  (void)flags;
  (void)alignment;
  if (is_older_than_2(c->device)) wrong("shared virtual memory of a device older than 2.0");
  control.objects++;
  return malloc(size);
}

void clSVMFree(cl_context c, void *memory) {
  (void)c;
  control.objects--;
  free(memory);
}

/* ---- Programs and kernels ----------------------------------------------------------------------- */

static cl_program make_program(const void *bytes, size_t size, cl_int *code) {
  *code = called(FAKE_CreateProgram);
  if (*code) return NULL;
  cl_program p = make(PROGRAM, sizeof *p);
  p->text = malloc(size + 1);
  if (!p->text) abort();
  memcpy(p->text, bytes, size);
  p->text[size] = '\0';
  p->size = size;
  return p;
}

cl_program clCreateProgramWithSource(cl_context c, cl_uint count, const char **texts, const size_t *sizes,
                                     cl_int *code) {
  (void)c;
  if (count != 1) wrong("a program of several texts");
  return make_program(texts[0], sizes[0], code);
}

cl_program clCreateProgramWithBinary(cl_context c, cl_uint count, const cl_device_id *devices, const size_t *sizes,
                                     const unsigned char **binaries, cl_int *states, cl_int *code) {
  (void)c;
  (void)count;
  (void)devices;
  bool is_ours = sizes[0] > 4 && memcmp(binaries[0], "BIN:", 4) == 0;
  if (states) states[0] = is_ours ? CL_SUCCESS : CL_INVALID_BINARY;
  *code = CL_INVALID_BINARY;
  return is_ours ? make_program(binaries[0] + 4, sizes[0] - 4, code) : NULL;
}

cl_int clBuildProgram(cl_program p, cl_uint count, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  (void)count;
  (void)devices;
  (void)notify;
  (void)user;
  snprintf(control.options, sizeof control.options, "%s", options);
  return is_alive(p, PROGRAM) ? called(FAKE_BuildProgram) : CL_INVALID_PROGRAM;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t size, void *out,
                             size_t *size_ret) {
  (void)p;
  (void)d;
  if (what != CL_PROGRAM_BUILD_LOG) return CL_INVALID_VALUE;
  return give_text(control.log ? control.log : "", size, out, size_ret);
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t size, void *out, size_t *size_ret) {
  size_t binary = p->size + 4;
  if (what == CL_PROGRAM_BINARY_SIZES) return give(&binary, sizeof binary, size, out, size_ret);
  if (what != CL_PROGRAM_BINARIES) return CL_INVALID_VALUE;
  unsigned char *to = *(unsigned char **)out;
  memcpy(to, "BIN:", 4);
  memcpy(to + 4, p->text, p->size);
  return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program p) {
  cl_int code = called(FAKE_Release);
  if (!drop(p, PROGRAM)) return code;
  free(p->text);
  unmake(p);
  return code;
}

/* What an entry does, which a program has when its text has that word, and its parameters: b a buffer, 4 and s values of 4
 * and 24 bytes, l local memory; 1, 2 and r hidden ones: one offset, two, the range and one. */
typedef struct kernel_type {
  const char *name, *does, *parameters;
} kernel_type;

static const kernel_type kernel_types[] = {
    {"nothing", "nothing", ""}, {"advance", "advance", "b4"},        {"quern_at_advance", "advance", "b41"},
    {"take", "take", "bb4ls"},  {"quern_at_take", "take", "bb4ls2"}, {"where", "where", "br"},
    {"lonely", "lonely", "b"}, /* has no entry for offsets */
};

enum { ARGUMENT_BYTES = 128 };

typedef struct argument {
  bool is_set;
  uint64_t serial; /* of a buffer, when it was set */
  cl_mem memory;
  unsigned char bytes[ARGUMENT_BYTES];
} argument;

struct _cl_kernel {
  object o;
  const kernel_type *type;
  argument arguments[FAKE_ARGUMENTS]; /* not guarded: one thread at a time */
};

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *code) {
  *code = called(FAKE_CreateKernel);
  if (*code) return NULL;
  for (size_t i = 0; i < sizeof kernel_types / sizeof *kernel_types; i++) {
    if (strcmp(kernel_types[i].name, name) != 0 || !strstr(p->text, kernel_types[i].does)) continue;
    cl_kernel k = make(KERNEL, sizeof *k);
    k->type = &kernel_types[i];
    return k;
  }
  *code = CL_INVALID_KERNEL_NAME;
  return NULL;
}

cl_int clReleaseKernel(cl_kernel k) {
  cl_int code = called(FAKE_Release);
  if (drop(k, KERNEL)) unmake(k);
  return code;
}

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t size, void *out, size_t *size_ret) {
  cl_uint count = (cl_uint)strlen(k->type->parameters);
  return what == CL_KERNEL_NUM_ARGS ? give(&count, sizeof count, size, out, size_ret) : CL_INVALID_VALUE;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t size, void *out,
                                size_t *size_ret) {
  const size_t items = 128;
  (void)k;
  (void)d;
  return what == CL_KERNEL_WORK_GROUP_SIZE ? give(&items, sizeof items, size, out, size_ret) : CL_INVALID_VALUE;
}

static size_t size_of(char parameter) {
  switch (parameter) {
    case '4':
      return 4;
    case '2':
      return 16;
    case 's':
      return 24;
    case 'r':
      return 128;
    default:
      return 8;
  }
}

cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t size, const void *value) {
  cl_int code = called(FAKE_SetKernelArg);
  if (code) return code;
  if (!is_alive(k, KERNEL)) return CL_INVALID_KERNEL;
  if (i >= strlen(k->type->parameters)) return CL_INVALID_ARG_INDEX;
  char p = k->type->parameters[i];
  argument *a = &k->arguments[i];
  if (p == 'l' ? value || size == 0 : size != size_of(p)) {
    wrong("an argument of a wrong size");
    return CL_INVALID_ARG_SIZE;
  }
  *a = (argument){.is_set = true};
  if (value) memcpy(a->bytes, value, size);
  if (p == 'l') memcpy(a->bytes, &size, sizeof size);
  if (p == 'b') memcpy(&a->memory, a->bytes, sizeof a->memory);
  if (a->memory && !is_alive(a->memory, MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (a->memory) a->serial = a->memory->o.serial;
  return CL_SUCCESS;
}

cl_int clSetKernelArgSVMPointer(cl_kernel k, cl_uint i, const void *value) {
  control.calls[FAKE_SetKernelArg]++;
  argument *a = &k->arguments[i];
  *a = (argument){.is_set = true};
  memcpy(a->bytes, &value, sizeof value);
  return CL_SUCCESS;
}

/* ---- Commands ----------------------------------------------------------------------------------- */

typedef enum action { NOTHING, COPY, WRITE, READ, FILL, ADVANCE, WHERE } action;

enum { WAITS = 32, PATTERN = 128 };

typedef struct command {
  struct command *next;
  action action;
  unsigned char *target;
  const unsigned char *source;
  size_t size, pattern_size;
  unsigned char pattern[PATTERN];
  uint32_t by;
  fake_cl_launch launch;
  cl_ulong range[15];
  cl_event waits[WAITS];
  cl_uint wait_count;
  cl_event event; /* the command's own count */
} command;

struct _cl_command_queue {
  object o;
  cl_context context;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  command *first, **last;
  uint64_t enqueued, flushed, done, ended;
  cl_int first_code; /* what failed first */
  bool ends, has_failed;
};

static void release_event(cl_event e) {
  if (!drop(e, EVENT)) return;
  pthread_mutex_destroy(&e->lock);
  unmake(e);
}

/* As drivers do it: from the queue's thread, or at once, in the thread that asks. */
static void call_back(cl_event e, cl_int state) {
  pthread_mutex_lock(&e->lock);
  e->is_over = true;
  void(CL_CALLBACK * callback)(cl_event, cl_int, void *) = e->callback;
  pthread_mutex_unlock(&e->lock);
  if (!callback || control.callbacks_lost) return;
  control.callbacks++;
  callback(e, state, e->user);
}

static void flush(cl_command_queue q) {
  pthread_mutex_lock(&q->lock);
  q->flushed = q->enqueued;
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

static bool is_flushed(cl_event e) {
  pthread_mutex_lock(&e->queue->lock);
  bool flushed = e->number <= e->queue->flushed;
  pthread_mutex_unlock(&e->queue->lock);
  return flushed;
}

/* A queue that waits for another one's command that isn't flushed may wait for ever. It is counted, and made up for so that
 * a test ends. */
static void need_flush(cl_event e) {
  if (e->state <= 0 || is_flushed(e)) return;
  control.flushes_missed++;
  flush(e->queue);
}

static cl_int wait_for(cl_event e) {
  while (e->state > 0) {
    if (control.lost_code) return control.lost_code;
    pause_us(50);
  }
  return e->state;
}

static void run_where(const command *c) {
  uint64_t group[3];
  uint32_t *out = (uint32_t *)(void *)c->target;
  for (uint64_t i = 0; i < c->launch.global[0]; i++) {
    group[0] = i / c->launch.local[0] + c->range[6];
    uint64_t at = c->launch.offset[0] + i - c->range[3];
    out[at * 2] = (uint32_t)group[0];
    out[at * 2 + 1] = (uint32_t)c->range[9];
  }
}

static void run(const command *c) {
  switch (c->action) {
    case COPY:
    case WRITE:
    case READ:
      memcpy(c->target, c->source, c->size);
      break;
    case FILL:
      for (size_t i = 0; i < c->size; i++) c->target[i] = c->pattern[i % c->pattern_size];
      break;
    case ADVANCE: {
      uint32_t cell;
      memcpy(&cell, c->target, 4);
      cell = cell * 3 + c->by;
      memcpy(c->target, &cell, 4);
      break;
    }
    case WHERE:
      run_where(c);
      break;
    case NOTHING:
      break;
  }
}

static bool is_held(const command *c) {
  if (control.lost_code) return false;
  return control.holds || (c->action == ADVANCE && control.holds_by != 0 && c->by == control.holds_by);
}

/* What comes behind a failure is ended at once, whatever it would have waited for: as PoCL does it. */
static cl_int outcome(cl_command_queue q, const command *c) {
  while (is_held(c)) pause_us(50);
  if (q->has_failed) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  for (cl_uint i = 0; i < c->wait_count; i++) {
    need_flush(c->waits[i]);
    if (wait_for(c->waits[i]) < 0) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  if (control.lost_code) return control.lost_code;
  if (control.event_delay > 0) {
    control.event_delay--;
    return CL_SUCCESS;
  }
  return atomic_exchange(&control.event_code, 0);
}

/* A command's states before its last one. */
static void start(const command *c) {
  c->event->state = CL_SUBMITTED;
  while (c->launch.dimensions > 0 && control.compiles && !control.lost_code) pause_us(50);
  c->event->state = CL_RUNNING;
}

static void end(cl_command_queue q, command *c) {
  cl_int state = outcome(q, c);
  if (state == CL_SUCCESS) start(c);
  c->event->start = now();
  if (state == CL_SUCCESS) run(c);
  if (state < 0 && !q->has_failed && control.words && q->context->notify)
    q->context->notify(control.words, NULL, 0, q->context->user);
  if (state < 0) q->has_failed = true;
  for (cl_uint i = 0; i < c->wait_count; i++) release_event(c->waits[i]);
  c->event->end = now();
  c->event->state = state;
  call_back(c->event, state);
  release_event(c->event);
  free(c);
  pthread_mutex_lock(&q->lock);
  q->ended++;
  if (state < 0 && q->first_code == CL_SUCCESS) q->first_code = state;
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

static command *next_command(cl_command_queue q) {
  pthread_mutex_lock(&q->lock);
  while (!(q->first && (q->done < q->flushed || q->ends || control.starts_alone)) && !(q->ends && !q->first))
    pthread_cond_wait(&q->changed, &q->lock);
  command *c = q->first;
  if (c) q->first = c->next;
  if (!q->first) q->last = &q->first;
  if (c) q->done++;
  pthread_mutex_unlock(&q->lock);
  return c;
}

static void *work(void *given) {
  cl_command_queue q = given;
  for (command *c = next_command(q); c; c = next_command(q)) end(q, c);
  return NULL;
}

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties properties,
                                      cl_int *code) {
  (void)d;
  (void)properties;
  *code = called(FAKE_CreateCommandQueue);
  if (*code) return NULL;
  cl_command_queue q = make(QUEUE, sizeof *q);
  q->context = c;
  q->last = &q->first;
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->changed, NULL);
  if (pthread_create(&q->thread, NULL, work, q) != 0) abort();
  return q;
}

cl_int clReleaseCommandQueue(cl_command_queue q) {
  cl_int code = called(FAKE_Release);
  if (!drop(q, QUEUE)) return code;
  pthread_mutex_lock(&q->lock);
  q->ends = true;
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->lock);
  pthread_join(q->thread, NULL);
  pthread_cond_destroy(&q->changed);
  pthread_mutex_destroy(&q->lock);
  unmake(q);
  return code;
}

cl_int clFlush(cl_command_queue q) {
  cl_int code = called(FAKE_Flush);
  if (control.lost_code) return control.lost_code;
  flush(q);
  return code;
}

cl_int clFinish(cl_command_queue q) {
  cl_int code = called(FAKE_Finish);
  flush(q);
  pthread_mutex_lock(&q->lock);
  uint64_t last = q->enqueued;
  while (q->ended < last) pthread_cond_wait(&q->changed, &q->lock);
  if (code == CL_SUCCESS) code = q->first_code;
  pthread_mutex_unlock(&q->lock);
  return control.lost_code ? control.lost_code : code;
}

/* Takes a command over: copies it, with its wait list, and gives out an event when one is wanted. */
static cl_int enqueue(int call, cl_command_queue q, const command *given, cl_uint wait_count, const cl_event *waits,
                      cl_event *out_event) {
  cl_int code = called(call);
  if (code == CL_SUCCESS) code = control.lost_code;
  if (code) return code;
  if (!is_alive(q, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!wait_count != !waits || wait_count > WAITS) return CL_INVALID_EVENT_WAIT_LIST;
  command *c = malloc(sizeof *c);
  if (!c) abort();
  *c = *given;
  for (cl_uint i = 0; i < wait_count; i++) {
    if (!is_alive(waits[i], EVENT)) abort();
    waits[i]->o.refs++;
    c->waits[c->wait_count++] = waits[i];
  }
  c->event = make(EVENT, sizeof *c->event);
  pthread_mutex_init(&c->event->lock, NULL);
  c->event->queue = q;
  c->event->state = CL_QUEUED;
  if (!out_event) control.events_made--; /* the driver's own */
  if (out_event) {
    c->event->o.refs++;
    *out_event = c->event;
  }
  pthread_mutex_lock(&q->lock);
  c->next = NULL;
  *q->last = c;
  q->last = &c->next;
  c->event->number = ++q->enqueued;
  pthread_mutex_unlock(&q->lock);
  return CL_SUCCESS;
}

static bool fits(cl_mem m, size_t offset, size_t size) {
  return is_alive(m, MEMORY) && size > 0 && offset <= m->size && size <= m->size - offset;
}

cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem source, cl_mem target, size_t source_offset, size_t target_offset,
                           size_t size, cl_uint wait_count, const cl_event *waits, cl_event *event) {
  if (!fits(source, source_offset, size) || !fits(target, target_offset, size)) return CL_INVALID_VALUE;
  if (source == target && source_offset < target_offset + size && target_offset < source_offset + size)
    return CL_MEM_COPY_OVERLAP;
  const command c = {
      .action = COPY, .target = target->bytes + target_offset, .source = source->bytes + source_offset, .size = size};
  return enqueue(FAKE_EnqueueTransfer, q, &c, wait_count, waits, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem target, const void *pattern, size_t pattern_size, size_t offset,
                           size_t size, cl_uint wait_count, const cl_event *waits, cl_event *event) {
  if (!fits(target, offset, size) || offset % pattern_size != 0 || size % pattern_size != 0) return CL_INVALID_VALUE;
  command c = {.action = FILL, .target = target->bytes + offset, .size = size, .pattern_size = pattern_size};
  memcpy(c.pattern, pattern, pattern_size);
  return enqueue(FAKE_EnqueueTransfer, q, &c, wait_count, waits, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem source, cl_bool blocks, size_t offset, size_t size, void *host,
                           cl_uint wait_count, const cl_event *waits, cl_event *event) {
  if (!fits(source, offset, size)) return CL_INVALID_VALUE;
  if (blocks) wrong("a transfer that blocks");
  const command c = {.action = READ, .target = host, .source = source->bytes + offset, .size = size};
  return enqueue(FAKE_EnqueueTransfer, q, &c, wait_count, waits, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem target, cl_bool blocks, size_t offset, size_t size,
                            const void *host, cl_uint wait_count, const cl_event *waits, cl_event *event) {
  if (!fits(target, offset, size)) return CL_INVALID_VALUE;
  if (blocks) wrong("a transfer that blocks");
  const command c = {.action = WRITE, .target = target->bytes + offset, .source = host, .size = size};
  return enqueue(FAKE_EnqueueTransfer, q, &c, wait_count, waits, event);
}

/* As PoCL 3.1, which knows a map before its command is on the queue: an unmap in between ends one that has yet to run. */
static cl_int enqueue_map(int call, cl_command_queue q, cl_mem m, cl_uint wait_count, const cl_event *waits,
                          cl_event *event) {
  const command c = {.action = NOTHING};
  if (atomic_exchange(&m->at_map, 1)) wrong("a buffer is mapped or unmapped by two threads at a time");
  pause_us(1);
  cl_int code = enqueue(call, q, &c, wait_count, waits, event);
  atomic_store(&m->at_map, 0);
  return code;
}

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocks, cl_map_flags flags, size_t offset, size_t size,
                         cl_uint wait_count, const cl_event *waits, cl_event *event, cl_int *code) {
  (void)flags;
  if (blocks) wrong("a map that blocks");
  *code = fits(m, offset, size) ? enqueue_map(FAKE_EnqueueMap, q, m, wait_count, waits, event) : CL_INVALID_VALUE;
  return *code ? NULL : m->bytes + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *pointer, cl_uint wait_count, const cl_event *waits,
                               cl_event *event) {
  (void)pointer;
  if (!is_alive(m, MEMORY)) return CL_INVALID_MEM_OBJECT;
  return enqueue_map(FAKE_EnqueueUnmap, q, m, wait_count, waits, event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint wait_count, const cl_event *waits, cl_event *event) {
  const command c = {.action = NOTHING};
  return enqueue(FAKE_EnqueueMarker, q, &c, wait_count, waits, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint wait_count, const cl_event *waits, cl_event *event) {
  const command c = {.action = NOTHING};
  return enqueue(FAKE_EnqueueBarrier, q, &c, wait_count, waits, event);
}

/* ---- Launches ----------------------------------------------------------------------------------- */

static cl_int check_arguments(cl_kernel k) {
  for (size_t i = 0; i < strlen(k->type->parameters); i++) {
    const argument *a = &k->arguments[i];
    if (!a->is_set) return CL_INVALID_KERNEL_ARGS;
    if (a->memory && (a->memory->o.kind != MEMORY || a->memory->o.serial != a->serial))
      wrong("a kernel is launched with a buffer that was released, perhaps another one at its address");
  }
  return CL_SUCCESS;
}

/* Where the first buffer lies, with its offset, which stands `at` bytes into argument `hidden`, if there is one. */
static unsigned char *place_of(cl_kernel k, size_t hidden, size_t at) {
  const argument *a = &k->arguments[0];
  uint64_t offset = 0;
  unsigned char *shared;
  if (hidden < strlen(k->type->parameters)) memcpy(&offset, k->arguments[hidden].bytes + at, sizeof offset);
  memcpy(&shared, a->bytes, sizeof shared);
  return (a->memory ? a->memory->bytes : shared) + offset;
}

static void put_action(cl_kernel k, command *c) {
  if (strcmp(k->type->does, "advance") == 0) {
    c->action = ADVANCE;
    c->target = place_of(k, 2, 0);
    memcpy(&c->by, k->arguments[1].bytes, 4);
  } else if (strcmp(k->type->does, "where") == 0) {
    c->action = WHERE;
    c->target = place_of(k, 1, 120);
    memcpy(c->range, k->arguments[1].bytes, sizeof c->range);
  }
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint wait_count, const cl_event *waits,
                              cl_event *event) {
  command c = {.action = NOTHING};
  if (!is_alive(k, KERNEL)) return CL_INVALID_KERNEL;
  cl_int code = check_arguments(k);
  if (code) return code;
  c.launch.dimensions = dimensions;
  c.launch.waits = wait_count;
  for (cl_uint d = 0; d < dimensions; d++) {
    if (global[d] == 0 || local[d] == 0 || global[d] % local[d] != 0) return CL_INVALID_WORK_GROUP_SIZE;
    c.launch.offset[d] = offset ? offset[d] : 0;
    c.launch.global[d] = global[d];
    c.launch.local[d] = local[d];
  }
  for (size_t i = 0; i < strlen(k->type->parameters); i++) memcpy(&c.launch.arguments[i], k->arguments[i].bytes, 8);
  if (strcmp(k->type->name, "quern_at_take") == 0) memcpy(&c.launch.arguments[6], k->arguments[5].bytes + 8, 8);
  put_action(k, &c);
  code = enqueue(FAKE_EnqueueNDRange, q, &c, wait_count, waits, event);
  if (code == CL_SUCCESS) {
    pthread_mutex_lock(&lock);
    control.launches[control.launch_count++ % FAKE_LAUNCHES] = c.launch;
    pthread_mutex_unlock(&lock);
  }
  return code;
}

/* ---- Events ------------------------------------------------------------------------------------- */

cl_int clWaitForEvents(cl_uint count, const cl_event *events) {
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < count; i++) {
    if (!is_alive(events[i], EVENT)) return CL_INVALID_EVENT;
    flush(events[i]->queue); /* as the specification has it */
    if (wait_for(events[i]) < 0) code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return code;
}

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t size, void *out, size_t *size_ret) {
  if (!is_alive(e, EVENT)) return CL_INVALID_EVENT;
  if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) return CL_INVALID_VALUE;
  cl_int state = e->state;
  return give(&state, sizeof state, size, out, size_ret);
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t size, void *out, size_t *size_ret) {
  if (!is_alive(e, EVENT) || e->state != CL_COMPLETE) return CL_PROFILING_INFO_NOT_AVAILABLE;
  if (what == CL_PROFILING_COMMAND_START) return give(&e->start, sizeof e->start, size, out, size_ret);
  return what == CL_PROFILING_COMMAND_END ? give(&e->end, sizeof e->end, size, out, size_ret) : CL_INVALID_VALUE;
}

cl_int clSetEventCallback(cl_event e, cl_int type, void(CL_CALLBACK *callback)(cl_event, cl_int, void *), void *user) {
  if (!is_alive(e, EVENT)) return CL_INVALID_EVENT;
  if (type != CL_COMPLETE) return CL_INVALID_VALUE;
  pthread_mutex_lock(&e->lock);
  bool is_over = e->is_over;
  if (e->callback && !is_over) wrong("a second callback: the fake takes one");
  e->callback = callback;
  e->user = user;
  pthread_mutex_unlock(&e->lock);
  if (is_over) call_back(e, e->state);
  return CL_SUCCESS;
}

cl_int clRetainEvent(cl_event e) {
  if (!is_alive(e, EVENT)) return CL_INVALID_EVENT;
  e->o.refs++;
  return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event e) {
  if (!is_alive(e, EVENT)) return CL_INVALID_EVENT;
  release_event(e);
  return CL_SUCCESS;
}
