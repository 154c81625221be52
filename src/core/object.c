#include "core/object.h"

#include "base/handle.h"
#include "base/place.h"
#include "base/status.h"
#include "core/device.h"
#include "core/reaper.h"

static void count_living(core_object *object, uint32_t change) {
  if (object->device)
    atomic_fetch_add_explicit(&object->device->living[object->cls->kind], change, memory_order_relaxed);
}

static void handle_is_dead(void *object) {
  count_living(object, (uint32_t)-1);
  core_object_drop(object);
}

void core_object_setup(void) {
  for (uint32_t kind = QN_KIND_RUNTIME; kind <= QN_KIND_KERNEL; kind++) qn_handle_set_dead(kind, handle_is_dead);
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

qn_status core_object_publish(core_object *object, uint32_t owner, _Atomic uint32_t *closing, const void **out_handle) {
  const void *handle = NULL;
  object->place = qn_place_take();
  count_living(object, 1);
  qn_status status = qn_handle_create(object->cls->kind, owner, object, &handle);
  if (status < 0) {
    handle_is_dead(object);
    return status;
  }
  /* Closing sets its flag, then walks over the handles. Either its change of the flag comes after this one, and then the
   * walk sees the handle; or it is seen here. */
  if (atomic_fetch_add_explicit(closing, 0, memory_order_acq_rel) != 0) {
    qn_status revoked = qn_handle_revoke(handle); /* or the walk did it */
    (void)revoked;
    QN_FAIL(QN_ERROR_CLOSED, "the runtime is being closed");
  }
  *out_handle = handle;
  return QN_OK;
}
