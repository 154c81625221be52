#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/memory.h"
#include "base/os/text.h"
#include "base/os/thread.h"

/* Under the address sanitizer the unused part of a block is poisoned, and so is a gap behind each piece. */
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP = 16, MAY_MAP = 0 }; /* the leak checker looks for pointers in what malloc gave, not in mappings */
#define POISON(address, size) ASAN_POISON_MEMORY_REGION((address), (size))
#define UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION((address), (size))
#else
enum { GAP = 0, MAY_MAP = 1 };
#define POISON(address, size) ((void)0)
#define UNPOISON(address, size) ((void)0)
#endif

/* Sizes double up to SMALL_BLOCKS, and go on with large pages, where they are worth it: one costs as much as 56 small
 * ones, and the arena has 128 by then. */
enum { ALIGNMENT = 8, FIRST_BLOCK = 4096, SMALL_BLOCKS = 256 << 10, LARGEST_BLOCK = 4 << 20 };

/* Aligned, so that the bytes behind this header are. */
struct qn_arena_block {
  _Alignas(ALIGNMENT) qn_arena_block *next;
  size_t size;    /* with this header */
  bool is_mapped; /* in large pages of its own; else malloc's */
  bool is_zero;   /* where nothing was handed out */
};

void qn_arena_init(qn_arena *arena, size_t limit_bytes) { *arena = (qn_arena){.limit = limit_bytes}; }

/* ---- Large blocks ---- */

/* A few are kept for the next arena: the system clears pages before it gives them, which is a tenth of the time that the
 * front end takes to fill them. */
enum { SPARE_BYTES = 16 << 20 };
static struct {
  qn_mutex lock; /* never waited for: a forked child may find it held */
  qn_arena_block *first;
  size_t bytes;
} spares;

static qn_arena_block *take_spare(size_t size) {
  if (!qn_mutex_try_lock(&spares.lock)) return NULL;
  qn_arena_block **at = &spares.first;
  while (*at && (*at)->size != size) at = &(*at)->next;
  qn_arena_block *block = *at;
  if (block) {
    *at = block->next;
    spares.bytes -= size;
    block->is_zero = false;
  }
  qn_mutex_unlock(&spares.lock);
  return block;
}

static bool keep_spare(qn_arena_block *block) {
  if (!qn_mutex_try_lock(&spares.lock)) return false;
  bool fits = block->size <= SPARE_BYTES - spares.bytes;
  if (fits) {
    block->next = spares.first;
    spares.first = block;
    spares.bytes += block->size;
  }
  qn_mutex_unlock(&spares.lock);
  return fits;
}

static qn_arena_block *map_block(size_t size) {
  qn_arena_block *block = take_spare(size);
  if (block) return block;
  block = qn_large_pages_map(size);
  if (block) *block = (qn_arena_block){.size = size, .is_mapped = true, .is_zero = true};
  return block;
}

/* ---- Blocks ---- */

/* An arena that grows spends most of its time in page faults, if it does not grow by large pages. */
static qn_arena_block *new_block(size_t size) {
  if (MAY_MAP && size % QN_LARGE_PAGE == 0) return map_block(size);
  qn_arena_block *block = malloc(size);
  if (block) *block = (qn_arena_block){.size = size};
  return block;
}

static void free_block(qn_arena_block *block) {
  if (!block->is_mapped)
    free(block);
  else if (!keep_spare(block))
    qn_pages_unmap(block, block->size);
}

void qn_arena_free(qn_arena *arena) {
  qn_arena_block *block = arena->head;
  while (block) {
    qn_arena_block *next = block->next;
    UNPOISON(block, block->size);
    free_block(block);
    block = next;
  }
  qn_arena_init(arena, arena->limit);
}

static size_t next_block_size(const qn_arena *arena, size_t need) {
  size_t size = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
  if (size > SMALL_BLOCKS && size < QN_LARGE_PAGE) size = QN_LARGE_PAGE;
  if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
  return size < need ? need : size;
}

/* `need` bytes fit behind the header of the block that becomes the current one. */
static bool add_block(qn_arena *arena, size_t need) {
  qn_arena_block *block = new_block(next_block_size(arena, need + sizeof(qn_arena_block)));
  if (!block) return false;
  size_t size = block->size;
  char *at = (char *)(block + 1), *end = (char *)block + size;
  POISON(at, (size_t)(end - at));
  /* A piece that needs a block of its own goes behind the head when that still has the larger rest. */
  if (arena->head && end - at - (ptrdiff_t)need < arena->end - arena->at) {
    block->next = arena->head->next;
    arena->head->next = block;
    return true;
  }
  block->next = arena->head;
  arena->head = block;
  arena->at = at;
  arena->end = end;
  return true;
}

static void *take(const qn_arena_block *block, char *at, size_t size) {
  UNPOISON(at, size);
  return block->is_zero ? at : memset(at, 0, size);
}

void *qn_arena_alloc(qn_arena *arena, uint64_t wanted) {
  if (wanted > SIZE_MAX / 2) return NULL;
  size_t size = (size_t)wanted;
  size_t need = (size + GAP + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (need == 0) need = ALIGNMENT; /* each piece has an address of its own */
  if (arena->limit != 0 && (need > arena->limit || arena->total > arena->limit - need)) return NULL;
  if ((size_t)(arena->end - arena->at) < need) {
    if (!add_block(arena, need)) return NULL;
    if ((size_t)(arena->end - arena->at) < need) { /* it stands behind the head */
      arena->total += need;
      return take(arena->head->next, (char *)(arena->head->next + 1), size);
    }
  }
  char *at = arena->at;
  arena->at += need;
  arena->total += need;
  return take(arena->head, at, size);
}

void *qn_arena_alloc_array(qn_arena *arena, uint64_t size, uint64_t count) {
  size_t bytes;
  return __builtin_mul_overflow(size, count, &bytes) ? NULL : qn_arena_alloc(arena, bytes);
}

char *qn_arena_copy(qn_arena *arena, qn_sv text) {
  char *copy = text.size == SIZE_MAX ? NULL : qn_arena_alloc(arena, text.size + 1);
  if (copy && text.size > 0) memcpy(copy, text.data, text.size);
  return copy;
}

char *qn_arena_printf(qn_arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = qn_text_format(NULL, 0, format, args);
  char *text = length < 0 ? NULL : qn_arena_alloc(arena, (size_t)length + 1);
  if (text) qn_text_format(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}
