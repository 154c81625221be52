/* groups.h - bind groups that were made, by the numbers of the blocks that they bind: to make one costs more than a dispatch. A few
 * for each layout; the one that was used longest ago gives way. */
#ifndef QUERN_ADAPTERS_WEBGPU_GROUPS_H
#define QUERN_ADAPTERS_WEBGPU_GROUPS_H

#include "webgpu.h"

enum { WG_GROUP_BUCKETS = 16, WG_GROUP_WAYS = 4 };

typedef struct wg_groups {
  uint32_t count;    /* numbers of a group */
  uint32_t next_use; /* counts look-ups */
  struct wg_grouped {
    wgl_group *group; /* NULL: the place is free */
    uint32_t used;
  } items[WG_GROUP_BUCKETS * WG_GROUP_WAYS];
  uint64_t *numbers; /* `count` for each item; made at the first put */
} wg_groups;

/* All under the device's lock. NULL: there is none. */
wgl_group *wg_groups_find(wg_groups *groups, const uint64_t *numbers);
/* Takes it over. False: no memory, and it is released. */
bool wg_groups_put(qn_adapter_device *device, wg_groups *groups, const uint64_t *numbers, wgl_group *group);
void wg_groups_close(qn_adapter_device *device, wg_groups *groups);

#endif
