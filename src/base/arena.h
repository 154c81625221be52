/* arena.h - memory that dies together. One thread at a time. Blocks grow from 4 KiB to large pages; everything is freed
 * by qn_arena_free. A failed allocation returns NULL and the arena stays usable. */
#ifndef QUERN_BASE_ARENA_H
#define QUERN_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/string_view.h"

typedef struct qn_arena_block qn_arena_block;
typedef struct qn_arena {
  qn_arena_block *head;
  char *at, *end;
  size_t total; /* bytes handed out */
  size_t limit; /* 0: none; past it allocation fails, which bounds hostile input */
} qn_arena;

void qn_arena_init(qn_arena *arena, size_t limit_bytes);
void qn_arena_free(qn_arena *arena);
/* Zeroed memory, aligned to 8. Sizes are 64 bits wide everywhere, so that one that a 32-bit machine can't have is refused. */
void *qn_arena_alloc(qn_arena *arena, uint64_t size);
#define QN_ARENA_NEW(arena, type) ((type *)qn_arena_alloc((arena), sizeof(type)))
#define QN_ARENA_ARRAY(arena, type, count) ((type *)qn_arena_alloc_array((arena), sizeof(type), (count)))
void *qn_arena_alloc_array(qn_arena *arena, uint64_t size, uint64_t count); /* checks the product */
/* Copies with a NUL behind it. */
char *qn_arena_copy(qn_arena *arena, qn_sv text);
char *qn_arena_printf(qn_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
