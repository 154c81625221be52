#include "core/known.h"

#include <stddef.h>

#include "core/timeline.h"

/* Words are stored with release and loaded with acquire: who has seen a new word sees the version that came before it. */
static uint64_t get(const _Atomic uint64_t *word) { return atomic_load_explicit(word, memory_order_acquire); }
static void set(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_release); }

static void write_entry(core_known *known, core_known_entry *e, const qn_point *point, uint64_t since) {
  uint32_t version = atomic_load_explicit(&known->version, memory_order_relaxed);
  bool is_same = get(&e->queue) == point->queue;
  atomic_store_explicit(&known->version, version + 1, memory_order_relaxed);
  set(&e->older_value, is_same ? get(&e->value) : 0);
  set(&e->older_since, is_same ? get(&e->since) : 0);
  set(&e->queue, point->queue);
  set(&e->value, point->value);
  set(&e->since, since);
  atomic_store_explicit(&known->version, version + 2, memory_order_release);
}

void core_known_clear(core_known *known) {
  static const qn_point none = {0, 0};
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++) write_entry(known, &known->entries[i], &none, 0);
  known->turn = 0;
}

static core_known_entry *find(core_known *known, uint64_t queue) {
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++)
    if (get(&known->entries[i].queue) == queue) return &known->entries[i];
  return NULL;
}

/* An entry that is complete tells nothing: everybody knows that. */
static core_known_entry *find_complete(core_known *known) {
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++) {
    core_known_entry *e = &known->entries[i];
    const qn_point point = {get(&e->queue), get(&e->value)};
    if (core_point_is_known_complete(&point)) return e;
  }
  return NULL;
}

static core_known_entry *make_room(core_known *known, bool is_direct) {
  core_known_entry *e = find(known, 0);
  if (!e) e = find_complete(known);
  if (!e && is_direct) e = &known->entries[known->turn++ % CORE_KNOWN_QUEUES];
  return e;
}

void core_known_note(core_known *known, const qn_point *point, uint64_t since, bool is_direct) {
  core_known_entry *e = find(known, point->queue);
  if (e && get(&e->value) >= point->value) return;
  if (!e) e = make_room(known, is_direct);
  if (e) write_entry(known, e, point, since);
}

bool core_known_covers(const core_known *known, const qn_point *point) {
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++)
    if (get(&known->entries[i].queue) == point->queue) return get(&known->entries[i].value) >= point->value;
  return false;
}

static uint32_t read_at(const core_known *known, uint64_t value, qn_point *points) {
  uint32_t count = 0;
  for (int i = 0; i < CORE_KNOWN_QUEUES; i++) {
    const core_known_entry *e = &known->entries[i];
    uint64_t queue = get(&e->queue), older = get(&e->older_value);
    if (queue == 0) continue;
    if (get(&e->since) <= value)
      points[count++] = (qn_point){queue, get(&e->value)};
    else if (older != 0 && get(&e->older_since) <= value)
      points[count++] = (qn_point){queue, older};
  }
  return count;
}

/* A few tries: nothing known is an answer too. */
enum { TRIES = 4 };

uint32_t core_known_at(const core_known *known, uint64_t value, qn_point *points) {
  for (int i = 0; i < TRIES; i++) {
    uint32_t before = atomic_load_explicit(&known->version, memory_order_acquire);
    uint32_t count = read_at(known, value, points);
    uint32_t after = atomic_load_explicit(&known->version, memory_order_relaxed);
    if (before == after && before % 2 == 0) return count;
  }
  return 0;
}
