/* webgpu.c - the only file of the tests that passes structs of webgpu.h by value: it is compiled for the ABI that it runs
 * on. Declarations are those of webgpu-headers of May 2025, as far as they are used. */
#include "webgpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What is used of the library ---- */

typedef struct object *object; /* any handle */
typedef struct view {
  const char *data;
  size_t length;
} view;
typedef struct future {
  uint64_t id;
} future;
typedef struct chain {
  const struct chain *next;
  uint32_t type;
} chain;
enum { SOURCE_WGSL = 2, SPONTANEOUS = 3, SUCCESS = 1 };
enum { MAP_READ = 1, COPY_SRC = 4, COPY_DST = 8, UNIFORM = 64, STORAGE = 128 };

typedef struct answer_info { /* of a request, and of a map */
  void *next;
  uint32_t mode;
  void *callback;
  void *user1, *user2;
} answer_info;
typedef struct uncaptured_info {
  void *next;
  void *callback;
  void *user1, *user2;
} uncaptured_info;
typedef struct queue_descriptor {
  void *next;
  view label;
} queue_descriptor;
typedef struct device_descriptor {
  void *next;
  view label;
  size_t feature_count;
  const uint32_t *features;
  const void *limits;
  queue_descriptor queue;
  answer_info lost;
  uncaptured_info uncaptured;
} device_descriptor;
typedef struct shader_source {
  chain chain;
  view code;
} shader_source;
typedef struct module_descriptor {
  const void *next;
  view label;
} module_descriptor;
typedef struct constant_entry {
  void *next;
  view key;
  double value;
} constant_entry;
typedef struct pipeline_descriptor {
  void *next;
  view label;
  object layout;
  struct {
    void *next;
    object module;
    view entry;
    size_t constant_count;
    const constant_entry *constants;
  } compute;
} pipeline_descriptor;
typedef struct buffer_descriptor {
  void *next;
  view label;
  uint64_t usage, size;
  uint32_t mapped;
} buffer_descriptor;
typedef struct bind_entry {
  void *next;
  uint32_t binding;
  object buffer;
  uint64_t offset, size;
  object sampler, texture;
} bind_entry;
typedef struct bind_descriptor {
  void *next;
  view label;
  object layout;
  size_t count;
  const bind_entry *entries;
} bind_descriptor;

/* X(name, result, parameters) */
#define FUNCTIONS(X)                                                                                \
  X(CreateInstance, object, (const void *))                                                         \
  X(InstanceRequestAdapter, future, (object, const void *, answer_info))                            \
  X(InstanceProcessEvents, void, (object))                                                          \
  X(AdapterRequestDevice, future, (object, const device_descriptor *, answer_info))                 \
  X(AdapterGetLimits, uint32_t, (object, void *))                                                   \
  X(DeviceGetQueue, object, (object))                                                               \
  X(DeviceCreateShaderModule, object, (object, const module_descriptor *))                          \
  X(DeviceCreateComputePipeline, object, (object, const pipeline_descriptor *))                     \
  X(DeviceCreateBuffer, object, (object, const buffer_descriptor *))                                \
  X(DeviceCreateBindGroup, object, (object, const bind_descriptor *))                               \
  X(DeviceCreateCommandEncoder, object, (object, const void *))                                     \
  X(ComputePipelineGetBindGroupLayout, object, (object, uint32_t))                                  \
  X(CommandEncoderBeginComputePass, object, (object, const void *))                                 \
  X(CommandEncoderCopyBufferToBuffer, void, (object, object, uint64_t, object, uint64_t, uint64_t)) \
  X(CommandEncoderFinish, object, (object, const void *))                                           \
  X(ComputePassEncoderSetPipeline, void, (object, object))                                          \
  X(ComputePassEncoderSetBindGroup, void, (object, uint32_t, object, size_t, const uint32_t *))     \
  X(ComputePassEncoderDispatchWorkgroups, void, (object, uint32_t, uint32_t, uint32_t))             \
  X(ComputePassEncoderEnd, void, (object))                                                          \
  X(QueueWriteBuffer, void, (object, object, uint64_t, const void *, size_t))                       \
  X(QueueSubmit, void, (object, size_t, const object *))                                            \
  X(BufferMapAsync, future, (object, uint64_t, size_t, size_t, answer_info))                        \
  X(BufferGetConstMappedRange, const void *, (object, size_t, size_t))                              \
  X(BufferRelease, void, (object))                                                                  \
  X(BindGroupRelease, void, (object))                                                               \
  X(BindGroupLayoutRelease, void, (object))                                                         \
  X(CommandBufferRelease, void, (object))                                                           \
  X(CommandEncoderRelease, void, (object))                                                          \
  X(ComputePassEncoderRelease, void, (object))                                                      \
  X(ComputePipelineRelease, void, (object))                                                         \
  X(ShaderModuleRelease, void, (object))

static struct {
#define X(name, result, parameters) result(*name) parameters;
  FUNCTIONS(X)
#undef X
} wgpu;

static object instance, adapter, device, queue;
static char error_text[4096];
static char missing[512];

/* ---- Errors and answers ---- */

static view view_of(const char *text) { return (view){text, strlen(text)}; }

static void keep_error(view message) {
  size_t length = message.data ? (message.length == SIZE_MAX ? strlen(message.data) : message.length) : 0;
  if (error_text[0]) return;
  if (length > sizeof error_text - 1) length = sizeof error_text - 1;
  if (length) memcpy(error_text, message.data, length);
  error_text[length] = '\0';
  if (!length) (void)snprintf(error_text, sizeof error_text, "an error without a text");
}

static void on_error(object const *where, uint32_t type, view message, void *user1, void *user2) {
  (void)where, (void)type, (void)user1, (void)user2;
  keep_error(message);
}

static void on_answer(uint32_t status, object made, view message, void *user1, void *user2) {
  if (status == SUCCESS)
    *(object *)user1 = made;
  else
    keep_error(message);
  *(bool *)user2 = true;
}

static void on_map(uint32_t status, view message, void *user1, void *user2) {
  if (status != SUCCESS) keep_error(message);
  (void)user1;
  *(bool *)user2 = true;
}

static answer_info answer_to(void *callback, void *user1, bool *done) {
  return (answer_info){.mode = SPONTANEOUS, .callback = callback, .user1 = user1, .user2 = done};
}

static bool wait_for(const bool *done) {
  const struct timespec moment = {0, 20000};
  for (int i = 0; i < 6000000 && !*done; i++) {
    wgpu.InstanceProcessEvents(instance);
    if (i > 100) (void)nanosleep(&moment, NULL);
  }
  if (!*done) keep_error(view_of("no answer within two minutes"));
  return *done;
}

const char *webgpu_error(void) { return error_text; }

/* ---- Opening ---- */

static bool load(void) {
  const char *path = getenv("QUERN_TEST_WEBGPU");
  if (!path || !*path) {
    (void)snprintf(missing, sizeof missing, "QUERN_TEST_WEBGPU is not set; ci/webgpu.sh DIRECTORY brings a library");
    return false;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    (void)snprintf(missing, sizeof missing, "%s", dlerror());
    return false;
  }
#define X(name, result, parameters)                                           \
  *(void **)(&wgpu.name) = dlsym(library, "wgpu" #name);                      \
  if (!wgpu.name) {                                                           \
    (void)snprintf(missing, sizeof missing, "%s has no wgpu%s", path, #name); \
    return false;                                                             \
  }
  FUNCTIONS(X)
#undef X
  return true;
}

static bool request(void) {
  static uint64_t limits[64]; /* as large as any generation's struct */
  bool done = false;
  instance = wgpu.CreateInstance(NULL);
  if (!instance) return false;
  (void)wgpu.InstanceRequestAdapter(instance, NULL, answer_to((void *)(uintptr_t)on_answer, &adapter, &done));
  if (!wait_for(&done) || !adapter) return false;
  bool has_limits = wgpu.AdapterGetLimits(adapter, limits) == SUCCESS;
  const device_descriptor wanted = {.limits = has_limits ? limits : NULL,
                                    .lost = {.mode = SPONTANEOUS},
                                    .uncaptured = {.callback = (void *)(uintptr_t)on_error}};
  done = false;
  (void)wgpu.AdapterRequestDevice(adapter, &wanted, answer_to((void *)(uintptr_t)on_answer, &device, &done));
  if (!wait_for(&done) || !device) return false;
  queue = wgpu.DeviceGetQueue(device);
  return queue != NULL;
}

bool webgpu_open(const char **why) {
  static int state; /* 0 not tried, 1 open, 2 missing */
  *why = missing;
  if (state) return state == 1;
  state = 2;
  if (!load()) return false;
  if (!request()) {
    (void)snprintf(missing, sizeof missing, "no WebGPU device: %.400s", error_text);
    return false;
  }
  state = 1;
  return true;
}

/* ---- Modules and pipelines ---- */

static void settle(void) {
  for (int i = 0; i < 4; i++) wgpu.InstanceProcessEvents(instance);
}

void *webgpu_module(qn_sv text) {
  const shader_source source = {{NULL, SOURCE_WGSL}, {text.data, text.size}};
  const module_descriptor descriptor = {.next = &source};
  error_text[0] = '\0';
  object module = wgpu.DeviceCreateShaderModule(device, &descriptor);
  settle();
  if (!error_text[0]) return module;
  if (module) wgpu.ShaderModuleRelease(module);
  return NULL;
}

void webgpu_module_free(void *module) {
  if (module) wgpu.ShaderModuleRelease(module);
}

enum { MOST = 64 };

static object make_pipeline(object module, const webgpu_dispatch *d) {
  constant_entry constants[MOST];
  for (uint32_t i = 0; i < d->constant_count; i++)
    constants[i] = (constant_entry){.key = view_of(d->constants[i].name), .value = d->constants[i].value};
  const pipeline_descriptor descriptor = {
      .compute = {
          .module = module, .entry = view_of(d->entry), .constant_count = d->constant_count, .constants = constants}};
  object pipeline = wgpu.DeviceCreateComputePipeline(device, &descriptor);
  settle();
  if (!error_text[0]) return pipeline;
  if (pipeline) wgpu.ComputePipelineRelease(pipeline);
  return NULL;
}

/* ---- Running ---- */

typedef struct run {
  const webgpu_dispatch *d;
  object pipeline, group;
  object buffers[MOST], staging[MOST];
} run;

static uint64_t size_of(const webgpu_binding *b) {
  uint64_t size = (b->size_bytes + 15) / 16 * 16;
  return size ? size : 16;
}

static bool make_buffers(run *r) {
  for (uint32_t i = 0; i < r->d->binding_count; i++) {
    const webgpu_binding *b = &r->d->bindings[i];
    const buffer_descriptor given = {.usage = b->is_uniform ? UNIFORM | COPY_DST : STORAGE | COPY_DST | COPY_SRC,
                                     .size = size_of(b)};
    const buffer_descriptor back = {.usage = MAP_READ | COPY_DST, .size = size_of(b)};
    void *padded = calloc(1, size_of(b));
    if (!padded) return false;
    if (b->size_bytes) memcpy(padded, b->data, b->size_bytes);
    r->buffers[i] = wgpu.DeviceCreateBuffer(device, &given);
    if (!b->is_uniform) r->staging[i] = wgpu.DeviceCreateBuffer(device, &back);
    wgpu.QueueWriteBuffer(queue, r->buffers[i], 0, padded, size_of(b));
    free(padded);
  }
  return true;
}

static void make_group(run *r) {
  bind_entry entries[MOST];
  if (!r->d->binding_count) return;
  for (uint32_t i = 0; i < r->d->binding_count; i++)
    entries[i] = (bind_entry){
        .binding = r->d->bindings[i].binding, .buffer = r->buffers[i], .size = size_of(&r->d->bindings[i])};
  object layout = wgpu.ComputePipelineGetBindGroupLayout(r->pipeline, 0);
  const bind_descriptor descriptor = {.layout = layout, .count = r->d->binding_count, .entries = entries};
  r->group = wgpu.DeviceCreateBindGroup(device, &descriptor);
  wgpu.BindGroupLayoutRelease(layout);
}

static void submit(const run *r) {
  object encoder = wgpu.DeviceCreateCommandEncoder(device, NULL);
  object pass = wgpu.CommandEncoderBeginComputePass(encoder, NULL);
  wgpu.ComputePassEncoderSetPipeline(pass, r->pipeline);
  if (r->group) wgpu.ComputePassEncoderSetBindGroup(pass, 0, r->group, 0, NULL);
  wgpu.ComputePassEncoderDispatchWorkgroups(pass, r->d->groups[0], r->d->groups[1], r->d->groups[2]);
  wgpu.ComputePassEncoderEnd(pass);
  wgpu.ComputePassEncoderRelease(pass);
  for (uint32_t i = 0; i < r->d->binding_count; i++)
    if (r->staging[i])
      wgpu.CommandEncoderCopyBufferToBuffer(encoder, r->buffers[i], 0, r->staging[i], 0, size_of(&r->d->bindings[i]));
  object commands = wgpu.CommandEncoderFinish(encoder, NULL);
  wgpu.QueueSubmit(queue, 1, &commands);
  wgpu.CommandBufferRelease(commands);
  wgpu.CommandEncoderRelease(encoder);
}

static bool read_back(const run *r) {
  for (uint32_t i = 0; i < r->d->binding_count; i++) {
    const webgpu_binding *b = &r->d->bindings[i];
    bool done = false;
    if (!r->staging[i]) continue;
    (void)wgpu.BufferMapAsync(r->staging[i], MAP_READ, 0, size_of(b),
                              answer_to((void *)(uintptr_t)on_map, NULL, &done));
    if (!wait_for(&done) || error_text[0]) return false;
    const void *bytes = wgpu.BufferGetConstMappedRange(r->staging[i], 0, size_of(b));
    if (!bytes) return false;
    if (b->size_bytes) memcpy(b->data, bytes, b->size_bytes);
  }
  return true;
}

static void free_run(run *r) {
  for (uint32_t i = 0; i < r->d->binding_count; i++) {
    if (r->buffers[i]) wgpu.BufferRelease(r->buffers[i]);
    if (r->staging[i]) wgpu.BufferRelease(r->staging[i]);
  }
  if (r->group) wgpu.BindGroupRelease(r->group);
  if (r->pipeline) wgpu.ComputePipelineRelease(r->pipeline);
}

bool webgpu_run(void *module, const webgpu_dispatch *d) {
  run r = {.d = d};
  error_text[0] = '\0';
  if (d->constant_count > MOST || d->binding_count > MOST) {
    keep_error(view_of("too many constants or bindings for the test"));
    return false;
  }
  r.pipeline = make_pipeline(module, d);
  bool good = r.pipeline != NULL;
  if (good && d->groups[0]) {
    good = make_buffers(&r);
    if (good) make_group(&r);
    if (good) submit(&r);
    good = good && read_back(&r) && !error_text[0];
  }
  free_run(&r);
  return good;
}
