/* expect: A1: f: parameter 2 'long' */
/* expect: A3: f: lowers differently */
#include <stdint.h>

int32_t f(void *a, long b);
