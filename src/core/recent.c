#include "core/recent.h"

#include <stdlib.h>

struct core_recent_ring {
  core_recent_ring *older; /* somebody may still be reading it */
  uint32_t count;
  core_recent_entry entries[];
};

/* The ring as it is now. */
typedef struct ring_view {
  const core_recent_entry *entries;
  uint32_t count; /* a power of two */
} ring_view;

static ring_view view_of(const core_recent *recent) {
  const core_recent_ring *grown = atomic_load_explicit(&recent->grown, memory_order_acquire);
  return grown ? (ring_view){grown->entries, grown->count} : (ring_view){recent->first, CORE_RECENT_FIRST};
}

static const core_recent_entry *entry_of(ring_view ring, uint64_t value) {
  return &ring.entries[value & (ring.count - 1)];
}

static void set(core_recent_entry *entry, uint64_t value, const char *kernel) {
  /* A reader looks at the value before and after it reads the kernel. */
  atomic_store_explicit(&entry->value, 0, memory_order_release);
  atomic_store_explicit(&entry->kernel, kernel, memory_order_release);
  atomic_store_explicit(&entry->value, value, memory_order_release);
}

void core_recent_clear(core_recent *recent) {
  for (int i = 0; i < CORE_RECENT_FIRST; i++) atomic_store_explicit(&recent->first[i].value, 0, memory_order_relaxed);
}

void core_recent_free(core_recent *recent) {
  core_recent_ring *ring = atomic_exchange(&recent->grown, NULL);
  while (ring) {
    core_recent_ring *older = ring->older;
    free(ring);
    ring = older;
  }
}

bool core_recent_is_full(const core_recent *recent, uint64_t value, uint64_t completed) {
  return atomic_load_explicit(&entry_of(view_of(recent), value)->value, memory_order_relaxed) > completed;
}

void core_recent_grow(core_recent *recent) {
  ring_view old = view_of(recent);
  if (old.count >= CORE_RECENT_LIMIT) return;
  core_recent_ring *ring = calloc(1, sizeof *ring + 2 * (size_t)old.count * sizeof *ring->entries);
  if (!ring) return;
  ring->count = 2 * old.count;
  ring->older = atomic_load_explicit(&recent->grown, memory_order_relaxed);
  for (uint32_t i = 0; i < old.count; i++) {
    uint64_t value = atomic_load_explicit(&old.entries[i].value, memory_order_relaxed);
    const char *kernel = atomic_load_explicit(&old.entries[i].kernel, memory_order_relaxed);
    if (value != 0) set(&ring->entries[value & (ring->count - 1)], value, kernel);
  }
  atomic_store_explicit(&recent->grown, ring, memory_order_release);
}

void core_recent_note(core_recent *recent, uint64_t value, const char *kernel) {
  core_recent_ring *grown = atomic_load_explicit(&recent->grown, memory_order_relaxed);
  core_recent_entry *entries = grown ? grown->entries : recent->first;
  set(&entries[value & ((grown ? grown->count : CORE_RECENT_FIRST) - 1)], value, kernel);
}

const char *core_recent_kernel(const core_recent *recent, uint64_t value) {
  const core_recent_entry *entry = entry_of(view_of(recent), value);
  if (value == 0 || atomic_load_explicit(&entry->value, memory_order_acquire) != value) return NULL;
  const char *kernel = atomic_load_explicit(&entry->kernel, memory_order_acquire);
  return atomic_load_explicit(&entry->value, memory_order_acquire) == value ? kernel : NULL;
}
