/* wrap.h - the caller's memory, pinned for the device.
 *
 * The driver pins whole pages, each once; but two wrapped blocks may share a page, and one may lie within another. So what is
 * pinned is kept as spans of pages that don't overlap, each with the number of blocks that lie in it. A block may lie in several: the
 * device sees one range of addresses then, and the driver's copies take it span by span. */
#ifndef QUERN_ADAPTERS_CUDA_WRAP_H
#define QUERN_ADAPTERS_CUDA_WRAP_H

#include "device.h"

/* Entered. */
qn_status cu_wrap(qn_adapter_device *device, void *pointer, uint64_t size);
cu_result cu_unwrap(qn_adapter_device *device, void *pointer, uint64_t size);
/* Bytes from the pointer to the end of its span, which the driver copies at once. */
uint64_t cu_wrap_extent(qn_adapter_device *device, uintptr_t pointer);

#endif
