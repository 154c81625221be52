/* shim.h - a library that implements webgpu.h, as the rest of the adapter sees it: pointers and fixed-width integers.
 *
 * webgpu.h passes structs by value, in calls and in callbacks, and its structs and enums change from one month to the next. So
 * each generation of it has one file, which alone passes such structs and receives such callbacks, compiled for the target it
 * runs on (A4). Handles are the library's own pointers.
 *
 * Threads: calls on one device come one at a time, under the device's lock, but for `poll` and `wait`. */
#ifndef QUERN_ADAPTERS_WEBGPU_SHIM_H
#define QUERN_ADAPTERS_WEBGPU_SHIM_H

#include <stdint.h>

#include "quern/adapter.h"

typedef struct wgl_functions wgl_functions; /* of one opened library */
typedef struct wgl_instance wgl_instance;
typedef struct wgl_adapter wgl_adapter;
typedef struct wgl_device wgl_device;
typedef struct wgl_queue wgl_queue;
typedef struct wgl_buffer wgl_buffer;
typedef struct wgl_module wgl_module;
typedef struct wgl_layout wgl_layout; /* of a bind group */
typedef struct wgl_pipeline wgl_pipeline;
typedef struct wgl_group wgl_group;
typedef struct wgl_encoder wgl_encoder;
typedef struct wgl_pass wgl_pass;
typedef struct wgl_commands wgl_commands;

/* How a buffer may be used. */
enum { WGL_MAP_READ = 1, WGL_COPY_SOURCE = 2, WGL_COPY_TARGET = 4, WGL_UNIFORM = 8, WGL_STORAGE = 16 };
/* What a binding is. */
enum { WGL_BIND_UNIFORM = 1, WGL_BIND_READ = 2, WGL_BIND_WRITE = 3 };
/* Kinds of errors, as WebGPU has them. */
enum {
  WGL_ERROR_NONE = 0,
  WGL_ERROR_VALIDATION = 1,
  WGL_ERROR_MEMORY = 2,
  WGL_ERROR_INTERNAL = 3,
  WGL_ERROR_OTHER = 4
};
enum { WGL_TYPE_OTHER = 0, WGL_TYPE_DISCRETE = 1, WGL_TYPE_INTEGRATED = 2, WGL_TYPE_SOFTWARE = 3 };
/* Which adapter is asked for. */
enum { WGL_ANY = 0, WGL_FAST = 1, WGL_FRUGAL = 2 };
/* An event's state. */
enum { WGL_WAITING = 0, WGL_DONE = 1, WGL_FAILED = 2 };

/* What is known of an adapter. */
typedef struct wgl_description {
  uint32_t struct_size;
  uint32_t type;
  uint32_t vendor_id, device_id;
  uint32_t backend; /* WGPUBackendType, the same in all generations */
  uint32_t has_half;
  uint32_t has_locks;        /* a device may be waited for by one thread while another uses it */
  uint32_t offset_alignment; /* of dynamic offsets of uniform bindings */
  uint64_t max_buffer_bytes, max_storage_bytes, max_uniform_bytes;
  uint32_t max_storage_buffers, max_groups; /* bindings of a kernel; groups of a dimension */
  uint32_t max_local_bytes, max_group_items;
  uint32_t max_local_size[3];
  uint32_t reserved;
  char vendor[64], architecture[64], device[128], description[128];
} wgl_description;

/* A future and whether it came. It lives until its state is no longer WGL_WAITING. */
typedef struct wgl_event {
  uint32_t struct_size;
  uint32_t state;  /* read and written atomically */
  uint64_t future; /* for `wait` */
} wgl_event;

/* Who is told what a device can't return. From any thread, also within calls: a hearer calls nothing of the library. A device that is
 * destroyed, by us or by others that have its handle, is lost. */
typedef struct wgl_watch {
  uint32_t struct_size;
  uint32_t reserved;
  QN_SLOT(void *, user);
  QN_FUNCTION(void, on_error, void *user, uint32_t kind, const char *text, uint64_t size_bytes);
  QN_FUNCTION(void, on_lost, void *user, const char *text, uint64_t size_bytes);
} wgl_watch;

/* Plain data. */
typedef struct wgl_constant {
  QN_SLOT(const char *, name);
  uint64_t value;
} wgl_constant;

typedef struct wgl_pipeline_request {
  uint32_t struct_size;
  uint32_t constant_count;
  QN_SLOT(wgl_module *, module);
  QN_SLOT(wgl_layout *, layout);
  QN_SLOT(const char *, entry);
  QN_SLOT(const wgl_constant *, constants);
} wgl_pipeline_request;

/* Plain data. */
typedef struct wgl_slot {
  uint32_t binding;
  uint32_t kind;        /* WGL_BIND_... */
  uint64_t least_bytes; /* at least so much is bound */
  uint32_t has_offset;  /* a dynamic one */
  uint32_t reserved;
} wgl_slot;

/* Plain data. */
typedef struct wgl_binding {
  uint32_t binding;
  uint32_t reserved;
  QN_SLOT(wgl_buffer *, buffer);
  uint64_t offset_bytes;
  uint64_t size_bytes;
} wgl_binding;

/* Functions that make something return NULL when the library gives nothing; what it has against a device's objects is told by an
 * error scope, or else by the watch. `text` gets the library's words. */
typedef struct wgl_shim {
  uint32_t struct_size;
  uint32_t ends_process;       /* with a submission that it refuses: on a lost device, or one that is wrong */
  QN_SLOT(const char *, name); /* "Dawn, webgpu.h of May 2025" */
  QN_SLOT(const char *const *,
          marks); /* symbols that libraries of this generation have and of no other; NULL at the end */

  /* All functions, or NULL with one that the library lacks (or NULL: no memory). */
  QN_FUNCTION(wgl_functions *, load, void *library, const char **out_missing);
  QN_FUNCTION(void, unload, wgl_functions *f);

  QN_FUNCTION(wgl_instance *, instance_open, wgl_functions *f);
  QN_FUNCTION(void, instance_release, wgl_functions *f, wgl_instance *instance);
  /* Looks what has come; events are told. */
  QN_FUNCTION(void, poll, wgl_functions *f, wgl_instance *instance, wgl_device *device);
  /* Until the future has come. QN_OK, QN_NOT_READY after the time limit, QN_ERROR_UNSUPPORTED: poll. */
  QN_FUNCTION(qn_status, wait, wgl_functions *f, wgl_instance *instance, wgl_device *device, uint64_t future,
              uint64_t timeout_ns);

  QN_FUNCTION(wgl_adapter *, adapter_request, wgl_functions *f, wgl_instance *instance, uint32_t which, char *text,
              uint64_t capacity);
  QN_FUNCTION(void, adapter_describe, wgl_functions *f, wgl_adapter *adapter, wgl_description *out);
  QN_FUNCTION(void, adapter_release, wgl_functions *f, wgl_adapter *adapter);

  /* With the adapter's limits. The watch is copied; its user lives until the device was released and the instance polled. */
  QN_FUNCTION(wgl_device *, device_open, wgl_functions *f, wgl_instance *instance, wgl_adapter *adapter,
              const wgl_watch *watch, char *text, uint64_t capacity);
  QN_FUNCTION(void, device_destroy, wgl_functions *f, wgl_device *device);
  QN_FUNCTION(void, device_release, wgl_functions *f, wgl_device *device);
  QN_FUNCTION(wgl_queue *, device_queue, wgl_functions *f, wgl_device *device);
  QN_FUNCTION(void, queue_release, wgl_functions *f, wgl_queue *queue);
  /* Errors between the two are told by the second one: a kind, WGL_ERROR_NONE for none. */
  QN_FUNCTION(void, scope_begin, wgl_functions *f, wgl_device *device);
  QN_FUNCTION(uint32_t, scope_end, wgl_functions *f, wgl_instance *instance, wgl_device *device, char *text,
              uint64_t capacity);

  QN_FUNCTION(wgl_buffer *, buffer_create, wgl_functions *f, wgl_device *device, uint32_t usage, uint64_t size_bytes);
  QN_FUNCTION(void, buffer_destroy, wgl_functions *f, wgl_buffer *buffer); /* its memory goes, and our hold of it */
  QN_FUNCTION(void, buffer_map, wgl_functions *f, wgl_buffer *buffer, uint64_t size_bytes, wgl_event *event);
  QN_FUNCTION(const void *, buffer_mapped, wgl_functions *f, wgl_buffer *buffer, uint64_t size_bytes);
  QN_FUNCTION(void, buffer_unmap, wgl_functions *f, wgl_buffer *buffer);

  QN_FUNCTION(wgl_module *, module_create, wgl_functions *f, wgl_device *device, const char *text, uint64_t size_bytes);
  QN_FUNCTION(void, module_release, wgl_functions *f, wgl_module *module);
  QN_FUNCTION(wgl_layout *, layout_create, wgl_functions *f, wgl_device *device, const wgl_slot *slots, uint32_t count);
  QN_FUNCTION(void, layout_release, wgl_functions *f, wgl_layout *layout);
  QN_FUNCTION(wgl_pipeline *, pipeline_create, wgl_functions *f, wgl_device *device,
              const wgl_pipeline_request *request);
  QN_FUNCTION(void, pipeline_release, wgl_functions *f, wgl_pipeline *pipeline);
  QN_FUNCTION(wgl_group *, group_create, wgl_functions *f, wgl_device *device, wgl_layout *layout,
              const wgl_binding *bindings, uint32_t count);
  QN_FUNCTION(void, group_release, wgl_functions *f, wgl_group *group);

  QN_FUNCTION(wgl_encoder *, encoder_create, wgl_functions *f, wgl_device *device);
  QN_FUNCTION(wgl_commands *, encoder_finish, wgl_functions *f, wgl_encoder *encoder); /* which is gone then */
  QN_FUNCTION(void, encoder_drop, wgl_functions *f, wgl_encoder *encoder);
  QN_FUNCTION(void, copy, wgl_functions *f, wgl_encoder *encoder, wgl_buffer *source, uint64_t source_offset,
              wgl_buffer *target, uint64_t target_offset, uint64_t size_bytes);
  QN_FUNCTION(void, clear, wgl_functions *f, wgl_encoder *encoder, wgl_buffer *buffer, uint64_t offset_bytes,
              uint64_t size_bytes);
  QN_FUNCTION(wgl_pass *, pass_begin, wgl_functions *f, wgl_encoder *encoder);
  QN_FUNCTION(void, pass_end, wgl_functions *f, wgl_pass *pass); /* which is gone then */
  QN_FUNCTION(void, pass_pipeline, wgl_functions *f, wgl_pass *pass, wgl_pipeline *pipeline);
  QN_FUNCTION(void, pass_group, wgl_functions *f, wgl_pass *pass, wgl_group *group, uint32_t offset_count,
              const uint32_t *offsets);
  QN_FUNCTION(void, pass_dispatch, wgl_functions *f, wgl_pass *pass, uint32_t x, uint32_t y, uint32_t z);

  QN_FUNCTION(void, queue_write, wgl_functions *f, wgl_queue *queue, wgl_buffer *buffer, uint64_t offset_bytes,
              const void *bytes, uint64_t size_bytes);
  /* `commands` may be NULL: what was written goes. */
  QN_FUNCTION(void, queue_submit, wgl_functions *f, wgl_queue *queue, wgl_commands *commands);
  /* The event comes when all that was submitted is done. */
  QN_FUNCTION(void, queue_done, wgl_functions *f, wgl_queue *queue, wgl_event *event);
} wgl_shim;

/* One a generation. */
const wgl_shim *wgl_shim_dawn_2025(void);
const wgl_shim *wgl_shim_wgpu_2026(void);

#endif
