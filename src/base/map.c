#include "base/map.h"

#include <stdlib.h>

enum { SMALLEST = 16 };

void qn_map_free(qn_map *map) {
  free(map->entries);
  *map = (qn_map){0};
}

/* The entry of `key`, or the free one where it would stand. There always is a free one: at most 3/4 are taken. */
static qn_map_entry *find(const qn_map *map, qn_sv key, uint64_t hash) {
  size_t mask = map->capacity - 1, i = (size_t)hash & mask;
  while (map->entries[i].value && !(map->entries[i].hash == hash && qn_sv_equal(map->entries[i].key, key)))
    i = (i + 1) & mask;
  return &map->entries[i];
}

void *qn_map_get(const qn_map *map, qn_sv key) {
  return map->count == 0 ? NULL : find(map, key, qn_sv_hash(key))->value;
}

static bool grow(qn_map *map) {
  size_t capacity = map->capacity ? map->capacity * 2 : SMALLEST;
  if (capacity > SIZE_MAX / sizeof(qn_map_entry)) return false;
  qn_map larger = {.entries = calloc(capacity, sizeof(qn_map_entry)), .capacity = capacity};
  if (!larger.entries) return false;
  for (size_t i = 0; i < map->capacity; i++) {
    const qn_map_entry *entry = &map->entries[i];
    if (!entry->value) continue;
    *find(&larger, entry->key, entry->hash) = *entry;
    larger.count++;
  }
  free(map->entries);
  *map = larger;
  return true;
}

bool qn_map_set(qn_map *map, qn_sv key, void *value) {
  uint64_t hash = qn_sv_hash(key);
  qn_map_entry *entry = map->capacity ? find(map, key, hash) : NULL;
  bool is_new = !entry || !entry->value;
  if (is_new && (!entry || map->count + 1 > map->capacity / 4 * 3)) {
    if (!grow(map)) return false;
    entry = find(map, key, hash);
  }
  *entry = (qn_map_entry){key, hash, value};
  map->count += is_new;
  return true;
}

/* Fills the hole at `hole` with later entries of its run that may stand there: those whose own place isn't cyclically
 * between the hole and them. */
static void shift_back(qn_map *map, size_t hole) {
  size_t mask = map->capacity - 1;
  for (size_t i = (hole + 1) & mask; map->entries[i].value; i = (i + 1) & mask) {
    size_t home = (size_t)map->entries[i].hash & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    map->entries[hole] = map->entries[i];
    hole = i;
  }
  map->entries[hole] = (qn_map_entry){0};
}

void *qn_map_remove(qn_map *map, qn_sv key) {
  if (map->count == 0) return NULL;
  qn_map_entry *entry = find(map, key, qn_sv_hash(key));
  void *value = entry->value;
  if (!value) return NULL;
  shift_back(map, (size_t)(entry - map->entries));
  map->count--;
  return value;
}
