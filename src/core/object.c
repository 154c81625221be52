#include "core/object.h"

#include "base/handle.h"
#include "base/place.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/device.h"
#include "core/reaper.h"

static void count_living(core_object *object, uint32_t change) {
  if (object->device)
    atomic_fetch_add_explicit(&object->device->living[object->cls->kind], change, memory_order_relaxed);
}

static void handle_is_dead(void *given) {
  core_object *object = given;
  count_living(object, (uint32_t)-1);
  if (object->cls->kind == QN_KIND_DEVICE) core_device_is_left((core_device *)object);
  core_object_drop(object);
}

void core_object_setup(void) {
  for (uint32_t kind = QN_KIND_RUNTIME; kind <= QN_KIND_KERNEL; kind++) qn_handle_set_dead(kind, handle_is_dead);
  qn_handle_set_dead(QN_KIND_BUFFER, core_buffer_is_dead);
  qn_handle_set_parking(QN_KIND_BUFFER);
}

void core_object_init(core_object *object, const core_object_class *cls, struct core_device *device,
                      struct core_reaper *reaper) {
  object->cls = cls;
  object->device = device;
  object->reaper = reaper;
  object->next = NULL;
  object->place = NULL;
  atomic_init(&object->holds, 1);
}

void core_object_drop(core_object *object) {
  /* Whoever destroys it must see what each holder wrote: acquire and release. */
  if (atomic_fetch_sub_explicit(&object->holds, 1, memory_order_acq_rel) == 1) core_reaper_push(object->reaper, object);
}

qn_status core_object_announce(core_object *object, const void *handle, const _Atomic uint32_t *closing) {
  qn_handle_publish(handle, object);
  /* Closing sets its flag, then walks over the handles. Either it sets the flag after this look at it, and then the walk
   * sees the handle; or it is seen here. */
  if (atomic_load(closing) == 0) return QN_OK;
  qn_status revoked = qn_handle_revoke(handle); /* or the walk did it */
  (void)revoked;
  QN_FAIL(QN_ERROR_CLOSED, "the runtime is being closed");
}

qn_status core_object_publish(core_object *object, uint32_t owner, const _Atomic uint32_t *closing,
                              const void **out_handle) {
  const void *handle = NULL;
  object->place = qn_place_take();
  count_living(object, 1);
  qn_status status = qn_handle_reserve(object->cls->kind, owner, &handle);
  if (status < 0) {
    handle_is_dead(object);
    return status;
  }
  QN_TRY(core_object_announce(object, handle, closing));
  *out_handle = handle;
  return QN_OK;
}
