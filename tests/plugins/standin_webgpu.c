#include "standin_webgpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Declared here by themselves, after webgpu-headers: a mistake of the adapter's is not made twice. Nothing else of the tree is used. */
#define EXPORTED __attribute__((visibility("default")))

typedef struct WGPUStringView {
  char const *data;
  size_t length;
} WGPUStringView;
typedef struct WGPUFuture {
  uint64_t id;
} WGPUFuture;
typedef struct WGPUChainedStruct {
  struct WGPUChainedStruct const *next;
  uint32_t sType;
} WGPUChainedStruct;
typedef struct CallbackInfo {
  WGPUChainedStruct *nextInChain;
  uint32_t mode;
  void (*callback)(void);
  void *userdata1;
  void *userdata2;
} CallbackInfo;
typedef struct UncapturedInfo {
  WGPUChainedStruct *nextInChain;
  void (*callback)(void);
  void *userdata1;
  void *userdata2;
} UncapturedInfo;

typedef void (*AnswerCallback)(uint32_t, void *, WGPUStringView, void *, void *);
typedef void (*StatusCallback)(uint32_t, WGPUStringView, void *, void *);
typedef void (*ScopeCallback)(uint32_t, uint32_t, WGPUStringView, void *, void *);
typedef void (*DeviceCallback)(void *const *, uint32_t, WGPUStringView, void *, void *);

enum { SUCCESS = 1, TIMED_OUT = 2, MOST = 32 };

/* ---- State -------------------------------------------------------------------------------------- */

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* the library locks itself: callbacks are made outside of it */
static standin_state state;

EXPORTED standin_state *standin_state_get(void);
standin_state *standin_state_get(void) { return &state; }

static void violation(const char *what) {
  if (state.violations++ == 0) (void)snprintf(state.first_violation, sizeof state.first_violation, "%s", what);
}
#define WANTED(condition) ((condition) ? (void)0 : violation(#condition))

/* Threads of a driver would crash in what they begin now. Who comes late gets the time for it. */
static _Atomic bool is_over;
__attribute__((destructor)) static void end(void) {
  atomic_store(&is_over, true);
  if (state.lags_us) (void)usleep(2 * state.lags_us);
}

static void must_not_be_over(void) {
  if (atomic_load(&is_over)) _exit(STANDIN_CALLED_TOO_LATE);
}

/* ---- Objects ------------------------------------------------------------------------------------ */

typedef enum kind {
  INSTANCE = 1,
  ADAPTER,
  DEVICE,
  QUEUE,
  BUFFER,
  MODULE,
  LAYOUT,
  PIPELINE_LAYOUT,
  PIPELINE,
  GROUP,
  ENCODER,
  PASS,
  COMMANDS
} kind;

typedef struct operation {
  struct operation *next;
  struct object *source, *target, *pipeline, *group;
  uint64_t source_offset, target_offset, size;
  uint32_t groups[3], offset;
} operation;

typedef struct object {
  kind kind;
  uint32_t references;
  unsigned char *bytes; /* BUFFER: contents; MODULE: text */
  uint64_t size, usage;
  bool is_mapped;
  struct object *held[MOST]; /* what it keeps alive */
  uint32_t held_count;
  char entry[64], keys[MOST][64]; /* PIPELINE */
  double values[MOST];
  uint32_t constant_count;
  uint32_t bindings[MOST]; /* GROUP */
  uint64_t offsets[MOST], sizes[MOST];
  uint32_t binding_count;
  operation *first, **last;        /* ENCODER, COMMANDS */
  struct object *pipeline, *group; /* PASS */
  struct object *encoder;          /* PASS */
  uint32_t offset;                 /* PASS */
  CallbackInfo lost;               /* DEVICE */
  UncapturedInfo uncaptured;       /* DEVICE */
  uint32_t scopes, scope_error;    /* DEVICE */
  bool is_lost;
} object;

static object *make(kind of) {
  object *o = calloc(1, sizeof *o);
  if (!o) abort();
  o->kind = of;
  o->references = 1;
  o->last = &o->first;
  state.objects++;
  return o;
}

static void hold(object *o, object *what) {
  if (!what || o->held_count == MOST) return;
  what->references++;
  o->held[o->held_count++] = what;
}

static void drop(object *o) {
  if (--o->references > 0) return;
  for (uint32_t i = 0; i < o->held_count; i++) drop(o->held[i]);
  for (operation *p = o->first, *next; p; p = next) {
    next = p->next;
    if (p->source) drop(p->source);
    if (p->target) drop(p->target);
    if (p->pipeline) drop(p->pipeline);
    if (p->group) drop(p->group);
    free(p);
  }
  free(o->bytes);
  memset(o, 0xdd, sizeof *o);
  free(o);
  state.objects--;
}

static object *checked(object *o, kind of) {
  WANTED(o != NULL);
  if (o && o->kind != of) violation("a handle of another kind");
  return o;
}

static void release(object *o, kind of) {
  if (of == INSTANCE) must_not_be_over();
  pthread_mutex_lock(&lock);
  drop(checked(o, of));
  pthread_mutex_unlock(&lock);
}

/* ---- Events ------------------------------------------------------------------------------------- */

typedef struct event {
  struct event *next;
  uint64_t id, due_ns;
  kind shape; /* ADAPTER: an answer with an object; DEVICE: a scope's; BUFFER: a status */
  CallbackInfo info;
  uint32_t status, type;
  void *made;
} event;

static event *events;
static uint64_t last_id;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static WGPUStringView view(const char *text) { return (WGPUStringView){text, strlen(text)}; }

/* In poll, with users as they were given. */
static WGPUFuture later(CallbackInfo info, kind shape, uint32_t status, uint32_t type, void *made) {
  event *e = calloc(1, sizeof *e), **at = &events;
  if (!e) abort();
  WANTED(info.nextInChain == NULL);
  WANTED(info.mode == 2);
  WANTED(info.callback != NULL);
  WANTED(info.userdata1 != NULL);
  WANTED(info.userdata2 == NULL);
  *e = (event){.id = ++last_id + (UINT64_C(7) << 32),
               .due_ns = now_ns() + UINT64_C(1000) * state.takes_us,
               .shape = shape,
               .info = info,
               .status = status,
               .type = type,
               .made = made};
  while (*at) at = &(*at)->next;
  *at = e;
  state.events++;
  state.calls_by_value++;
  return (WGPUFuture){e->id};
}

static void call(const event *e) {
  const char *words = e->status == SUCCESS && e->type <= 1 ? "" : "the stand-in says so";
  if (e->shape == ADAPTER)
    ((AnswerCallback)e->info.callback)(e->status, e->made, view(words), e->info.userdata1, e->info.userdata2);
  else if (e->shape == DEVICE)
    ((ScopeCallback)e->info.callback)(e->status, e->type, view(words), e->info.userdata1, e->info.userdata2);
  else
    ((StatusCallback)e->info.callback)(e->status, view(words), e->info.userdata1, e->info.userdata2);
}

static bool has_come(const event *e) { return state.takes_us == 0 || e->due_ns <= now_ns(); }

/* One event that has come, or the first when `id` is 0. False: there is none. */
static bool make_one(uint64_t id) {
  pthread_mutex_lock(&lock);
  event **at = &events, *e;
  while (*at && ((id != 0 && (*at)->id != id) || !has_come(*at))) at = &(*at)->next;
  e = *at;
  if (e) *at = e->next;
  if (e) state.events--;
  pthread_mutex_unlock(&lock);
  if (!e) return false;
  call(e);
  free(e);
  return true;
}

/* ---- Instance ----------------------------------------------------------------------------------- */

typedef struct Capabilities {
  WGPUChainedStruct *nextInChain;
  uint32_t timedWaitAnyEnable;
  size_t timedWaitAnyMaxCount;
} Capabilities;
typedef struct InstanceDescriptor {
  WGPUChainedStruct *nextInChain;
  Capabilities features;
} InstanceDescriptor;

EXPORTED uint32_t wgpuGetInstanceCapabilities(Capabilities *out);
uint32_t wgpuGetInstanceCapabilities(Capabilities *out) {
  out->timedWaitAnyEnable = 1;
  out->timedWaitAnyMaxCount = 64;
  return SUCCESS;
}

EXPORTED void wgpuDeviceTick(object *device);
void wgpuDeviceTick(object *device) { (void)device; }
EXPORTED void wgpuDeviceGetAdapterInfo(object *device);
void wgpuDeviceGetAdapterInfo(object *device) { (void)device; }

EXPORTED object *wgpuCreateInstance(InstanceDescriptor const *descriptor);
object *wgpuCreateInstance(InstanceDescriptor const *descriptor) {
  WANTED(descriptor && descriptor->nextInChain == NULL && descriptor->features.nextInChain == NULL);
  WANTED(descriptor && descriptor->features.timedWaitAnyEnable == 1 && descriptor->features.timedWaitAnyMaxCount == 64);
  pthread_mutex_lock(&lock);
  object *made = make(INSTANCE);
  pthread_mutex_unlock(&lock);
  return made;
}

EXPORTED void wgpuInstanceProcessEvents(object *instance);
void wgpuInstanceProcessEvents(object *instance) {
  (void)checked(instance, INSTANCE);
  while (make_one(0)) {
  }
}

static bool is_expected(uint64_t id) {
  pthread_mutex_lock(&lock);
  const event *e = events;
  while (e && e->id != id) e = e->next;
  pthread_mutex_unlock(&lock);
  return e != NULL;
}

typedef struct WaitInfo {
  WGPUFuture future;
  uint32_t completed;
} WaitInfo;

EXPORTED uint32_t wgpuInstanceWaitAny(object *instance, size_t count, WaitInfo *infos, uint64_t timeout_ns);
uint32_t wgpuInstanceWaitAny(object *instance, size_t count, WaitInfo *infos, uint64_t timeout_ns) {
  (void)checked(instance, INSTANCE);
  WANTED(count == 1);
  WANTED(infos->future.id >> 32 == 7);
  uint64_t begun = now_ns();
  while (is_expected(infos->future.id)) {
    if (make_one(infos->future.id)) break;
    if (now_ns() - begun >= timeout_ns) return TIMED_OUT;
    (void)usleep(100);
  }
  if (state.lags_us && gettid() != getpid()) (void)usleep(state.lags_us);
  infos->completed = 1;
  return SUCCESS;
}

/* ---- Adapter ------------------------------------------------------------------------------------ */

typedef struct RequestOptions {
  WGPUChainedStruct *nextInChain;
  uint32_t featureLevel, powerPreference, forceFallbackAdapter, backendType;
  void *compatibleSurface;
} RequestOptions;

EXPORTED WGPUFuture wgpuInstanceRequestAdapter(object *instance, RequestOptions const *options, CallbackInfo info);
WGPUFuture wgpuInstanceRequestAdapter(object *instance, RequestOptions const *options, CallbackInfo info) {
  pthread_mutex_lock(&lock);
  (void)checked(instance, INSTANCE);
  WANTED(options && options->featureLevel == 2 && options->compatibleSurface == NULL && options->powerPreference <= 2);
  WGPUFuture future = later(info, ADAPTER, SUCCESS, 0, make(ADAPTER));
  pthread_mutex_unlock(&lock);
  return future;
}

typedef struct AdapterInfo {
  WGPUChainedStruct *nextInChain;
  WGPUStringView vendor, architecture, device, description;
  uint32_t backendType, adapterType, vendorID, deviceID, subgroupMinSize, subgroupMaxSize;
} AdapterInfo;

static const char *const names[] = {"nobody", "", "stand-in", "stand-in, no GPU"};

EXPORTED uint32_t wgpuAdapterGetInfo(object *adapter, AdapterInfo *out);
uint32_t wgpuAdapterGetInfo(object *adapter, AdapterInfo *out) {
  (void)checked(adapter, ADAPTER);
  *out =
      (AdapterInfo){NULL, view(names[0]), view(names[1]), view(names[2]), view(names[3]), 6, 3, 0xabcd, 0x1234, 4, 128};
  return SUCCESS;
}

EXPORTED void wgpuAdapterInfoFreeMembers(AdapterInfo info);
void wgpuAdapterInfoFreeMembers(AdapterInfo info) {
  pthread_mutex_lock(&lock);
  const WGPUStringView views[] = {info.vendor, info.architecture, info.device, info.description};
  for (int i = 0; i < 4; i++) WANTED(views[i].data == names[i] && views[i].length == strlen(names[i]));
  WANTED(info.nextInChain == NULL && info.backendType == 6 && info.adapterType == 3);
  WANTED(info.vendorID == 0xabcd && info.deviceID == 0x1234 && info.subgroupMinSize == 4 &&
         info.subgroupMaxSize == 128);
  state.calls_by_value++;
  pthread_mutex_unlock(&lock);
}

typedef struct Limits {
  WGPUChainedStruct *nextInChain;
  uint32_t maxTextureDimension1D, maxTextureDimension2D, maxTextureDimension3D, maxTextureArrayLayers, maxBindGroups,
      maxBindGroupsPlusVertexBuffers, maxBindingsPerBindGroup, maxDynamicUniformBuffersPerPipelineLayout,
      maxDynamicStorageBuffersPerPipelineLayout, maxSampledTexturesPerShaderStage, maxSamplersPerShaderStage,
      maxStorageBuffersPerShaderStage, maxStorageTexturesPerShaderStage, maxUniformBuffersPerShaderStage;
  uint64_t maxUniformBufferBindingSize, maxStorageBufferBindingSize;
  uint32_t minUniformBufferOffsetAlignment, minStorageBufferOffsetAlignment, maxVertexBuffers;
  uint64_t maxBufferSize;
  uint32_t maxVertexAttributes, maxVertexBufferArrayStride, maxInterStageShaderVariables, maxColorAttachments,
      maxColorAttachmentBytesPerSample, maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX, maxComputeWorkgroupSizeY, maxComputeWorkgroupSizeZ, maxComputeWorkgroupsPerDimension,
      maxImmediateSize, maxStorageBuffersInVertexStage, maxStorageTexturesInVertexStage,
      maxStorageBuffersInFragmentStage, maxStorageTexturesInFragmentStage;
} Limits;

static Limits limits_given(void) {
  return (Limits){.maxTextureDimension1D = 11,
                  .maxBindGroups = 4,
                  .maxStorageBuffersPerShaderStage = 8,
                  .maxUniformBufferBindingSize = 65536,
                  .maxStorageBufferBindingSize = 1 << 26,
                  .minUniformBufferOffsetAlignment = 64,
                  .minStorageBufferOffsetAlignment = 32,
                  .maxVertexBuffers = 12,
                  .maxBufferSize = 1 << 27,
                  .maxColorAttachmentBytesPerSample = 13,
                  .maxComputeWorkgroupStorageSize = 16384,
                  .maxComputeInvocationsPerWorkgroup = 128,
                  .maxComputeWorkgroupSizeX = 128,
                  .maxComputeWorkgroupSizeY = 100,
                  .maxComputeWorkgroupSizeZ = 50,
                  .maxComputeWorkgroupsPerDimension = 1024,
                  .maxStorageTexturesInFragmentStage = 14};
}

EXPORTED uint32_t wgpuAdapterGetLimits(object *adapter, Limits *out);
uint32_t wgpuAdapterGetLimits(object *adapter, Limits *out) {
  (void)checked(adapter, ADAPTER);
  *out = limits_given();
  return SUCCESS;
}

enum { LOCKS = 0x00050004 };

EXPORTED uint32_t wgpuAdapterHasFeature(object *adapter, uint32_t feature);
uint32_t wgpuAdapterHasFeature(object *adapter, uint32_t feature) {
  (void)checked(adapter, ADAPTER);
  return feature == LOCKS;
}

/* ---- Device ------------------------------------------------------------------------------------- */

typedef struct DeviceDescriptor {
  WGPUChainedStruct *nextInChain;
  WGPUStringView label;
  size_t requiredFeatureCount;
  uint32_t const *requiredFeatures;
  Limits const *requiredLimits;
  struct {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
  } defaultQueue;
  CallbackInfo deviceLostCallbackInfo;
  UncapturedInfo uncapturedErrorCallbackInfo;
} DeviceDescriptor;

static bool is_no_label(WGPUStringView label) {
  return label.data == NULL && (label.length == 0 || label.length == SIZE_MAX);
}

EXPORTED WGPUFuture wgpuAdapterRequestDevice(object *adapter, DeviceDescriptor const *d, CallbackInfo info);
WGPUFuture wgpuAdapterRequestDevice(object *adapter, DeviceDescriptor const *d, CallbackInfo info) {
  Limits given = limits_given();
  pthread_mutex_lock(&lock);
  (void)checked(adapter, ADAPTER);
  WANTED(d->nextInChain == NULL && is_no_label(d->label) && is_no_label(d->defaultQueue.label));
  WANTED(d->requiredFeatureCount == 1 && d->requiredFeatures[0] == LOCKS);
  WANTED(d->requiredLimits && d->requiredLimits->maxBufferSize == given.maxBufferSize);
  WANTED(d->requiredLimits && d->requiredLimits->maxStorageTexturesInFragmentStage == 14);
  WANTED(d->deviceLostCallbackInfo.mode == 3 && d->deviceLostCallbackInfo.callback &&
         d->deviceLostCallbackInfo.userdata1);
  WANTED(d->uncapturedErrorCallbackInfo.callback && d->uncapturedErrorCallbackInfo.userdata1);
  object *device = make(DEVICE);
  device->lost = d->deviceLostCallbackInfo;
  device->uncaptured = d->uncapturedErrorCallbackInfo;
  WGPUFuture future = later(info, ADAPTER, SUCCESS, 0, device);
  pthread_mutex_unlock(&lock);
  return future;
}

EXPORTED void wgpuDeviceDestroy(object *device);
void wgpuDeviceDestroy(object *device) {
  if (state.destroys_us) (void)usleep(state.destroys_us);
  must_not_be_over();
  pthread_mutex_lock(&lock);
  bool was_lost = checked(device, DEVICE)->is_lost;
  device->is_lost = true;
  pthread_mutex_unlock(&lock);
  if (!was_lost)
    ((DeviceCallback)device->lost.callback)((void *const *)&device, 2, view("destroyed"), device->lost.userdata1,
                                            device->lost.userdata2);
}

EXPORTED object *wgpuDeviceGetQueue(object *device);
object *wgpuDeviceGetQueue(object *device) {
  pthread_mutex_lock(&lock);
  object *queue = make(QUEUE);
  hold(queue, checked(device, DEVICE));
  pthread_mutex_unlock(&lock);
  return queue;
}

EXPORTED void wgpuDevicePushErrorScope(object *device, uint32_t filter);
void wgpuDevicePushErrorScope(object *device, uint32_t filter) {
  pthread_mutex_lock(&lock);
  WANTED(filter >= 1 && filter <= 3);
  checked(device, DEVICE)->scopes++;
  pthread_mutex_unlock(&lock);
}

EXPORTED WGPUFuture wgpuDevicePopErrorScope(object *device, CallbackInfo info);
WGPUFuture wgpuDevicePopErrorScope(object *device, CallbackInfo info) {
  pthread_mutex_lock(&lock);
  WANTED(checked(device, DEVICE)->scopes > 0);
  device->scopes--;
  uint32_t type = device->scope_error ? 2 : 1;
  device->scope_error = 0;
  WGPUFuture future = later(info, DEVICE, SUCCESS, type, NULL);
  pthread_mutex_unlock(&lock);
  return future;
}

/* To the scope, else to the device's callback: under no lock. */
static void tell_error(object *device, const char *words) {
  pthread_mutex_lock(&lock);
  bool is_caught = device->scopes > 0;
  if (is_caught) device->scope_error = 1;
  pthread_mutex_unlock(&lock);
  if (!is_caught)
    ((DeviceCallback)device->uncaptured.callback)((void *const *)&device, 2, view(words), device->uncaptured.userdata1,
                                                  device->uncaptured.userdata2);
}

/* ---- Buffers ------------------------------------------------------------------------------------ */

typedef struct BufferDescriptor {
  WGPUChainedStruct *nextInChain;
  WGPUStringView label;
  uint64_t usage, size;
  uint32_t mappedAtCreation;
} BufferDescriptor;

EXPORTED object *wgpuDeviceCreateBuffer(object *device, BufferDescriptor const *d);
object *wgpuDeviceCreateBuffer(object *device, BufferDescriptor const *d) {
  enum { MAP_READ = 1, COPY_DST = 8 };
  pthread_mutex_lock(&lock);
  WANTED(d->nextInChain == NULL && is_no_label(d->label) && d->mappedAtCreation == 0 && d->usage < 1024);
  bool is_wrong = d->usage & MAP_READ && d->usage & ~(uint64_t)(MAP_READ | COPY_DST);
  object *buffer = make(BUFFER);
  buffer->usage = d->usage;
  buffer->size = d->size;
  buffer->bytes = calloc(1, d->size ? (size_t)d->size : 1);
  if (!buffer->bytes) abort();
  pthread_mutex_unlock(&lock);
  if (is_wrong) tell_error(device, "a buffer that is mapped can't be used so");
  return buffer;
}

EXPORTED void wgpuBufferDestroy(object *buffer);
void wgpuBufferDestroy(object *buffer) { (void)checked(buffer, BUFFER); }

EXPORTED WGPUFuture wgpuBufferMapAsync(object *buffer, uint64_t mode, size_t offset, size_t size, CallbackInfo info);
WGPUFuture wgpuBufferMapAsync(object *buffer, uint64_t mode, size_t offset, size_t size, CallbackInfo info) {
  pthread_mutex_lock(&lock);
  WANTED(mode == 1 && offset == 0 && checked(buffer, BUFFER)->size >= size && !buffer->is_mapped);
  buffer->is_mapped = true;
  WGPUFuture future = later(info, BUFFER, SUCCESS, 0, NULL);
  pthread_mutex_unlock(&lock);
  return future;
}

EXPORTED const void *wgpuBufferGetConstMappedRange(object *buffer, size_t offset, size_t size);
const void *wgpuBufferGetConstMappedRange(object *buffer, size_t offset, size_t size) {
  WANTED(checked(buffer, BUFFER)->is_mapped && offset + size <= buffer->size);
  return buffer->bytes + offset;
}

EXPORTED void wgpuBufferUnmap(object *buffer);
void wgpuBufferUnmap(object *buffer) {
  WANTED(checked(buffer, BUFFER)->is_mapped);
  buffer->is_mapped = false;
}

/* ---- Modules, layouts, pipelines, bind groups --------------------------------------------------- */

typedef struct SourceWGSL {
  WGPUChainedStruct chain;
  WGPUStringView code;
} SourceWGSL;
typedef struct ModuleDescriptor {
  WGPUChainedStruct const *nextInChain;
  WGPUStringView label;
} ModuleDescriptor;

EXPORTED object *wgpuDeviceCreateShaderModule(object *device, ModuleDescriptor const *d);
object *wgpuDeviceCreateShaderModule(object *device, ModuleDescriptor const *d) {
  const SourceWGSL *source = (const SourceWGSL *)(const void *)d->nextInChain;
  pthread_mutex_lock(&lock);
  (void)checked(device, DEVICE);
  WANTED(source && source->chain.sType == 2 && source->chain.next == NULL && is_no_label(d->label));
  object *module = make(MODULE);
  module->bytes = calloc(1, source->code.length + 1);
  if (!module->bytes) abort();
  memcpy(module->bytes, source->code.data, source->code.length);
  WANTED(strlen((char *)module->bytes) == source->code.length);
  pthread_mutex_unlock(&lock);
  return module;
}

typedef struct LayoutEntry {
  WGPUChainedStruct *nextInChain;
  uint32_t binding;
  uint64_t visibility;
  uint32_t bindingArraySize;
  struct {
    WGPUChainedStruct *nextInChain;
    uint32_t type, hasDynamicOffset;
    uint64_t minBindingSize;
  } buffer;
  struct {
    WGPUChainedStruct *nextInChain;
    uint32_t type;
  } sampler;
  struct {
    WGPUChainedStruct *nextInChain;
    uint32_t sampleType, viewDimension, multisampled;
  } texture;
  struct {
    WGPUChainedStruct *nextInChain;
    uint32_t access, format, viewDimension;
  } storageTexture;
} LayoutEntry;
typedef struct LayoutDescriptor {
  WGPUChainedStruct *nextInChain;
  WGPUStringView label;
  size_t entryCount;
  LayoutEntry const *entries;
} LayoutDescriptor;

EXPORTED object *wgpuDeviceCreateBindGroupLayout(object *device, LayoutDescriptor const *d);
object *wgpuDeviceCreateBindGroupLayout(object *device, LayoutDescriptor const *d) {
  pthread_mutex_lock(&lock);
  (void)checked(device, DEVICE);
  for (size_t i = 0; i < d->entryCount; i++) {
    const LayoutEntry *e = &d->entries[i];
    WANTED(e->nextInChain == NULL && e->visibility == 4 && e->bindingArraySize == 0 && e->binding < 16);
    WANTED(e->buffer.type >= 2 && e->buffer.type <= 4 && e->buffer.hasDynamicOffset == (e->binding == 0));
    WANTED(e->buffer.minBindingSize < 65536 && e->sampler.type == 0 && e->texture.sampleType == 0 &&
           e->storageTexture.access == 0);
  }
  object *layout = make(LAYOUT);
  pthread_mutex_unlock(&lock);
  return layout;
}

typedef struct PipelineLayoutDescriptor {
  WGPUChainedStruct *nextInChain;
  WGPUStringView label;
  size_t bindGroupLayoutCount;
  object *const *bindGroupLayouts;
  uint32_t immediateSize;
} PipelineLayoutDescriptor;

EXPORTED object *wgpuDeviceCreatePipelineLayout(object *device, PipelineLayoutDescriptor const *d);
object *wgpuDeviceCreatePipelineLayout(object *device, PipelineLayoutDescriptor const *d) {
  pthread_mutex_lock(&lock);
  (void)checked(device, DEVICE);
  WANTED(d->bindGroupLayoutCount == 1 && d->immediateSize == 0);
  object *layout = make(PIPELINE_LAYOUT);
  hold(layout, checked(d->bindGroupLayouts[0], LAYOUT));
  pthread_mutex_unlock(&lock);
  return layout;
}

typedef struct ConstantEntry {
  WGPUChainedStruct *nextInChain;
  WGPUStringView key;
  double value;
} ConstantEntry;
typedef struct PipelineDescriptor {
  WGPUChainedStruct *nextInChain;
  WGPUStringView label;
  object *layout;
  struct {
    WGPUChainedStruct *nextInChain;
    object *module;
    WGPUStringView entryPoint;
    size_t constantCount;
    ConstantEntry const *constants;
  } compute;
} PipelineDescriptor;

static void copy_view(char *to, size_t capacity, WGPUStringView from) {
  WANTED(from.data && from.length < capacity);
  (void)snprintf(to, capacity, "%.*s", (int)from.length, from.data);
}

EXPORTED object *wgpuDeviceCreateComputePipeline(object *device, PipelineDescriptor const *d);
object *wgpuDeviceCreateComputePipeline(object *device, PipelineDescriptor const *d) {
  pthread_mutex_lock(&lock);
  (void)checked(device, DEVICE);
  object *pipeline = make(PIPELINE);
  hold(pipeline, checked(d->layout, PIPELINE_LAYOUT));
  hold(pipeline, checked(d->compute.module, MODULE));
  copy_view(pipeline->entry, sizeof pipeline->entry, d->compute.entryPoint);
  WANTED(d->compute.constantCount < MOST);
  for (size_t i = 0; i < d->compute.constantCount && i < MOST; i++) {
    WANTED(d->compute.constants[i].nextInChain == NULL);
    copy_view(pipeline->keys[i], sizeof *pipeline->keys, d->compute.constants[i].key);
    pipeline->values[i] = d->compute.constants[i].value;
    pipeline->constant_count++;
  }
  state.pipelines++;
  pthread_mutex_unlock(&lock);
  return pipeline;
}

typedef struct GroupEntry {
  WGPUChainedStruct *nextInChain;
  uint32_t binding;
  object *buffer;
  uint64_t offset, size;
  void *sampler, *textureView;
} GroupEntry;
typedef struct GroupDescriptor {
  WGPUChainedStruct *nextInChain;
  WGPUStringView label;
  object *layout;
  size_t entryCount;
  GroupEntry const *entries;
} GroupDescriptor;

EXPORTED object *wgpuDeviceCreateBindGroup(object *device, GroupDescriptor const *d);
object *wgpuDeviceCreateBindGroup(object *device, GroupDescriptor const *d) {
  pthread_mutex_lock(&lock);
  (void)checked(device, DEVICE);
  object *group = make(GROUP);
  hold(group, checked(d->layout, LAYOUT));
  WANTED(d->entryCount < MOST);
  for (size_t i = 0; i < d->entryCount && i < MOST - 1; i++) {
    const GroupEntry *e = &d->entries[i];
    WANTED(e->nextInChain == NULL && e->sampler == NULL && e->textureView == NULL);
    WANTED(e->size > 0 && e->offset + e->size <= checked(e->buffer, BUFFER)->size);
    hold(group, e->buffer);
    group->bindings[i] = e->binding;
    group->offsets[i] = e->offset;
    group->sizes[i] = e->size;
    group->binding_count++;
  }
  state.groups++;
  pthread_mutex_unlock(&lock);
  return group;
}

/* ---- Recording ---------------------------------------------------------------------------------- */

EXPORTED object *wgpuDeviceCreateCommandEncoder(object *device, const void *descriptor);
object *wgpuDeviceCreateCommandEncoder(object *device, const void *descriptor) {
  pthread_mutex_lock(&lock);
  (void)checked(device, DEVICE);
  WANTED(descriptor == NULL);
  object *encoder = make(ENCODER);
  pthread_mutex_unlock(&lock);
  return encoder;
}

static void append(object *encoder, operation given) {
  operation *o = malloc(sizeof *o);
  if (!o) abort();
  *o = given;
  o->next = NULL;
  if (o->source) o->source->references++;
  if (o->target) o->target->references++;
  if (o->pipeline) o->pipeline->references++;
  if (o->group) o->group->references++;
  *encoder->last = o;
  encoder->last = &o->next;
}

EXPORTED void wgpuCommandEncoderCopyBufferToBuffer(object *encoder, object *source, uint64_t source_offset,
                                                   object *target, uint64_t target_offset, uint64_t size);
void wgpuCommandEncoderCopyBufferToBuffer(object *encoder, object *source, uint64_t source_offset, object *target,
                                          uint64_t target_offset, uint64_t size) {
  pthread_mutex_lock(&lock);
  WANTED(source != target && source_offset % 4 == 0 && target_offset % 4 == 0 && size % 4 == 0);
  WANTED(source_offset + size <= checked(source, BUFFER)->size &&
         target_offset + size <= checked(target, BUFFER)->size);
  append(checked(encoder, ENCODER), (operation){.source = source,
                                                .target = target,
                                                .source_offset = source_offset,
                                                .target_offset = target_offset,
                                                .size = size});
  pthread_mutex_unlock(&lock);
}

EXPORTED void wgpuCommandEncoderClearBuffer(object *encoder, object *buffer, uint64_t offset, uint64_t size);
void wgpuCommandEncoderClearBuffer(object *encoder, object *buffer, uint64_t offset, uint64_t size) {
  pthread_mutex_lock(&lock);
  WANTED(offset % 4 == 0 && size % 4 == 0 && offset + size <= checked(buffer, BUFFER)->size);
  append(checked(encoder, ENCODER), (operation){.target = buffer, .target_offset = offset, .size = size});
  pthread_mutex_unlock(&lock);
}

EXPORTED object *wgpuCommandEncoderBeginComputePass(object *encoder, const void *descriptor);
object *wgpuCommandEncoderBeginComputePass(object *encoder, const void *descriptor) {
  pthread_mutex_lock(&lock);
  WANTED(descriptor == NULL);
  object *pass = make(PASS);
  hold(pass, checked(encoder, ENCODER));
  pass->encoder = encoder;
  pthread_mutex_unlock(&lock);
  return pass;
}

EXPORTED void wgpuComputePassEncoderSetPipeline(object *pass, object *pipeline);
void wgpuComputePassEncoderSetPipeline(object *pass, object *pipeline) {
  checked(pass, PASS)->pipeline = checked(pipeline, PIPELINE);
}

EXPORTED void wgpuComputePassEncoderSetBindGroup(object *pass, uint32_t index, object *group, size_t count,
                                                 uint32_t const *offsets);
void wgpuComputePassEncoderSetBindGroup(object *pass, uint32_t index, object *group, size_t count,
                                        uint32_t const *offsets) {
  WANTED(index == 0 && count <= 1);
  checked(pass, PASS)->group = checked(group, GROUP);
  pass->offset = count ? offsets[0] : 0;
  WANTED(pass->offset % 64 == 0);
}

EXPORTED void wgpuComputePassEncoderDispatchWorkgroups(object *pass, uint32_t x, uint32_t y, uint32_t z);
void wgpuComputePassEncoderDispatchWorkgroups(object *pass, uint32_t x, uint32_t y, uint32_t z) {
  pthread_mutex_lock(&lock);
  WANTED(x <= 1024 && y <= 1024 && z <= 1024);
  append(checked(pass, PASS)->encoder,
         (operation){.pipeline = pass->pipeline, .group = pass->group, .offset = pass->offset, .groups = {x, y, z}});
  pthread_mutex_unlock(&lock);
}

EXPORTED void wgpuComputePassEncoderEnd(object *pass);
void wgpuComputePassEncoderEnd(object *pass) { (void)checked(pass, PASS); }

EXPORTED object *wgpuCommandEncoderFinish(object *encoder, const void *descriptor);
object *wgpuCommandEncoderFinish(object *encoder, const void *descriptor) {
  pthread_mutex_lock(&lock);
  WANTED(descriptor == NULL);
  object *commands = make(COMMANDS);
  commands->first = checked(encoder, ENCODER)->first;
  if (commands->first) commands->last = encoder->last;
  encoder->first = NULL;
  encoder->last = &encoder->first;
  pthread_mutex_unlock(&lock);
  return commands;
}

/* ---- Running ------------------------------------------------------------------------------------ */

static double constant(const object *pipeline, const char *key) {
  for (uint32_t i = 0; i < pipeline->constant_count; i++)
    if (strcmp(pipeline->keys[i], key) == 0) return pipeline->values[i];
  violation("a constant is missing");
  return 1;
}

/* What a binding begins with. */
static unsigned char *bound(const object *group, uint32_t binding, uint32_t offset) {
  for (uint32_t i = 0; i < group->binding_count; i++)
    if (group->bindings[i] == binding) return group->held[i + 1]->bytes + group->offsets[i] + offset;
  violation("a binding is missing");
  return NULL;
}

static uint32_t word_at(const unsigned char *at) {
  uint32_t word;
  memcpy(&word, at, 4);
  return word;
}

/* data[i] = data[i] * factor + added, for items from `first` on. */
static void multiply(unsigned char *data, uint32_t first, uint32_t count, uint32_t factor, uint32_t added) {
  for (uint32_t i = first; i < first + count; i++) {
    uint32_t word = word_at(data + (size_t)i * 4) * factor + added;
    memcpy(data + (size_t)i * 4, &word, 4);
  }
}

static void dispatch(const operation *o) {
  const object *p = o->pipeline;
  enum { RANGE = 112 }; /* bytes of the launch's range, before the kernel's own arguments */
  state.dispatches++;
  if (strcmp(p->entry, "main_") == 0) {
    uint32_t factor = (uint32_t)constant(p, "factor"), added = word_at(bound(o->group, 0, o->offset));
    multiply(bound(o->group, 1, 0), 0, o->groups[0] * 64, factor, added);
  } else if (strcmp(p->entry, "triple") == 0) {
    unsigned char *block = bound(o->group, 0, o->offset);
    uint32_t items = o->groups[0] * (uint32_t)constant(p, "triple_group_x"), origin = word_at(block);
    multiply(bound(o->group, 1, 0) + word_at(block + RANGE), origin, items, 3, word_at(block + RANGE + 4));
  }
}

static void run(const operation *o) {
  if (o->pipeline)
    dispatch(o);
  else if (o->source)
    memcpy(o->target->bytes + o->target_offset, o->source->bytes + o->source_offset, (size_t)o->size);
  else
    memset(o->target->bytes + o->target_offset, 0, (size_t)o->size);
}

static void lose(object *device) {
  pthread_mutex_lock(&lock);
  device->is_lost = true;
  pthread_mutex_unlock(&lock);
  ((DeviceCallback)device->lost.callback)((void *const *)&device, 1, view("the stand-in has lost it"),
                                          device->lost.userdata1, device->lost.userdata2);
}

EXPORTED void wgpuQueueSubmit(object *queue, size_t count, object *const *commands);
void wgpuQueueSubmit(object *queue, size_t count, object *const *commands) {
  object *device = checked(queue, QUEUE)->held[0];
  pthread_mutex_lock(&lock);
  uint32_t does = state.next_submission;
  WANTED(count <= 1);
  state.submissions++;
  must_not_be_over();
  state.next_submission = STANDIN_WORKS;
  for (size_t i = 0; i < count && does == STANDIN_WORKS; i++)
    for (const operation *o = checked(commands[i], COMMANDS)->first; o; o = o->next) run(o);
  pthread_mutex_unlock(&lock);
  if (does == STANDIN_TELLS_AN_ERROR) tell_error(device, "the stand-in refuses a submission");
  if (does == STANDIN_LOSES_THE_DEVICE) lose(device);
}

EXPORTED void wgpuQueueWriteBuffer(object *queue, object *buffer, uint64_t offset, const void *data, size_t size);
void wgpuQueueWriteBuffer(object *queue, object *buffer, uint64_t offset, const void *data, size_t size) {
  pthread_mutex_lock(&lock);
  (void)checked(queue, QUEUE);
  WANTED(offset % 4 == 0 && size % 4 == 0 && offset + size <= checked(buffer, BUFFER)->size);
  memcpy(buffer->bytes + offset, data, size);
  pthread_mutex_unlock(&lock);
}

EXPORTED WGPUFuture wgpuQueueOnSubmittedWorkDone(object *queue, CallbackInfo info);
WGPUFuture wgpuQueueOnSubmittedWorkDone(object *queue, CallbackInfo info) {
  pthread_mutex_lock(&lock);
  (void)checked(queue, QUEUE);
  WGPUFuture future = later(info, BUFFER, SUCCESS, 0, NULL);
  pthread_mutex_unlock(&lock);
  return future;
}

#define RELEASE(name, kind)                    \
  EXPORTED void wgpu##name##Release(object *); \
  void wgpu##name##Release(object *o) { release(o, kind); }
RELEASE(Instance, INSTANCE)
RELEASE(Adapter, ADAPTER)
RELEASE(Device, DEVICE)
RELEASE(Queue, QUEUE)
RELEASE(Buffer, BUFFER)
RELEASE(ShaderModule, MODULE)
RELEASE(BindGroupLayout, LAYOUT)
RELEASE(PipelineLayout, PIPELINE_LAYOUT)
RELEASE(ComputePipeline, PIPELINE)
RELEASE(BindGroup, GROUP)
RELEASE(CommandEncoder, ENCODER)
RELEASE(CommandBuffer, COMMANDS)
RELEASE(ComputePassEncoder, PASS)
