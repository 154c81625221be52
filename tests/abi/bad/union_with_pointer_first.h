/* expect: A2: s.u: a nameless struct, or a union whose first member isn't a 64-bit integer */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  union {
    const void *pointer;
    uint64_t bits;
  } u;
} s;
