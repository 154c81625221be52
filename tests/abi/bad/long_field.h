/* expect: A2: s.a: 'long' has no fixed layout */
/* expect: A3: s: another layout */
/* expect: A2: s: its size 12 */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t z;
  long a;
} s;
