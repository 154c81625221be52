/* expect: A3: s: another layout */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
#ifdef __aarch64__
  uint64_t b;
#endif
} s;
