/* fence.h - arrays that a kernel can't leave unseen, on devices that run in this process: each stands at the end of its
 * pages with inaccessible address space around it, and the bytes that are left over on its pages are looked at afterwards.
 * While a watch is on, a fault ends the command with words that name the array. One watch at a time; a fence belongs to
 * the thread that took it. */
#ifndef QUERN_TOOLS_FENCE_H
#define QUERN_TOOLS_FENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "quern/quern.h"

enum { FENCE_ARRAYS = 128 }; /* that one watch names */

typedef struct fence {
  unsigned char *reserved; /* from here on reserved_bytes; NULL: none */
  size_t reserved_bytes;
  unsigned char *pages; /* accessible, page_bytes; the array is at their end, but for its alignment */
  size_t page_bytes;
  unsigned char *memory; /* the array, `bytes` */
  size_t bytes;
} fence;

/* Whether the device works in this process's own memory. */
bool fence_is_for(const qn_device_info *device);
/* False: no memory, or no address space; *out is zero then. */
bool fence_take(size_t bytes, fence *out);
void fence_give(fence *f);
/* What was written beside the array: < 0 in front of it, > 0 behind it, 0 nothing. */
int fence_damage(const fence *f);

/* From when kernel `kernel` runs on the `count` arrays of `fences`, whose names are `names`. What it damaged may be met much later,
 * so the watch stays on to the end of the process, or until another device is opened. */
void fence_watch(const char *kernel, const fence *fences, const char *const *names, size_t count);
void fence_unwatch(void);

#endif
