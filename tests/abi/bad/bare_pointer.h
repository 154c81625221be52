/* expect: A2: s.p: a pointer that isn't in an 8-byte slot */
/* expect: A2: s: its size 12 is no multiple of 8 */
/* expect: A3: s: another layout */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  void *p;
} s;
