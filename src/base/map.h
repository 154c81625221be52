/* map.h - open-addressing hash map, string key -> pointer, with backward-shift deletion (no tombstones, C2).
 * Keys are borrowed: the caller keeps their bytes alive as long as the entry. Not thread-safe. `count` is
 * re-counted on a rehash. */
#ifndef QUERN_BASE_MAP_H
#define QUERN_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/string_view.h"

typedef struct qn_map_entry {
  qn_sv key;
  uint64_t hash;
  void *value;
} qn_map_entry;
typedef struct qn_map {
  qn_map_entry *entries;
  size_t capacity, count;
} qn_map;

void qn_map_free(qn_map *map);
void *qn_map_get(const qn_map *map, qn_sv key); /* NULL: absent */
/* Inserts, or replaces key and value (the old key's bytes may go); value must not be NULL. False: out of memory,
 * nothing changed. */
bool qn_map_set(qn_map *map, qn_sv key, void *value);
/* The value that was there, or NULL. */
void *qn_map_remove(qn_map *map, qn_sv key);
/* Walk: for (size_t i = 0; i < map.capacity; i++) if (map.entries[i].value) ... */

#endif
