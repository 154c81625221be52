/* expect: A2: s.u.real: 'double' has no fixed layout */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  union {
    uint64_t bits;
    double real;
  } u;
} s;
