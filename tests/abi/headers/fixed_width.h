/* options: --fixed-width */
/* A1, A2: integers without a width in their names. */
#include <stdint.h>

int32_t takes_int(int a);             /* expect: int-by-value */
unsigned gives_unsigned(void);        /* expect: int-by-value */
int32_t takes_long_long(long long a); /* expect: int-by-value */
struct counts {
  uint32_t struct_size;
  int number; /* expect: int-field */
};
