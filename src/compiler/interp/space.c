#include "compiler/interp/space.h"

#include <string.h>

static bool grow(space *s, qn_arena *arena) {
  uint32_t capacity = s->capacity ? 2 * s->capacity : 16;
  space_object *objects = QN_ARENA_ARRAY(arena, space_object, capacity);
  if (!objects) return false;
  if (s->count) memcpy(objects, s->objects, s->count * sizeof *objects);
  s->objects = objects;
  s->capacity = capacity;
  return true;
}

/* An address below the first object is next to it, so there is a gap in front of it too. */
static bool place(const space *s, uint64_t size, uint64_t align, uint64_t skew, uint64_t *out) {
  const space_object *last = s->count ? &s->objects[s->count - 1] : NULL;
  uint64_t at = (last ? last->address + last->size : s->base) + s->gap;
  at = (at + align - 1) / align * align + skew;
  *out = at;
  return at >= s->base && at <= s->end && size <= s->end - at;
}

space_object *space_add(space *s, qn_arena *arena, const space_object *object, uint64_t align, uint64_t skew,
                        bool *out_is_full) {
  uint64_t address = 0;
  *out_is_full = !place(s, object->size, align ? align : 1, skew, &address);
  if (*out_is_full || (s->count == s->capacity && !grow(s, arena))) return NULL;
  space_object *added = &s->objects[s->count++];
  *added = *object;
  added->address = address;
  return added;
}

const space_object *space_find(const space *s, uint64_t address) {
  uint32_t low = 0, high = s->count; /* the first object that begins behind the address is in [low, high] */
  if (!s->count || address < s->base || address > s->end) return NULL;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->objects[middle].address > address)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == 0) return &s->objects[0];
  const space_object *before = &s->objects[low - 1];
  if (low == s->count || address - before->address < before->size) return before;
  uint64_t behind = address - (before->address + before->size), ahead = s->objects[low].address - address;
  return ahead < behind ? &s->objects[low] : before;
}
