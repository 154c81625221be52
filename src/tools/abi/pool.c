/* pool.c - memory and texts of quern-abi. */
#include "pool.h"

#include <stdio.h>
#include <string.h>

#include "../tool.h"

enum { BLOCK_BYTES = 1 << 16, MAP_LEAST = 64 };

/* Every block is reachable from here, so that nothing counts as leaked. */
static struct block {
  struct block *next;
  size_t used, size;
  max_align_t bytes[];
} *blocks;

void *pool_alloc(size_t size) {
  if (size > SIZE_MAX / 2) size = SIZE_MAX / 2; /* which is refused below */
  size = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
  if (!blocks || blocks->size - blocks->used < size) {
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct block *block = tool_alloc(1, sizeof *block + room);
    block->size = room;
    block->next = blocks;
    blocks = block;
  }
  void *memory = (char *)blocks->bytes + blocks->used;
  blocks->used += size;
  return memory;
}

char *pool_copy(const char *text, size_t length) {
  char *copy = pool_alloc(length + 1);
  if (length) memcpy(copy, text, length);
  return copy;
}

char *pool_format_list(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = pool_alloc(length < 0 ? 1 : (size_t)length + 1);
  if (length >= 0) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

char *pool_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = pool_format_list(format, args);
  va_end(args);
  return text;
}

void *pool_grow(void *items, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return items;
  size_t wanted = *capacity ? *capacity * 2 : 8;
  void *grown = pool_alloc(wanted > SIZE_MAX / size ? SIZE_MAX : wanted * size);
  if (count) memcpy(grown, items, count * size);
  *capacity = wanted;
  return grown;
}

void pool_append(pool_text *text, const char *bytes, size_t length) {
  if (text->capacity - text->length <= length) {
    size_t wanted = text->length + length + 1;
    size_t doubled = text->capacity ? text->capacity * 2 : 128;
    if (wanted < doubled) wanted = doubled;
    char *grown = pool_alloc(wanted);
    if (text->length) memcpy(grown, text->data, text->length);
    text->data = grown;
    text->capacity = wanted;
  }
  if (length) memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = 0;
}

void pool_add(pool_text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *added = pool_format_list(format, args);
  va_end(args);
  pool_append(text, added, strlen(added));
}

static uint64_t hash(const char *name) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; *name; name++) h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return h ^ h >> 29;
}

static struct pool_map_slot *slot_of(const pool_map *map, const char *name) {
  size_t at = (size_t)hash(name) & (map->capacity - 1);
  while (map->slots[at].name && strcmp(map->slots[at].name, name) != 0) at = (at + 1) & (map->capacity - 1);
  return &map->slots[at];
}

size_t pool_find(const pool_map *map, const char *name) {
  if (!map->capacity) return POOL_NONE;
  const struct pool_map_slot *slot = slot_of(map, name);
  return slot->name ? slot->value : POOL_NONE;
}

void pool_put(pool_map *map, const char *name, size_t value) {
  if (map->count * 2 >= map->capacity) {
    pool_map larger = {.capacity = map->capacity ? map->capacity * 2 : MAP_LEAST, .count = map->count};
    larger.slots = pool_alloc(larger.capacity * sizeof *larger.slots);
    for (size_t i = 0; i < map->capacity; i++)
      if (map->slots[i].name) *slot_of(&larger, map->slots[i].name) = map->slots[i];
    *map = larger;
  }
  struct pool_map_slot *slot = slot_of(map, name);
  if (slot->name) return;
  *slot = (struct pool_map_slot){name, value};
  map->count++;
}
