/* staging.h - buffers that the host can map, for reads. They are kept and used again, by sizes that are powers of two. */
#ifndef QUERN_ADAPTERS_WEBGPU_STAGING_H
#define QUERN_ADAPTERS_WEBGPU_STAGING_H

#include <pthread.h>

#include "webgpu.h"

enum { WG_STAGING_CLASSES = 34, WG_STAGING_KEPT = 8 };
#define WG_STAGING_MOST_KEPT (UINT64_C(16) << 20) /* larger ones are given back */

typedef struct wg_staged {
  struct wg_staged *next;
  wgl_buffer *buffer;
  uint64_t size;
  uint32_t class;
  wgl_event mapped;
} wg_staged;

typedef struct wg_staging {
  wg_staged *free[WG_STAGING_CLASSES];
  uint32_t count[WG_STAGING_CLASSES];
} wg_staging;

/* Under the device's lock. */
qn_status wg_staging_take(qn_adapter_device *device, uint64_t size, wg_staged **out, wg_failure *failure);
void wg_staging_give(qn_adapter_device *device, wg_staged *staged); /* unmapped */
void wg_staging_close(qn_adapter_device *device);

#endif
