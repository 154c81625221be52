/* expect: A2: s.a: '_Bool' has no fixed layout */
/* expect: A2: s.b: 3 bytes of implicit padding */
#include <stdint.h>

#include <stdbool.h>
typedef struct s {
  uint32_t struct_size;
  uint32_t z;
  bool a;
  uint32_t b;
} s;
