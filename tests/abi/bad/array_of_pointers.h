/* expect: A2: s.p: an array of pointers has no room */
/* expect: A2: s: its size */
/* expect: A2: s.p */
/* expect: A3: s: another layout */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  void *p[3];
} s;
