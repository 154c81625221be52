/* shim_body.h - what the generations of webgpu.h have in common, compiled once for each: a generation's file defines what is its own
 * (OWN_LIMITS: what its limits have behind the others'; instance_descriptor, functions, features) and includes this. Declarations are ours, after
 * webgpu-headers, as far as they are used; names are local to the file. */

/* ---- Structs ------------------------------------------------------------------------------------ */

typedef struct limits {
  void *next;
  uint32_t textures_and_groups[11]; /* maxTextureDimension1D to maxSamplersPerShaderStage */
  uint32_t max_storage_buffers, max_storage_textures, max_uniform_buffers;
  uint64_t max_uniform_binding_size, max_storage_binding_size;
  uint32_t min_uniform_offset_alignment, min_storage_offset_alignment, max_vertex_buffers;
  uint64_t max_buffer_size;
  uint32_t vertices_and_colors[5]; /* maxVertexAttributes to maxColorAttachmentBytesPerSample */
  uint32_t max_local_bytes, max_group_items, max_local_size[3], max_groups;
  uint32_t max_immediate_size;
  OWN_LIMITS
} limits;

typedef struct text_view {
  const char *data;
  size_t length; /* SIZE_MAX: up to the NUL */
} text_view;

typedef struct future {
  uint64_t id;
} future;

typedef struct chain {
  const struct chain *next;
  uint32_t type;
} chain;

enum { SOURCE_WGSL = 2, IN_POLL = 2, AT_ANY_TIME = 3, SUCCESS = 1, TIMED_OUT = 2 };
enum {
  USE_MAP_READ = 1,
  USE_COPY_SOURCE = 4,
  USE_COPY_TARGET = 8,
  USE_UNIFORM = 64,
  USE_STORAGE = 128,
  STAGE_COMPUTE = 4
};
enum { BINDING_UNIFORM = 2, BINDING_STORAGE = 3, BINDING_READ_ONLY = 4 };
enum { FILTER_VALIDATION = 1, FILTER_MEMORY = 2, FILTER_INTERNAL = 3 };

typedef struct callback_info { /* of a request, a map, a scope, a loss */
  void *next;
  uint32_t mode;
  void (*callback)(void);
  void *user1, *user2;
} callback_info;

typedef struct error_info {
  void *next;
  void (*callback)(void);
  void *user1, *user2;
} error_info;

typedef struct request_options {
  void *next;
  uint32_t feature_level, power, fallback, backend;
  void *surface;
} request_options;

typedef struct adapter_info {
  void *next;
  text_view vendor, architecture, device, description;
  uint32_t backend, type, vendor_id, device_id, least_sub_group, most_sub_group;
} adapter_info;

typedef struct queue_descriptor {
  void *next;
  text_view label;
} queue_descriptor;

typedef struct device_descriptor {
  void *next;
  text_view label;
  size_t feature_count;
  const uint32_t *features;
  const limits *limits;
  queue_descriptor queue;
  callback_info lost;
  error_info uncaptured;
} device_descriptor;

typedef struct buffer_descriptor {
  void *next;
  text_view label;
  uint64_t usage, size;
  uint32_t is_mapped;
} buffer_descriptor;

typedef struct wgsl_source {
  chain chain;
  text_view code;
} wgsl_source;

typedef struct module_descriptor {
  const chain *next;
  text_view label;
} module_descriptor;

typedef struct layout_entry {
  void *next;
  uint32_t binding;
  uint64_t visibility;
  uint32_t array_size;
  struct {
    void *next;
    uint32_t type, has_offset;
    uint64_t least_bytes;
  } buffer;
  struct {
    void *next;
    uint32_t type;
  } sampler;
  struct {
    void *next;
    uint32_t sample_type, dimension, multisampled;
  } texture;
  struct {
    void *next;
    uint32_t access, format, dimension;
  } storage_texture;
} layout_entry;

typedef struct layout_descriptor {
  void *next;
  text_view label;
  size_t count;
  const layout_entry *entries;
} layout_descriptor;

typedef struct pipeline_layout_descriptor {
  void *next;
  text_view label;
  size_t count;
  wgl_layout *const *layouts;
  uint32_t immediate_size;
} pipeline_layout_descriptor;

typedef struct constant_entry {
  void *next;
  text_view key;
  double value;
} constant_entry;

typedef struct pipeline_descriptor {
  void *next;
  text_view label;
  void *layout;
  struct {
    void *next;
    wgl_module *module;
    text_view entry;
    size_t count;
    const constant_entry *constants;
  } compute;
} pipeline_descriptor;

typedef struct group_entry {
  void *next;
  uint32_t binding;
  wgl_buffer *buffer;
  uint64_t offset, size;
  void *sampler, *texture;
} group_entry;

typedef struct group_descriptor {
  void *next;
  text_view label;
  wgl_layout *layout;
  size_t count;
  const group_entry *entries;
} group_descriptor;

typedef struct feature_list {
  size_t count;
  const uint32_t *features;
} feature_list;

/* ---- Functions ---------------------------------------------------------------------------------- */

/* X(name, result, parameters) */
#define COMMON_FUNCTIONS(X)                                                                                            \
  X(CreateInstance, wgl_instance *, (const instance_descriptor *))                                                     \
  X(InstanceRelease, void, (wgl_instance *))                                                                           \
  X(InstanceProcessEvents, void, (wgl_instance *))                                                                     \
  X(InstanceRequestAdapter, future, (wgl_instance *, const request_options *, callback_info))                          \
  X(AdapterRelease, void, (wgl_adapter *))                                                                             \
  X(AdapterGetInfo, uint32_t, (wgl_adapter *, adapter_info *))                                                         \
  X(AdapterInfoFreeMembers, void, (adapter_info))                                                                      \
  X(AdapterGetLimits, uint32_t, (wgl_adapter *, limits *))                                                             \
  X(AdapterHasFeature, uint32_t, (wgl_adapter *, uint32_t))                                                            \
  X(AdapterRequestDevice, future, (wgl_adapter *, const device_descriptor *, callback_info))                           \
  X(DeviceDestroy, void, (wgl_device *))                                                                               \
  X(DeviceRelease, void, (wgl_device *))                                                                               \
  X(DeviceGetQueue, wgl_queue *, (wgl_device *))                                                                       \
  X(DevicePushErrorScope, void, (wgl_device *, uint32_t))                                                              \
  X(DevicePopErrorScope, future, (wgl_device *, callback_info))                                                        \
  X(DeviceCreateBuffer, wgl_buffer *, (wgl_device *, const buffer_descriptor *))                                       \
  X(DeviceCreateShaderModule, wgl_module *, (wgl_device *, const module_descriptor *))                                 \
  X(DeviceCreateBindGroupLayout, wgl_layout *, (wgl_device *, const layout_descriptor *))                              \
  X(DeviceCreatePipelineLayout, void *, (wgl_device *, const pipeline_layout_descriptor *))                            \
  X(DeviceCreateComputePipeline, wgl_pipeline *, (wgl_device *, const pipeline_descriptor *))                          \
  X(DeviceCreateBindGroup, wgl_group *, (wgl_device *, const group_descriptor *))                                      \
  X(DeviceCreateCommandEncoder, wgl_encoder *, (wgl_device *, const void *))                                           \
  X(BufferDestroy, void, (wgl_buffer *))                                                                               \
  X(BufferRelease, void, (wgl_buffer *))                                                                               \
  X(BufferMapAsync, future, (wgl_buffer *, uint64_t, size_t, size_t, callback_info))                                   \
  X(BufferGetConstMappedRange, const void *, (wgl_buffer *, size_t, size_t))                                           \
  X(BufferUnmap, void, (wgl_buffer *))                                                                                 \
  X(ShaderModuleRelease, void, (wgl_module *))                                                                         \
  X(BindGroupLayoutRelease, void, (wgl_layout *))                                                                      \
  X(PipelineLayoutRelease, void, (void *))                                                                             \
  X(ComputePipelineRelease, void, (wgl_pipeline *))                                                                    \
  X(BindGroupRelease, void, (wgl_group *))                                                                             \
  X(CommandEncoderBeginComputePass, wgl_pass *, (wgl_encoder *, const void *))                                         \
  X(CommandEncoderClearBuffer, void, (wgl_encoder *, wgl_buffer *, uint64_t, uint64_t))                                \
  X(CommandEncoderCopyBufferToBuffer, void, (wgl_encoder *, wgl_buffer *, uint64_t, wgl_buffer *, uint64_t, uint64_t)) \
  X(CommandEncoderFinish, wgl_commands *, (wgl_encoder *, const void *))                                               \
  X(CommandEncoderRelease, void, (wgl_encoder *))                                                                      \
  X(CommandBufferRelease, void, (wgl_commands *))                                                                      \
  X(ComputePassEncoderSetPipeline, void, (wgl_pass *, wgl_pipeline *))                                                 \
  X(ComputePassEncoderSetBindGroup, void, (wgl_pass *, uint32_t, wgl_group *, size_t, const uint32_t *))               \
  X(ComputePassEncoderDispatchWorkgroups, void, (wgl_pass *, uint32_t, uint32_t, uint32_t))                            \
  X(ComputePassEncoderEnd, void, (wgl_pass *))                                                                         \
  X(ComputePassEncoderRelease, void, (wgl_pass *))                                                                     \
  X(QueueRelease, void, (wgl_queue *))                                                                                 \
  X(QueueWriteBuffer, void, (wgl_queue *, wgl_buffer *, uint64_t, const void *, size_t))                               \
  X(QueueSubmit, void, (wgl_queue *, size_t, wgl_commands *const *))                                                   \
  X(QueueOnSubmittedWorkDone, future, (wgl_queue *, callback_info))

#define X(name, result, parameters) result(*name) parameters;
struct wgl_functions {
  COMMON_FUNCTIONS(X)
  OWN_FUNCTIONS(X)
  uint32_t can_wait; /* for a future, with a time limit */
};
#undef X

static wgl_functions *load(void *library, const char **out_missing) {
  wgl_functions *f = calloc(1, sizeof *f);
  *out_missing = NULL;
  if (!f) return NULL;
#define X(name, result, parameters)                  \
  *(void **)&f->name = dlsym(library, "wgpu" #name); \
  if (!f->name && !*out_missing) *out_missing = "wgpu" #name;
  COMMON_FUNCTIONS(X)
  OWN_FUNCTIONS(X)
#undef X
  if (!*out_missing) return f;
  free(f);
  return NULL;
}

static void unload(wgl_functions *f) { free(f); }

/* ---- Texts -------------------------------------------------------------------------------------- */

static text_view view_of(const char *text) { return (text_view){text, strlen(text)}; }

static size_t length_of(text_view view) {
  if (!view.data) return 0;
  return view.length == SIZE_MAX ? strlen(view.data) : view.length;
}

static void keep_text(text_view view, char *text, uint64_t capacity) {
  size_t length = length_of(view);
  if (capacity == 0) return;
  if (length > capacity - 1) length = (size_t)capacity - 1;
  if (length) memcpy(text, view.data, length);
  text[length] = '\0';
}

/* ---- Answers to requests ------------------------------------------------------------------------ */

/* Allocated, for an answer that nobody waits for any longer may still come: then it is left to it. */
typedef struct answer {
  uint32_t state; /* atomic */
  uint32_t kind;
  void *object;
  char text[1024];
} answer;

#define PATIENCE_NS UINT64_C(30000000000)

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void set_state(uint32_t *state, bool good) {
  __atomic_store_n(state, (uint32_t)(good ? WGL_DONE : WGL_FAILED), __ATOMIC_RELEASE);
}

static uint32_t state_of(const uint32_t *state) { return __atomic_load_n(state, __ATOMIC_ACQUIRE); }

static void on_answer(uint32_t status, void *made, text_view message, void *user1, void *user2) {
  answer *a = user1;
  (void)user2;
  a->object = status == SUCCESS ? made : NULL;
  keep_text(message, a->text, sizeof a->text);
  set_state(&a->state, status == SUCCESS);
}

static uint32_t kind_of(uint32_t type) {
  static const uint32_t kinds[] = {WGL_ERROR_OTHER, WGL_ERROR_NONE, WGL_ERROR_VALIDATION, WGL_ERROR_MEMORY,
                                   WGL_ERROR_INTERNAL};
  return type < sizeof kinds / sizeof *kinds ? kinds[type] : WGL_ERROR_OTHER;
}

static void on_scope(uint32_t status, uint32_t type, text_view message, void *user1, void *user2) {
  answer *a = user1;
  (void)user2;
  a->kind = status == SUCCESS ? kind_of(type) : WGL_ERROR_OTHER;
  keep_text(message, a->text, sizeof a->text);
  set_state(&a->state, true);
}

/* A callback of any type, as infos have it; the library calls it as what it is. */
typedef void (*any_callback)(void);
#define CALLBACK(function) ((any_callback)(function))

static callback_info answer_to(any_callback callback, answer *a) {
  return (callback_info){.mode = IN_POLL, .callback = callback, .user1 = a};
}

/* Whether it came. */
static bool wait_for_answer(wgl_functions *f, wgl_instance *instance, const answer *a) {
  const struct timespec pause = {0, 50000};
  uint64_t start = now_ns();
  f->InstanceProcessEvents(instance);
  while (state_of(&a->state) == WGL_WAITING && now_ns() - start < PATIENCE_NS) {
    (void)nanosleep(&pause, NULL);
    f->InstanceProcessEvents(instance);
  }
  return state_of(&a->state) != WGL_WAITING;
}

/* What was made, or NULL with the words. The answer is gone. */
static void *take_answer(wgl_functions *f, wgl_instance *instance, answer *a, char *text, uint64_t capacity) {
  void *object = NULL;
  if (wait_for_answer(f, instance, a)) {
    object = a->object;
    (void)snprintf(text, (size_t)capacity, "%s", a->text);
    free(a);
  } else {
    (void)snprintf(text, (size_t)capacity, "no answer within %u s", (unsigned)(PATIENCE_NS / 1000000000u));
  }
  return object;
}

/* ---- Instance ----------------------------------------------------------------------------------- */

static void instance_release(wgl_functions *f, wgl_instance *instance) { f->InstanceRelease(instance); }

/* ---- Adapter ------------------------------------------------------------------------------------ */

enum { ANY_BACKEND = 0, VULKAN = 6 };

/* NULL: there is no memory, and the text says so. */
static answer *new_answer(char *text, uint64_t capacity) {
  answer *a = calloc(1, sizeof *a);
  if (!a) (void)snprintf(text, (size_t)capacity, "no memory");
  return a;
}

static wgl_adapter *request_of(wgl_functions *f, wgl_instance *instance, uint32_t which, uint32_t backend, char *text,
                               uint64_t capacity) {
  static const uint32_t powers[] = {[WGL_ANY] = 0, [WGL_FAST] = 2, [WGL_FRUGAL] = 1};
  const request_options options = {.feature_level = 2, .power = powers[which], .backend = backend};
  answer *a = new_answer(text, capacity);
  if (!a) return NULL;
  (void)f->InstanceRequestAdapter(instance, &options, answer_to(CALLBACK(on_answer), a));
  return take_answer(f, instance, a, text, capacity);
}

/* Vulkan first: to ask for any starts OpenGL as well. */
static wgl_adapter *adapter_request(wgl_functions *f, wgl_instance *instance, uint32_t which, char *text,
                                    uint64_t capacity) {
  wgl_adapter *adapter = request_of(f, instance, which, VULKAN, text, capacity);
  return adapter ? adapter : request_of(f, instance, which, ANY_BACKEND, text, capacity);
}

static void describe_limits(wgl_functions *f, wgl_adapter *adapter, wgl_description *out) {
  limits l = {0};
  if (f->AdapterGetLimits(adapter, &l) != SUCCESS) return;
  out->offset_alignment = l.min_uniform_offset_alignment;
  out->max_buffer_bytes = l.max_buffer_size;
  out->max_storage_bytes = l.max_storage_binding_size;
  out->max_uniform_bytes = l.max_uniform_binding_size;
  out->max_storage_buffers = l.max_storage_buffers;
  out->max_groups = l.max_groups;
  out->max_local_bytes = l.max_local_bytes;
  out->max_group_items = l.max_group_items;
  for (int d = 0; d < 3; d++) out->max_local_size[d] = l.max_local_size[d];
}

static void adapter_describe(wgl_functions *f, wgl_adapter *adapter, wgl_description *out) {
  static const uint32_t types[] = {WGL_TYPE_OTHER, WGL_TYPE_DISCRETE, WGL_TYPE_INTEGRATED, WGL_TYPE_SOFTWARE};
  adapter_info info = {0};
  *out = (wgl_description){.struct_size = sizeof *out};
  if (f->AdapterGetInfo(adapter, &info) == SUCCESS) {
    keep_text(info.vendor, out->vendor, sizeof out->vendor);
    keep_text(info.architecture, out->architecture, sizeof out->architecture);
    keep_text(info.device, out->device, sizeof out->device);
    keep_text(info.description, out->description, sizeof out->description);
    out->type = info.type < 4 ? types[info.type] : WGL_TYPE_OTHER;
    out->vendor_id = info.vendor_id;
    out->device_id = info.device_id;
    out->backend = info.backend;
    f->AdapterInfoFreeMembers(info);
  }
  out->has_half = f->AdapterHasFeature(adapter, FEATURE_HALF) != 0;
  out->has_locks = has_locks(f, adapter);
  describe_limits(f, adapter, out);
}

static void adapter_release(wgl_functions *f, wgl_adapter *adapter) { f->AdapterRelease(adapter); }

/* ---- Device ------------------------------------------------------------------------------------- */

static void on_error(void *const *device, uint32_t type, text_view message, void *user1, void *user2) {
  const wgl_watch *watch = user1;
  (void)device, (void)user2;
  watch->on_error(watch->user, kind_of(type), message.data, length_of(message));
}

static void on_lost(void *const *device, uint32_t reason, text_view message, void *user1, void *user2) {
  const wgl_watch *watch = user1;
  (void)device, (void)reason, (void)user2;
  watch->on_lost(watch->user, message.data, length_of(message));
}

static wgl_device *device_open(wgl_functions *f, wgl_instance *instance, wgl_adapter *adapter, const wgl_watch *watch,
                               char *text, uint64_t capacity) {
  static const uint32_t wanted[] = {FEATURES_WANTED};
  uint32_t features[sizeof wanted / sizeof *wanted];
  limits l = {0};
  device_descriptor descriptor = {
      .features = features,
      .limits = f->AdapterGetLimits(adapter, &l) == SUCCESS ? &l : NULL,
      .lost = {.mode = AT_ANY_TIME, .callback = CALLBACK(on_lost), .user1 = (void *)(uintptr_t)watch},
      .uncaptured = {.callback = CALLBACK(on_error), .user1 = (void *)(uintptr_t)watch}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (f->AdapterHasFeature(adapter, wanted[i])) features[descriptor.feature_count++] = wanted[i];
  l.next = NULL;
  answer *a = new_answer(text, capacity);
  if (!a) return NULL;
  (void)f->AdapterRequestDevice(adapter, &descriptor, answer_to(CALLBACK(on_answer), a));
  return take_answer(f, instance, a, text, capacity);
}

static void device_destroy(wgl_functions *f, wgl_device *device) { f->DeviceDestroy(device); }
static void device_release(wgl_functions *f, wgl_device *device) { f->DeviceRelease(device); }
static wgl_queue *device_queue(wgl_functions *f, wgl_device *device) { return f->DeviceGetQueue(device); }
static void queue_release(wgl_functions *f, wgl_queue *queue) { f->QueueRelease(queue); }

/* The last one is popped first. */
static const uint32_t filters[] = {FILTERS};
enum { FILTER_COUNT = sizeof filters / sizeof *filters };

static void scope_begin(wgl_functions *f, wgl_device *device) {
  for (size_t i = 0; i < FILTER_COUNT; i++) f->DevicePushErrorScope(device, filters[i]);
}

/* One of them. */
static uint32_t pop_scope(wgl_functions *f, wgl_instance *instance, wgl_device *device, char *text, uint64_t capacity) {
  answer *a = calloc(1, sizeof *a);
  uint32_t kind = WGL_ERROR_OTHER;
  if (a) (void)f->DevicePopErrorScope(device, answer_to(CALLBACK(on_scope), a));
  if (!a || !wait_for_answer(f, instance, a)) {
    (void)snprintf(text, (size_t)capacity, "an error scope gives no answer");
    return kind;
  }
  kind = a->kind;
  if (kind != WGL_ERROR_NONE) (void)snprintf(text, (size_t)capacity, "%s", a->text);
  free(a);
  return kind;
}

static uint32_t scope_end(wgl_functions *f, wgl_instance *instance, wgl_device *device, char *text, uint64_t capacity) {
  uint32_t found = WGL_ERROR_NONE;
  for (size_t i = 0; i < FILTER_COUNT; i++) {
    char unused[8];
    bool is_first = found == WGL_ERROR_NONE;
    uint32_t kind = pop_scope(f, instance, device, is_first ? text : unused, is_first ? capacity : sizeof unused);
    if (is_first) found = kind;
  }
  return found;
}

/* ---- Buffers ------------------------------------------------------------------------------------ */

static uint64_t uses_of(uint32_t usage) {
  static const uint64_t uses[] = {USE_MAP_READ, USE_COPY_SOURCE, USE_COPY_TARGET, USE_UNIFORM, USE_STORAGE};
  uint64_t all = 0;
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    if (usage >> i & 1) all |= uses[i];
  return all;
}

static wgl_buffer *buffer_create(wgl_functions *f, wgl_device *device, uint32_t usage, uint64_t size) {
  const buffer_descriptor descriptor = {.usage = uses_of(usage), .size = size};
  return f->DeviceCreateBuffer(device, &descriptor);
}

static void buffer_destroy(wgl_functions *f, wgl_buffer *buffer) {
  f->BufferDestroy(buffer);
  f->BufferRelease(buffer);
}

static void on_event(uint32_t status, text_view message, void *user1, void *user2) {
  wgl_event *event = user1;
  (void)message, (void)user2;
  set_state(&event->state, status == SUCCESS);
}

static callback_info event_of(any_callback callback, wgl_event *event) {
  return (callback_info){.mode = IN_POLL, .callback = callback, .user1 = event};
}

static void buffer_map(wgl_functions *f, wgl_buffer *buffer, uint64_t size, wgl_event *event) {
  event->state = WGL_WAITING;
  event->future = f->BufferMapAsync(buffer, USE_MAP_READ, 0, (size_t)size, event_of(CALLBACK(on_event), event)).id;
}

static const void *buffer_mapped(wgl_functions *f, wgl_buffer *buffer, uint64_t size) {
  return f->BufferGetConstMappedRange(buffer, 0, (size_t)size);
}

static void buffer_unmap(wgl_functions *f, wgl_buffer *buffer) { f->BufferUnmap(buffer); }

/* ---- Modules, pipelines, bind groups ------------------------------------------------------------ */

static wgl_module *module_create(wgl_functions *f, wgl_device *device, const char *text, uint64_t size) {
  const wgsl_source source = {{NULL, SOURCE_WGSL}, {text, (size_t)size}};
  const module_descriptor descriptor = {.next = &source.chain};
  return f->DeviceCreateShaderModule(device, &descriptor);
}

static void module_release(wgl_functions *f, wgl_module *module) { f->ShaderModuleRelease(module); }

static layout_entry entry_of(const wgl_slot *slot) {
  static const uint32_t types[] = {
      [WGL_BIND_UNIFORM] = BINDING_UNIFORM, [WGL_BIND_READ] = BINDING_READ_ONLY, [WGL_BIND_WRITE] = BINDING_STORAGE};
  return (layout_entry){
      .binding = slot->binding,
      .visibility = STAGE_COMPUTE,
      .buffer = {.type = types[slot->kind], .has_offset = slot->has_offset, .least_bytes = slot->least_bytes}};
}

static wgl_layout *layout_create(wgl_functions *f, wgl_device *device, const wgl_slot *slots, uint32_t count) {
  layout_entry *entries = calloc(count + 1, sizeof *entries);
  if (!entries) return NULL;
  for (uint32_t i = 0; i < count; i++) entries[i] = entry_of(&slots[i]);
  const layout_descriptor descriptor = {.count = count, .entries = entries};
  wgl_layout *layout = f->DeviceCreateBindGroupLayout(device, &descriptor);
  free(entries);
  return layout;
}

static void layout_release(wgl_functions *f, wgl_layout *layout) { f->BindGroupLayoutRelease(layout); }

static wgl_pipeline *pipeline_create(wgl_functions *f, wgl_device *device, const wgl_pipeline_request *request) {
  wgl_layout *const layouts[] = {request->layout};
  const pipeline_layout_descriptor layout = {.count = 1, .layouts = layouts};
  constant_entry *constants = calloc(request->constant_count + 1, sizeof *constants);
  if (!constants) return NULL;
  for (uint32_t i = 0; i < request->constant_count; i++)
    constants[i] =
        (constant_entry){.key = view_of(request->constants[i].name), .value = (double)request->constants[i].value};
  pipeline_descriptor descriptor = {.layout = f->DeviceCreatePipelineLayout(device, &layout),
                                    .compute = {.module = request->module,
                                                .entry = view_of(request->entry),
                                                .count = request->constant_count,
                                                .constants = constants}};
  wgl_pipeline *pipeline = descriptor.layout ? f->DeviceCreateComputePipeline(device, &descriptor) : NULL;
  if (descriptor.layout) f->PipelineLayoutRelease(descriptor.layout);
  free(constants);
  return pipeline;
}

static void pipeline_release(wgl_functions *f, wgl_pipeline *pipeline) { f->ComputePipelineRelease(pipeline); }

static wgl_group *group_create(wgl_functions *f, wgl_device *device, wgl_layout *layout, const wgl_binding *bindings,
                               uint32_t count) {
  group_entry *entries = calloc(count + 1, sizeof *entries);
  if (!entries) return NULL;
  for (uint32_t i = 0; i < count; i++)
    entries[i] = (group_entry){.binding = bindings[i].binding,
                               .buffer = bindings[i].buffer,
                               .offset = bindings[i].offset_bytes,
                               .size = bindings[i].size_bytes};
  const group_descriptor descriptor = {.layout = layout, .count = count, .entries = entries};
  wgl_group *group = f->DeviceCreateBindGroup(device, &descriptor);
  free(entries);
  return group;
}

static void group_release(wgl_functions *f, wgl_group *group) { f->BindGroupRelease(group); }

/* ---- Commands ----------------------------------------------------------------------------------- */

static wgl_encoder *encoder_create(wgl_functions *f, wgl_device *device) {
  return f->DeviceCreateCommandEncoder(device, NULL);
}

static void encoder_drop(wgl_functions *f, wgl_encoder *encoder) { f->CommandEncoderRelease(encoder); }
static wgl_commands *encoder_finish(wgl_functions *f, wgl_encoder *encoder) {
  wgl_commands *commands = f->CommandEncoderFinish(encoder, NULL);
  f->CommandEncoderRelease(encoder);
  return commands;
}

static void copy(wgl_functions *f, wgl_encoder *encoder, wgl_buffer *source, uint64_t source_offset, wgl_buffer *target,
                 uint64_t target_offset, uint64_t size) {
  f->CommandEncoderCopyBufferToBuffer(encoder, source, source_offset, target, target_offset, size);
}

static void clear(wgl_functions *f, wgl_encoder *encoder, wgl_buffer *buffer, uint64_t offset, uint64_t size) {
  f->CommandEncoderClearBuffer(encoder, buffer, offset, size);
}

static wgl_pass *pass_begin(wgl_functions *f, wgl_encoder *encoder) {
  return f->CommandEncoderBeginComputePass(encoder, NULL);
}

static void pass_end(wgl_functions *f, wgl_pass *pass) {
  f->ComputePassEncoderEnd(pass);
  f->ComputePassEncoderRelease(pass);
}

static void pass_pipeline(wgl_functions *f, wgl_pass *pass, wgl_pipeline *pipeline) {
  f->ComputePassEncoderSetPipeline(pass, pipeline);
}

static void pass_group(wgl_functions *f, wgl_pass *pass, wgl_group *group, uint32_t count, const uint32_t *offsets) {
  f->ComputePassEncoderSetBindGroup(pass, 0, group, count, offsets);
}

static void pass_dispatch(wgl_functions *f, wgl_pass *pass, uint32_t x, uint32_t y, uint32_t z) {
  f->ComputePassEncoderDispatchWorkgroups(pass, x, y, z);
}

/* ---- Queue -------------------------------------------------------------------------------------- */

static void queue_write(wgl_functions *f, wgl_queue *queue, wgl_buffer *buffer, uint64_t offset, const void *bytes,
                        uint64_t size) {
  f->QueueWriteBuffer(queue, buffer, offset, bytes, (size_t)size);
}

static void queue_submit(wgl_functions *f, wgl_queue *queue, wgl_commands *commands) {
  f->QueueSubmit(queue, commands ? 1 : 0, &commands);
  if (commands) f->CommandBufferRelease(commands);
}

static void queue_done(wgl_functions *f, wgl_queue *queue, wgl_event *event) {
  event->state = WGL_WAITING;
  event->future = f->QueueOnSubmittedWorkDone(queue, event_of(CALLBACK(on_event), event)).id;
}

#define SHIM_TABLE(own_name, own_marks, own_end) \
  {.struct_size = sizeof(wgl_shim),              \
   .ends_process = own_end,                      \
   .name = own_name,                             \
   .marks = own_marks,                           \
   .load = load,                                 \
   .unload = unload,                             \
   .instance_open = instance_open,               \
   .instance_release = instance_release,         \
   .poll = poll,                                 \
   .wait = wait_for_future,                      \
   .adapter_request = adapter_request,           \
   .adapter_describe = adapter_describe,         \
   .adapter_release = adapter_release,           \
   .device_open = device_open,                   \
   .device_destroy = device_destroy,             \
   .device_release = device_release,             \
   .device_queue = device_queue,                 \
   .queue_release = queue_release,               \
   .scope_begin = scope_begin,                   \
   .scope_end = scope_end,                       \
   .buffer_create = buffer_create,               \
   .buffer_destroy = buffer_destroy,             \
   .buffer_map = buffer_map,                     \
   .buffer_mapped = buffer_mapped,               \
   .buffer_unmap = buffer_unmap,                 \
   .module_create = module_create,               \
   .module_release = module_release,             \
   .layout_create = layout_create,               \
   .layout_release = layout_release,             \
   .pipeline_create = pipeline_create,           \
   .pipeline_release = pipeline_release,         \
   .group_create = group_create,                 \
   .group_release = group_release,               \
   .encoder_create = encoder_create,             \
   .encoder_finish = encoder_finish,             \
   .encoder_drop = encoder_drop,                 \
   .copy = copy,                                 \
   .clear = clear,                               \
   .pass_begin = pass_begin,                     \
   .pass_end = pass_end,                         \
   .pass_pipeline = pass_pipeline,               \
   .pass_group = pass_group,                     \
   .pass_dispatch = pass_dispatch,               \
   .queue_write = queue_write,                   \
   .queue_submit = queue_submit,                 \
   .queue_done = queue_done}
