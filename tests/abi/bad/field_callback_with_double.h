/* expect: A1: s.f: parameter 2 'double' */
#include <stdint.h>

typedef struct s {
  uint32_t struct_size;
  uint32_t a;
  int32_t (*f)(void *a, double b);
#if UINTPTR_MAX <= 0xffffffffu
  uint32_t f_upper;
#endif
} s;
