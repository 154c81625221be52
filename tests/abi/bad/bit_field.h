/* expect: A2: s.a: bit-fields */
/* expect: A2: s.b: bit-fields */
/* expect: A2: s: 4 bytes of implicit padding at the end */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a : 3;
  uint32_t b : 29;
} s;
