#include "staging.h"

#include <stdlib.h>

#include "device.h"

enum { LEAST_CLASS = 8 };

static uint32_t class_of(uint64_t size) {
  uint32_t class = LEAST_CLASS;
  while (class < WG_STAGING_CLASSES - 1 && UINT64_C(1) << class < size) class ++;
  return class;
}

static void drop(qn_adapter_device *device, wg_staged *staged) {
  WGL(device, buffer_destroy, staged->buffer);
  free(staged);
}

static qn_status make(qn_adapter_device *device, uint64_t size, wg_staged **out, wg_failure *failure) {
  wg_staged *staged = calloc(1, sizeof *staged);
  if (!staged) return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for a staging buffer's record");
  staged->class = class_of(size);
  staged->mapped.struct_size = sizeof staged->mapped;
  /* Powers of two fit more reads; one that isn't kept has the size that is needed. */
  staged->size = UINT64_C(1) << staged->class;
  if (staged->size > WG_STAGING_MOST_KEPT) staged->size = size;
  qn_status status = wg_buffer_create(device, WGL_MAP_READ | WGL_COPY_TARGET, staged->size, &staged->buffer, failure);
  if (status < 0)
    free(staged);
  else
    *out = staged;
  return status;
}

qn_status wg_staging_take(qn_adapter_device *device, uint64_t size, wg_staged **out, wg_failure *failure) {
  wg_staging *s = &device->staging;
  uint32_t class = class_of(size);
  wg_staged *found = s->free[class];
  if (!found) return make(device, size, out, failure);
  s->free[class] = found->next;
  s->count[class]--;
  *out = found;
  return QN_OK;
}

void wg_staging_give(qn_adapter_device *device, wg_staged *staged) {
  wg_staging *s = &device->staging;
  if (staged->size > WG_STAGING_MOST_KEPT || s->count[staged->class] >= WG_STAGING_KEPT) {
    drop(device, staged);
    return;
  }
  staged->next = s->free[staged->class];
  s->free[staged->class] = staged;
  s->count[staged->class]++;
}

void wg_staging_close(qn_adapter_device *device) {
  for (int i = 0; i < WG_STAGING_CLASSES; i++) {
    for (wg_staged *s = device->staging.free[i], *next; s; s = next) {
      next = s->next;
      drop(device, s);
    }
    device->staging.free[i] = NULL;
  }
}
