/* native.c - the vendor's own objects behind handles. */
#include "base/handle.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/device.h"
#include "core/exit.h"
#include "core/kernel.h"
#include "core/program.h"
#include "core/queue.h"

/* The adapter's object behind one of ours, and what it told of it at creation (`which` 0), when it did. */
typedef struct native_object {
  const core_device *device;
  void *object;
  const uint64_t *main;
} native_object;

static native_object of_device(core_object *o) {
  const core_device *device = (core_device *)o;
  return (native_object){device, device->native, NULL};
}
static native_object of_queue(core_object *o) {
  const core_queue *queue = (core_queue *)o;
  return (native_object){queue->device, queue->native, NULL};
}
static native_object of_buffer(core_object *o) {
  const core_buffer *buffer = (core_buffer *)o;
  return (native_object){buffer->device, buffer->block.memory, &buffer->block.info.native};
}
static native_object of_program(core_object *o) {
  const core_program *program = (core_program *)o;
  return (native_object){program->device, program->binary->native, NULL};
}
static native_object of_kernel(core_object *o) {
  const core_kernel *kernel = (core_kernel *)o;
  return (native_object){kernel->program->device, kernel->native, &kernel->native_handle};
}

static native_object (*const finders[])(core_object *) = {[QN_KIND_DEVICE] = of_device,
                                                          [QN_KIND_QUEUE] = of_queue,
                                                          [QN_KIND_BUFFER] = of_buffer,
                                                          [QN_KIND_PROGRAM] = of_program,
                                                          [QN_KIND_KERNEL] = of_kernel};

static qn_status ask(uint32_t kind, core_object *object, uint32_t which, uint64_t *out_native) {
  if (!finders[kind]) QN_FAIL(QN_ERROR_UNSUPPORTED, "a runtime has no native handle");
  const native_object native = finders[kind](object);
  if (which == 0 && native.main && *native.main != 0) {
    *out_native = *native.main;
    return QN_OK;
  }
  const qn_adapter_table *table = native.device->table;
  if (!table->native) QN_FAIL(QN_ERROR_UNSUPPORTED, "adapter '%s' gives no native handles", native.device->adapter);
  uint64_t value = 0;
  qn_status status = table->native(kind, native.object, which, &value);
  if (status >= 0) *out_native = value;
  return status;
}

static qn_status native_handle(const void *handle, uint32_t which, uint64_t *out_native) {
  uint32_t kind = 0;
  void *object = NULL;
  if (!out_native) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "out_native is NULL");
  QN_TRY(qn_handle_kind_of(handle, &kind));
  QN_TRY(qn_handle_pin(handle, kind, "handle", &object));
  qn_status status = ask(kind, object, which, out_native);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_native_handle(const void *handle, uint32_t which, uint64_t *out_native) {
  CORE_CALL(native_handle(handle, which, out_native));
}
