/* space.h - inside the interpreter: objects in an address space of their own, far apart, so that an address tells which object
 * it was made from, though it is outside of it. */
#ifndef QUERN_COMPILER_INTERP_SPACE_H
#define QUERN_COMPILER_INTERP_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Room that is free between two objects. In 32 bits there is not as much, and buffers get what is left. */
#define SPACE_GAP_64 (UINT64_C(1) << 40)
#define SPACE_GAP_BUFFERS (UINT64_C(1) << 44)
#define SPACE_GAP_32 (UINT64_C(1) << 12)

typedef struct space_object {
  uint64_t address, size;
  uint64_t offset;     /* in the space's memory */
  unsigned char *host; /* a buffer's memory; NULL: the space has one for all */
  const char *name;
  bool is_argument;
} space_object;

typedef struct space {
  uint64_t base, end; /* addresses: all of the space */
  uint64_t gap;
  space_object *objects; /* in the order of their addresses */
  uint32_t count, capacity;
} space;

/* Adds an object behind the last one, at a multiple of `align` and `skew` bytes more. NULL: no memory, or no addresses
 * (`*out_is_full`). The object moves when another is added. */
space_object *space_add(space *s, qn_arena *arena, const space_object *object, uint64_t align, uint64_t skew,
                        bool *out_is_full);
/* The object that an address is in or next to; NULL: there is none, or the address is not of this space. */
const space_object *space_find(const space *s, uint64_t address);

#endif
