/* expect: A2: s: 4 bytes of implicit padding at the end */
/* expect: A2: s: its size 20 is no multiple of 8 */
/* expect: A3: s: another layout */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  uint64_t b;
  uint32_t c;
} s;
