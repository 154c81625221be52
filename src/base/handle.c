#include "base/handle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/os/thread.h"
#include "base/status.h"

/* ---- Bits --------------------------------------------------------------------------------------- */

/* A handle. The kind stands on top and is never 0, so that no handle is NULL and, on 64-bit machines, none is an
 * address that could be dereferenced. */
#if UINTPTR_MAX > 0xffffffffu
enum { HANDLE_SLOT_BITS = 32, HANDLE_GENERATION_BITS = 28, SLOT_LIMIT = 1 << 24 };
#else
enum { HANDLE_SLOT_BITS = 16, HANDLE_GENERATION_BITS = 12, SLOT_LIMIT = 1 << 16 };
#endif
enum { KIND_LIMIT = QN_KIND_KERNEL + 1 };
#define HANDLE_SLOT_MASK (((uintptr_t)1 << HANDLE_SLOT_BITS) - 1)
#define HANDLE_GENERATION_MASK (((uintptr_t)1 << HANDLE_GENERATION_BITS) - 1)

/* A slot's word: generation 28, count 20, pins 16. Generation 0 is never in a handle: it marks a slot that is new or
 * used up. A word with count 0 belongs to no live handle; its generation is the next one to be given out. */
enum { PIN_BITS = 16, COUNT_BITS = 20, GENERATION_SHIFT = PIN_BITS + COUNT_BITS };
#define ONE_PIN UINT64_C(1)
#define ONE_COUNT (UINT64_C(1) << PIN_BITS)
#define PIN_MAX ((UINT64_C(1) << PIN_BITS) - 1)
#define COUNT_MAX ((UINT64_C(1) << COUNT_BITS) - 1)

static inline uint64_t word_generation(uint64_t word) { return word >> GENERATION_SHIFT; }
static inline uint64_t word_count(uint64_t word) { return (word >> PIN_BITS) & COUNT_MAX; }
static inline uint64_t word_pins(uint64_t word) { return word & PIN_MAX; }
/* Neither counts nor pins. */
static inline bool word_is_idle(uint64_t word) { return (word & ((ONE_COUNT << COUNT_BITS) - 1)) == 0; }

/* ---- Tables ------------------------------------------------------------------------------------- */

/* A cache line each, so that threads that use different objects don't disturb each other. */
typedef struct slot {
  _Alignas(64) _Atomic uint64_t word;
  void *object;           /* written before the word that publishes it, read under a pin */
  _Atomic uint32_t owner; /* read by walks without a pin */
  _Atomic uint32_t next;  /* free list: slot number + 1 */
} slot;

/* Chunk c holds FIRST_CHUNK << c slots: a table grows without moving. */
enum { FIRST_CHUNK_LOG = 6, FIRST_CHUNK = 1 << FIRST_CHUNK_LOG, CHUNK_LIMIT = 24 - FIRST_CHUNK_LOG };

typedef struct table {
  _Atomic(slot *) chunks[CHUNK_LIMIT];
  _Atomic uint32_t free; /* slot number + 1 of the first free one. Anyone pushes; the lock's holder alone pops, so a
                            popped head can't come back in between */
  _Atomic uint32_t used; /* slots that were ever given out */
  _Atomic uint64_t retired;
  qn_mutex lock; /* creation */
  qn_handle_dead_fn dead;
  bool parks; /* slots stay with their objects */
} table;

static table tables[KIND_LIMIT];
static _Atomic uint64_t generation_limit = HANDLE_GENERATION_MASK;

static const char *const kind_names[KIND_LIMIT] = {"nothing", "runtime", "device", "queue",
                                                   "buffer",  "program", "kernel"};

static inline uint32_t chunk_of(uint32_t number) {
  return 31u - (uint32_t)__builtin_clz(number + FIRST_CHUNK) - FIRST_CHUNK_LOG;
}
static inline uint32_t chunk_slots(uint32_t chunk) { return (uint32_t)FIRST_CHUNK << chunk; }

/* NULL: no such slot yet. `number` is below SLOT_LIMIT. */
static inline slot *slot_at(const table *t, uint32_t number) {
  uint32_t chunk = chunk_of(number);
  slot *slots = atomic_load_explicit(&t->chunks[chunk], memory_order_acquire);
  return slots ? &slots[number + FIRST_CHUNK - chunk_slots(chunk)] : NULL;
}

static inline uint32_t handle_kind(uintptr_t bits) {
  return (uint32_t)(bits >> (HANDLE_SLOT_BITS + HANDLE_GENERATION_BITS));
}
static inline uint64_t handle_generation(uintptr_t bits) { return (bits >> HANDLE_SLOT_BITS) & HANDLE_GENERATION_MASK; }
static inline uintptr_t handle_number(uintptr_t bits) { return bits & HANDLE_SLOT_MASK; }

/* The slot that a handle's bits name, live or not. NULL: these bits were never a handle. */
static inline slot *find_slot(uintptr_t bits) {
  uint32_t kind = handle_kind(bits);
  uintptr_t number = handle_number(bits);
  if (kind == 0 || kind >= KIND_LIMIT || number >= SLOT_LIMIT) return NULL;
  return slot_at(&tables[kind], (uint32_t)number);
}

static inline bool is_live(uint64_t word, uint64_t generation) {
  return word_generation(word) == generation && word_count(word) != 0;
}

void qn_handle_set_dead(uint32_t kind, qn_handle_dead_fn dead) { tables[kind].dead = dead; }

void qn_handle_set_parking(uint32_t kind) { tables[kind].parks = true; }

void qn_handle_set_generation_bits(uint32_t bits) {
  uint64_t limit = bits == 0 || bits > HANDLE_GENERATION_BITS ? HANDLE_GENERATION_MASK : (UINT64_C(1) << bits) - 1;
  atomic_store_explicit(&generation_limit, limit, memory_order_relaxed);
}

uint64_t qn_handle_retired_count(uint32_t kind) {
  return atomic_load_explicit(&tables[kind].retired, memory_order_relaxed);
}

/* ---- Errors ------------------------------------------------------------------------------------- */

static const char *article(uint32_t kind) { return kind == QN_KIND_NONE ? "" : "a "; }

/* Why a handle was refused; `kind` is QN_KIND_NONE where any would do. */
static qn_status refuse(const void *handle, uint32_t kind, const char *what) {
  uintptr_t bits = (uintptr_t)handle;
  const char *wanted = kind == QN_KIND_NONE ? "handle" : kind_names[kind];
  if (!handle) QN_FAIL(QN_ERROR_INVALID_HANDLE, "%s is NULL; it must be a live %s", what, wanted);
  slot *s = find_slot(bits);
  uint64_t word = s ? atomic_load_explicit(&s->word, memory_order_relaxed) : 0;
  if (!s || handle_generation(bits) == 0)
    QN_FAIL(QN_ERROR_INVALID_HANDLE, "%s (%p) is not a handle; it must be a live %s", what, handle, wanted);
  uint32_t is = handle_kind(bits);
  if (!is_live(word, handle_generation(bits)))
    QN_FAIL(QN_ERROR_INVALID_HANDLE, "%s (%p) is stale: the %s was released, or its runtime is closed", what, handle,
            kind_names[is]);
  if (kind != QN_KIND_NONE && is != kind)
    QN_FAIL(QN_ERROR_INVALID_HANDLE, "%s (%p) is %s%s, not a %s", what, handle, article(is), kind_names[is], wanted);
  QN_FAIL(QN_ERROR_INVALID_HANDLE, "%s (%p) went stale during the call", what, handle);
}

/* ---- The end of an object ----------------------------------------------------------------------- */

static void push_free(table *t, slot *s, uint32_t number) {
  uint32_t head = atomic_load_explicit(&t->free, memory_order_relaxed);
  do {
    atomic_store_explicit(&s->next, head, memory_order_relaxed);
  } while (
      !atomic_compare_exchange_weak_explicit(&t->free, &head, number + 1, memory_order_release, memory_order_relaxed));
}

/* By the one thread that made the slot idle. */
static void end_object(uintptr_t bits, slot *s, uint64_t word) {
  table *t = &tables[handle_kind(bits)];
  void *object = s->object;
  s->object = NULL;
  if (word_generation(word) == 0) {
    atomic_fetch_add_explicit(&t->retired, 1, memory_order_relaxed);
  } else if (!t->parks) {
    push_free(t, s, (uint32_t)handle_number(bits));
  }
  if (t->dead) t->dead(object);
}

/* The word after the last count is gone: no counts, the same pins, the next generation, or 0 when there is none. */
static uint64_t word_after_death(uint64_t word) {
  uint64_t generation = word_generation(word);
  uint64_t next = generation >= atomic_load_explicit(&generation_limit, memory_order_relaxed) ? 0 : generation + 1;
  return (next << GENERATION_SHIFT) | word_pins(word);
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static slot *pop_free(table *t, uint32_t *out_number) {
  uint32_t head = atomic_load_explicit(&t->free, memory_order_acquire);
  while (head != 0) {
    slot *s = slot_at(t, head - 1);
    if (s == NULL) return NULL; /* can't be: what is free was made */
    uint32_t next = atomic_load_explicit(&s->next, memory_order_relaxed);
    if (atomic_compare_exchange_weak_explicit(&t->free, &head, next, memory_order_acquire, memory_order_acquire)) {
      *out_number = head - 1;
      return s;
    }
  }
  return NULL;
}

static qn_status add_chunk(table *t, uint32_t chunk) {
  size_t bytes = sizeof(slot) * chunk_slots(chunk);
  slot *slots = aligned_alloc(_Alignof(slot), bytes);
  if (!slots) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a table of handles (%zu bytes)", bytes);
  for (uint32_t i = 0; i < chunk_slots(chunk); i++) slots[i] = (slot){0};
  atomic_store_explicit(&t->chunks[chunk], slots, memory_order_release);
  return QN_OK;
}

static qn_status take_new_slot(table *t, uint32_t kind, slot **out_slot, uint32_t *out_number) {
  uint32_t number = atomic_load_explicit(&t->used, memory_order_relaxed);
  if (number >= SLOT_LIMIT)
    QN_FAIL(QN_ERROR_LIMIT, "no handle is left for a %s: %u are in use and %llu have used up their generations",
            kind_names[kind], number - (uint32_t)qn_handle_retired_count(kind),
            (unsigned long long)qn_handle_retired_count(kind));
  uint32_t chunk = chunk_of(number);
  if (!atomic_load_explicit(&t->chunks[chunk], memory_order_relaxed)) QN_TRY(add_chunk(t, chunk));
  slot *s = slot_at(t, number);
  atomic_store_explicit(&s->word, UINT64_C(1) << GENERATION_SHIFT, memory_order_relaxed);
  atomic_store(&t->used, number + 1); /* before the handle is published: see there */
  *out_slot = s;
  *out_number = number;
  return QN_OK;
}

static const void *handle_of(uint32_t kind, uint64_t generation, uint32_t number) {
  return (const void *)(((uintptr_t)kind << (HANDLE_SLOT_BITS + HANDLE_GENERATION_BITS)) |
                        ((uintptr_t)generation << HANDLE_SLOT_BITS) | number);
}

qn_status qn_handle_reserve(uint32_t kind, uint32_t owner, const void **out_handle) {
  table *t = &tables[kind];
  uint32_t number = 0;
  qn_status status = QN_OK;
  qn_mutex_lock(&t->lock);
  slot *s = pop_free(t, &number);
  if (!s) status = take_new_slot(t, kind, &s, &number);
  qn_mutex_unlock(&t->lock);
  if (status < 0) return status;
  atomic_store_explicit(&s->owner, owner, memory_order_relaxed);
  *out_handle = handle_of(kind, word_generation(atomic_load_explicit(&s->word, memory_order_relaxed)), number);
  return QN_OK;
}

void qn_handle_publish(const void *handle, void *object) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  s->object = object;
  atomic_store(&s->word, (handle_generation(bits) << GENERATION_SHIFT) | ONE_COUNT);
}

qn_status qn_handle_create(uint32_t kind, uint32_t owner, void *object, const void **out_handle) {
  QN_TRY(qn_handle_reserve(kind, owner, out_handle));
  qn_handle_publish(*out_handle, object);
  return QN_OK;
}

bool qn_handle_renew(const void *stale, const void **out_handle) {
  uintptr_t bits = (uintptr_t)stale;
  uint64_t generation = word_generation(atomic_load_explicit(&find_slot(bits)->word, memory_order_relaxed));
  *out_handle = handle_of(handle_kind(bits), generation, (uint32_t)handle_number(bits));
  return generation != 0;
}

void qn_handle_give_up(const void *handle) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  if (word_generation(atomic_load_explicit(&s->word, memory_order_relaxed)) != 0)
    push_free(&tables[handle_kind(bits)], s, (uint32_t)handle_number(bits));
}

/* ---- Pins --------------------------------------------------------------------------------------- */

static qn_status too_many_pins(const void *handle, const char *what) {
  QN_FAIL(QN_ERROR_LIMIT, "%s (%p) is used by %llu calls at once, which is the limit", what, handle,
          (unsigned long long)PIN_MAX);
}

qn_status qn_handle_pin(const void *handle, uint32_t kind, const char *what, void **out_object) {
  uintptr_t bits = (uintptr_t)handle;
  if (handle_kind(bits) != kind) return refuse(handle, kind, what);
  slot *s = find_slot(bits);
  if (!s) return refuse(handle, kind, what);
  uint64_t generation = handle_generation(bits);
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  do {
    if (!is_live(word, generation)) return refuse(handle, kind, what);
    if (word_pins(word) == PIN_MAX) return too_many_pins(handle, what);
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, word + ONE_PIN, memory_order_acquire,
                                                  memory_order_relaxed));
  *out_object = s->object;
  return QN_OK;
}

void qn_handle_unpin(const void *handle) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  /* A thread that frees the object must see what other pins' holders wrote: acquire and release. */
  uint64_t word = atomic_fetch_sub_explicit(&s->word, ONE_PIN, memory_order_acq_rel) - ONE_PIN;
  if (word_is_idle(word)) end_object(bits, s, word);
}

/* ---- Counts ------------------------------------------------------------------------------------- */

qn_status qn_handle_retain(const void *handle) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  if (!s) return refuse(handle, QN_KIND_NONE, "handle");
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  do {
    if (!is_live(word, handle_generation(bits))) return refuse(handle, QN_KIND_NONE, "handle");
    if (word_count(word) == COUNT_MAX)
      QN_FAIL(QN_ERROR_LIMIT, "handle (%p) has %llu counts, which is the limit", handle, (unsigned long long)COUNT_MAX);
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, word + ONE_COUNT, memory_order_relaxed,
                                                  memory_order_relaxed));
  return QN_OK;
}

/* Takes one count, or all of them. */
static qn_status take_counts(const void *handle, bool all) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  if (!s) return refuse(handle, QN_KIND_NONE, "handle");
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  uint64_t next;
  do {
    if (!is_live(word, handle_generation(bits))) return refuse(handle, QN_KIND_NONE, "handle");
    next = all || word_count(word) == 1 ? word_after_death(word) : word - ONE_COUNT;
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, next, memory_order_acq_rel, memory_order_relaxed));
  if (word_is_idle(next)) end_object(bits, s, next);
  return QN_OK;
}

qn_status qn_handle_release(const void *handle) { return take_counts(handle, false); }

qn_status qn_handle_revoke(const void *handle) { return take_counts(handle, true); }

bool qn_handle_is_live(const void *handle) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  return s && is_live(atomic_load_explicit(&s->word, memory_order_acquire), handle_generation(bits));
}

qn_status qn_handle_kind_of(const void *handle, uint32_t *out_kind) {
  uintptr_t bits = (uintptr_t)handle;
  slot *s = find_slot(bits);
  if (!s || !is_live(atomic_load_explicit(&s->word, memory_order_relaxed), handle_generation(bits)))
    return refuse(handle, QN_KIND_NONE, "handle");
  *out_kind = handle_kind(bits);
  return QN_OK;
}

/* ---- Walks -------------------------------------------------------------------------------------- */

/* The live handle in a slot when `owner` has it, else 0. The owner is read between two looks at the word's generation,
 * or before a compare-and-swap of it: a generation never comes back, so the owner read is that of the generation. */
static uintptr_t live_bits(uint32_t kind, uint32_t number, slot *s, uint32_t owner) {
  uint64_t word = atomic_load(&s->word);
  if (word_count(word) == 0 || atomic_load_explicit(&s->owner, memory_order_relaxed) != owner) return 0;
  return ((uintptr_t)kind << (HANDLE_SLOT_BITS + HANDLE_GENERATION_BITS)) |
         ((uintptr_t)word_generation(word) << HANDLE_SLOT_BITS) | number;
}

uint64_t qn_handle_count(uint32_t owner, uint32_t kind) {
  table *t = &tables[kind];
  uint32_t used = atomic_load_explicit(&t->used, memory_order_acquire);
  uint64_t count = 0;
  for (uint32_t i = 0; i < used; i++) count += live_bits(kind, i, slot_at(t, i), owner) != 0;
  return count;
}

/* Without a text: the handle may well be gone by now, which is no error. */
static bool revoke_quietly(uintptr_t bits, slot *s) {
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  uint64_t next;
  do {
    if (!is_live(word, handle_generation(bits))) return false;
    next = word_after_death(word);
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, next, memory_order_acq_rel, memory_order_relaxed));
  if (word_is_idle(next)) end_object(bits, s, next);
  return true;
}

/* Without a text, for the same reason. 0: gone; else the handle's count. */
static uint64_t pin_quietly(uintptr_t bits, slot *s) {
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  do {
    if (!is_live(word, handle_generation(bits)) || word_pins(word) == PIN_MAX) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, word + ONE_PIN, memory_order_acquire,
                                                  memory_order_relaxed));
  return word_count(word);
}

void qn_handle_visit(uint32_t owner, uint32_t kind, qn_handle_visit_fn visit, void *user) {
  table *t = &tables[kind];
  uint32_t used = atomic_load_explicit(&t->used, memory_order_acquire);
  for (uint32_t i = 0; i < used; i++) {
    slot *s = slot_at(t, i);
    uintptr_t bits = live_bits(kind, i, s, owner);
    uint64_t count = bits != 0 ? pin_quietly(bits, s) : 0;
    if (count == 0) continue;
    visit(user, s->object, count);
    qn_handle_unpin((const void *)bits);
  }
}

uint64_t qn_handle_revoke_all(uint32_t owner, uint32_t kind) {
  table *t = &tables[kind];
  uint32_t used = atomic_load(&t->used);
  uint64_t count = 0;
  for (uint32_t i = 0; i < used; i++) {
    slot *s = slot_at(t, i);
    uintptr_t bits = live_bits(kind, i, s, owner);
    if (bits != 0 && revoke_quietly(bits, s)) count++;
  }
  return count;
}
