/* pool.h - memory and texts of quern-abi: given out, never taken back before the program ends. One thread. */
#ifndef QUERN_TOOLS_ABI_POOL_H
#define QUERN_TOOLS_ABI_POOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory. When there is none: a message and exit status 1, as tool_alloc. */
void *pool_alloc(size_t size);
char *pool_copy(const char *text, size_t length);
char *pool_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *pool_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Room for one more item behind `count` in an array that grows by doubling; *capacity is 0 at first. */
void *pool_grow(void *items, size_t count, size_t *capacity, size_t size);
/* POOL_PUSH(array) is a pointer to a new zeroed item of a struct {T *items; size_t count, capacity;}. */
#define POOL_PUSH(a) \
  ((a)->items = pool_grow((a)->items, (a)->count, &(a)->capacity, sizeof *(a)->items), &(a)->items[(a)->count++])

/* Text that grows; `data` ends with NUL and is NULL while nothing was added. */
typedef struct pool_text {
  char *data;
  size_t length, capacity;
} pool_text;
void pool_append(pool_text *text, const char *bytes, size_t length);
void pool_add(pool_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names to numbers. */
typedef struct pool_map {
  struct pool_map_slot {
    const char *name;
    size_t value;
  } *slots;
  size_t count, capacity;
} pool_map;
#define POOL_NONE SIZE_MAX
/* The name's number, or POOL_NONE. */
size_t pool_find(const pool_map *map, const char *name);
/* Keeps the name's address; a name that is there keeps its number. */
void pool_put(pool_map *map, const char *name, size_t value);

#endif
