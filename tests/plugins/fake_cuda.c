/* A CUDA driver without a GPU, for tests of the cuda adapter: see fake_cuda.h. It sees nothing of the tree but its own header: what
 * it takes a call to be is not what the adapter takes it to be, but what CUDA's manual says. */
#include "fake_cuda.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static fake_cu_control control = {.version = 13000,
                                  .device_count = 1,
                                  .devices = {{"Fake GPU", .capability = 90, .memory_bytes = UINT64_C(1) << 30},
                                              {"Fake GPU", .capability = 90, .memory_bytes = UINT64_C(1) << 30}}};
EXPORT fake_cu_control *fake_cu_get_control(void);
fake_cu_control *fake_cu_get_control(void) { return &control; }

/* For processes that a test doesn't reach: QUERN_FAKE_CUDA holds words "name=number" with ',' between. */
static __attribute__((constructor)) void read_environment(void) {
  const char *text = getenv("QUERN_FAKE_CUDA");
  int value;
  for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    if (sscanf(at, "version=%d", &value) == 1) control.version = value;
    if (sscanf(at, "init=%d", &value) == 1) control.init_code = value;
    if (sscanf(at, "devices=%d", &value) == 1) control.device_count = (uint32_t)value;
    if (sscanf(at, "mode=%d", &value) == 1) control.devices[0].compute_mode = (uint32_t)value;
    if (sscanf(at, "retain=%d", &value) == 1) control.fail_code[FAKE_DevicePrimaryCtxRetain] = value;
    if (sscanf(at, "memory=%d", &value) == 1) control.devices[0].memory_bytes = (uint64_t)(unsigned)value << 20;
    if (sscanf(at, "capability=%d", &value) == 1) control.devices[0].capability = (uint32_t)value;
  }
}

/* Guards everything; operations of streams run without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  UNAVAILABLE = 46,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY = 209,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ALREADY_ENABLED = 704,
  ALREADY_REGISTERED = 712,
  NOT_REGISTERED = 713
};

static void wrong_locked(const char *what) {
  if (control.wrong == 0) snprintf(control.what, sizeof control.what, "%s", what);
  control.wrong++;
}
static void wrong(const char *what) {
  pthread_mutex_lock(&lock);
  wrong_locked(what);
  pthread_mutex_unlock(&lock);
}

/* The code that a call is told to fail with, or SUCCESS. */
static int called(int call) {
  uint64_t before = control.fail_after[call];
  control.calls[call]++;
  /* A live context is always put on the stack. */
  bool may_fail = call != FAKE_CtxPushCurrent;
  if (may_fail && control.any_code != 0 && atomic_fetch_sub(&control.any_after, 1) == 0)
    return atomic_exchange(&control.any_code, 0);
  if (control.fail_code[call] == 0) return SUCCESS;
  while (before > 0)
    if (atomic_compare_exchange_weak(&control.fail_after[call], &before, before - 1)) return SUCCESS;
  return control.fail_code[call];
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + control.clock_ns;
}

/* ---- Objects ------------------------------------------------------------------------------------ */

typedef enum kind { CONTEXT = 1, STREAM, EVENT, MODULE, FUNCTION, LINK, KINDS } kind;

typedef struct object {
  kind kind;                       /* 0: freed */
  struct context *of;              /* its context */
  struct object *next_free, *next; /* of all that were ever made */
} object;

typedef struct context {
  object o;
  int device;
  uint32_t retained;
  int lost; /* the code that every call on it returns */
  uint64_t children;
  uint64_t peers; /* enabled */
} context;

typedef struct event {
  object o;
  uint64_t recorded, completed, uses; /* uses: operations that name it */
  bool is_destroyed, has_time;
  uint64_t time;
} event;

typedef struct entry {
  char name[32];
  uint32_t parameter_bytes[FAKE_PARAMETER_COUNT], parameter_count;
} entry;

typedef struct function {
  object o;
  struct module *module;
  entry entry;
  int most_dynamic;
} function;

enum { ENTRIES = 16 };

typedef struct module {
  object o;
  function functions[ENTRIES];
  uint32_t count;
} module;

typedef struct link_state {
  object o;
  char *errors;
  uint64_t error_bytes;
  unsigned char *binary;
  size_t size;
} link_state;

static object *free_objects[KINDS], *all_objects;

/* The lock is held for all that follows. */
static void *make(kind k, size_t size, context *of) {
  object *o = free_objects[k];
  if (o) free_objects[k] = o->next_free;
  object *next = o ? o->next : all_objects;
  if (!o) o = all_objects = malloc(size);
  if (!o) abort();
  memset(o, 0, size);
  o->next = next;
  o->kind = k;
  o->of = of;
  control.objects++;
  if (of) of->children++;
  return o;
}
static bool is_alive(const void *given, kind k) {
  const object *o = given;
  if (o && o->kind == k) return true;
  wrong_locked("an object that is none (any longer)");
  return false;
}
static void unmake(void *given) {
  object *o = given;
  kind k = o->kind;
  if (o->of) o->of->children--;
  o->kind = (kind)0;
  control.objects--;
  o->next_free = free_objects[k];
  free_objects[k] = o;
}

/* ---- Contexts ----------------------------------------------------------------------------------- */

static bool is_initialised;
static context *primaries[FAKE_DEVICES];
static context foreign = {.o = {.kind = CONTEXT}};

enum { DEPTH = 8 };
static _Thread_local context *stack[DEPTH];
static _Thread_local uint32_t depth;

static context *current(void) {
  if (depth > 0) return stack[depth - 1];
  return control.is_foreign_current ? &foreign : NULL;
}

/* The calling thread's context; NULL and a code when the call must fail. The lock is held. */
static context *enter(int call, int *out_code) {
  context *c = current();
  *out_code = called(call);
  if (!is_initialised) {
    wrong_locked("a call before cuInit");
    *out_code = NOT_INITIALIZED;
    return NULL;
  }
  if (!c || c == &foreign) {
    wrong_locked("a call without a context of its own");
    *out_code = INVALID_CONTEXT;
    return NULL;
  }
  if (!is_alive(c, CONTEXT)) *out_code = INVALID_CONTEXT;
  if (*out_code == SUCCESS) *out_code = c->lost;
  return *out_code == SUCCESS ? c : NULL;
}

/* An object of the current context. */
static bool is_own(const context *c, const void *given, kind k) {
  if (!is_alive(given, k)) return false;
  if (((const object *)given)->of == c) return true;
  wrong_locked("an object of another context than the current one");
  return false;
}

#define BEGIN(call)          \
  int code_ = SUCCESS;       \
  pthread_mutex_lock(&lock); \
  context *c = enter(call, &code_)
#define RETURN(code)             \
  do {                           \
    int result_ = (code);        \
    pthread_mutex_unlock(&lock); \
    return result_;              \
  } while (0)

/* Every function of the driver is declared where it is defined. */
#define API(name, ...)          \
  EXPORT int name(__VA_ARGS__); \
  int name(__VA_ARGS__)

API(cuInit, unsigned flags) {
  int code = called(FAKE_Init);
  if (flags != 0) wrong("cuInit with flags");
  if (code == SUCCESS) code = control.init_code;
  if (code == SUCCESS && control.device_count == 0) code = NO_DEVICE;
  if (code == SUCCESS) is_initialised = true;
  return code;
}
API(cuDriverGetVersion, int *out) {
  int code = called(FAKE_DriverGetVersion);
  if (code == SUCCESS) *out = control.version;
  return code;
}
API(cuDeviceGetCount, int *out) {
  int code = called(FAKE_DeviceGetCount);
  if (code == SUCCESS) *out = (int)control.device_count;
  return code;
}
API(cuDeviceGet, int *out, int ordinal) {
  int code = called(FAKE_DeviceGet);
  if (ordinal < 0 || (uint32_t)ordinal >= control.device_count) return INVALID_DEVICE;
  if (code == SUCCESS) *out = ordinal;
  return code;
}
API(cuDeviceGetName, char *out, int capacity, int id) {
  int code = called(FAKE_DeviceGetName);
  if (code == SUCCESS) snprintf(out, (size_t)capacity, "%s", control.devices[id].name);
  return code;
}
API(cuDeviceTotalMem_v2, size_t *out, int id) {
  *out = (size_t)control.devices[id].memory_bytes;
  return SUCCESS;
}
API(cuDeviceGetAttribute, int *out, unsigned what, int id) {
  const fake_cu_device *d = &control.devices[id];
  const struct {
    unsigned what;
    int value;
  } answers[] = {{1, 1024},
                 {2, 1024},
                 {3, 1024},
                 {4, 64},
                 {5, 2147483647},
                 {6, 65535},
                 {7, 65535},
                 {8, 49152},
                 {10, 32},
                 {16, 3},
                 {20, (int)d->compute_mode},
                 {41, 1},
                 {75, (int)d->capability / 10},
                 {76, (int)d->capability % 10},
                 {83, !d->no_managed},
                 {89, !d->no_managed},
                 {91, !d->no_register},
                 {97, 232448},
                 {99, !d->no_register},
                 {122, !d->no_words}};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    if (answers[i].what == what) return *out = answers[i].value, SUCCESS;
  wrong("an attribute that is not known here");
  return INVALID_VALUE;
}
API(cuDeviceCanAccessPeer, int *out, int id, int peer) {
  *out = id != peer && !control.devices[id].no_peers;
  return SUCCESS;
}

static void free_blocks(const context *c);
API(cuDevicePrimaryCtxRetain, context **out, int id) {
  int code = called(FAKE_DevicePrimaryCtxRetain);
  if (code == SUCCESS && control.devices[id].compute_mode == 2) code = UNAVAILABLE;
  if (code == SUCCESS) code = control.spoiled[id];
  if (code != SUCCESS) return code;
  pthread_mutex_lock(&lock);
  if (!primaries[id]) {
    primaries[id] = make(CONTEXT, sizeof(context), NULL);
    primaries[id]->device = id;
  }
  primaries[id]->retained++;
  *out = primaries[id];
  RETURN(SUCCESS);
}
API(cuDevicePrimaryCtxRelease_v2, int id) {
  int code = called(FAKE_DevicePrimaryCtxRelease);
  if (code != SUCCESS) return code;
  pthread_mutex_lock(&lock);
  context *c = primaries[id];
  if (!c) {
    wrong_locked("a primary context is released too often");
    RETURN(INVALID_CONTEXT);
  }
  if (--c->retained > 0) RETURN(SUCCESS);
  if (c->children > 0) wrong_locked("a context goes with objects or memory in it");
  free_blocks(c);
  primaries[id] = NULL;
  unmake(c);
  RETURN(SUCCESS);
}

API(cuCtxGetCurrent, context **out) {
  *out = current();
  return SUCCESS;
}
API(cuCtxPushCurrent_v2, context *c) {
  int code = called(FAKE_CtxPushCurrent);
  if (code != SUCCESS) return code;
  pthread_mutex_lock(&lock);
  if (!is_alive(c, CONTEXT)) RETURN(INVALID_CONTEXT);
  if (depth == DEPTH) abort();
  stack[depth++] = c;
  RETURN(SUCCESS);
}
API(cuCtxPopCurrent_v2, context **out) {
  if (depth == 0) {
    wrong("a context is popped that was not pushed");
    return INVALID_CONTEXT;
  }
  *out = stack[--depth];
  return SUCCESS;
}
API(cuCtxEnablePeerAccess, context *peer, unsigned flags) {
  BEGIN(FAKE_CtxEnablePeerAccess);
  if (!c) RETURN(code_);
  if (flags != 0 || !is_alive(peer, CONTEXT) || peer == c) RETURN(INVALID_VALUE);
  if (c->peers >> peer->device & 1) RETURN(ALREADY_ENABLED);
  c->peers |= UINT64_C(1) << peer->device;
  RETURN(SUCCESS);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

enum { HOST = 1, DEVICE = 2, MANAGED = 3, REGISTERED = 4 };

typedef struct block {
  struct block *next;
  int type;
  context *of;
  uintptr_t address;
  size_t size;
} block;

static block *blocks;
static uint64_t taken_bytes[FAKE_DEVICES];

static block *find_block(uintptr_t address) {
  for (block *b = blocks; b; b = b->next)
    if (b->address <= address && address < b->address + b->size) return b;
  return NULL;
}

static void add_block(context *of, int type, void *address, size_t size) {
  block *b = malloc(sizeof *b);
  if (!b) abort();
  *b = (block){blocks, type, of, (uintptr_t)address, size};
  blocks = b;
  of->children++;
  control.objects++;
}

/* Takes out the block that begins there. */
static bool remove_block(uintptr_t address, int type, block *out) {
  for (block **link = &blocks; *link; link = &(*link)->next) {
    block *b = *link;
    if (b->address != address || (b->type != type && !(type == DEVICE && b->type == MANAGED))) continue;
    *out = *b;
    *link = b->next;
    b->of->children--;
    control.objects--;
    free(b);
    return true;
  }
  return false;
}

enum { DIRTY_BYTES = 1 << 20 }; /* of new memory have something in them */

static int take(context *c, int type, void **out, size_t size) {
  void *address = NULL;
  if (size == 0) {
    wrong_locked("an allocation of 0 bytes");
    return INVALID_VALUE;
  }
  if (type != HOST && taken_bytes[c->device] + size > control.devices[c->device].memory_bytes) return OUT_OF_MEMORY;
  if (posix_memalign(&address, type == HOST ? 4096 : 256, size) != 0) return OUT_OF_MEMORY;
  memset(address, 0xa5, size < DIRTY_BYTES ? size : DIRTY_BYTES);
  add_block(c, type, address, size);
  if (type != HOST) taken_bytes[c->device] += size;
  *out = address;
  return SUCCESS;
}
static bool is_in_use(uintptr_t address, size_t size);
static int give_back(context *c, int type, uintptr_t address) {
  block b;
  if (!remove_block(address, type, &b)) {
    wrong_locked("memory is freed that is none (any longer)");
    return INVALID_VALUE;
  }
  if (b.of != c) wrong_locked("memory is freed in another context");
  if (is_in_use(b.address, b.size)) wrong_locked("memory is freed with work on it");
  if (b.type != HOST) taken_bytes[c->device] -= b.size;
  free((void *)b.address);
  return SUCCESS;
}

/* With its context goes all of its memory. */
static void free_blocks(const context *c) {
  for (block **link = &blocks; *link;) {
    block *b = *link;
    if (b->of != c) {
      link = &b->next;
      continue;
    }
    *link = b->next;
    if (b->type != REGISTERED) free((void *)b->address);
    free(b);
  }
  taken_bytes[c->device] = 0;
}

/* What is freed of a context that is gone stays so, for the driver does nothing in one. */
API(cuMemAlloc_v2, uintptr_t *out, size_t size) {
  void *address;
  BEGIN(FAKE_MemAlloc);
  if (!c) RETURN(code_);
  code_ = take(c, DEVICE, &address, size);
  if (code_ == SUCCESS) *out = (uintptr_t)address;
  RETURN(code_);
}
static int free_anyway(int call, int type, uintptr_t address) {
  BEGIN(call);
  context *own = current();
  if (!c && (!own || own->lost == 0)) RETURN(code_);
  int code = give_back(own, type, address);
  RETURN(own->lost ? own->lost : code);
}
API(cuMemFree_v2, uintptr_t address) { return free_anyway(FAKE_MemFree, DEVICE, address); }
API(cuMemAllocManaged, uintptr_t *out, size_t size, unsigned flags) {
  void *address;
  BEGIN(FAKE_MemAllocManaged);
  if (!c) RETURN(code_);
  if (flags != 1 || control.devices[c->device].no_managed) wrong_locked("managed memory of that kind");
  code_ = take(c, MANAGED, &address, size);
  if (code_ == SUCCESS) *out = (uintptr_t)address;
  RETURN(code_);
}
API(cuMemHostAlloc, void **out, size_t size, unsigned flags) {
  BEGIN(FAKE_MemHostAlloc);
  if (!c) RETURN(code_);
  if (flags & ~3u) wrong_locked("host memory with such flags");
  RETURN(take(c, HOST, out, size));
}
API(cuMemFreeHost, void *pointer) { return free_anyway(FAKE_MemFreeHost, HOST, (uintptr_t)pointer); }
API(cuMemHostGetDevicePointer_v2, uintptr_t *out, void *pointer, unsigned flags) {
  BEGIN(FAKE_MemHostGetDevicePointer);
  if (!c) RETURN(code_);
  const block *b = find_block((uintptr_t)pointer);
  if (flags != 0 || !b || (b->type != HOST && b->type != REGISTERED)) RETURN(INVALID_VALUE);
  *out = (uintptr_t)pointer;
  RETURN(SUCCESS);
}
API(cuMemHostRegister_v2, void *pointer, size_t size, unsigned flags) {
  BEGIN(FAKE_MemHostRegister);
  if (!c) RETURN(code_);
  uintptr_t at = (uintptr_t)pointer;
  if ((flags & ~3u) || size == 0 || control.devices[c->device].no_register) RETURN(INVALID_VALUE);
  for (const block *b = blocks; b; b = b->next)
    if (b->address < at + size && at < b->address + b->size) RETURN(ALREADY_REGISTERED);
  add_block(c, REGISTERED, pointer, size);
  RETURN(SUCCESS);
}
API(cuMemHostUnregister, void *pointer) {
  block b;
  BEGIN(FAKE_MemHostUnregister);
  context *own = current();
  if (!c && (!own || own->lost == 0)) RETURN(code_);
  if (!remove_block((uintptr_t)pointer, REGISTERED, &b)) {
    wrong_locked("memory is unregistered that isn't registered (any longer)");
    RETURN(NOT_REGISTERED);
  }
  if (is_in_use(b.address, b.size)) wrong_locked("memory is unregistered with work on it");
  RETURN(own->lost);
}
API(cuPointerGetAttributes, unsigned count, unsigned *what, void **out, uintptr_t pointer) {
  BEGIN(FAKE_PointerGetAttributes);
  if (!c) RETURN(code_);
  const block *b = find_block(pointer);
  for (unsigned i = 0; i < count; i++) {
    if (what[i] == 2) *(unsigned *)out[i] = !b ? 0 : b->type == DEVICE || b->type == MANAGED ? 2 : 1;
    if (what[i] == 11) *(uintptr_t *)out[i] = b ? b->address : 0;
    if (what[i] == 12) *(size_t *)out[i] = b ? b->size : 0;
    if (what[i] != 2 && what[i] != 11 && what[i] != 12) wrong_locked("a pointer's attribute that is not known here");
  }
  RETURN(SUCCESS);
}

/* ---- Streams ------------------------------------------------------------------------------------ */

typedef enum op_kind {
  OP_COPY,
  OP_SET,
  OP_LAUNCH,
  OP_RECORD,
  OP_WAIT_EVENT,
  OP_CALL,
  OP_WRITE_VALUE,
  OP_WAIT_VALUE
} op_kind;

typedef struct op {
  struct op *next;
  op_kind kind;
  uintptr_t target, source; /* also a value's address */
  size_t size, pitch, height;
  uint64_t value;
  unsigned unit;
  event *event;
  uint64_t record; /* number of the event's record */
  void (*call)(void *);
  void *user;
  fake_cu_launch launch;
} op;

typedef struct stream {
  object o;
  pthread_t thread;
  op *first, **last;
  uint64_t queued;
  bool ends, is_running;
} stream;

/* All streams, to see which memory is in use. */
enum { STREAMS = 256 };
static stream *streams[STREAMS];

static bool touches(const op *o, uintptr_t address, size_t size) {
  size_t target_size = o->kind == OP_SET ? (o->height - 1) * o->pitch + o->size : o->size;
  if (o->kind == OP_WRITE_VALUE || o->kind == OP_WAIT_VALUE) return o->target - address < size;
  if (o->kind != OP_COPY && o->kind != OP_SET) return false;
  return (o->target < address + size && address < o->target + target_size) ||
         (o->kind == OP_COPY && o->source < address + size && address < o->source + o->size);
}
static bool is_in_use(uintptr_t address, size_t size) {
  for (int i = 0; i < STREAMS; i++) {
    if (!streams[i] || streams[i]->o.of->lost) continue;
    for (const op *o = streams[i]->first; o; o = o->next)
      if (touches(o, address, size)) return true;
  }
  return false;
}

static void drop_event_use(event *e) {
  if (--e->uses == 0 && e->is_destroyed) unmake(e);
}

/* Whether it can run now. */
static bool is_ready(const op *o) {
  if (control.holds && o->kind == OP_LAUNCH) return false;
  if (o->kind == OP_WAIT_EVENT) return o->event->completed >= o->record;
  if (o->kind == OP_WAIT_VALUE) return atomic_load((_Atomic uint64_t *)o->target) >= o->value;
  return true;
}

static void run_set(const op *o) {
  for (size_t row = 0; row < o->height; row++)
    for (size_t at = 0; at < o->size; at += o->unit)
      memcpy((char *)(o->target + row * o->pitch + at), &o->value, o->unit);
}
static void run_launch(stream *s, const fake_cu_launch *l);

/* Without the lock. */
static void run(stream *s, const op *o) {
  switch (o->kind) {
    case OP_COPY:
      memmove((void *)o->target, (const void *)o->source, o->size);
      break;
    case OP_SET:
      run_set(o);
      break;
    case OP_LAUNCH:
      run_launch(s, &o->launch);
      break;
    case OP_CALL:
      o->call(o->user);
      break;
    case OP_WRITE_VALUE:
      atomic_store((_Atomic uint64_t *)o->target, o->value);
      break;
    default:
      break;
  }
}

static void retire(stream *s) {
  op *o = s->first;
  if (o->kind == OP_RECORD && !s->o.of->lost) {
    if (o->record > o->event->completed) {
      o->event->completed = o->record;
      o->event->time = now();
    }
  }
  if (o->event) drop_event_use(o->event);
  if (o->kind == OP_COPY) free(o->user); /* bytes that the call had read */
  s->first = o->next;
  if (!s->first) s->last = &s->first;
  s->queued--;
  free(o);
  pthread_cond_broadcast(&changed);
}

/* Holds end without a word of those who set them. */
static void wait_a_little(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += 200000;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  pthread_cond_timedwait(&changed, &lock, &t);
}

static void *work(void *user) {
  stream *s = user;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!s->first && !s->ends) pthread_cond_wait(&changed, &lock);
    if (!s->first) break;
    if (s->o.of->lost) {
      retire(s);
    } else if (!is_ready(s->first)) {
      wait_a_little();
    } else {
      s->is_running = true;
      const op *o = s->first;
      pthread_mutex_unlock(&lock);
      run(s, o);
      pthread_mutex_lock(&lock);
      s->is_running = false;
      retire(s);
    }
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static op *add(stream *s, op_kind k) {
  op *o = calloc(1, sizeof *o);
  if (!o) abort();
  o->kind = k;
  o->height = 1;
  *s->last = o;
  s->last = &o->next;
  if (++s->queued > control.most_queued) control.most_queued = s->queued;
  pthread_cond_broadcast(&changed);
  return o;
}

API(cuStreamCreate, stream **out, unsigned flags) {
  BEGIN(FAKE_StreamCreate);
  if (!c) RETURN(code_);
  int slot = 0;
  while (slot < STREAMS && streams[slot]) slot++;
  if (slot == STREAMS) RETURN(OUT_OF_MEMORY);
  if (flags != 1) wrong_locked("a stream that is ordered with the default one");
  stream *s = make(STREAM, sizeof *s, c);
  s->last = &s->first;
  streams[slot] = s;
  if (pthread_create(&s->thread, NULL, work, s) != 0) abort();
  *out = s;
  RETURN(SUCCESS);
}
/* More than marks and waits, of which nobody takes notice any longer. */
static bool has_work(const stream *s) {
  for (const op *o = s->first; o; o = o->next)
    if (o->kind != OP_RECORD && o->kind != OP_WAIT_EVENT && o->kind != OP_WAIT_VALUE) return true;
  return false;
}
API(cuStreamDestroy_v2, stream *s) {
  int code = called(FAKE_StreamDestroy);
  if (code != SUCCESS) return code;
  pthread_mutex_lock(&lock);
  if (!is_alive(s, STREAM)) RETURN(INVALID_HANDLE);
  int lost = s->o.of->lost;
  if (has_work(s) && !lost) wrong_locked("a stream is destroyed with work in flight");
  s->ends = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(s->thread, NULL);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS; i++)
    if (streams[i] == s) streams[i] = NULL;
  unmake(s);
  RETURN(lost);
}
API(cuStreamQuery, stream *s) {
  BEGIN(FAKE_StreamQuery);
  if (!c) RETURN(code_);
  if (!is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  RETURN(s->first ? NOT_READY : SUCCESS);
}
API(cuStreamSynchronize, stream *s) {
  BEGIN(FAKE_StreamSynchronize);
  if (!c) RETURN(code_);
  if (!is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  while (s->first && !c->lost) wait_a_little();
  RETURN(c->lost);
}

/* ---- Events ------------------------------------------------------------------------------------- */

API(cuEventCreate, event **out, unsigned flags) {
  BEGIN(FAKE_EventCreate);
  if (!c) RETURN(code_);
  if (flags != 0 && flags != 2) wrong_locked("an event with such flags");
  event *e = make(EVENT, sizeof *e, c);
  e->has_time = flags == 0;
  *out = e;
  RETURN(SUCCESS);
}
API(cuEventDestroy_v2, event *e) {
  int code = called(FAKE_EventDestroy);
  if (code != SUCCESS) return code;
  pthread_mutex_lock(&lock);
  if (!is_alive(e, EVENT) || e->is_destroyed) {
    wrong_locked("an event is destroyed twice");
    RETURN(INVALID_HANDLE);
  }
  int lost = e->o.of->lost;
  e->is_destroyed = true;
  if (e->uses == 0) unmake(e);
  RETURN(lost);
}
static bool is_event(const context *c, const event *e) {
  if (!is_own(c, e, EVENT)) return false;
  if (!e->is_destroyed) return true;
  wrong_locked("an event that was destroyed");
  return false;
}
API(cuEventRecord, event *e, stream *s) {
  BEGIN(FAKE_EventRecord);
  if (!c) RETURN(code_);
  if (!is_event(c, e) || !is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  op *o = add(s, OP_RECORD);
  o->event = e;
  o->record = ++e->recorded;
  e->uses++;
  RETURN(SUCCESS);
}
API(cuEventQuery, event *e) {
  BEGIN(FAKE_EventQuery);
  if (!c) RETURN(code_);
  if (!is_event(c, e)) RETURN(INVALID_HANDLE);
  RETURN(e->completed < e->recorded ? NOT_READY : SUCCESS);
}
API(cuEventElapsedTime, float *out, event *from, event *to) {
  BEGIN(FAKE_EventElapsedTime);
  if (!c) RETURN(code_);
  if (!is_event(c, from) || !is_event(c, to) || !from->has_time || !to->has_time) RETURN(INVALID_HANDLE);
  if (from->completed < from->recorded || to->completed < to->recorded || from->recorded == 0 || to->recorded == 0)
    RETURN(NOT_READY);
  *out = (float)((double)(int64_t)(to->time - from->time) / 1e6);
  RETURN(SUCCESS);
}
API(cuStreamWaitEvent, stream *s, event *e, unsigned flags) {
  BEGIN(FAKE_StreamWaitEvent);
  if (!c) RETURN(code_);
  if (flags != 0 || !is_alive(e, EVENT) || e->is_destroyed || !is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  op *o = add(s, OP_WAIT_EVENT);
  o->event = e;
  o->record = e->recorded; /* what was recorded up to now; later records are no matter of it */
  e->uses++;
  RETURN(SUCCESS);
}

/* ---- Words -------------------------------------------------------------------------------------- */

static int put_value(int call, stream *s, op_kind k, uintptr_t address, uint64_t value, unsigned flags) {
  BEGIN(call);
  if (!c) RETURN(code_);
  if (control.devices[c->device].no_words) wrong_locked("stream memory operations that the device hasn't");
  const block *b = find_block(address);
  if (!is_own(c, s, STREAM) || flags != 0 || address % 8 != 0 || !b) {
    wrong_locked("a word that is no memory of the device");
    RETURN(INVALID_VALUE);
  }
  op *o = add(s, k);
  o->target = address;
  o->size = 8;
  o->value = value;
  RETURN(SUCCESS);
}
API(cuStreamWriteValue64_v2, stream *s, uintptr_t address, uint64_t value, unsigned flags) {
  return put_value(FAKE_StreamWriteValue, s, OP_WRITE_VALUE, address, value, flags);
}
API(cuStreamWaitValue64_v2, stream *s, uintptr_t address, uint64_t value, unsigned flags) {
  return put_value(FAKE_StreamWaitValue, s, OP_WAIT_VALUE, address, value, flags);
}

/* ---- Copies and fills --------------------------------------------------------------------------- */

/* A range within one block, or in none: then it is the host's own, pageable. */
static bool is_range(uintptr_t address, size_t size, bool *out_pageable) {
  const block *b = find_block(address);
  *out_pageable = !b;
  return !b || size <= b->size - (address - b->address);
}

enum { AT_ONCE = 64 << 10 };

static int copy(context *c, stream *s, uintptr_t target, uintptr_t source, size_t size) {
  bool to_pageable, from_pageable;
  if (size == 0) wrong_locked("a copy of 0 bytes");
  if (!is_range(target, size, &to_pageable) || !is_range(source, size, &from_pageable)) {
    wrong_locked("a copy across blocks of memory");
    return INVALID_VALUE;
  }
  if (to_pageable && from_pageable) {
    wrong_locked("a copy between memories that are both the host's");
    return INVALID_VALUE;
  }
  op *o = add(s, OP_COPY);
  o->target = target;
  o->source = source;
  o->size = size;
  if (from_pageable && size <= AT_ONCE) { /* it is read while the call lasts */
    o->user = malloc(size);
    if (!o->user) abort();
    memcpy(o->user, (const void *)source, size);
    o->source = (uintptr_t)o->user;
  } else if (to_pageable || from_pageable) {
    control.waits_on_host++;
    while (s->first && !c->lost) wait_a_little();
  }
  return c->lost;
}
API(cuMemcpyAsync, uintptr_t target, uintptr_t source, size_t size, stream *s) {
  BEGIN(FAKE_MemcpyAsync);
  if (!c) RETURN(code_);
  if (!is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  RETURN(copy(c, s, target, source, size));
}
API(cuMemcpyPeerAsync, uintptr_t target, context *target_context, uintptr_t source, context *source_context,
    size_t size, stream *s) {
  BEGIN(FAKE_MemcpyPeerAsync);
  if (!c) RETURN(code_);
  const block *to = find_block(target), *from = find_block(source);
  if (!is_own(c, s, STREAM) || !to || !from || to->of != target_context || from->of != source_context) {
    wrong_locked("a copy between other devices than is said");
    RETURN(INVALID_VALUE);
  }
  RETURN(copy(c, s, target, source, size));
}

/* What benches call. */
static int copy_now(uintptr_t target, uintptr_t source, size_t size) {
  BEGIN(FAKE_MemcpyAsync);
  if (!c) RETURN(code_);
  memmove((void *)target, (const void *)source, size);
  RETURN(SUCCESS);
}
API(cuMemcpyHtoD_v2, uintptr_t target, const void *source, size_t size) {
  return copy_now(target, (uintptr_t)source, size);
}
API(cuMemcpyDtoH_v2, void *target, uintptr_t source, size_t size) { return copy_now((uintptr_t)target, source, size); }
API(cuMemAllocAsync, uintptr_t *out, size_t size, stream *s) {
  (void)s;
  return cuMemAlloc_v2(out, size);
}
API(cuMemFreeAsync, uintptr_t address, stream *s) {
  (void)s;
  return cuMemFree_v2(address);
}

static int set(uintptr_t target, size_t pitch, uint64_t value, unsigned unit, size_t width, size_t height, stream *s) {
  bool is_pageable;
  BEGIN(FAKE_Memset);
  if (!c) RETURN(code_);
  size_t size = (height - 1) * pitch + width * unit;
  if (!is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  if (width == 0 || height == 0 || target % unit != 0 || pitch % unit != 0 || (height > 1 && pitch < width * unit) ||
      !is_range(target, size, &is_pageable) || is_pageable) {
    wrong_locked("a fill of what is no memory, or isn't aligned");
    RETURN(INVALID_VALUE);
  }
  op *o = add(s, OP_SET);
  o->target = target;
  o->size = width * unit;
  o->pitch = pitch;
  o->height = height;
  o->unit = unit;
  o->value = value;
  RETURN(SUCCESS);
}
API(cuMemsetD8Async, uintptr_t target, unsigned char value, size_t count, stream *s) {
  return set(target, count, value, 1, count, 1, s);
}
API(cuMemsetD16Async, uintptr_t target, unsigned short value, size_t count, stream *s) {
  return set(target, 2 * count, value, 2, count, 1, s);
}
API(cuMemsetD32Async, uintptr_t target, unsigned value, size_t count, stream *s) {
  return set(target, 4 * count, value, 4, count, 1, s);
}
API(cuMemsetD2D8Async, uintptr_t target, size_t pitch, unsigned char value, size_t width, size_t height, stream *s) {
  return set(target, pitch, value, 1, width, height, s);
}
API(cuMemsetD2D16Async, uintptr_t target, size_t pitch, unsigned short value, size_t width, size_t height, stream *s) {
  return set(target, pitch, value, 2, width, height, s);
}
API(cuMemsetD2D32Async, uintptr_t target, size_t pitch, unsigned value, size_t width, size_t height, stream *s) {
  return set(target, pitch, value, 4, width, height, s);
}
API(cuLaunchHostFunc, stream *s, void (*call)(void *), void *user) {
  BEGIN(FAKE_LaunchHostFunc);
  if (!c) RETURN(code_);
  if (!is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  op *o = add(s, OP_CALL);
  o->call = call;
  o->user = user;
  RETURN(SUCCESS);
}

/* ---- Programs ----------------------------------------------------------------------------------- */

/* What the linker makes: an ELF header with the GPU and a length in it, then the text. */
typedef struct binary {
  unsigned char magic[4];
  uint32_t capability;
  uint64_t size;
  unsigned char rest[48]; /* no sections */
  char text[];
} binary;

static uint32_t bytes_of_parameter(const char *text) {
  static const struct {
    const char *word;
    uint32_t bytes;
  } types[] = {{"64 ", 8}, {"32 ", 4}, {"16 ", 2}, {"8 ", 1}};
  const char *bracket = strchr(text, '[');
  if (bracket) return (uint32_t)strtoul(bracket + 1, NULL, 10);
  for (const char *dot = strstr(text, ".param"); dot && (dot = strchr(dot + 1, '.'));)
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
      if (strchr("usfb", dot[1]) && strncmp(dot + 2, types[i].word, strlen(types[i].word)) == 0) return types[i].bytes;
  return 0;
}

static bool read_entry(const char *at, entry *out) {
  char text[8192], *save = NULL;
  const char *open = strchr(at, '('), *close = open ? strchr(open, ')') : NULL;
  if (!close || (size_t)(close - open) >= sizeof text || sscanf(at, " %31[^ (\n]", out->name) != 1) return false;
  memcpy(text, open + 1, (size_t)(close - open - 1));
  text[close - open - 1] = '\0';
  for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
    uint32_t bytes = strstr(word, ".param") ? bytes_of_parameter(word) : 0;
    if (bytes == 0 || out->parameter_count == FAKE_PARAMETER_COUNT) return false;
    out->parameter_bytes[out->parameter_count++] = bytes;
  }
  return true;
}

static bool read_entries(const char *text, module *m) {
  static const char word[] = ".entry";
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    if (m->count == ENTRIES || !read_entry(at + sizeof word - 1, &m->functions[m->count].entry)) return false;
    function *f = &m->functions[m->count++];
    f->o = (object){.kind = FUNCTION, .of = m->o.of};
    f->module = m;
    f->most_dynamic = 49152;
  }
  return m->count > 0;
}

API(cuLinkCreate_v2, unsigned count, unsigned *options, void **values, link_state **out) {
  BEGIN(FAKE_LinkCreate);
  if (!c) RETURN(code_);
  link_state *l = make(LINK, sizeof *l, c);
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == 5) l->errors = values[i];
    if (options[i] == 6) l->error_bytes = (uint64_t)(uintptr_t)values[i];
  }
  *out = l;
  RETURN(SUCCESS);
}
static int refuse_text(link_state *l, const char *why) {
  if (l->errors) snprintf(l->errors, (size_t)l->error_bytes, "ptxas fatal: %s", why);
  return INVALID_PTX;
}
API(cuLinkAddData_v2, link_state *l, unsigned type, void *data, size_t size, const char *name, unsigned count,
    unsigned *options, void **values) {
  (void)name, (void)options, (void)values;
  BEGIN(FAKE_LinkAddData);
  if (!c) RETURN(code_);
  const char *text = data;
  if (!is_own(c, l, LINK) || type != 1 || count != 0) RETURN(INVALID_VALUE);
  if (size == 0 || text[size - 1] != '\0') {
    wrong_locked("PTX that doesn't end with a NUL");
    RETURN(INVALID_VALUE);
  }
  module trial = {.o = {.of = c}};
  if (!strstr(text, ".version")) RETURN(refuse_text(l, "line 1; no .version"));
  if (!read_entries(text, &trial)) RETURN(refuse_text(l, "line 7; entries can't be read"));
  binary *b = calloc(1, sizeof *b + size);
  if (!b) abort();
  memcpy(b->magic, "\177ELF", 4);
  b->capability = control.devices[c->device].capability;
  b->size = size;
  memcpy(b->text, text, size);
  free(l->binary);
  l->binary = (unsigned char *)b;
  l->size = sizeof *b + size;
  RETURN(SUCCESS);
}
API(cuLinkComplete, link_state *l, void **out, size_t *out_size) {
  BEGIN(FAKE_LinkComplete);
  if (!c) RETURN(code_);
  if (!is_own(c, l, LINK)) RETURN(INVALID_HANDLE);
  *out = l->binary;
  *out_size = l->size;
  RETURN(SUCCESS);
}
API(cuLinkDestroy, link_state *l) {
  pthread_mutex_lock(&lock);
  if (!is_alive(l, LINK)) RETURN(INVALID_HANDLE);
  free(l->binary);
  unmake(l);
  RETURN(SUCCESS);
}
API(cuModuleLoadData, module **out, const void *image) {
  BEGIN(FAKE_ModuleLoadData);
  if (!c) RETURN(code_);
  const binary *b = image;
  bool is_binary = memcmp(b->magic, "\177ELF", 4) == 0;
  if (!is_binary && !strstr(image, ".version")) RETURN(INVALID_IMAGE);
  if (is_binary && b->capability != control.devices[c->device].capability) RETURN(NO_BINARY);
  module *m = make(MODULE, sizeof *m, c);
  if (!read_entries(is_binary ? b->text : image, m)) {
    unmake(m);
    RETURN(INVALID_IMAGE);
  }
  *out = m;
  RETURN(SUCCESS);
}
API(cuModuleUnload, module *m) {
  int code = called(FAKE_ModuleUnload);
  if (code != SUCCESS) return code;
  pthread_mutex_lock(&lock);
  if (!is_alive(m, MODULE)) RETURN(INVALID_HANDLE);
  int lost = m->o.of->lost;
  for (uint32_t i = 0; i < m->count; i++) m->functions[i].o.kind = (kind)0;
  unmake(m);
  RETURN(lost);
}
API(cuModuleGetFunction, function **out, module *m, const char *name) {
  BEGIN(FAKE_ModuleGetFunction);
  if (!c) RETURN(code_);
  if (!is_own(c, m, MODULE)) RETURN(INVALID_HANDLE);
  for (uint32_t i = 0; i < m->count; i++)
    if (strcmp(m->functions[i].entry.name, name) == 0) {
      *out = &m->functions[i];
      RETURN(SUCCESS);
    }
  RETURN(NOT_FOUND);
}
API(cuFuncGetAttribute, int *out, unsigned what, function *f) {
  BEGIN(FAKE_FuncGetAttribute);
  if (!c) RETURN(code_);
  if (!is_own(c, f, FUNCTION)) RETURN(INVALID_HANDLE);
  if (what > 1) RETURN(INVALID_VALUE);
  *out = what == 0 ? 1024 : 0;
  RETURN(SUCCESS);
}
API(cuFuncSetAttribute, function *f, unsigned what, int value) {
  BEGIN(FAKE_FuncSetAttribute);
  if (!c) RETURN(code_);
  if (!is_own(c, f, FUNCTION)) RETURN(INVALID_HANDLE);
  if (what != 8 || value < 0 || value > 232448) RETURN(INVALID_VALUE);
  f->most_dynamic = value;
  RETURN(SUCCESS);
}

/* ---- Launches ----------------------------------------------------------------------------------- */

API(cuLaunchKernel, function *f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
    unsigned block_z, unsigned shared_bytes, stream *s, void **parameters, void **extra) {
  BEGIN(FAKE_LaunchKernel);
  if (!c) RETURN(code_);
  if (!is_own(c, f, FUNCTION) || !is_own(c, s, STREAM)) RETURN(INVALID_HANDLE);
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_x > 2147483647 || grid_y > 65535 || grid_z > 65535 ||
      block_x == 0 || block_y == 0 || block_z == 0 || block_z > 64 || block_x * block_y * block_z > 1024 || extra ||
      shared_bytes > (unsigned)f->most_dynamic)
    RETURN(INVALID_VALUE);
  op *o = add(s, OP_LAUNCH);
  fake_cu_launch *l = &o->launch;
  *l = (fake_cu_launch){
      .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes};
  snprintf(l->name, sizeof l->name, "%s", f->entry.name);
  uint32_t at = 0;
  for (uint32_t i = 0; i < f->entry.parameter_count; i++) {
    if (at + f->entry.parameter_bytes[i] > FAKE_PARAMETERS) abort();
    memcpy(l->parameters + at, parameters[i], f->entry.parameter_bytes[i]);
    l->parameter_bytes[i] = f->entry.parameter_bytes[i];
    at += f->entry.parameter_bytes[i];
  }
  control.launches[control.launch_count++ % FAKE_LAUNCHES] = *l;
  RETURN(SUCCESS);
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

/* As adapter.h has it; the last parameter. */
typedef struct range {
  uint64_t origin[3], global_size[3], global_offset[3];
  uint32_t items[3], is_uneven, group_base[3], work_dim, num_groups[3], reserved;
} range;

typedef struct running {
  const fake_cu_launch *launch;
  range range;
  unsigned char *shared;
} running;

static const void *parameter(const running *r, uint32_t index) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < index; i++) at += r->launch->parameter_bytes[i];
  return r->launch->parameters + at;
}
static void *address(const running *r, uint32_t index) {
  void *p;
  memcpy(&p, parameter(r, index), sizeof p);
  return p;
}
static uint32_t word(const running *r, uint32_t index) {
  uint32_t value;
  memcpy(&value, parameter(r, index), sizeof value);
  return value;
}

/* y[i] = a * x[i] + y[i] */
static void saxpy(const running *r) {
  const float *x = address(r, 0);
  float *y = address(r, 1), a;
  memcpy(&a, parameter(r, 2), sizeof a);
  for (uint64_t i = r->range.origin[0]; i < r->range.origin[0] + r->range.items[0] && i < word(r, 3); i++)
    y[i] = a * x[i] + y[i];
}
/* *cell = *cell * 3 + by */
static void advance(const running *r) {
  uint32_t *cell = address(r, 0);
  *cell = *cell * 3 + word(r, 1);
}
/* Each group turns round its part, by way of local memory. */
static void reverse(const running *r) {
  uint32_t *data = address(r, 0), n = r->launch->block[0], *room = (uint32_t *)(void *)(r->shared + word(r, 1));
  for (uint32_t group = 0; group < r->launch->grid[0]; group++) {
    uint32_t *part = data + r->range.origin[0] + (uint64_t)group * n;
    for (uint32_t i = 0; i < n; i++) room[i] = part[i];
    for (uint32_t i = 0; i < n; i++) part[i] = room[n - 1 - i];
  }
}
/* For each work-item of two dimensions where it is: group, place in it, number of groups. */
static void where(const running *r) {
  uint32_t *out = address(r, 0);
  for (uint32_t y = 0; y < r->range.items[1]; y++)
    for (uint32_t x = 0; x < r->range.items[0]; x++) {
      uint64_t gx = r->range.origin[0] - r->range.global_offset[0] + x,
               gy = r->range.origin[1] - r->range.global_offset[1] + y;
      uint32_t *to = out + 6 * (gy * r->range.global_size[0] + gx);
      to[0] = x / r->launch->block[0] + r->range.group_base[0];
      to[1] = y / r->launch->block[1] + r->range.group_base[1];
      to[2] = x % r->launch->block[0];
      to[3] = y % r->launch->block[1];
      to[4] = r->range.num_groups[0];
      to[5] = r->range.num_groups[1];
    }
}

static void spin(const running *r) {
  uint64_t ns;
  memcpy(&ns, parameter(r, 0), sizeof ns);
  const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  nanosleep(&t, NULL);
}

static const struct {
  const char *name;
  void (*run)(const running *r);
} kernels[] = {{"saxpy", saxpy}, {"advance", advance}, {"reverse", reverse}, {"where", where}, {"spin", spin}};

static void run_launch(stream *s, const fake_cu_launch *l) {
  int fault = atomic_exchange(&control.fault_code, 0);
  if (strcmp(l->name, "fault") == 0) fault = 700;
  if (fault != 0) {
    pthread_mutex_lock(&lock);
    s->o.of->lost = fault;
    control.spoiled[s->o.of->device] = fault;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return;
  }
  uint32_t last = 0;
  while (last + 1 < FAKE_PARAMETER_COUNT && l->parameter_bytes[last + 1] != 0) last++;
  running r = {.launch = l, .shared = calloc(1, l->shared_bytes + 1)};
  if (!r.shared) abort();
  if (l->parameter_bytes[last] == sizeof r.range) memcpy(&r.range, parameter(&r, last), sizeof r.range);
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].name, l->name) == 0) kernels[i].run(&r);
  free(r.shared);
}
