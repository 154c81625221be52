/* bytes.h - small kernels of the adapter's own, for copies and fills at any byte. Each is made at its first use. A word that is
 * written in part is read and put together; nothing else runs meanwhile, for the stream is in order. */
#ifndef QUERN_ADAPTERS_WEBGPU_BYTES_H
#define QUERN_ADAPTERS_WEBGPU_BYTES_H

#include "groups.h"
#include "webgpu.h"

typedef struct wg_byte_kernel {
  wgl_layout *layout;
  wgl_pipeline *pipeline; /* NULL: not made yet */
  wg_groups groups;
} wg_byte_kernel;

enum { WG_BYTES_COPY, WG_BYTES_COPY_WITHIN, WG_BYTES_FILL, WG_BYTES_KERNELS };
enum { WG_BYTES_MOST_PATTERN = 128 };

typedef struct wg_bytes {
  wg_byte_kernel kernels[WG_BYTES_KERNELS];
} wg_bytes;

/* Under the device's lock. Ranges of one block don't overlap. */
qn_status wg_bytes_copy(qn_adapter_device *device, const qn_adapter_memory *target, uint64_t target_offset,
                        const qn_adapter_memory *source, uint64_t source_offset, uint64_t size, wg_failure *failure);
/* The pattern's size need not divide the range's. */
qn_status wg_bytes_fill(qn_adapter_device *device, const qn_adapter_memory *target, uint64_t offset, uint64_t size,
                        const void *pattern, uint64_t pattern_size, wg_failure *failure);
void wg_bytes_close(qn_adapter_device *device);

#endif
