/* expect: A1: f: parameter 1 's' */
/* expect: A3: f: lowers differently */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t b;
  uint64_t c, d;
} s;
int32_t f(s a);
