#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"

static uint32_t bucket_of(const wg_groups *groups, const uint64_t *numbers) {
  uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t i = 0; i < groups->count; i++) {
    hash = (hash ^ numbers[i]) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
  }
  return (uint32_t)(hash % WG_GROUP_BUCKETS) * WG_GROUP_WAYS;
}

static uint64_t *numbers_of(const wg_groups *groups, uint32_t item) {
  return groups->numbers + (size_t)item * groups->count;
}

wgl_group *wg_groups_find(wg_groups *groups, const uint64_t *numbers) {
  uint32_t first = bucket_of(groups, numbers);
  if (!groups->numbers) return NULL;
  for (uint32_t i = first; i < first + WG_GROUP_WAYS; i++) {
    if (!groups->items[i].group || memcmp(numbers_of(groups, i), numbers, groups->count * sizeof *numbers) != 0)
      continue;
    groups->items[i].used = ++groups->next_use;
    return groups->items[i].group;
  }
  return NULL;
}

static uint32_t place_for(const wg_groups *groups, uint32_t first) {
  uint32_t place = first;
  for (uint32_t i = first; i < first + WG_GROUP_WAYS; i++) {
    if (!groups->items[i].group) return i;
    if (groups->next_use - groups->items[i].used > groups->next_use - groups->items[place].used) place = i;
  }
  return place;
}

bool wg_groups_put(qn_adapter_device *device, wg_groups *groups, const uint64_t *numbers, wgl_group *group) {
  const size_t items = sizeof groups->items / sizeof *groups->items;
  if (!groups->numbers) groups->numbers = calloc(items * groups->count + 1, sizeof *groups->numbers);
  if (!groups->numbers) {
    WGL(device, group_release, group);
    return false;
  }
  uint32_t place = place_for(groups, bucket_of(groups, numbers));
  if (groups->items[place].group) {
    /* What was recorded with it keeps it; but an address that comes back must not pass for it. */
    if (device->stream.group == groups->items[place].group) device->stream.group = NULL;
    WGL(device, group_release, groups->items[place].group);
  }
  groups->items[place].group = group;
  groups->items[place].used = ++groups->next_use;
  memcpy(numbers_of(groups, place), numbers, groups->count * sizeof *numbers);
  return true;
}

void wg_groups_close(qn_adapter_device *device, wg_groups *groups) {
  for (size_t i = 0; i < sizeof groups->items / sizeof *groups->items; i++)
    if (groups->items[i].group) WGL(device, group_release, groups->items[i].group);
  free(groups->numbers);
  *groups = (wg_groups){.count = groups->count};
}
