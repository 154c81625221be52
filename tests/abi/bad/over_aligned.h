/* expect: A2: s: is aligned to 16 */
#include <stdint.h>

typedef struct s {
  _Alignas(16) uint32_t struct_size;
  uint32_t a;
  uint64_t b;
} s;
