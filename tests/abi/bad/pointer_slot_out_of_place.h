/* expect: A2: s.p: stands at 4, which is no multiple of 8 */
/* expect: A2: s.p: 4 bytes of implicit padding in front */
/* expect: A2: s: its size 12 is no multiple of 8 */
/* expect: A3: s: another layout */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  void *p;
#if UINTPTR_MAX <= 0xffffffffu
  uint32_t p_upper;
#endif
} s;
