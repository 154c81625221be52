#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "queue.h"

/* ---- What the library tells --------------------------------------------------------------------- */

/* The first is kept, but a loss says more than what came before it. */
static void hear(qn_adapter_device *device, bool is_loss, uint32_t kind, const char *text, uint64_t size) {
  pthread_mutex_lock(&device->ear);
  if (device->heard.status == QN_OK || is_loss) {
    const char *what = is_loss                    ? "is lost"
                       : kind == WGL_ERROR_MEMORY ? "has no memory left"
                                                  : "refuses what was submitted";
    qn_status status = is_loss ? QN_ERROR_DEVICE_LOST : wg_status_of(kind);
    (void)!wg_fail(&device->heard, status, kind, "device '%.60s' %s: %.*s", device->found->info.name, what,
                   (int)(size < 380 ? size : 380), text ? text : "");
  }
  if (is_loss) atomic_store(&device->is_lost, 1);
  atomic_store(&device->has_heard, 1);
  pthread_mutex_unlock(&device->ear);
}

static void hear_error(void *user, uint32_t kind, const char *text, uint64_t size) {
  hear(user, false, kind, text, size);
}
static void hear_loss(void *user, const char *text, uint64_t size) { hear(user, true, WGL_ERROR_OTHER, text, size); }

void wg_device_fail(qn_adapter_device *device, const wg_failure *failure) {
  if (device->failure.status == QN_OK) {
    device->failure = *failure;
    wg_log(device->host, "%s", failure->text);
  }
  atomic_store_explicit(&device->has_failed, 1, memory_order_release);
  wg_stream_fail(device);
}

void wg_device_listen(qn_adapter_device *device) {
  if (!atomic_load_explicit(&device->has_heard, memory_order_acquire)) return;
  pthread_mutex_lock(&device->ear);
  wg_failure heard = device->heard;
  atomic_store(&device->has_heard, 0);
  pthread_mutex_unlock(&device->ear);
  if (heard.status < 0) wg_device_fail(device, &heard);
}

/* The failure is set once, before the flag. */
qn_status wg_device_check(qn_adapter_device *device) {
  if (!atomic_load_explicit(&device->has_failed, memory_order_acquire)) return QN_OK;
  return wg_tell(device->host, &device->failure);
}

/* ---- Scopes, buffers ---------------------------------------------------------------------------- */

void wg_scope_begin(qn_adapter_device *device) { WGL(device, scope_begin, device->native); }

qn_status wg_scope_end(qn_adapter_device *device, wg_failure *failure, const char *format, ...) {
  char words[1024] = "", what[256];
  va_list args;
  uint32_t kind = WGL(device, scope_end, device->instance->native, device->native, words, sizeof words);
  if (kind == WGL_ERROR_NONE) return QN_OK;
  va_start(args, format);
  (void)vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return wg_fail(failure, wg_status_of(kind), kind, "%s: %.400s", what, words);
}

qn_status wg_buffer_create(qn_adapter_device *device, uint32_t usage, uint64_t size, wgl_buffer **out,
                           wg_failure *failure) {
  wg_scope_begin(device);
  wgl_buffer *buffer = WGL(device, buffer_create, device->native, usage, size);
  qn_status status = wg_scope_end(device, failure, "no buffer of %llu bytes", (unsigned long long)size);
  if (status >= 0 && !buffer)
    status = wg_fail(failure, QN_ERROR_OUT_OF_MEMORY, 0, "no buffer of %llu bytes", (unsigned long long)size);
  if (status < 0 && buffer) WGL(device, buffer_destroy, buffer);
  if (status >= 0) *out = buffer;
  return status;
}

/* ---- Life --------------------------------------------------------------------------------------- */

#define EXIT_PATIENCE_NS UINT64_C(100000000) /* as the core waits for threads */
/* Drivers in software work in threads of this process, which crash in destructors. */
#define EXIT_PATIENCE_OF_SOFTWARE_NS UINT64_C(10000000000)
#define EXIT_PART_NS UINT64_C(10000000)

/* An adapter makes one device, and is of no use then: each device asks for its own. */
static qn_status make_native(qn_adapter_device *device) {
  char text[512] = "";
  wgl_instance *instance = device->instance->native;
  const char *name = device->found->info.name;
  device->watch =
      (wgl_watch){.struct_size = sizeof device->watch, .user = device, .on_error = hear_error, .on_lost = hear_loss};
  wgl_adapter *adapter = WGL(device, adapter_request, instance, device->found->which, text, sizeof text);
  if (!adapter) return wg_error(device->host, QN_ERROR_DEVICE_LOST, "device '%s' is there no longer: %s", name, text);
  device->native = WGL(device, device_open, instance, adapter, &device->watch, text, sizeof text);
  WGL(device, adapter_release, adapter);
  if (!device->native) return wg_error(device->host, QN_ERROR_DEVICE, "device '%s' can't be opened: %s", name, text);
  device->queue = WGL(device, device_queue, device->native);
  if (device->queue) return QN_OK;
  WGL(device, device_release, device->native);
  return wg_error(device->host, QN_ERROR_DEVICE, "device '%s' gives no queue", name);
}

/* Callbacks end when the device is gone: what they write to is freed then. */
static void drop_native(qn_adapter_device *device) {
  WGL(device, queue_release, device->queue);
  WGL(device, device_destroy, device->native);
  WGL(device, poll, device->instance->native, device->native);
  WGL(device, device_release, device->native);
  WGL(device, poll, device->instance->native, NULL);
}

static void free_device(qn_adapter_device *device) {
  pthread_cond_destroy(&device->pump.wake);
  pthread_mutex_destroy(&device->ear);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

/* Who waits within the library leaves it after a part of its wait. */
static void wait_for_threads(qn_adapter_device *device) {
  const struct timespec pause = {0, 200000};
  uint64_t deadline = wg_deadline(EXIT_PATIENCE_NS);
  while (atomic_load(&device->stream.waiting) > 0 && wg_now() < deadline) (void)nanosleep(&pause, NULL);
}

/* Nothing more is submitted, not by a thread that waits just now either, and what is in flight gets a moment. */
static void end_with_process(void *user) {
  qn_adapter_device *device = user;
  wg_exit_begin(&device->closing);
  if (atomic_load(&device->closing) != WG_CLOSING_NO) return;
  bool is_software = device->found->description.type == WGL_TYPE_SOFTWARE;
  uint64_t deadline = wg_deadline(is_software ? EXIT_PATIENCE_OF_SOFTWARE_NS : EXIT_PATIENCE_NS), future = 0;
  bool is_waiting = true;
  if (wg_stream_phase(device) == WG_OVER) return;
  atomic_store(&device->stream.phase, WG_LANDING);
  while (is_waiting && wg_now() < deadline && wg_lock_before(&device->lock, deadline)) {
    wg_stream_look(device);
    is_waiting = wg_stream_oldest(device, &future) && !atomic_load(&device->is_lost);
    pthread_mutex_unlock(&device->lock);
    if (is_waiting) (void)!wg_stream_wait(device, future, wg_deadline(EXIT_PART_NS));
  }
  atomic_store(&device->stream.phase, WG_OVER);
  wait_for_threads(device);
}

static qn_status fill_in(qn_adapter_device *device) {
  wg_failure failure = {0};
  qn_status status = make_native(device);
  if (status < 0) return status;
  status = wg_stream_open(device, &failure);
  if (status >= 0) return QN_OK;
  drop_native(device);
  return wg_tell(device->host, &failure);
}

qn_status wg_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device) {
  if (index >= instance->device_count)
    return wg_error(instance->host, QN_ERROR_NOT_FOUND, "there is no device %u; there are %u", index,
                    instance->device_count);
  qn_adapter_device *device = calloc(1, sizeof *device);
  if (!device) return wg_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
  device->host = instance->host;
  device->shim = instance->shim;
  device->f = instance->f;
  device->instance = instance;
  device->found = &instance->devices[index];
  pthread_mutex_init(&device->lock, NULL);
  pthread_mutex_init(&device->ear, NULL);
  pthread_cond_init(&device->pump.wake, NULL);
  wg_queue_init(&device->service, device, 0);
  qn_status status = fill_in(device);
  if (status < 0) {
    free_device(device);
    return status;
  }
  wg_exit_tell(device->host, end_with_process, device);
  *out_device = device;
  return QN_OK;
}

/* Told of an exit until the library has nothing of it any more. When that has come first, all is left as it is. */
qn_status wg_device_close(qn_adapter_device *device) {
  if (!wg_exit_allows_closing(&device->closing)) return QN_OK;
  wg_pump_end(device);
  pthread_mutex_lock(&device->lock);
  wg_stream_flush(device);
  wg_stream_look(device);
  wg_bytes_close(device);
  for (int i = 0; i < 2; i++)
    if (device->nothing[i]) WGL(device, buffer_destroy, device->nothing[i]);
  if (device->tile.buffer) WGL(device, buffer_destroy, device->tile.buffer);
  wg_staging_close(device);
  WGL(device, buffer_destroy, device->stream.blocks);
  drop_native(device);
  wg_stream_close(device);
  pthread_mutex_unlock(&device->lock);
  atomic_store(&device->closing, WG_CLOSING_DONE);
  wg_exit_tell(device->host, NULL, device);
  free_device(device);
  return QN_OK;
}
