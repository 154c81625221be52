/* expect: A2: s: doesn't start with 'uint32_t struct_size' */
#include <stdint.h>

typedef struct s {
  uint64_t a;
} s;
