/* expect: A2: s: its size 12 is no multiple of 8 */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a, b;
} s;
