#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

/* ---- The way ------------------------------------------------------------------------------------ */

enum { NULL_BACKEND = 1, WORDS = 256, ADDED = 41, FACTOR = 3, PATIENCE_ROUNDS = 200 };
#define PAUSE_NS UINT64_C(100000000)

typedef struct walk {
  const wgl_shim *shim;
  wgl_functions *f;
  wgl_instance *instance;
  wgl_adapter *adapter;
  wgl_device *device;
  wgl_queue *queue;
  wgl_buffer *block, *data, *back;
  wgl_module *module;
  wgl_layout *layout;
  wgl_pipeline *pipeline;
  wgl_group *group;
  uint32_t errors, losses, last_kind;
  uint64_t last_size;
  char text[256];
} walk;

static void hear_error(void *user, uint32_t kind, const char *text, uint64_t size) {
  walk *w = user;
  w->errors++;
  w->last_kind = kind;
  w->last_size = size;
  (void)text;
}

static void hear_loss(void *user, const char *text, uint64_t size) {
  walk *w = user;
  (void)text, (void)size;
  w->losses++;
}

static const char *open_device(walk *w) {
  const wgl_watch watch = {.struct_size = sizeof watch, .user = w, .on_error = hear_error, .on_lost = hear_loss};
  static wgl_watch kept; /* the child ends with it */
  wgl_description d;
  kept = watch;
  w->instance = w->shim->instance_open(w->f);
  if (!w->instance) return "it makes no instance";
  w->adapter = WGL(w, adapter_request, w->instance, WGL_ANY, w->text, sizeof w->text);
  if (!w->adapter) return ""; /* no GPU is no fault of the library: who asks in earnest is told */
  WGL(w, adapter_describe, w->adapter, &d);
  if (d.backend == NULL_BACKEND) return ""; /* as above: it computes nothing */
  bool is_sane = d.max_group_items >= 64 && d.max_group_items <= 65536 && d.max_groups >= 1024 &&
                 d.offset_alignment >= 16 && d.offset_alignment <= 4096 &&
                 (d.offset_alignment & (d.offset_alignment - 1)) == 0 && d.max_buffer_bytes >= 1 << 20 &&
                 d.max_local_size[2] >= 1 && d.max_local_size[0] >= d.max_local_size[2];
  if (!is_sane) return "the limits that it tells of its adapter are none";
  w->device = WGL(w, device_open, w->instance, w->adapter, &kept, w->text, sizeof w->text);
  if (!w->device) return ""; /* as above */
  w->queue = WGL(w, device_queue, w->device);
  return w->queue ? NULL : "it gives no queue";
}

static const char program_text[] =
    "override factor: u32;\n"
    "@group(0) @binding(0) var<uniform> added: vec4<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> data: array<u32>;\n"
    "@compute @workgroup_size(64) fn main_(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "  data[id.x] = data[id.x] * factor + added.x;\n"
    "}\n";

static const char *make_pipeline(walk *w) {
  static const wgl_slot slots[] = {{.binding = 0, .kind = WGL_BIND_UNIFORM, .least_bytes = 16, .has_offset = 1},
                                   {.binding = 1, .kind = WGL_BIND_WRITE, .least_bytes = 4}};
  static const wgl_constant factor = {.name = "factor", .value = FACTOR};
  WGL(w, scope_begin, w->device);
  w->module = WGL(w, module_create, w->device, program_text, sizeof program_text - 1);
  w->layout = WGL(w, layout_create, w->device, slots, 2);
  const wgl_pipeline_request request = {.struct_size = sizeof request,
                                        .constant_count = 1,
                                        .module = w->module,
                                        .layout = w->layout,
                                        .entry = "main_",
                                        .constants = &factor};
  if (w->module && w->layout) w->pipeline = WGL(w, pipeline_create, w->device, &request);
  uint32_t kind = WGL(w, scope_end, w->instance, w->device, w->text, sizeof w->text);
  return kind == WGL_ERROR_NONE && w->pipeline ? NULL : "a small kernel makes no pipeline";
}

static const char *make_buffers(walk *w) {
  WGL(w, scope_begin, w->device);
  w->block = WGL(w, buffer_create, w->device, WGL_UNIFORM | WGL_COPY_TARGET, 1024);
  w->data = WGL(w, buffer_create, w->device, WGL_STORAGE | WGL_COPY_TARGET | WGL_COPY_SOURCE, WORDS * 4);
  w->back = WGL(w, buffer_create, w->device, WGL_MAP_READ | WGL_COPY_TARGET, WORDS * 4);
  const wgl_binding bindings[] = {{.binding = 0, .buffer = w->block, .size_bytes = 16},
                                  {.binding = 1, .buffer = w->data, .size_bytes = WORDS * 4}};
  if (w->block && w->data && w->back) w->group = WGL(w, group_create, w->device, w->layout, bindings, 2);
  uint32_t kind = WGL(w, scope_end, w->instance, w->device, w->text, sizeof w->text);
  return kind == WGL_ERROR_NONE && w->group ? NULL : "buffers and a bind group can't be made";
}

/* The event comes, by waiting and by looking. */
static bool comes(const walk *w, const wgl_event *event) {
  for (int i = 0; i < PATIENCE_ROUNDS; i++) {
    if (__atomic_load_n(&event->state, __ATOMIC_ACQUIRE) != WGL_WAITING) break;
    qn_status status = WGL(w, wait, w->instance, w->device, event->future, PAUSE_NS);
    WGL(w, poll, w->instance, w->device);
    if (status < 0) (void)usleep(1000);
  }
  return __atomic_load_n(&event->state, __ATOMIC_ACQUIRE) == WGL_DONE;
}

static const char *run_kernel(walk *w) {
  /* They outlive the call: a library that is given them may write late. */
  static wgl_event done, mapped;
  uint32_t words[WORDS], block[4] = {ADDED};
  const uint32_t offset = 512;
  for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
  WGL(w, queue_write, w->queue, w->block, offset, block, sizeof block);
  WGL(w, queue_write, w->queue, w->data, 0, words, sizeof words);
  wgl_encoder *encoder = WGL(w, encoder_create, w->device);
  if (!encoder) return "it makes no encoder";
  wgl_pass *pass = WGL(w, pass_begin, encoder);
  WGL(w, pass_pipeline, pass, w->pipeline);
  WGL(w, pass_group, pass, w->group, 1, &offset);
  WGL(w, pass_dispatch, pass, WORDS / 64, 1, 1);
  WGL(w, pass_end, pass);
  WGL(w, copy, encoder, w->data, 0, w->back, 0, WORDS * 4);
  WGL(w, queue_submit, w->queue, WGL(w, encoder_finish, encoder));
  WGL(w, queue_done, w->queue, &done);
  WGL(w, buffer_map, w->back, WORDS * 4, &mapped);
  if (!comes(w, &done)) return "work that was submitted is never told to be done";
  if (!comes(w, &mapped)) return "a buffer can't be mapped";
  const uint32_t *result = WGL(w, buffer_mapped, w->back, WORDS * 4);
  if (!result) return "a mapped buffer has no address";
  for (uint32_t i = 0; i < WORDS; i++)
    if (result[i] != i * FACTOR + ADDED) return "a kernel computes something else than it should";
  WGL(w, buffer_unmap, w->back);
  return NULL;
}

/* What isn't caught by a scope is told. */
static const char *make_error(walk *w) {
  if (w->errors || w->losses) return "it tells errors where nothing is wrong";
  wgl_buffer *wrong = WGL(w, buffer_create, w->device, WGL_MAP_READ | WGL_STORAGE, 64);
  for (int i = 0; i < PATIENCE_ROUNDS && !w->errors; i++) {
    WGL(w, poll, w->instance, w->device);
    if (!w->errors) (void)usleep(1000);
  }
  bool is_told = w->errors == 1 && w->last_kind == WGL_ERROR_VALIDATION && w->last_size > 0 && w->last_size < 65536;
  if (!is_told) return "an error isn't told as it should be";
  if (wrong) WGL(w, buffer_destroy, wrong);
  return NULL;
}

static const char *end(walk *w) {
  uint32_t losses = w->losses; /* one comes when it is destroyed */
  WGL(w, group_release, w->group);
  WGL(w, pipeline_release, w->pipeline);
  WGL(w, layout_release, w->layout);
  WGL(w, module_release, w->module);
  WGL(w, buffer_destroy, w->block);
  WGL(w, buffer_destroy, w->data);
  WGL(w, buffer_destroy, w->back);
  WGL(w, queue_release, w->queue);
  WGL(w, device_destroy, w->device);
  WGL(w, device_release, w->device);
  WGL(w, poll, w->instance, NULL);
  WGL(w, adapter_release, w->adapter);
  WGL(w, instance_release, w->instance);
  return losses ? "it tells a loss where there is none" : NULL;
}

/* NULL: all is well. "": there is no device to try it on. */
static const char *go(walk *w) {
  static const char *(*const steps[])(walk *) = {open_device, make_pipeline, make_buffers, run_kernel, make_error, end};
  const char *wrong = NULL;
  for (size_t i = 0; i < sizeof steps / sizeof *steps && !wrong; i++) wrong = steps[i](w);
  return wrong;
}

qn_status wg_trial_answer(const qn_adapter_instance *instance, const char *descriptor) {
  walk *w = calloc(1, sizeof *w);
  char answer[WG_CHILD_ANSWER];
  if (!w) return wg_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a trial");
  w->shim = instance->shim;
  w->f = instance->f;
  const char *wrong = go(w);
  if (!wrong || !*wrong) /* why there is no device is told by who looks for one */
    (void)snprintf(answer, sizeof answer, "%s", WG_CHILD_WORKS);
  else
    (void)snprintf(answer, sizeof answer, "%s%s%.200s%s", wrong, *w->text ? " (" : "", w->text, *w->text ? ")" : "");
  size_t size = strlen(answer);
  bool is_written = write(atoi(descriptor), answer, size) == (ssize_t)size;
  /* `w` stays: callbacks may come to it until the process ends. */
  if (is_written && (!wrong || !*wrong)) return QN_OK;
  return wg_error(instance->host, QN_ERROR_NOT_FOUND, "%s", answer);
}

/* ---- Verdicts ----------------------------------------------------------------------------------- */

qn_status wg_trial_pass(const qn_adapter_instance *instance) {
  char answer[WG_CHILD_ANSWER];
  qn_status status = wg_child_try(instance->library, answer);
  if (status >= 0) return QN_OK;
  return wg_error(instance->host, QN_ERROR_NOT_FOUND,
                  "%s is not used: it was taken for %s, and in a process of its own %s", instance->library,
                  instance->shim->name, answer);
}
