/* A2: pointers, handles and function pointers stand in slots of 8 bytes. */
#include <stdint.h>

struct bare { /* expect: size-multiple layout-differs */
  uint32_t struct_size;
  uint32_t a;
  void *p; /* expect: pointer-slot */
};
typedef struct thing *thing;
struct handle { /* expect: layout-differs */
  uint32_t struct_size;
  uint32_t a;
  thing h; /* expect: pointer-slot */
#if UINTPTR_MAX <= 0xffffffffu
  uint32_t another_name;
#endif
};
struct out_of_place { /* expect: size-multiple layout-differs */
  uint32_t struct_size;
  void *p; /* expect: misaligned padding */
#if UINTPTR_MAX <= 0xffffffffu
  uint32_t p_upper;
#endif
};
struct array { /* expect: layout-differs size-multiple */
  uint32_t struct_size;
  uint32_t a;
  void *p[3]; /* expect: pointer-array */
};
