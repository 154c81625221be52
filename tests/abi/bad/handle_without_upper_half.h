/* expect: A2: s.h: a pointer that isn't in an 8-byte slot */
/* expect: A3: s: another layout */
#include <stdint.h>

typedef struct h *h;
typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  h h;
#if UINTPTR_MAX <= 0xffffffffu
  uint32_t pad;
#endif
} s;
