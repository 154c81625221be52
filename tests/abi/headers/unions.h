/* A2: a union's first member is a 64-bit integer that fills it. */
#include <stdint.h>

struct pointer_first {
  uint32_t struct_size;
  uint32_t a;
  union { /* expect: union-first */
    const void *pointer;
    uint64_t bits;
  } u;
};
struct small_first {
  uint32_t struct_size;
  uint32_t a;
  union { /* expect: union-first */
    uint32_t half;
    uint64_t bits;
  } u;
};
struct with_long {
  uint32_t struct_size;
  uint32_t a;
  union { /* expect: layout-differs */
    uint64_t bits;
    long number; /* expect: long-field */
  } u;
};
