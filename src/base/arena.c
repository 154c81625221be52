#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/text.h"

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
enum { GAP = 16 };
#define POISON(address, size) ASAN_POISON_MEMORY_REGION((address), (size))
#define UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION((address), (size))
#else
enum { GAP = 0 };
#define POISON(address, size) ((void)0)
#define UNPOISON(address, size) ((void)0)
#endif

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

/* malloc aligns to 16 and the header has 16 bytes on 64-bit machines, so the bytes behind it are aligned; 32-bit
 * machines get there by the attribute. */
struct qn_arena_block {
  _Alignas(ALIGNMENT) qn_arena_block *next;
  size_t size; /* with this header */
};

void qn_arena_init(qn_arena *arena, size_t limit_bytes) { *arena = (qn_arena){.limit = limit_bytes}; }

void qn_arena_free(qn_arena *arena) {
  qn_arena_block *block = arena->head;
  while (block) {
    qn_arena_block *next = block->next;
    UNPOISON(block, block->size);
    free(block);
    block = next;
  }
  qn_arena_init(arena, arena->limit);
}

static size_t next_block_size(const qn_arena *arena, size_t need) {
  size_t size = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
  if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
  return size < need ? need : size;
}

/* `need` bytes fit behind the header of the block that becomes the current one. */
static bool add_block(qn_arena *arena, size_t need) {
  size_t size = next_block_size(arena, need + sizeof(qn_arena_block));
  qn_arena_block *block = malloc(size);
  if (!block) return false;
  block->size = size;
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

static void *take(char *at, size_t size) {
  UNPOISON(at, size);
  return memset(at, 0, size);
}

void *qn_arena_alloc(qn_arena *arena, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size_t need = (size + GAP + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (need == 0) need = ALIGNMENT; /* each piece has an address of its own */
  if (arena->limit != 0 && (need > arena->limit || arena->total > arena->limit - need)) return NULL;
  if ((size_t)(arena->end - arena->at) < need) {
    if (!add_block(arena, need)) return NULL;
    if ((size_t)(arena->end - arena->at) < need) { /* it stands behind the head */
      arena->total += need;
      return take((char *)(arena->head->next + 1), size);
    }
  }
  char *at = arena->at;
  arena->at += need;
  arena->total += need;
  return take(at, size);
}

void *qn_arena_alloc_array(qn_arena *arena, size_t size, size_t count) {
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
